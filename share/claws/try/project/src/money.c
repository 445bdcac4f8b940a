#include "money.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int money_parse(const char *s, long *cents)
{
	char *end;
	long whole = strtol(s, &end, 10);
	long part = 0;

	if (end == s)
		return -1;
	if (*end == '.') {
		if (!isdigit((unsigned char)end[1]) || !isdigit((unsigned char)end[2]))
			return -1;
		part = (end[1] - '0') * 10 + (end[2] - '0');
		end += 3;
	}
	if (*end != '\0')
		return -1;
	*cents = whole < 0 ? whole * 100 - part : whole * 100 + part;
	return 0;
}

void money_format(long cents, char *out, size_t size)
{
	long all = cents < 0 ? -cents : cents;

	snprintf(out, size, "%s%ld.%02ld", cents < 0 ? "-" : "", all / 100, all % 100);
}

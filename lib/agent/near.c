#include "agent/near.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 64 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Changes of one letter that make a into b, a swap of neighbours counted as one. Both at most LONGEST bytes. */
static int distance(const char *a, size_t an, const char *b, size_t bn)
{
	int rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2], *t;

	for (size_t k = 0; k <= bn; k++)
		last[k] = before[k] = (int)k;
	for (size_t i = 1; i <= an; i++) {
		now[0] = (int)i;
		for (size_t k = 1; k <= bn; k++) {
			bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[k - 1]);
			now[k] = least(least(last[k] + 1, now[k - 1] + 1), last[k - 1] + !same);
			if (i > 1 && k > 1 && tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[k - 2]) &&
			    tolower((unsigned char)a[i - 2]) == tolower((unsigned char)b[k - 1]))
				now[k] = least(now[k], before[k - 2] + 1);
		}
		t = before, before = last, last = now, now = t;
	}
	return last[bn];
}

bool name_near(const char *given, const char *known)
{
	size_t a = strlen(given), b = strlen(known), shorter = a < b ? a : b;

	if (!shorter || a > LONGEST || b > LONGEST)
		return false;
	if (shorter >= 3 && !strncasecmp(given, known, shorter))
		return true;
	return distance(given, a, known, b) <= (b <= 4 ? 1 : 2);
}

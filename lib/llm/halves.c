#include "llm/halves.h"

#include <ctype.h>
#include <string.h>

/* Is s[0..6) the escape of a half whose second hex digit is one of `of`? */
static int is_half(const char *s, const char *of)
{
	return s[0] == '\\' && s[1] == 'u' && (s[2] == 'd' || s[2] == 'D') && s[3] && strchr(of, s[3]) &&
	       isxdigit((unsigned char)s[4]) && isxdigit((unsigned char)s[5]);
}

/* Is the character at `at` itself escaped? */
static int escaped(const char *text, size_t at)
{
	size_t n = 0;
	while (n < at && text[at - 1 - n] == '\\')
		n++;
	return n & 1;
}

size_t half_high(const char *text, size_t n)
{
	for (size_t i = n; i-- > HALF_LEN;)
		if (text[i] == '"' && is_half(text + i - HALF_LEN, "89abAB") && !escaped(text, i - HALF_LEN))
			return i - HALF_LEN;
	return HALF_NONE;
}

size_t half_low(const char *text, size_t n)
{
	for (size_t i = 0; i + HALF_LEN < n; i++)
		if (text[i] == '"' && !escaped(text, i) && is_half(text + i + 1, "cdefCDEF"))
			return i + 1;
	return HALF_NONE;
}

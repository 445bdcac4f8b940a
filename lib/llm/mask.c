/* mask.c - a secret in foreign text, as "***". */
#include <ctype.h>
#include <string.h>

#include "llm/record_int.h"

#define MASK_SHORT 8    /* a shorter secret is likely to be a part of words: "k", "none" */
#define MASK_PART 16    /* so many first bytes of a secret are as good as it: texts are cut, and servers shorten */

static int hex(const char *s, size_t digits)
{
	int v = 0;

	for (size_t i = 0; i < digits; i++) {
		if (!isxdigit((unsigned char)s[i]))
			return -1;
		v = v * 16 + (isdigit((unsigned char)s[i]) ? s[i] - '0' : tolower((unsigned char)s[i]) - 'a' + 10);
	}
	return v;
}

/* Length of the character c at s, plain or as JSON (RFC 8259 section 7; within a string of JSON its backslashes are
 * escaped again) or a URL (RFC 3986 section 2.1) spell it; 0: it is another. */
static size_t spelled(const char *s, size_t n, char c)
{
	size_t run = 0;

	while (run < n && s[run] == '\\')
		run++;
	if (run && n - run >= 5 && s[run] == 'u' && hex(s + run + 1, 4) == c)
		return run + 5;
	if (run && run < n && s[run] == c && (c == '"' || c == '/'))
		return run + 1;
	if (run >= 2 && c == '\\')
		return 2;
	if (n >= 3 && s[0] == '%' && hex(s + 1, 2) == c)
		return 3;
	return n && *s == c;
}

size_t mask_at(const char *s, const char *end, const char *secret)
{
	size_t len = strlen(secret), same = 0, part = 0;
	const char *at = s;

	if (*s != *secret && *s != '\\' && *s != '%')
		return 0;
	if ((size_t)(end - s) >= len && !memcmp(s, secret, len))
		return len;
	for (size_t n; part < len && (n = spelled(at, (size_t)(end - at), secret[part])); part++)
		at += n;
	while (same < len && s + same < end && s[same] == secret[same])
		same++;
	if (part < same)   /* a secret with a backslash or a percent sign in it, and cut */
		part = same, at = s + same;
	return part == len || part >= MASK_PART ? (size_t)(at - s) : 0;
}

bool mask_short(const char *secret)
{
	return strlen(secret) < MASK_SHORT;
}

static bool of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

void record_mask(struct buf *out, const char *text, size_t len, const char *secret)
{
	const char *end = text + len, *from = text, *s = text;
	bool word = secret && mask_short(secret);
	size_t n;

	while (secret && *secret && s < end) {
		n = mask_at(s, end, secret);
		if (n && word && ((s > text && of_word(s[-1])) || (s + n < end && of_word(s[n]))))
			n = 0;
		if (n == 0) {
			s++;
			continue;
		}
		buf_add(out, from, (size_t)(s - from));
		buf_adds(out, "***");
		from = s += n;
	}
	buf_add(out, from, (size_t)(end - from));
}

void record_mask_all(struct buf *out, const char *text, size_t len, const char *secret, const char *const *secrets)
{
	struct buf now, next;

	buf_init(&now, BUF_NOLIMIT);
	record_mask(&now, text, len, secret);
	for (; secrets && *secrets; secrets++) {
		buf_init(&next, BUF_NOLIMIT);
		record_mask(&next, now.p, now.len, *secrets);
		buf_free(&now);
		now = next;
	}
	buf_add(out, now.p ? now.p : "", now.len);
	buf_free(&now);
}

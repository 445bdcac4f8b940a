/* repair.c - bytes that nearly are JSON: mend what has only one sensible meaning. */
#include <string.h>

#include "base/utf8.h"
#include "json/json.h"

static int hexval(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The value of \uXXXX at s, or -1 if it is none. */
static int unicode_escape(const char *s, size_t n)
{
	int v = 0;

	if (n < 6 || s[0] != '\\' || s[1] != 'u')
		return -1;
	for (int k = 2; k < 6; k++) {
		int d = hexval(s[k]);

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* At a backslash in a string: copies the escape, mended; returns the bytes consumed. */
static size_t mend_escape(struct buf *out, const char *s, size_t n, size_t *repairs)
{
	int u = unicode_escape(s, n), low;

	if (u < 0) {
		size_t k = n > 1 ? 2 : 1;

		/* A backslash before a control character or a byte above ASCII: leave that byte to the main loop. */
		if (k == 2 && ((unsigned char)s[1] < 0x20 || (unsigned char)s[1] >= 0x80))
			k = 1;
		buf_add(out, s, k);
		return k;
	}
	if (u >= 0xd800 && u <= 0xdbff) {
		low = unicode_escape(s + 6, n - 6);
		if (low >= 0xdc00 && low <= 0xdfff) {
			buf_add(out, s, 12);
			return 12;
		}
	}
	if (u == 0 || (u >= 0xd800 && u <= 0xdfff)) {
		buf_adds(out, "\\ufffd");
		++*repairs;
	} else {
		buf_add(out, s, 6);
	}
	return 6;
}

size_t json_repair(struct buf *out, const char *s, size_t n)
{
	size_t repairs = 0, i = 0;
	bool in_string = false;

	while (i < n) {
		unsigned char c = (unsigned char)s[i];
		int k;

		if (in_string && c == '\\') {
			i += mend_escape(out, s + i, n - i, &repairs);
		} else if (c >= 0x80) {
			k = utf8_decode(s + i, n - i, NULL);
			if (k) {
				buf_add(out, s + i, (size_t)k);
				i += (size_t)k;
			} else {
				size_t end = i + 1;

				while (end < n && (unsigned char)s[end] >= 0x80 && !utf8_decode(s + end, n - end, NULL))
					end++;
				repairs += utf8_repair(out, s + i, end - i);
				i = end;
			}
		} else if (c == 0) {
			buf_adds(out, "\xef\xbf\xbd");
			repairs++, i++;
		} else if (in_string && c < 0x20) {
			buf_addf(out, "\\u%04x", c);
			repairs++, i++;
		} else {
			size_t end = i + 1;

			if (c == '"')
				in_string = !in_string;
			else
				while (end < n && s[end] != '"' && s[end] != '\\' && (unsigned char)s[end] >= 0x20 &&
				       (unsigned char)s[end] < 0x80)
					end++;
			buf_add(out, s + i, end - i);
			i = end;
		}
	}
	return repairs;
}

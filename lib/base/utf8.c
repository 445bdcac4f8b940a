#include "base/utf8.h"

#include <string.h>

int utf8_decode(const char *s, size_t n, uint32_t *cp)
{
	const unsigned char *u = (const unsigned char *)s;
	uint32_t c, least;
	int len;

	if (!n)
		return 0;
	if (u[0] < 0x80) {
		if (cp)
			*cp = u[0];
		return 1;
	}
	if (u[0] >= 0xc2 && u[0] <= 0xdf) {
		len = 2, c = u[0] & 0x1f, least = 0x80;
	} else if (u[0] >= 0xe0 && u[0] <= 0xef) {
		len = 3, c = u[0] & 0x0f, least = 0x800;
	} else if (u[0] >= 0xf0 && u[0] <= 0xf4) {
		len = 4, c = u[0] & 0x07, least = 0x10000;
	} else {
		return 0;
	}
	if (n < (size_t)len)
		return 0;
	for (int i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if (cp)
		*cp = c;
	return len;
}

int utf8_encode(char out[4], uint32_t cp)
{
	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		cp = 0xfffd;
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

size_t utf8_valid_prefix(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		uint64_t w;
		int k;

		/* Eight ASCII bytes at a time: nearly all text is. */
		if (n - i >= 8) {
			memcpy(&w, s + i, 8);
			if (!(w & 0x8080808080808080u)) {
				i += 8;
				continue;
			}
		}
		k = utf8_decode(s + i, n - i, NULL);
		if (!k)
			break;
		i += (size_t)k;
	}
	return i;
}

/* Length of the invalid part at s, by the practice of Unicode 15, 3.9: the longest start of a valid sequence, or 1. */
static size_t invalid_part(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned low = 0x80, high = 0xbf;
	size_t want, i;

	if (u[0] >= 0xc2 && u[0] <= 0xdf)
		want = 2;
	else if (u[0] >= 0xe0 && u[0] <= 0xef)
		want = 3;
	else if (u[0] >= 0xf0 && u[0] <= 0xf4)
		want = 4;
	else
		return 1;
	if (u[0] == 0xe0)
		low = 0xa0;
	else if (u[0] == 0xed)
		high = 0x9f;
	else if (u[0] == 0xf0)
		low = 0x90;
	else if (u[0] == 0xf4)
		high = 0x8f;
	for (i = 1; i < want && i < n; i++) {
		if (u[i] < low || u[i] > high)
			break;
		low = 0x80, high = 0xbf;
	}
	return i;
}

size_t utf8_repair(struct buf *out, const char *s, size_t n)
{
	size_t repairs = 0;

	while (n) {
		size_t good = utf8_valid_prefix(s, n);

		buf_add(out, s, good);
		s += good, n -= good;
		if (n) {
			size_t bad = invalid_part(s, n);

			buf_add(out, "\xef\xbf\xbd", 3);
			s += bad, n -= bad;
			repairs++;
		}
	}
	return repairs;
}

size_t utf8_cut(const char *s, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)s[n - back];

		if (c < 0x80)
			break;
		if (c >= 0xc0) {
			size_t want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

			return want > back ? n - back : n;
		}
	}
	return n;
}

#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_encode(struct buf *out, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	char *o = buf_room(out, (n + 2) / 3 * 4);

	if (!o)
		return -1;
	for (size_t i = 0; i < n; i += 3) {
		unsigned x = (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
		*o++ = digits[x >> 18];
		*o++ = digits[x >> 12 & 63];
		*o++ = i + 1 < n ? digits[x >> 6 & 63] : '=';
		*o++ = i + 2 < n ? digits[x & 63] : '=';
	}
	out->len += (n + 2) / 3 * 4;
	buf_term(out);
	return 0;
}

/* 64: no digit. */
static unsigned value(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 26 :
		c >= '0' && c <= '9' ? (unsigned)(c - '0') + 52 : c == '+' ? 62 : c == '/' ? 63 : 64;
}

int base64_decode(struct buf *out, const char *p, size_t n)
{
	size_t pad = n > 0 && p[n - 1] == '=' ? n > 1 && p[n - 2] == '=' ? 2 : 1 : 0, len = n / 4 * 3 - pad;
	unsigned bad = 0;
	char *o;

	if (n % 4 != 0)
		return -1;
	o = buf_room(out, n / 4 * 3);
	if (!o)
		return -1;
	for (size_t i = 0; i < n; i += 4) {
		size_t blank = i + 4 == n ? pad : 0;
		unsigned v[4], x = 0;
		for (size_t k = 0; k < 4; k++) {
			v[k] = k >= 4 - blank ? 0 : value(p[i + k]);
			bad |= v[k] & 64;
			x = x << 6 | (v[k] & 63);
		}
		bad |= blank == 1 ? x & 0xff : blank == 2 ? x & 0xffff : 0;
		*o++ = (char)(x >> 16);
		*o++ = (char)(x >> 8 & 255);
		*o++ = (char)(x & 255);
	}
	if (bad)
		buf_term(out);
	else
		out->len += len, buf_term(out);
	return bad ? -1 : 0;
}

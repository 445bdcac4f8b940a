#include "tools/norm.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

struct decomp {
	uint16_t from, first, second;
};

static const struct decomp table[] = {
#define D(from, first, second) {0x##from, 0x##first, 0x##second},
#include "tools/decomp.def"
#undef D
};

static int compare(const void *key, const void *row)
{
	uint32_t c = *(const uint32_t *)key, from = ((const struct decomp *)row)->from;
	return c < from ? -1 : c > from;
}

static void put(struct norm *n, const char *p, size_t len, size_t pos)
{
	if (n->text.len + len + 1 > n->cap) {
		n->cap = (n->text.len + len + 1) * 2;
		n->map = xrealloc(n->map, n->cap, sizeof *n->map);
	}
	for (size_t i = 0; i < len; i++)
		n->map[n->text.len + i] = (uint32_t)pos;
	buf_add(&n->text, p, len);
}

static void put_char(struct norm *n, uint32_t c, size_t pos)
{
	char u[4];
	put(n, u, (size_t)utf8_encode(u, c), pos);
}

static void put_decomposed(struct norm *n, uint32_t c, size_t pos)
{
	if (c >= 0xAC00 && c <= 0xD7A3) {            /* Hangul: The Unicode Standard, 3.12 */
		uint32_t s = c - 0xAC00;
		put_char(n, 0x1100 + s / 588, pos);
		put_char(n, 0x1161 + s % 588 / 28, pos);
		if (s % 28)
			put_char(n, 0x11A7 + s % 28, pos);
		return;
	}
	const struct decomp *d = c < 0xC0 ? NULL : bsearch(&c, table, sizeof table / sizeof *table, sizeof *table, compare);
	if (!d) {
		put_char(n, c, pos);
		return;
	}
	put_decomposed(n, d->first, pos);
	if (d->second)
		put_decomposed(n, d->second, pos);
}

static uint32_t plain(uint32_t c)
{
	switch (c) {
	case 0x2018: case 0x2019: case 0x201A: case 0x201B: case 0x2032: case 0x2035: case 0x2BC: case 0xFF07:
		return '\'';
	case 0x201C: case 0x201D: case 0x201E: case 0x201F: case 0x2033: case 0x2036: case 0xAB: case 0xBB: case 0xFF02:
		return '"';
	case 0x2010: case 0x2011: case 0x2012: case 0x2013: case 0x2014: case 0x2015: case 0x2212:
		return '-';
	case 0xA0: case 0x2002: case 0x2003: case 0x2007: case 0x2009: case 0x202F: case 0x3000:
		return ' ';
	}
	return c;
}

/* Length of the line end at s[i], after blanks if those do not count: 0 if there is none. The end of the text is
 * one of length 0 that shows in *last. */
static size_t line_end(const char *s, size_t i, size_t len, int how, bool *last)
{
	size_t j = i;
	while ((how & NORM_BLANKS) && j < len && (s[j] == ' ' || s[j] == '\t'))
		j++;
	*last = j == len;
	if (j < len && s[j] == '\n')
		return j + 1 - i;
	if ((how & NORM_EOL) && j + 1 < len && s[j] == '\r' && s[j + 1] == '\n')
		return j + 2 - i;
	return 0;
}

void norm_make(struct norm *n, const char *s, size_t len, int how)
{
	buf_init(&n->text, BUF_NOLIMIT);
	n->map = NULL;
	n->cap = 0;
	size_t i = 0;
	while (i < len) {
		bool last = false;
		size_t k = strchr(" \t\r\n", s[i]) && s[i] ? line_end(s, i, len, how, &last) : 0;
		if (k > 0) {
			put(n, "\n", 1, i);
			i += k;
			continue;
		}
		if (last)
			break;
		uint32_t c;
		k = (unsigned char)s[i] < 0x80 ? 0 : (size_t)utf8_decode(s + i, len - i, &c);
		if (k == 0) {
			put(n, s + i, 1, i);
			i++;
			continue;
		}
		if (how & NORM_LOOKS)
			c = plain(c);
		if (how & NORM_FORM)
			put_decomposed(n, c, i);
		else
			put_char(n, c, i);
		i += k;
	}
	put(n, "", 0, i);
	n->map[n->text.len] = (uint32_t)i;
}

void norm_free(struct norm *n)
{
	buf_free(&n->text);
	free(n->map);
	n->map = NULL;
}

static bool mark(uint32_t c)
{
	return (c >= 0x300 && c <= 0x36F) || (c >= 0x483 && c <= 0x487) || (c >= 0x591 && c <= 0x5BD) ||
		(c >= 0x64B && c <= 0x65F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF) ||
		(c >= 0x20D0 && c <= 0x20FF) || c == 0x3099 || c == 0x309A || (c >= 0xFE20 && c <= 0xFE2F);
}

bool norm_whole(const struct norm *n, size_t a, size_t b)
{
	uint32_t c;
	if (a > 0 && n->map[a] == n->map[a - 1])
		return false;
	if (b < n->text.len && b > 0 && n->map[b] == n->map[b - 1])
		return false;
	return b >= n->text.len || utf8_decode(n->text.p + b, n->text.len - b, &c) == 0 || !mark(c);
}

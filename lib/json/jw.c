#include "json/jw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

struct jw jw_begin(struct buf *b)
{
	return (struct jw){.b = b};
}

/* Before each value: the comma it may need. */
static void separate(struct jw *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->depth) {
		if (w->some[w->depth - 1])
			buf_addc(w->b, ',');
		w->some[w->depth - 1] = 1;
	}
}

static void open_container(struct jw *w, char open, char close)
{
	if (w->depth == JW_DEPTH)
		abort();
	separate(w);
	buf_addc(w->b, open);
	w->close[w->depth] = (unsigned char)close;
	w->some[w->depth++] = 0;
}

void jw_obj(struct jw *w)
{
	open_container(w, '{', '}');
}

void jw_arr(struct jw *w)
{
	open_container(w, '[', ']');
}

void jw_end(struct jw *w)
{
	if (!w->depth || w->after_key)
		abort();
	buf_addc(w->b, (char)w->close[--w->depth]);
}

void jw_key(struct jw *w, const char *key)
{
	jw_str(w, key);
	buf_addc(w->b, ':');
	w->after_key = true;
}

static void escape_ascii(struct buf *b, unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *p = c ? strchr(from, c) : NULL;

	if (p) {
		char pair[2] = {'\\', to[p - from]};

		buf_add(b, pair, 2);
	} else {
		buf_addf(b, "\\u%04x", c);
	}
}

/* Bytes up to the next that may need an escape, eight at a time, as plain_run in parse.c; it stops up to seven bytes early. */
static size_t plain_words(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		uint64_t w, quote, slash, del;

		memcpy(&w, s + i, 8);
		quote = w ^ (ones * '"');
		slash = w ^ (ones * '\\');
		del = w ^ (ones * 0x7f);
		if ((((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((del - ones) & ~del)) & tops)
			break;
	}
	return i;
}

/* s is valid UTF-8. */
static void escape_valid(struct buf *b, const char *s, size_t n)
{
	size_t from = 0;

	for (size_t i = plain_words(s, n); i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
			continue;
		buf_add(b, s + from, i - from);
		if (c)
			escape_ascii(b, c);
		else
			buf_adds(b, "\xef\xbf\xbd");   /* NUL: a C reader would lose what follows */
		from = i + 1;
	}
	buf_add(b, s + from, n - from);
}

void jw_escape(struct buf *b, const char *s, size_t n)
{
	while (n) {
		size_t good = utf8_valid_prefix(s, n);

		escape_valid(b, s, good);
		s += good, n -= good;
		if (n) {
			size_t end = 1;

			while (end < n && !utf8_decode(s + end, n - end, NULL))
				end++;
			utf8_repair(b, s, end);
			s += end, n -= end;
		}
	}
}

void jw_strn(struct jw *w, const char *s, size_t n)
{
	separate(w);
	buf_addc(w->b, '"');
	jw_escape(w->b, s, n);
	buf_addc(w->b, '"');
}

void jw_str(struct jw *w, const char *s)
{
	if (s)
		jw_strn(w, s, strlen(s));
	else
		jw_null(w);
}

void jw_i64(struct jw *w, int64_t n)
{
	separate(w);
	buf_addf(w->b, "%" PRId64, n);
}

void jw_double(struct jw *w, double d)
{
	char text[32];

	if (!isfinite(d)) {
		jw_null(w);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, d);
		if (strtod(text, NULL) == d)
			break;
	}
	jw_raw(w, text, strlen(text));
}

void jw_bool(struct jw *w, bool b)
{
	separate(w);
	buf_adds(w->b, b ? "true" : "false");
}

void jw_null(struct jw *w)
{
	separate(w);
	buf_adds(w->b, "null");
}

void jw_raw(struct jw *w, const char *json, size_t n)
{
	separate(w);
	buf_add(w->b, json, n);
}

void jw_kstr(struct jw *w, const char *key, const char *s)
{
	jw_key(w, key);
	jw_str(w, s);
}

void jw_kstrn(struct jw *w, const char *key, const char *s, size_t n)
{
	jw_key(w, key);
	jw_strn(w, s, n);
}

void jw_ki64(struct jw *w, const char *key, int64_t n)
{
	jw_key(w, key);
	jw_i64(w, n);
}

void jw_kbool(struct jw *w, const char *key, bool b)
{
	jw_key(w, key);
	jw_bool(w, b);
}

void jw_kraw(struct jw *w, const char *key, const char *json, size_t n)
{
	jw_key(w, key);
	jw_raw(w, json, n);
}

#include "tools/edithint.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define SHOWN 3           /* nearest lines */
#define LINE_SHOWN 200
#define LINE_LOOKED 300
#define BUCKETS 4096

static size_t line_of(const char *s, const char *at)
{
	size_t line = 1;
	for (const char *p = s; (p = memchr(p, '\n', (size_t)(at - p))); p++)
		line++;
	return line;
}

/* How programs write a character: C, JSON and JavaScript; Rust and ES6; XML. */
enum escape { ESC_U_LOWER, ESC_U_UPPER, ESC_BRACE, ESC_HEX_ENTITY, ESC_DEC_ENTITY, ESC_BYTES, ESC_NAMED,
	ESC_LINES, ESC_QUOTES, ESC_C, ESC_KINDS };

static void escape_char(struct buf *out, enum escape kind, uint32_t c, const char *s, int len)
{
	uint32_t pair[2] = {c, 0};
	if (c >= 0x10000) {
		pair[0] = 0xD800 + ((c - 0x10000) >> 10);
		pair[1] = 0xDC00 + ((c - 0x10000) & 0x3FF);
	}
	switch (kind) {
	case ESC_U_LOWER:
	case ESC_U_UPPER:
		for (int i = 0; i < (pair[1] ? 2 : 1); i++)
			buf_addf(out, kind == ESC_U_LOWER ? "\\u%04x" : "\\u%04X", (unsigned)pair[i]);
		break;
	case ESC_BRACE: buf_addf(out, "\\u{%x}", (unsigned)c); break;
	case ESC_HEX_ENTITY: buf_addf(out, "&#x%x;", (unsigned)c); break;
	case ESC_DEC_ENTITY: buf_addf(out, "&#%u;", (unsigned)c); break;
	case ESC_BYTES:
		for (int i = 0; i < len; i++)
			buf_addf(out, "\\x%02x", (unsigned char)s[i]);
		break;
	default: buf_add(out, s, (size_t)len);
	}
}

static const char *escape_ascii(enum escape kind, char c)
{
	if (kind == ESC_NAMED)
		return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : c == '\'' ? "&#39;" : NULL;
	if ((kind == ESC_LINES || kind == ESC_C) && (c == '\n' || c == '\t'))
		return c == '\n' ? "\\n" : "\\t";
	if ((kind == ESC_QUOTES || kind == ESC_C) && (c == '"' || c == '\\'))
		return c == '"' ? "\\\"" : "\\\\";
	return NULL;
}

/* old as a program might write it; *plain and form are the first thing that changed, NULL if nothing did. */
static void escaped(struct buf *out, const char *old, enum escape kind, struct buf *plain, struct buf *form)
{
	for (size_t i = 0, n = strlen(old), start; i < n;) {
		uint32_t c;
		int k = utf8_decode(old + i, n - i, &c);
		const char *named = k == 1 ? escape_ascii(kind, old[i]) : NULL;
		start = out->len;
		if (k == 0)
			k = 1, buf_addc(out, old[i]);
		else if (named)
			buf_adds(out, named);
		else if (c >= 0x80)
			escape_char(out, kind, c, old + i, k);
		else
			buf_addc(out, old[i]);
		if (plain->len == 0 && (out->len - start != (size_t)k || memcmp(out->p + start, old + i, (size_t)k))) {
			buf_add(plain, old + i, (size_t)k);
			buf_add(form, out->p + start, out->len - start);
		}
		i += (size_t)k;
	}
}

static int hex(const char *s, int n)
{
	int v = 0;
	for (int i = 0; i < n; i++) {
		const char *digits = "0123456789abcdef", *p = s[i] ? strchr(digits, s[i] | 32) : NULL;
		if (!p)
			return -1;
		v = v * 16 + (int)(p - digits);
	}
	return v;
}

/* old with its escapes (\uXXXX, \n, \t, \", \\) taken for what they mean. */
static void unescaped(struct buf *out, const char *s, struct buf *plain, struct buf *form)
{
	while (*s) {
		size_t k = 1, start = out->len;
		int v = s[0] == '\\' && s[1] == 'u' ? hex(s + 2, 4) : -1;
		if (v > 0) {
			char u[4];
			k = 6;
			buf_add(out, u, (size_t)utf8_encode(u, (uint32_t)v));
		} else if (s[0] == '\\' && s[1] && strchr("nt\"'\\", s[1])) {
			k = 2;
			buf_addc(out, s[1] == 'n' ? '\n' : s[1] == 't' ? '\t' : s[1]);
		} else {
			buf_addc(out, *s);
		}
		if (k > 1 && plain->len == 0) {
			buf_add(plain, out->p + start, out->len - start);
			buf_add(form, s, k);
		}
		s += k;
	}
}

static void show_char(struct buf *why, const struct buf *c)
{
	buf_adds(why, c->p[0] == '\n' ? "a line end" : c->p[0] == '\t' ? "a tab" : c->p);
}

static bool escape_hint(struct buf *why, const char *text, size_t n, const char *old)
{
	bool found = false;
	for (int kind = 0; kind <= ESC_KINDS && !found; kind++) {
		struct buf out, plain, form;
		buf_init(&out, BUF_NOLIMIT);
		buf_init(&plain, BUF_NOLIMIT);
		buf_init(&form, BUF_NOLIMIT);
		if (kind < ESC_KINDS)
			escaped(&out, old, (enum escape)kind, &plain, &form);
		else
			unescaped(&out, old, &plain, &form);
		const char *p = plain.len > 0 ? memmem(text, n, out.p, out.len) : NULL;
		if (p) {
			buf_addf(why, ", but line %zu has it with ", line_of(text, p));
			if (kind < ESC_KINDS) {
				buf_addf(why, "the escaped form %s where old_string has ", form.p);
				show_char(why, &plain);
			} else {
				show_char(why, &plain);
				buf_addf(why, " itself where old_string has the escape %s", form.p);
			}
			buf_adds(why, ". Give old_string (and new_string) as the file has it");
			found = true;
		}
		buf_free(&out);
		buf_free(&plain);
		buf_free(&form);
	}
	return found;
}

struct slice {
	const char *p;
	size_t n;
};

static bool next_slice(const char **s, const char *end, struct slice *l)
{
	if (*s >= end)
		return false;
	const char *p = memchr(*s, '\n', (size_t)(end - *s));
	*l = (struct slice){*s, (size_t)((p ? p : end) - *s)};
	*s = p ? p + 1 : end;
	return true;
}

static struct slice trim(struct slice l)
{
	while (l.n > 0 && strchr(" \t\r", *l.p) && *l.p)
		l.p++, l.n--;
	while (l.n > 0 && strchr(" \t\r", l.p[l.n - 1]) && l.p[l.n - 1])
		l.n--;
	return l;
}

/* Dice's coefficient of the two lines' pairs of bytes, in per cent; want holds the counts of `of`. */
static int likeness(uint16_t *want, size_t of, struct slice l)
{
	size_t n = l.n < LINE_LOOKED ? l.n : LINE_LOOKED, hit = 0;
	uint16_t used[LINE_LOOKED];
	if (n < 2 || of == 0)
		return 0;
	for (size_t i = 0; i + 1 < n; i++) {
		unsigned h = ((unsigned char)l.p[i] * 31u + (unsigned char)l.p[i + 1] * 131u) % BUCKETS;
		if (want[h] > 0) {
			want[h]--;
			used[hit++] = (uint16_t)h;
		}
	}
	for (size_t i = 0; i < hit; i++)
		want[used[i]]++;
	return (int)(200 * hit / (of + n - 1));
}

struct near {
	size_t line;
	struct slice l;
	int score;
};

static void keep(struct near best[SHOWN], struct near x)
{
	for (int i = 0; i < SHOWN; i++)
		if (x.score > best[i].score) {
			struct near y = best[i];
			best[i] = x;
			x = y;
		}
}

/* Looks for `of` (the first line of old with something on it) among the lines; true if one is the same but for the indentation. */
static void nearest(const char *text, size_t n, struct slice of, struct near best[SHOWN])
{
	uint16_t *want = calloc(BUCKETS, sizeof *want);
	size_t pairs = 0, line = 0;
	struct slice l;
	if (!want)
		return;
	for (size_t i = 0; i + 1 < of.n && i + 1 < LINE_LOOKED; i++, pairs++)
		want[((unsigned char)of.p[i] * 31u + (unsigned char)of.p[i + 1] * 131u) % BUCKETS]++;
	for (const char *s = text, *end = text + n; line < HINT_LINES && next_slice(&s, end, &l);) {
		line++;
		struct slice t = trim(l);
		bool same = t.n == of.n && memcmp(t.p, of.p, t.n) == 0;
		int score = same ? 101 : likeness(want, pairs, t);
		if (score >= 50)
			keep(best, (struct near){line, l, score});
	}
	free(want);
}

/* From the nearest line on, old's lines beside the text's: names the first that differs. */
static void first_difference(struct buf *why, const char *end, const struct near *at, const char *old, size_t skipped)
{
	const char *s = at->l.p, *o = old, *oend = old + strlen(old);
	struct slice a, b;
	size_t line = 0;
	while (next_slice(&o, oend, &b)) {
		line++;
		if (line <= skipped)
			continue;
		bool there = next_slice(&s, end, &a);
		if (there && a.n > 0 && a.p[a.n - 1] == '\r')
			a.n--;
		if (there && a.n == b.n && memcmp(a.p, b.p, a.n) == 0)
			continue;
		struct slice x = there ? trim(a) : (struct slice){"", 0}, y = trim(b);
		bool indent = there && x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
		buf_addf(why, "Line %zu of old_string differs from the file's line %zu%s\n", line, at->line + line - 1 - skipped,
			indent ? " in its blanks (tabs or spaces, or their number)" : there ? "" : ", which is past its end");
		return;
	}
}

static void show_line(struct buf *why, const struct near *x)
{
	size_t n = x->l.n > LINE_SHOWN ? utf8_cut(x->l.p, LINE_SHOWN) : x->l.n;
	buf_addf(why, "%6zu\t", x->line);
	if (memchr(x->l.p, '\0', n))
		buf_adds(why, "(not text)");
	else
		utf8_repair(why, x->l.p, n);
	buf_adds(why, n < x->l.n ? "[...]\n" : "\n");
}

void edit_hint(struct buf *why, const char *text, size_t n, const char *old)
{
	struct near best[SHOWN] = {{0}};
	struct slice of = {0};
	size_t skipped = 0;
	if (escape_hint(why, text, n, old))
		return;
	for (const char *s = old, *end = old + strlen(old); next_slice(&s, end, &of); skipped++)
		if ((of = trim(of)).n > 0)
			break;
	nearest(text, n, of, best);
	if (best[0].score == 0) {
		buf_adds(why, ", nor any line like its first one. Read the file again before the next try");
		return;
	}
	buf_adds(why, ". Nearest lines:\n");
	for (int i = 0; i < SHOWN && best[i].score > 0; i++)
		show_line(why, &best[i]);
	first_difference(why, text + n, &best[0], old, skipped);
	buf_adds(why, "Read the file again around there and copy old_string from it");
}

#include "tools/editmatch.h"

#include <string.h>

#include "tools/edithint.h"
#include "tools/norm.h"

#define LINES_NAMED 8

/* Every line end is CR LF, and there is one. */
static bool pure_crlf(const char *s, size_t n)
{
	const char *end = s + n, *p = s;
	size_t count = 0;
	for (; (p = memchr(p, '\n', (size_t)(end - p))); p++, count++)
		if (p == s || p[-1] != '\r')
			return false;
	return count > 0;
}

static void line_ends(struct buf *out, const char *s, bool crlf)
{
	for (; *s; s++) {
		if (s[0] == '\r' && s[1] == '\n')
			continue;
		if (*s == '\n' && crlf)
			buf_addc(out, '\r');
		buf_addc(out, *s);
	}
}

static size_t line_of(const char *s, size_t at)
{
	size_t line = 1;
	for (const char *p = s, *end = s + at; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		line++;
	return line;
}

struct matches {
	size_t n, first, line[LINES_NAMED];
};

static void matches_add(struct matches *m, const char *source, size_t at)
{
	if (m->n == 0)
		m->first = at;
	if (m->n < LINES_NAMED)
		m->line[m->n] = line_of(source, at);
	m->n++;
}

static void name_lines(struct buf *why, const struct matches *m)
{
	for (size_t i = 0; i < m->n && i < LINES_NAMED; i++)
		buf_addf(why, "%s%zu", i ? ", " : "", m->line[i]);
	if (m->n > LINES_NAMED)
		buf_adds(why, ", ...");
}

/* Overlapping ones count: "aa" stands twice in "aaa". */
static void find_exact(struct matches *m, const char *s, size_t n, const char *old, size_t len)
{
	const char *p = s, *end = s + n;
	memset(m, 0, sizeof *m);
	for (; (p = memmem(p, (size_t)(end - p), old, len)); p++)
		matches_add(m, s, (size_t)(p - s));
}

static void replace_at(struct buf *text, size_t from, size_t to, const char *s, size_t n)
{
	struct buf out;
	buf_init(&out, BUF_NOLIMIT);
	buf_add(&out, text->p, from);
	buf_add(&out, s, n);
	buf_add(&out, text->p + to, text->len - to);
	buf_clear(text);
	buf_add(text, out.p, out.len);
	buf_free(&out);
}

static size_t replace_all(struct buf *text, const char *old, size_t len, const char *s, size_t n)
{
	struct buf out;
	size_t count = 0;
	const char *p = text->p, *end = p + text->len, *q;
	buf_init(&out, BUF_NOLIMIT);
	for (; (q = memmem(p, (size_t)(end - p), old, len)); p = q + len, count++) {
		buf_add(&out, p, (size_t)(q - p));
		buf_add(&out, s, n);
	}
	buf_add(&out, p, (size_t)(end - p));
	buf_clear(text);
	buf_add(text, out.p, out.len);
	buf_free(&out);
	return count;
}

static bool boundary(const struct norm *n, size_t i)
{
	return norm_whole(n, i, i);
}

/* The match of o at a in f: what old and new (both with LF) share at their ends stays as it is in the text, the middle is
 * exchanged. */
static void replace_fuzzy(struct buf *text, const struct norm *f, const struct norm *o, size_t a, const char *old,
	const char *s, bool crlf)
{
	struct buf middle, lines;
	size_t old_len = strlen(old), len = strlen(s), most = old_len < len ? old_len : len, pre = 0, post = 0;
	while (pre < most && old[pre] == s[pre])
		pre++;
	while (post < most - pre && old[old_len - 1 - post] == s[len - 1 - post])
		post++;
	size_t i = o->text.len, k;
	while (i > 0 && !(o->map[i] <= pre && boundary(o, i) && boundary(f, a + i)))
		i--;
	for (k = i; k < o->text.len; k++)
		if (o->map[k] >= old_len - post && boundary(o, k) && boundary(f, a + k))
			break;
	size_t from = i ? o->map[i] : 0, to = k < o->text.len ? len - (old_len - o->map[k]) : len;
	buf_init(&middle, BUF_NOLIMIT);
	buf_init(&lines, BUF_NOLIMIT);
	buf_add(&middle, s + from, to - from);
	line_ends(&lines, middle.p, crlf);
	replace_at(text, f->map[a + i], f->map[a + k], lines.p, lines.len);
	buf_free(&middle);
	buf_free(&lines);
}

struct level {
	int how;
	const char *name;
};

static const struct level levels[] = {
	{NORM_EOL, "line ends (CR LF and LF)"},
	{NORM_EOL | NORM_FORM, "Unicode normalisation"},
	{NORM_EOL | NORM_BLANKS, "blanks before line ends"},
	{NORM_EOL | NORM_FORM | NORM_LOOKS, "typographic quotes, dashes or blanks"},
	{NORM_EOL | NORM_FORM | NORM_LOOKS | NORM_BLANKS, "quotes, dashes and blanks before line ends"},
};

static void find_fuzzy(struct matches *m, const struct norm *f, const struct norm *o, const char *source, size_t *at)
{
	const char *p = f->text.p, *end = p + f->text.len;
	memset(m, 0, sizeof *m);
	if (o->text.len == 0)
		return;
	for (; (p = memmem(p, (size_t)(end - p), o->text.p, o->text.len)); p++) {
		size_t i = (size_t)(p - f->text.p);
		if (!norm_whole(f, i, i + o->text.len))
			continue;
		if (m->n == 0)
			*at = i;
		matches_add(m, source, f->map[i]);
	}
}

/* 1 replaced, 0 nothing like it on this level, -1 several. */
static int try_level(struct buf *text, const char *old, const char *s, const struct level *l, struct buf *why)
{
	struct norm f, o;
	struct matches m;
	size_t at = 0;
	norm_make(&f, text->p, text->len, l->how);
	norm_make(&o, old, strlen(old), l->how);
	find_fuzzy(&m, &f, &o, text->p, &at);
	if (m.n == 1) {
		size_t from = f.map[at], n = f.map[at + o.text.len] - from;
		bool crlf = memmem(text->p + from, n, "\r\n", 2) || pure_crlf(text->p, text->len);
		replace_fuzzy(text, &f, &o, at, old, s, crlf);
	} else if (m.n > 1) {
		buf_addf(why, "old_string has no exact match, and disregarding %s it matches %zu times (lines ", l->name, m.n);
		name_lines(why, &m);
		buf_adds(why, "). Read the lines again and give old_string exactly as it is there, with more lines around it");
	}
	norm_free(&f);
	norm_free(&o);
	return m.n == 1 ? 1 : m.n > 1 ? -1 : 0;
}

static int no_exact(struct buf *text, const char *old, const char *s, bool all, struct edit_done *d, struct buf *why)
{
	struct buf o, n;
	int k = 0;
	buf_init(&o, BUF_NOLIMIT);
	buf_init(&n, BUF_NOLIMIT);
	line_ends(&o, old, false);
	line_ends(&n, s, false);
	for (size_t i = 0; k == 0 && i < sizeof levels / sizeof *levels; i++) {
		k = try_level(text, o.p, n.p, &levels[i], why);
		d->count = k > 0;
		d->how = levels[i].name;
	}
	buf_free(&o);
	buf_free(&n);
	if (k != 0)
		return k > 0 ? 0 : -1;
	d->how = NULL;
	buf_adds(why, "old_string was not found");
	buf_adds(why, all ? " (replace_all needs exact matches)" : "");
	edit_hint(why, text->p, text->len, old);
	return -1;
}

int edit_apply(struct buf *text, const char *old, const char *new_text, bool all, struct edit_done *d, struct buf *why)
{
	struct buf o, s;
	struct matches m;
	bool crlf = pure_crlf(text->p, text->len);
	int r = 0;
	*d = (struct edit_done){0, NULL};
	buf_init(&o, BUF_NOLIMIT);
	buf_init(&s, BUF_NOLIMIT);
	if (crlf) {
		line_ends(&o, old, true);
		line_ends(&s, new_text, true);
	} else {
		buf_adds(&o, old);
		buf_adds(&s, new_text);
	}
	find_exact(&m, text->p, text->len, o.p, o.len);
	if (m.n == 0) {
		r = no_exact(text, o.p, s.p, all, d, why);
	} else if (all) {
		d->count = replace_all(text, o.p, o.len, s.p, s.len);
	} else if (m.n == 1) {
		d->count = 1;
		replace_at(text, m.first, m.first + o.len, s.p, s.len);
	} else {
		buf_addf(why, "old_string appears %zu times (lines ", m.n);
		name_lines(why, &m);
		buf_adds(why, "). Give more of the lines around the one that is meant, or set replace_all");
		r = -1;
	}
	buf_free(&o);
	buf_free(&s);
	return r;
}

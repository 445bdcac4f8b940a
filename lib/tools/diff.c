#include "tools/diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

struct line {
	const char *p;
	size_t len;       /* with its line end */
	uint32_t hash;
	bool changed;     /* deleted or added */
};

struct text {
	struct line *line;
	size_t n;
};

struct printer {
	struct buf *out;
	size_t lines, max_lines, start, max_bytes, left_out;
};

size_t diff_lines(const char *s, size_t n)
{
	size_t lines = 0;
	const char *end = s + n, *p;
	while (s < end && (p = memchr(s, '\n', (size_t)(end - s)))) {
		lines++;
		s = p + 1;
	}
	return lines + (s < end);
}

static void split(struct text *t, const char *s, size_t n)
{
	const char *end = s + n;
	t->n = 0;
	t->line = xcalloc(diff_lines(s, n) + 1, sizeof *t->line);
	while (s < end) {
		const char *p = memchr(s, '\n', (size_t)(end - s));
		struct line *l = &t->line[t->n++];
		l->p = s;
		l->len = (size_t)((p ? p + 1 : end) - s);
		l->hash = 2166136261u;                /* FNV-1a */
		for (size_t i = 0; i < l->len; i++)
			l->hash = (l->hash ^ (unsigned char)s[i]) * 16777619u;
		s += l->len;
	}
}

static bool same(const struct line *a, const struct line *b)
{
	return a->hash == b->hash && a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

static void mark(struct line *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		l[i].changed = true;
}

/* v[k] is how far in a the furthest path on diagonal k (x - y) comes; trace[d] holds v before round d. */
static int64_t furthest(const struct line *a, int64_t n, const struct line *b, int64_t m, const int32_t *v, int64_t k,
	int64_t d, bool *down)
{
	*down = k == -d || (k != d && v[k - 1] < v[k + 1]);
	int64_t x = *down ? v[k + 1] : v[k - 1] + 1, y = x - k;
	if (x > n || y > m || y < 0)
		return x;
	while (x < n && y < m && same(&a[x], &b[y]))
		x++, y++;
	return x;
}

static void backtrack(struct line *a, struct line *b, int64_t n, int64_t m, int32_t **trace, int64_t d)
{
	int64_t x = n, y = m;
	for (; d > 0; d--) {
		const int32_t *v = trace[d] + d;
		int64_t k = x - y;
		bool down = k == -d || (k != d && v[k - 1] < v[k + 1]);
		int64_t prev = down ? k + 1 : k - 1;
		x = v[prev];
		y = x - prev;
		if (down)
			b[y].changed = true;
		else
			a[x].changed = true;
	}
}

static void compare(struct line *a, size_t n, struct line *b, size_t m)
{
	int64_t N = (int64_t)n, M = (int64_t)m, max = N + M < DIFF_EDITS ? N + M : DIFF_EDITS, d;
	if (n == 0 || m == 0) {
		mark(a, n);
		mark(b, m);
		return;
	}
	int32_t **trace = xcalloc((size_t)max + 1, sizeof *trace);
	int32_t *room = xcalloc((size_t)(2 * max + 3), sizeof *room), *v = room + max + 1;
	bool found = false, down;
	for (d = 0; d <= max && !found; d++) {
		trace[d] = xmalloc((size_t)(2 * d + 1) * sizeof **trace);
		memcpy(trace[d], v - d, (size_t)(2 * d + 1) * sizeof **trace);
		for (int64_t k = -d; k <= d && !found; k += 2) {
			v[k] = (int32_t)furthest(a, N, b, M, v, k, d, &down);
			found = v[k] >= N && v[k] - k >= M;
		}
	}
	if (found) {
		backtrack(a, b, N, M, trace, d - 1);
	} else {
		mark(a, n);
		mark(b, m);
	}
	for (int64_t i = 0; i <= max; i++)
		free(trace[i]);
	free(trace);
	free(room);
}

static bool room(struct printer *p)
{
	if (p->lines < p->max_lines && p->out->len - p->start < p->max_bytes) {
		p->lines++;
		return true;
	}
	p->left_out++;
	return false;
}

static void print_line(struct printer *p, char sign, const struct line *l)
{
	if (!room(p))
		return;
	size_t len = l->len, cut;
	bool ended = len > 0 && l->p[len - 1] == '\n';
	len -= ended;
	cut = len > DIFF_LINE ? utf8_cut(l->p, DIFF_LINE) : len;
	buf_addc(p->out, sign);
	const char *nul;
	for (const char *s = l->p, *end = s + cut; s < end; s = nul + 1) {   /* no NUL in a result */
		nul = memchr(s, '\0', (size_t)(end - s));
		if (!nul)
			nul = end;
		utf8_repair(p->out, s, (size_t)(nul - s));
		if (nul < end)
			buf_adds(p->out, "\\x00");
	}
	if (cut < len)
		buf_addf(p->out, "[... %zu more bytes]", len - cut);
	buf_addc(p->out, '\n');
	if (!ended)
		buf_adds(p->out, "\\ No newline at end of file\n");
}

static void range(struct buf *out, char sign, size_t at, size_t n)
{
	buf_addf(out, n == 1 ? "%c%zu" : "%c%zu,%zu", sign, n ? at + 1 : at, n);
}

/* One hunk from a[i], b[j] on; moves both behind it. */
static void hunk(struct printer *p, const struct text *a, const struct text *b, size_t *pi, size_t *pj)
{
	size_t lead = *pi < DIFF_CONTEXT ? *pi : DIFF_CONTEXT;
	size_t i0 = *pi - lead, j0 = *pj - lead, i = *pi, j = *pj, quiet = 0;
	while ((i < a->n || j < b->n) && quiet <= 2 * DIFF_CONTEXT) {
		bool del = i < a->n && a->line[i].changed, add = j < b->n && b->line[j].changed;
		quiet = del || add ? 0 : quiet + 1;
		i += del || !add;
		j += add || !del;
	}
	/* Up to here all is in the hunk but the context that is too much. */
	size_t extra = quiet > DIFF_CONTEXT ? quiet - DIFF_CONTEXT : 0, i1 = i - extra, j1 = j - extra;
	if (room(p)) {
		buf_adds(p->out, "@@ ");
		range(p->out, '-', i0, i1 - i0);
		buf_addc(p->out, ' ');
		range(p->out, '+', j0, j1 - j0);
		buf_adds(p->out, " @@\n");
	}
	for (i = i0, j = j0; i < i1 || j < j1;) {
		if (i < i1 && a->line[i].changed)
			print_line(p, '-', &a->line[i++]);
		else if (j < j1 && b->line[j].changed)
			print_line(p, '+', &b->line[j++]);
		else
			print_line(p, ' ', &a->line[i++]), j++;
	}
	*pi = i1;
	*pj = j1;
}

void diff_unified(struct buf *out, const char *name, const char *a, size_t an, const char *b, size_t bn,
	size_t max_lines, size_t max_bytes)
{
	struct text x, y;
	split(&x, a, an);
	split(&y, b, bn);
	size_t pre = 0, post = 0;
	while (pre < x.n && pre < y.n && same(&x.line[pre], &y.line[pre]))
		pre++;
	while (post < x.n - pre && post < y.n - pre && same(&x.line[x.n - 1 - post], &y.line[y.n - 1 - post]))
		post++;
	if (pre < x.n || pre < y.n) {
		struct printer p = {out, 0, max_lines, out->len, max_bytes, 0};
		compare(x.line + pre, x.n - pre - post, y.line + pre, y.n - pre - post);
		if (room(&p))
			buf_addf(out, "--- %s\n", name);
		if (room(&p))
			buf_addf(out, "+++ %s\n", name);
		for (size_t i = 0, j = 0; i < x.n || j < y.n;) {
			if ((i < x.n && x.line[i].changed) || (j < y.n && y.line[j].changed))
				hunk(&p, &x, &y, &i, &j);
			else
				i++, j++;
		}
		if (p.left_out)
			buf_addf(out, "[... %zu more lines ...]\n", p.left_out);
	}
	free(x.line);
	free(y.line);
}

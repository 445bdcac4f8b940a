#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "tools/arg.h"
#include "tools/fsguard.h"
#include "tools/fshint.h"
#include "tools/textsrc.h"
#include "tools/tool.h"

#define OUTPUT_MAX 50000
#define NOTES 400                       /* room left for the markers at the end */
#define LINE_MAX_SHOWN 2000
#define LINE_SCAN ((uint64_t)8 << 20)   /* looked for the end of a line that is too long, no further */

struct reader {
	struct textsrc src;
	struct tool_result *r;
	char eol;                /* '\n', or '\r' in a file that has no other */
	size_t max;              /* of r->text before the markers */
	long line;               /* number of the next line, from 0 */
	bool inside;             /* skip left off inside that line */
	long shown, limit;       /* limit -1: none */
	size_t bad;              /* bytes that were not UTF-8 */
	struct buf text;         /* the line that is being read */
};

struct line {
	uint64_t start, len;     /* place in the text; length without its end */
	bool ended, cut;         /* the end was seen (or the file's); more than what is in text */
};

/* Forward to the byte or the line (0-based), whichever is asked for (-1: not). 0, or -1 when the file ends before. */
static int skip(struct reader *x, long line, long byte)
{
	struct textsrc *s = &x->src;
	while (line >= 0 ? x->line < line : s->pos < (uint64_t)byte) {
		if (textsrc_more(s) <= 0)
			return -1;
		size_t n = s->n;
		if (line < 0 && n > (uint64_t)byte - s->pos)
			n = (size_t)((uint64_t)byte - s->pos);
		const char *p = memchr(s->p, x->eol, n);
		x->line += p != NULL;
		x->inside = !p;
		textsrc_take(s, p ? (size_t)(p - s->p) + 1 : n);
	}
	return 0;
}

/* Next line, at most cap bytes of it in x->text. 0: the file is at its end. */
static int next_line(struct reader *x, size_t cap, struct line *l)
{
	struct textsrc *s = &x->src;
	*l = (struct line){.start = s->pos};
	buf_clear(&x->text);
	if (textsrc_more(s) <= 0)
		return 0;
	while (!l->ended && !(l->cut && l->len > LINE_SCAN)) {
		if (textsrc_more(s) <= 0) {
			l->ended = true;
			break;
		}
		const char *p = memchr(s->p, x->eol, s->n);
		size_t n = p ? (size_t)(p - s->p) : s->n, take = n < cap - x->text.len ? n : cap - x->text.len;
		buf_add(&x->text, s->p, take);
		l->cut |= take < n;
		l->len += n;
		l->ended = p != NULL;
		textsrc_take(s, n + l->ended);
	}
	if (l->cut) {
		size_t m = utf8_cut(x->text.p, x->text.len);
		if (m > 0)
			buf_truncate(&x->text, m);
	} else if (x->eol == '\n' && x->text.len > 0 && x->text.p[x->text.len - 1] == '\r') {
		buf_truncate(&x->text, x->text.len - 1);
	}
	return 1;
}

/* Appends the line's text: valid UTF-8 without NUL. Returns how many of its bytes found room. */
static size_t show(struct reader *x, size_t max)
{
	struct buf *out = &x->r->text;
	const char *s = x->text.p;
	size_t n = x->text.len, i = 0;
	while (i < n) {
		int k = utf8_decode(s + i, n - i, NULL);
		char esc[8];
		if (k == 0 || s[i] == '\0')
			snprintf(esc, sizeof esc, "\\x%02x", (unsigned char)s[i]);
		else if (s[i] == '\r')
			memcpy(esc, "\\r", 3);
		else
			esc[0] = '\0';
		if (out->len + (esc[0] ? strlen(esc) : (size_t)k) > max)
			break;
		if (esc[0])
			buf_adds(out, esc);
		else
			buf_add(out, s + i, (size_t)k);
		x->bad += k == 0;
		i += k ? (size_t)k : 1;
	}
	return i;
}

/* Shows lines until something stops it; its marker is the last thing it writes. */
static void lines(struct reader *x, bool from_byte)
{
	struct buf *out = &x->r->text;
	struct line l;
	for (;; x->line++, x->shown++) {
		if (x->limit >= 0 && x->shown == x->limit) {
			if (textsrc_more(&x->src) > 0)
				buf_addf(out, "[stopped after %ld lines (limit); go on with offset=%ld]\n", x->shown, x->line);
			return;
		}
		bool first = x->shown == 0;
		size_t before = out->len;
		if (!next_line(x, first && from_byte ? x->max : LINE_MAX_SHOWN, &l))
			return;
		buf_addf(out, "%6ld\t", x->line + 1);
		size_t k = show(x, x->max);
		if (k < x->text.len && !first) {
			buf_truncate(out, before);
			buf_addf(out, "[stopped at %zu bytes of output; go on with offset=%ld]\n", x->max, x->line);
			return;
		}
		if (k < x->text.len || (l.cut && !l.ended)) {
			buf_addf(out, "\n[stopped inside line %ld, which is long; go on with byte_offset=%llu]\n", x->line + 1,
				(unsigned long long)(l.start + k));
			return;
		}
		if (l.cut)
			buf_addf(out, "[... %llu more bytes of this line, from byte_offset=%llu]",
				(unsigned long long)(l.len - k), (unsigned long long)(l.start + k));
		buf_addc(out, '\n');
	}
}

static void notes(struct reader *x)
{
	struct buf *out = &x->r->text;
	if (x->bad > 0)
		buf_addf(out, "[not UTF-8: %zu bytes are shown as \\xNN]\n", x->bad);
	if (x->src.form == TEXTSRC_UTF16LE || x->src.form == TEXTSRC_UTF16BE)
		buf_addf(out, "[the file is UTF-16%s; shown converted]\n", x->src.form == TEXTSRC_UTF16LE ? "LE" : "BE");
	if (x->eol == '\r')
		buf_adds(out, "[lines end in a single CR]\n");
}

static void read_text(struct reader *x, const char *path, long offset, long byte)
{
	struct textsrc *s = &x->src;
	bool image;
	int more = textsrc_more(s);
	if (more > 0) {
		const char *what = textsrc_magic(s->p, s->n, &image);
		if (what && image) {
			tool_fail(x->r, "%s is %s: Read shows text only; an image is given to claws with -i %s", path, what, path);
			return;
		}
		if (what) {
			tool_fail(x->r, "%s is %s, not text", path, what);
			return;
		}
		x->eol = memchr(s->p, '\r', s->n) && !memchr(s->p, '\n', s->n) ? '\r' : '\n';
	}
	if (more == 0) {
		buf_adds(&x->r->text, "(empty file)");
		return;
	}
	if (more > 0 && skip(x, byte >= 0 ? -1 : offset, byte) == 0 && textsrc_more(s) > 0)
		lines(x, byte >= 0);
	else if (s->err.status == 0 && byte >= 0)
		buf_addf(&x->r->text, "[byte_offset %ld is past the end: the text has %llu bytes]\n", byte,
			(unsigned long long)s->pos);
	else if (s->err.status == 0)
		buf_addf(&x->r->text, "[offset %ld is past the end: the file has %ld lines]\n", offset, x->line + x->inside);
	if (s->err.status)
		tool_fail(x->r, "%s: %s", path, s->err.text);
	else
		notes(x);
}

void tool_read(const struct tool_ctx *c, const struct json *j, int input, struct tool_result *r)
{
	long limit, offset, byte;
	struct err e = ERR_INIT;
	struct fs_at at;
	char *path = arg_str(j, input, "file_path", "Read", r);
	if (!path || arg_int(j, input, "limit", -1, 0, LONG_MAX, &limit, r) < 0 ||
			arg_int(j, input, "offset", 0, 0, LONG_MAX, &offset, r) < 0 ||
			arg_int(j, input, "byte_offset", -1, 0, LONG_MAX, &byte, r) < 0)
		goto out;
	if (fs_admit(c, path, FS_READ, &at, &e) < 0) {
		tool_fail(r, "%s", e.text);
		goto out;
	}
	int fd = -1;
	if (at.fd < 0)
		fs_not_found(r, &at, path);
	else if (!at.name)
		tool_fail(r, "%s is a directory; Glob lists files", path);
	else if ((fd = fs_open(&at, &e)) < 0)
		tool_fail(r, "%s", e.text);
	if (fd >= 0) {
		size_t max = c->output_max && c->output_max < OUTPUT_MAX ? c->output_max : OUTPUT_MAX;
		struct reader x = {.r = r, .eol = '\n', .limit = limit > 0 ? limit : -1, .max = max > 2 * NOTES ? max - NOTES : NOTES};
		textsrc_init(&x.src, fd);
		buf_init(&x.text, BUF_NOLIMIT);
		r->origin = "file";
		read_text(&x, path, offset, byte);
		textsrc_free(&x.src);
		buf_free(&x.text);
		close(fd);
	}
	fs_close(&at);
out:
	free(path);
}

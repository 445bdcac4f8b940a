#include "sys/capture.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"

#define NEAR_LINE 200      /* a cut is moved to a line end this near */

void capture_init(struct capture *c, size_t max, int blobdir, uint64_t cap)
{
	*c = (struct capture){.max = max, .blobdir = blobdir, .cap = cap};
	c->head_max = max - max / 3;
	c->tail_max = max / 3;
	buf_init(&c->head, c->head_max);
}

void capture_free(struct capture *c)
{
	if (c->spilling)
		blob_abort(&c->blob);
	buf_free(&c->head);
	free(c->tail);
	c->tail = NULL;
}

/* Which file system is full is what the user needs to know: the highest directory with the same device. */
static void name_file_system(int dirfd, struct buf *out)
{
	char link[64], path[PATH_MAX];
	struct stat here, up;

	snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n <= 0 || *path != '/') {
		buf_adds(out, "the blob directory");
		return;
	}
	path[n] = 0;
	buf_adds(out, path);
	if (stat(path, &here) < 0)
		return;
	while (path[1]) {
		char *slash = strrchr(path, '/'), *end = slash == path ? slash + 1 : slash, keep = *end;
		*end = 0;
		if (stat(path, &up) < 0 || up.st_dev != here.st_dev) {
			*end = keep;
			break;
		}
	}
	if (strcmp(out->p, path))
		buf_addf(out, " on the file system %s", path);
}

static void no_spill(struct capture *c, const struct err *why)
{
	struct buf where;

	buf_init(&where, 900);
	name_file_system(c->blobdir, &where);
	err_set(&c->note, ST_IO, "%s: %s", where.p, why->sys ? strerror(why->sys) : why->text);
	buf_free(&where);
	c->spilling = false;
}

static void spill(struct capture *c, const char *p, size_t n)
{
	struct err e = ERR_INIT;

	if (c->spilling && blob_add(&c->blob, p, n, &e) < 0)
		no_spill(c, &e);
}

static void start_spill(struct capture *c)
{
	struct err e = ERR_INIT;
	size_t first = c->tail_len < c->tail_max ? 0 : c->tail_at;

	if (c->blobdir < 0 || c->spilling || c->note.status)
		return;
	if (blob_begin(&c->blob, c->blobdir, c->cap, &e) < 0) {
		no_spill(c, &e);
		return;
	}
	c->spilling = true;
	spill(c, c->head.p, c->head.len);
	if (c->tail_len) {
		spill(c, c->tail + first, c->tail_len - first);
		spill(c, c->tail, first);
	}
}

static void add_tail(struct capture *c, const char *p, size_t n)
{
	if (!c->tail)
		c->tail = xmalloc(c->tail_max + 1);
	if (n > c->tail_max) {
		p += n - c->tail_max;
		n = c->tail_max;
	}
	while (n) {
		size_t run = c->tail_max - c->tail_at;
		if (run > n)
			run = n;
		memcpy(c->tail + c->tail_at, p, run);
		c->tail_at = (c->tail_at + run) % c->tail_max;
		c->tail_len = c->tail_len + run < c->tail_max ? c->tail_len + run : c->tail_max;
		p += run;
		n -= run;
	}
}

void capture_add(struct capture *c, const char *p, size_t n)
{
	if (c->total + n > c->max && c->total <= c->max)
		start_spill(c);
	spill(c, p, n);
	c->total += n;
	size_t room = c->head_max - c->head.len, take = n < room ? n : room;
	buf_add(&c->head, p, take);
	if (n > take)
		add_tail(c, p + take, n - take);
}

void capture_end(struct capture *c)
{
	struct err e = ERR_INIT;

	c->ended = true;
	if (!c->spilling)
		return;
	if (blob_end(&c->blob, c->name, &e) < 0) {
		c->name[0] = 0;
		no_spill(c, &e);
	}
	c->spilling = false;
}

/* One step of making text valid: how many bytes it takes, and how many it gives. */
static size_t unit(const char *s, size_t n, size_t *gives)
{
	int len = *s ? utf8_decode(s, n, NULL) : 0;

	*gives = len ? (size_t)len : 3;
	return len ? (size_t)len : 1;
}

void capture_valid(struct buf *out, const char *s, size_t n)
{
	size_t gives;

	for (size_t at = 0, len; at < n; at += len) {
		len = unit(s + at, n - at, &gives);
		if (gives == len)
			buf_add(out, s + at, len);
		else
			buf_adds(out, "\xef\xbf\xbd");
	}
}

static size_t gives_of(const char *s, size_t n)
{
	size_t sum = 0, gives;

	for (size_t at = 0; at < n; sum += gives)
		at += unit(s + at, n - at, &gives);
	return sum;
}

size_t capture_size(const struct capture *c)
{
	size_t first = c->tail_len < c->tail_max ? 0 : c->tail_at;

	if (c->total > c->max)
		return (size_t)-1;
	/* A character cut by the border between head and tail counts too much: harmless. */
	return gives_of(c->head.p, c->head.len) + (c->tail_len ? gives_of(c->tail + first, c->tail_len - first) +
		gives_of(c->tail, first) : 0);
}

/* How many bytes from the start give at most `limit`; gap: what comes after s + n is gone. */
static size_t head_of(const char *s, size_t n, size_t limit, bool gap)
{
	size_t at = 0, sum = 0, gives;

	while (at < n) {
		size_t len = unit(s + at, n - at, &gives);
		if (sum + gives > limit)
			break;
		sum += gives;
		at += len;
	}
	for (size_t back = at; (gap || at < n) && back && at - back < NEAR_LINE; back--)
		if (s[back - 1] == '\n')
			return back;
	return at;
}

/* From where on the rest gives at most `limit`; gap: what stood before s is gone. */
static size_t tail_of(const char *s, size_t n, size_t limit, bool gap)
{
	size_t at = 0, gives, sum;

	/* The ring may begin inside a character. */
	while (at < n && at < 4 && ((unsigned char)s[at] & 0xC0) == 0x80)
		at++;
	sum = gives_of(s + at, n - at);
	while (sum > limit) {
		at += unit(s + at, n - at, &gives);
		sum -= gives;
	}
	if (at ? s[at - 1] == '\n' : !gap)
		return at;
	for (size_t on = at; on < n && on - at < NEAR_LINE; on++)
		if (s[on] == '\n')
			return on + 1 < n ? on + 1 : at;
	return at;
}

static void add_marker(struct capture *c, uint64_t left_out, const char *dir, struct buf *out)
{
	char file[BLOB_NAME];

	if (out->len && out->p[out->len - 1] != '\n')
		buf_addc(out, '\n');
	buf_addf(out, "[... %llu bytes left out", (unsigned long long)left_out);
	if (c->name[0] && dir && blob_file(c->name, file) == 0) {
		buf_adds(out, c->total > c->cap ? "; the first " : "; all ");
		buf_addf(out, "%llu bytes are in ", (unsigned long long)(c->total > c->cap ? c->cap : c->total));
		capture_valid(out, dir, strlen(dir));
		buf_addf(out, "/%s", file);
	} else if (c->note.status) {
		buf_adds(out, "; they could not be kept in ");
		capture_valid(out, c->note.text, strlen(c->note.text));
	}
	buf_adds(out, "]\n");
}

void capture_text(struct capture *c, size_t limit, const char *dir, struct buf *out)
{
	size_t first = c->tail_len < c->tail_max ? 0 : c->tail_at;
	struct buf held;

	buf_init(&held, BUF_NOLIMIT);
	buf_add(&held, c->head.p, c->head.len);
	if (c->tail_len) {
		buf_add(&held, c->tail + first, c->tail_len - first);
		buf_add(&held, c->tail, first);
	}
	if (c->total == held.len && gives_of(held.p, held.len) <= limit) {
		capture_valid(out, held.p, held.len);
		buf_free(&held);
		return;
	}
	bool whole = c->total == held.len;
	if (!c->name[0] && whole) {
		start_spill(c);
		capture_end(c);
	}
	/* What was dropped lies between head and tail; never take from one across it. */
	size_t head_part = whole ? held.len : utf8_cut(held.p, c->head.len);
	size_t head = head_of(held.p, head_part, limit - limit / 3, !whole);
	size_t from = whole ? head : c->head.len;
	size_t tail = from + tail_of(held.p + from, held.len - from, limit / 3, !whole);
	uint64_t left_out = c->total - head - (held.len - tail);

	capture_valid(out, held.p, head);
	if (left_out)
		add_marker(c, left_out, dir, out);
	capture_valid(out, held.p + tail, held.len - tail);
	buf_free(&held);
}

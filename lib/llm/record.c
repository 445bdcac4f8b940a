/* record.c - the canonical request, and writing recordings. */
#include "llm/record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "json/jw.h"
#include "llm/record_int.h"
#include "sys/atomic.h"
#include "sys/io.h"

/* "2026-11-30" at s, not part of a longer number. */
static bool is_date(const char *text, const char *s, const char *end)
{
	static const char shape[] = "dddd-dd-dd";

	if (end - s < 10 || (s > text && isdigit((unsigned char)s[-1])) || (s[0] != '1' && s[0] != '2'))
		return false;
	for (int i = 0; i < 10; i++)
		if (shape[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != '-')
			return false;
	return end - s == 10 || !isdigit((unsigned char)s[10]);
}

/* Does the directory whose name stands in `dir` (as inside a JSON string) begin at s, and does its name end there? */
static bool is_dir(const char *s, const char *end, const struct buf *dir)
{
	unsigned char next;

	if (dir->len < 2 || (size_t)(end - s) < dir->len || memcmp(s, dir->p, dir->len))
		return false;
	next = s + dir->len < end ? (unsigned char)s[dir->len] : ' ';
	return !isalnum(next) && next != '_' && next != '-';
}

static void escaped(struct buf *out, const char *s)
{
	buf_init(out, BUF_NOLIMIT);
	if (s)
		jw_escape(out, s, strlen(s));
}

static size_t one_of(const char *s, const char *end, const char *const *secrets)
{
	size_t n = 0;

	for (; secrets && *secrets && !n; secrets++)
		n = mask_short(*secrets) ? 0 : mask_at(s, end, *secrets);
	return n;
}

void record_place(struct buf *out, const char *text, size_t len, const struct record_names *n)
{
	const char *key = n->key && *n->key && !mask_short(n->key) ? n->key : NULL;   /* "x" is a word of a conversation */
	struct buf cwd, home, then_cwd, then_home;
	const char *s = text, *end = text + len, *from = text;

	escaped(&cwd, n->cwd);
	escaped(&home, n->home);
	escaped(&then_cwd, n->then_cwd);
	escaped(&then_home, n->then_home);
	while (s < end) {
		const char *with = NULL;
		size_t skip = 0;

		if (*s == '/' && is_dir(s, end, &cwd))
			with = "{cwd}", skip = cwd.len;
		else if (*s == '/' && is_dir(s, end, &then_cwd))
			with = "{cwd}", skip = then_cwd.len;
		else if (*s == '/' && is_dir(s, end, &then_home))
			with = "{home}", skip = then_home.len;
		else if (*s == '/' && is_dir(s, end, &home))
			with = "{home}", skip = home.len;
		else if (isdigit((unsigned char)*s) && is_date(text, s, end))
			with = "{date}", skip = 10;
		else if ((key && (skip = mask_at(s, end, key))) || (skip = one_of(s, end, n->secrets)))
			with = "***";
		if (!with) {
			s++;
			continue;
		}
		buf_add(out, from, (size_t)(s - from));
		buf_adds(out, with);
		from = s += skip;
	}
	buf_add(out, from, (size_t)(end - from));
	buf_free(&cwd);
	buf_free(&home);
	buf_free(&then_cwd);
	buf_free(&then_home);
}

int record_canon(struct buf *out, const struct record_names *n, const char *wire, const char *path,
                 const char *body, size_t len, struct err *e)
{
	struct json j = JSON_INIT;
	struct buf b;
	struct jw w;

	if (json_parse(&j, body, len, e) < 0) {
		json_free(&j);
		return err_wrap(e, "request body");
	}
	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&b, "{\"body\":");
	json_canon(&b, &j, 0);
	buf_adds(&b, ",\"path\":");
	w = jw_begin(&b);
	jw_str(&w, path);
	buf_adds(&b, ",\"wire\":");
	w = jw_begin(&b);
	jw_str(&w, wire);
	buf_addc(&b, '}');
	record_place(out, b.p, b.len, n);
	buf_free(&b);
	json_free(&j);
	return out->over ? err_set(e, ST_DATA, "the request is too long to be recorded") : 0;
}

unsigned record_number(const char *file, const char *tail)
{
	char *end;
	unsigned long n;

	if (!isdigit((unsigned char)*file))
		return 0;
	n = strtoul(file, &end, 10);
	return n > 0 && n < 100000000 && !strcmp(end, tail) ? (unsigned)n : 0;
}

int recorder_open(struct recorder *r, const char *dir, const char *key, struct err *e)
{
	struct dirent *d;
	DIR *list;
	int fd;

	*r = (struct recorder){.dir = -1, .next = 1, .key = key};
	buf_init(&r->head, 1 << 16);
	buf_init(&r->body, RECORD_MAX);
	buf_init(&r->first, RECORD_MAX);
	if (io_mkdirs(dir, 0700, e) < 0)
		return err_wrap(e, "--record");
	r->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = r->dir < 0 ? -1 : openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		if (fd >= 0)
			close(fd);
		return err_sys(e, "--record: open directory %s", dir);
	}
	while ((d = readdir(list))) {
		unsigned n = record_number(d->d_name, "-request.json");

		if (n == 0)
			n = record_number(d->d_name, "-response");
		if (n >= r->next)
			r->next = n + 1;
	}
	closedir(list);
	return 0;
}

void recorder_begin(struct recorder *r)
{
	buf_clear(&r->head);
	buf_clear(&r->body);
	r->any = false;
}

void recorder_head(struct recorder *r, int status)
{
	recorder_begin(r);
	r->any = true;
	buf_addf(&r->head, "HTTP %d\n", status);
}

void recorder_header(struct recorder *r, const char *name, const char *value)
{
	static const char *const kept[] = {
		"content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id", NULL};

	for (const char *const *k = kept; *k; k++)
		if (!strcmp(name, *k))
			buf_addf(&r->head, "%s: %s\n", name, value);
}

void recorder_body(struct recorder *r, const char *p, size_t n)
{
	buf_add(&r->body, p, n);
}

/* Claims the next free number by creating its request file. */
static int claim(struct recorder *r, char name[32], struct err *e)
{
	for (;;) {
		int fd;

		snprintf(name, 32, "%04u-request.json", r->next);
		fd = openat(r->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return err_sys(e, "create %s", name);
		r->next++;
	}
}

static int write_first(struct recorder *r, struct err *e)
{
	char name[32];
	int bad;

	if (r->first.len == 0)
		return 0;
	if (r->first.over)
		return err_set(e, ST_DATA, "the conversation is too long to be recorded");
	snprintf(name, sizeof name, "%04u-conversation.ndjson", r->next);
	bad = atomic_write(r->dir, name, r->first.p, r->first.len, 0600, e);
	buf_free(&r->first);
	buf_init(&r->first, RECORD_MAX);
	return bad;
}

static int write_response(struct recorder *r, const char *name, const char *cut, struct err *e)
{
	struct buf text;
	struct atomic a;
	int bad;

	buf_init(&text, BUF_NOLIMIT);
	if (cut) {
		buf_adds(&r->head, "x-claws-cut: ");
		for (; *cut; cut++)
			buf_addc(&r->head, (unsigned char)*cut < ' ' ? ' ' : *cut);
		buf_addc(&r->head, '\n');
	}
	record_mask_all(&text, r->head.p, r->head.len, r->key, r->secrets);
	buf_addc(&text, '\n');
	record_mask_all(&text, r->body.p, r->body.len, r->key, r->secrets);
	bad = atomic_begin(&a, r->dir, name, 0600, e);
	if (!bad) {
		a.sync = false;   /* a recording can be made again */
		bad = io_write_all(a.fd, text.p, text.len, e);
		if (bad)
			atomic_abort(&a);
		else
			bad = atomic_commit(&a, e);
	}
	buf_free(&text);
	return bad;
}

int recorder_commit(struct recorder *r, const struct buf *canon, const char *cut, struct err *e)
{
	char name[32];
	int fd, bad;

	if (!r->any)
		return 0;
	if (r->body.over || r->head.over)
		return err_set(e, ST_DATA, "the answer is too long to be recorded");
	fd = claim(r, name, e);
	if (fd < 0)
		return err_wrap(e, "record");
	bad = io_write_all(fd, canon->p, canon->len, e) < 0 || io_write_all(fd, "\n", 1, e) < 0 || write_first(r, e) < 0;
	close(fd);
	snprintf(name, sizeof name, "%04u-response", r->next++);
	if (bad || write_response(r, name, cut, e) < 0)
		return err_wrap(e, "record %s", name);
	recorder_begin(r);
	return 0;
}

void recorder_close(struct recorder *r)
{
	if (r->dir >= 0)
		close(r->dir);
	r->dir = -1;
	buf_free(&r->head);
	buf_free(&r->body);
	buf_free(&r->first);
}

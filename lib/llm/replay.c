/* replay.c - answers out of recordings. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "llm/record_int.h"
#include "sys/io.h"

/* A recording may come from anybody: its files are files of the directory, not links to what its author would like to see. */
static int read_own(const struct replay *p, const char *name, struct buf *text, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = io_open_walk(p->dir, name, O_RDONLY, 0, &why), bad;
	struct stat st;

	if (fd < 0)
		return why.sys == ELOOP ? err_set(e, ST_DATA, "it is a symbolic link, which is not followed")
		                        : err_set(e, why.status, "%s", why.text);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		bad = err_set(e, ST_DATA, "not a regular file");
	else
		bad = io_read_all(fd, text, e);
	close(fd);
	return bad;
}

/* The canonical text of a recorded request; its author need not have written it canonically. */
static int read_request(const struct replay *p, unsigned number, const struct record_names *n, struct buf *canon,
                        struct err *e)
{
	struct json j = JSON_INIT;
	struct buf text, plain;
	char name[32];
	int bad;

	snprintf(name, sizeof name, "%04u-request.json", number);
	buf_init(&text, RECORD_MAX);
	buf_init(&plain, BUF_NOLIMIT);
	bad = read_own(p, name, &text, e) < 0 || json_parse(&j, text.p, text.len, e) < 0;
	if (!bad) {
		json_canon(&plain, &j, 0);
		record_place(canon, plain.p, plain.len, n);
	} else {
		err_wrap(e, "recording %s/%s", p->name, name);
	}
	json_free(&j);
	buf_free(&plain);
	buf_free(&text);
	return bad ? -1 : 0;
}

static int by_number(const void *a, const void *b)
{
	unsigned x = ((const struct replay_entry *)a)->number, y = ((const struct replay_entry *)b)->number;

	return (x > y) - (x < y);
}

/* Which recordings are there? Only those with an answer count. */
static void list_entries(struct replay *p, DIR *list)
{
	struct replay_entry *at;
	struct dirent *d;
	size_t room = 0, kept = 0;

	while ((d = readdir(list))) {
		unsigned n = record_number(d->d_name, "-response");

		if (!n)
			continue;
		if (p->n == room)
			p->v = xrealloc(p->v, room = room ? 2 * room : 64, sizeof *p->v);
		p->v[p->n++] = (struct replay_entry){.number = n};
	}
	if (p->n)
		qsort(p->v, p->n, sizeof *p->v, by_number);
	for (size_t i = 0; i < p->n; i++)   /* "1-response" and "0001-response" are one */
		if (!kept || p->v[kept - 1].number != p->v[i].number)
			p->v[kept++] = p->v[i];
	p->n = kept;
	rewinddir(list);
	while ((d = readdir(list))) {
		struct replay_entry key = {.number = record_number(d->d_name, "-request.json")};

		at = key.number && p->n ? bsearch(&key, p->v, p->n, sizeof *p->v, by_number) : NULL;
		if (at)
			at->request = true;
	}
}

bool record_conversation(int dir, char name[32])
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	unsigned first = 0;
	struct dirent *d;

	if (!list && fd >= 0)
		close(fd);
	while (list && (d = readdir(list))) {
		unsigned n = record_number(d->d_name, "-conversation.ndjson");

		if (n && (!first || n < first))
			first = n;
	}
	if (list)
		closedir(list);
	snprintf(name, 32, "%04u-conversation.ndjson", first);
	return first > 0;
}

/* How it was asked, and where. */
static int read_first(struct replay *p, struct err *e)
{
	struct buf text;
	char name[32], *end;
	int bad = 0;

	if (!record_conversation(p->dir, name))
		return 0;
	buf_init(&text, RECORD_MAX);
	if (read_own(p, name, &text, e) < 0) {
		bad = -1;
	} else {
		end = memchr(text.p, '\n', text.len);
		buf_add(&p->head, text.p, end ? (size_t)(end - text.p) : text.len);
		bad = json_parse(&p->head_json, p->head.p, p->head.len, e);
		if (!bad && !json_eq(&p->head_json, json_get(&p->head_json, 0, "type"), "recording"))
			bad = err_set(e, ST_DATA, "its first line is not that of a recording");
	}
	if (!bad) {
		p->cwd = json_dup(&p->head_json, json_get(&p->head_json, 0, "cwd"));
		p->home = json_dup(&p->head_json, json_get(&p->head_json, 0, "home"));
	}
	buf_free(&text);
	return bad < 0 ? err_wrap(e, "recording %s/%s", p->name, name) : 0;
}

int replay_open(struct replay *p, const char *dir, const struct record_names *n, struct err *e)
{
	struct record_names names = *n;
	struct buf canon;
	DIR *list;
	int fd;

	*p = (struct replay){.dir = -1, .name = xstrdup(dir), .head_json = JSON_INIT};
	buf_init(&p->head, RECORD_MAX);
	p->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = p->dir < 0 ? -1 : openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		err_sys(e, "--replay: open directory %s", dir);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	list_entries(p, list);
	closedir(list);
	if (p->n == 0)
		return err_set(e, ST_NOINPUT, "--replay: no recording in %s; expected files NNNN-response", dir);
	if (read_first(p, e) < 0)
		return -1;
	names.then_cwd = p->cwd;
	names.then_home = p->home;
	buf_init(&canon, BUF_NOLIMIT);
	for (size_t i = 0; i < p->n; i++) {
		if (!p->v[i].request)
			continue;
		buf_clear(&canon);
		if (read_request(p, p->v[i].number, &names, &canon, e) < 0) {
			buf_free(&canon);
			return -1;
		}
		sha256_hex(p->v[i].hash, canon.p, canon.len);
	}
	buf_free(&canon);
	return 0;
}

void replay_close(struct replay *p)
{
	if (p->dir >= 0)
		close(p->dir);
	free(p->v);
	free(p->name);
	buf_free(&p->head);
	json_free(&p->head_json);
	free(p->cwd);
	free(p->home);
	*p = (struct replay){.dir = -1};
}

/* How much two texts have in common at both ends: good enough to find the recording that was meant. */
static size_t likeness(const struct buf *a, const struct buf *b)
{
	size_t n = a->len < b->len ? a->len : b->len, i = 0, k = 0;

	while (i < n && a->p[i] == b->p[i])
		i++;
	while (k < n - i && a->p[a->len - 1 - k] == b->p[b->len - 1 - k])
		k++;
	return i + k;
}

/* "'...'": the value's JSON, cut to what fits a line of text. */
static void show(struct buf *out, const struct json *j, int v)
{
	size_t n;
	const char *raw = json_raw(j, v, &n);

	if (!raw)
		buf_adds(out, "nothing");
	else if (n <= 60)
		buf_add(out, raw, n);
	else
		buf_addf(out, "%.*s...", (int)utf8_cut(raw, 57), raw);
}

static int say_miss(const struct buf *asked, const struct buf *nearest, unsigned number, const struct replay *p,
                    struct err *e)
{
	struct json a = JSON_INIT, b = JSON_INIT;
	struct buf pointer, va, vb;
	int x = -1, y = -1;

	buf_init(&pointer, 512);
	buf_init(&va, 128);
	buf_init(&vb, 128);
	if (json_parse(&a, asked->p, asked->len, NULL) == 0 && json_parse(&b, nearest->p, nearest->len, NULL) == 0)
		record_differ(&a, 0, &b, 0, &pointer, &x, &y);
	show(&va, &a, x);
	show(&vb, &b, y);
	err_set(e, ST_DATA, "no recording of this request in %s; nearest is %04u, first difference at %s: "
		"recorded %s, asked %s", p->name, number, pointer.p, vb.p, va.p);
	json_free(&a);
	json_free(&b);
	buf_free(&pointer);
	buf_free(&va);
	buf_free(&vb);
	return -1;
}

static int miss(struct replay *p, const struct buf *canon, const struct record_names *n, struct err *e)
{
	struct buf best, other;
	size_t alike = 0;
	unsigned number = 0;

	buf_init(&best, BUF_NOLIMIT);
	buf_init(&other, BUF_NOLIMIT);
	for (size_t i = 0; i < p->n; i++) {
		size_t k;

		buf_clear(&other);
		if (!p->v[i].request || read_request(p, p->v[i].number, n, &other, NULL) < 0)
			continue;
		k = likeness(canon, &other);
		if (number && k <= alike)
			continue;
		alike = k;
		number = p->v[i].number;
		buf_clear(&best);
		buf_add(&best, other.p, other.len);
	}
	if (number)
		say_miss(canon, &best, number, p, e);
	else
		err_set(e, ST_DATA, "no recording in %s says what it answers; write NNNN-request.json, or use --match order",
			p->name);
	buf_free(&best);
	buf_free(&other);
	return -1;
}

int replay_find(struct replay *p, const struct buf *canon, const struct record_names *n, unsigned position,
                unsigned *number, struct err *e)
{
	char hash[SHA256_HEX];
	struct replay_entry *hit = NULL;

	if (position) {
		for (size_t i = 0; i < p->n; i++)
			if (p->v[i].number == position) {
				*number = position;
				return 0;
			}
		return err_set(e, ST_DATA, "no recording %04u in %s; the last one is %04u", position, p->name,
			p->v[p->n - 1].number);
	}
	sha256_hex(hash, canon->p, canon->len);
	for (size_t i = 0; i < p->n; i++) {
		if (!p->v[i].request || strcmp(p->v[i].hash, hash))
			continue;
		hit = &p->v[i];
		if (!hit->used)
			break;
	}
	if (!hit)
		return miss(p, canon, n, e);
	hit->used = true;
	*number = hit->number;
	return 0;
}

/* Cuts the head's lines out of the text in place. Returns where the body begins. */
static size_t read_head(struct replay_answer *a, struct err *e)
{
	size_t at = 0, n = 0;
	char *status = NULL;

	for (;;) {
		char *line = a->text.p + at, *end = memchr(line, '\n', a->text.len - at), *value;

		if (!end) {
			err_set(e, ST_DATA, "its head has no end: an empty line is missing before the body");
			return 0;
		}
		at = (size_t)(end - a->text.p) + 1;
		*end = 0;
		if (end > line && end[-1] == '\r')
			end[-1] = 0;
		if (!status) {
			status = strncmp(line, "HTTP", 4) ? NULL : strchr(line, ' ');
			a->status = status ? (int)strtol(status, NULL, 10) : 0;
			if (a->status < 100 || a->status > 599) {
				err_set(e, ST_DATA, "its first line is not 'HTTP STATUS'");
				return 0;
			}
			continue;
		}
		if (!*line)
			return at;
		value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = 0;
		value += strspn(value, " \t");
		for (char *c = line; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		if (!strcmp(line, "x-claws-cut"))
			a->cut = value;
		a->header = xrealloc(a->header, n + 3, sizeof *a->header);
		a->header[n++] = line;
		a->header[n++] = value;
		a->header[n] = NULL;
	}
}

int replay_load(const struct replay *p, unsigned number, struct replay_answer *a, struct err *e)
{
	char name[32];
	size_t at;

	*a = (struct replay_answer){0};
	buf_init(&a->text, RECORD_MAX);
	snprintf(name, sizeof name, "%04u-response", number);
	if (read_own(p, name, &a->text, e) < 0 || (at = read_head(a, e)) == 0) {
		replay_answer_free(a);
		return err_wrap(e, "recording %s/%s", p->name, name);
	}
	a->body = a->text.p + at;
	a->len = a->text.len - at;
	return 0;
}

void replay_answer_free(struct replay_answer *a)
{
	free(a->header);
	a->header = NULL;
	buf_free(&a->text);
}

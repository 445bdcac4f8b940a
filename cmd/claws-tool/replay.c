/* replay.c - NNNN-tool.json of a recording: what a call said and what came of it, kept, and given again without running anything.
 *
 * One object: {"name":..,"input":..,"events":[the event lines],"message":the tool message}. A call is answered by the recording
 * of the same name and input; the k-th such call of this process by the k-th such recording, the last one again when there are
 * no more. Where nothing fits the call ends with an error. */
#include "claws-tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "llm/record.h"
#include "sys/atomic.h"
#include "sys/io.h"

struct entry {
	unsigned number;
	char key[SHA256_HEX];
	bool used;
};

struct recording {
	int dir;
	char *name;
	bool replays;
	unsigned next;
	struct entry *v;
	size_t n;
};

static const char tail[] = "-tool.json";

static void key_of(char key[SHA256_HEX], const char *name, const char *input)
{
	struct sha256 s;
	unsigned char sum[32];

	sha256_init(&s);
	sha256_add(&s, name, strlen(name) + 1);
	sha256_add(&s, input, strlen(input));
	sha256_end(&s, sum);
	for (int i = 0; i < 32; i++)
		snprintf(key + 2 * i, 3, "%02x", sum[i]);
}

/* A recording may come from a stranger: a regular file of the directory itself, nothing that a link leads to. */
static int load(const struct recording *r, unsigned number, struct buf *text, struct json *j, struct err *e)
{
	char name[32];
	struct stat st;
	int fd, bad;

	snprintf(name, sizeof name, "%04u%s", number, tail);
	fd = io_open_beneath(r->dir, name, O_RDONLY, 0, e);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size > RECORD_MAX)) {
		close(fd);
		fd = -1;
		err_set(e, ST_DATA, "it is no regular file, or too large");
	}
	bad = fd < 0 || io_read_all(fd, text, e) < 0 || json_parse(j, text->p, text->len, e) < 0;
	if (fd >= 0)
		close(fd);
	if (!bad && (json_strlen(j, json_get(j, 0, "name")) == 0 || json_type(j, json_get(j, 0, "input")) != JSON_OBJECT ||
	             json_type(j, json_get(j, 0, "message")) != JSON_OBJECT))
		bad = 1, err_set(e, ST_DATA, "it needs name, input and message");
	return bad ? err_wrap(e, "recording %s/%s", r->name, name) : 0;
}

static int by_number(const void *a, const void *b)
{
	unsigned x = ((const struct entry *)a)->number, y = ((const struct entry *)b)->number;

	return (x > y) - (x < y);
}

static void read_keys(struct recording *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct buf text, input;
		struct json j = JSON_INIT;
		struct err e = ERR_INIT;
		char *name;

		buf_init(&text, RECORD_MAX);
		buf_init(&input, BUF_NOLIMIT);
		if (load(r, r->v[i].number, &text, &j, &e) < 0)
			die_err(&e);
		name = json_dup(&j, json_get(&j, 0, "name"));
		json_canon(&input, &j, json_get(&j, 0, "input"));
		key_of(r->v[i].key, name, input.p);
		free(name);
		json_free(&j);
		buf_free(&text);
		buf_free(&input);
	}
}

static void list(struct recording *r)
{
	int fd = openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *f;

	if (!d)
		die(ST_NOINPUT, "open directory %s: %s", r->name, strerror(errno));
	while ((f = readdir(d))) {
		unsigned n = record_number(f->d_name, tail);

		if (!n)
			continue;
		r->v = xrealloc(r->v, r->n + 1, sizeof *r->v);
		r->v[r->n++] = (struct entry){.number = n};
		if (n >= r->next)
			r->next = n + 1;
	}
	closedir(d);
	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, by_number);
}

struct recording *recording_open(const char *dir, bool replays)
{
	struct recording *r = xcalloc(1, sizeof *r);
	struct err e = ERR_INIT;

	*r = (struct recording){.name = xstrdup(dir), .replays = replays, .next = 1};
	if (!replays && io_mkdirs(dir, 0700, &e) < 0) {
		err_wrap(&e, "--record");
		die_err(&e);
	}
	r->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir < 0) {
		err_sys(&e, "%s: open directory %s", replays ? "--replay" : "--record", dir);
		die_err(&e);
	}
	list(r);
	if (replays)
		read_keys(r);
	return r;
}

void recording_close(struct recording *r)
{
	if (!r)
		return;
	close(r->dir);
	free(r->name);
	free(r->v);
	free(r);
}

bool recording_replays(const struct recording *r)
{
	return r && r->replays;
}

/* ---- keeping ---- */

void recording_event(struct host *h, const struct call *c, const char *line, size_t len)
{
	if (h->recording && !h->recording->replays)
		buf_addf(c->events, "%s%.*s}", c->events->len ? "," : "", (int)len, line);
}

void recording_message(struct host *h, const struct call *c, const char *line, size_t len)
{
	struct recording *r = h->recording;
	struct err e = ERR_INIT;
	struct buf text;
	char name[32];

	if (!r || r->replays)
		return;
	buf_init(&text, RECORD_MAX);
	struct jw w = jw_begin(&text);
	jw_obj(&w);
	jw_kstr(&w, "name", c->name);
	jw_kraw(&w, "input", c->input, strlen(c->input));
	buf_addf(&text, ",\"events\":[%s],\"message\":%.*s}}\n", c->events->p, (int)len, line);
	snprintf(name, sizeof name, "%04u%s", r->next++, tail);
	if (text.over)
		stage_error(h->stage, "io", "--record: the result of %s is too long to be kept", c->name);
	else if (atomic_write(r->dir, name, text.p, text.len, 0600, &e) < 0)
		stage_error(h->stage, "io", "--record: %s", e.text);
	buf_free(&text);
}

/* ---- giving again ---- */

static struct entry *find(struct recording *r, const char *key)
{
	struct entry *last = NULL;

	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->v[i].key, key) != 0)
			continue;
		last = &r->v[i];
		if (!last->used)
			break;
	}
	if (last)
		last->used = true;
	return last;
}

/* Where the nearest recording of the tool differs. */
static void say_nearest(const struct recording *r, const struct call *c, struct buf *out)
{
	for (size_t i = 0; i < r->n; i++) {
		struct buf text, pointer;
		struct json j = JSON_INIT;
		struct err e = ERR_INIT;
		int a, b;
		bool same;

		buf_init(&text, RECORD_MAX);
		buf_init(&pointer, 4096);
		same = load(r, r->v[i].number, &text, &j, &e) == 0 && json_eq(&j, json_get(&j, 0, "name"), c->name);
		if (same && record_differ(&j, json_get(&j, 0, "input"), &c->json, 0, &pointer, &a, &b))
			buf_addf(out, "; %04u%s differs at %.500s", r->v[i].number, tail, pointer.p);
		json_free(&j);
		buf_free(&text);
		buf_free(&pointer);
		if (same)
			return;
	}
	buf_addf(out, "; none is of %.100s", c->name);
}

/* The line anew: times left out where none are wanted, the id that of this call. */
static void say_again(struct host *h, const struct call *c, const struct json *j, int line, bool message)
{
	struct buf b;
	struct jw w;

	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	for (struct json_iter it = json_iter(j, line); json_next(&it);) {
		char *key = json_dup(j, it.key);
		size_t n;
		const char *raw = json_raw(j, it.value, &n);

		if (!key || ((!strcmp(key, "ts") || !strcmp(key, "ms")) && (message || h->stage->no_time))) {
			;
		} else if (!strcmp(key, message ? "tool_call_id" : "id")) {
			jw_kstr(&w, key, c->id);
		} else if (!strcmp(key, "id")) {
			char id[24];

			stage_id(h->stage, id);
			jw_kstr(&w, "id", id);
		} else {
			jw_kraw(&w, key, raw, n);
		}
		free(key);
	}
	if (message)
		stage_kts(h->stage, &w);
	jw_end(&w);
	stage_write(h->stage, b.p, b.len);
	buf_free(&b);
}

/* Events of a call and nothing else: a recording must not speak for another stage. */
static bool is_event_of_a_call(const struct json *j, int line)
{
	static const char *const types[] = {"tool_start", "tool_output", "tool_end", "permission_request", "permission", "file_change"};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (json_eq(j, json_get(j, line, "type"), types[i]))
			return json_get(j, line, "role") < 0;
	return false;
}

static void give(struct host *h, const struct call *c, const struct json *j)
{
	int events = json_get(j, 0, "events"), message = json_get(j, 0, "message");

	if (json_type(j, events) == JSON_ARRAY)
		for (struct json_iter it = json_iter(j, events); json_next(&it);) {
			if (!is_event_of_a_call(j, it.value))
				continue;
			if (json_eq(j, json_get(j, it.value, "type"), "tool_end") && json_eq(j, json_get(j, it.value, "status"), "denied"))
				h->denied++;
			say_again(h, c, j, it.value, false);
		}
	if (json_eq(j, json_get(j, message, "role"), "tool"))
		say_again(h, c, j, message, true);
}

void recording_give(struct host *h, struct call *c)
{
	char key[SHA256_HEX];
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	struct buf text, why;
	struct entry *found;

	key_of(key, c->name, c->input);
	found = find(h->recording, key);
	buf_init(&text, RECORD_MAX);
	if (found && load(h->recording, found->number, &text, &j, &e) == 0) {
		give(h, c, &j);
	} else {
		buf_init(&why, 2048);
		buf_addf(&why, "replay: no result of this call is recorded in %s", h->recording->name);
		if (e.text[0])
			buf_addf(&why, ": %s", e.text);
		else
			say_nearest(h->recording, c, &why);
		call_finish(c, true, "error", "not run: %s", why.p);
		stage_error(h->stage, "input", "%s", why.p);
		report_start(h, c);
		report_end(h, c);
		report_message(h, c);
		h->missed = true;
		buf_free(&why);
	}
	json_free(&j);
	buf_free(&text);
}

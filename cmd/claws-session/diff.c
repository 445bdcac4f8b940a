/* diff.c - where two runs part: their messages side by side, without what differs by itself (ids, times, costs). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/termsafe.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/jw.h"
#include "llm/record.h"
#include "proto/lines.h"
#include "proto/msg.h"
#include "session.h"
#include "sys/io.h"

#define SHOWN 200

struct run {
	const char *name;
	struct lines in;
	struct json j;
	struct buf line, plain;
	unsigned long no;        /* of the message */
};

static void open_run(struct run *r, const char *name)
{
	char *args[] = {(char *)name, NULL};
	struct buf path;
	int fd = 0;

	*r = (struct run){.name = name, .j = JSON_INIT};
	buf_init(&r->line, BUF_NOLIMIT);
	buf_init(&r->plain, BUF_NOLIMIT);
	if (strcmp(name, "-") != 0) {
		the_log(args, true, &path);
		fd = open(path.p, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die(ST_NOINPUT, "%s: %s", path.p, strerror(errno));
		buf_free(&path);
	}
	lines_init(&r->in, fd, LINE_MAX_BYTES);
}

static void close_run(struct run *r)
{
	lines_free(&r->in);
	json_free(&r->j);
	buf_free(&r->line);
	buf_free(&r->plain);
}

static bool left_out(const char *key)
{
	static const char *const keys[] = {"id", "ts", "usage", "blocks", "tool_call_id"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static void calls_plain(struct jw *w, const struct json *j, int list)
{
	jw_arr(w);
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		size_t n;
		const char *raw;

		jw_obj(w);
		raw = json_raw(j, json_get(j, it.value, "name"), &n);
		jw_kraw(w, "name", raw ? raw : "null", raw ? n : 4);
		raw = json_raw(j, json_get(j, it.value, "input"), &n);
		jw_kraw(w, "input", raw ? raw : "null", raw ? n : 4);
		jw_end(w);
	}
	jw_end(w);
}

/* The message without what is another one's each time. */
static void plain(struct run *r)
{
	struct jw w;
	const char *raw;
	size_t n;

	buf_clear(&r->plain);
	w = jw_begin(&r->plain);
	jw_obj(&w);
	for (struct json_iter it = json_iter(&r->j, 0); json_next(&it);) {
		char *key = json_dup(&r->j, it.key);

		if (key && !strcmp(key, "tool_calls") && json_type(&r->j, it.value) == JSON_ARRAY) {
			jw_key(&w, key);
			calls_plain(&w, &r->j, it.value);
		} else if (key && !left_out(key)) {
			raw = json_raw(&r->j, it.value, &n);
			jw_kraw(&w, key, raw, n);
		}
		free(key);
	}
	jw_end(&w);
}

static bool is_message(struct run *r, const struct line *l)
{
	if (json_parse(&r->j, l->p, l->len, NULL) < 0 || json_get(&r->j, 0, "role") < 0)
		return false;
	plain(r);
	return json_parse(&r->j, r->plain.p, r->plain.len, NULL) == 0;
}

/* The next message; false: there is none. Lines that are none of ours are nobody's difference. */
static bool next(struct run *r)
{
	struct err e = ERR_INIT;
	struct line l;

	for (;;)
		switch (lines_next(&r->in, &l)) {
		case LINES_LINE:
			if (is_message(r, &l)) {
				r->no++;
				return true;
			}
			break;
		case LINES_LONG:
			die(ST_DATA, "%s: line %lu is longer than 64 MiB", r->name, l.no);
		case LINES_NEED:
			if (lines_fill(&r->in, &e) < 0)
				die(ST_IO, "%s: %s", r->name, e.text);
			break;
		case LINES_END:
			return false;
		}
}

static void show_value(const struct conf *c, const char *mark, const struct run *r, int v)
{
	struct buf text, safe;

	buf_init(&text, BUF_NOLIMIT);
	buf_init(&safe, BUF_NOLIMIT);
	if (v < 0)
		buf_adds(&text, "nothing");
	else
		json_compact(&text, &r->j, v);
	if (!c->json && text.len > SHOWN) {
		buf_truncate(&text, utf8_cut(text.p, SHOWN));
		buf_adds(&text, " ...");
	}
	term_safe(&safe, text.p, text.len, TERM_ONE_LINE);
	printf("%s %s\n", mark, safe.p);
	buf_free(&text);
	buf_free(&safe);
}

static void show_json(const struct run *a, int va, const struct run *b, int vb, const char *pointer)
{
	struct buf out;
	struct jw w;
	const char *raw;
	size_t n;

	buf_init(&out, BUF_NOLIMIT);
	w = jw_begin(&out);
	jw_obj(&w);
	jw_ki64(&w, "message", (int64_t)(a->no > b->no ? a->no : b->no));
	jw_kstr(&w, "pointer", pointer);
	raw = va < 0 ? NULL : json_raw(&a->j, va, &n);
	jw_kraw(&w, "a", raw ? raw : "null", raw ? n : 4);
	raw = vb < 0 ? NULL : json_raw(&b->j, vb, &n);
	jw_kraw(&w, "b", raw ? raw : "null", raw ? n : 4);
	jw_end(&w);
	puts(out.p);
	buf_free(&out);
}

/* What both have at this place, if it differs. */
static bool differ(const struct conf *c, struct run *a, bool has_a, struct run *b, bool has_b)
{
	struct buf pointer;
	int va = has_a ? 0 : -1, vb = has_b ? 0 : -1;
	bool d;

	buf_init(&pointer, 65536);
	buf_adds(&pointer, "");
	d = has_a && has_b ? record_differ(&a->j, 0, &b->j, 0, &pointer, &va, &vb) : true;
	if (d && !c->quiet && c->json) {
		show_json(a, va, b, vb, pointer.p);
	} else if (d && !c->quiet) {
		char *role = json_dup(has_a ? &a->j : &b->j, json_get(has_a ? &a->j : &b->j, 0, "role"));

		printf("message %lu (%s)%s%s\n", a->no > b->no ? a->no : b->no, role ? role : "", pointer.len ? ": " : "", pointer.p);
		show_value(c, "<", a, va);
		show_value(c, ">", b, vb);
		free(role);
	}
	buf_free(&pointer);
	return d;
}

int do_diff(const struct conf *c, char **args)
{
	struct run a, b;
	bool same = true;

	if (!args[0] || !args[1] || args[2])
		opt_usage(&spec, "diff takes two sessions; - is standard input");
	if (!strcmp(args[0], "-") && !strcmp(args[1], "-"))
		opt_usage(&spec, "diff: only one of the two can be standard input");
	open_run(&a, args[0]);
	open_run(&b, args[1]);
	while (same || c->all_of_it) {
		bool has_a = next(&a), has_b = next(&b);

		if (!has_a && !has_b)
			break;
		same &= !differ(c, &a, has_a, &b, has_b);
	}
	close_run(&a);
	close_run(&b);
	return same ? ST_OK : ST_FAILED;
}

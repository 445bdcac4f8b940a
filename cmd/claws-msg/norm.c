/* norm.c - claws-msg norm: what differs from run to run by nature is taken out, so that diff(1) shows what matters.
 *
 * Left out at the top level: id of messages and checkpoints, ts, ms, run, session, request_id, wait_ms. Ids of tool calls become
 * call-1, call-2 ... in the order in which they appear, wherever such an id is a whole string. What is not JSON passes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "each.h"
#include "json/jw.h"
#include "msg_cmd.h"
#include "proto/msg.h"

struct norm {
	char **ids;
	size_t n;
	struct buf out;
};

static long known(const struct norm *m, const char *id)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->ids[i], id))
			return (long)i;
	return -1;
}

static void learn(struct norm *m, const struct json *j, int v)
{
	char *id = json_dup(j, v);

	if (!id || !*id || known(m, id) >= 0) {
		free(id);
		return;
	}
	m->ids = xrealloc(m->ids, m->n + 1, sizeof *m->ids);
	m->ids[m->n++] = id;
}

/* Kinds whose id is a call's. */
static bool of_a_call(enum msg_kind k)
{
	return k == MSG_TOOL_START || k == MSG_TOOL_END || k == MSG_TOOL_OUTPUT || k == MSG_PERMISSION ||
	       k == MSG_PERMISSION_REQUEST || k == MSG_FILE_CHANGE || k == MSG_TOOL_CALL_CHUNK;
}

static void learn_all(struct norm *m, const struct json *j, enum msg_kind k)
{
	for (struct json_iter it = json_iter(j, json_get(j, 0, "tool_calls")); json_next(&it);)
		learn(m, j, json_get(j, it.value, "id"));
	if (k == MSG_TOOL)
		learn(m, j, json_get(j, 0, "tool_call_id"));
	if (of_a_call(k))
		learn(m, j, json_get(j, 0, "id"));
}

static bool volatile_key(const struct json *j, int key, enum msg_kind k)
{
	static const char *const keys[] = {"ts", "ms", "run", "session", "request_id", "wait_ms"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_eq(j, key, keys[i]))
			return true;
	return json_eq(j, key, "id") && !of_a_call(k) && k != MSG_UNKNOWN;
}

static void value(struct norm *m, struct jw *w, const struct json *j, int v)
{
	size_t n;
	const char *raw = json_raw(j, v, &n);
	char *s;
	long id;

	if (json_type(j, v) != JSON_STRING) {
		jw_raw(w, raw, n);
		return;
	}
	s = json_dup(j, v);
	id = known(m, s);
	if (id >= 0) {
		char name[32];

		snprintf(name, sizeof name, "call-%ld", id + 1);
		jw_str(w, name);
	} else {
		jw_raw(w, raw, n);
	}
	free(s);
}

/* Structures are written anew down to the ids' usual depth; deeper ones pass as they are. */
static void rewrite(struct norm *m, struct jw *w, const struct json *j, int v, int depth)
{
	enum json_type t = json_type(j, v);

	if (depth > 12 || (t != JSON_OBJECT && t != JSON_ARRAY)) {
		value(m, w, j, v);
		return;
	}
	if (t == JSON_ARRAY)
		jw_arr(w);
	else
		jw_obj(w);
	for (struct json_iter it = json_iter(j, v); json_next(&it);) {
		char *key = it.key >= 0 ? json_dup(j, it.key) : NULL;

		if (key)
			jw_key(w, key);
		rewrite(m, w, j, it.value, depth + 1);
		free(key);
	}
	jw_end(w);
}

static void line(struct each *e, void *arg)
{
	struct norm *m = arg;
	const struct json *j = &e->json;
	enum msg_kind k;
	struct jw w;

	buf_clear(&m->out);
	if (e->fault[0]) {
		buf_add(&m->out, e->line.p, e->line.len);
	} else {
		k = msg_kind(j);
		learn_all(m, j, k);
		w = jw_begin(&m->out);
		jw_obj(&w);
		for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
			char *key;

			if (volatile_key(j, it.key, k))
				continue;
			key = json_dup(j, it.key);
			jw_key(&w, key);
			rewrite(m, &w, j, it.value, 1);
			free(key);
		}
		jw_end(&w);
	}
	buf_addc(&m->out, '\n');
	fwrite(m->out.p, 1, m->out.len, stdout);
}

int cmd_norm(const struct conf *c, int argc, char **argv)
{
	struct norm m = {0};
	int status;

	(void)c;
	buf_init(&m.out, BUF_NOLIMIT);
	status = each_line(argc, argv, line, NULL, &m);
	for (size_t i = 0; i < m.n; i++)
		free(m.ids[i]);
	free(m.ids);
	buf_free(&m.out);
	return status;
}

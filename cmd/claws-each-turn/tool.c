/* tool.c - in the place of claws-tool: an assistant message with calls in, tool messages out, then the held turn_done. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "each_turn.h"

static void drop_open(struct each *t)
{
	for (size_t i = 0; i < t->nopen; i++)
		free(t->open[i]);
	free(t->open);
	t->open = NULL;
	t->nopen = 0;
}

static void see_assistant(struct each *t, const struct msg *m)
{
	const struct json *j = m->json;

	buf_clear(&t->assistant);
	put(&t->assistant, m->line, m->len);
	drop_open(t);
	for (struct json_iter it = json_iter(j, json_get(j, 0, "tool_calls")); json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id"));

		if (!id)
			continue;
		t->open = xrealloc(t->open, t->nopen + 1, sizeof *t->open);
		t->open[t->nopen++] = id;
	}
}

/* Takes the call off the list of open ones. */
static bool close_call(struct each *t, const char *id)
{
	for (size_t i = 0; i < t->nopen; i++) {
		if (strcmp(t->open[i], id) != 0)
			continue;
		free(t->open[i]);
		memmove(t->open + i, t->open + i + 1, (t->nopen - i - 1) * sizeof *t->open);
		t->nopen--;
		return true;
	}
	return false;
}

static void see_result(struct each *t, const struct msg *m)
{
	char *id = json_dup(m->json, json_get(m->json, 0, "tool_call_id"));

	close_call(t, id ? id : "");
	free(id);
}

static void see_turn_done(struct each *t, const struct msg *m)
{
	struct buf input;

	if (!t->nopen || !json_eq(m->json, json_get(m->json, 0, "stop_reason"), "tool_use")) {
		buf_clear(&t->assistant);
		drop_open(t);
		stage_pass(&t->s, m);
		return;
	}
	buf_clear(&t->turn);
	buf_add(&t->turn, m->line, m->len);
	buf_init(&input, BUF_NOLIMIT);
	buf_add(&input, t->assistant.p, t->assistant.len);
	put(&input, m->line, m->len);
	if (!start(t, &input))
		t->place->done(t, ST_NOINPUT);
	buf_free(&input);
}

static void line(struct each *t, const struct msg *m)
{
	if (running(t) && m->kind != MSG_UNKNOWN && msg_lines()[m->kind].class != CLASS_EVENT) {
		hold(t, m);             /* not before the turn_done that stands in front of it */
		return;
	}
	switch (m->kind) {
	case MSG_TURN_DONE: see_turn_done(t, m); return;
	case MSG_ASSISTANT: see_assistant(t, m); break;
	case MSG_TOOL: see_result(t, m); break;
	default: break;
	}
	stage_pass(&t->s, m);
}

static void end(struct each *t)
{
	(void)t;                        /* a turn that did not end runs no tool */
}

static void said_result(struct each *t, const struct msg *m)
{
	struct err e = ERR_INIT;
	char *id;

	if (msg_check(m->json, &e) < 0) {
		stage_error(&t->s, "protocol", "%s: a tool message was left out: %s", t->argv[0], e.text);
		return;
	}
	id = json_dup(m->json, json_get(m->json, 0, "tool_call_id"));
	if (close_call(t, id))
		pass_with_id(t, m);
	else
		stage_error(&t->s, "protocol", "%s: a tool message for '%.100s', which is not an open call, was left out", t->argv[0],
		            id);
	free(id);
}

static void said(struct each *t, const struct msg *m)
{
	if (m->kind == MSG_TOOL)
		said_result(t, m);
	else if (m->kind == MSG_UNKNOWN || msg_lines()[m->kind].class == CLASS_EVENT)
		stage_pass(&t->s, m);
}

static void close_all(struct each *t, const char *text)
{
	for (size_t i = 0; i < t->nopen; i++) {
		struct jw *w = stage_begin(&t->s, MSG_TOOL);
		char id[24];

		jw_kstr(w, "tool_call_id", t->open[i]);
		jw_kstr(w, "content", text);
		jw_kbool(w, "is_error", true);
		jw_kstr(w, "origin", "claws");
		stage_id(&t->s, id);
		jw_kstr(w, "id", id);
		stage_kts(&t->s, w);
		stage_emit(&t->s);
	}
	drop_open(t);
	stage_write(&t->s, t->turn.p, t->turn.len);
	buf_clear(&t->turn);
	buf_clear(&t->assistant);
}

static void done(struct each *t, int status)
{
	char *text = status == ST_OK ? xstrdup("the tool program gave no result")
	                             : xasprintf("the tool program gave no result and ended with status %d", status);

	if (t->nopen && status == ST_OK)
		stage_error(&t->s, "protocol", "%s: gave no result for %zu calls", t->argv[0], t->nopen);
	else if (status != ST_OK)
		stage_error(&t->s, "unknown", "%s: ended with status %d", t->argv[0], status);
	close_all(t, text);
	free(text);
}

static void cut(struct each *t)
{
	close_all(t, "interrupted by the user");
}

const struct place place_tool = {"tool", "claws-tool", 't', line, end, said, done, cut};

/* check.c - claws-msg check: are these lines what claws-messages(5) says?
 *
 * --strict also checks the order (section ORDER of that page): a turn has one turn_done, nothing follows run_done but a new
 * run, a tool message answers a call that is open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "each.h"
#include "msg_cmd.h"
#include "proto/msg.h"

struct order {
	bool strict, many;
	unsigned long bad;
	char **open;            /* ids of calls without a result */
	size_t nopen;
	bool turn, told, run, over;   /* a turn is under way; its message came; run_start seen; run_done seen */
};

static void fault(struct order *o, const struct each *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void fault(struct order *o, const struct each *e, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	buf_init(&b, 4096);
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (o->many)
		warn("%s: line %lu: %s", e->file, e->line.no, b.p);
	else
		warn("line %lu: %s", e->line.no, b.p);
	buf_free(&b);
	o->bad++;
}

static void drop_calls(struct order *o)
{
	for (size_t i = 0; i < o->nopen; i++)
		free(o->open[i]);
	free(o->open);
	o->open = NULL;
	o->nopen = 0;
}

static void see_assistant(struct order *o, const struct each *e)
{
	const struct json *j = &e->json;

	if (o->nopen)
		fault(o, e, "assistant: call '%s' before it has no tool message", o->open[0]);
	drop_calls(o);
	if (o->told && o->run)
		fault(o, e, "assistant: a second one in this turn");
	o->told = true;
	for (struct json_iter it = json_iter(j, json_get(j, 0, "tool_calls")); json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id"));

		for (size_t i = 0; id && i < o->nopen; i++)
			if (!strcmp(o->open[i], id))
				fault(o, e, "assistant: call id '%s' twice", id);
		o->open = xrealloc(o->open, o->nopen + 1, sizeof *o->open);
		o->open[o->nopen++] = id ? id : xstrdup("");
	}
}

static void see_tool(struct order *o, const struct each *e)
{
	char *id = json_dup(&e->json, json_get(&e->json, 0, "tool_call_id"));

	for (size_t i = 0; id && i < o->nopen; i++) {
		if (strcmp(o->open[i], id) != 0)
			continue;
		free(o->open[i]);
		o->open[i] = o->open[--o->nopen];
		free(id);
		return;
	}
	fault(o, e, "tool: tool_call_id '%s' answers no open call", id ? id : "");
	free(id);
}

/* The turn under way: chunks or a message since the last turn_done. */
static void see_turn_done(struct order *o, const struct each *e)
{
	if (!o->turn)
		fault(o, e, "turn_done: a second one in this turn");
	o->turn = o->told = false;
}

static void see_order(struct order *o, const struct each *e)
{
	enum msg_kind k = msg_kind(&e->json);

	if (o->over && k != MSG_RUN_START && k != MSG_UNKNOWN) {
		fault(o, e, "%s: after run_done", msg_lines()[k].name);
		return;
	}
	switch (k) {
	case MSG_RUN_START:
		if (o->run && !o->over)
			fault(o, e, "run_start: the run before it has no run_done");
		o->run = true;
		o->over = false;
		o->turn = true;
		break;
	case MSG_TURN: case MSG_TEXT_CHUNK: case MSG_THINKING_CHUNK: case MSG_TOOL_CALL_CHUNK: case MSG_USER: case MSG_ERROR:
	case MSG_RETRY: case MSG_COMPACTION: case MSG_COMPACT_REQUEST: case MSG_RESET:
		o->turn = true;
		break;
	case MSG_ASSISTANT: o->turn = true; see_assistant(o, e); break;
	case MSG_TOOL: o->turn = true; see_tool(o, e); break;
	case MSG_TURN_DONE: see_turn_done(o, e); break;
	case MSG_RUN_DONE:
		if (o->nopen)
			fault(o, e, "run_done: call '%s' has no tool message", o->open[0]);
		o->over = true;
		break;
	default: break;
	}
}

static void line(struct each *e, void *arg)
{
	struct order *o = arg;
	struct err why = ERR_INIT;

	if (e->fault[0])
		fault(o, e, "%s", e->fault);
	else if (msg_check(&e->json, &why) < 0)
		fault(o, e, "%s", why.text);
	else if (o->strict)
		see_order(o, e);
	if (!e->fault[0] && e->line.cut)
		fault(o, e, "the last line has no line end");
}

static void end(struct each *e, void *arg)
{
	struct order *o = arg;

	if (o->strict && o->run && !o->over)
		fault(o, e, "the run has no run_done");
	o->run = o->over = o->turn = o->told = false;
	drop_calls(o);
}

int cmd_check(const struct conf *c, int argc, char **argv)
{
	struct order o = {.strict = c->strict, .many = argc > 1};
	int status = each_line(argc, argv, line, end, &o);

	return status_worse(status, o.bad ? ST_DATA : ST_OK);
}

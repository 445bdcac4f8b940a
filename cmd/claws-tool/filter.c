/* The stream: every line goes on as it came; a turn_done first waits for the results of its calls. */
#include "claws-tool.h"

#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"

static void note_answer(struct host *h, const struct json *j)
{
	char *id = json_dup(j, json_get(j, 0, "tool_call_id"));

	if (id)
		heal_map_put(&h->answered, id, strlen(id));
	free(id);
}

/* May a turn_done with stop_reason tool_use set this message's calls going? It must not say of itself that it ended in
 * another way: a cut message has cut calls. */
static bool is_whole(const struct json *j)
{
	int v = json_get(j, 0, "stop_reason");

	return v < 0 || json_type(j, v) == JSON_NULL || json_eq(j, v, "tool_use");
}

/* The calls that are to run: those without a result, each id once. */
static size_t collect(struct host *h, const struct json *j, struct call **out)
{
	int list = json_get(j, 0, "tool_calls");
	size_t n = 0, room = json_type(j, list) == JSON_ARRAY ? (size_t)json_count(j, list) : 0;

	*out = xcalloc(room + 1, sizeof **out);
	for (struct json_iter it = json_iter(j, list); room && json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id")), *name = json_dup(j, json_get(j, it.value, "name"));
		if (!id || !*id) {
			stage_error(h->stage, "protocol", "a call without an id cannot be answered, and is not run");
		} else if (heal_map_get(&h->answered, id, strlen(id))) {
			stage_notice(h->stage, "call %.100s has a result already and is not run", id);
		} else {
			heal_map_put(&h->answered, id, strlen(id));
			call_init(&(*out)[n++], h, id, name ? name : "", j, json_get(j, it.value, "input"));
		}
		free(id);
		free(name);
	}
	return n;
}

static void run_calls(struct host *h)
{
	struct json j = JSON_INIT;
	struct call *calls;
	size_t n;

	if (json_parse(&j, h->assistant.p, h->assistant.len, NULL) == 0 && is_whole(&j)) {
		n = collect(h, &j, &calls);
		json_free(&j);
		turn_run(h, calls, n, h->assistant.p, h->assistant.len);
		for (size_t i = 0; i < n; i++)
			call_free(&calls[i]);
		free(calls);
	}
	json_free(&j);
}

/* The line is copied first: the input goes on being read, over it, while tools run. */
static void turn_done(struct host *h, const char *line, size_t len, const struct json *j)
{
	char *copy = xmalloc(len + 1);

	memcpy(copy, line, len);
	if (h->assistant.len && json_eq(j, json_get(j, 0, "stop_reason"), "tool_use"))
		run_calls(h);
	buf_clear(&h->assistant);
	stage_write(h->stage, copy, len);
	free(copy);
}

static void take(struct host *h, enum msg_kind kind, const char *line, size_t len, const struct json *j)
{
	switch (kind) {
	case MSG_ASSISTANT:
		buf_clear(&h->assistant);
		buf_add(&h->assistant, line, len);
		h->interrupted = false;
		break;
	case MSG_TOOL:
		note_answer(h, j);
		break;
	case MSG_USER: case MSG_RESET: case MSG_TURN:
		buf_clear(&h->assistant);        /* the conversation has gone on without its calls */
		break;
	case MSG_TURN_DONE:
		turn_done(h, line, len, j);
		return;
	case MSG_INTERRUPT:
		h->interrupted = true;
		break;
	default:
		break;
	}
	stage_write(h->stage, line, len);
}

/* While tools run: an interrupt is acted on at once; it and all else goes on behind the turn_done, in order. */
void filter_take(struct host *h)
{
	struct stage *s = h->stage;
	struct msg m;

	while (stage_next(s, &m)) {
		struct queued *q;
		h->queue = xrealloc(h->queue, h->nqueue + 1, sizeof *h->queue);
		q = &h->queue[h->nqueue++];
		*q = (struct queued){.line = xmalloc(m.len + 1), .len = m.len, .kind = m.kind};
		memcpy(q->line, m.line, m.len);
		h->queue_bytes += m.len;
		if (m.kind == MSG_INTERRUPT && !h->stopped)
			h->stopped = STOP_INTERRUPT;
	}
	if (s->eof) {
		h->input_ended = true;
		if (s->ring && !h->stopped)
			h->stopped = STOP_EOF;
	}
}

void filter_fill(struct host *h)
{
	stage_fill(h->stage);
	filter_take(h);
}

static void take_queued(struct host *h)
{
	while (h->nqueue) {
		struct queued *q = h->queue;
		size_t n = h->nqueue;
		struct json j = JSON_INIT;

		/* A turn_done among them may queue more. */
		h->queue = NULL;
		h->nqueue = h->queue_bytes = 0;
		for (size_t i = 0; i < n; i++) {
			json_parse(&j, q[i].line, q[i].len, NULL);
			take(h, q[i].kind, q[i].line, q[i].len, &j);
			free(q[i].line);
		}
		json_free(&j);
		free(q);
	}
}

int filter_run(struct host *h)
{
	struct msg m;
	int status;
	bool ring;

	buf_init(&h->assistant, LINE_MAX_BYTES);
	heal_map_init(&h->answered);
	while (!h->input_ended && stage_read(h->stage, &m) > 0) {
		take(h, m.kind, m.line, m.len, m.json);
		take_queued(h);
	}
	ring = h->stage->ring;
	status = stage_end(h->stage);
	buf_free(&h->assistant);
	heal_map_free(&h->answered);
	free(h->repeats);
	if (h->missed && !ring)
		status = status_worse(status, ST_DATA);
	return ring || !h->denied ? status : status_worse(status, ST_DENIED);
}

/* claudeview.c - --output-format json (one result object) and stream-json (init, assistant, user, result). */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "claude.h"

struct view_state {
	struct shape shape;
	bool init_due, result_made;
	const char *block;          /* kind of the open content block of the message under way; NULL: none */
	bool message_open;
	int index, call;            /* of the open block; the tool call it belongs to */
};

static void begin(struct render *r)
{
	const char *no_time = getenv("CLAWS_NO_TIME");

	r->state = xcalloc(1, sizeof *r->state);
	r->state->shape.no_time = no_time && *no_time && strcmp(no_time, "0");
}

/* A line made into b goes out. */
static void emit(struct render *r, struct buf *b)
{
	buf_addc(b, '\n');
	sink_put(&r->out, b->p, b->len);
	buf_free(b);
}

static void result(struct render *r)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	claude_result(&b, &r->state->shape, &r->run);
	emit(r, &b);
	r->state->result_made = true;
}

static void json_line(struct render *r, const struct seen *m)
{
	if (!m->j)
		return;
	if (m->kind == MSG_RUN_START)
		r->state->result_made = false;
	else if (m->kind == MSG_RUN_DONE)
		result(r);
	if (m->kind == MSG_RUN_START || m->kind == MSG_RUN_DONE)
		say_done(r, m);
	else
		say_notices(r, m);
}

/* Always exactly one object for a run, also when nothing came at all. */
static void json_end(struct render *r)
{
	if (!r->state->result_made)
		result(r);
	if (r->run.ring && !r->run.over)
		say(r, "error: the stream ended before the run did: a stage of the pipeline has died");
	free(r->state);
}

/* The offered tools may be told before or after run_start: init waits for what needs it. */
static void init(struct render *r)
{
	struct buf b;

	if (!r->state->init_due)
		return;
	r->state->init_due = false;
	buf_init(&b, BUF_NOLIMIT);
	claude_init(&b, &r->state->shape, &r->run);
	emit(r, &b);
}

static void event(struct render *r, struct buf *made)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	claude_event(&b, &r->state->shape, &r->run, made->p);
	emit(r, &b);
	buf_free(made);
}

static struct jw event_begin(struct buf *b, const char *type)
{
	struct jw w;

	buf_init(b, BUF_NOLIMIT);
	w = jw_begin(b);
	jw_obj(&w);
	jw_kstr(&w, "type", type);
	return w;
}

static void block_stop(struct render *r)
{
	struct buf b;
	struct jw w;

	if (!r->state->block)
		return;
	w = event_begin(&b, "content_block_stop");
	jw_ki64(&w, "index", r->state->index++);
	jw_end(&w);
	event(r, &b);
	r->state->block = NULL;
}

static void message_start(struct render *r)
{
	struct view_state *v = r->state;
	struct buf b;
	struct jw w;

	if (v->message_open)
		return;
	init(r);
	v->message_open = true;
	v->index = 0;
	v->call = -1;
	w = event_begin(&b, "message_start");
	jw_key(&w, "message");
	jw_obj(&w);
	jw_kstr(&w, "type", "message");
	jw_kstr(&w, "role", "assistant");
	jw_kstr(&w, "model", r->run.model ? r->run.model : "");
	jw_kraw(&w, "content", "[]", 2);
	jw_kstr(&w, "stop_reason", NULL);
	jw_kstr(&w, "stop_sequence", NULL);
	jw_key(&w, "usage");
	claude_usage(&w, &(struct json)JSON_INIT, -1);
	jw_end(&w);
	jw_end(&w);
	event(r, &b);
}

static void block_start(struct render *r, const char *kind, const struct json *j)
{
	struct buf b;
	struct jw w;
	char *id, *name;

	block_stop(r);
	r->state->block = kind;
	w = event_begin(&b, "content_block_start");
	jw_ki64(&w, "index", r->state->index);
	jw_key(&w, "content_block");
	jw_obj(&w);
	jw_kstr(&w, "type", kind);
	if (!strcmp(kind, "tool_use")) {
		id = text_of(j, "id"), name = text_of(j, "name");
		jw_kstr(&w, "id", id);
		jw_kstr(&w, "name", name);
		jw_kraw(&w, "input", "{}", 2);
		free(id);
		free(name);
	} else {
		jw_kstr(&w, kind, "");
	}
	jw_end(&w);
	jw_end(&w);
	event(r, &b);
}

static void delta(struct render *r, const char *type, const char *key, const struct json *j, const char *from)
{
	char *text = text_of(j, from);
	struct buf b;
	struct jw w;

	if (*text) {
		w = event_begin(&b, "content_block_delta");
		jw_ki64(&w, "index", r->state->index);
		jw_key(&w, "delta");
		jw_obj(&w);
		jw_kstr(&w, "type", type);
		jw_kstr(&w, key, text);
		jw_end(&w);
		jw_end(&w);
		event(r, &b);
	}
	free(text);
}

static void chunk(struct render *r, const struct seen *m)
{
	struct view_state *v = r->state;
	const char *kind = m->kind == MSG_TEXT_CHUNK ? "text" : m->kind == MSG_THINKING_CHUNK ? "thinking" : "tool_use";
	int call = m->kind == MSG_TOOL_CALL_CHUNK ? (int)number_of(m->j, "index") : -1;

	message_start(r);
	if (!v->block || strcmp(v->block, kind) != 0 || call != v->call)
		block_start(r, kind, m->j);
	v->call = call;
	if (m->kind == MSG_TEXT_CHUNK)
		delta(r, "text_delta", "text", m->j, "text");
	else if (m->kind == MSG_THINKING_CHUNK)
		delta(r, "thinking_delta", "thinking", m->j, "text");
	else
		delta(r, "input_json_delta", "partial_json", m->j, "args");
}

static void message_stop(struct render *r, const struct json *j)
{
	struct view_state *v = r->state;
	char *stop;
	struct buf b;
	struct jw w;

	if (!v->message_open)
		return;
	block_stop(r);
	stop = text_of(j, "stop_reason");
	w = event_begin(&b, "message_delta");
	jw_key(&w, "delta");
	jw_obj(&w);
	jw_kstr(&w, "stop_reason", claude_stop(stop));
	jw_kstr(&w, "stop_sequence", NULL);
	jw_end(&w);
	jw_key(&w, "usage");
	claude_usage(&w, j, json_get(j, 0, "usage"));
	jw_end(&w);
	event(r, &b);
	w = event_begin(&b, "message_stop");
	jw_end(&w);
	event(r, &b);
	v->message_open = false;
	free(stop);
}

static void made(struct render *r, const struct json *j,
                 void (*make)(struct buf *, struct shape *, const struct run *, const struct json *))
{
	struct buf b;

	init(r);
	buf_init(&b, BUF_NOLIMIT);
	make(&b, &r->state->shape, &r->run, j);
	emit(r, &b);
}

static void stream_line(struct render *r, const struct seen *m)
{
	struct view_state *v = r->state;

	if (!m->j)
		return;
	switch (m->kind) {
	case MSG_RUN_START:
		v->init_due = true;
		v->result_made = false;
		say_done(r, m);
		break;
	case MSG_TEXT_CHUNK: case MSG_THINKING_CHUNK: case MSG_TOOL_CALL_CHUNK:
		if (r->c.partial)
			chunk(r, m);
		break;
	case MSG_ASSISTANT:
		made(r, m->j, claude_assistant);
		message_stop(r, m->j);
		break;
	case MSG_TOOL: made(r, m->j, claude_user); break;
	case MSG_RETRY: made(r, m->j, claude_retry); break;
	case MSG_COMPACTION: made(r, m->j, claude_compact); break;
	case MSG_RUN_DONE:
		init(r);
		result(r);
		say_done(r, m);
		break;
	default: break;
	}
	if (m->kind == MSG_TURN_DONE)
		message_stop(r, m->j);      /* a turn that failed has no assistant message */
	say_notices(r, m);
}

const struct view view_json = {begin, json_line, json_end};
const struct view view_stream_json = {begin, stream_line, json_end};

/* stream.c - in the place of claws-stream: the conversation in, events and one assistant message out. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "each_turn.h"

static void begin(struct each *t)
{
	struct buf input;

	buf_init(&input, BUF_NOLIMIT);
	buf_add(&input, t->system.p, t->system.len);
	buf_add(&input, t->tools.p, t->tools.len);
	buf_add(&input, t->convo.p, t->convo.len);
	buf_clear(&t->turn);
	buf_clear(&t->made);
	free(t->stop);
	t->stop = NULL;
	if (!start(t, &input))
		turn_done(t, "error");
	buf_free(&input);
}

static void replace(struct buf *b, const struct msg *m)
{
	buf_clear(b);
	put(b, m->line, m->len);
}

static void line(struct each *t, const struct msg *m)
{
	switch (m->kind) {
	case MSG_USER: case MSG_ASSISTANT: case MSG_TOOL:
		put(&t->convo, m->line, m->len);
		return;
	case MSG_SYSTEM: replace(&t->system, m); break;
	case MSG_TOOLS: replace(&t->tools, m); break;
	case MSG_RESET: buf_clear(&t->convo); break;
	default: break;
	}
	stage_pass(&t->s, m);
	if (m->kind != MSG_TURN || !t->s.ring)
		return;
	if (running(t))
		t->pending++;
	else
		begin(t);
}

/* The answer as text_chunk events gave it, where no message did. */
static void message_of_chunks(struct each *t, const char *stop)
{
	struct jw *w = stage_begin(&t->s, MSG_ASSISTANT);
	char id[24];

	jw_kstrn(w, "content", t->made.p, t->made.len);
	jw_kstr(w, "stop_reason", stop);
	stage_id(&t->s, id);
	jw_kstr(w, "id", id);
	stage_kts(&t->s, w);
	stage_emit(&t->s);
	buf_clear(&t->made);
}

static void said_message(struct each *t, const struct msg *m)
{
	struct err e = ERR_INIT;
	int calls = json_get(m->json, 0, "tool_calls");

	/* A filter that passes on what it does not consume hands back the conversation. */
	if (has_line(&t->convo, m->line, m->len))
		return;
	if (t->stop) {
		stage_error(&t->s, "protocol", "%s: a second assistant message in one turn was left out", t->argv[0]);
		return;
	}
	if (msg_check(m->json, &e) < 0) {
		stage_error(&t->s, "protocol", "%s: its message was left out: %s", t->argv[0], e.text);
		return;
	}
	t->stop = json_dup(m->json, json_get(m->json, 0, "stop_reason"));
	if (!t->stop)
		t->stop = xstrdup(json_count(m->json, calls) ? "tool_use" : "end_turn");
	pass_with_id(t, m);
}

static void said(struct each *t, const struct msg *m)
{
	switch (m->kind) {
	case MSG_ASSISTANT: said_message(t, m); break;
	case MSG_TURN_DONE:
		buf_clear(&t->turn);
		buf_add(&t->turn, m->line, m->len);
		break;
	case MSG_TEXT_CHUNK:
		json_str(m->json, json_get(m->json, 0, "text"), &t->made);
		stage_pass(&t->s, m);
		break;
	case MSG_ERROR:
		t->said_error = true;
		stage_pass(&t->s, m);
		break;
	case MSG_COMPACT_REQUEST: stage_pass(&t->s, m); break;
	default:
		/* The ring's own lines and the conversation are not for it to say. */
		if (m->kind == MSG_UNKNOWN || msg_lines()[m->kind].class == CLASS_EVENT)
			stage_pass(&t->s, m);
	}
}

/* A turn_done of the program is believed, if it is one. */
static bool own_end(struct each *t)
{
	struct json j = JSON_INIT;
	bool good = t->turn.len && json_parse(&j, t->turn.p, t->turn.len, NULL) == 0 && msg_check(&j, NULL) == 0;

	if (good)
		stage_write(&t->s, t->turn.p, t->turn.len);
	json_free(&j);
	return good;
}

static void done(struct each *t, int status)
{
	if (!t->stop && t->made.len && status == ST_OK) {
		message_of_chunks(t, "end_turn");
		t->stop = xstrdup("end_turn");
	}
	if (!own_end(t)) {
		if (status != ST_OK || !t->stop) {
			if (!t->said_error && status > ST_SIGNAL)
				stage_error(&t->s, "unknown", "%s: ended by signal %d", t->argv[0], status - ST_SIGNAL);
			else if (!t->said_error && status != ST_OK)
				stage_error(&t->s, "unknown", "%s: ended with status %d", t->argv[0], status);
			else if (!t->said_error)
				stage_error(&t->s, "protocol", "%s: gave no assistant message", t->argv[0]);
			if (status == ST_OK)
				t->status = ST_PROTOCOL;
			turn_done(t, "error");
		} else {
			turn_done(t, t->stop);
		}
	}
	buf_clear(&t->turn);
	if (t->pending) {
		t->pending--;
		begin(t);
	}
}

/* What came before the interrupt is kept; calls of it are not run. */
static void cut(struct each *t)
{
	if (!t->stop && t->made.len)
		message_of_chunks(t, "interrupted");
	turn_done(t, "interrupted");
}

static void end(struct each *t)
{
	begin(t);
}

const struct place place_stream = {"stream", "claws-stream", 'a', line, end, said, done, cut};

/* compact.c - in the place of claws-compact: the whole conversation in, the one to be sent out. */
#include <string.h>

#include "base/status.h"
#include "each_turn.h"

static bool conversation(enum msg_kind k)
{
	return k == MSG_USER || k == MSG_ASSISTANT || k == MSG_TOOL;
}

static void replace(struct buf *b, const struct msg *m)
{
	buf_clear(b);
	put(b, m->line, m->len);
}

static void begin(struct each *t)
{
	struct buf input;

	buf_init(&input, BUF_NOLIMIT);
	buf_add(&input, t->system.p, t->system.len);
	buf_add(&input, t->tools.p, t->tools.len);
	buf_add(&input, t->convo.p, t->convo.len);
	buf_add(&input, t->request.p, t->request.len);
	buf_clear(&t->made);
	buf_clear(&t->request);
	if (!start(t, &input))
		t->place->done(t, ST_NOINPUT);
	buf_free(&input);
}

static void line(struct each *t, const struct msg *m)
{
	if (running(t) && m->kind != MSG_UNKNOWN && msg_lines()[m->kind].class != CLASS_EVENT) {
		hold(t, m);
		return;
	}
	switch (m->kind) {
	case MSG_USER: case MSG_ASSISTANT: case MSG_TOOL:
		put(&t->convo, m->line, m->len);
		if (!t->s.ring)
			return;         /* what the program makes of it goes on instead */
		break;
	case MSG_COMPACTION:
		put(&t->convo, m->line, m->len);
		return;                 /* out of the log; written again it would be logged again */
	case MSG_COMPACT_REQUEST:
		replace(&t->request, m);
		return;
	case MSG_SYSTEM: replace(&t->system, m); break;
	case MSG_TOOLS: replace(&t->tools, m); break;
	case MSG_RESET: buf_clear(&t->convo); break;
	case MSG_TURN:
		if (!t->s.ring)
			break;
		buf_clear(&t->turn);
		buf_add(&t->turn, m->line, m->len);
		begin(t);
		return;
	default: break;
	}
	stage_pass(&t->s, m);
}

static void end(struct each *t)
{
	begin(t);
}

static void said(struct each *t, const struct msg *m)
{
	struct err e = ERR_INIT;

	if (m->kind == MSG_COMPACTION && !has_line(&t->convo, m->line, m->len)) {
		stage_pass(&t->s, m);
	} else if (conversation(m->kind)) {
		if (msg_check(m->json, &e) < 0)
			stage_error(&t->s, "protocol", "%s: a message was left out: %s", t->argv[0], e.text);
		else
			put(&t->made, m->line, m->len);
	} else if (m->kind == MSG_UNKNOWN || msg_lines()[m->kind].class == CLASS_EVENT) {
		stage_pass(&t->s, m);
	}
}

static void write_lines(struct each *t, const struct buf *b)
{
	for (const char *p = b->p, *lf; p < b->p + b->len; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(b->p + b->len - p));
		stage_write(&t->s, p, (size_t)(lf - p));
	}
}

/* The messages of the conversation as they were sent on: without compaction lines. */
static void sent(const struct buf *convo, struct buf *out)
{
	struct json j = JSON_INIT;

	for (const char *p = convo->p, *lf; p < convo->p + convo->len; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(convo->p + convo->len - p));
		if (json_parse(&j, p, (size_t)(lf - p), NULL) == 0 && conversation(msg_kind(&j)))
			put(out, p, (size_t)(lf - p));
	}
	json_free(&j);
}

static void done(struct each *t, int status)
{
	struct buf before;
	bool good = status == ST_OK && t->made.len, differs;

	buf_init(&before, BUF_NOLIMIT);
	sent(&t->convo, &before);
	differs = before.len != t->made.len || memcmp(before.p, t->made.p, before.len) != 0;
	if (!good && (before.len || status != ST_OK))
		stage_error(&t->s, "unknown", "%s: gave no conversation (status %d), going on with the one there is", t->argv[0],
		            status);
	if (!t->s.ring) {
		write_lines(t, good ? &t->made : &before);
	} else {
		if (good && differs) {
			stage_begin(&t->s, MSG_RESET);
			stage_emit(&t->s);
			write_lines(t, &t->made);
			buf_clear(&t->convo);
			buf_add(&t->convo, t->made.p, t->made.len);
		}
		stage_write(&t->s, t->turn.p, t->turn.len);
	}
	buf_clear(&t->turn);
	buf_free(&before);
}

/* The turn that it held is over before it began. */
static void cut(struct each *t)
{
	buf_clear(&t->turn);
	turn_done(t, "interrupted");
}

const struct place place_compact = {"compact", "claws-compact", 'c', line, end, said, done, cut};

/* emit.c - the lines that a call writes. */
#include <string.h>

#include "stream.h"
#include "sys/io.h"

#define PIECE_BYTES ((size_t)16 << 10)   /* the longest line that pieces are joined to */

void emit_pieces(struct stream *s)
{
	if (!s->piece_head)
		return;
	buf_adds(&s->piece, "\"}");
	stage_write(&s->st, s->piece.p, s->piece.len);
	s->piece_head = NULL;
}

/* Pieces that one read brought leave as one line: what costs in a pipeline is lines, not bytes. Under --no-time a line is
 * an event of the provider, so that equal answers give equal lines however the network cut them. Not with stage_begin:
 * this is the hot path, and these keys need no escaping. */
static void piece(struct stream *s, const char *head, const char *text, size_t n)
{
	if (s->piece_head != head || s->piece.len > PIECE_BYTES) {
		emit_pieces(s);
		buf_clear(&s->piece);
		buf_adds(&s->piece, head);
		s->piece_head = head;
	}
	jw_escape(&s->piece, text, n);
	if (s->st.no_time)
		emit_pieces(s);
}

static const char text_head[] = "{\"type\":\"text_chunk\",\"text\":\"";
static const char thinking_head[] = "{\"type\":\"thinking_chunk\",\"text\":\"";

static void on_text(void *arg, const char *text, size_t n)
{
	piece(arg, text_head, text, n);
}

static void on_thinking(void *arg, const char *text, size_t n)
{
	piece(arg, thinking_head, text, n);
}

static void on_call(void *arg, int index, const char *id, const char *name, const char *args, size_t n)
{
	struct stream *s = arg;
	struct jw *w;

	emit_pieces(s);
	w = stage_begin(&s->st, MSG_TOOL_CALL_CHUNK);
	jw_ki64(w, "index", index);
	if (id)
		jw_kstr(w, "id", id);
	if (name)
		jw_kstr(w, "name", name);
	if (n)
		jw_kstrn(w, "args", args, n);
	stage_emit(&s->st);
}

/* An id that is empty, or was used before in the conversation, would pair with the wrong result. */
static void on_rename(void *arg, struct buf *id)
{
	struct stream *s = arg;

	if (id->len && !convo_has_id(&s->convo, id->p))
		return;
	for (unsigned k = 1;; k++) {
		buf_clear(id);
		buf_addf(id, "call%05u", s->named + k);   /* nine letters and digits: what Mistral accepts */
		if (!convo_has_id(&s->convo, id->p)) {
			s->named += k;
			return;
		}
	}
}

const struct answer_sink emit_sink = {
	.text = on_text, .thinking = on_thinking, .call = on_call, .rename = on_rename};

/* A member whose words are not ours: they may hold the key. */
static void foreign(struct stream *s, struct jw *w, const char *key, const char *text, size_t n)
{
	struct buf masked;

	buf_init(&masked, BUF_NOLIMIT);
	setup_mask(s, &masked, text, n);
	jw_kstrn(w, key, masked.p, masked.len);
	buf_free(&masked);
}

void emit_error(struct stream *s, const char *class, int status, const char *code, int64_t retry_after_ms,
                const char *message)
{
	struct jw *w;

	emit_pieces(s);
	w = stage_begin(&s->st, MSG_ERROR);
	jw_kstr(w, "class", class);
	jw_kstr(w, "stage", s->st.name);
	foreign(s, w, "message", message, strlen(message));
	if (status > 0)
		jw_ki64(w, "status", status);
	if (code && *code)
		foreign(s, w, "code", code, strlen(code));
	if (retry_after_ms >= 0)
		jw_ki64(w, "retry_after_ms", retry_after_ms);
	stage_emit(&s->st);
}

void emit_answer_error(struct stream *s)
{
	const struct answer *a = &s->answer;
	const struct answer_error *e = &a->error;
	const char *code = e->code.len && strspn(e->code.p, "0123456789") < e->code.len ? e->code.p : e->type.p;
	struct buf words;

	if (!e->set) {
		emit_error(s, "truncated", 0, NULL, -1, "the answer ended without the provider saying that it is the end");
		return;
	}
	buf_init(&words, 4096);
	answer_words(a, &words);
	emit_error(s, e->class, e->status, *code ? code : e->code.p, e->retry_after_ms, words.p);
	buf_free(&words);
}

void emit_retry(struct stream *s, int64_t wait_ms)
{
	const struct answer *a = &s->answer;
	struct buf words;
	struct jw *w;

	buf_init(&words, 4096);
	answer_words(a, &words);
	w = stage_begin(&s->st, MSG_RETRY);
	jw_ki64(w, "attempt", s->retry.done);
	jw_ki64(w, "wait_ms", wait_ms);
	jw_kstr(w, "class", a->error.set ? a->error.class : "truncated");
	if (words.len)
		foreign(s, w, "message", words.p, words.len);
	stage_emit(&s->st);
	buf_free(&words);
}

void emit_assistant(struct stream *s)
{
	struct jw *w;
	char id[24];

	emit_pieces(s);
	w = stage_begin(&s->st, MSG_ASSISTANT);
	if (!answer_write(&s->answer, w, s->maker, provider_cost(&s->p, &s->answer.usage)))
		return;
	stage_id(&s->st, id);
	jw_kstr(w, "id", id);
	stage_kts(&s->st, w);
	stage_emit(&s->st);
}

void emit_turn_done(struct stream *s, enum stop stop)
{
	const struct answer *a = s->answered ? &s->answer : NULL;
	struct jw *w;

	emit_pieces(s);
	w = stage_begin(&s->st, MSG_TURN_DONE);
	jw_kstr(w, "stop_reason", stop_name(stop));
	if (a) {
		jw_key(w, "usage");
		usage_write(w, &a->usage, provider_cost(&s->p, &a->usage));
	}
	if (!s->st.no_time && s->phase != PHASE_IDLE)
		jw_ki64(w, "ms", io_now_ms() - s->started);
	if (a && a->request_id.len)
		foreign(s, w, "request_id", a->request_id.p, a->request_id.len);
	stage_emit(&s->st);
}

/* call.c - one call, from its turn to its turn_done: attempts, waits, and what is left at the end. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "llm/classify.h"
#include "stream.h"
#include "sys/io.h"

/* ---- the end ---- */

static int answer_status(const struct stream *s, enum stop stop)
{
	const struct answer *a = &s->answer;

	if (a->error.set)
		return error_status(a->error.class, a->error.status, a->error.code.len ? a->error.code.p : a->error.type.p);
	if (stop == STOP_MAX_TOKENS && a->ncalls)
		return ST_OK;
	return stop_status(stop);
}

static void call_over(struct stream *s, enum stop stop)
{
	emit_turn_done(s, stop);
	if (s->answered)
		answer_free(&s->answer);
	s->answered = false;
	s->phase = PHASE_IDLE;
	s->calls++;
}

/* The call cannot be made. code NULL and wait_ms -1 where there is none. */
static void refuse_with(struct stream *s, const char *class, int status, const char *code, int64_t wait_ms, const char *text)
{
	struct buf masked;

	emit_error(s, class, 0, code, wait_ms, text);
	buf_init(&masked, 4096);
	setup_mask(s, &masked, text, strlen(text));
	if (!s->st.ring)
		warn("%s", masked.p);
	buf_free(&masked);
	s->status = status_worse(s->status, status);
	call_over(s, STOP_ERROR);
}

static void call_refuse(struct stream *s, const char *class, int status, const char *text)
{
	refuse_with(s, class, status, NULL, -1, text);
}

static void call_overflow(struct stream *s)
{
	int64_t limit = overflow_limit(s->answer.error.message.p);
	struct jw *w;

	if (!s->st.ring && s->answer.error.set)
		emit_answer_error(s);
	emit_assistant(s);
	w = stage_begin(&s->st, MSG_COMPACT_REQUEST);
	if (limit > 0)
		jw_ki64(w, "limit", limit);
	stage_emit(&s->st);
	s->status = ST_LIMIT;
	call_over(s, STOP_CONTEXT_EXCEEDED);
}

/* The answer is what it is: write it down. */
static void call_end(struct stream *s)
{
	const struct answer *a = &s->answer;
	enum stop stop = a->stop;

	s->status = answer_status(s, stop);
	play_keep(s, s->lost[0] ? s->lost : NULL);
	if (stop == STOP_CONTEXT_EXCEEDED || (a->error.set && !strcmp(a->error.class, "overflow"))) {
		call_overflow(s);
		return;
	}
	if (a->error.set && !strcmp(a->error.class, "truncated"))
		stop = s->answer.stop = STOP_TRUNCATED;
	if (a->error.set || stop == STOP_TRUNCATED)
		emit_answer_error(s);
	emit_assistant(s);
	call_over(s, stop);
}

/* ---- attempts ---- */

static void on_head(void *arg, int status)
{
	struct stream *s = arg;

	answer_head(&s->answer, status);
	if (s->recording)
		recorder_head(&s->recorder, status);
}

static bool redirected(const struct stream *s)
{
	return s->answer.status >= 300 && s->answer.status < 400;
}

static void on_header(void *arg, const char *name, const char *value)
{
	struct stream *s = arg;

	answer_header(&s->answer, name, value);
	if (redirected(s) && !strcmp(name, "location"))
		snprintf(s->lost, sizeof s->lost, "%.500s", value);
	if (s->recording)
		recorder_header(&s->recorder, name, value);
}

static int on_body(void *arg, const char *p, size_t n)
{
	struct stream *s = arg;

	if (redirected(s))
		return 0;
	if (s->recording)
		recorder_body(&s->recorder, p, n);
	return answer_feed(&s->answer, p, n);
}

static const struct http_sink sink = {.head = on_head, .header = on_header, .body = on_body};

static void new_answer(struct stream *s)
{
	if (s->answered)
		answer_free(&s->answer);
	answer_init(&s->answer, s->wire, &emit_sink, s);
	s->answer.quirks = s->p.quirks;
	s->answer.tools = &s->convo.tools;
	s->answered = true;
	s->lost[0] = 0;
}

/* What identifies the call for a provider that is asked twice: the official clients send it, and the same for all attempts. */
static void new_once(struct stream *s)
{
	unsigned char random[16];
	size_t n = (size_t)snprintf(s->once, sizeof s->once, "idempotency-key: claws-");

	io_random(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		n += (size_t)snprintf(s->once + n, sizeof s->once - n, "%02x", random[i]);
}

static bool make_body(struct stream *s, struct err *e)
{
	if (play_body(s, &s->options, &s->body, e) < 0)
		return false;
	new_once(s);
	return true;
}

/* May it be called? What is left of a budget may make the answer shorter. False: it is waited for, or the call is over. */
static bool afford(struct stream *s)
{
	struct err e = ERR_INIT;
	enum quota_say say;
	char code[32];

	s->spend.room = 0;
	say = quota_before(s, code, &e);
	if (say == QUOTA_GO && s->spend.room) {
		if (s->room < 0)
			s->room = s->options.max_tokens;
		s->options.max_tokens = s->spend.room;
		if (make_body(s, &e))
			return true;
		quota_release(&s->spend.day);
		quota_release(&s->spend.session);
	}
	if (say == QUOTA_GO && !e.status)
		return true;
	breaker_tell(s, OUT_NOTHING);
	if (say == QUOTA_WAIT && io_now_ms() >= s->retry.deadline) {
		refuse_with(s, "timeout", ST_TEMP, NULL, -1, "other calls hold what is left of the budget, for longer than --timeout");
	} else if (say == QUOTA_WAIT) {
		s->phase = PHASE_WAITING;
		s->wait_until = io_now_ms() + 20;
	} else {
		refuse_with(s, say == QUOTA_FULL ? "budget" : "config", e.status, *code ? code : NULL, -1, e.text);
	}
	return false;
}

static void attempt(struct stream *s)
{
	struct err e = ERR_INIT;
	const char *header[HEADERS + 2];
	struct http_request r = {
		.url = s->url.p, .body = s->body.p, .len = s->body.len, .headers = header,
		.connect_ms = s->conf.connect, .first_ms = s->conf.first_byte, .idle_ms = s->conf.idle,
		.no_proxy = url_loopback(&s->target), .ca_file = s->ca_file, .sink = &sink, .arg = s};

	if (!afford(s))
		return;
	r.body = s->body.p;
	r.len = s->body.len;
	auth_sign(s);
	memcpy(header, s->header, s->nheader * sizeof *header);
	header[s->nheader] = s->once;
	header[s->nheader + 1] = NULL;
	new_answer(s);
	if (s->recording)
		recorder_begin(&s->recorder);
	s->phase = PHASE_RUNNING;
	if (http_start(&s->http, &r, &e) < 0)
		call_refuse(s, "config", e.status, e.text);
}

/* The call is over, unless false: the recording may be the answer of a fallback, which is looked for now. */
static bool replayed(struct stream *s, struct err *first)
{
	struct err e = ERR_INIT;

	new_answer(s);
	if (play_answer(s, &e) == 0) {
		call_end(s);
		return true;
	}
	if (!first->status)
		*first = e;
	if (chain_next(s, "unknown", "it has no recording"))
		return false;
	refuse_with(s, "input", first->status, first->status == ST_DATA ? "replay_miss" : NULL, -1, first->text);
	return true;
}

/* The model that is called now gets the request, or does not: then the next. */
static void begin(struct stream *s)
{
	struct err first = ERR_INIT;
	int64_t left;

	for (;;) {
		struct err e = ERR_INIT;

		recover_begin(s);
		if (!make_body(s, &e) || ((s->recording || s->replaying) && play_canon(s, &e) < 0)) {
			call_refuse(s, "input", e.status, e.text);
			return;
		}
		if (s->replaying) {
			if (replayed(s, &first))
				return;
		} else if (breaker_lets(s, &e, &left)) {
			attempt(s);
			return;
		} else if (!chain_next(s, "overloaded", e.text)) {
			refuse_with(s, "overloaded", e.status, "circuit_open", left, e.text);
			return;
		}
	}
}

void call_start(struct stream *s)
{
	s->started = io_now_ms();
	s->status = ST_OK;
	s->phase = PHASE_RUNNING;
	s->retry = (struct retry){.max = (int)s->conf.retries, .jitter = !s->st.no_time,
		.deadline = s->conf.timeout ? s->started + s->conf.timeout : LLONG_MAX / 2};
	if (s->broken.status) {
		call_refuse(s, s->broken.status == ST_CONFIG ? "config" : "input", s->broken.status, s->broken.text);
		return;
	}
	chain_home(s);
	if (s->convo.nmessages == 0) {
		call_refuse(s, "input", ST_NOINPUT, "the conversation is empty: there is nothing to answer");
		return;
	}
	if (s->convo.dropped > s->dropped) {
		stage_notice(&s->st, "%lu tool results without an open call were left out of the request",
			s->convo.dropped - s->dropped);
		s->dropped = s->convo.dropped;
	}
	setup_notice(s);
	recording_begin(s);
	begin(s);
}

/* How the attempt went, for the circuit breaker: what is the provider's own fault, not ours and not a limit of the account.
 * A server on this machine that is not there costs nothing to ask again: whoever starts it does not want to wait. */
static enum outcome outcome(const struct stream *s)
{
	const struct answer *a = &s->answer;
	const char *class = a->error.class;

	if (!a->error.set)
		return a->stop == STOP_TRUNCATED ? OUT_NOTHING : OUT_WORKED;
	if (!strcmp(class, "connection"))
		return url_loopback(&s->target) ? OUT_NOTHING : OUT_FAILED;
	if (!strcmp(class, "overloaded") || !strcmp(class, "timeout") || a->error.status >= 500)
		return OUT_FAILED;
	return a->error.status >= 400 ? OUT_WORKED : OUT_NOTHING;
}

/* There is another request to try. One that is the same byte for byte would be refused the same way; only a model that
 * wrote a call which is none may do better with it. */
static bool mended(struct stream *s)
{
	struct err e = ERR_INIT;
	bool differs = false;

	while (!differs && recover(s)) {
		size_t n = s->body.len;
		char *before = buf_detach(&s->body);

		differs = make_body(s, &e) && (recover_by_chance(s) || n != s->body.len || memcmp(before, s->body.p, n) != 0);
		free(before);
	}
	return differs;
}

/* An attempt has failed. True: another one follows. Nothing does once something of the answer was shown: it cannot be taken
 * back. */
static bool try_again(struct stream *s)
{
	struct answer *a = &s->answer;
	const char *class = a->error.set ? a->error.class : "truncated";
	struct buf words;
	bool again;
	int64_t wait;

	if (a->heard)
		return false;
	if (mended(s)) {
		attempt(s);
		return true;
	}
	if (recover_oversize(s))
		return false;
	if (!strcmp(class, "rate_limit") && chain_swap(s)) {
		begin(s);
		return true;
	}
	if ((!a->error.set && a->stop != STOP_TRUNCATED) || recover_by_chance(s))
		return false;
	if (answer_retryable(a) && !s->probing &&
	    retry_next(&s->retry, a->error.set ? a->error.retry_after_ms : -1, io_now_ms(), &wait) == RETRY_WAIT) {
		emit_retry(s, wait);
		answer_free(a);
		s->answered = false;
		s->phase = PHASE_WAITING;
		s->wait_until = io_now_ms() + wait;
		return true;
	}
	buf_init(&words, 4096);
	answer_words(a, &words);
	again = io_now_ms() < s->retry.deadline && chain_next(s, class, words.p);
	buf_free(&words);
	if (again)
		begin(s);
	return again;
}

void call_arrived(struct stream *s)
{
	const struct http *h = &s->http;
	char text[1200];

	if (!h->failed && redirected(s)) {
		snprintf(text, sizeof text, "%s answers with HTTP %d, a redirect to %.500s: a key is not carried there; "
			"if it is right, give it as --base-url", s->target.host, s->answer.status,
			s->lost[0] ? s->lost : "nowhere");
		call_refuse(s, "config", ST_CONFIG, text);
		return;
	}
	if (h->failed) {
		snprintf(s->lost, sizeof s->lost, "%.200s: %.800s", s->target.host, h->text);
		answer_fail(&s->answer, s->answer.heard ? "truncated" : h->class, "%s", s->lost);
	} else {
		answer_end(&s->answer);
	}
	quota_after(s);
	breaker_tell(s, outcome(s));
	if (!try_again(s))
		call_end(s);
}

void call_again(struct stream *s)
{
	attempt(s);
}

void call_out_of_time(struct stream *s)
{
	snprintf(s->lost, sizeof s->lost, "%s: the call took longer than --timeout allows", s->target.host);
	http_stop(&s->http);
	breaker_tell(s, OUT_NOTHING);
	answer_fail(&s->answer, s->answer.heard ? "truncated" : "timeout", "%s", s->lost);
	quota_after(s);
	call_end(s);
}

void call_cut(struct stream *s)
{
	struct answer *a = &s->answer;

	if (s->phase == PHASE_RUNNING) {
		size_t calls;

		http_stop(&s->http);
		breaker_tell(s, OUT_NOTHING);
		answer_cut(a);
		quota_after(s);
		/* even if all of it has come: what was interrupted is not to be run */
		a->stop = STOP_INTERRUPTED;
		calls = a->ncalls;
		if (calls)
			buf_clear(&a->blocks);
		a->ncalls = 0;
		emit_assistant(s);
		a->ncalls = calls;
	}
	s->status = ST_FAILED;
	call_over(s, STOP_INTERRUPTED);
}

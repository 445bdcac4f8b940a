/* decide.c - at each turn_done: another turn, or the end of the run and its status. */
#include "append.h"

#include <stdio.h>
#include <string.h>

#define CUT_TURNS 3       /* answers cut by the output limit in the middle of a call, in a row */
#define SAME_FAILURES 5   /* turns whose calls are the same and all fail, in a row */

static void feed_control(struct append *a, const char *line)
{
	append_feed(a, line, strlen(line));
}

void append_turn(struct append *a)
{
	struct buf b;

	buf_init(&b, 128);
	buf_addf(&b, "{\"type\":\"turn\",\"turn\":%lld}", (long long)a->run.turns + 1);
	append_feed(a, b.p, b.len);
	buf_free(&b);
	a->run.turning = true;
	a->run.error_class[0] = 0;
	buf_clear(&a->request);
}

void append_start_run(struct append *a)
{
	a->hurry = false;
	run_begin(&a->run, &a->st, ++a->runs);
	run_started(&a->run, &a->st, a->id, a->conf->max_turns, a->conf->max_time);
}

void append_end_run(struct append *a, int status, const char *limit, const char *why)
{
	struct err e = ERR_INIT;

	if (a->run.ndenied && a->conf->on_deny[0] == 'f')
		status = status_worse(status, ST_DENIED);
	run_done(&a->run, &a->st, status, limit, why);
	/* Kept in the log too: claws-session list tells how a run ended. */
	if (!a->keep.log.fresh && log_append(&a->keep.log, a->st.made.p, a->st.made.len, &e) < 0)
		status = status_worse(status, e.status);
	/* Nothing of this has left yet: who reads run_done may rely on the log. */
	if (keep_sync(&a->keep, &e) < 0)
		status = status_worse(status, e.status);
	a->status = status;
	a->run.turning = false;
	a->give_up_at = 0;
	if (!a->conf->interactive)
		a->over = true;
}

static bool continues(const struct append *a)
{
	switch (a->run.stop) {
	case STOP_TOOL_USE:
	case STOP_PAUSE:
		return true;
	case STOP_MAX_TOKENS:
		return a->keep.ncalls > 0;
	default:
		return false;
	}
}

/* The same calls failing again and again will not begin to succeed. */
static bool going_in_circles(struct append *a)
{
	struct run *r = &a->run;

	if (!keep_all_failed(&a->keep) || r->stop != STOP_TOOL_USE) {
		r->same_failures = 0;
		r->failed_calls[0] = 0;
		return false;
	}
	r->same_failures = strcmp(r->failed_calls, a->keep.calls_hash) ? 1 : r->same_failures + 1;
	memcpy(r->failed_calls, a->keep.calls_hash, sizeof r->failed_calls);
	return r->same_failures >= SAME_FAILURES;
}

static void too_long(struct append *a)
{
	if (++a->run.context_exceeded >= 2) {
		append_end_run(a, ST_LIMIT, "context", "the conversation does not fit the model's context window, even shortened");
		return;
	}
	/* As claws-stream wrote it: the provider may have said what fits. */
	feed_control(a, a->request.len ? a->request.p : "{\"type\":\"compact_request\"}");
	append_turn(a);
}

/* At turn_done: another turn, or the end. */
void append_decide(struct append *a)
{
	const struct conf *c = a->conf;
	struct run *r = &a->run;
	bool go_on = continues(a), joins;

	if (r->interrupt) {
		append_end_run(a, r->interrupt, r->interrupt == ST_LIMIT ? "time" : NULL,
		               r->interrupt == ST_LIMIT ? "the time that --max-time allows is over; claws -c goes on" : NULL);
		return;
	}
	if (r->stop == STOP_CONTEXT_EXCEEDED) {
		too_long(a);
		return;
	}
	r->context_exceeded = 0;
	r->cut = go_on && r->stop == STOP_MAX_TOKENS ? r->cut + 1 : 0;
	if (r->cut >= CUT_TURNS) {
		append_end_run(a, ST_LIMIT, "tokens", "the output limit cut a tool call three times in a row; ask for smaller parts or raise "
		                               "--max-tokens");
		return;
	}
	if (going_in_circles(a)) {
		append_end_run(a, ST_FAILED, NULL, "the same tool calls failed five times in a row");
		return;
	}
	if (go_on && c->max_turns && r->turns >= c->max_turns) {
		char why[96];

		snprintf(why, sizeof why, "%lld model call%s, as many as --max-turns allows; claws -c goes on",
		         (long long)r->turns, r->turns == 1 ? "" : "s");
		append_end_run(a, ST_LIMIT, "turns", why);
		return;
	}
	joins = r->stop != STOP_ERROR && r->stop != STOP_TRUNCATED && r->stop != STOP_REFUSAL &&
	        r->stop != STOP_CONTENT_FILTER && (!c->max_turns || r->turns < c->max_turns);
	if (joins && append_inbox(a, !go_on && !c->interactive) > 0)
		go_on = true;
	if (go_on)
		append_turn(a);
	else
		append_end_run(a, run_status(r), NULL, NULL);
}

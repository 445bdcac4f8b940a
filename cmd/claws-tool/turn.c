/* The calls of one assistant message. Calls of tools that are concurrent_safe run side by side, every other one alone;
 * results leave in the order of the calls. Input is read all the while, so that an interrupt is heard. */
#include "claws-tool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "agent/journal.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"

struct turn {
	struct host *h;
	struct call *calls;
	size_t n, reported;
	size_t running;
	const char *assistant;
	size_t len;
	bool journalled;
	struct ask ask;
};

/* Results whose turn it is. */
static void report_ready(struct turn *t)
{
	for (; t->reported < t->n && t->calls[t->reported].done && !t->calls[t->reported].run.pid; t->reported++) {
		struct call *c = &t->calls[t->reported];
		report_message(t->h, c);
	}
}

/* A call has its result. */
static void settle(struct turn *t, struct call *c)
{
	if (c->reported)
		return;
	c->reported = true;
	report_end(t->h, c);
	if (strcmp(c->status, "interrupted"))
		repeat_note(t->h, c);
	report_ready(t);
}

static bool is_concurrent(const struct call *c)
{
	return c->tool && c->tool->concurrent_safe;
}

static int next_wait(const struct turn *t, long long now)
{
	long long wait = !t->ask.pid ? 60000 : t->ask.ended ? 5 : 100;

	for (size_t i = 0; i < t->n; i++) {
		const struct runner *r = &t->calls[i].run;
		if (r->pid && r->deadline - now < wait)
			wait = r->deadline - now;
	}
	return wait < 0 ? 0 : (int)wait;
}

/* Waits until something happens, and takes it. */
static void pump(struct turn *t)
{
	struct pollfd p[PARALLEL_MAX + 3];
	struct call *of[PARALLEL_MAX + 3] = {0};
	struct stage *s = t->h->stage;
	nfds_t n = 0;
	bool input = s && !t->h->input_ended && t->h->queue_bytes < QUEUE_MAX;

	if (s)
		stage_flush(s);
	p[n++] = (struct pollfd){.fd = input ? s->in.fd : -1, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = s ? s->out.fd : -1};     /* POLLERR alone: the reader is gone */
	p[n++] = (struct pollfd){.fd = t->ask.pid && !t->ask.ended ? t->ask.fd : -1, .events = POLLIN};
	for (size_t i = 0; i < t->n && n < PARALLEL_MAX + 3; i++) {
		if (!t->calls[i].run.pid)
			continue;
		of[n] = &t->calls[i];
		p[n++] = (struct pollfd){.fd = t->calls[i].run.fd, .events = POLLIN};
	}
	if (poll(p, n, next_wait(t, io_now_ms())) < 0 && errno != EINTR)
		die(ST_IO, "poll: %s", strerror(errno));
	if (p[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		exit(128 + 13);        /* as SIGPIPE does; the runners die with us */
	if (p[0].revents)
		filter_fill(t->h);
	for (nfds_t i = 3; i < n; i++) {
		if (p[i].revents)
			runner_read(t->h, of[i]);
		if (of[i]->done && !of[i]->run.pid) {
			t->running--;
			settle(t, of[i]);
		} else {
			if (t->h->stopped)
				runner_stop(of[i]);
			runner_overdue(of[i], io_now_ms());
		}
	}
}

/* Until c may start: its own slot, and nothing beside it unless both are concurrent. */
static void wait_turn(struct turn *t, const struct call *c)
{
	while (t->running && (!is_concurrent(c) || t->running >= PARALLEL_MAX))
		pump(t);
}

/* A yes for the rest of the session becomes a rule. */
static void keep_rule(struct turn *t, const char *rule)
{
	struct rules *rules = &t->h->gate.permit.rules;
	struct err e = ERR_INIT;

	if (rules_add(rules, RULE_ALLOW, rule, &e) < 0)
		host_notice(t->h, e.text);
}

/* False: the call is settled. */
static bool ask(struct turn *t, struct call *c)
{
	struct err e = ERR_INIT;
	struct buf rule;
	enum ask_result res = ASK_WAITING;

	if (!ask_possible()) {
		char *why = xasprintf("%s, and nobody can be asked here", c->verdict.why);
		call_denied(t->h, c, c->verdict.by, c->verdict.rule, why, true);
		free(why);
		return false;
	}
	report_request(t->h, c);
	if (ask_start(&t->ask, t->h, c, &e) < 0) {
		err_wrap(&e, "the ask program cannot be started");
		call_denied(t->h, c, "ask", NULL, e.text, true);
		return false;
	}
	buf_init(&rule, 65536);
	while (res == ASK_WAITING && !t->h->stopped) {
		pump(t);
		res = ask_look(&t->ask, c, &rule, &e);
	}
	if (res == ASK_WAITING) {
		ask_stop(&t->ask);
	} else if (res == ASK_YES) {
		report_permission(t->h, c, "allow", "user", rule.len ? rule.p : NULL);
		if (rule.len)
			keep_rule(t, rule.p);
	} else if (res == ASK_NO) {
		call_denied(t->h, c, "user", NULL, "the user said no", false);
	} else {
		call_denied(t->h, c, "ask", NULL, e.text, true);
	}
	buf_free(&rule);
	return res == ASK_YES;
}

/* The gate. True: go on. */
static bool permitted(struct turn *t, struct call *c)
{
	struct verdict *v = &c->verdict;

	permit_judge(&t->h->gate.permit, c->tool, &c->json, 0, v);
	switch (v->decision) {
	case ALLOW:
		report_permission(t->h, c, "allow", v->by, v->rule);
		return true;
	case ASK:
		return ask(t, c);
	default:
		call_denied(t->h, c, v->by, v->rule, v->why, false);
		return false;
	}
}

/* What may change something is written down, and on disk, before it runs: after a crash it is not run again by itself. */
static int journal(struct turn *t, const struct call *c, struct err *e)
{
	const char *log = t->h->session;

	if (!log || c->verdict.harmless || (c->tool->builtin && c->tool->read_only))
		return 0;
	if (!t->journalled && journal_begin(log, t->assistant, t->len, e) < 0)
		return -1;
	t->journalled = true;
	return journal_call(log, c->id, e);
}

/* Why a call is not even looked at, or NULL. */
static const char *refused(const struct turn *t, const struct call *c, size_t i)
{
	if (!*c->id)
		return "not run: the call has no id";
	if (i >= CALLS_MAX)
		return "not run: only the first 128 calls of a message are run";
	if (repeat_refused(t->h, c))
		return "refused: the same call failed 5 times; change it or stop";
	return c->bad_input;
}

static void start(struct turn *t, struct call *c, size_t i)
{
	struct err e = ERR_INIT;
	const char *why = refused(t, c, i);

	if (!why)
		wait_turn(t, c);
	if (t->h->stopped) {
		call_finish(c, true, "interrupted", "not run: interrupted");
	} else if (why) {
		call_finish(c, true, "error", "%s", why);
	} else if (!permitted(t, c)) {
		if (!c->done)
			call_finish(c, true, "interrupted", "not run: interrupted");
	} else if (journal(t, c, &e) < 0) {
		call_finish(c, true, "error", "not run: it could not be noted in the journal: %s", e.text);
		warn("%s: %s", c->name, c->text.p);
	} else {
		report_start(t->h, c);
		if (runner_start(t->h, c, &e) < 0)
			call_finish(c, true, "error", "not run: %s", e.text);
		else
			t->running++;
	}
	if (c->done)
		settle(t, c);
	while (t->running && !is_concurrent(c))
		pump(t);
}

void turn_run(struct host *h, struct call *calls, size_t n, const char *assistant, size_t len)
{
	struct turn t = {.h = h, .calls = calls, .n = n, .assistant = assistant, .len = len, .ask = {.fd = -1}};

	h->turn++;
	h->stopped = h->interrupted ? STOP_INTERRUPT : GOING;
	if (h->stage)
		filter_take(h);
	for (size_t i = 0; i < n; i++) {
		if (recording_replays(h->recording) && !h->stopped)
			recording_give(h, &calls[i]);
		else
			start(&t, &calls[i], i);
	}
	while (t.running)
		pump(&t);
}

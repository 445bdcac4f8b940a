/* append.c - the only writer of a log, and in a ring what starts each turn.
 *
 * By hand it logs what passes and passes it on. In a ring it also feeds descriptor 3: `ring`, the prompt, `turn`, every
 * new message, and at each turn_done what comes next. Its output and the feed are queues that never block it, so that a
 * slow reader cannot lock the ring up. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inbox.h"
#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "keep.h"
#include "llm/classify.h"
#include "run.h"
#include "session.h"
#include "sys/io.h"
#include "sys/sig.h"
#include "sys/watch.h"

#define FEED_FD 3
#define QUEUE_BYTES ((size_t)64 << 20)   /* of output nobody reads yet: then input waits */
#define INTERRUPT_MS 5000                /* for the stages to close an interrupted turn */
#define DRAIN_MS 500                     /* without progress; then what is queued is given up, if we were told to stop */
#define CUT_TURNS 3                      /* answers cut by the output limit in the middle of a call, in a row */
#define SAME_FAILURES 5                  /* turns whose calls are the same and all fail, in a row */

struct append {
	const struct conf *conf;
	struct stage st;
	struct keep keep;
	struct run run;
	struct out feed;
	struct sigs sigs;
	struct watch inbox;
	struct buf request;        /* the compact_request of this turn */
	unsigned long runs;
	const char *path, *id;
	const char *prompt;        /* file to remove once its lines are on disk */
	bool inbox_closed;         /* nobody joins this run any more */
	bool unsynced;             /* the log is to be synced once the queues have left */
	long long give_up_at;      /* an interrupted turn did not end; 0: none */
	int status;                /* of the last run */
	bool over, hurry;          /* a person or the system wants the end */
};

/* A log that cannot be written ends everything: what is not logged must not be acted on. */
static _Noreturn void log_failed(struct append *a, const struct err *e)
{
	if (a->run.active)
		run_done(&a->run, &a->st, e->status, NULL, e->text);
	stage_flush(&a->st);
	die_err(e);
}

static void feed(struct append *a, const char *line, size_t len)
{
	out_line(&a->feed, line, len, NULL);
}

static void fed_and_passed(void *arg, const char *line, size_t len)
{
	struct append *a = arg;

	stage_write(&a->st, line, len);
	if (a->st.ring)
		feed(a, line, len);
}

static void close_calls(struct append *a, const char *why)
{
	struct err e = ERR_INIT;

	if (keep_close_calls(&a->keep, why, fed_and_passed, a, &e) < 0)
		log_failed(a, &e);
}

/* A message: into the log, then on. */
static void durable(struct append *a, const struct msg *m)
{
	struct err e = ERR_INIT;
	int r = keep_line(&a->keep, m, &e);

	if (r < 0 && e.status == ST_DATA) {
		stage_error(&a->st, "input", "%s", e.text);
		a->st.bad++;
	} else if (r < 0) {
		log_failed(a, &e);
	} else if (r > 0) {
		stage_write(&a->st, a->keep.line.p, a->keep.line.len);
		if (a->st.ring && m->kind != MSG_SYSTEM && msg_lines()[m->kind].class == CLASS_MESSAGE)
			feed(a, a->keep.line.p, a->keep.line.len);
	} else if (m->kind == MSG_SYSTEM) {
		stage_pass(&a->st, m);
	}
}

/* One line of the prompt file or the inbox: role user and nothing else gets in there. */
static int take_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct append *a = arg;
	struct json j = JSON_INIT;
	struct msg m = {.line = line, .len = len, .json = &j};
	int r = 0;

	if (json_parse(&j, line, len, NULL) < 0 || msg_kind(&j) != MSG_USER || msg_check(&j, NULL) < 0) {
		stage_notice(&a->st, "a line of the inbox is no user message; it was left out");
	} else {
		m.kind = MSG_USER;
		r = keep_line(&a->keep, &m, e);
		if (r > 0)
			fed_and_passed(a, a->keep.line.p, a->keep.line.len);
	}
	json_free(&j);
	return r < 0 ? -1 : 0;
}

/* What is taken out of the inbox must be on disk before it is gone there. */
static int take_for_good(void *arg, const char *line, size_t len, struct err *e)
{
	struct append *a = arg;

	return take_line(arg, line, len, e) < 0 ? -1 : log_sync(&a->keep.log, e);
}

static int take_inbox(struct append *a, bool close_it)
{
	struct err e = ERR_INIT;
	int n = inbox_take(a->path, close_it, take_for_good, a, &e);

	if (n < 0)
		log_failed(a, &e);
	a->inbox_closed |= close_it && n == 0;
	return n;
}

static bool prompt_waits(void)
{
	const char *path = getenv("CLAWS_PROMPT");

	return path && *path && access(path, R_OK) == 0;
}

/* The driver's prompt: a private file of user lines, removed once it is logged. 1 if there was one. */
static int take_prompt(struct append *a)
{
	const char *path = getenv("CLAWS_PROMPT");
	struct err e = ERR_INIT;
	struct buf text;
	int n = 0;

	if (!prompt_waits())
		return 0;
	buf_init(&text, 4 * LINE_MAX_BYTES);
	if (io_read_file(AT_FDCWD, path, &text, &e) < 0)
		log_failed(a, &e);
	for (char *p = text.p, *end = text.p + text.len; p < end;) {
		char *lf = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((lf ? lf : end) - p);

		if (len && take_line(a, p, len, &e) < 0)
			log_failed(a, &e);
		n++;
		p += len + 1;
	}
	a->prompt = path;
	a->unsynced = true;
	buf_free(&text);
	return n > 0;
}

/* After what was fed has left: while the model works the disk may too. */
static void settle(struct append *a)
{
	struct err e = ERR_INIT;

	if (!a->unsynced)
		return;
	a->unsynced = false;
	if ((a->prompt ? log_sync(&a->keep.log, &e) : keep_sync(&a->keep, &e)) < 0)
		log_failed(a, &e);
	if (a->prompt)
		unlink(a->prompt);
	a->prompt = NULL;
}

static void feed_control(struct append *a, const char *line)
{
	feed(a, line, strlen(line));
}

static void feed_turn(struct append *a)
{
	struct buf b;

	buf_init(&b, 128);
	buf_addf(&b, "{\"type\":\"turn\",\"turn\":%lld}", (long long)a->run.turns + 1);
	feed(a, b.p, b.len);
	buf_free(&b);
	a->run.turning = true;
	a->run.error_class[0] = 0;
	buf_clear(&a->request);
}

static void end_run(struct append *a, int status, const char *limit, const char *why)
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

static void start_run(struct append *a)
{
	a->hurry = false;
	run_begin(&a->run, &a->st, ++a->runs);
	run_started(&a->run, &a->st, a->id, a->conf->max_turns, a->conf->max_time);
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
		end_run(a, ST_LIMIT, "context", "the conversation does not fit the model's context window, even shortened");
		return;
	}
	/* As claws-stream wrote it: the provider may have said what fits. */
	feed_control(a, a->request.len ? a->request.p : "{\"type\":\"compact_request\"}");
	feed_turn(a);
}

/* At turn_done: another turn, or the end. */
static void decide(struct append *a)
{
	const struct conf *c = a->conf;
	struct run *r = &a->run;
	bool go_on = continues(a), joins;

	if (r->interrupt) {
		end_run(a, r->interrupt, r->interrupt == ST_LIMIT ? "time" : NULL, NULL);
		return;
	}
	if (r->stop == STOP_CONTEXT_EXCEEDED) {
		too_long(a);
		return;
	}
	r->context_exceeded = 0;
	r->cut = go_on && r->stop == STOP_MAX_TOKENS ? r->cut + 1 : 0;
	if (r->cut >= CUT_TURNS) {
		end_run(a, ST_LIMIT, "tokens", "the output limit cut a tool call three times in a row; ask for smaller parts or raise "
		                               "--max-tokens");
		return;
	}
	if (going_in_circles(a)) {
		end_run(a, ST_FAILED, NULL, "the same tool calls failed five times in a row");
		return;
	}
	if (go_on && c->max_turns && r->turns >= c->max_turns) {
		end_run(a, ST_LIMIT, "turns", NULL);
		return;
	}
	joins = r->stop != STOP_ERROR && r->stop != STOP_TRUNCATED && r->stop != STOP_REFUSAL &&
	        r->stop != STOP_CONTENT_FILTER && (!c->max_turns || r->turns < c->max_turns);
	if (joins && take_inbox(a, !go_on && !c->interactive) > 0)
		go_on = true;
	if (go_on)
		feed_turn(a);
	else
		end_run(a, run_status(r), NULL, NULL);
}

static void on_turn_done(struct append *a, const struct msg *m)
{
	struct err e = ERR_INIT;
	char *stop = json_dup(m->json, json_get(m->json, 0, "stop_reason"));

	a->run.stop = stop ? stop_parse(stop) : STOP_NONE;
	if (a->run.stop == STOP_NONE)
		a->run.stop = STOP_ERROR;
	free(stop);
	run_usage(&a->run, m->json);
	/* The line must be passed on before the calls are closed could make it stale: copy first. */
	if (keep_open_calls(&a->keep)) {
		struct buf line;

		buf_init(&line, BUF_NOLIMIT);
		buf_add(&line, m->line, m->len);
		close_calls(a, a->run.interrupt ? "interrupted: it was not run"
		               : a->run.stop == STOP_MAX_TOKENS
		                       ? "not run: the output limit cut the answer that asked for it; ask for smaller parts"
		                       : "not run: the answer that asked for it did not end as it should");
		stage_write(&a->st, line.p, line.len);
		buf_free(&line);
	} else {
		stage_pass(&a->st, m);
	}
	a->run.turning = false;
	if (a->st.ring)
		a->unsynced = true;
	else if (keep_sync(&a->keep, &e) < 0)
		log_failed(a, &e);
	if (a->st.ring && a->run.active)
		decide(a);
}

static void on_permission(struct append *a, const struct msg *m)
{
	char *id;

	if (!json_eq(m->json, json_get(m->json, 0, "decision"), "deny"))
		return;
	id = json_dup(m->json, json_get(m->json, 0, "id"));
	run_denied(&a->run, m->json, id ? keep_call_name(&a->keep, id) : "");
	free(id);
}

static void handle(struct append *a, const struct msg *m)
{
	switch (m->kind) {
	case MSG_SYSTEM:
	case MSG_USER:
	case MSG_ASSISTANT:
	case MSG_TOOL:
	case MSG_COMPACTION:
	case MSG_CHECKPOINT:
		durable(a, m);
		return;
	case MSG_TURN_DONE:
		on_turn_done(a, m);
		return;
	case MSG_COMPACT_REQUEST:
		if (!a->st.ring)
			break;
		if (a->run.turning) {
			buf_clear(&a->request);
			buf_add(&a->request, m->line, m->len);
		}
		return;
	case MSG_RING:
	case MSG_TURN:
	case MSG_INTERRUPT:
	case MSG_RUN_START:
	case MSG_RUN_DONE:
		/* In a ring these are ours, and they have been round. */
		if (a->st.ring)
			return;
		break;
	case MSG_ERROR:
		run_error(&a->run, m->json);
		break;
	case MSG_PERMISSION:
		on_permission(a, m);
		break;
	default:
		break;
	}
	stage_pass(&a->st, m);
}

static void interrupt(struct append *a, int status, const char *reason)
{
	struct buf b;

	if (!a->run.active) {
		/* Between the prompts of a REPL the terminal's interrupt is the line editor's. */
		if (status != ST_SIGNAL + SIGINT) {
			a->over = true;
			a->status = status == ST_SIGNAL + SIGHUP ? a->status : status;
		}
		return;
	}
	if (!a->run.interrupt) {
		a->run.interrupt = status;
		buf_init(&b, 128);
		buf_addf(&b, "{\"type\":\"interrupt\",\"reason\":\"%s\"}", reason);
		feed(a, b.p, b.len);
		buf_free(&b);
		a->give_up_at = io_now_ms() + INTERRUPT_MS;
	}
	if (a->conf->interactive && status != ST_SIGNAL + SIGINT)
		a->over = true;
}

/* Our own write to a pipe without a reader sends SIGPIPE too: of the feed that means a stage has died, and end of file is
 * on its way; of the output flush_queues hears in another way. 0: none waits. */
static int next_signal(struct append *a)
{
	pid_t from;
	int sig;

	do
		sig = sig_read(&a->sigs, &from);
	while (sig == SIGPIPE && from == getpid());
	return sig;
}

static void on_signal(struct append *a, int sig)
{
	a->hurry |= sig != SIGUSR2;
	switch (sig) {
	case SIGUSR1:
		interrupt(a, ST_SIGNAL + SIGINT, "user");
		break;
	case SIGUSR2:
		interrupt(a, ST_LIMIT, "time");
		break;
	case SIGPIPE:
		interrupt(a, ST_SIGNAL + SIGPIPE, "output");
		break;
	default:
		interrupt(a, ST_SIGNAL + sig, "user");
	}
}

/* Upstream is gone, or did not close an interrupted turn in time. */
static void close_run(struct append *a, const char *why)
{
	int status = a->run.interrupt ? a->run.interrupt : ST_FAILED;

	/* A stage that said why it ends has said more than that it did. */
	if (!a->run.interrupt && a->run.error_class[0]) {
		status = error_class(a->run.error_class)->status;
		why = a->run.error_text.p;
	}
	close_calls(a, "interrupted: the run ended before a result came");
	a->run.stop = a->run.interrupt ? STOP_INTERRUPTED : STOP_ERROR;
	end_run(a, status, status == ST_LIMIT ? "time" : NULL, a->run.interrupt ? NULL : why);
	a->over = true;
}

static void flush_queues(struct append *a)
{
	struct err e = ERR_INIT;

	if (out_flush(&a->st.out, &e) < 0)
		log_failed(a, &e);
	if (a->st.out.closed && a->run.active && !a->run.interrupt)
		interrupt(a, ST_SIGNAL + SIGPIPE, "output");
	out_flush(&a->feed, NULL);
}

static void wait_for_something(struct append *a)
{
	bool full = out_left(&a->st.out) > QUEUE_BYTES && !a->run.interrupt;
	struct pollfd p[] = {{.fd = full ? -1 : 0, .events = POLLIN},
	                     {.fd = out_left(&a->st.out) ? 1 : -1, .events = POLLOUT},
	                     {.fd = out_left(&a->feed) ? FEED_FD : -1, .events = POLLOUT},
	                     {.fd = a->sigs.fd, .events = POLLIN},
	                     {.fd = a->run.active ? -1 : a->inbox.fd, .events = POLLIN}};
	int timeout = a->run.active ? -1 : watch_timeout(&a->inbox), sig;

	if (a->give_up_at) {
		long long left = a->give_up_at - io_now_ms();

		timeout = left < 0 ? 0 : (int)left;
	}
	poll(p, sizeof p / sizeof *p, timeout);
	while ((sig = next_signal(a)) > 0)
		on_signal(a, sig);
	if (p[0].revents)
		stage_fill(&a->st);
	if (a->give_up_at && io_now_ms() >= a->give_up_at)
		close_run(a, NULL);
}

static bool inbox_waits(struct append *a)
{
	struct buf path;
	struct stat st;
	bool some;

	buf_init(&path, 8192);
	some = session_side(a->path, "inbox", &path, NULL) == 0 && stat(path.p, &st) == 0 && st.st_size > 0;
	buf_free(&path);
	return some;
}

/* In a REPL: the next prompt wakes us. */
static void look_for_prompt(struct append *a)
{
	watch_changed(&a->inbox);
	if (!inbox_waits(a))
		return;
	start_run(a);
	if (take_inbox(a, false) > 0)
		feed_turn(a);
	else
		end_run(a, ST_NOINPUT, NULL, "the inbox held no message");
}

static void ring_loop(struct append *a)
{
	struct msg m;

	while (!a->over) {
		while (!a->over && stage_next(&a->st, &m))
			handle(a, &m);
		flush_queues(a);
		settle(a);
		if (a->over)
			break;
		if (a->st.eof) {
			if (a->run.active)
				close_run(a, "a stage of the pipeline ended before the run did");
			break;
		}
		if (!a->run.active) {
			look_for_prompt(a);
			flush_queues(a);
		}
		wait_for_something(a);
	}
}

/* The feed is closed at once: end of file tells the stages to stop. What is queued leaves at the reader's pace, but a
 * signal ends that: the log has it all. */
static void drain(struct append *a)
{
	struct out *out = &a->st.out;
	struct err e = ERR_INIT;
	bool stuck = false;
	int sig;

	out_close(&a->feed);
	while (!stuck && !out->closed && out_left(out)) {
		struct pollfd p[] = {{.fd = 1, .events = POLLOUT}, {.fd = a->sigs.fd, .events = POLLIN}};

		stuck = poll(p, 2, a->hurry ? DRAIN_MS : -1) == 0;
		while ((sig = next_signal(a)) > 0) {
			a->hurry |= sig != SIGUSR2;
			if (sig == SIGPIPE)
				out->closed = true;
		}
		if (out_flush(out, &e) < 0)
			a->status = status_worse(a->status, e.status);
	}
	out->closed |= stuck;
}

static int ring(struct append *a)
{
	static const int told[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGHUP, SIGPIPE, 0};
	struct err e = ERR_INIT;
	struct buf line, dir;
	bool some;

	buf_init(&dir, 8192);
	/* One run looks into the inbox when it may end. Only who stays is woken: giving an inotify descriptor back takes the
	 * kernel some milliseconds. */
	if (sig_open(&a->sigs, told, &e) < 0 || session_side(a->path, "", &dir, &e) < 0 ||
	    (a->conf->interactive && watch_open(&a->inbox, dir.p, "inbox", &e) < 0))
		die_err(&e);
	buf_free(&dir);
	out_nonblock(&a->st.out);
	out_init(&a->feed, FEED_FD);
	out_nonblock(&a->feed);
	buf_init(&line, 256);
	run_begin(&a->run, &a->st, ++a->runs);
	buf_addf(&line, "{\"type\":\"ring\",\"run\":\"%s\",\"size\":%lld}", a->run.id, (long long)a->keep.log.size);
	feed(a, line.p, line.len);
	buf_free(&line);
	if (inbox_open(a->path, &e) < 0)
		log_failed(a, &e);
	some = inbox_waits(a) || prompt_waits();
	if (some || !a->conf->interactive)
		run_started(&a->run, &a->st, a->id, a->conf->max_turns, a->conf->max_time);
	if (some) {
		some = inbox_waits(a) && take_inbox(a, false) > 0;
		some |= take_prompt(a) > 0;
	}
	if (some)
		feed_turn(a);
	else if (a->conf->interactive)
		a->run.active = false;
	else
		end_run(a, ST_NOINPUT, NULL, "no prompt: CLAWS_PROMPT names none and the inbox is empty");
	ring_loop(a);
	drain(a);
	/* Whatever ended the run, nobody takes messages now. What is there waits for the next run. */
	if (!a->inbox_closed)
		inbox_take(a->path, true, take_for_good, a, NULL);
	if (a->conf->interactive)
		watch_close(&a->inbox);
	return a->status;
}

static int by_hand(struct append *a)
{
	struct msg m;
	int status;

	a->run.stop = STOP_NONE;
	while (stage_read(&a->st, &m) > 0)
		handle(a, &m);
	close_calls(a, "interrupted: the run ended before a result came");
	status = a->run.stop == STOP_NONE ? ST_OK : run_status(&a->run);
	if (a->run.ndenied && a->conf->on_deny[0] == 'f')
		status = status_worse(status, ST_DENIED);
	return status;
}

int do_append(const struct conf *c, char **args)
{
	struct append a = {.conf = c, .run = {.stop = STOP_NONE}};
	struct err e = ERR_INIT;
	struct buf path;
	char *id;
	int status;

	the_log(args, false, &path);
	a.path = path.p;
	a.id = id = strdup(strrchr(path.p, '/') + 1);
	if (strlen(id) > 7 && !strcmp(id + strlen(id) - 7, ".ndjson"))
		id[strlen(id) - 7] = 0;
	stage_init(&a.st, "claws-session", 's');
	/* Else the lock or the log would get the number, and the feed be written into it. */
	if (a.st.ring && fcntl(FEED_FD, F_GETFD) < 0)
		die(ST_USAGE, "CLAWS_RING is set, but descriptor 3, the feed of a ring, is closed");
	buf_init(&a.run.denied, (size_t)1 << 20);
	buf_init(&a.run.error_text, 4096);
	buf_init(&a.request, LINE_MAX_BYTES);
	if (keep_open(&a.keep, &a.st, a.path, &e) < 0) {
		if (a.st.ring) {
			run_begin(&a.run, &a.st, 1);
			run_done(&a.run, &a.st, e.status, NULL, e.text);
			stage_flush(&a.st);
		}
		die_err(&e);
	}
	a.keep.sync_always = !strcmp(c->sync, "always");
	a.keep.sync_never = !strcmp(c->sync, "never");
	status = a.st.ring ? ring(&a) : by_hand(&a);
	if (keep_sync(&a.keep, &e) < 0)
		status = status_worse(status, e.status);
	keep_close(&a.keep);
	buf_free(&a.request);
	run_free(&a.run);
	status = status_worse(status, stage_end(&a.st));
	free(id);
	buf_free(&path);
	return status;
}

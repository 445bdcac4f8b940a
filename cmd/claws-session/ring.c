/* ring.c - append as the heart of a ring: two queues that never block, signals, and the time to give up. */
#include "append.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "agent/inbox.h"
#include "agent/session.h"
#include "llm/classify.h"
#include "sys/io.h"

#define QUEUE_BYTES ((size_t)64 << 20)   /* of output nobody reads yet: then input waits */
#define INTERRUPT_MS 5000                /* for the stages to close an interrupted turn */
#define DRAIN_MS 500                     /* without progress; then what is queued is given up, if we were told to stop */

/* Upstream is gone, or did not close an interrupted turn in time. */
static void close_run(struct append *a, const char *why)
{
	int status = a->run.interrupt ? a->run.interrupt : ST_FAILED;

	/* A stage that said why it ends has said more than that it did. */
	if (!a->run.interrupt && a->run.error_class[0]) {
		status = error_class(a->run.error_class)->status;
		why = a->run.error_text.p;
	}
	append_close_calls(a, "interrupted: the run ended before a result came");
	a->run.stop = a->run.interrupt ? STOP_INTERRUPTED : STOP_ERROR;
	append_end_run(a, status, status == ST_LIMIT ? "time" : NULL, a->run.interrupt ? NULL : why);
	a->over = true;
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
		append_feed(a, b.p, b.len);
		buf_free(&b);
		a->give_up_at = io_now_ms() + INTERRUPT_MS;
	} else if (status == ST_SIGNAL + SIGINT && a->conf->interactive) {
		close_run(a, NULL);   /* the stages did not answer, and the person does not wait */
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

static void flush_queues(struct append *a)
{
	struct err e = ERR_INIT;

	if (out_flush(&a->st.out, &e) < 0)
		append_log_failed(a, &e);
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

/* In a REPL: the next prompt wakes us. */
static void look_for_prompt(struct append *a)
{
	watch_changed(&a->inbox);
	if (!append_inbox_waits(a))
		return;
	append_start_run(a);
	if (append_inbox(a, false) > 0)
		append_turn(a);
	else
		append_end_run(a, ST_NOINPUT, NULL, "the inbox held no message");
}

static void ring_loop(struct append *a)
{
	struct msg m;

	while (!a->over) {
		while (!a->over && stage_next(&a->st, &m))
			append_handle(a, &m);
		flush_queues(a);
		append_settle(a);
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

int append_ring(struct append *a)
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
	append_feed(a, line.p, line.len);
	buf_free(&line);
	if (inbox_open(a->path, &e) < 0)
		append_log_failed(a, &e);
	some = append_inbox_waits(a) || append_prompt_waits();
	if (some || !a->conf->interactive)
		run_started(&a->run, &a->st, a->id, a->conf->max_turns, a->conf->max_time);
	if (some) {
		some = append_inbox_waits(a) && append_inbox(a, false) > 0;
		some |= append_prompt(a) > 0;
	}
	if (some)
		append_turn(a);
	else if (a->conf->interactive)
		a->run.active = false;
	else
		append_end_run(a, ST_NOINPUT, NULL, "no prompt: CLAWS_PROMPT names none and the inbox is empty");
	ring_loop(a);
	drain(a);
	/* Whatever ended the run, nobody takes messages now. What is there waits for the next run. */
	if (!a->inbox_closed)
		inbox_take(a->path, true, append_take, a, NULL);
	if (a->conf->interactive)
		watch_close(&a->inbox);
	return a->status;
}

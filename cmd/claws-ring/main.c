/* claws-ring - starts the stages of a pipeline, feeds its end back to its beginning, and ends them all. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "opt/opt.h"
#include "ring.h"
#include "sys/io.h"
#include "sys/kids.h"
#include "sys/private.h"
#include "sys/sig.h"

#define GRACE_MS 2000        /* design: two seconds between a death, or the run's end, and the end of what still runs */
#define AGAIN_MS 2000        /* a second signal within this time ends everything at once */
#define ECHO_MS 100          /* the same one within this time is the same wish */
#define KILL_AFTER_MS 300    /* between TERM and KILL */
#define FEEDER_MS 5000       /* for the feeder to end in order after a failed stage, once no other runs */

enum spared { NOBODY, LAST, FEEDER_AND_LAST };

struct conf {
	long max_time, secret_stage;
	struct opt_list secrets;
	bool interactive, quiet;
};

static const struct opt options[] = {
	{0, "max-time", "TIME", OPT_TIME, offsetof(struct conf, max_time), "interrupt the run after TIME", 0, 0, NULL},
	{0, "secret", "PATTERN", OPT_LIST, offsetof(struct conf, secrets),
	 "environment variables that match reach one stage only", 0, 0, NULL},
	{0, "secret-stage", "N", OPT_LONG, offsetof(struct conf, secret_stage),
	 "that stage, counted from 1 (default: the one named claws-stream or stream)", 1, 100, NULL},
	{'i', "interactive", NULL, OPT_FLAG, offsetof(struct conf, interactive),
	 "act on SIGINT even if it was ignored at the start", 0, 0, NULL},
	{'q', "quiet", NULL, OPT_FLAG, offsetof(struct conf, quiet), "do not name the stage that failed", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static const struct opt_spec spec = {
	"claws-ring", "[OPTION...] COMMAND [ARG...] [';' COMMAND...] '|' COMMAND...",
	"Run commands as a pipeline whose end is fed back to its beginning.", options, NULL,
	"'|' joins stages; of the commands of one stage, joined by ';', the last reads the pipe. The stage before the last\n"
	"writes to descriptor 3 what the first is to read; its exit status is that of claws-ring.", 0};

struct state {
	struct ring ring;
	const struct conf *conf;
	long long deadline;       /* of --max-time; 0: none */
	long long kill_at;        /* end the filters that still run then; 0: not yet */
	long long feeder_at;      /* and then the feeder */
	long long last_signal;
	bool hurry;               /* asked twice: when the feeder has ended, nothing is waited for */
	int signal;               /* the first one */
	struct stage *failed;     /* the first that failed by itself */
	bool reader_gone, killed;
};

static size_t running(const struct state *s)
{
	size_t n = 0;

	for (size_t k = 0; k < s->ring.n; k++)
		n += s->ring.stages[k].pid > 0;
	return n;
}

/* Ask the feeder to end the run: it knows what is under way. */
static void tell_feeder(struct state *s, int sig)
{
	struct stage *f = ring_feeder(&s->ring);

	if (f->pid > 0)
		kill(f->pid, sig);
}

static bool is_spared(const struct state *s, size_t k, enum spared spared)
{
	return (spared >= LAST && k + 1 == s->ring.n) || (spared == FEEDER_AND_LAST && k + 2 == s->ring.n);
}

/* Signals those that run; true if there are some. */
static bool signal_stages(const struct state *s, int sig, enum spared spared)
{
	bool some = false;

	for (size_t k = 0; k < s->ring.n; k++) {
		pid_t pid = s->ring.stages[k].pid;
		siginfo_t info = {0};

		if (pid <= 0 || is_spared(s, k, spared))
			continue;
		kill(pid, sig);
		/* Look without reaping: main's loop does that. */
		some |= waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
	}
	return some;
}

static void end_all(struct state *s, enum spared spared)
{
	long long until = io_now_ms() + KILL_AFTER_MS;
	bool left = signal_stages(s, SIGTERM, spared);

	s->killed = true;
	while (left && io_now_ms() < until) {
		poll(NULL, 0, 5);
		left = signal_stages(s, 0, spared);
	}
	signal_stages(s, SIGKILL, spared);
}

static void reader_gone(struct state *s)
{
	if (s->reader_gone)
		return;
	s->reader_gone = true;
	tell_feeder(s, SIGPIPE);
}

static void on_signal(struct state *s, int sig)
{
	long long now = io_now_ms();

	/* timeout(1) signals its child and then the whole group; a script passes on what the terminal sent to the group. */
	if (s->last_signal && sig == s->signal && now - s->last_signal < ECHO_MS)
		return;
	if (s->last_signal && now - s->last_signal < AGAIN_MS) {
		/* A conversation is interrupted more than once in its life, and at its prompt for nothing: there the feeder,
		 * which knows whether a run is on, acts on the second. */
		if (s->conf->interactive && sig == SIGINT)
			s->hurry = true;
		else
			end_all(s, NOBODY);
	}
	s->last_signal = now;
	if (!s->signal)
		s->signal = sig;
	/* The run is over, and what is left of it is not wanted. */
	if (ring_feeder(&s->ring)->pid <= 0)
		end_all(s, NOBODY);
	/* SIGINT has no number of its own in the feeder, which ignores the terminal's: it hears SIGUSR1. */
	tell_feeder(s, sig == SIGINT ? SIGUSR1 : sig);
}

static void ended(struct state *s, struct stage *st, int status)
{
	struct stage *feeder = ring_feeder(&s->ring), *last = &s->ring.stages[s->ring.n - 1];
	bool by_pipe = WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;

	st->pid = 0;
	st->status = status;
	if (s->killed)
		return;
	/* When the run is over, how a filter ends means nothing. But a feeder that just failed may have seen the end of a
	 * neighbour that is only now reaped: a process's descriptors are closed before its parent can know. */
	if (feeder->pid <= 0 && st != feeder && st != last && status_of_wait(feeder->status) != ST_FAILED)
		return;
	if (!s->failed && status && !by_pipe && st != feeder)
		s->failed = st;
	if (feeder->pid <= 0 && st != feeder && st != last)
		return;
	if (st == last && feeder->pid > 0)
		reader_gone(s);
	if (!s->kill_at)
		s->kill_at = io_now_ms() + GRACE_MS;
	if (st == feeder)
		s->kill_at = io_now_ms() + (s->hurry ? 1 : GRACE_MS);
}

/* Those that are seen to have ended together: the feeder last, for its neighbours' deaths may have caused its own. When it
 * ended well they cannot have. */
static void reap(struct state *s)
{
	struct stage *feeder = ring_feeder(&s->ring);
	int status, last = 0;
	bool over = false;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t k = 0; k < s->ring.n; k++) {
			struct stage *st = &s->ring.stages[k];

			if (st->pid == pid && st == feeder)
				last = status, over = true;
			else if (st->pid == pid)
				st->status = status, st->ended = true;
		}
	if (over && !last)
		ended(s, feeder, last);
	for (size_t k = 0; k < s->ring.n; k++)
		if (s->ring.stages[k].ended) {
			s->ring.stages[k].ended = false;
			ended(s, &s->ring.stages[k], s->ring.stages[k].status);
		}
	if (over && last)
		ended(s, feeder, last);
}

/* Milliseconds until something is due; -1: nothing is. */
static int wait_ms(const struct state *s)
{
	long long now = io_now_ms(), first = -1;
	const long long due[] = {s->deadline, s->kill_at, s->feeder_at};

	for (size_t k = 0; k < sizeof due / sizeof *due; k++)
		if (due[k] && (first < 0 || due[k] - now < first))
			first = due[k] > now ? due[k] - now : 0;
	return first > 60000 ? 60000 : (int)first;
}

static void timers(struct state *s)
{
	long long now = io_now_ms();

	if (s->deadline && now >= s->deadline) {
		s->deadline = 0;
		tell_feeder(s, SIGUSR2);
	}
	if (s->kill_at && now >= s->kill_at) {
		/* The feeder may need longer to close a run in order, and where nothing has failed it waits for a slow
		 * reader. The last stage may show what is left for as long as somebody reads it and nobody says stop. */
		s->kill_at = 0;
		if (s->failed)
			s->feeder_at = now + FEEDER_MS;
		end_all(s, ring_feeder(&s->ring)->pid > 0 ? FEEDER_AND_LAST : s->signal ? NOBODY : LAST);
	}
	if (s->feeder_at && now >= s->feeder_at) {
		s->feeder_at = 0;
		end_all(s, LAST);
	}
}

static void watch(struct state *s, struct sigs *sigs)
{
	while (running(s)) {
		struct pollfd p[2] = {{.fd = sigs->fd, .events = POLLIN}, {.fd = s->reader_gone ? -1 : 1, .events = 0}};
		int sig;

		poll(p, 2, wait_ms(s));
		while ((sig = sig_read(sigs, NULL)) > 0)
			if (sig != SIGCHLD)
				on_signal(s, sig);
		reap(s);
		/* A pipe or socket that nobody reads any more says so before anything is written. */
		if (p[1].revents & (POLLERR | POLLNVAL))
			reader_gone(s);
		timers(s);
	}
}

/* What a stage has started and left behind: a shell that was ended leaves its command, and that would hold our pipes.
 * As the subreaper we have inherited it. What went into a group or session of its own is meant to outlive a ring
 * (keepers), or has a guard that ends it (tools). */
static bool signal_strays(int sig)
{
	pid_t kids[256];
	int n = kids_list(kids, sizeof kids / sizeof *kids);
	bool some = false;

	for (int k = 0; k < n; k++)
		if (getpgid(kids[k]) == getpgrp() && kill(kids[k], sig) == 0 && waitpid(kids[k], NULL, WNOHANG) == 0)
			some = true;
	return some;
}

static void end_strays(void)
{
	long long until = io_now_ms() + KILL_AFTER_MS;
	bool left = signal_strays(SIGTERM);

	while (left && io_now_ms() < until) {
		poll(NULL, 0, 5);
		left = signal_strays(0);
	}
	/* Each one that dies may leave us one of its own. */
	for (int k = 0; left && k < 100; k++) {
		left = signal_strays(SIGKILL);
		poll(NULL, 0, left ? 5 : 0);
	}
}

static int result(struct state *s)
{
	struct stage *feeder = ring_feeder(&s->ring), *last = &s->ring.stages[s->ring.n - 1];
	int status = status_of_wait(feeder->status);

	if (s->failed && !s->conf->quiet)
		warn("stage '%s' failed: %s %d (%s)", s->failed->name, WIFSIGNALED(s->failed->status) ? "signal" : "status",
		     WIFSIGNALED(s->failed->status) ? WTERMSIG(s->failed->status) : WEXITSTATUS(s->failed->status),
		     WIFSIGNALED(s->failed->status) ? strsignal(WTERMSIG(s->failed->status))
		                                    : status_text(WEXITSTATUS(s->failed->status)));
	if (s->signal && status == 0)
		status = 128 + s->signal;
	/* To the feeder a last stage that could not write and one that nobody reads any more look the same. */
	if (status == ST_SIGNAL + SIGPIPE && WIFEXITED(last->status) && WEXITSTATUS(last->status))
		status = WEXITSTATUS(last->status);
	/* The feeder cannot know why a neighbour died: a status that says more than "failed" counts. */
	if (s->failed && (status == ST_FAILED || s->failed == last))
		status = status_worse(status, status_of_wait(s->failed->status));
	return status;
}

int main(int argc, char **argv)
{
	struct conf conf = {0};
	struct state s = {.conf = &conf};
	struct err e = ERR_INIT;
	struct sigs sigs;
	struct sigaction old;
	char number[24];
	int first = opt_parse(&spec, argc, argv, &conf), status;

	process_private();        /* its environment has the keys for claws-stream, as long as it lives */
	if (first == argc)
		opt_usage(&spec, "no commands");
	if (ring_cut(&s.ring, argv + first, &e) < 0)
		opt_usage(&spec, "%s", e.text);
	s.ring.secrets = conf.secrets.v;
	s.ring.nsecrets = conf.secrets.n;
	s.ring.secret_stage = (size_t)conf.secret_stage;
	if (s.ring.secret_stage > s.ring.n)
		opt_usage(&spec, "--secret-stage: there are %zu stages", s.ring.n);
	sigaction(SIGINT, NULL, &old);
	if (old.sa_handler == SIG_IGN && conf.interactive)
		signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	if (sig_open(&sigs, (const int[]){SIGINT, SIGTERM, SIGHUP, SIGCHLD, 0}, &e) < 0)
		die_err(&e);
	snprintf(number, sizeof number, "%ld", (long)getpid());
	setenv("CLAWS_RING", number, 1);
	if (conf.max_time)
		s.deadline = io_now_ms() + conf.max_time;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (ring_start(&s.ring, &e) < 0)
		die_err(&e);
	watch(&s, &sigs);
	end_strays();
	status = result(&s);
	ring_free(&s.ring);
	free(conf.secrets.v);
	return status;
}

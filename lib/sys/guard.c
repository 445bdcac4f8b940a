#include "sys/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/io.h"
#include "sys/kids.h"
#include "sys/sig.h"

#define KIDS_MAX 512
#define HEARD_MAX 256
#define STUCK_MS 2000    /* after KILL: then the owner gets its result */
#define TICK_MS 10       /* between looks while ending */
#define LATE_MS 1000     /* beyond all that the guard itself waits for */

/* What goes through the status pipe; each in one write of less than PIPE_BUF, so whole. */
enum note_kind { NOTE_STARTED, NOTE_FAILED, NOTE_OVER };

struct note {
	enum note_kind kind;
	pid_t command;
	int wstatus, strays, left;
	struct err err;
};

/* RUN: the command runs. TERM: asked to end, or only strays are left. KILL: no mercy. */
enum phase { RUN, TERM, KILL };

struct watcher {           /* the guard's own state */
	int control, status;
	struct sigs sigs;
	long grace_ms;
	pid_t command;
	bool exited;       /* the command, not yet reaped: its pid, and so its group's number, stays ours */
	bool reaped;
	int wstatus;
	enum phase phase;
	long long deadline;
	int strays;
	pid_t heard[HEARD_MAX];   /* strays that got TERM */
	int nheard;
	bool reported;
};

/* A stray's own group: sessions below ours hold only descendants of the command, so the whole of it is meant; one
 * call for a group leaves no gap for a fork in between. */
static void hit(const struct watcher *w, pid_t pid, int sig)
{
	pid_t group = getpgid(pid);

	if (group > 0 && group != getpgrp() && group != w->command)
		kill(-group, sig);
	else
		kill(pid, sig);
	if (sig == SIGTERM)
		kill(pid, SIGCONT);
}

static bool new_to_term(struct watcher *w, pid_t pid)
{
	for (int i = 0; i < w->nheard; i++)
		if (w->heard[i] == pid)
			return false;
	if (w->nheard == HEARD_MAX)
		return false;
	w->heard[w->nheard++] = pid;
	return true;
}

static void note_exit(struct watcher *w)
{
	siginfo_t info = {0};

	if (!w->exited && waitid(P_PID, (id_t)w->command, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid == w->command)
		w->exited = true;
}

/* Reaps strays that have ended, signals the others as the phase demands. Returns how many live; the command does not
 * count once it has exited. -1: cannot tell. */
static int sweep(struct watcher *w)
{
	pid_t kids[KIDS_MAX];
	int n = kids_list(kids, KIDS_MAX), alive = 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = kids[i];
		if (pid == w->command)
			continue;
		if (waitpid(pid, NULL, WNOHANG) == pid) {
			w->strays += w->phase != RUN;
			continue;
		}
		alive++;
		if (w->phase == KILL)
			hit(w, pid, SIGKILL);
		else if (w->phase == TERM && getpgid(pid) != w->command && new_to_term(w, pid))
			hit(w, pid, SIGTERM);   /* the command's own group has heard it; twice means haste to some */
	}
	return n < 0 ? -1 : alive;
}

/* Without /proc: reap whoever comes. */
static int sweep_blind(struct watcher *w)
{
	int wstatus;
	pid_t pid;

	while ((pid = waitpid(-1, &wstatus, WNOHANG)) > 0)
		if (pid == w->command) {
			w->wstatus = wstatus;
			w->reaped = w->exited = true;
		} else {
			w->strays += w->phase != RUN;
		}
	return pid < 0 && errno == ECHILD ? 0 : 1;
}

static void signal_all(struct watcher *w, int sig)
{
	if (w->reaped)
		return;
	kill(-w->command, sig);
	if (sig == SIGTERM)
		kill(-w->command, SIGCONT);
}

static void enter(struct watcher *w, enum phase phase, long ms)
{
	if (w->phase >= phase)
		return;
	if (w->phase == RUN)
		sweep(w);   /* what ended by itself is not a stray that we ended */
	w->phase = phase;
	w->deadline = io_now_ms() + ms;
	signal_all(w, phase == KILL ? SIGKILL : SIGTERM);
}

static void report(struct watcher *w, int left)
{
	struct note note = {.kind = NOTE_OVER, .command = w->command, .strays = w->strays, .left = left};

	if (w->reported)
		return;
	if (!w->reaped && w->exited)
		while (waitpid(w->command, &w->wstatus, 0) < 0 && errno == EINTR)
			;
	w->reaped = w->reaped || w->exited;
	note.wstatus = w->exited ? w->wstatus : SIGKILL;
	io_write_all(w->status, &note, sizeof note, NULL);
	close(w->status);
	w->reported = true;
}

/* One look at everything; true when nothing is left. */
static bool step(struct watcher *w)
{
	int alive;

	if (!w->reaped)
		note_exit(w);
	if (w->exited && w->phase == RUN) {
		pid_t any[2];
		int n = kids_list(any, 2);
		if (n == 1 || (n == 0 && w->reaped))   /* only the command itself: the usual case */
			return true;
		enter(w, TERM, GUARD_STRAY_MS);
	} else if (w->exited && w->phase == TERM && w->deadline > io_now_ms() + GUARD_STRAY_MS) {
		w->deadline = io_now_ms() + GUARD_STRAY_MS;
	}
	if (w->phase == TERM && io_now_ms() >= w->deadline)
		enter(w, KILL, STUCK_MS);
	if (w->phase == KILL)
		signal_all(w, SIGKILL);
	alive = sweep(w);
	if (alive < 0)
		alive = sweep_blind(w);
	if (!w->reaped)
		note_exit(w);
	if (w->exited && alive == 0 && w->phase != RUN)
		return true;
	if (w->phase == KILL && io_now_ms() >= w->deadline)
		report(w, alive + !w->exited);
	return false;
}

static void hear(struct watcher *w, short revents)
{
	char c;
	int sig;
	ssize_t n = 1;

	while ((sig = sig_read(&w->sigs, NULL)) > 0)
		if (sig != SIGCHLD)
			enter(w, TERM, w->grace_ms);
	if (revents)
		n = read(w->control, &c, 1);
	if (revents && (n > 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || n == 0))
		enter(w, TERM, w->grace_ms);
	if (n == 0) {   /* the owner is gone, or has let go */
		close(w->control);
		w->control = -1;
	}
}

static _Noreturn void keep_watch(struct watcher *w)
{
	while (!step(w)) {
		struct pollfd p[2] = {{.fd = w->sigs.fd, .events = POLLIN}, {.fd = w->control, .events = POLLIN}};
		poll(p, 2, w->phase == RUN ? -1 : w->reported ? 20 * TICK_MS : TICK_MS);
		hear(w, p[1].revents);
	}
	report(w, 0);
	_exit(0);
}

/* Our copies of the owner's descriptors would keep its pipes open. */
static void let_go(struct watcher *w)
{
	int keep[3] = {w->control, w->status, w->sigs.fd};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	io_close_others(keep, 3);
	(void)!chdir("/");
	/* The command runs with our rights: it must not trace us, nor read what we were forked with. */
	prctl(PR_SET_DUMPABLE, 0);
}

/* Out of the way of the numbers that the command gets. */
static int move_up(int fd, const struct spawn *s)
{
	int above = 10;

	for (size_t i = 0; i < s->nfds; i++)
		if (s->fds[i].child >= above)
			above = s->fds[i].child + 1;
	return fcntl(fd, F_DUPFD_CLOEXEC, above);
}

struct announce {
	int status;
	const struct spawn *s;
};

/* In the child, before exec: once the command runs it may kill its guard, and then the owner must know the group. */
static int announce(void *arg)
{
	struct announce *a = arg;
	struct note note = {.kind = NOTE_STARTED, .command = getpid()};

	if (io_write_all(a->status, &note, sizeof note, NULL) < 0)
		return errno;
	return a->s->before ? a->s->before(a->s->arg) : 0;
}

static _Noreturn void guard_main(const struct spawn *s, int control, int status, long grace_ms, pid_t owner)
{
	struct spawn mine = *s;
	struct watcher w = {.control = move_up(control, s), .status = move_up(status, s), .grace_ms = grace_ms};
	struct announce hello = {w.status, s};
	struct note note = {.kind = NOTE_FAILED, .err = ERR_INIT};
	struct sigaction act = {.sa_handler = SIG_DFL};

	close(control);
	close(status);
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &act, NULL);
	act.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &act, NULL);
	setsid();
	prctl(PR_SET_NAME, "claws-guard");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	mine.group = SPAWN_SESSION;
	mine.death_signal = SIGKILL;
	mine.before = announce;
	mine.arg = &hello;
	if (sig_open(&w.sigs, (const int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, 0}, &note.err) == 0) {
		if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
			err_sys(&note.err, "cannot guard '%s'", s->argv[0]);
		else if (getppid() == owner)
			w.command = spawn_start(&mine, &note.err);
	}
	if (w.command <= 0) {
		if (!note.err.status)
			err_set(&note.err, ST_FAILED, "cannot guard '%s': the caller is gone", s->argv[0]);
		io_write_all(w.status, &note, sizeof note, NULL);
		_exit(0);
	}
	let_go(&w);
	keep_watch(&w);
}

int guard_start(struct guard *g, const struct spawn *s, long grace_ms, struct err *e)
{
	int control[2], status[2];
	sigset_t all, before;
	pid_t owner = getpid();

	*g = (struct guard){.fd = -1, .control = -1, .grace_ms = grace_ms};
	if (io_pipe(control, e) < 0)
		return -1;
	if (io_pipe(status, e) < 0) {
		close(control[0]);
		close(control[1]);
		return -1;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	g->pid = fork();
	if (g->pid == 0) {
		close(control[1]);
		close(status[0]);
		guard_main(s, control[0], status[1], grace_ms, owner);
	}
	int why = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(control[0]);
	close(status[1]);
	g->control = control[1];
	g->fd = status[0];
	if (g->pid < 0) {
		close(g->control);
		close(g->fd);
		g->fd = g->control = -1;
		errno = why;
		return err_sys(e, "cannot run '%s': no new process", s->argv[0]);
	}
	return io_nonblock(g->fd, true, e);
}

void guard_stop(struct guard *g)
{
	/* One byte in an empty pipe does not block; a guard that is gone gives EPIPE, whose signal nobody wants. */
	sigset_t pipe_only, before, pending;

	if (g->control < 0)
		return;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe_only, &before);
	if (write(g->control, "s", 1) < 0 && errno == EPIPE && sigpending(&pending) == 0 &&
		sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_only, NULL, &(struct timespec){0, 0});
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(g->control);   /* end of file says the same again, should the byte be lost */
	g->control = -1;
	if (g->pid > 0)
		kill(g->pid, SIGCONT);
	g->force_at = io_now_ms() + g->grace_ms + STUCK_MS + LATE_MS;
}

int guard_wait_ms(const struct guard *g)
{
	long long left = g->force_at - io_now_ms();

	return !g->force_at ? -1 : left > 0 ? (int)left : 0;
}

static void reap(struct guard *g, int flags)
{
	pid_t r;

	while ((r = waitpid(g->pid, NULL, flags)) < 0 && errno == EINTR)
		;
	if (r != 0)
		g->pid = 0;
}

int guard_read(struct guard *g, struct guard_result *r)
{
	struct note note;
	ssize_t n;

	for (;;) {
		n = read(g->fd, &note, sizeof note);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (guard_wait_ms(g) != 0)
				return 0;
			if (g->pid > 0)
				kill(g->pid, SIGKILL);
			break;
		}
		if (n != sizeof note)
			break;
		if (note.kind == NOTE_STARTED) {
			g->command = note.command;
			continue;
		}
		*r = (struct guard_result){.wstatus = note.wstatus, .strays = note.strays, .left = note.left,
			.err = note.err};
		reap(g, note.left ? WNOHANG : 0);
		return 1;
	}
	if (g->command > 0)
		kill(-g->command, SIGKILL);
	*r = (struct guard_result){.wstatus = SIGKILL, .lost = true, .err = ERR_INIT};
	reap(g, 0);
	return 1;
}

void guard_free(struct guard *g)
{
	if (g->control >= 0)
		close(g->control);
	if (g->fd >= 0)
		close(g->fd);
	if (g->pid > 0)
		reap(g, WNOHANG);
	g->fd = g->control = -1;
}

/* One call, one child process: forked without exec, so that a crash or a leak of a tool costs one call. What it reports comes
 * over a pipe in frames: a letter, the length (4 bytes, ours), the bytes.
 *
 *   'o', 'e'   what the tool prints on stdout, stderr, as it comes
 *   'r'        its result, one JSON object; the last frame
 *
 * The child dies with us (PR_SET_PDEATHSIG), and what it started with it (sys/guard.h). */
#include "claws-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define HEAD_SIZE 5

/* ---- in the child ---- */

static void send_frame(int fd, char kind, const char *p, size_t n)
{
	char head[HEAD_SIZE];
	uint32_t len = (uint32_t)n;

	head[0] = kind;
	memcpy(head + 1, &len, sizeof len);
	if (io_write_all(fd, head, sizeof head, NULL) < 0 || io_write_all(fd, p, n, NULL) < 0)
		_exit(1);
}

static void child_output(void *arg, const char *stream, const char *text, size_t n)
{
	const int *fd = arg;

	if (n < FRAME_MAX)
		send_frame(*fd, !strcmp(stream, "stderr") ? 'e' : 'o', text, n);
}

static void send_result(int fd, const struct tool_result *r)
{
	struct buf b;
	struct jw w;

	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstrn(&w, "text", r->text.p, r->text.len);
	jw_kbool(&w, "is_error", r->is_error);
	jw_kstr(&w, "status", r->status);
	if (r->origin)
		jw_kstr(&w, "origin", r->origin);
	if (r->change.path) {
		jw_kstr(&w, "path", r->change.path);
		jw_kstr(&w, "op", r->change.op);
		if (r->change.before)
			jw_kstr(&w, "before", r->change.before);
		if (r->change.after)
			jw_kstr(&w, "after", r->change.after);
	}
	jw_end(&w);
	send_frame(fd, 'r', b.p, b.len);
	buf_free(&b);
}

/* Only the pipe and the blob directory stay: an open end of our input, our output or another call's pipe would keep
 * it from ending. */
static void keep_only(int *pipe, int *blobs)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), p, b = -1;

	dup2(null, 0);
	dup2(null, 1);
	p = fcntl(*pipe, F_DUPFD_CLOEXEC, 100);
	if (*blobs >= 0)
		b = fcntl(*blobs, F_DUPFD_CLOEXEC, 100);
	if (p < 0)
		_exit(1);
	if (syscall(SYS_close_range, 3, 99, 0) < 0)
		for (int fd = 3; fd < 100; fd++)
			close(fd);
	/* 3 and 4 are free now; above them nothing may stay open. */
	*pipe = fcntl(p, F_DUPFD_CLOEXEC, 3);
	*blobs = b < 0 ? -1 : fcntl(b, F_DUPFD_CLOEXEC, 3);
	if (syscall(SYS_close_range, 5, ~0U, 0) < 0)
		for (int fd = 5; fd < 1024; fd++)
			close(fd);
}

/* The roots of this call. What the gate allowed beyond them (a rule, a person) becomes one: the directory that the path is in,
 * since the tool's own check knows only of roots. */
static const char *const *roots_for(const struct host *h, const struct call *c)
{
	const struct where *at = &c->verdict.at;
	struct stat st;
	size_t n = 0;
	const char **v;
	char *extra;

	if ((at->place != PLACE_OUTSIDE && at->place != PLACE_PROTECTED) || !at->resolved)
		return h->ctx.roots;
	extra = xstrdup(at->resolved);
	while (strlen(extra) > 1 && (stat(extra, &st) < 0 || !S_ISDIR(st.st_mode))) {
		char *slash = strrchr(extra, '/');
		slash[slash == extra] = 0;
	}
	while (h->ctx.roots[n])
		n++;
	v = xcalloc(n + 2, sizeof *v);
	memcpy(v, h->ctx.roots, n * sizeof *v);
	v[n] = extra;
	return v;
}

struct denied_by {
	const struct gate *g;
	const char *tool;
};

/* Rules that deny hold for each file that a search comes by, too. */
static bool denied_by_rule(void *arg, const char *path)
{
	const struct denied_by *d = arg;
	struct rule_use use = {.tool = d->tool, .cwd = d->g->cwd, .home = d->g->permit.home, .path = path, .resolved = path};

	return rules_match(&d->g->permit.rules, RULE_DENY, &use) != NULL;
}

_Noreturn static void child(struct host *h, const struct call *c, int fd, pid_t parent)
{
	struct tool_ctx ctx = h->ctx;
	struct denied_by by = {&h->gate, c->name};
	struct tool_result r;
	tool_fn *fn;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	keep_only(&fd, &ctx.blobs);
	gate_mark(&h->gate);
	ctx.roots = roots_for(h, c);
	ctx.judged = c->verdict.at.resolved;
	ctx.protected_ok = c->verdict.at.place == PLACE_PROTECTED;
	ctx.denied = denied_by_rule;
	ctx.denied_arg = &by;
	ctx.timeout_ms = c->tool->timeout_ms;
	ctx.output = child_output;
	ctx.arg = &fd;
	tool_result_init(&r);
	fn = c->tool->builtin ? builtin_find(c->name) : NULL;
	if (fn)
		fn(&ctx, &c->json, 0, &r);
	else if (c->tool->exec)
		external_run(c->tool, &ctx, c->input, &c->json, &r);
	else
		tool_fail(&r, "this claws has no built-in tool '%s'", c->name);
	send_result(fd, &r);
	_exit(0);
}

/* ---- here ---- */

/* We ignore SIGTERM, and the child would until it gets to say otherwise: runner_stop's would be lost on it. Blocked signals
 * wait, ignored or not (signal(7)); the child restores `before`. */
static pid_t fork_held(sigset_t *before)
{
	sigset_t term;
	pid_t pid;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, before);
	pid = fork();
	if (pid != 0)
		sigprocmask(SIG_SETMASK, before, NULL);
	return pid;
}

int runner_start(struct host *h, struct call *c, struct err *e)
{
	int p[2];
	pid_t parent = getpid();
	sigset_t before;

	if (h->stage)
		stage_flush(h->stage);
	if (io_pipe(p, e) < 0)
		return -1;
	if (io_nonblock(p[0], true, e) < 0 || (c->run.pid = fork_held(&before)) < 0) {
		err_sys(e, "a process for the tool");
		close(p[0]);
		close(p[1]);
		c->run.pid = 0;
		return -1;
	}
	if (c->run.pid == 0) {
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		child(h, c, p[1], parent);
	}
	close(p[1]);
	c->run.fd = p[0];
	c->run.started = io_now_ms();
	c->run.deadline = c->run.started + call_limit_ms(c) + BACKSTOP_MS;
	c->started = true;
	buf_init(&c->run.in, FRAME_MAX + HEAD_SIZE);
	return 0;
}

static char *member(const struct json *j, const char *key)
{
	return json_dup(j, json_get(j, 0, key));
}

static void take_result(struct call *c, const char *p, size_t n)
{
	struct json j = JSON_INIT;
	char *s;

	if (json_parse(&j, p, n, NULL) < 0) {
		json_free(&j);
		return;
	}
	buf_clear(&c->text);
	json_str(&j, json_get(&j, 0, "text"), &c->text);
	c->is_error = json_true(&j, json_get(&j, 0, "is_error"));
	s = member(&j, "status");
	snprintf(c->status, sizeof c->status, "%s", s ? s : "ok");
	free(s);
	s = member(&j, "origin");
	snprintf(c->origin, sizeof c->origin, "%s", s ? s : "");
	free(s);
	c->change_path = member(&j, "path");
	c->change_op = member(&j, "op");
	c->change_before = member(&j, "before");
	c->change_after = member(&j, "after");
	json_free(&j);
	c->done = true;
}

static void take_frames(struct host *h, struct call *c)
{
	struct buf *b = &c->run.in;
	size_t at = 0;
	uint32_t len;

	while (b->len - at >= HEAD_SIZE) {
		const char *body = b->p + at + HEAD_SIZE;
		char kind = b->p[at];
		memcpy(&len, b->p + at + 1, sizeof len);
		if (len > FRAME_MAX || b->len - at - HEAD_SIZE < len)
			break;
		if (kind == 'r')
			take_result(c, body, len);
		else
			report_output(h, c, kind == 'e' ? "stderr" : "stdout", body, len);
		at += HEAD_SIZE + len;
	}
	buf_cut(b, at);
}

/* The child is over, or is being killed: what is to be said if it left no result. */
static void over(struct host *h, struct call *c, int wstatus)
{
	if (c->done)
		;
	else if (c->run.late && !c->run.told)
		call_finish(c, true, "timeout", "timed out after %ld s and was killed", call_limit_ms(c) / 1000);
	else if (h->stopped || c->run.told)
		call_finish(c, true, "interrupted", "interrupted by user");
	else if (WIFSIGNALED(wstatus))
		call_finish(c, true, "error", "the tool crashed: %s", spawn_signal_name(WTERMSIG(wstatus)));
	else
		call_finish(c, true, "error", "the tool ended without a result");
	/* Ended by our own stop, whatever it made of it: the model is to know. */
	if (c->run.told && !strcmp(c->status, "interrupted") && !strstr(c->text.p, "interrupted by user"))
		buf_insert(&c->text, 0, "interrupted by user\n", 20);
}

void runner_read(struct host *h, struct call *c)
{
	struct runner *r = &c->run;
	char piece[65536];
	ssize_t n;
	int wstatus = 0;

	n = read(r->fd, piece, sizeof piece);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && buf_add(&r->in, piece, (size_t)n) == 0) {
		take_frames(h, c);
		if (!c->done)
			return;
	}
	/* A result, the end of the pipe, or more than a frame may have: nothing after that counts. */
	if (!c->done)
		kill(r->pid, SIGKILL);
	while (waitpid(r->pid, &wstatus, 0) < 0 && errno == EINTR)
		;
	close(r->fd);
	buf_free(&r->in);
	r->fd = -1;
	r->pid = 0;
	over(h, c, wstatus);
}

void runner_stop(struct call *c)
{
	long long limit = io_now_ms() + ENDING_MS;

	if (!c->run.pid || c->run.told)
		return;
	c->run.told = true;
	kill(c->run.pid, SIGTERM);
	if (c->run.deadline > limit)
		c->run.deadline = limit;
}

void runner_overdue(struct call *c, long long now)
{
	if (!c->run.pid || now < c->run.deadline)
		return;
	c->run.late = true;
	c->run.deadline = now + 1000;
	kill(c->run.pid, SIGKILL);       /* its pipe ends, and runner_read does the rest */
}

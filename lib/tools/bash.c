/* Bash: a shell command, guarded, with a scrubbed environment, bounded output and a limit of time. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "sys/capture.h"
#include "sys/env.h"
#include "sys/guard.h"
#include "sys/io.h"
#include "sys/limits.h"
#include "sys/sig.h"
#include "tools/tool.h"

#define COMMAND_MAX 65536
#define TIMEOUT_S 30
#define TIMEOUT_MAX_S 600
#define HEARD_MAX ((size_t)1 << 20)   /* bytes of each stream that are heard while it runs */
#define PIECE 65536
#define DRAIN_PIECES 32               /* more than a pipe holds: fcntl(2) F_SETPIPE_SZ is 1 MiB for users */

extern char **environ;

struct stream {
	int fd;
	const char *name;
	struct capture cap;
	char carry[4];         /* the start of a character whose rest has not come */
	size_t ncarry, heard;
};

struct run {
	const struct tool_ctx *c;
	struct stream out, err;
	struct guard guard;
	struct guard_result res;
	struct sigs sigs;
	long limit_ms;
	bool timed_out, interrupted;
	char piece[PIECE];
};

static void say(const struct tool_ctx *c, struct stream *s, const char *p, size_t n)
{
	struct buf text;

	if (!n)
		return;
	buf_init(&text, BUF_NOLIMIT);
	capture_valid(&text, p, n);
	c->output(c->arg, s->name, text.p, text.len);
	buf_free(&text);
}

/* Hands on whole characters; the rest waits for the next piece. */
static void hear(const struct tool_ctx *c, struct stream *s, const char *p, size_t n, bool end)
{
	struct buf all;

	if (!c->output || s->heard > HEARD_MAX)
		return;
	s->heard += n;
	if (s->heard > HEARD_MAX) {
		static const char more[] = "\n[more output is not shown while it runs]\n";
		c->output(c->arg, s->name, more, sizeof more - 1);
		return;
	}
	buf_init(&all, BUF_NOLIMIT);
	buf_add(&all, s->carry, s->ncarry);
	buf_add(&all, p, n);
	size_t whole = end ? all.len : utf8_cut(all.p, all.len);
	if (all.len - whole > sizeof s->carry)
		whole = all.len;
	say(c, s, all.p, whole);
	s->ncarry = all.len - whole;
	memcpy(s->carry, all.p + whole, s->ncarry);
	buf_free(&all);
}

/* One read(2). 1 something came, 0 nothing now, -1 the end. */
static int take(struct run *r, struct stream *s)
{
	ssize_t n = read(s->fd, r->piece, PIECE);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		close(s->fd);
		s->fd = -1;
		return -1;
	}
	capture_add(&s->cap, r->piece, (size_t)n);
	hear(r->c, s, r->piece, (size_t)n, false);
	return 1;
}

/* What is still in the pipe once the command is over; a process that could not be ended may write on for ever. */
static void drain(struct run *r, struct stream *s)
{
	for (int i = 0; i < DRAIN_PIECES && s->fd >= 0; i++)
		if (take(r, s) <= 0)
			break;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	hear(r->c, s, "", 0, true);
}

static void attend(struct run *r)
{
	long long until = io_now_ms() + r->limit_ms;

	for (;;) {
		long long left = until - io_now_ms();
		bool ending = r->timed_out || r->interrupted;
		struct pollfd p[4] = {
			{.fd = r->out.fd, .events = POLLIN}, {.fd = r->err.fd, .events = POLLIN},
			{.fd = r->guard.fd, .events = POLLIN}, {.fd = r->sigs.fd, .events = POLLIN},
		};

		poll(p, 4, ending ? guard_wait_ms(&r->guard) : left > 0 ? (int)left : 0);
		if (p[0].revents)
			take(r, &r->out);
		if (p[1].revents)
			take(r, &r->err);
		if (p[3].revents && sig_read(&r->sigs, NULL) > 0 && !ending) {
			r->interrupted = true;
			guard_stop(&r->guard);
		} else if (!ending && io_now_ms() >= until) {
			r->timed_out = true;
			guard_stop(&r->guard);
		}
		if ((p[2].revents || ending) && guard_read(&r->guard, &r->res))
			break;
	}
	drain(r, &r->out);
	drain(r, &r->err);
}

static int start(struct run *r, const char *command, struct err *e)
{
	const char *argv[] = {"/bin/sh", "-c", command, NULL};
	int out[2] = {-1, -1}, err[2] = {-1, -1}, done = -1;
	struct spawn_limits limits;
	struct env env;

	if (limits_from_env(&limits, e) < 0)
		return -1;
	limits.no_core = true;
	env_scrubbed(&env, environ, getenv("CLAWS_TOOL_ENV"));
	env_set(&env, "PWD", r->c->cwd);
	if (io_pipe(out, e) == 0 && io_pipe(err, e) == 0) {
		struct spawn_fd fds[] = {{0, SPAWN_NULL}, {1, out[1]}, {2, err[1]}};
		struct spawn s = {.argv = argv, .env = env_vector(&env), .cwd = r->c->cwd, .fds = fds, .nfds = 3,
			.limits = &limits};
		done = guard_start(&r->guard, &s, GUARD_GRACE_MS, e);
	}
	env_free(&env);
	if (out[1] >= 0)
		close(out[1]);
	if (err[1] >= 0)
		close(err[1]);
	r->out.fd = out[0];
	r->err.fd = err[0];
	if (done == 0 && (io_nonblock(out[0], true, e) < 0 || io_nonblock(err[0], true, e) < 0)) {
		guard_free(&r->guard);
		done = -1;
	}
	return done;
}

/* Programs that wanted a person: say that there is none, or the model will try again in the same way. */
static bool wanted_terminal(const struct stream *s)
{
	static const char *const signs[] = {"/dev/tty", "a terminal is required", "not a tty", "not a terminal",
		"no tty present", "could not read Username", "could not read Password", "assword:", "assword for",
		"Host key verification failed", NULL};

	for (const char *const *sign = signs; *sign; sign++)
		if (strstr(s->cap.head.p, *sign))
			return true;
	return false;
}

static void new_line(struct buf *b)
{
	if (b->len && b->p[b->len - 1] != '\n')
		buf_addc(b, '\n');
}

static void add_output(struct run *r, struct buf *text)
{
	size_t max = r->c->output_max, third = max / 3;
	size_t out = capture_size(&r->out.cap), err = capture_size(&r->err.cap);

	/* stdout may take what stderr does not need, but a third is kept for stderr; and the other way round. */
	if (out > max || err > max || out + err > max) {
		size_t spare = out < max - third ? max - out : third;
		err = err < spare ? err : spare;
		out = max - err;
	}
	if (r->out.cap.total)
		capture_text(&r->out.cap, out, r->c->blob_path, text);
	if (r->err.cap.total) {
		new_line(text);
		buf_adds(text, "[stderr]\n");
		capture_text(&r->err.cap, err, r->c->blob_path, text);
	}
	if (!text->len)
		buf_adds(text, "(no output)");
}

static void add_ending(struct run *r, struct tool_result *t)
{
	int w = r->res.wstatus;
	bool failed = true;

	new_line(&t->text);
	if (r->timed_out)
		buf_addf(&t->text, "[timed out after %ld %s (process group killed)]\n",
			r->limit_ms % 1000 ? r->limit_ms : r->limit_ms / 1000, r->limit_ms % 1000 ? "ms" : "s");
	else if (r->interrupted)
		buf_adds(&t->text, "[interrupted (process group killed)]\n");
	else if (r->res.lost)
		buf_adds(&t->text, "[killed by SIGKILL together with its guard]\n");
	else if (WIFSIGNALED(w))
		buf_addf(&t->text, "[killed by signal %s]\n", spawn_signal_name(WTERMSIG(w)));
	else if (WEXITSTATUS(w))
		buf_addf(&t->text, "[exit status %d]\n", WEXITSTATUS(w));
	else
		failed = false;
	if (failed && !r->interrupted && (wanted_terminal(&r->err) || wanted_terminal(&r->out)))
		buf_adds(&t->text, "[there is no terminal and no stdin here: give input as arguments, files or a pipe; "
			"passwords cannot be entered]\n");
	if (r->res.strays && !r->timed_out && !r->interrupted)
		buf_addf(&t->text, "[%d process%s left in the background ended with the call]\n", r->res.strays,
			r->res.strays == 1 ? "" : "es");
	if (r->res.left)
		buf_addf(&t->text, "[%d process%s could not be ended]\n", r->res.left, r->res.left == 1 ? "" : "es");
	while (t->text.len && t->text.p[t->text.len - 1] == '\n')
		buf_truncate(&t->text, t->text.len - 1);
	t->is_error = failed;
	t->status = r->timed_out ? "timeout" : r->interrupted ? "interrupted" : failed ? "error" : "ok";
	t->origin = "file";
}

static void run(const struct tool_ctx *c, const char *command, long limit_ms, struct tool_result *t)
{
	struct run r;
	struct err e = ERR_INIT;

	memset(&r, 0, offsetof(struct run, piece));
	r.c = c;
	r.limit_ms = limit_ms;
	r.out.name = "stdout";
	r.err.name = "stderr";
	r.out.fd = r.err.fd = r.sigs.fd = -1;
	if (sig_open(&r.sigs, (const int[]){SIGTERM, SIGINT, SIGHUP, 0}, &e) < 0 || start(&r, command, &e) < 0) {
		tool_fail(t, "%s", e.text);
	} else {
		capture_init(&r.out.cap, c->output_max, c->blobs, CAPTURE_SPILL);
		capture_init(&r.err.cap, c->output_max, c->blobs, CAPTURE_SPILL);
		attend(&r);
		guard_free(&r.guard);
		capture_end(&r.out.cap);
		capture_end(&r.err.cap);
		buf_clear(&t->text);
		if (r.res.err.status) {
			tool_fail(t, "%s", r.res.err.text);
		} else {
			add_output(&r, &t->text);
			add_ending(&r, t);
		}
		capture_free(&r.out.cap);
		capture_free(&r.err.cap);
	}
	if (r.out.fd >= 0)
		close(r.out.fd);
	if (r.err.fd >= 0)
		close(r.err.fd);
	sig_close(&r.sigs);
}

void tool_bash(const struct tool_ctx *c, const struct json *j, int input, struct tool_result *t)
{
	int v = json_get(j, input, "timeout");
	long limit_ms = c->timeout_ms > 0 ? c->timeout_ms : TIMEOUT_S * 1000L;
	int64_t seconds;
	struct buf command;

	buf_init(&command, COMMAND_MAX);
	if (v >= 0 && json_type(j, v) != JSON_NULL) {
		if (json_i64(j, v, &seconds) < 0 || seconds < 1 || seconds > TIMEOUT_MAX_S) {
			tool_fail(t, "timeout: a whole number of seconds from 1 to %d is expected", TIMEOUT_MAX_S);
			goto out;
		}
		limit_ms = (long)seconds * 1000;
	}
	v = json_get(j, input, "command");
	if (json_type(j, v) != JSON_STRING)
		tool_fail(t, "command: a string is expected");
	else if (json_str(j, v, &command) < 0)
		tool_fail(t, "command: longer than %d bytes; write a script file with Write and run that", COMMAND_MAX);
	else if (strlen(command.p) != command.len)
		tool_fail(t, "command: contains a NUL byte, which no command can");
	else if (!command.p[strspn(command.p, " \t\r\n")])
		tool_fail(t, "command: empty");
	else
		run(c, command.p, limit_ms, t);
out:
	buf_free(&command);
}

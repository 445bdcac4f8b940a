#include "tools/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "sys/io.h"
#include "sys/limits.h"
#include "sys/spawn.h"

#define DRAIN_PIECES 32   /* more than a pipe holds: fcntl(2) F_SETPIPE_SZ is 1 MiB for users */

static void say(const struct tool_ctx *c, struct command_stream *s, const char *p, size_t n)
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
static void hear(const struct tool_ctx *c, struct command_stream *s, const char *p, size_t n, bool end)
{
	struct buf all;
	size_t whole;

	if (!c->output || s->heard > COMMAND_HEARD)
		return;
	s->heard += n;
	if (s->heard > COMMAND_HEARD) {
		static const char more[] = "\n[more output is not shown while it runs]\n";

		c->output(c->arg, s->name, more, sizeof more - 1);
		return;
	}
	buf_init(&all, BUF_NOLIMIT);
	buf_add(&all, s->carry, s->ncarry);
	buf_add(&all, p, n);
	whole = end ? all.len : utf8_cut(all.p, all.len);
	if (all.len - whole > sizeof s->carry)
		whole = all.len;
	say(c, s, all.p, whole);
	s->ncarry = all.len - whole;
	memcpy(s->carry, all.p + whole, s->ncarry);
	buf_free(&all);
}

/* One read(2). 1 something came, 0 nothing now, -1 the end. */
static int take(struct command *r, struct command_stream *s)
{
	ssize_t n = read(s->fd, r->piece, sizeof r->piece);

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

/* What is still in the pipe once the program is over; a process that could not be ended may write on for ever. */
static void drain(struct command *r, struct command_stream *s)
{
	for (int i = 0; i < DRAIN_PIECES && s->fd >= 0; i++)
		if (take(r, s) <= 0)
			break;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	hear(r->c, s, "", 0, true);
}

static void attend(struct command *r, long limit_ms)
{
	long long until = io_now_ms() + limit_ms;

	for (;;) {
		long long left = until - io_now_ms();
		bool ending = r->timed_out || r->interrupted;
		struct pollfd p[] = {
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

static int start(struct command *r, const struct command_spec *spec, struct err *e)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, done = -1;
	struct spawn_limits limits;

	if (limits_from_env(&limits, e) < 0)
		return -1;
	limits.no_core = true;
	if (io_pipe(out, e) == 0 && io_pipe(err, e) == 0) {
		struct spawn_fd fds[] = {{0, spec->in}, {1, out[1]}, {2, err[1]}};
		struct spawn s = {.argv = spec->argv, .env = spec->env, .cwd = r->c->cwd, .fds = fds, .nfds = 3,
		                  .limits = &limits};

		done = guard_start(&r->guard, &s, GUARD_GRACE_MS, e);
	}
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

int command_run(struct command *r, const struct tool_ctx *c, const struct command_spec *s, struct err *e)
{
	memset(r, 0, offsetof(struct command, piece));
	r->c = c;
	r->out.name = "stdout";
	r->err.name = "stderr";
	r->out.fd = r->err.fd = r->sigs.fd = -1;
	capture_init(&r->out.cap, c->output_max, c->blobs, CAPTURE_SPILL);
	capture_init(&r->err.cap, s->err_max ? s->err_max : c->output_max, s->err_max ? -1 : c->blobs,
	             s->err_max ? 0 : CAPTURE_SPILL);
	if (sig_open(&r->sigs, (const int[]){SIGTERM, SIGINT, SIGHUP, 0}, e) < 0 || start(r, s, e) < 0)
		return -1;
	attend(r, s->limit_ms);
	guard_free(&r->guard);
	capture_end(&r->out.cap);
	capture_end(&r->err.cap);
	return 0;
}

void command_free(struct command *r)
{
	if (r->out.fd >= 0)
		close(r->out.fd);
	if (r->err.fd >= 0)
		close(r->err.fd);
	if (r->sigs.fd >= 0)
		sig_close(&r->sigs);
	capture_free(&r->out.cap);
	capture_free(&r->err.cap);
}

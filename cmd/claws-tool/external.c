/* A tool that is a program: arguments on stdin, result on stdout, its status says whether it went well. */
#include "claws-tool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/capture.h"
#include "sys/env.h"
#include "sys/guard.h"
#include "sys/io.h"
#include "sys/limits.h"
#include "sys/sig.h"

#define STDERR_MAX 4000
#define HEARD_MAX ((size_t)256 << 10)     /* bytes that are shown while it runs */
#define ARG_MAX_ONE ((size_t)100 << 10)   /* execve(2): one string of the environment may have 128 KiB */
#define ARG_MAX_ALL ((size_t)512 << 10)
#define DRAIN_PIECES 32

extern char **environ;

struct flow {
	int fd;
	const char *name;
	struct capture cap;
	struct buf carry;                 /* the start of a character that is not whole yet */
	size_t heard;
};

struct job {
	const struct tool_ctx *c;
	struct flow out, err;
	struct guard guard;
	struct guard_result res;
	struct sigs sigs;
	bool timed_out, interrupted;
};

static void hear(struct job *r, struct flow *f, const char *p, size_t n)
{
	struct buf text;
	size_t whole;

	if (!r->c->output || f->heard > HEARD_MAX)
		return;
	f->heard += n;
	buf_add(&f->carry, p, n);
	whole = utf8_cut(f->carry.p, f->carry.len);
	buf_init(&text, BUF_NOLIMIT);
	utf8_repair(&text, f->carry.p, whole);
	if (f->heard > HEARD_MAX)
		buf_adds(&text, "\n[more output is not shown while it runs]\n");
	if (text.len)
		r->c->output(r->c->arg, f->name, text.p, text.len);
	buf_cut(&f->carry, whole);
	buf_free(&text);
}

static int take(struct job *r, struct flow *f)
{
	char piece[65536];
	ssize_t n = read(f->fd, piece, sizeof piece);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		close(f->fd);
		f->fd = -1;
		return -1;
	}
	capture_add(&f->cap, piece, (size_t)n);
	hear(r, f, piece, (size_t)n);
	return 1;
}

static void drain(struct job *r, struct flow *f)
{
	for (int i = 0; i < DRAIN_PIECES && f->fd >= 0 && take(r, f) > 0; i++)
		;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static void attend(struct job *r)
{
	long long until = io_now_ms() + r->c->timeout_ms;

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

/* CLAWS_ARG_name for each scalar at the top. Characters that no variable can have become _; what is too long for the
 * environment is on stdin only. */
static void set_args(struct env *v, const struct json *j)
{
	size_t all = 0;

	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		enum json_type t = json_type(j, it.value);
		size_t n;
		const char *raw = json_raw(j, it.value, &n);
		char *key, *name, *value;
		if (t != JSON_STRING && t != JSON_NUMBER && t != JSON_BOOL)
			continue;
		key = json_dup(j, it.key);
		value = t == JSON_STRING ? json_dup(j, it.value) : xstrndup(raw, n);
		for (char *s = key; *s; s++)
			if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9')))
				*s = '_';
		name = xasprintf("CLAWS_ARG_%s", key);
		n = strlen(name) + strlen(value);
		if (n < ARG_MAX_ONE && all + n < ARG_MAX_ALL && !env_get(v, name)) {
			env_set(v, name, value);
			all += n;
		}
		free(key);
		free(name);
		free(value);
	}
}

/* An unnamed file: it can be as long as it likes, nobody has to feed it, and /dev/stdin opens. */
static int input_file(const char *input, struct err *e)
{
	int fd = memfd_create("claws-tool-input", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "input for the tool");
	if (io_write_all(fd, input, strlen(input), e) < 0 || io_write_all(fd, "\n", 1, e) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void clean_env(struct env *v, const struct manifest *t, const struct json *j, const char *cwd)
{
	struct env own;

	/* What stands in our own environment as CLAWS_ARG_ is not an argument of this call. */
	env_scrubbed(&own, environ, getenv("CLAWS_TOOL_ENV"));
	env_init(v);
	for (const char *const *s = env_vector(&own); *s; s++) {
		char *name = xstrndup(*s, strcspn(*s, "="));
		if (strncmp(name, "CLAWS_ARG_", 10))
			env_set(v, name, *s + strlen(name) + 1);
		free(name);
	}
	env_free(&own);
	env_set(v, "PWD", cwd);
	env_set(v, "CLAWS_TOOL", t->name);
	set_args(v, j);
}

static int start(struct job *r, const struct manifest *t, const char *input, const struct json *j, struct err *e)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, in = input_file(input, e), done = -1;
	struct spawn_limits limits;
	struct env env;

	if (in < 0 || limits_from_env(&limits, e) < 0)
		goto out;
	limits.no_core = true;
	clean_env(&env, t, j, r->c->cwd);
	if (io_pipe(out, e) == 0 && io_pipe(err, e) == 0) {
		struct spawn_fd fds[] = {{0, in}, {1, out[1]}, {2, err[1]}};
		struct spawn s = {.argv = (const char *const *)t->exec, .env = env_vector(&env), .cwd = r->c->cwd, .fds = fds,
			.nfds = 3, .limits = &limits};
		done = guard_start(&r->guard, &s, GUARD_GRACE_MS, e);
	}
	env_free(&env);
	r->out.fd = out[0];
	r->err.fd = err[0];
	if (done == 0 && (io_nonblock(out[0], true, e) < 0 || io_nonblock(err[0], true, e) < 0)) {
		guard_free(&r->guard);
		done = -1;
	}
out:
	if (in >= 0)
		close(in);
	if (out[1] >= 0)
		close(out[1]);
	if (err[1] >= 0)
		close(err[1]);
	return done;
}

static void new_line(struct buf *b)
{
	if (b->len && b->p[b->len - 1] != '\n')
		buf_addc(b, '\n');
}

static void write_result(struct job *r, struct tool_result *t)
{
	int w = r->res.wstatus;

	t->is_error = true;
	t->status = "error";
	capture_text(&r->out.cap, r->c->output_max, r->c->blob_path, &t->text);
	if (r->timed_out) {
		t->status = "timeout";
		new_line(&t->text);
		buf_addf(&t->text, "[timed out after %ld s and was ended]\n", r->c->timeout_ms / 1000);
	} else if (r->interrupted) {
		t->status = "interrupted";
	} else if (WIFSIGNALED(w)) {
		new_line(&t->text);
		buf_addf(&t->text, "[killed by %s]\n", spawn_signal_name(WTERMSIG(w)));
	} else if (WEXITSTATUS(w)) {
		new_line(&t->text);
		buf_addf(&t->text, "[exit status %d]\n", WEXITSTATUS(w));
	} else {
		t->is_error = false;
		t->status = "ok";
		if (!t->text.len)
			buf_adds(&t->text, "(no output)");
	}
	if (t->is_error && r->err.cap.total) {
		buf_adds(&t->text, "[stderr]\n");
		capture_text(&r->err.cap, STDERR_MAX, NULL, &t->text);
	}
}

static void flow_init(struct flow *f, const char *name)
{
	f->fd = -1;
	f->name = name;
	buf_init(&f->carry, BUF_NOLIMIT);
}

static void flow_free(struct flow *f)
{
	if (f->fd >= 0)
		close(f->fd);
	buf_free(&f->carry);
}

void external_run(const struct manifest *t, const struct tool_ctx *c, const char *input, const struct json *j,
                  struct tool_result *r)
{
	struct job job = {.c = c, .sigs = {.fd = -1}};
	struct err e = ERR_INIT;

	flow_init(&job.out, "stdout");
	flow_init(&job.err, "stderr");
	if (sig_open(&job.sigs, (const int[]){SIGTERM, 0}, &e) < 0 || start(&job, t, input, j, &e) < 0) {
		tool_fail(r, "%s", e.text);
	} else {
		capture_init(&job.out.cap, c->output_max, c->blobs, CAPTURE_SPILL);
		capture_init(&job.err.cap, STDERR_MAX, -1, 0);
		attend(&job);
		guard_free(&job.guard);
		capture_end(&job.out.cap);
		capture_end(&job.err.cap);
		if (job.res.err.status)
			tool_fail(r, "%s: %s", t->exec[0], job.res.err.text);
		else
			write_result(&job, r);
		capture_free(&job.out.cap);
		capture_free(&job.err.cap);
	}
	flow_free(&job.out);
	flow_free(&job.err);
	if (job.sigs.fd >= 0)
		sig_close(&job.sigs);
}

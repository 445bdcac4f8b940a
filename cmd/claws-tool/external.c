/* A tool that is a program: arguments on stdin, result on stdout, its status says whether it went well. */
#include "claws-tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sys/env.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "tools/command.h"

#define STDERR_MAX 4000
#define ARG_MAX_ONE ((size_t)100 << 10)   /* execve(2): one string of the environment may have 128 KiB */
#define ARG_MAX_ALL ((size_t)512 << 10)

extern char **environ;

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

static void new_line(struct buf *b)
{
	if (b->len && b->p[b->len - 1] != '\n')
		buf_addc(b, '\n');
}

static void write_result(struct command *r, struct tool_result *t)
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

void external_run(const struct manifest *t, const struct tool_ctx *c, const char *input, const struct json *j,
                  struct tool_result *r)
{
	struct command *run = xcalloc(1, sizeof *run);
	struct command_spec s = {.argv = (const char *const *)t->exec, .limit_ms = c->timeout_ms, .err_max = STDERR_MAX};
	struct err e = ERR_INIT;
	struct env env;

	clean_env(&env, t, j, c->cwd);
	s.env = env_vector(&env);
	s.in = input_file(input, &e);
	if (s.in < 0) {
		tool_fail(r, "%s", e.text);
	} else {
		if (command_run(run, c, &s, &e) < 0)
			tool_fail(r, "%s", e.text);
		else if (run->res.err.status)
			tool_fail(r, "%s: %s", t->exec[0], run->res.err.text);
		else
			write_result(run, r);
		close(s.in);
		command_free(run);
	}
	free(run);
	env_free(&env);
}

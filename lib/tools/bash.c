/* Bash: a shell command, guarded, with a scrubbed environment, bounded output and a limit of time. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/xalloc.h"
#include "sys/env.h"
#include "sys/spawn.h"
#include "tools/command.h"

#define COMMAND_MAX 65536
#define TIMEOUT_S 30
#define TIMEOUT_MAX_S 600

extern char **environ;

/* Programs that wanted a person: say that there is none, or the model will try again in the same way. */
static bool wanted_terminal(const struct command_stream *s)
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

static void add_output(struct command *r, struct buf *text)
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

static void add_ending(struct command *r, long limit_ms, struct tool_result *t)
{
	int w = r->res.wstatus;
	bool failed = true;

	new_line(&t->text);
	if (r->timed_out)
		buf_addf(&t->text, "[timed out after %ld %s (process group killed)]\n",
			limit_ms % 1000 ? limit_ms : limit_ms / 1000, limit_ms % 1000 ? "ms" : "s");
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
	const char *argv[] = {"/bin/sh", "-c", command, NULL};
	struct command *r = xcalloc(1, sizeof *r);
	struct command_spec s = {.argv = argv, .in = SPAWN_NULL, .limit_ms = limit_ms};
	struct err e = ERR_INIT;
	struct env env;

	env_scrubbed(&env, environ, getenv("CLAWS_TOOL_ENV"));
	env_set(&env, "PWD", c->cwd);
	s.env = env_vector(&env);
	buf_clear(&t->text);
	if (command_run(r, c, &s, &e) < 0) {
		tool_fail(t, "%s", e.text);
	} else if (r->res.err.status) {
		tool_fail(t, "%s", r->res.err.text);
	} else {
		add_output(r, &t->text);
		add_ending(r, limit_ms, t);
	}
	command_free(r);
	free(r);
	env_free(&env);
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

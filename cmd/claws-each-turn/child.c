/* child.c - the program of one turn: a process group of its own, its stdin and stdout ours. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "each_turn.h"
#include "sys/env.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define GRACE_MS 500

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

bool child_start(struct child *c, char **argv, struct err *e)
{
	int in[2], out[2];
	struct spawn s = {.argv = (const char *const *)argv, .group = SPAWN_GROUP, .death_signal = SIGKILL};
	struct spawn_fd map[2];
	struct env env;
	pid_t pid;

	if (io_pipe(in, e) < 0)
		return false;
	if (io_pipe(out, e) < 0) {
		close(in[0]);
		close(in[1]);
		return false;
	}
	map[0] = (struct spawn_fd){0, in[0]};
	map[1] = (struct spawn_fd){1, out[1]};
	s.fds = map;
	s.nfds = 2;
	/* To the program this is a pipeline whose end of file is the turn. */
	env_copy(&env, environ);
	env_unset(&env, "CLAWS_RING");
	s.env = env_vector(&env);
	pid = spawn_start(&s, e);
	env_free(&env);
	close(in[0]);
	close(out[1]);
	c->in = in[1];
	c->out = out[0];
	if (pid < 0 || io_nonblock(c->in, true, e) < 0 || io_nonblock(c->out, true, e) < 0) {
		shut(&c->in);
		shut(&c->out);
		if (pid > 0)
			spawn_end(pid, true, 0);
		return false;
	}
	c->pid = pid;
	c->fed = 0;
	lines_init(&c->lines, c->out, LINE_MAX_BYTES);
	buf_init(&c->mended, BUF_NOLIMIT);
	return true;
}

void child_write(struct child *c)
{
	while (c->in >= 0 && c->fed < c->feed.len) {
		ssize_t n = write(c->in, c->feed.p + c->fed, c->feed.len - c->fed);

		if (n > 0)
			c->fed += (size_t)n;
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR)
			break;          /* it does not want the rest: its right */
	}
	shut(&c->in);
}

bool child_read(struct child *c)
{
	if (c->out < 0 || c->lines.eof)
		return false;
	return lines_fill(&c->lines, NULL) > 0;
}

bool child_line(struct child *c, struct msg *m, const char **fault)
{
	struct line l;

	*fault = NULL;
	for (;;) {
		enum lines_got got = lines_next(&c->lines, &l);
		struct err e = ERR_INIT;

		if (got == LINES_NEED || got == LINES_END)
			return false;
		if (got == LINES_LINE && !l.len)
			continue;
		*m = (struct msg){.kind = MSG_UNKNOWN, .line = l.p, .len = l.len, .json = &c->json, .no = l.no};
		if (got == LINES_LONG) {
			*fault = "longer than 64 MiB";
		} else if (json_parse(&c->json, l.p, l.len, &e) < 0) {
			buf_clear(&c->mended);
			m->line = NULL;
			if (!json_repair(&c->mended, l.p, l.len) || json_parse(&c->json, c->mended.p, c->mended.len, NULL) < 0)
				*fault = "not JSON";
			else
				m->line = c->mended.p, m->len = c->mended.len;
		}
		if (!*fault && json_type(&c->json, 0) != JSON_OBJECT)
			*fault = "not an object";
		if (!*fault)
			m->kind = msg_kind(&c->json);
		return true;
	}
}

int child_end(struct child *c, bool kill_it)
{
	pid_t pid = c->pid;
	int status = 0;

	if (kill_it)
		status = spawn_end(pid, true, GRACE_MS);
	else
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	kill(-pid, SIGKILL);            /* nothing of a turn outlives it */
	shut(&c->in);
	shut(&c->out);
	lines_free(&c->lines);
	buf_free(&c->mended);
	json_free(&c->json);
	c->pid = 0;
	return status_of_wait(status);
}

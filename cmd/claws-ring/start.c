/* start.c - stages as processes: pipes, environment, signals. */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"

extern char **environ;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_command(struct stage *s, char **first, size_t n)
{
	char **argv = xcalloc(n + 1, sizeof *argv);

	memcpy(argv, first, n * sizeof *argv);
	s->commands = xrealloc(s->commands, s->ncommands + 1, sizeof *s->commands);
	s->commands[s->ncommands++] = argv;
	s->name = base_name(argv[0]);
	/* A replaced stage is `sh -c 'CMD "$@"' CMD ...`: its own name says more. */
	if (!strcmp(s->name, "sh") && n > 3 && !strcmp(argv[1], "-c"))
		s->name = base_name(argv[3]);
}

int ring_cut(struct ring *r, char **argv, struct err *e)
{
	char **from = argv;
	bool fresh = true;

	for (char **p = argv;; p++) {
		bool bar = *p && !strcmp(*p, "|"), semicolon = *p && !strcmp(*p, ";");

		if (*p && !bar && !semicolon)
			continue;
		if (p == from)
			return err_set(e, ST_USAGE, "an empty command before '%s'", *p ? *p : "the end");
		if (fresh) {
			r->stages = xrealloc(r->stages, r->n + 1, sizeof *r->stages);
			r->stages[r->n++] = (struct stage){0};
		}
		add_command(&r->stages[r->n - 1], from, (size_t)(p - from));
		fresh = bar;
		from = p + 1;
		if (!*p)
			break;
	}
	if (r->n < 2)
		return err_set(e, ST_USAGE, "a ring needs two stages or more, joined by '|'");
	return 0;
}

void ring_free(struct ring *r)
{
	for (size_t k = 0; k < r->n; k++) {
		for (size_t c = 0; c < r->stages[k].ncommands; c++)
			free(r->stages[k].commands[c]);
		free(r->stages[k].commands);
	}
	free(r->stages);
	r->stages = NULL;
	r->n = 0;
}

struct stage *ring_feeder(struct ring *r)
{
	return &r->stages[r->n - 2];
}

bool ring_gets_secrets(const struct ring *r, size_t k)
{
	const char *name = r->stages[k].name;

	if (r->secret_stage)
		return k + 1 == r->secret_stage;
	return !strcmp(name, "claws-stream") || !strcmp(name, "stream");
}

/* In a child: takes the secrets out of the environment. */
static void drop_secrets(const struct ring *r)
{
	for (char **v = environ; *v;) {
		size_t n = strcspn(*v, "=");
		char name[256];
		bool secret = false;

		if (n < sizeof name) {
			memcpy(name, *v, n);
			name[n] = 0;
			for (size_t k = 0; k < r->nsecrets && !secret; k++)
				secret = fnmatch(r->secrets[k], name, 0) == 0;
		}
		if (secret && unsetenv(name) == 0)
			v = environ;   /* unsetenv has moved the rest */
		else
			v++;
	}
}

static _Noreturn void complain(const char *what, const char *name, int sys)
{
	char line[512];
	int n = snprintf(line, sizeof line, "claws-ring: %s '%s': %s\n", what, name, strerror(sys));
	ssize_t ignored = write(2, line, n > 0 && (size_t)n < sizeof line ? (size_t)n : 0);

	(void)ignored;
	_exit(sys == ENOENT ? 127 : 126);
}

static _Noreturn void run(char **argv)
{
	execvp(argv[0], argv);
	complain("cannot run", argv[0], errno);
}

/* In the stage's process: the commands before the last, one after the other. They end with it. */
static void run_first(const struct stage *s)
{
	for (size_t k = 0; k + 1 < s->ncommands; k++) {
		int status;
		pid_t pid = fork();

		if (pid < 0)
			complain("cannot fork for", s->commands[k][0], errno);
		if (pid == 0) {
			int null = open("/dev/null", O_RDONLY);

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (null > 0) {
				dup2(null, 0);
				close(null);
			}
			close(FEED_FD);
			run(s->commands[k]);
		}
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				_exit(ST_BUG);
		if (status) {
			char line[256];
			int n = snprintf(line, sizeof line, "claws-ring: '%s' failed with status %d\n", s->commands[k][0],
			                 status_of_wait(status));
			ssize_t ignored = write(2, line, n > 0 && (size_t)n < sizeof line ? (size_t)n : 0);

			(void)ignored;
			_exit(status_of_wait(status));
		}
	}
}

/* The terminal's signals reach the whole group; in a ring only claws-ring acts on them. */
static void set_signals(bool feeder)
{
	static const int told[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGHUP, SIGPIPE};
	sigset_t mask;

	sigemptyset(&mask);
	signal(SIGINT, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	if (feeder) {
		for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
			signal(told[k], SIG_DFL);
			sigaddset(&mask, told[k]);
		}
		/* Should claws-ring be killed, the feeder still ends the run in good order. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	} else {
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGPIPE, SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

static _Noreturn void child(const struct ring *r, size_t k, int in, int out, int feed)
{
	const struct stage *s = &r->stages[k];
	bool feeder = k == r->n - 2;

	set_signals(feeder);
	if (!ring_gets_secrets(r, k))
		drop_secrets(r);
	if (in != 0)
		dup2(in, 0);
	if (out != 1)
		dup2(out, 1);
	if (feeder)
		dup2(feed, FEED_FD);
	run_first(s);
	run(s->commands[s->ncommands - 1]);
}

/* A close-on-exec pipe whose ends are above what children use. */
static int high_pipe(int fds[2], struct err *e)
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	for (int k = 0; k < 2; k++) {
		fds[k] = fcntl(low[k], F_DUPFD_CLOEXEC, 10);
		if (fds[k] < 0)
			return err_sys(e, "make a pipe");
		close(low[k]);
	}
	return 0;
}

int ring_start(struct ring *r, struct err *e)
{
	int feed[2], in, out[2];

	if (high_pipe(feed, e) < 0)
		return -1;
	in = feed[0];
	for (size_t k = 0; k < r->n; k++) {
		bool last = k + 1 == r->n;

		out[0] = -1, out[1] = 1;
		if (!last && high_pipe(out, e) < 0)
			break;
		r->stages[k].pid = fork();
		if (r->stages[k].pid == 0)
			child(r, k, in, out[1], feed[1]);
		if (r->stages[k].pid < 0) {
			r->stages[k].pid = 0;
			err_sys(e, "start stage '%s'", r->stages[k].name);
			break;
		}
		close(in);
		if (!last)
			close(out[1]);
		in = out[0];
	}
	close(feed[1]);
	if (!e->status)
		return 0;
	for (size_t k = 0; k < r->n; k++)
		if (r->stages[k].pid > 0)
			kill(r->stages[k].pid, SIGKILL);
	return -1;
}

/* claws-keeper - keep connections to providers for the next run: claws-keeper(1). */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "opt/opt.h"
#include "sys/io.h"
#include "sys/private.h"

extern char **environ;

static struct conf {
	long persist;
	bool status, stop;
} conf = {.persist = 60000};

static const struct opt options[] = {
	{0, "persist", "TIME", OPT_TIME, offsetof(struct conf, persist), "end after this time without a request (60)", 0, 0, NULL},
	{0, "status", NULL, OPT_FLAG, offsetof(struct conf, status), "say which keepers run, and what they do", 0, 0, NULL},
	{0, "stop", NULL, OPT_FLAG, offsetof(struct conf, stop), "end them when their requests are done", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static const struct opt_spec spec = {
	"claws-keeper", "[OPTION...]", "Keep connections to providers for the next run of claws-stream.", options, NULL,
	"claws-stream starts it by itself where CLAWS_CONTROL_PERSIST is set.", 0};

/* What the starter has in its environment and a keeper must not have, a key above all, also goes from where /proc shows it. */
static void scrub(void)
{
	char **kept = environ;

	for (char **p = environ; *p; p++) {
		size_t n = strcspn(*p, "=");
		char name[64] = "";

		if (n < sizeof name)
			memcpy(name, *p, n);
		if (keeper_variable(name))
			*kept++ = *p;
		else
			explicit_bzero(*p, strlen(*p));
	}
	*kept = NULL;
}

/* Nothing of who started it is held: neither terminal nor directory nor descriptor. */
static void leave(int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (setsid() < 0 || chdir("/") < 0 || null < 0)
		die(ST_IO, "cannot go into the background: %s", strerror(errno));
	for (int fd = 0; fd < 3; fd++)
		if (fd != keep)
			dup2(null, fd);
	if (null > 2)
		close(null);
}

/* The starter ends when its child listens; the child's exit status is its own until then. */
static int await(int fd, pid_t pid)
{
	char c;
	int status;

	if (read(fd, &c, 1) == 1)
		return ST_OK;
	return waitpid(pid, &status, 0) == pid ? status_of_wait(status) : ST_IO;
}

static int start(void)
{
	struct server s = {.listener = -1, .persist_ms = conf.persist};
	struct err e = ERR_INIT;
	struct buf path;
	int ready[2];
	pid_t pid;

	io_close_others(NULL, 0);
	buf_init(&path, PATH_MAX);
	if (keeper_path(&path, &e) < 0 || io_pipe(ready, &e) < 0)
		die_err(&e);
	pid = fork();
	if (pid < 0)
		die(ST_TEMP, "cannot fork: %s", strerror(errno));
	if (pid > 0) {
		close(ready[1]);
		_exit(await(ready[0], pid));
	}
	close(ready[0]);
	leave(2);
	if (serve_open(&s, path.p) == 0) {
		if (write(ready[1], "", 1) != 1)
			exit(ST_IO);
		close(ready[1]);
		dup2(0, 2);
		serve(&s);
	}
	buf_free(&path);
	return ST_OK;
}

int main(int argc, char **argv)
{
	prog_name("claws-keeper");
	if (opt_parse(&spec, argc, argv, &conf) < argc)
		opt_usage(&spec, "no operand is expected");
	if (conf.status && conf.stop)
		opt_usage(&spec, "--status and --stop exclude each other");
	process_private();
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (conf.status || conf.stop)
		finish(conf.status ? control_status() : control_stop());
	if (conf.persist == 0)
		opt_usage(&spec, "--persist: 0 keeps nothing");
	scrub();
	return start();
}

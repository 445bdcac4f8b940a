#include "net/keeper.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sys/env.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define START_MS 2000

extern char **environ;

/* The program beside this one, else the one in PATH. */
static const char *program(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *name;

	path[n > 0 ? n : 0] = 0;
	name = strrchr(path, '/');
	if (name && (size_t)(name + sizeof "/claws-keeper" - path) < PATH_MAX) {
		memcpy(name, "/claws-keeper", sizeof "/claws-keeper");
		if (access(path, X_OK) == 0)
			return path;
	}
	return "claws-keeper";
}

static void keep_only(struct env *v)
{
	env_init(v);
	for (char **p = environ; *p; p++) {
		char name[64];
		size_t n = strcspn(*p, "=");

		if ((*p)[n] != '=' || n >= sizeof name)
			continue;
		memcpy(name, *p, n);
		name[n] = 0;
		if (keeper_variable(name))
			env_set(v, name, *p + n + 1);
	}
}

/* It closes its standard output once it listens, or fails. */
static bool is_ready(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	long long end = io_now_ms() + START_MS, left;

	while ((left = end - io_now_ms()) > 0)
		if (poll(&p, 1, (int)left) > 0)
			return true;
	return false;
}

int keeper_start(const char *path, long persist_ms)
{
	char file[PATH_MAX], time[32];
	const char *argv[] = {"claws-keeper", "--persist", time, NULL};
	struct spawn_fd fds[] = {{0, SPAWN_NULL}, {1, -1}, {2, SPAWN_NULL}};
	struct spawn s = {.argv = argv, .file = program(file), .cwd = "/", .fds = fds, .nfds = 3};
	int out[2];
	struct env v;
	pid_t pid;

	if (io_pipe(out, NULL) < 0)
		return -1;
	snprintf(time, sizeof time, "%ldms", persist_ms);
	keep_only(&v);
	s.env = env_vector(&v);
	fds[1].parent = out[1];
	pid = spawn_start(&s, NULL);
	close(out[1]);
	env_free(&v);
	if (pid > 0)
		spawn_end(pid, false, is_ready(out[0]) ? START_MS : 0);   /* a word of ours to one that has ended does no harm */
	close(out[0]);
	return pid > 0 ? keeper_connect(path) : -1;
}

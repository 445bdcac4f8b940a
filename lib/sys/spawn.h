/* spawn.h - starting a program.
 *
 *   const char *argv[] = {"git", "status", NULL};
 *   struct spawn_fd fds[] = {{0, SPAWN_NULL}, {1, out[1]}};
 *   struct spawn s = {.argv = argv, .fds = fds, .nfds = 2, .group = SPAWN_GROUP};
 *   pid_t pid = spawn_start(&s, &e);
 *
 * In the child: descriptors 0, 1, 2 are the parent's unless mapped, all others not in the map are closed; every
 * signal has its default action and none is blocked; then session or group, cwd, limits, the `before` hook, exec.
 * When one of these fails the errno comes back through a close-on-exec pipe: spawn_start returns -1 and there is no
 * child.
 *
 * The program is looked up before the fork, in PATH of `env` (else of our environment); entries that are empty or
 * relative are skipped, so that what lies in the current directory is never run by accident. A file that is no
 * binary and has no #! is given to /bin/sh, as execvp(3) does. Never a shell otherwise.
 *
 * The caller waits for the pid. Everything in struct spawn is borrowed for the call. For programs that may leave
 * something behind use guard.h. */
#ifndef SYS_SPAWN_H
#define SYS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

#define SPAWN_NULL (-1)   /* /dev/null */

struct spawn_fd {
	int child;    /* number in the child */
	int parent;   /* ours, or SPAWN_NULL */
};

enum spawn_group { SPAWN_SAME, SPAWN_GROUP /* setpgid: pgid = pid */, SPAWN_SESSION /* setsid: no terminal */ };

struct spawn_limits {              /* setrlimit(2), soft and hard; 0: as it is */
	unsigned long long as, nproc, cpu_s, fsize, nofile;
	bool no_core;              /* RLIMIT_CORE 0 */
};

struct spawn {
	const char *const *argv;
	const char *file;          /* what to run; NULL: argv[0] */
	const char *const *env;    /* NULL: ours */
	const char *cwd;           /* NULL: ours */
	const struct spawn_fd *fds;
	size_t nfds;
	enum spawn_group group;
	const struct spawn_limits *limits;
	int death_signal;          /* PR_SET_PDEATHSIG: comes when the thread that started the child ends; 0: none */
	/* Last step before exec, in the child (a sandbox, say): 0, or an errno that spawn_start reports. */
	int (*before)(void *arg);
	void *arg;
};

/* The pid, or -1: e->sys is the errno of what failed (ENOENT: no such program, status ST_NOINPUT). */
pid_t spawn_start(const struct spawn *s, struct err *e);

/* The file that would be run for a name: itself if it has a '/', else the first executable regular file in path. -1:
 * none. */
int spawn_find(const char *name, const char *path, struct buf *file, struct err *e);

/* TERM to the group (group) or process, up to grace_ms for it to end, then KILL; waits and returns its wait status. */
int spawn_end(pid_t pid, bool group, long grace_ms);

/* Starts, waits, and returns the wait status, or -1. */
int spawn_run(const struct spawn *s, struct err *e);

/* "SIGTERM" and the like; never NULL. */
const char *spawn_signal_name(int sig);

#endif

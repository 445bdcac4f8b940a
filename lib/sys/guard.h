/* guard.h - a command that cannot outlive its owner, nor leave anything behind.
 *
 *   struct guard g;
 *   if (guard_start(&g, &s, &e) < 0) ...                // s as for spawn.h; its group is always SPAWN_SESSION
 *   close our ends of what the map handed over;
 *   poll g.fd (POLLIN) along with the output, a timer, ...
 *   ... guard_stop(&g) when it is to end early; go on polling, at most guard_wait_ms(&g)
 *   if (guard_read(&g, &res) > 0) ...                    // after POLLIN or that time; 1: it is over
 *   guard_free(&g);
 *
 * Between owner and command stands a guard: a process forked from the owner (no exec), in a session of its own,
 * holding no descriptor but its two pipes. It is a child subreaper, so that whatever the command leaves behind, also
 * by setsid or double fork, becomes its child. It ends the command's group and every such stray when
 *   - the command has exited: strays get TERM, and KILL after GUARD_STRAY_MS;
 *   - the owner asks (guard_stop), or is gone (end of file on the control pipe; PR_SET_PDEATHSIG besides): all get
 *     TERM, and KILL after the grace;
 * and then reaps until nothing is left. What even KILL does not end within two seconds (a process stuck in the
 * kernel) is counted in `left`; the guard stays with it, the owner gets its result.
 * If the guard itself is killed, the command dies with it (PR_SET_PDEATHSIG), guard_read kills the group and says lost; so it
 * does with a guard that the command has stopped and that does not do what guard_stop says.
 *
 * The owner never blocks: start returns after fork, an exec failure is in the result. A command that keeps the output
 * pipe open cannot hold the owner, who reads only until guard_read says that it is over and then takes what is in
 * the pipe. Strays are found in /proc/self/task/TID/children, else by a scan of /proc; without /proc only groups are
 * ended. */
#ifndef SYS_GUARD_H
#define SYS_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/spawn.h"

#define GUARD_GRACE_MS 1000
#define GUARD_STRAY_MS 200

struct guard {
	int fd;          /* readable when there is something for guard_read */
	int control;
	pid_t pid;       /* the guard */
	pid_t command;   /* the command's pid and group; 0 until known (guard_read), then for messages only */
	long grace_ms;
	long long force_at;   /* io_now_ms: when a guard that was told to stop is killed; 0: it was not told */
};

struct guard_result {
	int wstatus;     /* of the command, as from waitpid(2) */
	int strays;      /* processes it left behind that were ended */
	int left;        /* that could not be ended */
	bool lost;       /* the guard died; wstatus is that of a SIGKILL */
	struct err err;  /* err.status != 0: the command could not be started, and why */
};

int guard_start(struct guard *g, const struct spawn *s, long grace_ms, struct err *e);
void guard_stop(struct guard *g);      /* may be called again; TERM is sent once */
int guard_wait_ms(const struct guard *g);   /* for poll(2): until guard_read has something to do unasked; -1: never */
int guard_read(struct guard *g, struct guard_result *r);  /* 1 over, 0 not yet; never blocks */
void guard_free(struct guard *g);      /* before it is over: ends the command, without waiting for it */

#endif

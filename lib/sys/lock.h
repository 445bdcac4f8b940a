/* lock.h - one at a time: flock(2) on a lock file, with a substitute where there is no flock.
 *
 *   struct lock l;
 *   if (lock_take(&l, "/path/lock", 0, 0, &e) < 0) ...    // e.g. "/path/lock: in use by process 123", ST_TEMP
 *   ...
 *   lock_release(&l);
 *
 * The kernel drops a flock when its holder dies. The descriptor is O_CLOEXEC, so programs that the holder starts do not
 * keep it; a child that is forked without exec must call lock_forget (guard.h's guards close everything by themselves).
 * The file stays after release (removing it would race); its content, "PID START HOST", is for the message only.
 *
 * Where flock is not supported (ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: some network and FUSE file systems) PATH.held,
 * made with O_EXCL, is the lock, with the same content. It is stale, and taken over, when it names this host and its
 * process is gone or was started at another time (/proc/PID/stat). One of another host is never taken over: the
 * message says which file to remove. */
#ifndef SYS_LOCK_H
#define SYS_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct lock {
	int fd;            /* -1: not held */
	char *path;        /* of PATH.held where that is the lock, else NULL */
	pid_t holder;      /* who had it when lock_take failed with ST_TEMP; 0 unknown */
};

#define LOCK_BY_FILE 1   /* flags: use PATH.held at once (several machines on one directory) */

/* timeout_ms: 0 try once, > 0 wait that long, < 0 for ever. 0 held; -1: ST_TEMP in use, else what went wrong. */
int lock_take(struct lock *l, const char *path, long timeout_ms, int flags, struct err *e);
void lock_release(struct lock *l);   /* also of one not held */
void lock_forget(struct lock *l);    /* in a forked child: close our copy, release nothing of the parent's */

#endif

/* watch.h - waiting until a file appears or changes.
 *
 *   struct watch w; watch_open(&w, "/dir", "inbox", &e);
 *   look at the file;                                    // after open, so that nothing falls between
 *   poll w.fd (if not -1), timeout watch_timeout(&w);
 *   if (watch_changed(&w)) look again;
 *   watch_close(&w);
 *
 * inotify(7) on the directory, so the file need not be there yet and may be replaced by rename. Where there is none (no
 * inotify instance left, some file systems) fd is -1 and watch_changed compares the file's identity, size and time:
 * poll with the timeout then. Changes made by another host on a network file system are not seen by inotify. */
#ifndef SYS_WATCH_H
#define SYS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define WATCH_POLL_MS 250

struct watch {
	int fd;            /* inotify descriptor, or -1 */
	char *path, *name; /* dir/name, name; name NULL: anything in dir */
	uint64_t seen[5];  /* device, inode, size, mtime s and ns of the last look */
};

/* name NULL: any change in dir. -1 only if the directory is not there. */
int watch_open(struct watch *w, const char *dir, const char *name, struct err *e);
int watch_timeout(const struct watch *w);    /* -1, or WATCH_POLL_MS without inotify */
bool watch_changed(struct watch *w);         /* since open or the last call; never blocks */
/* Blocks until a change (1) or timeout_ms is over (0); < 0: for ever. */
int watch_wait(struct watch *w, long timeout_ms);
void watch_close(struct watch *w);

#endif

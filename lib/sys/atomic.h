/* atomic.h - files that are whole or absent.
 *
 *   atomic_write(dirfd, "name", data, len, 0600, &e);
 * or
 *   struct atomic a;
 *   if (atomic_begin(&a, dirfd, "name", 0600, &e) < 0) ...
 *   io_write_all(a.fd, ...);                            // or anything else that writes to a.fd
 *   if (failed) atomic_abort(&a); else atomic_commit(&a, &e);
 *
 * The content goes to a temporary file in the same directory (O_EXCL|O_NOFOLLOW, ".NAME.XXXXXXXX.tmp"), which commit
 * syncs, gives its mode (the umask does not count), renames over the name, and then syncs the directory. A reader
 * sees the old file or the new one. A name that is a symlink is replaced, not followed. After a crash only a .tmp
 * file may be left.
 *
 * name may be a path, relative to dirfd (AT_FDCWD allowed). begin..commit/abort: exactly one end to each begin; commit
 * also ends it when it fails (nothing is left behind). 0, or -1 with e. */
#ifndef SYS_ATOMIC_H
#define SYS_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct atomic {
	int fd;            /* write here */
	int dir;           /* of the directory, ours */
	mode_t mode;
	bool sync;         /* true after begin; a caller that can lose the file may clear it */
	char name[256], tmp[256];
};

int atomic_begin(struct atomic *a, int dirfd, const char *name, mode_t mode, struct err *e);
int atomic_commit(struct atomic *a, struct err *e);
void atomic_abort(struct atomic *a);
int atomic_write(int dirfd, const char *name, const void *data, size_t len, mode_t mode, struct err *e);

#endif

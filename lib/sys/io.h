/* io.h - reading, writing and opening, with what the system calls leave to do.
 *
 * All descriptors are O_CLOEXEC; EINTR is never seen by the caller; short reads and writes are gone on with. Functions
 * return 0 (or a descriptor) or -1 with e filled (e may be NULL). A struct buf's max is the limit of what is read: a
 * longer source is the error ST_DATA, never a silent cut. */
#ifndef SYS_IO_H
#define SYS_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends all that comes from fd until its end. */
int io_read_all(int fd, struct buf *b, struct err *e);

/* Writes all n bytes; a non-blocking descriptor is waited for with poll(2). */
int io_write_all(int fd, const void *p, size_t n, struct err *e);

/* n random bytes, getrandom(2). Cannot fail on a system that has booted; aborts otherwise (no weak substitute). */
void io_random(void *p, size_t n);

/* Appends the content of a regular file, opened without blocking on a FIFO or device (those are refused). dirfd may be
 * AT_FDCWD. Symlinks are followed: for paths of strangers use io_open_beneath. */
int io_read_file(int dirfd, const char *path, struct buf *b, struct err *e);

/* openat2(2) with RESOLVE_BENEATH, NO_SYMLINKS and NO_MAGICLINKS: opens relpath below rootfd. An absolute path, any
 * ".." (e->sys EXDEV) and a symlink in any component (ELOOP) are refused. relpath "." is the root itself. O_CLOEXEC,
 * O_NOCTTY and O_NONBLOCK are added, the latter removed again once it is open: no FIFO blocks us, but callers should
 * fstat(2) for S_ISREG. Where the kernel has no openat2 (ENOSYS before 5.6, EPERM from some seccomp filters) it is
 * io_open_walk: the components one by one with O_NOFOLLOW, the same outcome with some calls more. */
int io_open_beneath(int rootfd, const char *relpath, int flags, mode_t mode, struct err *e);
int io_open_walk(int rootfd, const char *relpath, int flags, mode_t mode, struct err *e);

/* Closes all descriptors above 2 but those n in keep. */
void io_close_others(const int *keep, size_t n);

/* Like mkdir -p; what it makes has mode (use 0700). An existing directory is left as it is. */
int io_mkdirs(const char *path, mode_t mode, struct err *e);

/* FD_CLOEXEC pipe: fds[0] reads. */
int io_pipe(int fds[2], struct err *e);

/* Sets or clears O_NONBLOCK. */
int io_nonblock(int fd, bool on, struct err *e);

/* Milliseconds of CLOCK_MONOTONIC, for deadlines. */
long long io_now_ms(void);

#endif

#include "sys/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/io.h"

static int open_parent(int dirfd, const char *name, size_t dirlen)
{
	char dir[PATH_MAX];

	if (dirlen >= sizeof dir) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(dir, name, dirlen);
	dir[dirlen] = 0;
	return openat(dirfd, dirlen ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* rename(2) would put a file in the place of a device, a FIFO or a socket: /dev/null, for whoever may write to /dev. */
static bool replaceable(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
}

int atomic_begin(struct atomic *a, int dirfd, const char *name, mode_t mode, struct err *e)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

	*a = (struct atomic){.fd = -1, .dir = -1, .mode = mode, .sync = true};
	if (!*base || !strcmp(base, ".") || !strcmp(base, "..") || strlen(base) >= sizeof a->name)
		return err_set(e, ST_DATA, "cannot write '%s': not a file name", name);
	memcpy(a->name, base, strlen(base) + 1);
	a->dir = open_parent(dirfd, name, slash ? (size_t)(slash - name) + 1 : 0);
	if (a->dir < 0)
		return err_sys(e, "cannot open the directory of '%s'", name);
	if (!replaceable(a->dir, a->name)) {
		atomic_abort(a);
		return err_set(e, ST_IO, "cannot replace '%s': not a regular file", name);
	}
	for (int tries = 0; tries < 100; tries++) {
		uint32_t r;
		io_random(&r, sizeof r);
		snprintf(a->tmp, sizeof a->tmp, ".%.200s.%08x.tmp", base, r);
		a->fd = openat(a->dir, a->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (a->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	err_sys(e, "cannot write '%s'", name);
	close(a->dir);
	a->dir = -1;
	return -1;
}

void atomic_abort(struct atomic *a)
{
	if (a->fd >= 0) {
		close(a->fd);
		unlinkat(a->dir, a->tmp, 0);
	}
	if (a->dir >= 0)
		close(a->dir);
	a->fd = a->dir = -1;
}

int atomic_commit(struct atomic *a, struct err *e)
{
	int fd = a->fd;

	if (fchmod(fd, a->mode) < 0 || (a->sync && fsync(fd) < 0)) {
		err_sys(e, "cannot write '%s'", a->name);
		atomic_abort(a);
		return -1;
	}
	/* NFS and quotas report at close(2) what did not fit. */
	a->fd = -1;
	if (close(fd) < 0 || renameat(a->dir, a->tmp, a->dir, a->name) < 0) {
		err_sys(e, "cannot write '%s'", a->name);
		unlinkat(a->dir, a->tmp, 0);
		atomic_abort(a);
		return -1;
	}
	/* EINVAL: a file system that cannot sync a directory. */
	if (a->sync && fsync(a->dir) < 0 && errno != EINVAL) {
		err_sys(e, "cannot sync the directory of '%s'", a->name);
		atomic_abort(a);
		return -1;
	}
	atomic_abort(a);
	return 0;
}

int atomic_write(int dirfd, const char *name, const void *data, size_t len, mode_t mode, struct err *e)
{
	struct atomic a;

	if (atomic_begin(&a, dirfd, name, mode, e) < 0)
		return -1;
	if (io_write_all(a.fd, data, len, e) < 0) {
		err_wrap(e, "'%s'", name);
		atomic_abort(&a);
		return -1;
	}
	return atomic_commit(&a, e);
}

/* Opening files of others, and making directories: the rest of io.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/io.h"

static int fail_with(int number, struct err *e, const char *path)
{
	errno = number;
	return err_sys(e, "cannot open '%s'", path);
}

int io_read_file(int dirfd, const char *path, struct buf *b, struct err *e)
{
	struct stat st;
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int r = -1;

	if (fd < 0)
		return err_sys(e, "cannot open '%s'", path);
	if (fstat(fd, &st) < 0)
		err_sys(e, "cannot look at '%s'", path);
	else if (S_ISDIR(st.st_mode))
		err_set(e, ST_DATA, "cannot read '%s': it is a directory", path);
	else if (!S_ISREG(st.st_mode))
		err_set(e, ST_DATA, "cannot read '%s': not a regular file", path);
	else if ((r = io_read_all(fd, b, e)) < 0)
		err_wrap(e, "'%s'", path);
	close(fd);
	return r;
}

/* openat2 lets "a/../b" pass when it stays beneath; we do not, so that both ways to open say the same. */
static int has_dotdot(const char *path)
{
	for (const char *s = path; s && *s; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL)
		if (!strncmp(s, "..", 2) && (s[2] == '/' || !s[2]))
			return 1;
	return 0;
}

static int settle(int fd, int flags, struct err *e)
{
	if (fd >= 0 && !(flags & (O_NONBLOCK | O_PATH)) && io_nonblock(fd, false, e) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One step of the walk; a symlink gives ELOOP whatever the flags make of it. */
static int open_step(int dir, const char *name, int flags, mode_t mode)
{
	struct stat st;
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0) {
		int why = errno;
		if (why == ENOTDIR && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
			why = ELOOP;
		errno = why;
		return -1;
	}
	if ((flags & O_PATH) && !fstat(fd, &st) && S_ISLNK(st.st_mode)) {
		close(fd);
		errno = ELOOP;
		return -1;
	}
	return fd;
}

int io_open_walk(int rootfd, const char *relpath, int flags, mode_t mode, struct err *e)
{
	int own = flags | O_NOCTTY | (flags & O_PATH ? 0 : O_NONBLOCK);
	const char *s = relpath;
	int dir = -1, fd = -1;

	if (*relpath == '/' || has_dotdot(relpath))
		return fail_with(EXDEV, e, relpath);
	if (!*relpath)
		return fail_with(ENOENT, e, relpath);
	for (;;) {
		char name[NAME_MAX + 1];
		while (*s == '/')
			s++;
		size_t n = strcspn(s, "/");
		int last = !s[n + strspn(s + n, "/")];

		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			break;
		}
		memcpy(name, n ? s : ".", n ? n : 1);
		name[n ? n : 1] = 0;
		if (last) {
			fd = open_step(dir < 0 ? rootfd : dir, name, own | (s[n] || !n ? O_DIRECTORY : 0), mode);
			break;
		}
		int next = open_step(dir < 0 ? rootfd : dir, name, O_PATH | O_DIRECTORY, 0);
		if (next < 0)
			break;
		if (dir >= 0)
			close(dir);
		dir = next;
		s += n;
	}
	int why = errno;
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return fail_with(why, e, relpath);
	return settle(fd, flags, e);
}

int io_open_beneath(int rootfd, const char *relpath, int flags, mode_t mode, struct err *e)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOCTTY | (flags & O_PATH ? 0 : O_NONBLOCK)),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	if (flags & O_PATH)   /* openat2 refuses what open(2) ignores */
		how.flags &= (uint64_t)(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*relpath == '/' || has_dotdot(relpath))
		return fail_with(EXDEV, e, relpath);
	for (int tries = 0; tries < 16; tries++) {
		long fd = syscall(SYS_openat2, rootfd, relpath, &how, sizeof how);
		if (fd >= 0)
			return settle((int)fd, flags, e);
		if (errno == EAGAIN || errno == EINTR)   /* a rename went on beside us: openat2(2) */
			continue;
		if (errno == ENOSYS || errno == EPERM)
			return io_open_walk(rootfd, relpath, flags, mode, e);
		return fail_with(errno, e, relpath);
	}
	return fail_with(EAGAIN, e, relpath);
}

int io_mkdirs(const char *path, mode_t mode, struct err *e)
{
	char part[PATH_MAX];
	size_t n = strlen(path);
	struct stat st;

	if (n >= sizeof part)
		return err_set(e, ST_DATA, "path too long: '%.100s...'", path);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return 0;
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i])
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (mkdir(part, mode) == 0 || (errno == EEXIST && !stat(part, &st) && S_ISDIR(st.st_mode)))
			continue;
		if (errno == EEXIST)
			return err_set(e, ST_IO, "cannot make the directory '%s': '%s' is in the way", path, part);
		/* EACCES, EROFS on a parent that is there: mkdir(2) may say so before it says EEXIST. */
		int why = errno;
		if (!stat(part, &st) && S_ISDIR(st.st_mode))
			continue;
		errno = why;
		err_sys(e, "cannot make the directory '%s'", part);
		if (e && e->status == ST_NOINPUT)
			e->status = ST_IO;
		return -1;
	}
	return 0;
}

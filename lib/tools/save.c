#include "tools/save.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "sys/atomic.h"
#include "sys/blob.h"
#include "sys/io.h"
#include "tools/diff.h"

int save_load(struct save *s, const struct tool_ctx *c, const char *path, size_t max, struct tool_result *r)
{
	struct err e = ERR_INIT;
	int fd = -1;
	memset(s, 0, sizeof *s);
	s->path = path;
	if (fs_admit(c, path, FS_WRITE, &s->at, &e) < 0) {
		tool_fail(r, "%s", e.text);
		return -1;
	}
	buf_init(&s->old, max);
	s->exists = s->at.fd >= 0;
	if (s->exists && !s->at.name)
		err_set(&e, ST_FAILED, "%s is a directory", path);
	else if (!s->exists && path[strlen(path) - 1] == '/')
		err_set(&e, ST_FAILED, "%s names a directory, not a file", path);
	else if (s->exists && (size_t)s->at.st.st_size > max)
		err_set(&e, ST_FAILED, "%s has %lld bytes; this tool takes files of at most %zu. Use a command for it", path,
			(long long)s->at.st.st_size, max);
	else if (s->exists && faccessat(s->at.dir, s->at.name, W_OK, AT_EACCESS) < 0)
		err_set(&e, ST_FAILED, "%s is not writable (mode %04o); nothing was changed", path,
			(unsigned)s->at.st.st_mode & 07777);
	else if (s->exists && (fd = fs_open(&s->at, &e)) >= 0)
		io_read_all(fd, &s->old, &e);
	if (fd >= 0)
		close(fd);
	if (e.status == 0)
		return 0;
	tool_fail(r, "%s", e.text);
	save_free(s);
	return -1;
}

void save_free(struct save *s)
{
	fs_close(&s->at);
	buf_free(&s->old);
}

/* user.* attributes and POSIX ACLs; what a file system does not take is let go. */
static void copy_attributes(int from, int to)
{
	char names[4096], value[4096];
	ssize_t n = flistxattr(from, names, sizeof names);
	for (char *p = names; n > 0 && p < names + n; p += strlen(p) + 1) {
		if (strncmp(p, "user.", 5) != 0 && strcmp(p, "system.posix_acl_access") != 0)
			continue;
		ssize_t k = fgetxattr(from, p, value, sizeof value);
		if (k >= 0 && fsetxattr(to, p, value, (size_t)k, 0) < 0)
			continue;
	}
}

static mode_t new_mode(void)
{
	mode_t mask = umask(077);
	umask(mask);
	return 0666 & ~mask;
}

/* The name still means what was read. */
static int unchanged(const struct save *s, struct err *e)
{
	struct stat st;
	int k = fstatat(s->at.dir, s->at.name, &st, AT_SYMLINK_NOFOLLOW);
	if (!s->exists)
		return k < 0 && errno == ENOENT ? 0 : err_set(e, ST_FAILED, "%s appeared meanwhile; Read it first", s->path);
	const struct stat *old = &s->at.st;
	if (k == 0 && st.st_dev == old->st_dev && st.st_ino == old->st_ino && st.st_size == old->st_size &&
			st.st_mtim.tv_sec == old->st_mtim.tv_sec && st.st_mtim.tv_nsec == old->st_mtim.tv_nsec)
		return 0;
	return err_set(e, ST_FAILED, "%s changed while it was being worked on; Read it again", s->path);
}

/* 0, -1, or 1: it cannot be replaced here, but perhaps written in place. */
static int replace(struct save *s, const char *data, size_t n, struct err *e)
{
	struct atomic a;
	struct err why = ERR_INIT;
	mode_t mode = s->exists ? s->at.st.st_mode & 01777 : new_mode();   /* set-id bits go, as in write(2) */
	if (atomic_begin(&a, s->at.dir, s->at.name, mode, &why) < 0) {
		if (why.sys == EACCES || why.sys == EPERM || why.sys == EROFS)
			return 1;
		return err_set(e, why.status, "%s", why.text);
	}
	if (io_write_all(a.fd, data, n, &why) < 0) {
		err_wrap(&why, "%s was not written", s->path);
		goto failed;
	}
	if (s->exists) {
		int fd = fs_open(&s->at, &why);
		if (fd < 0)
			goto failed;
		bool owner = fchown(a.fd, s->at.st.st_uid, s->at.st.st_gid) == 0;
		copy_attributes(fd, a.fd);
		close(fd);
		if (!owner) {             /* somebody else's file that we may write: it stays his */
			atomic_abort(&a);
			return 1;
		}
	}
	if (unchanged(s, &why) < 0)
		goto failed;
	if (atomic_commit(&a, &why) < 0)
		return why.sys == EBUSY || why.sys == EXDEV || why.sys == EPERM ? 1 : err_set(e, why.status, "%s", why.text);
	return 0;
failed:
	atomic_abort(&a);
	return err_set(e, why.status, "%s", why.text);
}

static int write_over(int fd, const char *data, size_t n, struct err *e)
{
	if (lseek(fd, 0, SEEK_SET) < 0 || io_write_all(fd, data, n, e) < 0)
		return -1;
	if (ftruncate(fd, (off_t)n) < 0 || fsync(fd) < 0)
		return err_sys(e, "cannot write");
	return 0;
}

static int in_place(struct save *s, const char *data, size_t n, struct err *e)
{
	struct stat st;
	int flags = s->exists ? O_RDWR : O_RDWR | O_CREAT | O_EXCL;
	int fd = openat(s->at.dir, s->at.name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_sys(e, "cannot write %s", s->path);
	int r = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (s->exists && st.st_ino != s->at.st.st_ino) ?
		err_set(e, ST_FAILED, "%s was replaced meanwhile; Read it again", s->path) : 0;
	/* Room first: a full disk must be noticed while the old content is still there. */
	int full = r == 0 && n > s->old.len ? posix_fallocate(fd, 0, (off_t)n) : 0;
	if (full != 0 && full != EOPNOTSUPP && full != EINVAL) {
		errno = full;
		r = err_sys(e, "cannot write %s", s->path);
		if (s->exists && ftruncate(fd, (off_t)s->old.len) < 0)
			err_wrap(e, "and it could not be cut back to its length");
	}
	if (r == 0 && write_over(fd, data, n, e) < 0) {
		r = err_wrap(e, "%s", s->path);
		if (s->exists && write_over(fd, s->old.p, s->old.len, NULL) < 0)
			err_wrap(e, "the old content could not be put back");
	}
	close(fd);
	if (r < 0 && !s->exists)
		unlinkat(s->at.dir, s->at.name, 0);
	return r;
}

int save_store(struct save *s, const struct tool_ctx *c, const char *data, size_t n, struct tool_result *r)
{
	struct err e = ERR_INIT;
	char before[BLOB_NAME] = "", after[BLOB_NAME] = "";
	if (c->blobs >= 0 && ((s->exists && blob_put(c->blobs, s->old.p, s->old.len, before, &e) < 0) ||
			blob_put(c->blobs, data, n, after, &e) < 0)) {
		tool_fail(r, "%s was not changed: its content could not be kept for undo: %s", s->path, e.text);
		return -1;
	}
	int k = fs_make_parents(&s->at, &e);
	if (k == 0)
		k = s->exists && s->at.st.st_nlink > 1 ? 1 : replace(s, data, n, &e);
	if (k == 1)
		k = unchanged(s, &e) < 0 ? -1 : in_place(s, data, n, &e);
	if (k < 0) {
		tool_fail(r, "%s", e.text);
		return -1;
	}
	r->change = (struct file_change){.path = xstrdup(s->at.path), .op = s->exists ? "update" : "add",
		.before = before[0] ? xstrdup(before) : NULL, .after = after[0] ? xstrdup(after) : NULL};
	return 0;
}

void save_diff(const struct save *s, const struct tool_ctx *c, const char *data, size_t n, size_t max_lines,
	struct tool_result *r)
{
	size_t max = c->output_max > 1000 ? c->output_max - 1000 : c->output_max ? c->output_max : TOOL_OUTPUT_MAX - 1000;
	diff_unified(&r->text, fs_short(c, s->at.path), s->old.p, s->old.len, data, n, max_lines, max);
}

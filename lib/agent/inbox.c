#include "agent/inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/status.h"
#include "proto/lines.h"
#include "sys/io.h"
#include "sys/lock.h"

#define WAIT_MS 10000   /* nobody holds the inbox for longer than a few writes */

static int lock_inbox(const char *log, struct lock *l, struct err *e)
{
	struct buf path;
	int r;

	buf_init(&path, 8192);
	r = session_side(log, "inbox.lock", &path, e);
	if (r == 0)
		r = lock_take(l, path.p, WAIT_MS, 0, e);
	buf_free(&path);
	return r;
}

static int side_open(const char *log, const char *name, int flags, struct err *e)
{
	struct buf path;
	int fd = -1;

	buf_init(&path, 8192);
	if (session_side(log, name, &path, e) == 0) {
		struct stat st;
		/* The directory came with the session: a FIFO there must not be waited for. */
		fd = open(path.p, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
		if (fd < 0 && errno != ENOENT) {
			err_sys(e, "open %s", path.p);
		} else if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
			close(fd);
			fd = -1;
			errno = EINVAL;
			err_sys(e, "open %s: not a regular file", path.p);
		}
	}
	buf_free(&path);
	return fd;
}

static int side_remove(const char *log, const char *name, struct err *e)
{
	struct buf path;
	int r;

	buf_init(&path, 8192);
	r = session_side(log, name, &path, e);
	if (r == 0 && unlink(path.p) < 0 && errno != ENOENT)
		r = err_sys(e, "remove %s", path.p);
	buf_free(&path);
	return r;
}

/* Is a run there that takes messages? */
static bool taken_from(const char *log)
{
	struct lock l;
	struct buf path;
	struct err e = ERR_INIT;
	bool held = false;
	int fd = side_open(log, "inbox.open", O_RDONLY, NULL);

	if (fd < 0)
		return false;
	close(fd);
	buf_init(&path, 8192);
	if (session_side(log, "lock", &path, NULL) == 0) {
		if (lock_take(&l, path.p, 0, 0, &e) == 0)
			lock_release(&l);
		else
			held = e.status == ST_TEMP;
	}
	buf_free(&path);
	return held;
}

int inbox_put(const char *log, const char *line, size_t len, struct err *e)
{
	struct lock l;
	struct buf record;
	off_t before;
	int fd, r = -1;

	if (lock_inbox(log, &l, e) < 0)
		return -1;
	fd = side_open(log, "inbox", O_WRONLY | O_CREAT | O_APPEND, e);
	if (fd >= 0) {
		before = lseek(fd, 0, SEEK_END);
		buf_init(&record, BUF_NOLIMIT);
		buf_add(&record, line, len);
		buf_addc(&record, '\n');
		if (io_write_all(fd, record.p, record.len, e) < 0) {
			if (before >= 0 && ftruncate(fd, before) < 0)
				err_wrap(e, "the inbox has a torn end");
		} else if (fdatasync(fd) < 0 && errno != EINVAL && errno != ENOSYS) {
			err_sys(e, "sync the inbox");
		} else {
			r = taken_from(log);
		}
		buf_free(&record);
		close(fd);
	}
	lock_release(&l);
	return r;
}

int inbox_open(const char *log, struct err *e)
{
	struct lock l;
	int fd;

	if (lock_inbox(log, &l, e) < 0)
		return -1;
	fd = side_open(log, "inbox.open", O_WRONLY | O_CREAT, e);
	if (fd >= 0)
		close(fd);
	lock_release(&l);
	return fd < 0 ? -1 : 0;
}

static int take_all(int fd, inbox_fn *take, void *arg, struct err *e)
{
	struct lines in;
	struct line line;
	enum lines_got got;
	int n = 0;

	lines_init(&in, fd, LINE_MAX_BYTES);
	while (n >= 0 && (got = lines_next(&in, &line)) != LINES_END) {
		if (got == LINES_NEED)
			n = lines_fill(&in, e) < 0 ? -1 : n;
		else if (got == LINES_LINE && !line.cut)
			n = take(arg, line.p, line.len, e) < 0 ? -1 : n + 1;
	}
	lines_free(&in);
	return n;
}

int inbox_take(const char *log, bool close_it, inbox_fn *take, void *arg, struct err *e)
{
	struct lock l;
	int fd, n = 0;

	if (lock_inbox(log, &l, e) < 0)
		return -1;
	fd = side_open(log, "inbox", O_RDWR, e);
	if (fd >= 0) {
		n = take_all(fd, take, arg, e);
		if (n > 0 && ftruncate(fd, 0) < 0)
			n = err_sys(e, "empty the inbox");
		close(fd);
	} else if (errno != ENOENT) {
		n = -1;
	}
	if (n == 0 && close_it && side_remove(log, "inbox.open", e) < 0)
		n = -1;
	lock_release(&l);
	return n;
}

#include "agent/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "proto/lines.h"
#include "proto/msg.h"
#include "sys/io.h"

/* Offset behind the last LF of the file; 0 if there is none. */
static off_t last_line_end(int fd, off_t size, struct err *e)
{
	char part[8192];

	while (size > 0) {
		off_t from = size > (off_t)sizeof part ? size - (off_t)sizeof part : 0;
		ssize_t n = pread(fd, part, (size_t)(size - from), from);

		if (n <= 0)
			return err_sys(e, "read the end of the log");
		for (ssize_t k = n; k-- > 0;)
			if (part[k] == '\n')
				return from + k + 1;
		size = from;
	}
	return 0;
}

/* Keep what is about to be cut off: a person may still read something in it. */
static int keep_torn(struct log *l, off_t from, struct err *e)
{
	struct buf path;
	char part[8192];
	ssize_t n;
	int fd = -1, r = -1;

	buf_init(&path, 8192);
	if (session_side(l->path, "torn", &path, e) < 0)
		goto out;
	fd = open(path.p, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err_sys(e, "keep the torn end in %s", path.p);
		goto out;
	}
	r = 0;
	for (; from < l->size && r == 0; from += n) {
		n = pread(l->fd, part, sizeof part, from);
		if (n <= 0)
			break;
		r = io_write_all(fd, part, (size_t)n, e);
	}
	if (r == 0)
		r = io_write_all(fd, "\n", 1, e);
out:
	if (fd >= 0)
		close(fd);
	buf_free(&path);
	return r;
}

/* A last line that lacks its line end alone, as editors and scripts leave it, is whole: it gets one. */
static bool end_whole(struct log *l, off_t from)
{
	struct json j = JSON_INIT;
	struct buf tail;
	size_t len = (size_t)(l->size - from);
	char *p;
	bool whole = false;

	buf_init(&tail, LINE_MAX_BYTES);
	p = buf_room(&tail, len);
	if (p && pread(l->fd, p, len, from) == (ssize_t)len && json_parse(&j, p, len, NULL) == 0)
		whole = json_type(&j, 0) == JSON_OBJECT && log_append(l, "", 0, NULL) == 0;
	json_free(&j);
	buf_free(&tail);
	return whole;
}

static int mend_tail(struct log *l, struct err *e)
{
	off_t good = last_line_end(l->fd, l->size, e);

	if (good < 0)
		return -1;
	if (good == l->size || end_whole(l, good))
		return 0;
	/* On a full disk the copy cannot be made; the torn line is of no use to the session either way. */
	keep_torn(l, good, NULL);
	if (ftruncate(l->fd, good) < 0)
		return err_sys(e, "cut the torn last line off %s", l->path);
	l->torn = (size_t)(l->size - good);
	l->size = good;
	return 0;
}

/* A first line that a crash cut off is still known by its beginning: append writes it so. */
static bool begun_by_us(const struct line *l)
{
	static const char head[] = "{\"type\":\"session\"";
	size_t n = l->len < sizeof head - 1 ? l->len : sizeof head - 1;

	return l->no == 1 && l->cut && !memcmp(l->p, head, n);
}

int log_check(const char *path, struct err *e)
{
	struct json j = JSON_INIT;
	struct lines in;
	struct line line;
	struct stat st;
	enum lines_got got = LINES_NEED;
	bool good = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open the session's log %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, ST_NOINPUT, "%s is not a regular file", path);
	}
	lines_init(&in, fd, LINE_MAX_BYTES);
	while (st.st_size && !good && got != LINES_END) {
		got = lines_next(&in, &line);
		if (got == LINES_NEED && lines_fill(&in, e) < 0)
			break;
		if (got == LINES_LINE)
			good = begun_by_us(&line) || (json_parse(&j, line.p, line.len, NULL) == 0 &&
			        msg_kind(&j) != MSG_UNKNOWN);
	}
	json_free(&j);
	lines_free(&in);
	close(fd);
	if (st.st_size && !good)
		return err_set(e, ST_DATA, "%s is no session: it has no line of claws-messages(5)", path);
	return 0;
}

int log_open(struct log *l, const char *path, struct err *e)
{
	struct buf lock;
	struct stat st;
	int r;

	*l = (struct log){.fd = -1, .lock = {.fd = -1}};
	if (log_check(path, e) < 0)      /* before anything is made beside it */
		return -1;
	buf_init(&lock, 8192);
	r = session_side(path, "lock", &lock, e);
	if (r == 0)
		r = lock_take(&l->lock, lock.p, 0, 0, e);
	buf_free(&lock);
	if (r < 0) {
		if (e && e->status == ST_TEMP)
			err_wrap(e, "session %s", path);
		return -1;
	}
	l->path = xstrdup(path);
	l->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (l->fd < 0 || fstat(l->fd, &st) < 0) {
		err_sys(e, "open the session's log %s", path);
	} else if (!S_ISREG(st.st_mode)) {
		err_set(e, ST_NOINPUT, "%s is not a regular file", path);
	} else {
		l->size = st.st_size;
		l->fresh = st.st_size == 0;
		if (mend_tail(l, e) == 0) {
			l->fresh = l->size == 0;
			return 0;
		}
	}
	log_close(l);
	return -1;
}

int log_append(struct log *l, const char *line, size_t len, struct err *e)
{
	struct iovec part[2] = {{(void *)(size_t)line, len}, {(void *)(size_t)"\n", 1}};
	size_t total = len + 1, done = 0;

	while (done < total) {
		ssize_t n = writev(l->fd, part, 2);

		if (n < 0) {
			int sys = errno;

			if (sys == EINTR)
				continue;
			if (ftruncate(l->fd, l->size) < 0)
				return err_sys(e, "append to %s failed and its torn end could not be cut off", l->path);
			errno = sys;
			return err_sys(e, "append to the session's log %s (nothing of the record was kept)", l->path);
		}
		done += (size_t)n;
		for (int k = 0; k < 2; k++) {
			size_t cut = (size_t)n < part[k].iov_len ? (size_t)n : part[k].iov_len;

			part[k].iov_base = (char *)part[k].iov_base + cut;
			part[k].iov_len -= cut;
			n -= (ssize_t)cut;
		}
	}
	l->size += (off_t)total;
	l->dirty = true;
	return 0;
}

int log_sync(struct log *l, struct err *e)
{
	if (!l->dirty)
		return 0;
	l->dirty = false;
	/* A file system without sync (some FUSE ones: EINVAL, ENOSYS) has done what it can. */
	if (fdatasync(l->fd) < 0 && errno != EINVAL && errno != ENOSYS && errno != EROFS)
		return err_sys(e, "sync the session's log %s", l->path);
	return 0;
}

void log_close(struct log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	lock_release(&l->lock);
	free(l->path);
	l->path = NULL;
}

int log_head(const char *path, struct log_head *h, struct err *e)
{
	struct lines in;
	struct line line;
	struct json j = JSON_INIT;
	enum lines_got got;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r = -1;

	*h = (struct log_head){0};
	if (fd < 0)
		return err_sys(e, "open %s", path);
	lines_init(&in, fd, (size_t)1 << 20);
	while ((got = lines_next(&in, &line)) == LINES_NEED)
		if (lines_fill(&in, e) < 0)
			break;
	if (got == LINES_LINE && json_parse(&j, line.p, line.len, e) == 0) {
		if (msg_kind(&j) == MSG_SESSION) {
			h->id = json_dup(&j, json_get(&j, 0, "id"));
			h->cwd = json_dup(&j, json_get(&j, 0, "cwd"));
			h->dir = json_dup(&j, json_get(&j, 0, "dir"));
			h->title = json_dup(&j, json_get(&j, 0, "title"));
			h->starter = json_dup(&j, json_get(&j, 0, "starter"));
			json_i64(&j, json_get(&j, 0, "ts"), &h->ts);
		}
		r = 0;
	} else if (got != LINES_LINE) {
		err_set(e, ST_NOINPUT, "%s is empty", path);
	}
	json_free(&j);
	lines_free(&in);
	close(fd);
	return r;
}

void log_head_free(struct log_head *h)
{
	free(h->id);
	free(h->cwd);
	free(h->dir);
	free(h->title);
	free(h->starter);
	*h = (struct log_head){0};
}

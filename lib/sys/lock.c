#include "sys/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"

#define TEXT_MAX 400
#define BREAK_AGE_S 10   /* a PATH.take older than this was left by a crash */

enum got { GOT, BUSY, BROKEN, NO_FLOCK };

/* When a process started, in ticks since boot: field 22 of /proc/PID/stat (proc(5)); the name in field 2 may hold
 * spaces and parentheses, so count from the last ')'. 0: no such process, or no /proc. */
static unsigned long long started(pid_t pid)
{
	char path[64], text[1024];
	unsigned long long ticks = 0;

	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	char *s = strrchr(text, ')');
	for (int field = 2; s && field < 22; field++)
		s = strchr(s + 1, ' ');
	if (s)
		ticks = strtoull(s + 1, NULL, 10);
	return ticks;
}

static void host_name(char host[256])
{
	if (gethostname(host, 256) < 0)
		host[0] = 0;
	host[255] = 0;
	for (char *s = host; *s; s++)
		if (*s <= ' ' || *s > '~')
			*s = '_';
	if (!*host)
		memcpy(host, "?", 2);
}

/* "PID START HOST\n" */
static void sign(int fd)
{
	char text[TEXT_MAX], host[256];

	host_name(host);
	snprintf(text, sizeof text, "%ld %llu %s\n", (long)getpid(), started(getpid()), host);
	/* For the message only where flock is the lock: a full disk does no harm. */
	if (ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, text, strlen(text), 0);
}

struct owner {
	long pid;
	unsigned long long start;
	char host[256];
};

static int read_owner(int fd, struct owner *o)
{
	char text[TEXT_MAX];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	*o = (struct owner){0, 0, ""};
	text[n > 0 ? n : 0] = 0;
	return sscanf(text, "%ld %llu %255s", &o->pid, &o->start, o->host) == 3 && o->pid > 0 ? 0 : -1;
}

static int in_use(struct lock *l, const char *path, const struct owner *o, const char *mine, struct err *e)
{
	l->holder = (pid_t)o->pid;
	if (o->pid > 0 && mine && strcmp(mine, o->host))
		return err_set(e, ST_TEMP, "%s: in use by process %ld on host %s; if it is gone, remove %s.held",
			path, o->pid, o->host, path);
	if (o->pid > 0)
		return err_set(e, ST_TEMP, "%s: in use by process %ld", path, o->pid);
	return err_set(e, ST_TEMP, "%s: in use by another process", path);
}

/* Once. The file could have been removed and made anew between open and flock: then the lock would be worth nothing. */
static enum got try_flock(struct lock *l, const char *path, struct err *e)
{
	for (int tries = 0; tries < 100; tries++) {
		struct stat ours, there;
		struct owner o;
		int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

		if (fd < 0) {
			err_sys(e, "cannot open the lock '%s'", path);
			return BROKEN;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			int why = errno;
			read_owner(fd, &o);
			close(fd);
			if (why == EINTR)
				continue;
			if (why == EWOULDBLOCK) {
				in_use(l, path, &o, NULL, e);
				return BUSY;
			}
			if (why == ENOLCK || why == EOPNOTSUPP || why == ENOSYS || why == EINVAL)
				return NO_FLOCK;
			errno = why;
			err_sys(e, "cannot lock '%s'", path);
			return BROKEN;
		}
		if (fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
			ours.st_dev == there.st_dev) {
			sign(fd);
			l->fd = fd;
			return GOT;
		}
		close(fd);
	}
	err_set(e, ST_IO, "cannot lock '%s': the file is replaced all the time", path);
	return BROKEN;
}

/* Complete from the first moment it is seen: written aside, then link(2)ed, which fails if the name exists. */
static int make_held(const char *held, struct err *e)
{
	unsigned r;
	int fd, why;

	io_random(&r, sizeof r);
	char *tmp = xasprintf("%s.%08x.tmp", held, r);
	fd = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		err_sys(e, "cannot make the lock '%s'", held);
		free(tmp);
		return -1;
	}
	sign(fd);
	int linked = link(tmp, held);
	why = errno;
	unlink(tmp);
	free(tmp);
	if (linked == 0)
		return fd;
	close(fd);
	if (why == EPERM || why == EOPNOTSUPP) {   /* a file system without hard links */
		fd = open(held, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		why = errno;
		if (fd >= 0) {
			sign(fd);
			return fd;
		}
	}
	errno = why;
	if (why != EEXIST)
		err_sys(e, "cannot make the lock '%s'", held);
	errno = why;
	return -1;
}

static bool stale(const struct owner *o, const char *mine)
{
	if (strcmp(o->host, mine))
		return false;
	if (kill((pid_t)o->pid, 0) < 0 && errno == ESRCH)
		return true;
	unsigned long long start = started((pid_t)o->pid);
	return o->start && start && start != o->start;
}

/* Only one may judge and remove at a time, else the second would remove the lock that the first has just made. */
static void remove_stale(const char *held, const char *mine)
{
	char *take = xasprintf("%s.take", held);
	struct owner o;
	struct stat st;
	int fd = open(take, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST && lstat(take, &st) == 0 && time(NULL) - st.st_mtime > BREAK_AGE_S)
		unlink(take);
	if (fd >= 0) {
		int old = open(held, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (old >= 0 && read_owner(old, &o) == 0 && stale(&o, mine))
			unlink(held);
		if (old >= 0)
			close(old);
		unlink(take);
		close(fd);
	}
	free(take);
}

static enum got try_held(struct lock *l, const char *path, struct err *e)
{
	char *held = xasprintf("%s.held", path), mine[256];
	struct owner o = {0, 0, ""};
	enum got r = BUSY;

	host_name(mine);
	for (int tries = 0; tries < 2; tries++) {
		int fd = make_held(held, e);
		if (fd >= 0) {
			l->fd = fd;
			l->path = held;
			return GOT;
		}
		if (errno != EEXIST) {
			r = BROKEN;
			break;
		}
		int old = open(held, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (old < 0)
			continue;
		int known = read_owner(old, &o);
		close(old);
		if (known < 0 || !stale(&o, mine))
			break;
		remove_stale(held, mine);
	}
	if (r == BUSY)
		in_use(l, path, &o, mine, e);
	free(held);
	return r;
}

int lock_take(struct lock *l, const char *path, long timeout_ms, int flags, struct err *e)
{
	long long until = io_now_ms() + timeout_ms;
	bool by_file = flags & LOCK_BY_FILE;

	*l = (struct lock){.fd = -1};
	for (int pause = 5;; pause = pause < 100 ? pause * 2 : 100) {
		struct err why = ERR_INIT;
		enum got r = by_file ? NO_FLOCK : try_flock(l, path, &why);

		if (r == NO_FLOCK) {
			by_file = true;
			r = try_held(l, path, &why);
		}
		if (r == GOT)
			return 0;
		long long left = until - io_now_ms();
		if (r == BROKEN || timeout_ms == 0 || (timeout_ms > 0 && left <= 0)) {
			if (e && !e->status)
				*e = why;
			return -1;
		}
		poll(NULL, 0, timeout_ms > 0 && left < pause ? (int)left : pause);
	}
}

void lock_release(struct lock *l)
{
	if (l->fd >= 0 && l->path)
		unlink(l->path);
	else if (l->fd >= 0)
		(void)!ftruncate(l->fd, 0);
	lock_forget(l);
}

void lock_forget(struct lock *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	l->fd = -1;
	l->path = NULL;
}

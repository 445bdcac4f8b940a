#include "sys/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sys/io.h"

#define EVENTS (IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | \
	IN_DELETE_SELF | IN_MOVE_SELF)

static void look(const struct watch *w, uint64_t seen[5])
{
	struct stat st;

	memset(seen, 0, 5 * sizeof *seen);
	if (stat(w->path, &st) < 0)
		return;
	seen[0] = (uint64_t)st.st_dev;
	seen[1] = (uint64_t)st.st_ino;
	seen[2] = (uint64_t)st.st_size;
	seen[3] = (uint64_t)st.st_mtim.tv_sec;
	seen[4] = (uint64_t)st.st_mtim.tv_nsec;
}

int watch_open(struct watch *w, const char *dir, const char *name, struct err *e)
{
	struct stat st;

	*w = (struct watch){.fd = -1};
	if (stat(dir, &st) < 0 || (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)))
		return err_sys(e, "cannot watch '%s'", dir);
	w->path = name ? xasprintf("%s/%s", dir, name) : xstrdup(dir);
	w->name = name ? xstrdup(name) : NULL;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd >= 0 && inotify_add_watch(w->fd, dir, EVENTS) < 0) {
		close(w->fd);
		w->fd = -1;
	}
	look(w, w->seen);
	return 0;
}

int watch_timeout(const struct watch *w)
{
	return w->fd >= 0 ? -1 : WATCH_POLL_MS;
}

static bool drain(struct watch *w)
{
	union {
		struct inotify_event align;
		char bytes[4096];
	} b;
	bool ours = false;
	ssize_t n;

	while ((n = read(w->fd, b.bytes, sizeof b.bytes)) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t at = 0; at < n;) {
			struct inotify_event ev;
			memcpy(&ev, b.bytes + at, sizeof ev);
			/* Lost events (IN_Q_OVERFLOW) and the end of the directory itself carry no name. */
			if (!w->name || !ev.len || !strcmp(b.bytes + at + sizeof ev, w->name))
				ours = true;
			at += (ssize_t)(sizeof ev + ev.len);
		}
	return ours;
}

bool watch_changed(struct watch *w)
{
	uint64_t now[5];

	if (w->fd >= 0)
		return drain(w);
	look(w, now);
	bool changed = memcmp(now, w->seen, sizeof now) != 0;
	memcpy(w->seen, now, sizeof now);
	return changed;
}

int watch_wait(struct watch *w, long timeout_ms)
{
	long long until = io_now_ms() + timeout_ms;

	while (!watch_changed(w)) {
		long long left = timeout_ms < 0 ? 60000 : until - io_now_ms();
		if (left <= 0)
			return 0;
		if (w->fd < 0 && left > WATCH_POLL_MS)
			left = WATCH_POLL_MS;
		if (left > 60000)
			left = 60000;
		poll(&(struct pollfd){.fd = w->fd, .events = POLLIN}, 1, (int)left);
	}
	return 1;
}

void watch_close(struct watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->path);
	free(w->name);
	*w = (struct watch){.fd = -1};
}

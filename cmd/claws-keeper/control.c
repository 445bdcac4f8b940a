/* control.c - asks every keeper of this user, or ends it. */
#include "keeper.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define ANSWER_MS 2000

/* Sends one frame and collects what comes until the other side ends it. */
static bool ask(const char *path, char what, struct buf *answer)
{
	long long end = io_now_ms() + ANSWER_MS, left;
	int fd = keeper_connect(path);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct buf out;
	bool over = false;

	if (fd < 0)
		return false;
	buf_init(&out, 64);
	keeper_put(&out, what, "", 0);
	if (send(fd, out.p, out.len, MSG_NOSIGNAL) != (ssize_t)out.len)
		over = true;
	while (!over && (left = end - io_now_ms()) > 0 && poll(&p, 1, (int)left) > 0) {
		char *at = buf_room(answer, 1024);
		ssize_t n = at ? read(fd, at, 1024) : 0;

		over = n <= 0;
		answer->len += n > 0 ? (size_t)n : 0;
	}
	buf_free(&out);
	close(fd);
	return answer->len > 0;
}

static bool status_of(const char *path)
{
	struct buf answer;
	struct keeper_frame f;
	size_t at = 0, going;
	long pid, persist;
	unsigned long served;
	bool found = false;
	char text[128];

	buf_init(&answer, 65536);
	ask(path, 's', &answer);
	while (keeper_next(&answer, &at, &f) > 0) {
		snprintf(text, sizeof text, "%.*s", (int)(f.len < 100 ? f.len : 100), f.p);
		if (f.type != 'S' || sscanf(text, "%ld %lu %zu %ld", &pid, &served, &going, &persist) != 4)
			continue;
		found = true;
		printf("process %ld: %lu requests served, %zu under way, ends after %.1f s without one\n", pid, served, going,
			(double)persist / 1000);
	}
	buf_free(&answer);
	return found;
}

static bool stop(const char *path)
{
	struct buf answer;
	bool there;

	buf_init(&answer, 65536);
	there = ask(path, 'q', &answer);
	buf_free(&answer);
	return there;
}

/* How many sockets there are on which `what` succeeds. */
static int each(bool (*what)(const char *path))
{
	struct buf dir, path;
	struct err e = ERR_INIT;
	const struct dirent *d;
	int n = 0;
	DIR *list;

	buf_init(&dir, PATH_MAX);
	buf_init(&path, sizeof ((struct sockaddr_un *)0)->sun_path - 1);
	if (dirs_runtime(&dir, NULL, &e) < 0)
		die_err(&e);
	list = opendir(dir.p);
	if (!list)
		die(ST_IO, "cannot read %s: %s", dir.p, strerror(errno));
	while ((d = readdir(list))) {
		const char *name = d->d_name + strlen(KEEPER_PREFIX);

		if (strncmp(d->d_name, KEEPER_PREFIX, strlen(KEEPER_PREFIX)) || strlen(name) != KEEPER_HASH)
			continue;
		buf_clear(&path);
		buf_addf(&path, "%s/%s", dir.p, d->d_name);
		if (!path.over)
			n += what(path.p);
	}
	closedir(list);
	buf_free(&dir);
	buf_free(&path);
	return n;
}

int control_status(void)
{
	if (each(status_of))
		return ST_OK;
	warn("none is running");
	return ST_FAILED;
}

int control_stop(void)
{
	if (each(stop))
		return ST_OK;
	warn("none is running");
	return ST_FAILED;
}

/* serve.c - the socket, its clients, and when it is all over. */
#include "keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"
#include "sys/sig.h"
#include "sys/watch.h"

#define BACKLOG 1024
#define FIXED 3   /* descriptors before the clients' */

/* Is the file still the socket that was made? */
static bool is_ours(const struct server *s)
{
	struct stat st;

	return lstat(s->path, &st) == 0 && (unsigned long long)st.st_dev == s->dev && (unsigned long long)st.st_ino == s->ino;
}

/* Who holds the lock is the keeper; a socket that is there then was left by one that was killed. */
int serve_open(struct server *s, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char *lock = xasprintf("%s.lock", path);
	struct err e = ERR_INIT;
	struct stat st;

	s->path = path;
	if (lock_take(&s->lock, lock, 0, 0, &e) < 0) {
		free(lock);
		if (e.status != ST_TEMP)
			die_err(&e);
		return -1;
	}
	free(lock);
	memcpy(a.sun_path, path, strlen(path) + 1);
	unlink(path);
	umask(0177);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&a, sizeof a) < 0 || listen(s->listener, BACKLOG) < 0 ||
	    lstat(path, &st) < 0)
		die(ST_IO, "socket %s: %s", path, strerror(errno));
	s->dev = (unsigned long long)st.st_dev;
	s->ino = (unsigned long long)st.st_ino;
	return 0;
}

/* From now on the next one may start; what is under way here is still done. */
static void let_nobody_in(struct server *s)
{
	if (s->listener < 0)
		return;
	if (is_ours(s))
		unlink(s->path);
	close(s->listener);
	s->listener = -1;
	s->ending = true;
	lock_release(&s->lock);
}

static void let_in(struct server *s)
{
	for (int i = 0; i < 64; i++) {
		int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct client *c;

		if (fd < 0) {
			s->full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
			return;
		}
		if (!keeper_peer(fd, NULL)) {
			close(fd);
			continue;
		}
		c = client_new(s, fd);
		c->next = s->clients;
		s->clients = c;
		s->nclients++;
		client_go_on(c, POLLIN);   /* its request is there already, as a rule */
	}
}

static void drop_the_gone(struct server *s)
{
	for (struct client **p = &s->clients, *c; (c = *p);) {
		if (!c->gone) {
			p = &c->next;
			continue;
		}
		*p = c->next;
		if (c->asked)
			s->idle_since = io_now_ms();
		client_free(c);
		s->nclients--;
		s->full = false;
	}
}

/* Until something has to be done without anybody's doing; -1: never. */
static long patience(const struct server *s, const struct watch *w)
{
	long wait = watch_timeout(w);
	long long left = s->idle_since + s->persist_ms - io_now_ms();

	if (s->nclients)
		return s->full && (wait < 0 || wait > 1000) ? 1000 : wait;   /* descriptors may be free again by somebody else's doing */
	if (left < 0)
		left = 0;
	return wait >= 0 && wait < left ? wait : left > 3600000 ? 3600000 : (long)left;
}

static void turn(struct server *s, struct sigs *sigs, struct watch *w)
{
	struct pollfd *p = xcalloc(s->nclients + FIXED, sizeof *p);
	struct err e = ERR_INIT;
	size_t i = FIXED;
	int again;

	p[0] = (struct pollfd){.fd = s->full ? -1 : s->listener, .events = POLLIN};
	p[1] = (struct pollfd){.fd = sigs->fd, .events = POLLIN};
	p[2] = (struct pollfd){.fd = w->fd, .events = POLLIN};
	for (const struct client *c = s->clients; c; c = c->next)
		p[i++] = (struct pollfd){.fd = c->fd, .events = client_events(c)};
	if (transfers_wait(s->net, p, i, patience(s, w), &e) < 0)
		die_err(&e);
	i = FIXED;
	for (struct client *c = s->clients; c; c = c->next)
		client_go_on(c, p[i++].revents);
	while (sig_read(sigs, NULL) > 0) {
		if (s->ending)
			exit(ST_OK);   /* told twice */
		s->ending = true;
	}
	if (watch_changed(w) && s->listener >= 0 && !is_ours(s))
		s->ending = true;
	again = s->listener >= 0 && !s->ending && (p[0].revents & POLLIN);
	free(p);
	if (again)
		let_in(s);
	drop_the_gone(s);
	if (s->ending || (!s->nclients && io_now_ms() >= s->idle_since + s->persist_ms))
		let_nobody_in(s);
}

void serve(struct server *s)
{
	char *dir = xstrndup(s->path, (size_t)(strrchr(s->path, '/') - s->path));
	struct rlimit files;
	struct err e = ERR_INIT;
	struct sigs sigs;
	struct watch w;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (sig_open(&sigs, (const int[]){SIGTERM, SIGINT, SIGHUP, 0}, &e) < 0 ||
	    watch_open(&w, dir, strrchr(s->path, '/') + 1, &e) < 0 || !(s->net = transfers_open(&e))) {
		let_nobody_in(s);
		die_err(&e);
	}
	s->idle_since = io_now_ms();
	while (s->listener >= 0 || s->nclients)
		turn(s, &sigs, &w);
	transfers_close(s->net);
	watch_close(&w);
	sig_close(&sigs);
	free(dir);
}

/* key.c - where a provider's key comes from. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "llm/provider.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define KEY_MAX 16384
#define KEY_COMMAND_MS 10000

/* A copy without the white space around it: keys come out of files with a line end. NULL if nothing is left. */
static char *trimmed(const char *v)
{
	size_t n;

	while (isspace((unsigned char)*v))
		v++;
	n = strlen(v);
	while (n && isspace((unsigned char)v[n - 1]))
		n--;
	return n ? xstrndup(v, n) : NULL;
}

static void wipe(struct buf *b)
{
	if (b->p)
		explicit_bzero(b->p, b->len);
	buf_free(b);
}

/* Reads fd until its end. 0, or -1: the time is over or it is too much. */
static int read_bounded(int fd, struct buf *out, long long end)
{
	char *room;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		long long left = end - io_now_ms();
		ssize_t n;

		if (left <= 0)
			return -1;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		room = buf_room(out, 1024);
		if (!room)
			return -1;
		n = read(fd, room, 1024);
		if (n == 0)
			return 0;
		if (n > 0)
			out->len += (size_t)n;
		else if (errno != EINTR && errno != EAGAIN)
			return -1;
	}
}

/* True: it has ended in time. What still runs though it has said all is not waited for for ever. */
static bool ended(pid_t pid, int *wstatus, long long end)
{
	pid_t r;

	while ((r = waitpid(pid, wstatus, WNOHANG)) == 0 && io_now_ms() < end)
		poll(NULL, 0, 5);
	return r == pid;
}

static int run_command(const struct provider *p, struct buf *out, struct err *e)
{
	long long end = io_now_ms() + KEY_COMMAND_MS;
	int fd[2], wstatus = 0;
	bool late;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	struct spawn_fd map[] = {{0, SPAWN_NULL}, {1, fd[1]}};
	struct spawn s = {.argv = (const char *const *)p->key_command, .fds = map, .nfds = 2, .group = SPAWN_GROUP};

	pid = spawn_start(&s, e);
	close(fd[1]);
	if (pid < 0) {
		close(fd[0]);
		return err_wrap(e, "key_command of %s", p->name);
	}
	late = read_bounded(fd[0], out, end) < 0;
	close(fd[0]);
	if (late || !ended(pid, &wstatus, end)) {
		late = true;
		kill(-pid, SIGKILL);
		while (waitpid(pid, &wstatus, 0) < 0 && errno == EINTR)
			;
	}
	if (late)
		return err_set(e, ST_CONFIG, "key_command of %s (%s): it did not end within %d s, or it said more than a key",
			p->name, p->key_command[0], KEY_COMMAND_MS / 1000);
	if (wstatus)
		return err_set(e, ST_CONFIG, "key_command of %s (%s): it failed with status %d", p->name, p->key_command[0],
			status_of_wait(wstatus));
	return 0;
}

/* ~/ is the home directory: the file is named by a person. */
static int read_key_file(const struct provider *p, struct buf *out, struct err *e)
{
	const char *home = getenv("HOME");
	char *path = p->key_file[0] == '~' && p->key_file[1] == '/' && home ? xasprintf("%s%s", home, p->key_file + 1)
	                                                                   : xstrdup(p->key_file);
	int bad = io_read_file(AT_FDCWD, path, out, e);

	free(path);
	if (bad < 0) {
		err_wrap(e, "key_file of %s", p->name);
		if (e)
			e->status = ST_CONFIG;
	}
	return bad;
}

static const char *from_environment(const struct provider *p, const char **name)
{
	for (char **k = p->key_env; k && *k; k++) {
		const char *v = getenv(*name = *k);

		if (v && *v)
			return v;
	}
	return NULL;
}

int provider_key(const struct provider *p, bool run, char **key, char **from, struct err *e)
{
	const char *name = NULL, *v = from_environment(p, &name), *general = getenv("CLAWS_API_KEY");
	struct buf b;
	int bad = 0;

	*key = *from = NULL;
	buf_init(&b, KEY_MAX);
	if (v) {
		*key = trimmed(v);
		*from = xstrdup(name);
	} else if (p->key_file) {
		bad = run ? read_key_file(p, &b, e) : 0;
		*from = xasprintf("key_file %s", p->key_file);
	} else if (p->key_command) {
		bad = run ? run_command(p, &b, e) : 0;
		*from = xasprintf("key_command %s", p->key_command[0]);
	} else if (general && *general && !p->general_of) {
		*key = trimmed(general);
		*from = xstrdup("CLAWS_API_KEY");
	}
	if (!bad && b.len) {
		buf_term(&b);
		*key = trimmed(b.p);
	}
	wipe(&b);
	for (const char *c = *key; !bad && c && *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			bad = err_set(e, ST_CONFIG, "the key in %s is not one: it holds white space or other characters that no key has",
				*from);
	if (bad) {
		if (*key)
			explicit_bzero(*key, strlen(*key));
		free(*key);
		free(*from);
		*key = *from = NULL;
	}
	return bad ? -1 : 0;
}

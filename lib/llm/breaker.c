#include "llm/breaker.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define RECORD 256          /* one block: its pwrite is whole */

struct record {
	char state;         /* 'c', 'o', 'p' as enum breaker_say */
	int64_t since;      /* of the state */
	long pid;           /* who probes */
	int64_t failed[BREAKER_FAILURES];   /* newest last; 0 none */
};

int64_t breaker_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void breaker_open(struct breaker *b, const char *name)
{
	struct buf path, file;

	*b = (struct breaker){0};
	buf_init(&path, PATH_MAX);
	buf_init(&file, 256);
	buf_adds(&file, "breaker/");
	for (const char *c = name; *c && file.len < 200; c++)
		buf_addc(&file, isalnum((unsigned char)*c) || (strchr("@_-", *c)) || (*c == '.' && c > name) ? *c : '_');
	if (dirs_state_path(&path, file.p, NULL) == 0)
		b->path = xstrdup(path.p);
	buf_free(&file);
	buf_free(&path);
}

void breaker_close(struct breaker *b)
{
	free(b->path);
	*b = (struct breaker){0};
}

/* ---- the file ---- */

/* Opens and locks it; -1: there is none (or no place for one). A file that was removed while we waited for its lock is
 * not it any more. */
static int take(const struct breaker *b, bool make)
{
	struct stat st, now;

	if (!b->path)
		return -1;
	for (int tries = 0; tries < 100; tries++) {
		int fd = open(b->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (make ? O_CREAT : 0), 0600);

		if (fd < 0 && errno == ENOENT && make && tries == 0) {
			char *dir = xstrdup(b->path), *slash = strrchr(dir, '/');

			*slash = 0;
			io_mkdirs(dir, 0700, NULL);
			free(dir);
			continue;
		}
		if (fd < 0)
			return -1;
		while (flock(fd, LOCK_EX) < 0)
			if (errno != EINTR) {
				close(fd);
				return -1;
			}
		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
			close(fd);
			return -1;
		}
		if (stat(b->path, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev)
			return fd;
		close(fd);
	}
	return -1;
}

static void load(int fd, struct record *r)
{
	char text[RECORD + 1];
	ssize_t n = pread(fd, text, RECORD, 0);
	int got;

	*r = (struct record){.state = 'c'};
	if (n <= 0)
		return;
	text[n] = 0;
	got = sscanf(text, "claws-breaker 1 %c %" SCNd64 " %ld %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " .",
		&r->state, &r->since, &r->pid, &r->failed[0], &r->failed[1], &r->failed[2], &r->failed[3], &r->failed[4]);
	for (int i = 0; got > 3 && i < BREAKER_FAILURES; i++)
		if (r->failed[i] < 0)
			got = 0;
	if (got != 3 + BREAKER_FAILURES || !strchr("cop", r->state) || r->since < 0)
		*r = (struct record){.state = 'c'};
}

static void store(int fd, const struct record *r)
{
	char text[RECORD + 1];
	int n = snprintf(text, sizeof text,
		"claws-breaker 1 %c %" PRId64 " %ld %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " .\n",
		r->state, r->since, r->pid, r->failed[0], r->failed[1], r->failed[2], r->failed[3], r->failed[4]);

	if (n <= 0 || n >= RECORD)
		return;
	memset(text + n, ' ', (size_t)(RECORD - n));
	text[RECORD - 1] = '\n';
	/* a disk that is full leaves what was there: a failure is not counted, and the call goes on */
	if (pwrite(fd, text, RECORD, 0) != RECORD)
		return;
}

/* ---- the rules ---- */

static bool alive(long pid)
{
	return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

#define AHEAD_MS 10000   /* who waited for the lock read the clock before the one who had it */

/* Of a time that began then: how much of it is left. A time far to come is of another boot: over. */
static int64_t left_of(int64_t since, int64_t length, int64_t now)
{
	if (since > now && since - AHEAD_MS <= now)
		return length;
	return since > now || now - since >= length ? 0 : length - (now - since);
}

enum breaker_say breaker_ask(struct breaker *b, int64_t now, int64_t *left_ms)
{
	enum breaker_say say = BREAKER_PROBE;
	struct record r;
	int fd;

	*left_ms = 0;
	b->recorded = false;
	if ((fd = take(b, false)) < 0)
		return BREAKER_CLOSED;
	b->recorded = true;
	load(fd, &r);
	if (r.state == 'c') {
		say = BREAKER_CLOSED;
	} else if (r.state == 'o' && (*left_ms = left_of(r.since, BREAKER_OPEN_MS, now)) > 0) {
		say = BREAKER_OPEN;
	} else if (r.state == 'p' && r.pid != getpid() && alive(r.pid) &&
	           (*left_ms = left_of(r.since, BREAKER_OPEN_MS, now)) > 0) {
		say = BREAKER_OPEN;
	} else {
		r.state = 'p';
		r.since = now;
		r.pid = getpid();
		store(fd, &r);
	}
	close(fd);
	return say;
}

bool breaker_failed(struct breaker *b, int64_t now)
{
	bool opened = false;
	struct record r;
	int fd = take(b, true), within = 1;

	if (fd < 0)
		return false;
	b->recorded = true;
	load(fd, &r);
	if (r.state == 'p' && r.pid == getpid()) {
		opened = true;
	} else if (r.state == 'c') {
		for (int i = 0; i < BREAKER_FAILURES; i++)
			within += r.failed[i] > 0 && left_of(r.failed[i], BREAKER_WITHIN_MS, now) > 0;
		memmove(r.failed, r.failed + 1, sizeof r.failed - sizeof *r.failed);
		r.failed[BREAKER_FAILURES - 1] = now;
		opened = within >= BREAKER_FAILURES;
	}
	if (opened) {
		r.state = 'o';
		r.since = now;
		r.pid = 0;
	}
	/* a call from before it opened says nothing new */
	if (r.state == 'c' || opened)
		store(fd, &r);
	close(fd);
	return opened;
}

void breaker_reset(struct breaker *b)
{
	int fd = take(b, false);

	if (fd < 0)
		return;
	unlink(b->path);
	close(fd);
	b->recorded = false;
}

void breaker_worked(struct breaker *b)
{
	if (b->recorded)
		breaker_reset(b);
}

void breaker_gave_up(struct breaker *b)
{
	struct record r;
	int fd;

	if (!b->recorded || (fd = take(b, false)) < 0)
		return;
	load(fd, &r);
	if (r.state == 'p' && r.pid == getpid()) {
		r.state = 'o';
		r.since = INT64_MAX;  /* over: the next that asks may try */
		store(fd, &r);
	}
	close(fd);
}

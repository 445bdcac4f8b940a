#include "llm/quota.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define HOLDS 512                  /* calls that run at the same time; more wait */
#define MOST INT64_C(1000000000000000000)

struct hold { long pid; long long start; int64_t amount[QUOTA_UNITS]; };

struct state {
	int fd, sum;                   /* PATH, locked; PATH.sum */
	int64_t upto;                  /* bytes of PATH that are in total */
	int64_t total[QUOTA_UNITS];
	size_t nholds;
	struct hold hold[HOLDS];
};

/* ---- amounts ---- */

/* digits[.digits] times unit, exactly. */
static int number(const char *p, const char *end, int64_t unit, int64_t *out)
{
	int64_t n = 0, part = unit;
	bool digits = false, point = false;

	for (; p < end; p++) {
		if (*p == '.' && !point) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*p))
			return -1;
		digits = true;
		if (point) {
			part /= 10;
			n += (*p - '0') * part;
		} else {
			if (n > MOST / 10 || (*p - '0') * unit > MOST - n * 10)
				return -1;
			n = n * 10 + (*p - '0') * unit;
		}
	}
	*out = n;
	return digits && n > 0 ? 0 : -1;
}

int quota_parse(const char *text, enum quota_unit *unit, int64_t *amount, struct err *e)
{
	const char *p = text, *end = text + strlen(text);
	int64_t one = 1;

	*unit = QUOTA_TOKENS;
	if (*p == '$') {
		*unit = QUOTA_USD;
		p++;
	} else if (end > p && end[-1] == '$') {
		*unit = QUOTA_USD;
		end--;
	} else if (end - p > 3 && !strcasecmp(end - 3, "usd")) {
		*unit = QUOTA_USD;
		end -= 3;
	} else if (end > p && strchr("kKmM", end[-1])) {
		one = tolower((unsigned char)end[-1]) == 'k' ? 1000 : 1000000;
		end--;
	}
	if (*unit == QUOTA_USD)
		one = QUOTA_DOLLAR;
	if (number(p, end, one, amount) < 0)
		return err_set(e, ST_USAGE, "\"%.100s\" is no budget: give dollars ($5, 5usd) or tokens (200k, 1.5m, 30000), "
			"more than none", text);
	return 0;
}

void quota_format(char *out, size_t n, enum quota_unit unit, int64_t v)
{
	if (unit == QUOTA_USD && v > 0 && v < QUOTA_DOLLAR / 100)
		snprintf(out, n, "$%.6f", (double)v / (double)QUOTA_DOLLAR);
	else if (unit == QUOTA_USD)
		snprintf(out, n, "$%" PRId64 ".%02d", v / QUOTA_DOLLAR, (int)(v % QUOTA_DOLLAR / (QUOTA_DOLLAR / 100)));
	else if (v >= 1000000)
		snprintf(out, n, "%" PRId64 ".%dm", v / 1000000, (int)(v % 1000000 / 100000));
	else if (v >= 1000)
		snprintf(out, n, "%" PRId64 "k", v / 1000);
	else
		snprintf(out, n, "%" PRId64, v);
}

/* ---- the files ---- */

static long long start_of(long pid)
{
	char path[64], text[1024], *p;
	long long start = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	/* proc(5): the name, which may hold anything, is in brackets; start is field 22 */
	if (!(p = strrchr(text, ')')) || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			"%*d %*d %lld", &start) != 1)
		return 0;
	return start;
}

static void add_line(struct state *s, struct json *j, const char *line, size_t n)
{
	int64_t v;

	if (json_parse(j, line, n, NULL) < 0)
		return;
	if (json_i64(j, json_get(j, 0, "tokens"), &v) == 0 && v > 0 && s->total[QUOTA_TOKENS] < MOST - v)
		s->total[QUOTA_TOKENS] += v;
	if (json_i64(j, json_get(j, 0, "nanousd"), &v) == 0 && v > 0 && s->total[QUOTA_USD] < MOST - v)
		s->total[QUOTA_USD] += v;
}

/* What PATH has beyond the sum: after a crash, or all of it. */
static int catch_up(struct state *s, const char *path, struct err *e)
{
	struct json j = JSON_INIT;
	struct buf rest;
	char *line, *nl, piece[65536];
	ssize_t n;

	buf_init(&rest, BUF_NOLIMIT);
	while ((n = pread(s->fd, piece, sizeof piece, s->upto + (off_t)rest.len)) > 0) {
		buf_add(&rest, piece, (size_t)n);
		for (line = rest.p; (nl = memchr(line, '\n', rest.len - (size_t)(line - rest.p))); line = nl + 1)
			add_line(s, &j, line, (size_t)(nl - line));
		s->upto += line - rest.p;
		buf_cut(&rest, (size_t)(line - rest.p));
	}
	json_free(&j);
	buf_free(&rest);
	return n < 0 ? err_sys(e, "%s", path) : 0;
}

static void load(struct state *s, off_t size)
{
	char *text = xmalloc((HOLDS + 2) * 96), *p = text;
	ssize_t n = pread(s->sum, text, (HOLDS + 2) * 96 - 1, 0);
	int used = 0;
	bool whole;

	text[n > 0 ? n : 0] = 0;
	whole = n > 2 && !strcmp(text + n - 2, ".\n") &&
		sscanf(text, "claws-quota 1 %" SCNd64 " %" SCNd64 " %" SCNd64 "\n%n", &s->upto, &s->total[0], &s->total[1],
			&used) == 3 && s->upto >= 0 && s->upto <= size;
	if (!whole) {
		s->upto = s->total[0] = s->total[1] = 0;
		free(text);
		return;
	}
	for (p += used; s->nholds < HOLDS; p += used) {
		struct hold *h = &s->hold[s->nholds];

		if (sscanf(p, "%ld %lld %" SCNd64 " %" SCNd64 "\n%n", &h->pid, &h->start, &h->amount[0], &h->amount[1], &used) != 4)
			break;
		if (h->pid > 0 && h->start && start_of(h->pid) == h->start)
			s->nholds++;
	}
	free(text);
}

static int store(struct state *s, const char *path, struct err *e)
{
	struct buf b;
	int status = 0;

	buf_init(&b, BUF_NOLIMIT);
	buf_addf(&b, "claws-quota 1 %" PRId64 " %" PRId64 " %" PRId64 "\n", s->upto, s->total[0], s->total[1]);
	for (size_t i = 0; i < s->nholds; i++)
		buf_addf(&b, "%ld %lld %" PRId64 " %" PRId64 "\n", s->hold[i].pid, s->hold[i].start, s->hold[i].amount[0],
			s->hold[i].amount[1]);
	buf_adds(&b, ".\n");
	/* in this order: a file that is emptied and filled again is written out at once by some file systems */
	if (pwrite(s->sum, b.p, b.len, 0) != (ssize_t)b.len || ftruncate(s->sum, (off_t)b.len) < 0)
		status = err_sys(e, "%s.sum", path);
	buf_free(&b);
	return status;
}

static void leave(struct state *s)
{
	if (s->sum >= 0)
		close(s->sum);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static int open_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	if (fd < 0 && errno == ENOENT) {
		char *dir = xstrdup(path), *slash = strrchr(dir, '/');

		if (slash && slash > dir) {
			*slash = 0;
			io_mkdirs(dir, 0700, NULL);
		}
		free(dir);
		fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	}
	if (fd < 0) {
		err_sys(e, "%s", path);
		if (e)
			e->status = ST_IO;
	}
	return fd;
}

static struct state *enter(const struct quota *q, struct err *e)
{
	struct state *s = xcalloc(1, sizeof *s);
	struct buf sum;
	struct stat st;

	s->sum = -1;
	if ((s->fd = open_file(q->path, e)) < 0)
		goto bad;
	while (flock(s->fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			err_sys(e, "%s: cannot be locked", q->path);
			goto bad;
		}
	if (fstat(s->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(e, ST_IO, "%s: not a regular file", q->path);
		goto bad;
	}
	buf_init(&sum, PATH_MAX + 8);
	buf_addf(&sum, "%s.sum", q->path);
	s->sum = open(sum.p, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (s->sum < 0)
		err_sys(e, "%s", sum.p);
	buf_free(&sum);
	if (s->sum < 0)
		goto bad;
	load(s, st.st_size);
	if (catch_up(s, q->path, e) == 0)
		return s;
bad:
	leave(s);
	return NULL;
}

/* ---- the rules ---- */

void quota_open(struct quota *q, const char *path)
{
	*q = (struct quota){.path = path ? xstrdup(path) : NULL};
}

void quota_close(struct quota *q)
{
	quota_release(q);
	free(q->path);
	*q = (struct quota){0};
}

static void drop(struct state *s)
{
	long me = (long)getpid();
	size_t n = 0;

	for (size_t i = 0; i < s->nholds; i++)
		if (s->hold[i].pid != me)
			s->hold[n++] = s->hold[i];
	s->nholds = n;
}

/* 0, 80 or 95. */
static int part(int64_t used, int64_t limit)
{
	if (limit <= 0 || used >= limit)
		return 0;
	return (double)used >= 0.95 * (double)limit ? 95 : (double)used >= 0.8 * (double)limit ? 80 : 0;
}

enum quota_say quota_reserve(struct quota *q, const int64_t *input, int64_t *output, struct quota_hit *hit, struct err *e)
{
	enum quota_say say = QUOTA_GO;
	struct state *s = enter(q, e);
	struct hold mine = {.pid = (long)getpid()};

	if (!s)
		return QUOTA_ERROR;
	drop(s);
	for (int u = 0; u < QUOTA_UNITS; u++) {
		int64_t held = 0, left;

		q->used[u] = s->total[u];
		mine.amount[u] = input[u] + output[u];
		if (!q->limit[u])
			continue;
		for (size_t i = 0; i < s->nholds; i++)
			held += s->hold[i].amount[u];
		if (s->total[u] >= q->limit[u] || input[u] >= q->limit[u] - s->total[u]) {
			*hit = (struct quota_hit){(enum quota_unit)u, q->limit[u], s->total[u]};
			say = QUOTA_FULL;
			break;
		}
		left = q->limit[u] - s->total[u] - held - input[u];
		if (held && left < output[u])
			say = QUOTA_WAIT;
		else if (left < output[u])
			output[u] = left;
		mine.amount[u] = input[u] + output[u];
	}
	if (say == QUOTA_GO && s->nholds == HOLDS)
		say = QUOTA_WAIT;
	if (say == QUOTA_GO) {
		mine.start = start_of(mine.pid);
		s->hold[s->nholds++] = mine;
	}
	if (store(s, q->path, e) < 0)
		say = QUOTA_ERROR;
	q->held = say == QUOTA_GO;
	leave(s);
	return say;
}

int quota_settle(struct quota *q, const char *line, const int64_t *spent, int *warn, struct err *e)
{
	struct state *s = enter(q, e);
	struct buf b;
	off_t end;
	int status;

	warn[QUOTA_TOKENS] = warn[QUOTA_USD] = 0;
	if (!s)
		return -1;
	q->held = false;
	drop(s);
	buf_init(&b, BUF_NOLIMIT);
	end = lseek(s->fd, 0, SEEK_END);
	if (end > s->upto)
		buf_addc(&b, '\n');     /* a torn line: it ends here */
	buf_adds(&b, line);
	buf_addc(&b, '\n');
	status = io_write_all(s->fd, b.p, b.len, e);
	if (status == 0) {
		for (int u = 0; u < QUOTA_UNITS; u++) {
			int64_t before = s->total[u];

			s->total[u] += spent[u];
			q->used[u] = s->total[u];
			if (part(s->total[u], q->limit[u]) > part(before, q->limit[u]))
				warn[u] = part(s->total[u], q->limit[u]);
		}
		s->upto = end + (off_t)b.len;
	}
	buf_free(&b);
	if (store(s, q->path, e) < 0)
		status = -1;
	leave(s);
	return status;
}

void quota_release(struct quota *q)
{
	struct state *s;

	if (!q->path || !q->held || !(s = enter(q, NULL)))
		return;
	drop(s);
	store(s, q->path, NULL);
	leave(s);
	q->held = false;
}

int quota_read(struct quota *q, struct err *e)
{
	struct state *s;

	if (access(q->path, F_OK) != 0 && errno == ENOENT) {
		q->used[0] = q->used[1] = 0;
		return 0;
	}
	if (!(s = enter(q, e)))
		return -1;
	memcpy(q->used, s->total, sizeof q->used);
	leave(s);
	return 0;
}

int quota_day_path(struct buf *path, int64_t t, struct err *e)
{
	time_t when = (time_t)t;
	char name[64];
	struct tm tm;

	gmtime_r(&when, &tm);
	strftime(name, sizeof name, "quota/%Y-%m-%d.ndjson", &tm);
	return dirs_state_path(path, name, e);
}

int quota_session_path(struct buf *path, const char *log, struct err *e)
{
	char digest[SHA256_HEX], name[64];

	sha256_hex(digest, log, strlen(log));
	snprintf(name, sizeof name, "quota/session-%.24s.ndjson", digest);
	return dirs_state_path(path, name, e);
}

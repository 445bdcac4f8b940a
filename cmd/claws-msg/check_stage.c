/* check_stage.c - claws-msg check-stage: does a filter keep the rules of the pipeline?
 *
 * The filter gets probes, one at a time, each a line that it cannot know, and must hand each on, byte for byte, before it
 * gets the next; then its stdin is closed. What it says besides is its own business. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "json/json.h"
#include "msg_cmd.h"
#include "sys/io.h"
#include "sys/spawn.h"

struct filter {
	pid_t pid;
	int in, out;            /* its stdin and stdout, our ends; -1: closed */
	struct buf got;         /* all it wrote */
	long timeout;
	bool late;              /* a probe was waited for in vain: the others get less time */
	int bad;
};

struct probe {
	const char *what;       /* completes "passes on ..." */
	const char *mark;       /* found in this probe's line only */
	const char *line;       /* without the line end */
	bool may_change;        /* handed on or named in an error event: both are right */
};

static const struct probe probes[] = {
	{"a line of an unknown type", "probe-1", "{\"type\":\"x-probe\",\"mark\":\"probe-1\"}", false},
	{"blanks, escapes and long numbers as they are", "probe-2",
	 "{ \"type\" : \"x-probe\", \"mark\":\"probe-2\" , \"n\":12345678901234567890, \"f\":1.50, \"e\":1E2, "
	 "\"s\":\"\\u00e9\\/\\ud83d\\ude00 \303\251\", \"deep\":{\"a\":[1,{\"b\":null}]} }", false},
	{"unknown keys of a known event", "probe-3", "{\"type\":\"notice\",\"text\":\"probe-3\",\"x_extra\":[1,{\"y\":2}]}", false},
	{"a line that comes in two parts", "probe-4", "{\"type\":\"x-probe\",\"mark\":\"probe-4\",\"pad\":\"........\"}", false},
	{"two lines that come in one write: the first", "probe-5", "{\"type\":\"x-probe\",\"mark\":\"probe-5\"}", false},
	{"two lines that come in one write: the second", "probe-6", "{\"type\":\"x-probe\",\"mark\":\"probe-6\"}", false},
	{"a line that is not JSON, or an error event that names it", "probe-7", "{\"type\":\"x-probe\",\"mark\":\"probe-7\",", true},
	{"a line after the bad one", "probe-8", "{\"type\":\"x-probe\",\"mark\":\"probe-8\"}", false},
};
enum { PROBES = sizeof probes / sizeof *probes, TWO_PARTS = 3, ONE_WRITE = 4, LONG_LINE = 300000 };

static void take(struct filter *f)
{
	char *room = buf_room(&f->got, 65536);
	ssize_t n = room ? read(f->out, room, 65536) : 0;

	if (n > 0) {
		f->got.len += (size_t)n;
		buf_term(&f->got);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(f->out);
		f->out = -1;
	}
}

/* Waits until something happened or the time is over; false: it is over. */
static bool step(struct filter *f, long long until, bool writing)
{
	struct pollfd p[2] = {{f->out, POLLIN, 0}, {writing ? f->in : -1, POLLOUT, 0}};
	long long left = until - io_now_ms();

	if (left <= 0 || (f->out < 0 && !writing) || poll(p, 2, (int)left) < 0)
		return false;
	if (p[0].revents)
		take(f);
	return true;
}

static void send_bytes(struct filter *f, const char *p, size_t n)
{
	long long until = io_now_ms() + f->timeout;

	while (n && f->in >= 0) {
		ssize_t k = write(f->in, p, n);

		if (k > 0) {
			p += k;
			n -= (size_t)k;
		} else if (k < 0 && errno == EAGAIN) {
			if (!step(f, until, true))
				return;
		} else if (errno != EINTR) {
			close(f->in);
			f->in = -1;
		}
	}
}

/* Is this line among the output, whole and unchanged? */
static bool has_line(const struct filter *f, const char *line, size_t n)
{
	for (const char *p = f->got.p, *end = p + f->got.len, *lf; p < end && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1)
		if ((size_t)(lf - p) == n && !memcmp(p, line, n))
			return true;
	return false;
}

/* An error event in the output? */
static bool has_error(const struct filter *f)
{
	struct json j = JSON_INIT;
	bool found = false;

	for (const char *p = f->got.p, *lf; !found && (lf = strchr(p, '\n')); p = lf + 1)
		found = json_parse(&j, p, (size_t)(lf - p), NULL) == 0 && json_eq(&j, json_get(&j, 0, "type"), "error");
	json_free(&j);
	return found;
}

static bool there(const struct filter *f, const struct probe *p, size_t n)
{
	return has_line(f, p->line, n) || (p->may_change && has_error(f));
}

static bool await(struct filter *f, const struct probe *p, size_t n)
{
	long long until = io_now_ms() + (f->late ? 100 : f->timeout);

	while (!there(f, p, n))
		if (!step(f, until, false)) {
			f->late = true;
			return false;
		}
	return true;
}

static void report(struct filter *f, bool good, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void report(struct filter *f, bool good, const char *fmt, ...)
{
	va_list ap;

	fputs(good ? "ok: " : "not ok: ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	f->bad += !good;
}

/* What became of a probe, told once all has been read. */
static void judge(struct filter *f, const struct probe *p, size_t n, bool in_time)
{
	if (in_time)
		report(f, true, "passes on %s", p->what);
	else if (there(f, p, n))
		report(f, false, "passes on %s: holds it back", p->what);
	else if (strstr(f->got.p, p->mark))
		report(f, false, "passes on %s: changes it", p->what);
	else
		report(f, false, "passes on %s: drops it", p->what);
}

static void feed(struct filter *f, bool in_time[PROBES])
{
	for (int i = 0; i < PROBES; i++) {
		const char *line = probes[i].line;
		size_t n = strlen(line);

		if (i == TWO_PARTS) {
			send_bytes(f, line, n / 2);
			step(f, io_now_ms() + 20, false);
			send_bytes(f, line + n / 2, n - n / 2);
			send_bytes(f, "\n", 1);
		} else if (i == ONE_WRITE) {
			char both[256];
			int k = snprintf(both, sizeof both, "%s\n%s\n", line, probes[i + 1].line);

			send_bytes(f, both, (size_t)k);
		} else if (i != ONE_WRITE + 1) {
			char whole[512];
			int k = snprintf(whole, sizeof whole, "%s\n", line);

			send_bytes(f, whole, (size_t)k);
		}
		in_time[i] = await(f, &probes[i], n);
	}
}

static bool feed_long(struct filter *f, struct buf *line)
{
	struct probe p = {"a line of 300 kB", "probe-9", line->p, false};

	buf_adds(line, "{\"type\":\"x-probe\",\"mark\":\"probe-9\",\"pad\":\"");
	for (int i = 0; i < LONG_LINE; i++)
		buf_addc(line, (char)('a' + i % 26));
	buf_adds(line, "\"}");
	send_bytes(f, line->p, line->len);
	send_bytes(f, "\n", 1);
	p.line = line->p;
	return await(f, &p, line->len);
}

/* Closes its stdin: it must end. Returns its wait status, or -1 if it had to be killed. */
static int finish_filter(struct filter *f)
{
	long long until = io_now_ms() + f->timeout + 3000;
	int status;

	if (f->in >= 0)
		close(f->in);
	f->in = -1;
	while (f->out >= 0 && step(f, until, false))
		;
	while (waitpid(f->pid, &status, WNOHANG) == 0) {
		if (io_now_ms() >= until) {
			spawn_end(f->pid, true, 200);
			return -1;
		}
		poll(NULL, 0, 5);
	}
	kill(-f->pid, SIGKILL);         /* what it left behind */
	return status;
}

static void start(struct filter *f, char **argv)
{
	int in[2], out[2];
	struct err e = ERR_INIT;
	struct spawn s = {.argv = (const char *const *)argv, .group = SPAWN_GROUP};
	struct spawn_fd map[2];

	if (io_pipe(in, &e) < 0 || io_pipe(out, &e) < 0)
		die_err(&e);
	map[0] = (struct spawn_fd){0, in[0]};
	map[1] = (struct spawn_fd){1, out[1]};
	s.fds = map;
	s.nfds = 2;
	f->pid = spawn_start(&s, &e);
	if (f->pid < 0)
		die_err(&e);
	close(in[0]);
	close(out[1]);
	f->in = in[1];
	f->out = out[0];
	if (io_nonblock(f->in, true, &e) < 0 || io_nonblock(f->out, true, &e) < 0)
		die_err(&e);
}

static void judge_end(struct filter *f, int status)
{
	if (status == -1)
		report(f, false, "ends at end of file: had to be killed");
	else if (WIFSIGNALED(status))
		report(f, false, "ends at end of file: ended by %s", spawn_signal_name(WTERMSIG(status)));
	else
		report(f, true, "ends at end of file (status %d)", WEXITSTATUS(status));
	report(f, !f->got.len || f->got.p[f->got.len - 1] == '\n', "its last line is whole");
}

int cmd_check_stage(const struct conf *c, int argc, char **argv)
{
	struct filter f = {.timeout = c->timeout};
	bool in_time[PROBES], long_in_time;
	struct probe huge = {"a line of 300 kB", "probe-9", NULL, false};
	struct buf line;
	int status;

	if (!argc)
		die(ST_USAGE, "check-stage: the filter's command is missing");
	signal(SIGPIPE, SIG_IGN);       /* a filter that ends early is a finding */
	buf_init(&f.got, (size_t)64 << 20);
	buf_init(&line, BUF_NOLIMIT);
	start(&f, argv);
	feed(&f, in_time);
	long_in_time = feed_long(&f, &line);
	status = finish_filter(&f);
	huge.line = line.p;
	for (int i = 0; i < PROBES; i++)
		judge(&f, &probes[i], strlen(probes[i].line), in_time[i]);
	judge(&f, &huge, line.len, long_in_time);
	judge_end(&f, status);
	buf_free(&f.got);
	buf_free(&line);
	return f.bad ? ST_FAILED : ST_OK;
}

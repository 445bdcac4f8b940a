#include "tools/grepback.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "sys/guard.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define PREFIX "/proc/self/fd/"
#define STDERR_MAX 4000

static bool inside(const char *path, const struct tool_ctx *c)
{
	static const char *const system[] = {"/usr/bin", "/bin", "/usr/local/bin"};
	char real[PATH_MAX], root[PATH_MAX];
	if (!realpath(path, real))
		return true;
	for (size_t i = 0; i < sizeof system / sizeof *system; i++) {
		size_t n = strlen(system[i]);
		if (strncmp(real, system[i], n) == 0 && (real[n] == '/' || real[n] == '\0'))
			return false;
	}
	for (size_t i = 0; c->roots[i]; i++) {
		size_t n = realpath(c->roots[i], root) ? strlen(root) : 0;
		if (n == 1 || (n > 0 && strncmp(real, root, n) == 0 && (real[n] == '/' || real[n] == '\0')))
			return true;
	}
	return false;
}

/* PATH without what lies in the workspace. */
static void safe_path(struct buf *out, const struct tool_ctx *c)
{
	struct buf all;
	buf_init(&all, BUF_NOLIMIT);
	env_safe_path(&all, getenv("PATH"));
	for (const char *p = all.p; *p;) {
		size_t n = strcspn(p, ":");
		char *dir = xasprintf("%.*s/", (int)n, p);
		if (!inside(dir, c))
			buf_addf(out, "%s%.*s", out->len ? ":" : "", (int)n, p);
		free(dir);
		p += n + (p[n] == ':');
	}
	buf_free(&all);
}

static bool find(struct grepback *b, const char *name, const struct buf *path, const struct tool_ctx *c)
{
	struct buf file;
	buf_init(&file, PATH_MAX);
	bool found = path->len > 0 && spawn_find(name, path->p, &file, NULL) == 0 && !inside(file.p, c);
	if (found)
		b->file = xstrdup(file.p);
	buf_free(&file);
	return found;
}

int grepback_find(struct grepback *b, const struct tool_ctx *c, bool no_rg, struct err *e)
{
	struct buf path;
	memset(b, 0, sizeof *b);
	env_scrubbed(&b->env, environ, NULL);
	static const char *const unset[] = {"RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "GREP_COLOR", "GREP_COLORS", "LANG",
		"LANGUAGE", "LC_CTYPE", "LC_MESSAGES", "POSIXLY_CORRECT"};
	for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
		env_unset(&b->env, unset[i]);
	env_set(&b->env, "LC_ALL", "C.UTF-8");
	buf_init(&path, BUF_NOLIMIT);
	safe_path(&path, c);
	b->rg = !no_rg && find(b, "rg", &path, c);
	bool found = b->rg || find(b, "grep", &path, c);
	b->perl = true;
	buf_free(&path);
	if (found)
		return 0;
	grepback_free(b);
	return err_set(e, ST_FAILED, "neither rg nor grep is on PATH (entries that are relative or in the workspace do not count)");
}

void grepback_free(struct grepback *b)
{
	free(b->file);
	env_free(&b->env);
	b->file = NULL;
}

/* argv; names holds the strings made for it. */
static void arguments(const struct grepback *b, const struct grepback_run *x, const char **argv, char (*names)[32],
	char context[24])
{
	static const char *const rg[] = {"rg", "--no-config", "--color=never", "--no-heading", "--no-mmap", "--encoding=none",
		"--threads=1", "--text", "--with-filename", NULL};
	static const char *const grep[] = {"grep", "-a", "-H", NULL};
	const struct grep_query *q = x->query;
	size_t n = 0;
	for (const char *const *p = b->rg ? rg : grep; *p; p++)
		argv[n++] = *p;
	if (!b->rg)
		argv[n++] = b->perl ? "-P" : "-E";
	if (q->any_case)
		argv[n++] = "-i";
	argv[n++] = q->mode == GREP_FILES ? "-l" : q->mode == GREP_COUNT ? "-c" : "-n";
	if (q->mode == GREP_CONTENT && q->context > 0) {
		snprintf(context, 24, "-C%ld", q->context);
		argv[n++] = context;
	}
	argv[n++] = "-e";
	argv[n++] = q->pattern;
	argv[n++] = "--";
	for (size_t i = 0; i < x->n; i++) {
		snprintf(names[i], sizeof names[i], PREFIX "%d", x->fds[i]);
		argv[n++] = names[i];
	}
	argv[n] = NULL;
}

/* The output, line by line; of a long one only the start is kept. */
struct reader {
	struct grepback_run *x;
	char line[GREP_LINE + 64];
	size_t n, more;
	bool enough, any;
};

static void take_line(struct reader *r)
{
	struct grep_line l = {.more = r->more};
	size_t n = r->n, k = strlen(PREFIX);
	char *p = r->line, *end;
	r->n = r->more = 0;
	if (n <= k || memcmp(p, PREFIX, k) != 0)
		return;                      /* "--" between groups */
	p[n] = '\0';
	long fd = strtol(p + k, &end, 10);
	while (l.file < r->x->n && r->x->fds[l.file] != fd)
		l.file++;
	if (l.file == r->x->n)
		return;
	l.sep = *end;
	if (l.sep) {
		l.number = strtoul(end + 1, &end, 10);
		l.text = *end ? end + 1 : end;
		l.n = (size_t)(p + n - l.text);
		if (r->x->query->mode == GREP_COUNT && l.number == 0)
			return;              /* grep counts where nothing is, too */
	}
	r->any = true;
	r->enough = !r->x->line(r->x->arg, &l);
}

static void take(struct reader *r, const char *s, size_t len)
{
	const char *end = s + len;
	while (s < end && !r->enough) {
		const char *p = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((p ? p : end) - s), room = sizeof r->line - 1 - r->n, kept = n < room ? n : room;
		memcpy(r->line + r->n, s, kept);
		r->n += kept;
		r->more += n - kept;
		if (p)
			take_line(r);
		s = p ? p + 1 : end;
	}
}

/* One read; false at the end, true also when there is nothing just now. */
static bool drain(int fd, struct reader *r, struct buf *err)
{
	char b[65536];
	ssize_t n = read(fd, b, sizeof b);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n > 0 && r)
		take(r, b, (size_t)n);
	else if (n > 0 && err->len < STDERR_MAX)
		buf_add(err, b, (size_t)n < STDERR_MAX ? (size_t)n : STDERR_MAX);
	return n > 0;
}

/* Until the command is over or has to be ended; 1 over, 0 late. What the pipes still hold is taken. */
static int attend(struct guard *g, int out, int err, struct reader *r, struct guard_result *res)
{
	bool stopped = false, late = false, out_open = true, err_open = true;
	for (;;) {
		struct pollfd p[] = {{g->fd, POLLIN, 0}, {out_open ? out : -1, POLLIN, 0}, {err_open ? err : -1, POLLIN, 0}};
		long long left = r->x->deadline - io_now_ms();
		int k = poll(p, 3, stopped ? -1 : left > 0 ? (int)left : 0);
		if (k < 0 && errno != EINTR)
			break;
		late |= k == 0 && !stopped;
		if ((late || r->enough) && !stopped) {
			guard_stop(g);
			stopped = true;
		}
		if (k <= 0)
			continue;
		if (p[1].revents)
			out_open = drain(out, r, NULL);
		if (p[2].revents)
			err_open = drain(err, NULL, &r->x->err);
		if (p[0].revents && guard_read(g, res) > 0)
			break;
	}
	/* Over: what it wrote between the poll above and its end is still in the pipes. Only what is there is taken: what a
	 * killed grep left behind does not hold us. */
	for (int pieces = 0; pieces < 64; pieces++) {   /* of 64 KiB: more than pipes hold */
		struct pollfd p[] = {{out_open ? out : -1, POLLIN, 0}, {err_open ? err : -1, POLLIN, 0}};

		if ((!out_open && !err_open) || late || poll(p, 2, 0) <= 0)
			break;
		if (p[0].revents)
			out_open = drain(out, r, NULL);
		if (p[1].revents)
			err_open = drain(err, NULL, &r->x->err);
	}
	if (r->n > 0 && !r->enough && !late)
		take_line(r);
	return !late;
}

static enum grep_end judge(const struct guard_result *g, const struct reader *r)
{
	if (g->err.status)
		return GREP_FAILED;
	if (r->enough)
		return GREP_ENOUGH;
	int code = WIFEXITED(g->wstatus) ? WEXITSTATUS(g->wstatus) : 2;
	if (code == 0)
		return GREP_OK;
	if (code == 1)
		return GREP_NONE;
	/* What it says about a file names it; what it says about the pattern does not. */
	return r->any || strstr(r->x->err.p, PREFIX) ? GREP_TROUBLE : GREP_BAD_PATTERN;
}

/* In the child, before exec: the files stay open, under the numbers they have with us. */
static int keep_files(void *arg)
{
	const struct grepback_run *x = arg;
	for (size_t i = 0; i < x->n; i++)
		if (fcntl(x->fds[i], F_SETFD, 0) < 0)
			return errno;
	return 0;
}

static enum grep_end search(struct grepback *b, struct grepback_run *x, struct err *e)
{
	const char **argv = xcalloc(x->n + 24, sizeof *argv);
	char (*names)[32] = xcalloc(x->n + 1, sizeof *names), context[24];
	struct spawn_limits limits = {.as = 3ull << 30, .no_core = true};
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	enum grep_end end = GREP_FAILED;
	struct guard g;
	struct guard_result res = {0};
	struct reader *r = xcalloc(1, sizeof *r);
	r->x = x;
	arguments(b, x, argv, names, context);
	if (io_pipe(out, e) < 0 || io_pipe(err, e) < 0)
		goto done;
	struct spawn_fd fds[] = {{0, SPAWN_NULL}, {1, out[1]}, {2, err[1]}};
	struct spawn s = {.argv = argv, .file = b->file, .env = env_vector(&b->env), .cwd = "/", .fds = fds, .nfds = 3,
		.group = SPAWN_SESSION, .limits = &limits, .before = keep_files, .arg = x};
	if (io_nonblock(out[0], true, e) < 0 || io_nonblock(err[0], true, e) < 0 || guard_start(&g, &s, 0, e) < 0)
		goto done;
	close(out[1]);
	close(err[1]);
	out[1] = err[1] = -1;
	end = attend(&g, out[0], err[0], r, &res) ? judge(&res, r) : GREP_LATE;
	if (end == GREP_FAILED)
		err_set(e, res.err.status, "%s", res.err.text);
	guard_free(&g);
done:
	for (int i = 0; i < 2; i++) {
		if (out[i] >= 0)
			close(out[i]);
		if (err[i] >= 0)
			close(err[i]);
	}
	free(argv);
	free(names);
	free(r);
	return end;
}

enum grep_end grepback_search(struct grepback *b, struct grepback_run *x, struct err *e)
{
	buf_init(&x->err, STDERR_MAX * 2);
	enum grep_end end = search(b, x, e);
	if (end == GREP_BAD_PATTERN && !b->rg && b->perl &&
			(strstr(x->err.p, "-P") || strstr(x->err.p, "-- 'P'") || strstr(x->err.p, "-- P") || strstr(x->err.p, "perl"))) {
		/* This grep has no Perl patterns. */
		b->perl = false;
		buf_clear(&x->err);
		end = search(b, x, e);
	}
	return end;
}

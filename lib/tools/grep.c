#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/io.h"
#include "sys/term.h"
#include "tools/arg.h"
#include "tools/fsguard.h"
#include "tools/fshint.h"
#include "tools/fslink.h"
#include "tools/globmatch.h"
#include "tools/grepback.h"
#include "tools/tool.h"
#include "tools/walk.h"

#define OUTPUT_MAX 20000
#define LIMIT_MS 30000
#define SNIFF 8192            /* a NUL in the first bytes: not text (as git and grep judge) */
#define CONTEXT_MAX 50

struct grep {
	const struct tool_ctx *c;
	struct tool_result *r;
	struct grep_query q;
	struct globs globs;           /* of the argument glob; n 0: all files */
	bool glob_not;
	struct grepback back;
	size_t max;
	long limit;                   /* ms */
	long long deadline;

	int fds[GREP_BATCH];
	char *names[GREP_BATCH];
	size_t n, batch;
	struct fslinks links;

	size_t last_file;             /* + 1; of the last line printed, for the "--" between groups */
	unsigned long last_line;
	size_t results, binary, unreadable;
	struct buf trouble;           /* first words of the program about files it could not search */
	bool enough, late, failed;
};

static void show_text(struct buf *out, const struct grep_line *l)
{
	size_t n = l->n > GREP_LINE ? utf8_cut(l->text, GREP_LINE) : l->n, more = l->more + l->n - n;
	if (!more && n > 0 && l->text[n - 1] == '\r')
		n--;
	for (const char *s = l->text, *end = s + n, *nul; s < end; s = nul + 1) {
		nul = memchr(s, '\0', (size_t)(end - s));
		if (!nul)
			nul = end;
		utf8_repair(out, s, (size_t)(nul - s));
		if (nul < end)
			buf_adds(out, "\\x00");
	}
	if (more)
		buf_addf(out, "[... %zu more bytes]", more);
}

static bool each_line(void *arg, const struct grep_line *l)
{
	struct grep *g = arg;
	struct buf *out = &g->r->text;
	if (out->len >= g->max) {
		g->enough = true;
		return false;
	}
	if (g->q.context > 0 && g->last_file && (g->last_file != l->file + 1 || l->number != g->last_line + 1))
		buf_adds(out, "--\n");
	g->last_file = l->file + 1;
	g->last_line = l->number;
	term_safe(out, g->names[l->file], strlen(g->names[l->file]), TERM_ONE_LINE);
	if (l->sep && g->q.mode == GREP_COUNT) {
		buf_addf(out, ":%lu", l->number);
	} else if (l->sep) {
		buf_addf(out, "%c%lu%c", l->sep, l->number, l->sep);
		show_text(out, l);
	}
	buf_addc(out, '\n');
	g->results++;
	return true;
}

static void bad_pattern(struct grep *g, const char *said)
{
	struct buf b;
	buf_init(&b, 4000);
	utf8_repair(&b, said, strlen(said));
	tool_fail(g->r, "the pattern was not understood: %s", b.len ? b.p : "the program gave no reason");
	buf_free(&b);
	g->failed = true;
}

static void search(struct grep *g);

/* ripgrep has no look-around and no back-references, grep has: what it refuses is tried there. */
static void try_grep(struct grep *g, const char *said)
{
	char *keep = xstrdup(said);
	struct grepback other;
	if (g->back.rg && grepback_find(&other, g->c, true, NULL) == 0) {
		grepback_free(&g->back);
		g->back = other;
		search(g);
		if (g->failed)
			bad_pattern(g, keep);
	} else {
		bad_pattern(g, keep);
	}
	free(keep);
}

static void search(struct grep *g)
{
	struct err e = ERR_INIT;
	struct grepback_run x = {.query = &g->q, .fds = g->fds, .n = g->n, .deadline = g->deadline, .line = each_line, .arg = g};
	bool first = g->results == 0;
	enum grep_end end = grepback_search(&g->back, &x, &e);
	switch (end) {
	case GREP_FAILED:
		tool_fail(g->r, "the search could not be run: %s", e.text);
		g->failed = true;
		break;
	case GREP_LATE: g->late = true; break;
	case GREP_BAD_PATTERN:
		if (first && g->trouble.len == 0) {
			try_grep(g, x.err.p);
			break;
		}
		/* fall through */
	case GREP_TROUBLE:
		if (g->trouble.len == 0)
			buf_add(&g->trouble, x.err.p, strcspn(x.err.p, "\n") < 300 ? strcspn(x.err.p, "\n") : 300);
		break;
	default: break;
	}
	buf_free(&x.err);
}

static void close_batch(struct grep *g)
{
	for (size_t i = 0; i < g->n; i++) {
		close(g->fds[i]);
		free(g->names[i]);
	}
	g->n = 0;
}

static bool flush(struct grep *g)
{
	if (g->n > 0 && !g->failed) {
		search(g);
		/* Names of another batch come next. */
		if (g->last_file)
			g->last_file = (size_t)-1;
	}
	close_batch(g);
	return !g->failed && !g->enough && !g->late;
}

static bool text_file(struct grep *g, int fd)
{
	char b[SNIFF];
	ssize_t n = pread(fd, b, sizeof b, 0);
	if (n < 0)
		g->unreadable++;
	else if (n > 0 && memchr(b, '\0', (size_t)n))
		g->binary++;
	else
		return n > 0;
	return false;
}

/* Takes fd. false: stop. */
static bool add(struct grep *g, int fd, const char *path)
{
	if (!text_file(g, fd)) {
		close(fd);
		return true;
	}
	g->fds[g->n] = fd;
	g->names[g->n++] = xstrdup(fs_short(g->c, path));
	return g->n < g->batch || flush(g);
}

static bool wanted(const struct grep *g, const struct walk_entry *x)
{
	if (g->globs.n == 0)
		return true;
	bool match = globs_match(&g->globs, x->name) || globs_match(&g->globs, x->rel) ||
		globs_match(&g->globs, fs_short(g->c, x->path));
	return match != g->glob_not;
}

static int each_file(void *arg, const struct walk_entry *x)
{
	struct grep *g = arg;
	struct stat st;
	if (x->type != WALK_FILE || !wanted(g, x))
		return 0;
	int fd = openat(x->dir, x->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		g->unreadable++;
		return 0;
	}
	if (st.st_nlink > 1) {
		struct fsnames names;
		if (!g->links.loaded) {
			fsnames_init(&names);
			fslinks_load(&g->links, &names, g->c->roots);
			fsnames_free(&names);
		}
		if (fslinks_find(&g->links, &st) == FSLINK_REFUSED) {
			close(fd);
			return 0;
		}
	}
	return add(g, fd, x->path) ? 0 : 1;
}

static void closing_notes(struct grep *g, const struct walk *w)
{
	struct buf *out = &g->r->text;
	if (g->results == 0 && !g->late) {
		buf_adds(out, "No matches found\n");
		if (w->ignored)
			buf_addf(out, "[ignore files (.gitignore) leave out %zu files or directories, such as %s; name one as path to search "
				"it]\n", w->ignored, w->first_ignored);
		if (w->skipped)
			buf_adds(out, "[node_modules is searched only when named as path]\n");
	}
	if (g->enough)
		buf_addf(out, "[stopped at %zu bytes of output; narrow the pattern, or give path or glob]\n", g->max);
	if (g->late || w->late) {
		buf_addf(out, "[stopped after %ld s, the limit; narrow the pattern, or give path or glob]\n",
			(g->limit + 999) / 1000);
		g->r->status = "timeout";
	}
	if (w->too_many)
		buf_adds(out, "[stopped: too many files; give path]\n");
	if (g->binary)
		buf_addf(out, "[%zu binary file%s not searched]\n", g->binary, g->binary == 1 ? "" : "s");
	if (w->denied)
		buf_addf(out, "[%zu files or directories left out: rules deny them]\n", w->denied);
	if (g->unreadable + w->unreadable)
		buf_addf(out, "[%zu files or directories could not be read]\n", g->unreadable + w->unreadable);
	if (g->trouble.len) {
		buf_adds(out, "[");
		utf8_repair(out, g->trouble.p, g->trouble.len);
		buf_adds(out, "]\n");
	}
}

static void run(struct grep *g, const struct fs_at *at)
{
	struct walk w = {.c = g->c, .ignore = true, .deadline = g->deadline, .found = each_file, .arg = g};
	struct err e = ERR_INIT;
	if (at->name) {
		int fd = fs_open(at, &e);
		if (fd < 0) {
			tool_fail(g->r, "%s", e.text);
			return;
		}
		add(g, fd, at->path);
	} else {
		walk_tree(&w, at);
	}
	flush(g);
	if (!g->failed) {
		g->r->origin = "file";
		closing_notes(g, &w);
	}
	walk_free(&w);
}

static int options(struct grep *g, const struct json *j, int input, char **path)
{
	char *mode = NULL, *glob = NULL;
	int r = -1;
	if (arg_opt(j, input, "path", path, g->r) < 0 || arg_opt(j, input, "glob", &glob, g->r) < 0 ||
			arg_opt(j, input, "output_mode", &mode, g->r) < 0 ||
			arg_bool(j, input, "case_insensitive", &g->q.any_case, g->r) < 0 ||
			arg_int(j, input, "context", 0, 0, 1000000, &g->q.context, g->r) < 0)
		goto out;
	g->q.context = g->q.context > CONTEXT_MAX ? CONTEXT_MAX : g->q.context;
	g->q.mode = !mode || !strcmp(mode, "files_with_matches") ? GREP_FILES : !strcmp(mode, "count") ? GREP_COUNT : GREP_CONTENT;
	if (g->q.mode != GREP_CONTENT)
		g->q.context = 0;
	g->glob_not = glob && glob[0] == '!';
	if (g->q.mode == GREP_CONTENT && strcmp(mode, "content") != 0)
		tool_fail(g->r, "output_mode is content, files_with_matches or count");
	else if (strchr(g->q.pattern, '\n'))
		tool_fail(g->r, "the pattern has a line end in it: Grep looks at one line at a time");
	else if (glob && globs_init(&g->globs, glob + g->glob_not) < 0)
		tool_fail(g->r, "the glob is too long, or its braces have too many alternatives");
	else
		r = 0;
out:
	free(mode);
	free(glob);
	return r;
}

static size_t batch_size(void)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur == RLIM_INFINITY || l.rlim_cur > 2 * GREP_BATCH + 100)
		return GREP_BATCH;
	return l.rlim_cur > 100 ? (size_t)(l.rlim_cur - 60) / 2 : 16;
}

void tool_grep(const struct tool_ctx *c, const struct json *j, int input, struct tool_result *r)
{
	struct err e = ERR_INIT;
	struct fs_at at;
	struct grep *g = xcalloc(1, sizeof *g);
	char *path = NULL, *pattern = arg_str(j, input, "pattern", "Grep", r);
	long limit = c->timeout_ms > 0 && c->timeout_ms < LIMIT_MS ? c->timeout_ms : LIMIT_MS;
	*g = (struct grep){.c = c, .r = r, .q = {.pattern = pattern}, .batch = batch_size(),
		.max = c->output_max > 500 && c->output_max < OUTPUT_MAX ? c->output_max - 400 : OUTPUT_MAX - 400,
		.limit = limit, .deadline = io_now_ms() + limit};
	buf_init(&g->trouble, 400);
	if (!pattern || options(g, j, input, &path) < 0)
		goto out;
	if (fs_admit(c, path ? path : ".", FS_READ, &at, &e) < 0) {
		tool_fail(r, "%s", e.text);
		goto out;
	}
	if (at.fd < 0)
		fs_not_found(r, &at, path);
	else if (grepback_find(&g->back, c, false, &e) < 0)
		tool_fail(r, "%s", e.text);
	else
		run(g, &at);
	fs_close(&at);
out:
	grepback_free(&g->back);
	globs_free(&g->globs);
	fslinks_free(&g->links);
	buf_free(&g->trouble);
	free(path);
	free(pattern);
	free(g);
}

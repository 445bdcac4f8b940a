#include <stdlib.h>
#include <string.h>

#include "agent/globstart.h"
#include "base/xalloc.h"
#include "sys/io.h"
#include "sys/term.h"
#include "tools/arg.h"
#include "tools/fsguard.h"
#include "tools/globmatch.h"
#include "tools/tool.h"
#include "tools/walk.h"

#define FILES_MAX 500
#define LIMIT_MS 30000

struct finder {
	const struct tool_ctx *c;
	struct tool_result *r;
	struct globs globs;
	size_t depth, n, max;
	bool more;
};

static int each(void *arg, const struct walk_entry *x)
{
	struct finder *f = arg;
	if (globs_match(&f->globs, x->rel)) {
		if (f->n == FILES_MAX || f->r->text.len > f->max) {
			f->more = true;
			return 1;
		}
		/* A name is one line, whatever is in it. */
		const char *name = fs_short(f->c, x->path);
		term_safe(&f->r->text, name, strlen(name), TERM_ONE_LINE);
		buf_adds(&f->r->text, x->type == WALK_DIR ? "/\n" : "\n");
		f->n++;
	}
	return x->type == WALK_DIR && f->depth && x->depth >= f->depth ? WALK_PRUNE : 0;
}

static void run(struct finder *f, const struct fs_at *at, bool ignore)
{
	struct buf *out = &f->r->text;
	struct walk w = {.c = f->c, .ignore = ignore, .keep = &f->globs, .deadline = io_now_ms() + LIMIT_MS, .found = each,
		.arg = f};
	walk_tree(&w, at);
	if (f->n == 0 && w.ignored > 0 && !w.late) {
		/* What nobody else matches was meant. */
		walk_free(&w);
		run(f, at, false);
		if (f->n > 0)
			buf_adds(out, "[ignore files (.gitignore) leave out all of these]\n");
		return;
	}
	if (f->n == 0 && !w.late)
		buf_addf(out, "No files matched%s", w.skipped ? " (node_modules is entered only when path or pattern names it)" : "");
	if (f->more)
		buf_addf(out, "[more than %zu matches; narrow the pattern, or give path]\n", f->n);
	if (w.late || w.too_many)
		buf_addf(out, "[stopped after %zu entries%s; narrow the pattern, or give path]\n", w.entries,
			w.late ? " and 30 seconds" : "");
	if (w.denied)
		buf_addf(out, "%s[%zu files or directories left out: rules deny them]\n", f->n ? "" : "\n", w.denied);
	if (w.unreadable)
		buf_addf(out, "%s[%zu directories could not be read]\n", f->n ? "" : "\n", w.unreadable);
	walk_free(&w);
}

void tool_glob(const struct tool_ctx *c, const struct json *j, int input, struct tool_result *r)
{
	char *path = NULL, *pattern = arg_str(j, input, "pattern", "Glob", r), *dir = NULL;
	const char *rest;
	struct err e = ERR_INIT;
	struct fs_at at;
	struct finder f = {.c = c, .r = r, .max = c->output_max > 1000 ? c->output_max - 1000 : TOOL_OUTPUT_MAX - 1000};
	if (!pattern || arg_opt(j, input, "path", &path, r) < 0)
		goto out;
	dir = glob_start(path, pattern, &rest);
	if (globs_init(&f.globs, rest) < 0) {
		tool_fail(r, "the pattern is too long, or its braces have too many alternatives");
	} else if (fs_admit(c, dir, FS_READ, &at, &e) < 0) {
		tool_fail(r, "%s", e.text);
	} else {
		f.depth = globs_depth(&f.globs);
		if (at.fd >= 0 && !at.name)
			run(&f, &at, true);
		else if (at.fd >= 0)
			tool_fail(r, "%s is a file, not a directory", dir);
		else
			buf_addf(&r->text, "No files matched: there is no directory %s", dir);
		if (!r->is_error)
			r->origin = "file";
		fs_close(&at);
	}
	globs_free(&f.globs);
out:
	free(dir);
	free(path);
	free(pattern);
}

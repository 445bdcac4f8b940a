/* grepback.h - the program that searches: ripgrep, or grep.
 *
 *   struct grepback b;
 *   if (grepback_find(&b, ctx, false, &e) < 0) ...                   // e names what is missing
 *   struct grepback_run x = {.query = &q, .fds = fds, .n = n, .deadline = t, .line = each, .arg = &y};
 *   switch (grepback_search(&b, &x, &e)) ...
 *   grepback_free(&b);
 *
 * It gets the files as descriptors and names them /proc/self/fd/N: what was judged and opened is what is searched, no name is
 * looked up again, and both programs see the same files in the same order. Found only in absolute PATH entries that are
 * not in the workspace (the system's own directories always count); run with a scrubbed environment, without its
 * configuration files, under a guard (guard.h) that ends it with us. Text is taken as UTF-8 with bad bytes let through.
 *
 * Patterns are ripgrep's; for grep they are Perl's (grep -P), the nearest, or extended ones where grep has no -P. */
#ifndef TOOLS_GREPBACK_H
#define TOOLS_GREPBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sys/env.h"
#include "tools/tool.h"

#define GREP_LINE 500        /* bytes of a line that are kept */
#define GREP_BATCH 400       /* files in one run */

enum grep_mode { GREP_FILES, GREP_COUNT, GREP_CONTENT };

struct grep_query {
	const char *pattern;
	enum grep_mode mode;
	bool any_case;
	long context;
};

struct grep_line {
	size_t file;             /* index into fds */
	char sep;                /* ':' a match, '-' context, '\0' a name alone */
	unsigned long number;    /* line number, or count */
	const char *text;        /* not terminated */
	size_t n, more;          /* bytes kept, bytes cut off */
};

struct grepback {
	char *file;
	bool rg, perl;
	struct env env;
};

struct grepback_run {
	const struct grep_query *query;
	const int *fds;
	size_t n;
	long long deadline;                               /* io_now_ms */
	bool (*line)(void *arg, const struct grep_line *l);   /* false: enough */
	void *arg;
	struct buf err;                                   /* what it wrote to stderr, bounded; set by grepback_search */
};

enum grep_end { GREP_OK, GREP_NONE, GREP_ENOUGH, GREP_LATE, GREP_BAD_PATTERN, GREP_TROUBLE, GREP_FAILED /* not started */ };

int grepback_find(struct grepback *b, const struct tool_ctx *c, bool no_rg, struct err *e);
enum grep_end grepback_search(struct grepback *b, struct grepback_run *x, struct err *e);
void grepback_free(struct grepback *b);

#endif

/* walk.h - the files below a directory, as Glob and Grep see them.
 *
 *   struct walk w = {.c = ctx, .ignore = true, .found = each, .arg = &x};
 *   int k = walk_tree(&w, &at);                  // at from fs_admit: a directory
 *   w.ignored, w.first_ignored ...
 *   walk_free(&w);
 *
 * In order of their paths' bytes. By descriptor, symlinks never followed, other file systems entered but not procfs,
 * sysfs and their like. Left out: version control directories and node_modules, unless keep names them; what fsname.h
 * or a deny rule refuses; and with .ignore what ignore files leave out. Those from the start's own directory down
 * count, and above it up to the nearest directory with a .git, never above the root; if the start itself is left out by
 * them, it was asked for, and none above count.
 *
 * The callback gets 0 back to go on, 1 to stop, and WALK_PRUNE for a directory not to be entered. */
#ifndef TOOLS_WALK_H
#define TOOLS_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tools/fsguard.h"
#include "tools/globmatch.h"
#include "tools/ignore.h"

#define WALK_PRUNE 2
#define WALK_DEPTH 100
#define WALK_ENTRIES 1000000

enum walk_type { WALK_FILE, WALK_DIR, WALK_LINK, WALK_OTHER };

struct walk_entry {
	const char *path;    /* absolute */
	const char *rel;     /* below the start */
	size_t depth;        /* components of rel */
	int dir;             /* descriptor of its directory */
	const char *name;
	enum walk_type type;
};

struct walk {
	const struct tool_ctx *c;
	bool ignore;
	const struct globs *keep;      /* may be NULL */
	long long deadline;            /* io_now_ms; 0: none */
	int (*found)(void *arg, const struct walk_entry *x);
	void *arg;

	size_t entries, ignored, refused, unreadable;
	size_t denied;                 /* left out by rules, c->denied */
	size_t skipped;                /* directories node_modules */
	char *first_ignored;
	bool late, too_many;

	struct fsnames names;
	struct buf path;
	size_t start_len;
	bool begun;
};

/* 0 all, 1 stopped by the callback, the deadline or a limit. */
int walk_tree(struct walk *w, const struct fs_at *at);
void walk_free(struct walk *w);

#endif

#include "tools/where.h"

#include "base/xalloc.h"
#include "tools/fsguard.h"

static enum fs_verdict look(const struct tool_ctx *c, const char *path, bool write, struct where *w)
{
	struct fs_at at;
	enum fs_verdict v;

	w->why = (struct err)ERR_INIT;
	v = fs_look(c, path, write ? FS_WRITE : FS_READ, &at, &w->why);
	if (!w->resolved && at.path)
		w->resolved = xstrdup(at.path);
	fs_close(&at);
	return v;
}

void where_is(void *arg, const char *path, bool write, struct where *w)
{
	static const enum place places[] = {
		[FS_OK] = PLACE_INSIDE, [FS_OUTSIDE] = PLACE_OUTSIDE, [FS_PROTECTED] = PLACE_PROTECTED, [FS_REFUSED] = PLACE_REFUSED,
	};
	static const char *const everywhere[] = {"/", NULL};
	enum fs_verdict v;

	w->resolved = NULL;
	v = look(arg, path, write, w);
	/* Protected is more than outside: a rule that reaches what is outside does not reach this. */
	if (v == FS_OUTSIDE && write) {
		struct tool_ctx all = *(const struct tool_ctx *)arg;
		struct err outside = w->why;
		all.roots = everywhere;
		if (look(&all, path, write, w) == FS_PROTECTED)
			v = FS_PROTECTED;
		else
			w->why = outside;
	}
	w->place = places[v];
}

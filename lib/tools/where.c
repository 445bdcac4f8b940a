#include "tools/where.h"

#include "base/xalloc.h"
#include "tools/fsguard.h"

void where_is(void *arg, const char *path, bool write, struct where *w)
{
	static const enum place places[] = {
		[FS_OK] = PLACE_INSIDE, [FS_OUTSIDE] = PLACE_OUTSIDE, [FS_PROTECTED] = PLACE_PROTECTED, [FS_REFUSED] = PLACE_REFUSED,
	};
	struct fs_at at;

	w->why = (struct err)ERR_INIT;
	w->place = places[fs_look(arg, path, write ? FS_WRITE : FS_READ, &at, &w->why)];
	w->resolved = at.path ? xstrdup(at.path) : NULL;
	fs_close(&at);
}

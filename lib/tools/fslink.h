/* fslink.h - is this file, under another name, one of the protected ones?
 *
 *   struct fslinks l = {0};
 *   fslinks_load(&l, &names, roots);                      // when the first file with a link count above 1 turns up
 *   if (fslinks_find(&l, &st) == FSLINK_REFUSED) ...
 *   fslinks_free(&l);
 *
 * A hard link has no owner among its names: what looks like notes.txt may be ~/.ssh/id_rsa or .git/config. So device and inode
 * are compared with those of the files that fsname.h's rules protect in the home directory, in the roots and in /etc.
 * Files with several links are rare; nothing of this is done for others. */
#ifndef TOOLS_FSLINK_H
#define TOOLS_FSLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "tools/fsname.h"

enum fslink { FSLINK_NONE, FSLINK_PROTECTED, FSLINK_REFUSED, FSLINK_UNKNOWN /* too many files to compare */ };

struct fslink_id {
	dev_t dev;
	ino_t ino;
	enum fslink what;
};

struct fslinks {
	struct fslink_id *id;   /* sorted */
	size_t n, cap;
	bool loaded, cut;       /* cut: there were more than FSLINKS_MAX */
};

#define FSLINKS_MAX 20000

void fslinks_load(struct fslinks *l, const struct fsnames *n, const char *const *roots);
enum fslink fslinks_find(const struct fslinks *l, const struct stat *st);
void fslinks_free(struct fslinks *l);

#endif

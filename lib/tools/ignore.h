/* ignore.h - what .gitignore and .ignore files leave out: gitignore(5).
 *
 *   struct ignore *top = ignore_load(NULL, dirfd, "/abs/dir");   // NULL: that directory has no rules
 *   struct ignore *sub = ignore_load(top, subfd, "/abs/dir/sub");
 *   if (ignore_match(sub ? sub : top, "/abs/dir/sub/x.o", false)) ...
 *   ignore_free(sub); ignore_free(top);                            // each its own, innermost first
 *
 * The innermost file with a matching rule decides, in it the last rule. Only rule files that are regular, not symlinks, and of at
 * most IGNORE_FILE bytes count: they come with the project, and are data. */
#ifndef TOOLS_IGNORE_H
#define TOOLS_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#define IGNORE_FILE ((size_t)256 << 10)

struct ignore_rule {
	char *pattern;
	bool negated, directory, anchored;
};

struct ignore {
	const struct ignore *up;
	char *dir;
	struct ignore_rule *rule;
	size_t n;
};

struct ignore *ignore_load(const struct ignore *up, int dirfd, const char *dir);
bool ignore_match(const struct ignore *ig, const char *path, bool directory);
void ignore_free(struct ignore *ig);

#endif

/* globmatch.h - file name patterns.
 *
 *   struct globs g;
 *   if (globs_init(&g, "src/{a,b}/x*.[ch]") < 0) ...        // braces that multiply beyond GLOBS_MAX
 *   if (globs_match(&g, "src/a/x/y.c")) ...
 *   globs_free(&g);
 *
 * `*` any characters but '/', `?` one character, `[a-z]` `[!a-z]` one of a set, `\` takes the next literally; a component
 * `**` stands for any number of directories, at the end for everything beneath; `{a,b}` alternatives, nested too. Leading dots
 * are not special. Characters are UTF-8. Time is bounded by pattern times path squared, whatever the pattern. */
#ifndef TOOLS_GLOBMATCH_H
#define TOOLS_GLOBMATCH_H

#include <stdbool.h>
#include <stddef.h>

#define GLOBS_MAX 256

struct globs {
	char **p;
	size_t n;
};

/* One pattern without braces against a relative path. */
bool glob_match(const char *pattern, const char *path);

int globs_init(struct globs *g, const char *pattern);
bool globs_match(const struct globs *g, const char *path);
void globs_free(struct globs *g);

/* How many components a match can have; 0: any number. */
size_t globs_depth(const struct globs *g);

/* Has one of them this name as a component of its own? */
bool globs_names(const struct globs *g, const char *component);

#endif

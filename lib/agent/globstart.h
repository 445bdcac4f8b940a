/* globstart.h - where a search with a pattern starts. The gate judges the directory that Glob will open; both ask here.
 *
 *   char *dir = glob_start(path, pattern, &rest);     // free(dir); path may be NULL or "": the working directory
 *
 * The leading components of the pattern without special characters are part of the directory; rest points into pattern. */
#ifndef AGENT_GLOBSTART_H
#define AGENT_GLOBSTART_H

#include <stddef.h>

char *glob_start(const char *path, const char *pattern, const char **rest);

/* Bytes of s that are whole components without any of the special characters, with their '/'; the last component is
 * never counted. */
size_t glob_literal_prefix(const char *s);

#endif

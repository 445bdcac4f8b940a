/* fshint.h - what to say when a file is not there. */
#ifndef TOOLS_FSHINT_H
#define TOOLS_FSHINT_H

#include "tools/fsguard.h"
#include "tools/tool.h"

/* Fails r: no such file, with a name that differs only in case or in its Unicode form, or an ending, if the directory
 * has one; with the deepest directory that exists otherwise. */
void fs_not_found(struct tool_result *r, const struct fs_at *at, const char *path);

#endif

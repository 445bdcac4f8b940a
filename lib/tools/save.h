/* save.h - a file's new content, after its old one is safe.
 *
 *   struct save s;
 *   if (save_load(&s, c, path, max, r) < 0) return;       // judged, opened, read; r says why not
 *   s.exists, s.old ...
 *   if (save_store(&s, c, data, n, r) == 0) ...            // r->change is set
 *   save_free(&s);
 *
 * Both contents go to the blob directory first; when that fails nothing is written. Then the file is replaced as a whole
 * (atomic.h), keeping mode, owner, group, ACLs and user attributes. It is written in place where
 * replacing would do harm: it has several hard links, which must stay one file; it is another user's; its directory is
 * not writable; it is a mount point. A symlink on the way stays one: what it leads to was resolved and judged. A file
 * that changed since save_load is not overwritten, nor is one without write permission. */
#ifndef TOOLS_SAVE_H
#define TOOLS_SAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tools/fsguard.h"
#include "tools/tool.h"

struct save {
	struct fs_at at;
	bool exists;
	struct buf old;
	const char *path;    /* as the model gave it, borrowed */
};

/* A file longer than max is refused. 0, or -1 after tool_fail (nothing to free). */
int save_load(struct save *s, const struct tool_ctx *c, const char *path, size_t max, struct tool_result *r);
int save_store(struct save *s, const struct tool_ctx *c, const char *data, size_t n, struct tool_result *r);
void save_free(struct save *s);

/* Appends the difference to r->text, at most max_lines lines, within ctx->output_max. */
void save_diff(const struct save *s, const struct tool_ctx *c, const char *data, size_t n, size_t max_lines,
	struct tool_result *r);

#endif

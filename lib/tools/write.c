#include <stdlib.h>
#include <string.h>

#include "tools/arg.h"
#include "tools/diff.h"
#include "tools/save.h"
#include "tools/tool.h"

#define OLD_MAX ((size_t)64 << 20)   /* of a file that is overwritten: it is kept for undo */
#define DIFF_LINES 80

void tool_write(const struct tool_ctx *c, const struct json *j, int input, struct tool_result *r)
{
	struct save s;
	char *path = arg_str(j, input, "file_path", "Write", r);
	char *content = path ? arg_text(j, input, "content", "Write", r) : NULL;
	if (!content || save_load(&s, c, path, OLD_MAX, r) < 0)
		goto out;
	size_t n = strlen(content);
	if (s.exists && s.old.len == n && memcmp(s.old.p, content, n) == 0) {
		buf_addf(&r->text, "No changes in %s", path);
	} else if (save_store(&s, c, content, n, r) == 0) {
		if (!s.exists) {
			size_t lines = diff_lines(content, n);
			buf_addf(&r->text, "Created %s (%zu line%s)", path, lines, lines == 1 ? "" : "s");
		} else if (memchr(s.old.p, '\0', s.old.len)) {
			buf_addf(&r->text, "Replaced %s (%zu bytes that were not text) with %zu lines", path, s.old.len,
				diff_lines(content, n));
		} else {
			save_diff(&s, c, content, n, DIFF_LINES, r);
		}
	}
	save_free(&s);
out:
	free(path);
	free(content);
}

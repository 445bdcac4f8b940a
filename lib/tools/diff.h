/* diff.h - the difference of two texts, as diff -u shows it.
 *
 * Lines are compared by bytes; the shortest edit script is looked for (Myers, "An O(ND) Difference Algorithm", 1986) up to
 * DIFF_EDITS changed lines, beyond which the whole differing middle counts as replaced: time and memory stay bounded.
 * The output is UTF-8 whatever the texts are; a line longer than DIFF_LINE is cut with a word about it. */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include <stddef.h>

#include "base/buf.h"

#define DIFF_EDITS 1200
#define DIFF_LINE 500
#define DIFF_CONTEXT 3

/* Appends "--- name", "+++ name" and the hunks; nothing if the texts are equal. After max_lines lines, or max bytes, the rest
 * becomes "[... N more lines ...]". */
void diff_unified(struct buf *out, const char *name, const char *a, size_t an, const char *b, size_t bn,
	size_t max_lines, size_t max_bytes);

/* Lines in a text; a last one without line end counts. */
size_t diff_lines(const char *s, size_t n);

#endif

/* edithint.h - why a text was not found in another, and what comes nearest.
 *
 * Appends to why: the escaped form in which the text is there (\u2019, &quot;, a doubled backslash), or the other way
 * round; the same lines with other indentation; else the nearest lines with their numbers. Work is bounded: HINT_LINES
 * lines are looked at. */
#ifndef TOOLS_EDITHINT_H
#define TOOLS_EDITHINT_H

#include <stddef.h>

#include "base/buf.h"

#define HINT_LINES 200000

void edit_hint(struct buf *why, const char *text, size_t n, const char *old);

#endif

/* snip.h - one message made shorter: the middle of what is long goes, the ends stay.
 *
 * A text longer than limit bytes becomes its first half-limit bytes, "[... N characters snipped ...]", and its last
 * quarter-limit bytes, cut between characters. In a tool or user message that is the content (and its images go, with a word);
 * in an assistant message the content and the strings of its calls' inputs, whose provider's blocks go with them. */
#ifndef AGENT_SNIP_H
#define AGENT_SNIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "json/json.h"

#define SNIP_LIMIT 2000

/* Appends the shortened text, or all of it; true if it was shortened. */
bool snip_text(struct buf *out, const char *s, size_t n, size_t limit);

/* Appends the whole line, shortened; false (and nothing appended) if nothing in it is too long. */
bool snip_line(struct buf *out, const struct json *j, size_t limit);

#endif

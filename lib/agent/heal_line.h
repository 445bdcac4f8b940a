/* heal_line.h - one message line with some of its members replaced; the others keep their bytes and order.
 *
 *   struct line_edit ed = {.content = "x", .content_len = 1};
 *   line_rewrite(&out, &j, &ed);
 *
 * Also what the members are worth: line_blank, line_content. Nothing here keeps state or owns memory. */
#ifndef AGENT_HEAL_LINE_H
#define AGENT_HEAL_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "json/json.h"

struct line_edit {               /* NULL or false: as it is */
	const char *content;     /* text, not JSON */
	size_t content_len;
	const char *calls;       /* JSON text of tool_calls */
	size_t calls_len;
	const char *call_id;     /* text of tool_call_id */
	bool no_blocks, no_images;
};

/* Appends the object; a member that is replaced but was not there comes last. */
void line_rewrite(struct buf *out, const struct json *j, const struct line_edit *ed);

/* Nothing but white space (that of Unicode, as providers judge it)? */
bool line_blank(const char *s, size_t n);

/* The length of s without white space at its end. */
size_t line_trimmed(const char *s, size_t n);

/* Is `content` a string that is not blank? Cheap for the usual line. */
bool line_has_text(const struct json *j);

/* Puts the text of `content` into out (cleared first): a string decoded, null or missing as nothing, anything else as its
 * JSON text. True if it was a string. */
bool line_content(struct buf *out, const struct json *j);

/* Number of images. */
int line_images(const struct json *j);

#endif

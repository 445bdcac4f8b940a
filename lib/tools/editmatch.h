/* editmatch.h - one replacement in a text.
 *
 *   struct edit_done d;
 *   if (edit_apply(&text, old, new, all, &d, &why) < 0) ...        // text as before; why is for the model
 *
 * An exact match decides: when it is the only one it is replaced, when there are several the edit fails (or replaces all). Only
 * when there is none are line ends, then normalisation forms, blanks before line ends, and typographic variants of quotes,
 * dashes and blanks disregarded, and then the match must be the only one of its kind. What old and new have in common
 * keeps the bytes that the text has. In a text whose lines all end in CR LF, old and new are taken in that form.
 * new is put in as it is: nothing in it has a meaning. */
#ifndef TOOLS_EDITMATCH_H
#define TOOLS_EDITMATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct edit_done {
	size_t count;       /* replacements */
	const char *how;    /* what was disregarded; NULL: exact */
};

int edit_apply(struct buf *text, const char *old, const char *new_text, bool all, struct edit_done *d, struct buf *why);

#endif

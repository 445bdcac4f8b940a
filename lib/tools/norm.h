/* norm.h - a text in a form in which what looks the same is the same, with the way back.
 *
 *   struct norm n;
 *   norm_make(&n, s, len, NORM_EOL | NORM_BLANKS);
 *   n.text ... a match [a, b) there is [n.map[a], n.map[b]) in s, provided norm_whole(&n, a, b)
 *   norm_free(&n);
 *
 * Bytes that are not UTF-8 stay as they are. Texts to 4 GiB. */
#ifndef TOOLS_NORM_H
#define TOOLS_NORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	NORM_EOL = 1,      /* CR LF is LF */
	NORM_BLANKS = 2,   /* no blanks before a line's end or the text's */
	NORM_LOOKS = 4,    /* typographic quotes, dashes and blanks are the ASCII ones */
	NORM_FORM = 8      /* canonical decomposition (Unicode Standard Annex 15), marks left in their order */
};

struct norm {
	struct buf text;
	uint32_t *map;     /* text.len + 1 offsets into the source */
	size_t cap;
};

void norm_make(struct norm *n, const char *s, size_t len, int how);
void norm_free(struct norm *n);

/* Neither end of [a, b) lies inside a character of the source, nor between a letter and its accents. */
bool norm_whole(const struct norm *n, size_t a, size_t b);

#endif

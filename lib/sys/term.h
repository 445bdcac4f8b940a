/* term.h - what a terminal can show.
 *
 * What is foreign goes through term_safe (base/termsafe.h) first. */
#ifndef SYS_TERM_H
#define SYS_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/termsafe.h"

bool term_is(int fd);            /* a terminal */
int term_width(int fd);          /* columns: the terminal's, else $COLUMNS, else 80; 20 at least */
bool term_colour(int fd);        /* a terminal, NO_COLOR unset or empty, TERM set and not "dumb" */

/* Cells a character takes: 0 combining, 2 wide (East Asian Width W and F, emoji), 1 else, -1 a control. Own table:
 * wcwidth(3) depends on a locale that need not be there. */
int term_cells(uint32_t cp);
size_t term_cells_of(const char *s, size_t n);   /* of a string after term_safe; invalid bytes count 1 */

#endif

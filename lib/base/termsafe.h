/* termsafe.h - what may reach a terminal: lines on stderr, too (base/prog.h).
 *
 * It is the one function through which foreign text (a model's, a file's, a tool's, a server's) goes before
 * it is shown. It makes visible, never removes:
 *   C0 controls, DEL, invalid UTF-8 bytes                 \x1B
 *   C1 controls, bidi marks, embeddings and isolates      <U+202E>
 *     (U+061C, 200E-F, 202A-E, 2066-9), line and paragraph separators, tag characters (U+E0000-E007F), variation
 *     selectors supplement, zero-width and other default-ignorable characters used to hide text, U+FEFF,
 *     noncharacters, private use in planes 15 and 16
 * Newline and tab pass unless TERM_ONE_LINE, which shows a newline as \n and a tab as \t, so that one record stays one
 * line. A carriage return is always shown (it overwrites the line), except right before a newline, where it is dropped
 * (TERM_ONE_LINE: shown). ZWJ, ZWNJ and variation selectors 15 and 16 pass where a character that they can belong to
 * stands before them (emoji, Indic, Arabic scripts): text in those scripts needs them. */
#ifndef BASE_TERMSAFE_H
#define BASE_TERMSAFE_H

#include <stddef.h>

#include "base/buf.h"

#define TERM_ONE_LINE 1

/* Appends s to out. Works on whole characters: a stream is to be cut with utf8_cut first. */
void term_safe(struct buf *out, const char *s, size_t n, int flags);

#endif

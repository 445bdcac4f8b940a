/* record_int.h - what record.c and replay.c share; only they include it. */
#ifndef LLM_RECORD_INT_H
#define LLM_RECORD_INT_H

#include "llm/record.h"

/* Appends JSON text with the accidents of the place replaced: {cwd}, {home}, {date}, and the key as "***"
 * (not a short one). */
void record_place(struct buf *out, const char *text, size_t len, const struct record_names *n);

/* mask.c: bytes of the secret, or of a telling part of it, that begin at s in any spelling; 0: none do. */
size_t mask_at(const char *s, const char *end, const char *secret);
bool mask_short(const char *secret);   /* likely to be a part of words */

#endif

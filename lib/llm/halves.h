/* halves.h - characters that a server has cut in two: gateways written in JavaScript slice strings between the two halves of a
 * surrogate pair, so that one event ends its text in "\ud83d" and the next begins with "\ude00". Private to lib/llm. */
#ifndef LLM_HALVES_H
#define LLM_HALVES_H

#include <stddef.h>

#define HALF_LEN 6             /* \ud83d */
#define HALF_NONE ((size_t)-1)

/* Where in a JSON text a string ends in a high half: the last such place; HALF_NONE if nowhere. */
size_t half_high(const char *text, size_t n);
/* Where a string begins with a low half: the first such place. */
size_t half_low(const char *text, size_t n);

#endif

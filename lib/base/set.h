/* set.h - a set of strings: which ids are known.
 *
 *   struct set s = SET_INIT;  if (set_add(&s, p, n)) ...was new...;  set_free(&s);
 *
 * Strings are copied. Never fails (memory: xalloc.h). */
#ifndef BASE_SET_H
#define BASE_SET_H

#include <stdbool.h>
#include <stddef.h>

struct set {
	char **slot;      /* open addressing; NULL is empty */
	size_t cap, n;
};

#define SET_INIT {NULL, 0, 0}

bool set_add(struct set *s, const char *p, size_t n);         /* true: it was not there */
bool set_has(const struct set *s, const char *p, size_t n);
void set_free(struct set *s);

#endif

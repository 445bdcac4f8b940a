/* xalloc.h - memory or the end of the program (status 75, one line on stderr). Sizes are checked for overflow. */
#ifndef BASE_XALLOC_H
#define BASE_XALLOC_H

#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);   /* room for n elements */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif

/* buf.h - a growable byte buffer with a limit.
 *
 * Invariants: p is never NULL and p[len] is always NUL, so p is also a C string where the content has no NUL.
 * len <= max: what would exceed it is not added; `over` is set and stays set until buf_clear (as in a stream's
 * error flag), so that a series of additions is checked once at its end. Without memory the program ends with status
 * 75: programs are short-lived, and nobody could do better.
 *
 *   struct buf b; buf_init(&b, 1 << 20);  buf_adds(&b, "x");  if (b.over) ...;  buf_free(&b);
 *
 * Ownership: buf_free releases; buf_detach gives the bytes to the caller, who frees them. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *p;
	size_t len, cap, max;
	bool over;
};

#define BUF_NOLIMIT ((size_t)-1 / 2)

void buf_init(struct buf *b, size_t max);
void buf_free(struct buf *b);         /* usable again only after buf_init */
void buf_clear(struct buf *b);        /* len = 0, over = false; memory kept */
char *buf_detach(struct buf *b);      /* the bytes, NUL-terminated, to be freed by the caller; b is empty afterwards */

/* Each returns 0, or -1 when max would be exceeded (nothing of this piece is added). */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Room for n more bytes at p + len (caller writes there and raises len itself, then buf_term). NULL beyond max. */
char *buf_room(struct buf *b, size_t n);
void buf_term(struct buf *b);         /* p[len] = 0 */

void buf_cut(struct buf *b, size_t n);          /* drop the first n bytes */
void buf_truncate(struct buf *b, size_t n);     /* keep the first n bytes */
int buf_insert(struct buf *b, size_t at, const void *p, size_t n);

/* Hex digits (lower case) of n bytes. */
int buf_addhex(struct buf *b, const unsigned char *p, size_t n);

#endif

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* What p points to while nothing is allocated: always one NUL, never written. */
static char *nothing(void)
{
	static const char empty[1] = "";

	return (char *)(size_t)empty;
}

void buf_init(struct buf *b, size_t max)
{
	b->p = nothing();
	b->len = b->cap = 0;
	b->max = max < BUF_NOLIMIT ? max : BUF_NOLIMIT;
	b->over = false;
}

void buf_free(struct buf *b)
{
	if (b->cap)
		free(b->p);
	buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
	buf_truncate(b, 0);
	b->over = false;
}

char *buf_detach(struct buf *b)
{
	char *p = b->cap ? b->p : xstrdup("");

	buf_init(b, b->max);
	return p;
}

char *buf_room(struct buf *b, size_t n)
{
	if (n > b->max - b->len) {
		b->over = true;
		return NULL;
	}
	if (b->len + n >= b->cap) {
		size_t cap = b->cap ? b->cap : 64;

		while (cap <= b->len + n)
			cap += cap / 2 + 64;
		b->p = xrealloc(b->cap ? b->p : NULL, cap, 1);
		b->cap = cap;
		b->p[b->len] = 0;
	}
	return b->p + b->len;
}

void buf_term(struct buf *b)
{
	if (b->cap)
		b->p[b->len] = 0;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
	char *to;

	if (!n)
		return 0;
	to = buf_room(b, n);
	if (!to)
		return -1;
	memcpy(to, p, n);
	b->len += n;
	b->p[b->len] = 0;
	return 0;
}

int buf_adds(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_addc(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || !buf_room(b, (size_t)n))
		return -1;
	vsnprintf(b->p + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
	return 0;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_vaddf(b, fmt, ap);
	va_end(ap);
	return r;
}

void buf_cut(struct buf *b, size_t n)
{
	if (!n)
		return;
	if (n > b->len)
		n = b->len;
	memmove(b->p, b->p + n, b->len - n);
	b->len -= n;
	buf_term(b);
}

void buf_truncate(struct buf *b, size_t n)
{
	if (n < b->len) {
		b->len = n;
		buf_term(b);
	}
}

int buf_insert(struct buf *b, size_t at, const void *p, size_t n)
{
	if (!n)
		return 0;
	if (!buf_room(b, n))
		return -1;
	memmove(b->p + at + n, b->p + at, b->len - at);
	memcpy(b->p + at, p, n);
	b->len += n;
	b->p[b->len] = 0;
	return 0;
}

int buf_addhex(struct buf *b, const unsigned char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *to = buf_room(b, 2 * n);

	if (!to)
		return -1;
	for (size_t i = 0; i < n; i++) {
		*to++ = digits[p[i] >> 4];
		*to++ = digits[p[i] & 15];
	}
	b->len += 2 * n;
	buf_term(b);
	return 0;
}

/* out.h - writing lines to a descriptor: whole lines, few writes.
 *
 * Lines gather in a buffer; out_flush writes them all. A filter flushes before each blocking read, so what one read
 * brought leaves in one write; the buffer is also flushed when it passes OUT_GATHER bytes. With out_nonblock the descriptor's
 * queue is kept by the caller's poll loop instead: out_flush writes what fits and returns 1 while something is left. */
#ifndef PROTO_OUT_H
#define PROTO_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define OUT_GATHER ((size_t)64 << 10)

struct out {
	int fd;
	struct buf buf;
	size_t sent;       /* bytes of buf already written (non-blocking) */
	bool nonblock;
	bool closed;       /* the reader is gone (EPIPE) or out_close was called: everything is dropped quietly */
};

void out_init(struct out *o, int fd);
void out_free(struct out *o);
void out_close(struct out *o);                       /* close(fd), drop what is left */
void out_nonblock(struct out *o);                    /* O_NONBLOCK on fd from now on */

int out_line(struct out *o, const char *p, size_t n, struct err *e);   /* adds LF */
int out_flush(struct out *o, struct err *e);         /* 0 all written, 1 left over (non-blocking), -1 failed */
size_t out_left(const struct out *o);

#endif

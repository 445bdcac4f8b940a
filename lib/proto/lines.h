/* lines.h - reading lines from a descriptor, blocking or under poll(2).
 *
 *   struct lines in; lines_init(&in, 0, LINE_MAX_BYTES);
 *   for (;;) {
 *       struct line l;
 *       switch (lines_next(&in, &l)) {
 *       case LINES_LINE: ...l.p, l.len...; break;          // valid until the next call
 *       case LINES_LONG: ...l.no...; break;                // over the limit; skipped to its end
 *       case LINES_NEED: if (lines_fill(&in, &e) < 0) ...; break;   // the only read(2); poll in.fd before it
 *       case LINES_END:  return;
 *       }
 *   }
 *
 * A line ends in LF; one CR before it is dropped. A last line without LF is delivered with l.cut set. Memory grows with the
 * longest line met, never beyond the limit, and shrinks again. Line numbers count from 1. */
#ifndef PROTO_LINES_H
#define PROTO_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define LINE_MAX_BYTES ((size_t)64 << 20) /* claws-messages(5): lines to 64 MiB are legal */

struct lines {
	int fd;
	size_t max;
	struct buf buf;
	size_t pos, seen;   /* start of the next line; searched for LF up to here */
	size_t gone;        /* bytes that the buffer has let go */
	unsigned long no;
	bool eof, skipping;
};

struct line {
	const char *p;
	size_t len;         /* without the line end */
	unsigned long no;
	bool cut;           /* ended by end of file, not by LF */
};

enum lines_got { LINES_NEED, LINES_LINE, LINES_LONG, LINES_END };

void lines_init(struct lines *in, int fd, size_t max);
void lines_free(struct lines *in);                /* does not close fd */
enum lines_got lines_next(struct lines *in, struct line *l);

/* One read(2): 1 = something came or end of file, 0 = nothing now (EAGAIN, EINTR), -1 = failed (then end of file). */
int lines_fill(struct lines *in, struct err *e);

/* Bytes of the input up to the end of the last line delivered, its line end included: CR and lines left out count too. */
size_t lines_offset(const struct lines *in);

/* Is a whole line there without reading? */
bool lines_ready(const struct lines *in);

#endif

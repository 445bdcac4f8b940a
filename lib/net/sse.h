/* sse.h - server-sent events: bytes at any cut become events.
 *
 *   struct sse s; sse_init(&s, heard, arg);
 *   sse_feed(&s, bytes, n) ...;  sse_end(&s);  sse_free(&s);
 *
 * After https://html.spec.whatwg.org/multipage/server-sent-events.html: lines end in LF, CRLF or CR (also when CR
 * and LF come in different pieces), one BOM at the start is dropped, lines that begin with ':' are comments, one
 * space after the colon is not part of the value, several data lines are joined by LF, a blank line ends the event,
 * an event without data is none. Two things go beyond it, because servers need them: an event that the end of the
 * stream cuts off is delivered by sse_end (the caller sees whether its data are whole), and the field `error:`,
 * which llama.cpp and gpustack send instead of an event, is delivered at once as an event named "error".
 *
 * Ownership: what the callback gets is valid during the call only; data is NUL-terminated and may be changed in
 * place. Limits: SSE_MAX bytes of one event; beyond it sse_feed says -1 and the rest of the stream is ignored. */
#ifndef NET_SSE_H
#define NET_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define SSE_MAX ((size_t)64 << 20)

/* name is "" where the server gave none. */
typedef void sse_heard(void *arg, const char *name, char *data, size_t len);

struct sse {
	sse_heard *heard;
	void *arg;
	struct buf line;     /* a line whose end has not come yet */
	struct buf data;     /* the event's data so far */
	struct buf name;
	bool some;           /* a data line was seen in this event */
	bool cr;             /* the last byte was CR: an LF that follows belongs to it */
	unsigned char bom;   /* bytes of a BOM seen at the start; 4: past it */
	bool over;
	unsigned long comments; /* comment lines seen: signs of life */
};

void sse_init(struct sse *s, sse_heard *heard, void *arg);
int sse_feed(struct sse *s, const char *p, size_t n);   /* 0, or -1: an event is too long */
void sse_end(struct sse *s);                             /* delivers a pending event */
void sse_free(struct sse *s);

#endif

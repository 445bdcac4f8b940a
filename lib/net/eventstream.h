/* eventstream.h - AWS event stream messages: bytes at any cut become one message at a time.
 *
 *   struct eventstream s; eventstream_init(&s, heard, arg);
 *   eventstream_feed(&s, bytes, n) ...;  eventstream_free(&s);
 *
 * After https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream (the same for
 * Bedrock's content type application/vnd.amazon.eventstream): total length, length of the headers and CRC-32 of these
 * two, headers, payload, CRC-32 of all before it; numbers are big endian. Headers of every type are read over, those
 * that say what a message is are kept. Nothing of a message is delivered before its checksum has held. A message that the end
 * of the bytes cuts off is not delivered: the caller sees that no end was said.
 *
 * Ownership: what the callback gets is valid during the call only; data is NUL-terminated and may be changed in place.
 * Errors: eventstream_feed says -1, `why` says what is wrong; the rest is ignored. Limits: EVENTSTREAM_MAX bytes a message,
 * EVENTSTREAM_HEADERS of headers, as AWS has them. */
#ifndef NET_EVENTSTREAM_H
#define NET_EVENTSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define EVENTSTREAM_MAX ((size_t)24 << 20)
#define EVENTSTREAM_HEADERS ((size_t)128 << 10)

enum eventstream_kind {
	EVENTSTREAM_EVENT,       /* name: the :event-type */
	EVENTSTREAM_EXCEPTION,   /* name: the :exception-type; the data say more */
	EVENTSTREAM_ERROR,       /* name: the :error-code; the data are the :error-message */
};

typedef void eventstream_heard(void *arg, enum eventstream_kind kind, const char *name, char *data, size_t len);

struct eventstream {
	eventstream_heard *heard;
	void *arg;
	struct buf message;      /* what has come of the message under way */
	size_t need;             /* bytes of it up to which nothing can be done */
	struct buf name, words;
	enum eventstream_kind kind;
	const char *why;         /* NULL: all is well */
};

void eventstream_init(struct eventstream *s, eventstream_heard *heard, void *arg);
int eventstream_feed(struct eventstream *s, const char *p, size_t n);
void eventstream_free(struct eventstream *s);

/* CRC-32 as in ISO 3309 and gzip, of n bytes. */
uint32_t eventstream_crc(const void *p, size_t n);

#endif

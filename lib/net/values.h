/* values.h - JSON values that come one after another: bytes at any cut become one value at a time.
 *
 *   struct values v; values_init(&v, heard, arg);
 *   values_feed(&v, bytes, n) ...;  values_end(&v);  values_free(&v);
 *
 * For newline-delimited JSON (Ollama), also where a value goes over several lines, and for one array that comes in pieces (Gemini
 * without alt=sse): a '[' before the first value opens it, the commas between its members are skipped. Values are objects; what
 * stands between them and is no white space, comma or the array's bracket is delivered as it is, up to the end of its line, and is
 * the caller's to refuse. A value is not checked beyond its brackets and strings.
 *
 * Ownership: what the callback gets is NUL-terminated and valid during the call only. Limits: VALUES_MAX bytes of one value;
 * beyond it values_feed says -1 and the rest is ignored. */
#ifndef NET_VALUES_H
#define NET_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define VALUES_MAX ((size_t)64 << 20)

typedef void values_heard(void *arg, char *data, size_t len);

struct values {
	values_heard *heard;
	void *arg;
	struct buf value;
	long depth;          /* of brackets in the value; 0: between values */
	bool in_string, escaped;
	bool junk;           /* what is being kept is no object */
	bool array, any;     /* the array's bracket was seen; any value was */
	bool over;
};

void values_init(struct values *v, values_heard *heard, void *arg);
int values_feed(struct values *v, const char *p, size_t n);
void values_end(struct values *v);       /* delivers a value that was cut off */
void values_free(struct values *v);

#endif

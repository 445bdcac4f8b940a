/* reply.c - HTTP/1.1 responses (RFC 9112) as bytes, cut into the writes that bring them. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void reply_init(struct reply *p)
{
	memset(p, 0, sizeof *p);
	buf_init(&p->bytes, BUF_NOLIMIT);
}

void reply_free(struct reply *p)
{
	buf_free(&p->bytes);
	free(p->segments);
	memset(p, 0, sizeof *p);
}

static void segment_end(struct reply *p, long delay_ms)
{
	if (p->n_segments == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 16;
		p->segments = xrealloc(p->segments, p->cap, sizeof *p->segments);
	}
	p->segments[p->n_segments++] = (struct segment){p->bytes.len, delay_ms};
}

void reply_pause(struct reply *p, long ms)
{
	if (ms > 0)
		segment_end(p, ms);   /* an empty piece after a delay */
}

static const char *reason(int status)
{
	switch (status) {
	case 200: return "OK";
	case 400: return "Bad Request";
	case 401: return "Unauthorized";
	case 404: return "Not Found";
	case 429: return "Too Many Requests";
	case 500: return "Internal Server Error";
	case 503: return "Service Unavailable";
	default: return "Status";
	}
}

/* Where the fault strikes: bytes of body that still go out. */
static size_t allowed(const struct reply *p, size_t len)
{
	if (p->fault.kind != FAULT_CUT && p->fault.kind != FAULT_RST && p->fault.kind != FAULT_STALL)
		return len;
	size_t limit = (size_t)p->fault.arg;
	return p->payload + len <= limit ? len : limit - p->payload;
}

static void strike(struct reply *p)
{
	p->over = true;
	p->end = p->fault.kind == FAULT_RST ? END_RESET : p->fault.kind == FAULT_STALL ? END_STALL : END_CLOSE;
	segment_end(p, 0);
}

void reply_whole(struct reply *p, int status, const char *headers, const char *body, size_t len)
{
	size_t n = allowed(p, len);
	buf_addf(&p->bytes, "HTTP/1.1 %d %s\r\ncontent-type: application/json\r\n%scontent-length: %zu\r\n\r\n", status,
		reason(status), headers ? headers : "", len);
	segment_end(p, 0);
	buf_add(&p->bytes, body, n);
	p->payload += n;
	if (n < len)
		strike(p);
	else
		segment_end(p, 0);
}

void reply_stream(struct reply *p, const char *headers)
{
	buf_addf(&p->bytes, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n%s"
		"transfer-encoding: chunked\r\n\r\n", headers ? headers : "");
	segment_end(p, 0);
}

void reply_event(struct reply *p, const char *bytes, size_t len)
{
	if (p->over || !len)
		return;
	size_t n = allowed(p, len);
	buf_addf(&p->bytes, "%zx\r\n", len);
	buf_add(&p->bytes, bytes, n);
	p->payload += n;
	if (n < len) {
		strike(p);
		return;
	}
	buf_adds(&p->bytes, "\r\n");
	segment_end(p, p->chunk_delay_ms);
}

void reply_done(struct reply *p)
{
	if (p->over)
		return;
	buf_adds(&p->bytes, "0\r\n\r\n");
	segment_end(p, 0);
}

/* The same bytes in writes of `size`; delays stay where they were. */
void reply_cut_writes(struct reply *p, size_t size)
{
	struct reply q = *p;
	p->segments = NULL;
	p->n_segments = p->cap = 0;
	size_t all = p->bytes.len, at = 0;
	for (size_t i = 0; i < q.n_segments; i++) {
		long delay = q.segments[i].delay_ms;
		while (at < q.segments[i].end || delay) {
			at = q.segments[i].end - at > size ? at + size : q.segments[i].end;
			p->bytes.len = at;
			segment_end(p, delay);
			delay = 0;
		}
	}
	p->bytes.len = all;
	free(q.segments);
}

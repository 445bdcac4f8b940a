/* sse.c - the first byte says where the stream is cut: whole and in pieces it must be the same events. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void heard(void *arg, const char *name, char *data, size_t len)
{
	struct buf *all = arg;
	buf_addf(all, "%s:%zu:", name, len);
	buf_add(all, data, len);
}

static void feed(struct buf *all, const char *p, size_t n, size_t step)
{
	struct sse s;
	sse_init(&s, heard, all);
	for (size_t at = 0; at < n; at += step)
		sse_feed(&s, p + at, n - at < step ? n - at : step);
	sse_end(&s);
	sse_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct buf whole, cut;
	buf_init(&whole, BUF_NOLIMIT);
	buf_init(&cut, BUF_NOLIMIT);
	feed(&whole, (const char *)data + 1, size - 1, size);
	feed(&cut, (const char *)data + 1, size - 1, 1 + data[0] % 32);
	if (whole.len != cut.len || memcmp(whole.p, cut.p, whole.len) != 0)
		abort();
	buf_free(&whole);
	buf_free(&cut);
	return 0;
}

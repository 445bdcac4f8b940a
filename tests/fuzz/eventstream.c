/* eventstream.c - the first byte says where the stream is cut, and whether its checksums are put right first, so that what is
 * behind them is reached: whole and in pieces it must be the same messages. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/eventstream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void heard(void *arg, enum eventstream_kind kind, const char *name, char *data, size_t len)
{
	struct buf *all = arg;
	if (data[len] != 0)
		abort();
	buf_addf(all, "%d:%s:%zu:", kind, name, len);
	buf_add(all, data, len);
}

static void feed(struct buf *all, const char *p, size_t n, size_t step)
{
	struct eventstream s;
	eventstream_init(&s, heard, all);
	for (size_t at = 0; at < n; at += step)
		eventstream_feed(&s, p + at, n - at < step ? n - at : step);
	buf_addf(all, "(%s)", s.why ? s.why : "");
	eventstream_free(&s);
}

static void put(unsigned char *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> 8 * (3 - i));
}

static void mend(unsigned char *p, size_t n)
{
	while (n >= 16) {
		uint32_t total = (uint32_t)p[2] << 8 | p[3];
		if (total < 16 || total > n)
			total = (uint32_t)(n > 65535 ? 65535 : n);
		put(p, total);
		p[4] = p[5] = 0;
		put(p + 8, eventstream_crc(p, 8));
		put(p + total - 4, eventstream_crc(p, total - 4));
		p += total;
		n -= total;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct buf whole, cut;
	unsigned char *copy = malloc(size - 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 1)
		mend(copy, size - 1);
	buf_init(&whole, BUF_NOLIMIT);
	buf_init(&cut, BUF_NOLIMIT);
	feed(&whole, (const char *)copy, size - 1, size);
	feed(&cut, (const char *)copy, size - 1, 1 + data[0] / 2 % 32);
	if (whole.len != cut.len || memcmp(whole.p, cut.p, whole.len) != 0)
		abort();
	buf_free(&whole);
	buf_free(&cut);
	free(copy);
	return 0;
}

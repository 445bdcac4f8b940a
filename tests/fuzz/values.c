/* values.c - the first byte says where the bytes are cut: whole and in pieces they must be the same values. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void heard(void *arg, char *data, size_t len)
{
	struct buf *all = arg;

	if (len == 0 || data[len] != 0)
		abort();
	buf_addf(all, "%zu:", len);
	buf_add(all, data, len);
}

static void feed(struct buf *all, const char *p, size_t n, size_t step)
{
	struct values v;

	values_init(&v, heard, all);
	for (size_t at = 0; at < n; at += step)
		values_feed(&v, p + at, n - at < step ? n - at : step);
	values_end(&v);
	values_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, cut;

	if (!size)
		return 0;
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

/* answer.c - the first byte says which wire and where the answer is cut: whole and in pieces it must be the same
 * message, and what the sink heard must be what the message holds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "llm/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void text(void *arg, const char *s, size_t n)
{
	struct buf *heard = arg;
	buf_add(heard, s, n);
}

static void message(struct buf *out, const struct wire *wire, int status, const char *p, size_t n, size_t step)
{
	static const struct answer_sink sink = { .text = text };
	struct answer a;
	struct buf heard;
	struct json j = JSON_INIT;
	buf_init(&heard, BUF_NOLIMIT);
	answer_init(&a, wire, &sink, &heard);
	answer_head(&a, status);
	for (size_t at = 0; at < n; at += step)
		answer_feed(&a, p + at, n - at < step ? n - at : step);
	answer_end(&a);
	if (!a.corrected && (heard.len != a.content.len || memcmp(heard.p, a.content.p, heard.len) != 0))
		abort();
	struct jw w = jw_begin(out);
	jw_obj(&w);
	answer_write(&a, &w, "p/m", 0.5);
	jw_end(&w);
	if (json_parse(&j, out->p, out->len, NULL) < 0 && j.fault != JSON_DEEP)
		abort();
	buf_addf(out, "%s %s %s ", stop_name(a.stop), a.error.class, a.error.message.p);
	answer_words(&a, out);
	json_free(&j);
	answer_free(&a);
	buf_free(&heard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	size_t wires = 0;
	while (wire_at(wires))
		wires++;
	const struct wire *wire = wire_at((data[0] & 15) % wires);
	int status = data[0] & 16 ? 400 : 200;
	struct buf whole, cut;
	buf_init(&whole, BUF_NOLIMIT);
	buf_init(&cut, BUF_NOLIMIT);
	message(&whole, wire, status, (const char *)data + 1, size - 1, size);
	message(&cut, wire, status, (const char *)data + 1, size - 1, 1 + (data[0] >> 5) * 9);
	if (whole.len != cut.len || memcmp(whole.p, cut.p, whole.len) != 0)
		abort();
	buf_free(&whole);
	buf_free(&cut);
	return 0;
}

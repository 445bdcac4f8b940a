/* answer_wire.h - one wire under the fuzzer: bits of the first byte say which quirks hold, whether it is an error's body, and where it
 * is cut. Whole and in pieces it must be the same message, and what the sink heard must be what the message holds. WIRE is defined
 * before. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "llm/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
	struct buf text, thought;
};

static void text(void *arg, const char *s, size_t n)
{
	buf_add(&((struct told *)arg)->text, s, n);
}

static void thought(void *arg, const char *s, size_t n)
{
	buf_add(&((struct told *)arg)->thought, s, n);
}

static void message(struct buf *out, int status, uint64_t quirks, const struct buf *tools, const char *p, size_t n, size_t step)
{
	static const struct answer_sink sink = { .text = text, .thinking = thought };
	struct answer a;
	struct told told;
	struct json j = JSON_INIT;

	buf_init(&told.text, BUF_NOLIMIT);
	buf_init(&told.thought, BUF_NOLIMIT);
	answer_init(&a, wire_find(WIRE), &sink, &told);
	a.quirks = quirks;
	a.tools = tools;
	answer_head(&a, status);
	for (size_t at = 0; at < n; at += step)
		answer_feed(&a, p + at, n - at < step ? n - at : step);
	answer_end(&a);
	if (!a.corrected && (told.text.len != a.content.len || memcmp(told.text.p, a.content.p, told.text.len) != 0))
		abort();
	if (!a.corrected && (told.thought.len != a.thinking.len || memcmp(told.thought.p, a.thinking.p, told.thought.len) != 0))
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
	buf_free(&told.text);
	buf_free(&told.thought);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, cut, tools;
	uint64_t quirks;
	int status;

	if (!size)
		return 0;
	status = data[0] & 2 ? 400 : 200;
	quirks = data[0] & 1 ? QUIRK_TEXT_CALLS | QUIRK_THINK_TAGS : 0;
	buf_init(&whole, BUF_NOLIMIT);
	buf_init(&cut, BUF_NOLIMIT);
	buf_init(&tools, BUF_NOLIMIT);
	buf_adds(&tools, "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
	         "\"properties\":{\"x\":{\"type\":\"integer\"}},\"required\":[\"x\"]}}}");
	message(&whole, status, quirks, &tools, (const char *)data + 1, size - 1, size);
	message(&cut, status, quirks, &tools, (const char *)data + 1, size - 1, 1 + data[0] / 4);
	if (whole.len != cut.len || memcmp(whole.p, cut.p, whole.len) != 0)
		abort();
	buf_free(&whole);
	buf_free(&cut);
	buf_free(&tools);
	return 0;
}

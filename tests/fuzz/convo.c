/* convo.c - lines of a conversation, the first byte saying for which wire: each request is JSON, and what was sent before is its
 * beginning, byte for byte, unless the conversation was reset. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "llm/convo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	(void)arg;
	(void)e;
	return buf_addf(bytes, "GIF89a%s;", ref);
}

static void request(const struct convo *c, struct call_options *o, struct buf *out)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	for (int cache = 0; cache < 2; cache++) {
		o->cache = !cache;              /* the unmarked one stays in out */
		buf_clear(out);
		if (c->wire->body(c, o, out, &e) < 0 || (json_parse(&j, out->p, out->len, &e) < 0 && j.fault != JSON_DEEP))
			abort();
	}
	json_free(&j);
}

static void add(struct convo *c, struct call_options *o, const char *line, size_t n, struct buf *before, struct buf *now)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	if (json_parse(&j, line, n, NULL) == 0) {
		enum msg_kind kind = msg_kind(&j);
		if (kind == MSG_RESET) {
			convo_reset(c);
			buf_clear(before);
		}
		if (kind == MSG_SYSTEM || kind == MSG_TOOLS)
			buf_clear(before);
		convo_add(c, &j, &e);
		request(c, o, now);
		/* without the brackets that close it */
		size_t keep = before->len > 4 ? before->len - 4 : 0;
		if (keep > 0 && (now->len < keep || memcmp(now->p, before->p, keep) != 0))
			abort();
		if (c->last != CONVO_ASSISTANT && c->open.len <= 1) {    /* all results are there: a request may be sent */
			buf_clear(before);
			buf_add(before, now->p, now->len);
		}
	}
	json_free(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct call_options o = { .model = "m", .temperature = -1, .thinking = -1, .stream = true };
	struct convo c;
	struct buf before, now;
	size_t wires = 0;
	while (wire_at(wires))
		wires++;
	convo_init(&c, wire_at((data[0] & 15) % wires), "p/m");
	c.load = load;
	c.quirks = data[0] & 16 ? QUIRK_REASONING_BACK : 0;
	buf_init(&before, BUF_NOLIMIT);
	buf_init(&now, BUF_NOLIMIT);
	const char *p = (const char *)data + 1, *end = (const char *)data + size;
	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((lf ? lf : end) - p);
		add(&c, &o, p, n, &before, &now);
		p += n + 1;
	}
	convo_free(&c);
	buf_free(&before);
	buf_free(&now);
	return 0;
}

/* textcalls.c - text of a model, the first byte saying which quirks hold and where it is cut: whole and in pieces it is the same
 * thoughts, the same calls and the same text; and without a call in it every byte is there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "llm/textcalls.h"
#include "llm/thinktags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct got {
	struct textcalls calls;
	struct buf text, thought, called;
};

static void text(void *arg, const char *s, size_t n)
{
	buf_add(&((struct got *)arg)->text, s, n);
}

static void thought(void *arg, const char *s, size_t n)
{
	buf_add(&((struct got *)arg)->thought, s, n);
}

static void call(void *arg, const char *json, size_t n)
{
	struct json j = JSON_INIT;

	if (json_parse(&j, json, n, NULL) < 0 && j.fault != JSON_DEEP)
		abort();
	if (json_type(&j, json_get(&j, 0, "arguments")) != JSON_OBJECT && j.fault == JSON_FINE)
		abort();
	buf_add(&((struct got *)arg)->called, json, n);
	json_free(&j);
}

static bool offered(void *arg, const char *name, size_t n)
{
	(void)arg;
	return n == 4 && (memcmp(name, "Bash", 4) == 0 || memcmp(name, "Read", 4) == 0);
}

static bool is_string(void *arg, const char *tool, size_t n, const char *key, size_t nkey)
{
	(void)arg;
	return n == 4 && *tool == 'B' && nkey > 0 && *key == 'c';
}

static void spoken(void *arg, const char *s, size_t n)
{
	textcalls_feed(&((struct got *)arg)->calls, s, n);
}

static void feed(struct got *g, bool think, const char *p, size_t n, size_t step)
{
	const struct textcalls_out out = { text, call, offered, is_string, g };
	const struct thinktags_out to = { spoken, thought, g };
	struct thinktags t = {0};

	buf_init(&g->text, BUF_NOLIMIT);
	buf_init(&g->thought, BUF_NOLIMIT);
	buf_init(&g->called, BUF_NOLIMIT);
	textcalls_init(&g->calls, &out);
	for (size_t at = 0; at < n; at += step) {
		size_t some = n - at < step ? n - at : step;

		if (think)
			thinktags_feed(&t, p + at, some, &to);
		else
			spoken(g, p + at, some);
	}
	if (think)
		thinktags_end(&t, &to);
	textcalls_end(&g->calls, true);
	textcalls_free(&g->calls);
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

static void done(struct got *g)
{
	buf_free(&g->text);
	buf_free(&g->thought);
	buf_free(&g->called);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct got whole, cut;
	struct buf args;
	bool think;

	if (!size)
		return 0;
	think = data[0] & 1;
	feed(&whole, think, (const char *)data + 1, size - 1, size);
	feed(&cut, think, (const char *)data + 1, size - 1, 1 + data[0] / 2 % 32);
	if (!same(&whole.text, &cut.text) || !same(&whole.thought, &cut.thought) || !same(&whole.called, &cut.called))
		abort();
	if (!think && whole.called.len == 0 && (whole.text.len != size - 1 || memcmp(whole.text.p, data + 1, size - 1) != 0))
		abort();
	buf_init(&args, BUF_NOLIMIT);
	textcalls_recover((const char *)data + 1, size - 1, "Bash", &args);
	buf_free(&args);
	done(&whole);
	done(&cut);
	return 0;
}

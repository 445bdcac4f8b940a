/* build_text.c - text on its way into an answer: thoughts between tags and calls written as text are taken out of it where the
 * provider's or model's row says so (QUIRK_THINK_TAGS, QUIRK_TEXT_CALLS). Content is what the sink heard, never more. */
#include "llm/build.h"

#include <string.h>

static void text(void *arg, const char *s, size_t n)
{
	struct answer *a = arg;

	if (n == 0)
		return;
	if (buf_add(&a->content, s, n) < 0) {
		build_fail(a, "protocol", "the answer is too long");
		return;
	}
	a->heard = true;
	if (a->sink.text)
		a->sink.text(a->arg, s, n);
}

static void thought(void *arg, const char *s, size_t n)
{
	struct answer *a = arg;

	if (n == 0)
		return;
	if (buf_add(&a->thinking, s, n) < 0) {
		build_fail(a, "protocol", "the answer is too long");
		return;
	}
	a->heard = true;
	if (a->sink.thinking)
		a->sink.thinking(a->arg, s, n);
}

/* The offered tool of that name, as the wire has it: {"function":{..}} or flat; -1 none. */
static int tool(struct answer *a, const char *name, size_t n)
{
	if (!a->tools)
		return -1;
	if (a->offered_text.len == 0) {
		buf_addf(&a->offered_text, "[%s]", a->tools->p);
		json_parse(&a->offered, a->offered_text.p, a->offered_text.len, NULL);
	}
	for (struct json_iter it = json_iter(&a->offered, 0); json_next(&it);) {
		int f = json_get(&a->offered, it.value, "function"), v = f >= 0 ? f : it.value;
		size_t len;
		const char *raw = json_raw(&a->offered, json_get(&a->offered, v, "name"), &len);

		if (len == n + 2 && memcmp(raw + 1, name, n) == 0)     /* names need no escapes */
			return v;
	}
	return -1;
}

static bool offered(void *arg, const char *name, size_t n)
{
	return tool(arg, name, n) >= 0;
}

static bool is_string(void *arg, const char *name, size_t n, const char *key, size_t nkey)
{
	struct answer *a = arg;
	int props = json_path(&a->offered, tool(a, name, n), "parameters.properties");

	for (struct json_iter it = json_iter(&a->offered, props); props >= 0 && json_next(&it);) {
		size_t len;
		const char *raw = json_raw(&a->offered, it.key, &len);
		int type = json_get(&a->offered, it.value, "type");

		if (len == nkey + 2 && memcmp(raw + 1, key, nkey) == 0)
			return json_type(&a->offered, type) == JSON_STRING && json_eq(&a->offered, type, "string");
	}
	return true;
}

static void call(void *arg, const char *json, size_t n)
{
	struct answer *a = arg;
	struct json j = JSON_INIT;

	if (json_parse(&j, json, n, NULL) == 0) {
		int at = build_call(a, -1, &j, json_get(&j, 0, "id"), json_get(&j, 0, "name"));
		build_args(a, at, &j, json_get(&j, 0, "arguments"));
	}
	json_free(&j);
}

static void spoken(void *arg, const char *s, size_t n)
{
	struct answer *a = arg;

	if (a->quirks & QUIRK_TEXT_CALLS)
		textcalls_feed(&a->textcalls, s, n);
	else
		text(a, s, n);
}

void build_text_init(struct answer *a)
{
	struct textcalls_out out = { text, call, offered, is_string, a };

	textcalls_init(&a->textcalls, &out);
	buf_init(&a->offered_text, BUF_NOLIMIT);
}

void build_text_free(struct answer *a)
{
	textcalls_free(&a->textcalls);
	buf_free(&a->offered_text);
	json_free(&a->offered);
}

void build_text(struct answer *a, const struct json *j, int v)
{
	struct thinktags_out out = { spoken, thought, a };
	struct buf b;

	if (json_strlen(j, v) == 0)
		return;
	buf_init(&b, ANSWER_MAX);
	json_str(j, v, &b);
	if (b.over)
		build_fail(a, "protocol", "the answer is too long");
	else if (a->quirks & QUIRK_THINK_TAGS)
		thinktags_feed(&a->thinktags, b.p, b.len, &out);
	else
		spoken(a, b.p, b.len);
	buf_free(&b);
}

void build_think(struct answer *a, const struct json *j, int v)
{
	struct buf b;

	if (json_strlen(j, v) == 0)
		return;
	buf_init(&b, ANSWER_MAX);
	json_str(j, v, &b);
	if (b.over)
		build_fail(a, "protocol", "the answer is too long");
	else
		thought(a, b.p, b.len);
	buf_free(&b);
}

/* A call that came as such, but without the arguments that its schema demands: they may stand in the text. */
static void recover(struct answer *a, struct call *c)
{
	int required = json_get(&a->offered, tool(a, c->name.p, c->name.len), "parameters");
	bool none = c->args.p[strspn(c->args.p, " \t\r\n")] == 0 || strcmp(c->args.p, "{}") == 0 || strcmp(c->args.p, "null") == 0;
	struct buf args;

	required = json_get(&a->offered, required, "required");
	if (!none || json_type(&a->offered, required) != JSON_ARRAY || json_count(&a->offered, required) == 0)
		return;
	buf_init(&args, ANSWER_MAX);
	if (textcalls_recover(a->content.p, a->content.len, c->name.p, &args) ||
	    textcalls_recover(a->thinking.p, a->thinking.len, c->name.p, &args)) {
		buf_clear(&c->args);
		buf_add(&c->args, args.p, args.len);
	}
	buf_free(&args);
}

void build_text_end(struct answer *a)
{
	struct thinktags_out out = { spoken, thought, a };
	size_t n = a->ncalls;

	if (a->quirks & QUIRK_THINK_TAGS)
		thinktags_end(&a->thinktags, &out);
	if (!(a->quirks & QUIRK_TEXT_CALLS))
		return;
	textcalls_end(&a->textcalls, a->terminal && !a->error.set);
	for (size_t i = 0; i < n && a->terminal; i++)
		recover(a, &a->calls[i]);
}

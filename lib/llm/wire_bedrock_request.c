/* wire_bedrock_request.c - requests of Bedrock's Converse and ConverseStream.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 *
 * Roles must alternate and begin with the user, no text may be blank, a document needs a text beside it, and tools must be
 * declared as soon as the history has a call: whatever else would be refused. */
#include <ctype.h>
#include <string.h>

#include "base/status.h"
#include "llm/image.h"
#include "llm/request.h"
#include "llm/wires.h"

#define MARK ",{\"cachePoint\":{\"type\":\"default\"}}"
#define FILLER "{\"role\":\"user\",\"content\":[{\"text\":\"(continue)\"}]}"
#define LEAST_BUDGET 1024
#define DEFAULT_TOKENS 8192
#define IMAGE_BYTES ((size_t)15 << 18)                   /* 3.75 MB an image */
#define DOCUMENT_BYTES ((size_t)9 << 19)                 /* 4.5 MB a document */

static void text_block(struct jw *w, const char *s, size_t n)
{
	jw_obj(w);
	jw_kstrn(w, "text", s, n);
	jw_end(w);
}

/* A document's name may have letters, digits, single spaces, hyphens, parentheses and brackets, and no two of a request
 * the same: `at` is where it stands in the conversation. */
static void document_name(struct jw *w, const struct buf *name, size_t at)
{
	struct buf b;

	buf_init(&b, 256);
	for (size_t i = 0; i < name->len && b.len < 150; i++) {
		char c = name->p[i];
		bool fine = isalnum((unsigned char)c) || (c && strchr("-()[]", c));
		if (fine || (b.len > 0 && b.p[b.len - 1] != ' '))
			buf_addc(&b, fine ? c : ' ');
	}
	if (b.len == 0)
		buf_adds(&b, "document");
	buf_addf(&b, "%s%zu", b.p[b.len - 1] == ' ' ? "" : " ", at);
	jw_kstrn(w, "name", b.p, b.len);
	buf_free(&b);
}

static void source(struct jw *w, const struct buf *base64)
{
	jw_key(w, "source");
	jw_obj(w);
	jw_kstrn(w, "bytes", base64->p, base64->len);
	jw_end(w);
}

/* True if a document is among them. */
static bool images(struct jw *w, const struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "images");
	bool document = false;

	if (json_type(j, list) != JSON_ARRAY)
		return false;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		struct image im;
		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type && im.document && im.text.len / 4 * 3 > DOCUMENT_BYTES)
			image_refuse(&im, "it is too big for the provider");
		if (im.media_type) {
			jw_obj(w);
			jw_key(w, im.document ? "document" : "image");
			jw_obj(w);
			jw_kstr(w, "format", strchr(im.media_type, '/') + 1);
			if (im.document)
				document_name(w, &im.name, c->messages.len + w->b->len);
			source(w, &im.text);
			jw_end(w);
			jw_end(w);
			document |= im.document;
		} else {
			text_block(w, im.text.p, im.text.len);
		}
		image_free(&im);
	}
	return document;
}

/* A cache point is a block of its own, behind the last. */
static void into_user(struct convo *c, const struct buf *blocks, bool result)
{
	request_into_user(c, blocks, result);
	c->mark_at = c->messages.len - 2;
}

static void add_user(struct convo *c, const struct json *j)
{
	struct buf text, blocks;

	buf_init(&text, BUF_NOLIMIT);
	buf_init(&blocks, CONVO_MAX);
	json_str(j, json_get(j, 0, "content"), &text);
	bool blank = request_trim(text.p, text.len) == 0;
	struct jw w = jw_begin(&blocks);
	jw_arr(&w);
	bool document = images(&w, c, j);
	if (!blank)
		text_block(&w, text.p, text.len);
	else if (document || blocks.len == 1)
		text_block(&w, "(no text)", 9);
	buf_cut(&blocks, 1);                         /* the list's own bracket */
	into_user(c, &blocks, false);
	c->no_thinking = false;
	buf_free(&text);
	buf_free(&blocks);
}

/* "success" is not said: not all models take a status. */
static void add_tool(struct convo *c, const struct json *j)
{
	struct buf text, block;

	buf_init(&text, BUF_NOLIMIT);
	buf_init(&block, CONVO_MAX);
	json_str(j, json_get(j, 0, "content"), &text);
	bool empty = request_trim(text.p, text.len) == 0;
	struct jw w = jw_begin(&block);
	jw_obj(&w);
	jw_key(&w, "toolResult");
	jw_obj(&w);
	request_id(&w, "toolUseId", j, json_get(j, 0, "tool_call_id"));
	jw_key(&w, "content");
	jw_arr(&w);
	if (!empty)
		text_block(&w, text.p, text.len);
	size_t before = block.len;
	images(&w, c, j);
	if (empty && block.len == before)
		text_block(&w, "(no output)", 11);
	jw_end(&w);
	if (json_true(j, json_get(j, 0, "is_error")))
		jw_kstr(&w, "status", "error");
	jw_end(&w);
	jw_end(&w);
	into_user(c, &block, true);
	buf_free(&text);
	buf_free(&block);
}

/* The text of the last of the provider's own blocks ends in white space: all of it but that. */
static void own_blocks(struct jw *w, const struct json *j, int list, bool trim)
{
	int n = json_count(j, list), i = 0;

	for (struct json_iter it = json_iter(j, list); json_next(&it); i++) {
		size_t len;
		const char *raw = json_raw(j, it.value, &len);
		if (!trim || i + 1 < n) {
			jw_raw(w, raw, len);
			continue;
		}
		struct buf text;
		buf_init(&text, BUF_NOLIMIT);
		json_str(j, json_get(j, it.value, "text"), &text);
		size_t keep = request_trim(text.p, text.len);
		if (keep > 0)
			text_block(w, text.p, keep);
		buf_free(&text);
	}
}

static void rebuilt(struct jw *w, const struct json *j, const struct buf *text, bool trim)
{
	size_t keep = request_trim(text->p, text->len);
	int calls = json_get(j, 0, "tool_calls");

	if (keep > 0)
		text_block(w, text->p, trim ? keep : text->len);
	for (struct json_iter it = json_iter(j, calls); json_type(j, calls) == JSON_ARRAY && json_next(&it);) {
		int name = json_get(j, it.value, "name");
		size_t len;
		const char *raw = json_raw(j, name, &len);
		jw_obj(w);
		jw_key(w, "toolUse");
		jw_obj(w);
		request_id(w, "toolUseId", j, json_get(j, it.value, "id"));
		if (json_strlen(j, name) > 0)
			jw_kraw(w, "name", raw, len);
		else
			jw_kstr(w, "name", "unknown");
		jw_key(w, "input");
		request_input(w, j, json_get(j, it.value, "input"));
		jw_end(w);
		jw_end(w);
	}
}

/* Nothing if it would have no block. */
static void assistant(struct buf *out, const struct json *j, int list, const struct buf *text, bool trim)
{
	size_t start = out->len, empty;

	buf_adds(out, "{\"role\":\"assistant\",\"content\":");
	empty = out->len + 2;
	struct jw w = jw_begin(out);
	jw_arr(&w);
	if (list >= 0)
		own_blocks(&w, j, list, trim);
	else
		rebuilt(&w, j, text, trim);
	jw_end(&w);
	if (out->len == empty)
		buf_truncate(out, start);
	else
		buf_addc(out, '}');
}

/* Does it end in text with white space after it? Claude refuses a request that ends so. */
static bool loose_end(const struct json *j, int list, const struct buf *text)
{
	struct buf last;
	int v = -1;
	bool loose;

	if (list < 0)
		return json_count(j, json_get(j, 0, "tool_calls")) == 0 && request_trim(text->p, text->len) < text->len;
	for (struct json_iter it = json_iter(j, list); json_next(&it);)
		v = it.value;
	buf_init(&last, BUF_NOLIMIT);
	json_str(j, json_get(j, v, "text"), &last);
	loose = request_trim(last.p, last.len) < last.len;
	buf_free(&last);
	return loose;
}

static void add_assistant(struct convo *c, const struct json *j)
{
	struct buf text, whole;
	int list = request_blocks(c, j);

	buf_init(&text, BUF_NOLIMIT);
	buf_init(&whole, CONVO_MAX);
	json_str(j, json_get(j, 0, "content"), &text);
	assistant(&whole, j, list, &text, false);
	if (whole.len > 0) {
		if (c->last != CONVO_USER) {
			request_message(c);
			buf_adds(&c->messages, FILLER);
		}
		request_message(c);
		buf_add(&c->messages, whole.p, whole.len);
		c->last = CONVO_ASSISTANT;
		c->has_final = loose_end(j, list, &text);
		if (c->has_final) {
			buf_clear(&c->final);
			assistant(&c->final, j, list, &text, true);
		}
		c->no_thinking = json_count(j, json_get(j, 0, "tool_calls")) > 0 &&
			(list < 0 || json_path(j, list, "0.reasoningContent") < 0);
	}
	buf_free(&text);
	buf_free(&whole);
}

int converse_add(struct convo *c, const struct json *message, struct err *e)
{
	(void)e;
	return request_add(c, message, add_user, add_assistant, add_tool);
}

int converse_tools(struct convo *c, const struct json *j, int tools, struct err *e)
{
	(void)e;
	struct jw w = jw_begin(&c->tools);
	jw_arr(&w);
	for (struct json_iter it = json_iter(j, tools); json_next(&it);) {
		int name = json_get(j, it.value, "name"), words = json_get(j, it.value, "description");
		size_t n;
		const char *raw = json_raw(j, name, &n);
		if (json_strlen(j, name) == 0)
			continue;
		jw_obj(&w);
		jw_key(&w, "toolSpec");
		jw_obj(&w);
		jw_kraw(&w, "name", raw, n);
		raw = json_raw(j, words, &n);
		if (json_strlen(j, words) > 0)       /* an empty one is refused */
			jw_kraw(&w, "description", raw, n);
		jw_key(&w, "inputSchema");
		jw_obj(&w);
		jw_key(&w, "json");
		request_schema(&w, j, json_get(j, it.value, "input_schema"), c->quirks);
		jw_end(&w);
		jw_end(&w);
		jw_end(&w);
	}
	buf_cut(&c->tools, 1);
	return 0;
}

/* How each maker's models are asked to think: Claude by a budget or by effort, gpt-oss by reasoning_effort, Nova by
 * reasoningConfig (style "reasoning"). True: a budget of Claude's, which maxTokens must be above and which bears no
 * temperature. */
static bool thinking(struct buf *fields, const struct convo *c, const struct call_options *o, int64_t *max, bool *free_hand)
{
	const char *word = effort_word(o);
	int64_t budget = c->no_thinking ? 0 : budget_wanted(o);
	bool on = effort_wanted(o) > EFFORT_NONE;

	switch (o->style) {
	case STYLE_WIRE: case STYLE_BUDGET:
		if (budget <= 0)
			return false;
		if (budget < LEAST_BUDGET)
			budget = LEAST_BUDGET;
		if (*max <= 0)
			*max = budget + DEFAULT_TOKENS;
		if (budget >= *max)
			budget = *max / 2 > LEAST_BUDGET ? *max / 2 : LEAST_BUDGET;
		if (budget >= *max)
			return false;
		buf_addf(fields, "{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":%lld}}", (long long)budget);
		return true;
	case STYLE_ADAPTIVE:
		if (!on || c->no_thinking)
			return false;
		buf_adds(fields, "{\"thinking\":{\"type\":\"adaptive\"}");
		if (word)
			buf_addf(fields, ",\"output_config\":{\"effort\":\"%s\"}", word);
		buf_addc(fields, '}');
		return true;
	case STYLE_EFFORT:
		if (on && word)
			buf_addf(fields, "{\"reasoning_effort\":\"%s\"}", word);
		return false;
	case STYLE_REASONING:
		if (!on)
			return false;
		/* Nova has no "max", and at "high" it takes neither a limit nor a temperature */
		word = effort_wanted(o) == EFFORT_MAX && !strcmp(word ? word : "max", "max") ? "high" : word ? word : "medium";
		buf_addf(fields, "{\"reasoningConfig\":{\"type\":\"enabled\",\"maxReasoningEffort\":\"%s\"}}", word);
		*free_hand = !strcmp(word, "high");
		return *free_hand;
	default:
		return false;
	}
}

static void limits(struct jw *w, const struct convo *c, const struct call_options *o)
{
	struct buf fields;
	int64_t max = o->quirks & QUIRK_NO_MAX_TOKENS ? 0 : o->max_tokens;
	bool free_hand = false, warm;

	buf_init(&fields, BUF_NOLIMIT);
	warm = !thinking(&fields, c, o, &max, &free_hand) && o->temperature >= 0 && !(o->quirks & QUIRK_NO_TEMPERATURE);
	if (free_hand)
		max = 0;
	if (max > 0 || warm) {
		jw_key(w, "inferenceConfig");
		jw_obj(w);
		if (max > 0)
			jw_ki64(w, "maxTokens", max);
		if (warm) {
			jw_key(w, "temperature");
			jw_double(w, o->temperature);
		}
		jw_end(w);
	}
	if (fields.len > 0)
		jw_kraw(w, "additionalModelRequestFields", fields.p, fields.len);
	buf_free(&fields);
}

/* Tools that nobody offers any more, while the history has calls, as when it is asked for a summary: without a toolConfig the
 * request is refused. Inside a string the quotes would have backslashes. */
static bool calls_in(const struct convo *c)
{
	static const char call[] = "{\"toolUse\":{";

	return memmem(c->messages.p, c->messages.len, call, sizeof call - 1) != NULL;
}

static bool has_system(const struct convo *c)
{
	return request_trim(c->system.p, c->system.len) > 0;
}

static void tools(struct jw *w, const struct convo *c, const struct call_options *o)
{
	static const char none[] = "{\"toolSpec\":{\"name\":\"none\",\"description\":\"No tool can be called.\","
		"\"inputSchema\":{\"json\":{\"type\":\"object\",\"properties\":{}}}}}";
	bool some = c->tools.len > 0 && !(o->quirks & QUIRK_NO_TOOLS);

	if (!some && !calls_in(c))
		return;
	jw_key(w, "toolConfig");
	jw_obj(w);
	jw_key(w, "tools");
	jw_arr(w);
	if (some)
		jw_raw(w, c->tools.p, c->tools.len);
	else
		jw_raw(w, none, sizeof none - 1);
	if (some && o->cache && !has_system(c))    /* one behind the system prompt holds for the tools too, and Nova takes none here */
		buf_adds(w->b, MARK);
	jw_end(w);
	jw_end(w);
}

int converse_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct jw w = jw_begin(out);

	jw_obj(&w);
	limits(&w, c, o);
	if (request_extra(&w, o, e) < 0)
		return -1;
	if (has_system(c)) {
		jw_key(&w, "system");
		jw_arr(&w);
		text_block(&w, c->system.p, c->system.len);
		if (o->cache)
			buf_adds(out, MARK);
		jw_end(&w);
	}
	tools(&w, c, o);
	request_messages(&w, "messages", c, NULL, o->cache ? MARK : NULL);
	jw_end(&w);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

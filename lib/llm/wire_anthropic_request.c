/* wire_anthropic_request.c - requests of the Anthropic Messages API. https://docs.anthropic.com/en/api/messages */
#include <string.h>

#include "llm/image.h"
#include "llm/request.h"
#include "llm/wires.h"

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define DEFAULT_TOKENS 8192
#define LEAST_BUDGET 1024
#define IMAGE_SIDE 8000                                  /* pixels */
#define DOCUMENT_PAGES 100
#define IMAGE_BYTES ((size_t)5 * 1024 * 1024 / 4 * 3)    /* 5 MiB of base64 */

static bool blank(const char *s, size_t n)
{
	return request_trim(s, n) == 0;
}

static void text_block(struct jw *w, const char *s, size_t n)
{
	jw_obj(w);
	jw_kstr(w, "type", "text");
	jw_kstrn(w, "text", s, n);
	jw_end(w);
}

/* https://docs.anthropic.com/en/docs/build-with-claude/vision and .../pdf-support: the limits, title */
static void image_block(struct jw *w, const struct image *im)
{
	jw_obj(w);
	jw_kstr(w, "type", im->document ? "document" : "image");
	jw_key(w, "source");
	jw_obj(w);
	jw_kstr(w, "type", "base64");
	jw_kstr(w, "media_type", im->media_type);
	jw_kstrn(w, "data", im->text.p, im->text.len);
	jw_end(w);
	if (im->document && im->name.len > 0)
		jw_kstrn(w, "title", im->name.p, im->name.len);
	jw_end(w);
}

static void images(struct jw *w, const struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "images");
	if (json_type(j, list) != JSON_ARRAY)
		return;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		struct image im;
		struct buf label;
		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type && (im.media.width > IMAGE_SIDE || im.media.height > IMAGE_SIDE))
			image_refuse(&im, "it has more than 8000 pixels a side");
		else if (im.media_type && im.media.pages > DOCUMENT_PAGES)
			image_refuse(&im, "it has more than 100 pages");
		if (im.media_type && !im.document && im.name.len > 0) {
			buf_init(&label, BUF_NOLIMIT);
			buf_addf(&label, "[image %s]", im.name.p);
			text_block(w, label.p, label.len);
			buf_free(&label);
		}
		if (im.media_type)
			image_block(w, &im);
		else
			text_block(w, im.text.p, im.text.len);
		image_free(&im);
	}
}

/* Marks go before the closing brace of the last block. */
static void into_user(struct convo *c, const struct buf *blocks, bool result)
{
	request_into_user(c, blocks, result);
	c->mark_at = c->messages.len - 3;
}

static void add_user(struct convo *c, const struct json *j)
{
	struct buf text, blocks;
	buf_init(&text, BUF_NOLIMIT);
	buf_init(&blocks, CONVO_MAX);
	json_str(j, json_get(j, 0, "content"), &text);
	struct jw w = jw_begin(&blocks);
	jw_arr(&w);
	images(&w, c, j);
	if (!blank(text.p, text.len))
		text_block(&w, text.p, text.len);
	else if (blocks.len == 1)
		text_block(&w, "(no text)", 9);
	buf_cut(&blocks, 1);                         /* the list's own bracket */
	into_user(c, &blocks, false);
	c->no_thinking = false;
	buf_free(&text);
	buf_free(&blocks);
}

static void add_tool(struct convo *c, const struct json *j)
{
	struct buf text, block;
	buf_init(&text, BUF_NOLIMIT);
	buf_init(&block, CONVO_MAX);
	json_str(j, json_get(j, 0, "content"), &text);
	bool error = json_true(j, json_get(j, 0, "is_error")), empty = blank(text.p, text.len);
	struct jw w = jw_begin(&block);
	jw_obj(&w);
	jw_kstr(&w, "type", "tool_result");
	request_id(&w, "tool_use_id", j, json_get(j, 0, "tool_call_id"));
	if (json_count(j, json_get(j, 0, "images")) > 0) {
		jw_key(&w, "content");
		jw_arr(&w);
		if (!empty)
			text_block(&w, text.p, text.len);
		images(&w, c, j);
		jw_end(&w);
	} else if (!empty || error) {                /* an error without words is refused */
		jw_kstrn(&w, "content", empty ? "(no output)" : text.p, empty ? 11 : text.len);
	}
	if (error)
		jw_kbool(&w, "is_error", true);
	jw_end(&w);
	into_user(c, &block, true);
	buf_free(&text);
	buf_free(&block);
}

/* The provider's own blocks, as they came, but texts of nothing. trim: without the white space at the end of the last one. */
static void own_blocks(struct jw *w, const struct json *j, int list, bool trim)
{
	int n = json_count(j, list), i = 0;
	for (struct json_iter it = json_iter(j, list); json_next(&it); i++) {
		size_t len;
		const char *raw = json_raw(j, it.value, &len);
		bool is_text = json_eq(j, json_get(j, it.value, "type"), "text");
		if (!is_text) {
			jw_raw(w, raw, len);
			continue;
		}
		struct buf text;
		buf_init(&text, BUF_NOLIMIT);
		json_str(j, json_get(j, it.value, "text"), &text);
		size_t keep = request_trim(text.p, text.len);
		if (keep > 0 && (!trim || i + 1 < n))        /* blank text is refused */
			jw_raw(w, raw, len);
		else if (keep > 0)
			text_block(w, text.p, keep);
		buf_free(&text);
	}
}

static void rebuilt(struct jw *w, const struct json *j, const struct buf *text, bool trim)
{
	size_t n = trim ? request_trim(text->p, text->len) : text->len;
	if (!blank(text->p, n))
		text_block(w, text->p, n);
	int calls = json_get(j, 0, "tool_calls");
	for (struct json_iter it = json_iter(j, calls); json_type(j, calls) == JSON_ARRAY && json_next(&it);) {
		jw_obj(w);
		jw_kstr(w, "type", "tool_use");
		request_id(w, "id", j, json_get(j, it.value, "id"));
		size_t len;
		const char *name = json_raw(j, json_get(j, it.value, "name"), &len);
		if (len > 2)
			jw_kraw(w, "name", name, len);
		else
			jw_kstr(w, "name", "unknown");
		jw_key(w, "input");
		request_input(w, j, json_get(j, it.value, "input"));
		jw_end(w);
	}
}

static void assistant(struct buf *out, const struct json *j, int list, const struct buf *text, bool trim)
{
	size_t start = out->len;
	buf_adds(out, "{\"role\":\"assistant\",\"content\":");
	size_t empty = out->len + 2;
	struct jw w = jw_begin(out);
	jw_arr(&w);
	if (list >= 0)
		own_blocks(&w, j, list, trim);
	else
		rebuilt(&w, j, text, trim);
	jw_end(&w);
	buf_addc(out, '}');
	if (out->len == empty + 1)
		buf_truncate(out, start);
}

/* Does the message end in text with white space after it? A request that ends so is refused. */
static bool loose_end(const struct json *j, int list, const struct buf *text)
{
	struct buf last;
	int v = -1;
	if (list < 0)
		return json_count(j, json_get(j, 0, "tool_calls")) == 0 && request_trim(text->p, text->len) < text->len;
	for (struct json_iter it = json_iter(j, list); json_next(&it);)
		v = it.value;
	if (!json_eq(j, json_get(j, v, "type"), "text"))
		return false;
	buf_init(&last, BUF_NOLIMIT);
	json_str(j, json_get(j, v, "text"), &last);
	bool loose = request_trim(last.p, last.len) < last.len;
	buf_free(&last);
	return loose;
}

static bool thought_first(const struct json *j, int list)
{
	if (list < 0)
		return false;
	int type = json_path(j, list, "0.type");
	return json_eq(j, type, "thinking") || json_eq(j, type, "redacted_thinking");
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
		request_message(c);
		buf_add(&c->messages, whole.p, whole.len);
		c->last = CONVO_ASSISTANT;
		c->has_final = loose_end(j, list, &text);
		if (c->has_final) {
			buf_clear(&c->final);
			assistant(&c->final, j, list, &text, true);
		}
		c->no_thinking = json_count(j, json_get(j, 0, "tool_calls")) > 0 && !thought_first(j, list);
	}
	buf_free(&text);
	buf_free(&whole);
}

int anthropic_add(struct convo *c, const struct json *message, struct err *e)
{
	(void)e;
	return request_add(c, message, add_user, add_assistant, add_tool);
}

int anthropic_tools(struct convo *c, const struct json *j, int tools, struct err *e)
{
	(void)e;
	struct jw w = jw_begin(&c->tools);
	jw_arr(&w);
	for (struct json_iter it = json_iter(j, tools); json_next(&it);) {
		size_t n;
		const char *raw = json_raw(j, json_get(j, it.value, "name"), &n);
		if (json_strlen(j, json_get(j, it.value, "name")) == 0)
			continue;
		jw_obj(&w);
		jw_kraw(&w, "name", raw, n);
		raw = json_raw(j, json_get(j, it.value, "description"), &n);
		if (n > 2)
			jw_kraw(&w, "description", raw, n);
		jw_key(&w, "input_schema");
		request_schema(&w, j, json_get(j, it.value, "input_schema"), c->quirks);
		jw_end(&w);
	}
	buf_cut(&c->tools, 1);
	return 0;
}

/* The budget that is asked for, within max_tokens, or 0. Without room for an answer none: the limit holds for thoughts and
 * answer together, the budget must be smaller and at least 1024. */
static int64_t budget(const struct convo *c, const struct call_options *o, int64_t *max)
{
	int64_t n = c->no_thinking || !effort_word(o) ? 0 : budget_wanted(o);
	if (n > 0 && n < LEAST_BUDGET)
		n = LEAST_BUDGET;
	if (*max <= 0)
		*max = n > 0 ? n + DEFAULT_TOKENS : DEFAULT_TOKENS;
	if (n >= *max)
		n = *max / 2 >= LEAST_BUDGET ? *max / 2 : LEAST_BUDGET;
	return n < *max ? n : 0;
}

/* Models that choose by themselves how long they think; they bear a tool loop that began without a thought. */
static bool adaptive(struct jw *w, const struct call_options *o)
{
	const char *word = effort_word(o);
	bool off = effort_wanted(o) == EFFORT_NONE;
	if (!word)
		return false;
	jw_key(w, "thinking");
	jw_obj(w);
	jw_kstr(w, "type", off ? "disabled" : "adaptive");
	jw_end(w);
	if (off)
		return false;
	jw_key(w, "output_config");
	jw_obj(w);
	jw_kstr(w, "effort", word);
	jw_end(w);
	return true;
}

/* No temperature beside thoughts: it would have to be 1. */
static void limits(struct jw *w, const struct convo *c, const struct call_options *o)
{
	bool budgeted = o->style == STYLE_BUDGET || o->style == STYLE_WIRE, thinks = false;
	int64_t max = o->max_tokens, n = budgeted ? budget(c, o, &max) : 0;
	jw_ki64(w, "max_tokens", max > 0 ? max : DEFAULT_TOKENS);
	if (n > 0) {
		jw_key(w, "thinking");
		jw_obj(w);
		jw_kstr(w, "type", "enabled");
		jw_ki64(w, "budget_tokens", n);
		jw_end(w);
		thinks = true;
	} else if (o->style == STYLE_ADAPTIVE) {
		thinks = adaptive(w, o);
	}
	if (!thinks && o->temperature >= 0 && !(o->quirks & QUIRK_NO_TEMPERATURE)) {
		jw_key(w, "temperature");
		jw_double(w, o->temperature);
	}
}

/* Four marks, as many as may be: the last tool, the system prompt, the end of this request and that of the one before. The
 * last makes turns of more than 20 blocks, beyond which no cache is looked for, hit as well: what was written then is
 * found exactly there. */
int anthropic_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct jw w = jw_begin(out);
	jw_obj(&w);
	jw_kstr(&w, "model", o->model);
	limits(&w, c, o);
	if (o->stream)
		jw_kbool(&w, "stream", true);
	if (request_extra(&w, o, e) < 0)
		return -1;
	if (!blank(c->system.p, c->system.len)) {
		jw_key(&w, "system");
		jw_arr(&w);
		text_block(&w, c->system.p, c->system.len);
		if (o->cache)
			buf_insert(out, out->len - 1, MARK, sizeof MARK - 1);
		jw_end(&w);
	}
	if (c->tools.len > 0 && !(o->quirks & QUIRK_NO_TOOLS)) {
		jw_key(&w, "tools");
		jw_arr(&w);
		jw_raw(&w, c->tools.p, c->tools.len);
		if (o->cache)
			buf_insert(out, out->len - 1, MARK, sizeof MARK - 1);
		jw_end(&w);
	}
	request_messages(&w, "messages", c, NULL, o->cache ? MARK : NULL);
	jw_end(&w);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

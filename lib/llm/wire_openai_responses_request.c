/* wire_openai_responses_request.c - requests of the OpenAI Responses API.
 * https://platform.openai.com/docs/api-reference/responses/create */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "llm/image.h"
#include "llm/request.h"
#include "llm/wires.h"

#define IMAGE_BYTES ((size_t)20 << 20)
#define ID_MAX ((size_t)64)      /* of call_id, of prompt_cache_key: "string too long. Expected ... maximum length 64" */
#define ID_KEPT ((size_t)48)

/* Other makers have longer ids. What such a one becomes ends in its digest: two that differ must not become one. */
static void put_id(struct jw *w, const char *key, const struct json *j, int v)
{
	struct buf id;
	char digest[SHA256_HEX];
	buf_init(&id, BUF_NOLIMIT);
	json_str(j, v, &id);
	if (id.len > ID_MAX) {
		sha256_hex(digest, id.p, id.len);
		buf_truncate(&id, ID_KEPT);
		buf_addf(&id, "_%.12s", digest);
	}
	jw_kstrn(w, key, id.p, id.len);
	buf_free(&id);
}

static void raw_string(struct jw *w, const char *key, const struct json *j, int v, const char *otherwise)
{
	size_t n;
	const char *raw = json_raw(j, v, &n);
	if (json_type(j, v) == JSON_STRING && n > 2)
		jw_kraw(w, key, raw, n);
	else
		jw_kstr(w, key, otherwise);
}

static const char *empty(const struct convo *c)
{
	return c->quirks & QUIRK_CONTENT_REQUIRED ? "(empty)" : "";
}

static void text_part(struct jw *w, const char *s, size_t n)
{
	jw_obj(w);
	jw_kstr(w, "type", "input_text");
	jw_kstrn(w, "text", s, n);
	jw_end(w);
}

static void image_part(struct jw *w, const struct image *im)
{
	struct buf url;
	bool image = strncmp(im->media_type, "image/", 6) == 0;
	buf_init(&url, BUF_NOLIMIT);
	buf_addf(&url, "data:%s;base64,", im->media_type);
	buf_add(&url, im->text.p, im->text.len);
	jw_obj(w);
	jw_kstr(w, "type", image ? "input_image" : "input_file");
	if (!image)
		jw_kstr(w, "filename", im->name.len > 0 ? im->name.p : "document.pdf");
	jw_kstrn(w, image ? "image_url" : "file_data", url.p, url.len);
	jw_end(w);
	buf_free(&url);
}

/* Text and images of a message: a string if there are no images. */
static void content(struct jw *w, const char *key, const struct convo *c, const struct json *j)
{
	int text = json_get(j, 0, "content"), list = json_get(j, 0, "images");
	if (json_type(j, list) != JSON_ARRAY || json_count(j, list) == 0) {
		raw_string(w, key, j, text, empty(c));
		return;
	}
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	json_str(j, text, &b);
	jw_key(w, key);
	jw_arr(w);
	if (b.len > 0)
		text_part(w, b.p, b.len);
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		struct image im;
		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type)
			image_part(w, &im);
		else
			text_part(w, im.text.p, im.text.len);
		image_free(&im);
	}
	jw_end(w);
	buf_free(&b);
}

static void add_user(struct jw *w, const struct convo *c, const struct json *j)
{
	jw_obj(w);
	jw_kstr(w, "role", "user");
	content(w, "content", c, j);
	jw_end(w);
}

static void add_tool(struct jw *w, const struct convo *c, const struct json *j)
{
	jw_obj(w);
	jw_kstr(w, "type", "function_call_output");
	put_id(w, "call_id", j, json_get(j, 0, "tool_call_id"));
	content(w, "output", c, j);
	jw_end(w);
}

static void add_call(struct jw *w, const struct json *j, int call)
{
	struct buf args;
	buf_init(&args, BUF_NOLIMIT);
	struct jw in = jw_begin(&args);
	request_input(&in, j, json_get(j, call, "input"));
	jw_obj(w);
	jw_kstr(w, "type", "function_call");
	put_id(w, "call_id", j, json_get(j, call, "id"));
	raw_string(w, "name", j, json_get(j, call, "name"), "unknown");
	jw_kstrn(w, "arguments", args.p, args.len);
	jw_end(w);
	buf_free(&args);
}

/* A call of the message's own list, or -1. */
static int call_of(const struct json *j, int calls, const char *id)
{
	if (json_type(j, calls) != JSON_ARRAY)
		return -1;
	for (struct json_iter it = json_iter(j, calls); json_next(&it);)
		if (json_eq(j, json_get(j, it.value, "id"), id))
			return it.value;
	return -1;
}

/* Is there another item of the list for the same call: a result of a tool that the provider ran? */
static bool paired(const struct json *j, int list, int item, const char *id)
{
	for (struct json_iter it = json_iter(j, list); json_next(&it);)
		if (it.value != item && json_eq(j, json_get(j, it.value, "call_id"), id))
			return true;
	return false;
}

static bool is_reasoning(const struct json *j, int item)
{
	return json_eq(j, json_get(j, item, "type"), "reasoning");
}

/* May this item go out? A call without a result, or a result without its call, is refused with the whole request; reasoning that
 * came without its content can only be looked up by its maker, who has not stored it. */
static bool legal(const struct json *j, int list, int calls, int item)
{
	if (is_reasoning(j, item))
		return json_strlen(j, json_get(j, item, "encrypted_content")) > 0 || json_count(j, json_get(j, item, "content")) > 0;
	char *id = json_dup(j, json_get(j, item, "call_id"));
	bool ok = true;
	if (id && *id)
		ok = json_eq(j, json_get(j, item, "type"), "function_call") ? call_of(j, calls, id) >= 0 : paired(j, list, item, id);
	free(id);
	return ok;
}

/* An item as it came, without members that are null: some are refused when they are said. `bare`: without its id, which would be
 * looked up together with the reasoning that was left out before it. */
static void own_item(struct jw *w, const struct json *j, int item, bool bare)
{
	jw_obj(w);
	for (struct json_iter it = json_iter(j, item); json_next(&it);) {
		struct buf key;
		size_t n;
		const char *raw = json_raw(j, it.value, &n);
		if (json_type(j, it.value) == JSON_NULL || (bare && json_eq(j, it.key, "id")))
			continue;
		buf_init(&key, BUF_NOLIMIT);
		json_str(j, it.key, &key);
		if (strcmp(key.p, "call_id") == 0)
			put_id(w, "call_id", j, it.value);
		else
			jw_kraw(w, key.p, raw, n);
		buf_free(&key);
	}
	jw_end(w);
}

/* The item that the reasoning at `item` led to, or -1. */
static int led_to(const struct json *j, int list, int item)
{
	bool past = false;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		if (past && !is_reasoning(j, it.value))
			return it.value;
		past |= it.value == item;
	}
	return -1;
}

/* The provider's own items in their order, as far as they may go out. Reasoning goes only with what it led to. */
static void own_items(struct jw *w, const struct json *j, int list, int calls)
{
	bool bare = false;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		int item = it.value;
		if (json_type(j, item) != JSON_OBJECT || json_get(j, item, "type") < 0)
			continue;
		bool ok = legal(j, list, calls, item);
		if (ok && is_reasoning(j, item)) {
			int next = led_to(j, list, item);
			ok = next >= 0 && legal(j, list, calls, next);
		}
		if (ok)
			own_item(w, j, item, bare && (json_eq(j, json_get(j, item, "type"), "message") ||
			                              json_eq(j, json_get(j, item, "type"), "function_call")));
		else if (is_reasoning(j, item))
			bare = true;
	}
}

/* Is this call among the provider's own items? */
static bool in_list(const struct json *j, int list, int call)
{
	bool is = false;
	char *id = json_dup(j, json_get(j, call, "id"));
	for (struct json_iter it = json_iter(j, list); id && json_next(&it);)
		is |= json_eq(j, json_get(j, it.value, "type"), "function_call") && json_eq(j, json_get(j, it.value, "call_id"), id);
	free(id);
	return is;
}

static void add_assistant(struct jw *w, const struct convo *c, const struct json *j)
{
	int list = request_blocks(c, j), calls = json_get(j, 0, "tool_calls"), text = json_get(j, 0, "content");
	if (list >= 0) {
		own_items(w, j, list, calls);
	} else if (json_strlen(j, text) > 0) {
		jw_obj(w);
		jw_kstr(w, "role", "assistant");
		raw_string(w, "content", j, text, "");
		jw_end(w);
	}
	if (json_type(j, calls) != JSON_ARRAY)
		return;
	for (struct json_iter it = json_iter(j, calls); json_next(&it);)
		if (list < 0 || !in_list(j, list, it.value))
			add_call(w, j, it.value);
}

int responses_add(struct convo *c, const struct json *message, struct err *e)
{
	struct buf items;
	enum msg_kind kind = msg_kind(message);
	(void)e;
	buf_init(&items, CONVO_MAX);
	struct jw w = jw_begin(&items);
	jw_arr(&w);
	if (kind == MSG_USER)
		add_user(&w, c, message);
	else if (kind == MSG_ASSISTANT)
		add_assistant(&w, c, message);
	else if (kind == MSG_TOOL)
		add_tool(&w, c, message);
	if (items.len > 1) {
		request_message(c);
		buf_add(&c->messages, items.p + 1, items.len - 1);      /* without the list's own bracket */
		c->messages.over |= items.over;
		c->last = kind == MSG_USER ? CONVO_USER : kind == MSG_TOOL ? CONVO_TOOL : CONVO_ASSISTANT;
	}
	buf_free(&items);
	return 0;
}

/* strict is true where it is not said, and refuses every schema that leaves a property optional. */
int responses_tools(struct convo *c, const struct json *j, int tools, struct err *e)
{
	(void)e;
	struct jw w = jw_begin(&c->tools);
	jw_arr(&w);
	for (struct json_iter it = json_iter(j, tools); json_next(&it);) {
		if (json_strlen(j, json_get(j, it.value, "name")) == 0)
			continue;
		jw_obj(&w);
		jw_kstr(&w, "type", "function");
		raw_string(&w, "name", j, json_get(j, it.value, "name"), "");
		if (json_strlen(j, json_get(j, it.value, "description")) > 0)
			raw_string(&w, "description", j, json_get(j, it.value, "description"), "");
		jw_key(&w, "parameters");
		request_schema(&w, j, json_get(j, it.value, "input_schema"), c->quirks);
		jw_kbool(&w, "strict", false);
		jw_end(&w);
	}
	buf_cut(&c->tools, 1);
	return 0;
}

/* How the model shall think, and that its thoughts come back in a form that can be sent again: a model that does not think
 * refuses both. */
static void reasoning(struct jw *w, const struct call_options *o)
{
	const char *word = effort_word(o);
	if (o->style == STYLE_NONE)
		return;
	jw_kraw(w, "include", "[\"reasoning.encrypted_content\"]", 31);
	if (!word)
		return;
	jw_key(w, "reasoning");
	jw_obj(w);
	jw_kstr(w, "effort", word);
	if (effort_wanted(o) != EFFORT_NONE)
		jw_kstr(w, "summary", "auto");
	jw_end(w);
}

static int options(struct jw *w, const struct call_options *o, struct err *e)
{
	jw_kstr(w, "model", o->model);
	if (o->max_tokens > 0 && !(o->quirks & QUIRK_NO_MAX_TOKENS))
		jw_ki64(w, "max_output_tokens", o->max_tokens);
	if (o->temperature >= 0 && !(o->quirks & QUIRK_NO_TEMPERATURE)) {
		jw_key(w, "temperature");
		jw_double(w, o->temperature);
	}
	if (o->stream)
		jw_kbool(w, "stream", true);
	jw_kbool(w, "store", false);
	reasoning(w, o);
	if ((o->quirks & QUIRK_CACHE_KEY) && o->session && *o->session)
		jw_kstrn(w, "prompt_cache_key", o->session, strnlen(o->session, ID_MAX));
	return request_extra(w, o, e);
}

int responses_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct jw w = jw_begin(out);
	jw_obj(&w);
	if (options(&w, o, e) < 0)
		return -1;
	if (c->system.len > 0)
		jw_kstrn(&w, "instructions", c->system.p, c->system.len);
	if (c->tools.len > 0 && !(o->quirks & QUIRK_NO_TOOLS)) {
		jw_key(&w, "tools");
		jw_arr(&w);
		jw_raw(&w, c->tools.p, c->tools.len);
		jw_end(&w);
	}
	request_messages(&w, "input", c, NULL, NULL);
	jw_end(&w);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

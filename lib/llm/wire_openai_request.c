/* wire_openai_request.c - requests of OpenAI's Chat Completions API and of what is compatible with it.
 * https://platform.openai.com/docs/api-reference/chat/create */
#include <string.h>

#include "llm/image.h"
#include "llm/request.h"
#include "llm/wires.h"

#define IMAGE_BYTES ((size_t)20 << 20)

static void text_part(struct jw *w, const char *s, size_t n)
{
	jw_obj(w);
	jw_kstr(w, "type", "text");
	jw_kstrn(w, "text", s, n);
	jw_end(w);
}

static void image_parts(struct jw *w, const struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "images");
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		struct image im;
		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type) {
			struct buf url;
			buf_init(&url, BUF_NOLIMIT);
			buf_addf(&url, "data:%s;base64,", im.media_type);
			buf_add(&url, im.text.p, im.text.len);
			jw_obj(w);
			jw_kstr(w, "type", "image_url");
			jw_key(w, "image_url");
			jw_obj(w);
			jw_kstrn(w, "url", url.p, url.len);
			jw_end(w);
			jw_end(w);
			buf_free(&url);
		} else {
			text_part(w, im.text.p, im.text.len);
		}
		image_free(&im);
	}
}

/* Strings go over as they are written: checked when they were parsed, and never twice converted. */
static void raw_string(struct jw *w, const char *key, const struct json *j, int v, const char *otherwise)
{
	size_t n;
	const char *raw = json_raw(j, v, &n);
	if (json_type(j, v) == JSON_STRING)
		jw_kraw(w, key, raw, n);
	else
		jw_kstr(w, key, otherwise);
}

/* Images of tool results, which cannot be part of a tool message: a user message after the last result. */
static void flush_pending(struct convo *c)
{
	if (c->pending.len == 0)
		return;
	request_message(c);
	buf_add(&c->messages, c->pending.p, c->pending.len);
	buf_adds(&c->messages, "]}");
	buf_clear(&c->pending);
}

static void add_user(struct convo *c, const struct json *j)
{
	flush_pending(c);
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "user");
	int content = json_get(j, 0, "content");
	if (json_count(j, json_get(j, 0, "images")) == 0) {
		raw_string(&w, "content", j, content, "");
	} else {
		struct buf text;
		buf_init(&text, BUF_NOLIMIT);
		json_str(j, content, &text);
		jw_key(&w, "content");
		jw_arr(&w);
		if (text.len > 0)
			text_part(&w, text.p, text.len);
		image_parts(&w, c, j);
		jw_end(&w);
		buf_free(&text);
	}
	jw_end(&w);
	c->last = CONVO_USER;
}

static void add_tool(struct convo *c, const struct json *j)
{
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "tool");
	raw_string(&w, "tool_call_id", j, json_get(j, 0, "tool_call_id"), "");
	raw_string(&w, "content", j, json_get(j, 0, "content"), "");
	jw_end(&w);
	c->last = CONVO_TOOL;
	if (json_count(j, json_get(j, 0, "images")) == 0)
		return;
	struct buf parts;
	buf_init(&parts, CONVO_MAX);
	w = jw_begin(&parts);
	jw_arr(&w);
	image_parts(&w, c, j);
	if (c->pending.len == 0)
		buf_adds(&c->pending,
		         "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"The images of these tool results:\"}");
	parts.p[0] = ',';
	buf_add(&c->pending, parts.p, parts.len);
	buf_free(&parts);
}

static void calls(struct jw *w, const struct json *j, int list, bool ours)
{
	struct buf args;
	buf_init(&args, BUF_NOLIMIT);
	jw_key(w, "tool_calls");
	jw_arr(w);
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		jw_obj(w);
		raw_string(w, "id", j, json_get(j, it.value, "id"), "");
		jw_kstr(w, "type", "function");
		jw_key(w, "function");
		jw_obj(w);
		raw_string(w, "name", j, json_get(j, it.value, "name"), "");
		buf_clear(&args);
		struct jw in = jw_begin(&args);
		request_input(&in, j, json_get(j, it.value, "input"));
		jw_kstrn(w, "arguments", args.p, args.len);
		jw_end(w);
		int extra = json_get(j, it.value, "extra_content");
		if (ours && json_type(j, extra) == JSON_OBJECT) {
			size_t n;
			const char *raw = json_raw(j, extra, &n);
			jw_kraw(w, "extra_content", raw, n);
		}
		jw_end(w);
	}
	jw_end(w);
	buf_free(&args);
}

/* What the provider wants to see again: reasoning_details, reasoning_content, extra_content. Returns whether
 * reasoning was among it. */
static bool echo(struct jw *w, const struct json *j, int list)
{
	bool reasoning = false;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		if (json_get(j, it.value, "type") >= 0)      /* blocks of another wire */
			continue;
		for (struct json_iter m = json_iter(j, it.value); json_type(j, it.value) == JSON_OBJECT && json_next(&m);) {
			struct buf key;
			size_t n;
			const char *raw = json_raw(j, m.value, &n);
			buf_init(&key, 256);
			json_str(j, m.key, &key);
			jw_kraw(w, key.p, raw, n);
			reasoning |= strcmp(key.p, "reasoning_content") == 0;
			buf_free(&key);
		}
	}
	return reasoning;
}

static void add_assistant(struct convo *c, const struct json *j)
{
	struct buf text;
	int list = json_get(j, 0, "tool_calls"), own = request_blocks(c, j);
	bool some = json_type(j, list) == JSON_ARRAY && json_count(j, list) > 0;
	bool ours = json_eq(j, json_get(j, 0, "model"), c->maker);
	if (json_strlen(j, json_get(j, 0, "content")) == 0 && !some)
		return;
	flush_pending(c);
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "assistant");
	raw_string(&w, "content", j, json_get(j, 0, "content"), "");
	if (some)
		calls(&w, j, list, ours);
	bool reasoning = own >= 0 && echo(&w, j, own);
	if (some && (c->quirks & QUIRK_REASONING_BACK) && !reasoning)
		jw_kstr(&w, "reasoning_content", "");
	jw_end(&w);
	c->last = CONVO_ASSISTANT;
	if (some)
		return;
	/* gateways hand the message on to providers that refuse white space at the end of a request */
	buf_init(&text, BUF_NOLIMIT);
	json_str(j, json_get(j, 0, "content"), &text);
	size_t keep = request_trim(text.p, text.len);
	c->has_final = keep < text.len;
	buf_clear(&c->final);
	if (c->has_final && keep > 0) {
		w = jw_begin(&c->final);
		jw_obj(&w);
		jw_kstr(&w, "role", "assistant");
		jw_kstrn(&w, "content", text.p, keep);
		jw_end(&w);
	}
	buf_free(&text);
}

int chat_add(struct convo *c, const struct json *message, struct err *e)
{
	(void)e;
	switch (msg_kind(message)) {
	case MSG_USER:
		add_user(c, message);
		break;
	case MSG_ASSISTANT:
		add_assistant(c, message);
		break;
	case MSG_TOOL:
		add_tool(c, message);
		break;
	default:
		break;
	}
	return 0;
}

int chat_tools(struct convo *c, const struct json *j, int tools, struct err *e)
{
	(void)e;
	struct jw w = jw_begin(&c->tools);
	jw_arr(&w);
	for (struct json_iter it = json_iter(j, tools); json_next(&it);) {
		if (json_strlen(j, json_get(j, it.value, "name")) == 0)
			continue;
		jw_obj(&w);
		jw_kstr(&w, "type", "function");
		jw_key(&w, "function");
		jw_obj(&w);
		raw_string(&w, "name", j, json_get(j, it.value, "name"), "");
		if (json_strlen(j, json_get(j, it.value, "description")) > 0)
			raw_string(&w, "description", j, json_get(j, it.value, "description"), "");
		jw_key(&w, "parameters");
		request_schema(&w, j, json_get(j, it.value, "input_schema"));
		jw_end(&w);
		jw_end(&w);
	}
	buf_cut(&c->tools, 1);
	return 0;
}

static int options(struct jw *w, const struct call_options *o, struct err *e)
{
	jw_kstr(w, "model", o->model);
	if (o->max_tokens > 0)
		jw_ki64(w, o->quirks & QUIRK_MAX_COMPLETION_TOKENS ? "max_completion_tokens" : "max_tokens", o->max_tokens);
	if (o->temperature >= 0) {
		jw_key(w, "temperature");
		jw_double(w, o->temperature);
	}
	if (o->stream)
		jw_kbool(w, "stream", true);
	if (o->stream && !(o->quirks & QUIRK_NO_STREAM_USAGE))
		jw_kraw(w, "stream_options", "{\"include_usage\":true}", 22);
	return request_extra(w, o, e);
}

int chat_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct buf system;
	struct jw w = jw_begin(out);
	jw_obj(&w);
	if (options(&w, o, e) < 0)
		return -1;
	if (c->tools.len > 0) {
		jw_key(&w, "tools");
		jw_arr(&w);
		jw_raw(&w, c->tools.p, c->tools.len);
		jw_end(&w);
	}
	buf_init(&system, CONVO_MAX);
	if (c->system.len > 0) {
		struct jw s = jw_begin(&system);
		jw_obj(&s);
		jw_kstr(&s, "role", o->quirks & QUIRK_DEVELOPER ? "developer" : "system");
		jw_kstrn(&s, "content", c->system.p, c->system.len);
		jw_end(&s);
	}
	request_messages(&w, "messages", c, &system, NULL);
	jw_end(&w);
	buf_free(&system);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

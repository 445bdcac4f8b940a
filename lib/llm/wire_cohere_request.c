/* wire_cohere_request.c - requests of Cohere's v2 chat API. https://docs.cohere.com/reference/chat
 *
 * Tools and calls have OpenAI's form; an assistant's thoughts go back as it gave them: content of type "thinking", and
 * "tool_plan" for what it said before its calls. */
#include <stdlib.h>
#include <string.h>

#include "llm/image.h"
#include "llm/request.h"
#include "llm/wires.h"

#define IMAGE_BYTES ((size_t)20 << 20)   /* of all images in a request */

static void raw(struct jw *w, const char *key, const struct json *j, int v)
{
	size_t n;
	const char *text = json_raw(j, v, &n);

	jw_kraw(w, key, text, n);
}

static void part(struct jw *w, const char *type, const char *s, size_t n)
{
	jw_obj(w);
	jw_kstr(w, "type", type);
	jw_kstrn(w, type, s, n);
	jw_end(w);
}

static void image_parts(struct jw *w, const struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "images");

	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		struct image im;
		struct buf url;

		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type && im.document)
			image_refuse(&im, "this provider takes no documents");
		buf_init(&url, BUF_NOLIMIT);
		if (im.media_type) {
			buf_addf(&url, "data:%s;base64,%s", im.media_type, im.text.p);
			jw_obj(w);
			jw_kstr(w, "type", "image_url");
			jw_key(w, "image_url");
			jw_obj(w);
			jw_kstrn(w, "url", url.p, url.len);
			jw_end(w);
			jw_end(w);
		} else {
			part(w, "text", im.text.p, im.text.len);
		}
		buf_free(&url);
		image_free(&im);
	}
}

/* Images of tool results, which a tool message cannot hold: a user message after the last result. */
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
	int content = json_get(j, 0, "content");
	struct buf text;

	flush_pending(c);
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "user");
	buf_init(&text, BUF_NOLIMIT);
	json_str(j, content, &text);
	if (json_count(j, json_get(j, 0, "images")) == 0) {
		jw_kstrn(&w, "content", text.p, text.len);
	} else {
		jw_key(&w, "content");
		jw_arr(&w);
		if (text.len > 0)
			part(&w, "text", text.p, text.len);
		image_parts(&w, c, j);
		jw_end(&w);
	}
	jw_end(&w);
	buf_free(&text);
	c->last = CONVO_USER;
}

static void add_tool(struct convo *c, const struct json *j)
{
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "tool");
	raw(&w, "tool_call_id", j, json_get(j, 0, "tool_call_id"));
	if (json_strlen(j, json_get(j, 0, "content")) > 0)
		raw(&w, "content", j, json_get(j, 0, "content"));
	else
		jw_kstr(&w, "content", "(empty)");       /* an empty result is refused */
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

static void calls(struct jw *w, const struct json *j, int list)
{
	struct buf args;

	buf_init(&args, BUF_NOLIMIT);
	jw_key(w, "tool_calls");
	jw_arr(w);
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		jw_obj(w);
		raw(w, "id", j, json_get(j, it.value, "id"));
		jw_kstr(w, "type", "function");
		jw_key(w, "function");
		jw_obj(w);
		char *name = request_name(j, it.value);

		jw_kstr(w, "name", name);
		free(name);
		buf_clear(&args);
		struct jw in = jw_begin(&args);
		request_input(&in, j, json_get(j, it.value, "input"));
		jw_kstrn(w, "arguments", args.p, args.len);
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
	buf_free(&args);
}

/* All of one kind among our own blocks, joined. */
static void own_text(struct buf *out, const struct json *j, int own, const char *kind)
{
	buf_clear(out);
	for (struct json_iter it = json_iter(j, own); own >= 0 && json_next(&it);)
		if (json_eq(j, json_get(j, it.value, "type"), kind))
			json_str(j, json_get(j, it.value, kind), out);
}

static void add_assistant(struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "tool_calls"), content = json_get(j, 0, "content"), own = request_blocks(c, j);
	bool some = json_type(j, list) == JSON_ARRAY && json_count(j, list) > 0;
	struct buf b;

	if (!some && json_strlen(j, content) == 0)
		return;
	flush_pending(c);
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "assistant");
	buf_init(&b, BUF_NOLIMIT);
	own_text(&b, j, own, "thinking");
	if (b.len > 0 || json_strlen(j, content) > 0) {
		jw_key(&w, "content");
		jw_arr(&w);
		if (b.len > 0)
			part(&w, "thinking", b.p, b.len);
		buf_clear(&b);
		json_str(j, content, &b);
		if (b.len > 0)
			part(&w, "text", b.p, b.len);
		jw_end(&w);
	}
	own_text(&b, j, some ? own : -1, "tool_plan");
	if (b.len > 0)
		jw_kstrn(&w, "tool_plan", b.p, b.len);
	if (some)
		calls(&w, j, list);
	jw_end(&w);
	buf_free(&b);
	c->last = CONVO_ASSISTANT;
}

int cohere_add(struct convo *c, const struct json *message, struct err *e)
{
	(void)e;
	return request_add(c, message, add_user, add_assistant, add_tool);
}

static void thinking(struct jw *w, const struct call_options *o)
{
	int64_t budget = budget_wanted(o);

	if (o->style == STYLE_NONE || budget < 0 || !effort_word(o))
		return;
	jw_key(w, "thinking");
	jw_obj(w);
	jw_kstr(w, "type", budget > 0 ? "enabled" : "disabled");
	if (budget > 0)
		jw_ki64(w, "token_budget", budget);
	jw_end(w);
}

int cohere_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct jw w = jw_begin(out);

	jw_obj(&w);
	jw_kstr(&w, "model", o->model);
	jw_kbool(&w, "stream", o->stream);
	if (o->max_tokens > 0 && !(o->quirks & QUIRK_NO_MAX_TOKENS))
		jw_ki64(&w, "max_tokens", o->max_tokens);
	if (o->temperature >= 0 && !(o->quirks & QUIRK_NO_TEMPERATURE)) {
		jw_key(&w, "temperature");
		jw_double(&w, o->temperature);
	}
	thinking(&w, o);
	if (request_extra(&w, o, e) < 0)
		return -1;
	request_rest(&w, c, o);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

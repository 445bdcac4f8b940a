/* wire_ollama_request.c - requests of Ollama's own /api/chat.
 * https://github.com/ollama/ollama/blob/main/docs/api.md
 *
 * content is never null (refused) and arguments are objects, not texts. Ids of calls are sent though old servers ignore
 * them: new ones tell two calls of one tool apart by them. */
#include <stdlib.h>
#include <string.h>

#include "llm/image.h"
#include "llm/request.h"
#include "llm/wires.h"

#define IMAGE_BYTES ((size_t)20 << 20)

static void raw(struct jw *w, const char *key, const struct json *j, int v)
{
	size_t n;
	const char *text = json_raw(j, v, &n);

	jw_kraw(w, key, text, n);
}

/* Bare base64 in a list beside the content; what cannot be shown is a note in it. */
static void content(struct jw *w, struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "images");
	struct buf text, images;

	buf_init(&text, CONVO_MAX);
	buf_init(&images, CONVO_MAX);
	json_str(j, json_get(j, 0, "content"), &text);
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		struct image im;

		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type && im.document)
			image_refuse(&im, "this provider takes no documents");
		if (im.media_type)
			buf_addf(&images, "%s\"%s\"", images.len ? "," : "[", im.text.p);
		else
			buf_addf(&text, "%s%s", text.len ? "\n" : "", im.text.p);
		image_free(&im);
	}
	jw_kstrn(w, "content", text.p, text.len);
	if (images.len > 0) {
		buf_addc(&images, ']');
		jw_kraw(w, "images", images.p, images.len);
	}
	c->messages.over |= text.over || images.over;
	buf_free(&text);
	buf_free(&images);
}

static void calls(struct jw *w, const struct json *j, int list)
{
	int64_t index = 0;

	jw_key(w, "tool_calls");
	jw_arr(w);
	for (struct json_iter it = json_iter(j, list); json_next(&it); index++) {
		jw_obj(w);
		if (json_strlen(j, json_get(j, it.value, "id")) > 0)
			raw(w, "id", j, json_get(j, it.value, "id"));
		jw_key(w, "function");
		jw_obj(w);
		jw_ki64(w, "index", index);
		char *name = request_name(j, it.value);

		jw_kstr(w, "name", name);
		free(name);
		jw_key(w, "arguments");
		request_input(w, j, json_get(j, it.value, "input"));
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
}

static void thought(struct jw *w, const struct json *j, int own)
{
	for (struct json_iter it = json_iter(j, own); json_next(&it);)
		if (json_eq(j, json_get(j, it.value, "type"), "thinking") &&
		    json_type(j, json_get(j, it.value, "thinking")) == JSON_STRING) {
			raw(w, "thinking", j, json_get(j, it.value, "thinking"));
			return;
		}
}

int ollama_add(struct convo *c, const struct json *j, struct err *e)
{
	enum msg_kind kind = msg_kind(j);
	int list = json_get(j, 0, "tool_calls");
	bool some = kind == MSG_ASSISTANT && json_type(j, list) == JSON_ARRAY && json_count(j, list) > 0;

	(void)e;
	if (kind == MSG_ASSISTANT && !some && json_strlen(j, json_get(j, 0, "content")) == 0)
		return 0;
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", kind == MSG_USER ? "user" : kind == MSG_TOOL ? "tool" : "assistant");
	content(&w, c, j);
	if (kind == MSG_ASSISTANT) {
		int own = request_blocks(c, j);

		if (own >= 0)
			thought(&w, j, own);
		request_note_calls(c, j);
		if (some)
			calls(&w, j, list);
	}
	if (kind == MSG_TOOL) {
		const struct convo_call *call = request_called(c, j);     /* the result's own line need not say it */

		if (call)
			jw_kstr(&w, "tool_name", call->name);
		raw(&w, "tool_call_id", j, json_get(j, 0, "tool_call_id"));
	}
	jw_end(&w);
	c->last = kind == MSG_USER ? CONVO_USER : kind == MSG_TOOL ? CONVO_TOOL : CONVO_ASSISTANT;
	return 0;
}

/* Most models know only yes and no; what knows degrees says so by its style or by words of its own. */
static void think(struct jw *w, const struct call_options *o)
{
	enum effort effort = effort_wanted(o);
	const char *word = effort_word(o);

	if (o->style == STYLE_NONE || effort == EFFORT_UNSAID || !word)
		return;
	if (effort != EFFORT_NONE && (o->style == STYLE_EFFORT || (o->effort_words && o->effort_words[effort])))
		jw_kstr(w, "think", word);
	else
		jw_kbool(w, "think", effort != EFFORT_NONE);
}

/* Copies the members of v but the one called `skip`. */
static void members(struct jw *w, const struct json *j, int v, const char *skip)
{
	struct json_iter it = json_iter(j, v);

	while (json_type(j, v) == JSON_OBJECT && json_next(&it)) {
		char *key = json_dup(j, it.key);

		if (strcmp(key, skip) != 0)
			raw(w, key, j, it.value);
		free(key);
	}
}

/* The user's own members win over ours, among the options too. */
static int options(struct jw *w, const struct call_options *o, struct err *e)
{
	struct json j = JSON_INIT;
	struct buf extra;
	int own;

	buf_init(&extra, BUF_NOLIMIT);
	buf_addf(&extra, "{%s}", o->extra ? o->extra : "");
	if (json_parse(&j, extra.p, extra.len, e) < 0) {
		json_free(&j);
		buf_free(&extra);
		return err_wrap(e, "further members of the request");
	}
	own = json_get(&j, 0, "options");
	if (json_get(&j, 0, "think") < 0)
		think(w, o);
	jw_key(w, "options");
	jw_obj(w);
	if ((o->quirks & QUIRK_NUM_CTX) && o->context > 0 && json_get(&j, own, "num_ctx") < 0)
		jw_ki64(w, "num_ctx", o->context);
	if (o->max_tokens > 0 && !(o->quirks & QUIRK_NO_MAX_TOKENS) && json_get(&j, own, "num_predict") < 0)
		jw_ki64(w, "num_predict", o->max_tokens);
	if (o->temperature >= 0 && !(o->quirks & QUIRK_NO_TEMPERATURE) && json_get(&j, own, "temperature") < 0) {
		jw_key(w, "temperature");
		jw_double(w, o->temperature);
	}
	members(w, &j, own, "");
	jw_end(w);
	members(w, &j, 0, "options");
	json_free(&j);
	buf_free(&extra);
	return 0;
}

int ollama_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct jw w = jw_begin(out);

	jw_obj(&w);
	jw_kstr(&w, "model", o->model);
	jw_kbool(&w, "stream", o->stream);       /* it streams unless told not to */
	if (options(&w, o, e) < 0)
		return -1;
	request_rest(&w, c, o);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

/* wire_gemini_request.c - requests of Google's generateContent, at the Gemini API and on Vertex AI.
 * https://ai.google.dev/api/generate-content
 *
 * "contents" is the last key. Roles are user and model alone and take turns. The results of a model's calls are together in the
 * user's turn after it, before everything else, in the order of the calls: Google pairs them by name and order, and by
 * id only where it gave one. */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "llm/image.h"
#include "llm/request.h"
#include "llm/schema_plain.h"
#include "llm/wires.h"

#define IMAGE_BYTES ((size_t)14 << 20)     /* a request holds 20 MB, inline data in base64 among it */

/* https://ai.google.dev/gemini-api/docs/thought-signatures : stands for the signature of a call that another model made */
#define PLACEHOLDER "skip_thought_signature_validator"

static bool blank(const char *s, size_t n)
{
	return request_trim(s, n) == 0;
}

static void text_part(struct jw *w, const char *s, size_t n)
{
	jw_obj(w);
	jw_kstrn(w, "text", s, n);
	jw_end(w);
}

static void images(struct jw *w, const struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "images");
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		struct image im;
		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type) {
			jw_obj(w);
			jw_key(w, "inlineData");
			jw_obj(w);
			jw_kstr(w, "mimeType", im.media_type);
			jw_kstrn(w, "data", im.text.p, im.text.len);
			jw_end(w);
			jw_end(w);
		} else {
			text_part(w, im.text.p, im.text.len);
		}
		image_free(&im);
	}
}

/* Opens the user's turn, if it is not. */
static void user_turn(struct convo *c)
{
	if (c->last == CONVO_USER)
		return;
	request_message(c);
	buf_adds(&c->messages, "{\"role\":\"user\",\"parts\":[");
	c->results_at = c->messages.len;
	buf_adds(&c->messages, "]}");
	c->last = CONVO_USER;
}

/* Puts parts (joined by commas) into the turn at a place between two parts; returns how many bytes it is longer. */
static size_t put_parts(struct convo *c, size_t at, const struct buf *parts)
{
	struct buf *m = &c->messages;
	size_t before = m->len;
	if (parts->len == 0)
		return 0;
	buf_insert(m, at, parts->p, parts->len);
	if (m->p[at + parts->len] == '{')
		buf_insert(m, at + parts->len, ",", 1);
	if (m->p[at - 1] == '}')
		buf_insert(m, at, ",", 1);
	return m->len - before;
}

static void add_user(struct convo *c, const struct json *j)
{
	struct buf text, parts;
	buf_init(&text, BUF_NOLIMIT);
	buf_init(&parts, CONVO_MAX);
	json_str(j, json_get(j, 0, "content"), &text);
	struct jw w = jw_begin(&parts);
	jw_arr(&w);
	images(&w, c, j);
	if (!blank(text.p, text.len))
		text_part(&w, text.p, text.len);
	else if (parts.len == 1)
		text_part(&w, "(no text)", 9);       /* a part without text is refused */
	buf_cut(&parts, 1);                          /* the list's own bracket */
	user_turn(c);
	put_parts(c, c->messages.len - 2, &parts);
	buf_free(&text);
	buf_free(&parts);
}

/* ---- calls and their results */

static void result(struct jw *w, const struct json *j, const struct convo_call *call)
{
	struct buf text;
	bool error = json_true(j, json_get(j, 0, "is_error"));

	buf_init(&text, BUF_NOLIMIT);
	json_str(j, json_get(j, 0, "content"), &text);
	if (text.len == 0)
		buf_adds(&text, "(no output)");
	jw_obj(w);
	jw_key(w, "functionResponse");
	jw_obj(w);
	if (call->own)
		jw_kstr(w, "id", call->own);
	jw_kstr(w, "name", call->name);
	jw_key(w, "response");
	jw_obj(w);
	jw_kstrn(w, error ? "error" : "output", text.p, text.len);
	jw_end(w);
	jw_end(w);
	jw_end(w);
	buf_free(&text);
}

/* After the results of the calls before it: they may come in any order. */
static void add_tool(struct convo *c, const struct json *j)
{
	struct convo_call *call = request_called(c, j);
	struct buf part;

	if (!call || call->end > 0)
		return;
	user_turn(c);
	size_t at = 0;
	for (struct convo_call *k = c->calls; k < call; k++)
		at = k->end > 0 ? k->end : at;
	if (at == 0)
		at = c->results_at;
	bool first = c->messages.p[at - 1] == '[';
	buf_init(&part, CONVO_MAX);
	struct jw w = jw_begin(&part);
	jw_arr(&w);
	result(&w, j, call);
	buf_cut(&part, 1);
	size_t grown = put_parts(c, at, &part);
	call->end = at + part.len + !first;
	for (struct convo_call *k = call + 1; k < c->calls + c->ncalls; k++)
		k->end += k->end > 0 ? grown : 0;
	buf_clear(&part);
	w = jw_begin(&part);
	jw_arr(&w);
	images(&w, c, j);
	buf_cut(&part, 1);
	put_parts(c, c->messages.len - 2, &part);
	buf_free(&part);
}

/* The model's calls, with the ids that are its own (list: its parts; -1: another model's, which has none here). */
static void note_calls(struct convo *c, const struct json *j, int list)
{
	struct json_iter part = json_iter(j, list);

	request_note_calls(c, j);
	for (size_t i = 0; i < c->ncalls && list >= 0; i++) {
		int fc = -1;
		while (fc < 0 && json_next(&part))
			fc = json_get(j, part.value, "functionCall");
		if (json_strlen(j, json_get(j, fc, "id")) > 0)
			c->calls[i].own = json_dup(j, json_get(j, fc, "id"));
	}
}

/* ---- the model's turn */

/* The parts as they came; but a thought that is not signed is for the reader only. */
static void own_parts(struct jw *w, const struct json *j, int list)
{
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		size_t n;
		const char *raw = json_raw(j, it.value, &n);
		if (!json_true(j, json_get(j, it.value, "thought")) || json_strlen(j, json_get(j, it.value, "thoughtSignature")) > 0)
			jw_raw(w, raw, n);
	}
}

static void rebuilt(struct jw *w, const struct convo *c, const struct json *j)
{
	struct buf text;
	int calls = json_get(j, 0, "tool_calls");
	bool sign = c->quirks & QUIRK_SKIP_SIGNATURE;

	buf_init(&text, BUF_NOLIMIT);
	json_str(j, json_get(j, 0, "content"), &text);
	if (!blank(text.p, text.len))
		text_part(w, text.p, text.len);
	buf_free(&text);
	for (struct json_iter it = json_iter(j, calls); json_type(j, calls) == JSON_ARRAY && json_next(&it);) {
		char *name = request_name(j, it.value);
		jw_obj(w);
		jw_key(w, "functionCall");
		jw_obj(w);
		jw_kstr(w, "name", name);
		jw_key(w, "args");
		request_input(w, j, json_get(j, it.value, "input"));
		jw_end(w);
		if (sign)
			jw_kstr(w, "thoughtSignature", PLACEHOLDER);
		sign = false;                        /* the first of parallel calls has it, as from Google's own models */
		jw_end(w);
		free(name);
	}
}

/* The provider's own parts, if they hold the calls that the message has: it may have been shortened since. */
static int whole_blocks(const struct convo *c, const struct json *j)
{
	int list = request_blocks(c, j), calls = 0;
	for (struct json_iter it = json_iter(j, list); list >= 0 && json_next(&it);)
		calls += json_get(j, it.value, "functionCall") >= 0;
	return list >= 0 && calls == json_count(j, json_get(j, 0, "tool_calls")) ? list : -1;
}

static void add_assistant(struct convo *c, const struct json *j)
{
	struct buf parts;
	int list = whole_blocks(c, j);

	buf_init(&parts, CONVO_MAX);
	struct jw w = jw_begin(&parts);
	jw_arr(&w);
	if (list >= 0)
		own_parts(&w, j, list);
	else
		rebuilt(&w, c, j);
	note_calls(c, j, list);
	if (parts.len > 1) {
		request_message(c);
		buf_adds(&c->messages, "{\"role\":\"model\",\"parts\":");
		buf_add(&c->messages, parts.p, parts.len);
		buf_adds(&c->messages, "]}");
		c->last = CONVO_ASSISTANT;
	}
	buf_free(&parts);
}

int gemini_add(struct convo *c, const struct json *message, struct err *e)
{
	(void)e;
	return request_add(c, message, add_user, add_assistant, add_tool);
}

/* ---- the rest of the body */

/* "parameters" in plain words, not "parametersJsonSchema": the older member is taken by every version of both services and by the
 * gateways before them, and what the newer one takes of JSON Schema is a list of its own that differs between them. A tool
 * without parameters has none: an object without properties is refused. */
int gemini_tools(struct convo *c, const struct json *j, int tools, struct err *e)
{
	struct buf schema;
	struct jw w = jw_begin(&c->tools);
	(void)e;

	buf_init(&schema, BUF_NOLIMIT);
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
		buf_clear(&schema);
		if (schema_plain(&schema, j, json_get(j, it.value, "input_schema")) > 0)
			jw_kraw(&w, "parameters", schema.p, schema.len);
		jw_end(&w);
	}
	buf_cut(&c->tools, 1);
	buf_free(&schema);
	return 0;
}

/* By budget (Gemini 2.5) or by level (Gemini 3). Off is a budget of 0; a model that cannot be switched off has a level as its
 * word for none. Thoughts are shown unless there are to be none. */
static void thinking(struct jw *w, const struct call_options *o)
{
	int64_t budget = budget_wanted(o);
	const char *word = effort_word(o);

	if (!word || (o->style != STYLE_WIRE && o->style != STYLE_LEVEL))
		return;
	jw_key(w, "thinkingConfig");
	jw_obj(w);
	if (effort_wanted(o) != EFFORT_NONE)
		jw_kbool(w, "includeThoughts", true);
	if (o->style == STYLE_WIRE)
		jw_ki64(w, "thinkingBudget", budget);
	else                                         /* there is nothing above high, and nothing below minimal */
		jw_kstr(w, "thinkingLevel", strcmp(word, "none") == 0 ? "minimal" : strcmp(word, "max") == 0 ? "high" : word);
	jw_end(w);
}

static void copy(struct jw *w, const struct json *j, int key, int value)
{
	struct buf b;
	char *name = json_dup(j, key);
	buf_init(&b, BUF_NOLIMIT);
	json_compact(&b, j, value);
	jw_kraw(w, name, b.p, b.len);
	buf_free(&b);
	free(name);
}

/* x: the row's further members, or empty; its generationConfig and ours are one, and where both speak the row's holds. */
static void generation(struct jw *w, const struct call_options *o, const struct json *x)
{
	struct buf b;
	int own = x->n ? json_get(x, 0, "generationConfig") : -1;

	buf_init(&b, BUF_NOLIMIT);
	struct jw in = jw_begin(&b);
	jw_obj(&in);
	for (struct json_iter it = json_iter(x, own); json_type(x, own) == JSON_OBJECT && json_next(&it);)
		copy(&in, x, it.key, it.value);
	if (o->max_tokens > 0 && !(o->quirks & QUIRK_NO_MAX_TOKENS) && json_get(x, own, "maxOutputTokens") < 0)
		jw_ki64(&in, "maxOutputTokens", o->max_tokens);
	if (o->temperature >= 0 && !(o->quirks & QUIRK_NO_TEMPERATURE) && json_get(x, own, "temperature") < 0) {
		jw_key(&in, "temperature");
		jw_double(&in, o->temperature);
	}
	if (json_get(x, own, "thinkingConfig") < 0)
		thinking(&in, o);
	jw_end(&in);
	if (b.len > 2)
		jw_kraw(w, "generationConfig", b.p, b.len);
	buf_free(&b);
}

/* The row's further members, but for generationConfig, which generation() writes. */
static int head(struct jw *w, const struct call_options *o, struct err *e)
{
	struct json x = JSON_INIT;
	struct buf text;
	int r = 0;

	buf_init(&text, BUF_NOLIMIT);
	if (o->extra && *o->extra) {
		buf_addf(&text, "{%s}", o->extra);
		r = json_parse(&x, text.p, text.len, e);
		if (r < 0)
			err_wrap(e, "further members of the request");
	}
	if (r == 0) {
		for (struct json_iter it = json_iter(&x, x.n ? 0 : -1); json_next(&it);)
			if (!json_eq(&x, it.key, "generationConfig"))
				copy(w, &x, it.key, it.value);
		generation(w, o, &x);
	}
	json_free(&x);
	buf_free(&text);
	return r;
}

int gemini_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct jw w = jw_begin(out);
	jw_obj(&w);
	if (head(&w, o, e) < 0)
		return -1;
	if (c->tools.len > 0 && !(o->quirks & QUIRK_NO_TOOLS)) {
		jw_key(&w, "tools");
		jw_arr(&w);
		jw_obj(&w);
		jw_key(&w, "functionDeclarations");
		jw_arr(&w);
		jw_raw(&w, c->tools.p, c->tools.len);
		jw_end(&w);
		jw_end(&w);
		jw_end(&w);
	}
	if (c->system.len > 0) {
		jw_key(&w, "systemInstruction");
		jw_obj(&w);
		jw_key(&w, "parts");
		jw_arr(&w);
		text_part(&w, c->system.p, c->system.len);
		jw_end(&w);
		jw_end(&w);
	}
	request_messages(&w, "contents", c, NULL, NULL);
	jw_end(&w);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

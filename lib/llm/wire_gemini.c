/* wire_gemini.c - answers of Google's generateContent, at the Gemini API and on Vertex AI.
 * https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
 *
 * Each event is a GenerateContentResponse; so is the body of an answer in one piece. The model's parts are kept as they came, in
 * order: a signature (https://ai.google.dev/gemini-api/docs/thought-signatures) belongs to its part and its place. */
#include <stdlib.h>
#include <string.h>

#include "llm/gemini_args.h"
#include "llm/wires.h"

/* part.index: what is to be known about it at the end */
enum { SPECIAL = 1, STREAMED = 2 };

/* ---- usage, model, the end */

/* Of counts that are not below 0; below it (more was cached than sent) is none. */
static int64_t sum(int64_t a, int64_t b)
{
	a = a < 0 ? 0 : a;
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* A later count replaces an earlier one; what a later event does not count stays as it was. */
static void usage(struct answer *a, const struct json *j, int v)
{
	struct usage *u = &a->usage;
	int64_t thoughts = u->reasoning > 0 ? u->reasoning : 0, output = u->output > 0 ? u->output - thoughts : 0;

	build_count(&a->prompt_tokens, j, json_get(j, v, "promptTokenCount"));
	build_count(&a->tool_tokens, j, json_get(j, v, "toolUsePromptTokenCount"));
	build_count(&u->cache_read, j, json_get(j, v, "cachedContentTokenCount"));
	build_count(&u->reasoning, j, json_get(j, v, "thoughtsTokenCount"));
	build_count(&output, j, json_get(j, v, "candidatesTokenCount"));
	if (a->prompt_tokens > 0) {
		int64_t fresh = u->cache_read > 0 ? a->prompt_tokens - u->cache_read : a->prompt_tokens;
		u->input = sum(fresh, a->tool_tokens);
	}
	thoughts = u->reasoning > 0 ? u->reasoning : 0;
	if (u->output >= 0 || u->reasoning >= 0 || json_get(j, v, "candidatesTokenCount") >= 0)
		u->output = sum(output, thoughts);
}

static const struct { const char *word; enum stop stop; } reasons[] = {
	{ "STOP", STOP_END_TURN }, { "MAX_TOKENS", STOP_MAX_TOKENS },
	{ "SAFETY", STOP_CONTENT_FILTER }, { "RECITATION", STOP_CONTENT_FILTER }, { "LANGUAGE", STOP_CONTENT_FILTER },
	{ "BLOCKLIST", STOP_CONTENT_FILTER }, { "PROHIBITED_CONTENT", STOP_CONTENT_FILTER }, { "SPII", STOP_CONTENT_FILTER },
	{ "MODEL_ARMOR", STOP_CONTENT_FILTER }, { "IMAGE_SAFETY", STOP_CONTENT_FILTER },
	{ "IMAGE_PROHIBITED_CONTENT", STOP_CONTENT_FILTER }, { "IMAGE_RECITATION", STOP_CONTENT_FILTER },
	{ "MALFORMED_FUNCTION_CALL", STOP_ERROR }, { "UNEXPECTED_TOOL_CALL", STOP_ERROR }, { "TOO_MANY_TOOL_CALLS", STOP_ERROR },
	{ "MISSING_THOUGHT_SIGNATURE", STOP_ERROR }, { "MALFORMED_RESPONSE", STOP_ERROR },
};

/* With $alt=json;enum-encoding=int the reason is a number. From 6 on the two services number differently, but mean the same by it
 * as far as stopping goes, except for 9 and 10: one of them is a malformed call in each, and only its words say so. */
static enum stop numbered(const struct json *j, int v, int64_t n)
{
	char *words = json_dup(j, json_get(j, v, "finishMessage"));
	bool call = words && strcasestr(words, "function call");
	free(words);
	switch (n) {
	case 2:
		return STOP_MAX_TOKENS;
	case 3: case 4: case 6: case 7: case 8: case 11: case 14: case 17:
		return STOP_CONTENT_FILTER;
	case 9: case 10:
		return call ? STOP_ERROR : STOP_CONTENT_FILTER;
	case 12: case 13: case 18:
		return STOP_ERROR;
	default:
		return STOP_END_TURN;
	}
}

static void finish(struct answer *a, const struct json *j, int v)
{
	int reason = json_get(j, v, "finishReason");
	int64_t n;
	if (json_i64(j, reason, &n) == 0 && n == 0)
		return;
	if (json_eq(j, reason, "FINISH_REASON_UNSPECIFIED") || !build_str(&a->stop_raw, j, reason))
		return;
	a->terminal = true;
	a->stop = STOP_END_TURN;
	if (json_type(j, reason) == JSON_NUMBER)
		a->stop = json_i64(j, reason, &n) == 0 ? numbered(j, v, n) : STOP_END_TURN;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (json_eq(j, reason, reasons[i].word))
			a->stop = reasons[i].stop;
	if (a->stop != STOP_ERROR || a->error.set)
		return;
	/* The model wrote what is no call, or called what it was not offered: there is nothing to run. */
	build_fail(a, "unknown", "");
	if (!build_str(&a->error.message, j, json_get(j, v, "finishMessage")))
		buf_adds(&a->error.message, "the model ended its answer with a tool call that is none");
	build_str(&a->error.code, j, reason);
}

/* The prompt was refused: there is no candidate. */
static void blocked(struct answer *a, const struct json *j, int reason)
{
	int64_t n;
	if ((json_i64(j, reason, &n) == 0 && n == 0) || json_eq(j, reason, "BLOCK_REASON_UNSPECIFIED") ||
	    !build_str(&a->stop_raw, j, reason))
		return;
	a->terminal = true;
	a->stop = STOP_CONTENT_FILTER;
}

/* ---- calls */

static struct part *open_call(struct answer *a)
{
	for (size_t i = a->nparts; i-- > 0;)
		if (a->parts[i].kind == PART_CALL)
			return a->parts[i].done ? NULL : &a->parts[i];
	return NULL;
}

/* The call is whole: what came by path becomes its arguments. */
static void close_call(struct answer *a, struct part *p)
{
	struct json pieces = JSON_INIT, args = JSON_INIT;
	struct buf list, object;

	p->done = true;
	if (p->text.len == 0 || p->call < 0 || a->calls[p->call].args.len > 0)
		return;
	buf_init(&list, BUF_NOLIMIT);
	buf_init(&object, BUF_NOLIMIT);
	buf_addf(&list, "[%s]", p->text.p);
	if (json_parse(&pieces, list.p, list.len, NULL) == 0) {
		gemini_args(&object, &pieces, 0);
		if (json_parse(&args, object.p, object.len, NULL) == 0)
			build_args(a, p->call, &args, 0);
	}
	json_free(&pieces);
	json_free(&args);
	buf_free(&list);
	buf_free(&object);
}

static void pieces(struct part *p, const struct json *j, int list)
{
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		if (p->text.len > 0)
			buf_addc(&p->text, ',');
		json_compact(&p->text, j, it.value);
	}
}

/* functionCall: whole, or begun with willContinue, gone on with without a name, and ended by one that is empty, by the next
 * call, or by nothing. */
static void call(struct answer *a, const struct json *j, int v, int fc)
{
	int id = json_get(j, fc, "id"), name = json_get(j, fc, "name"), args = json_get(j, fc, "args");
	struct part *p = open_call(a);
	bool same = p && p->call >= 0 && json_strlen(j, id) > 0 && json_eq(j, id, a->calls[p->call].raw_id.p);

	if (p && !same && json_strlen(j, name) > 0) {
		close_call(a, p);
		p = NULL;
	}
	if (!p) {
		if (json_strlen(j, name) == 0 && json_type(j, args) != JSON_OBJECT)
			return;                                  /* the end of nothing */
		p = build_part(a, PART_CALL, json_strlen(j, id) > 0 ? SPECIAL : 0);
		if (!p)
			return;
		json_compact(&p->raw, j, v);
		p->call = build_call(a, -1, j, id, name);
	}
	if (json_strlen(j, json_get(j, v, "thoughtSignature")) > 0) {
		build_str(&p->sig, j, json_get(j, v, "thoughtSignature"));
		p->index |= SPECIAL;
	}
	pieces(p, j, json_get(j, fc, "partialArgs"));
	/* beside what comes by path, or before it, empty arguments are no arguments */
	bool none = json_type(j, args) == JSON_OBJECT && json_count(j, args) == 0 && json_true(j, json_get(j, fc, "willContinue"));
	if (p->call >= 0 && a->calls[p->call].args.len == 0 && p->text.len == 0 && !none)
		build_args(a, p->call, j, args);
	if (args >= 0 && json_type(j, args) != JSON_OBJECT)
		p->index |= STREAMED;                            /* it goes back as it should have come */
	if (json_true(j, json_get(j, fc, "willContinue")))
		p->index |= STREAMED;
	else
		close_call(a, p);
}

/* ---- parts */

/* Pieces of text join, if there is nothing to them but their text: what is signed stays as it came. */
static void text(struct answer *a, const struct json *j, int v, int s)
{
	int thought = json_get(j, v, "thought");
	enum part_kind kind = json_true(j, thought) ? PART_THINKING : PART_TEXT;
	bool simple = json_count(j, v) == 1 + (thought >= 0);
	struct part *p = a->nparts ? &a->parts[a->nparts - 1] : NULL;

	if (kind == PART_THINKING)
		build_think(a, j, s);
	else
		build_text(a, j, s);
	if (simple && json_strlen(j, s) == 0)
		return;
	if (!simple || !p || p->kind != kind || p->raw.len > 0)
		p = build_part(a, kind, simple ? 0 : SPECIAL);
	if (p && simple)
		json_str(j, s, &p->text);
	else if (p)
		json_compact(&p->raw, j, v);
}

static void parts(struct answer *a, const struct json *j, int list)
{
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		int v = it.value, fc = json_get(j, v, "functionCall"), s = json_get(j, v, "text");
		if (json_type(j, fc) == JSON_OBJECT) {
			call(a, j, v, fc);
		} else if (json_type(j, s) == JSON_STRING) {
			text(a, j, v, s);
		} else if (json_type(j, v) == JSON_OBJECT && json_count(j, v) > 0) {
			struct part *p = build_part(a, PART_OTHER, SPECIAL);
			if (p)
				json_compact(&p->raw, j, v);
		}
	}
}

static bool response(struct answer *a, const struct json *j)
{
	int list = json_get(j, 0, "candidates"), block = json_path(j, 0, "promptFeedback.blockReason");
	build_str(&a->id, j, json_get(j, 0, "responseId"));
	build_str(&a->model, j, json_get(j, 0, "modelVersion"));
	usage(a, j, json_get(j, 0, "usageMetadata"));
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		int64_t index;
		if (json_i64(j, json_get(j, it.value, "index"), &index) == 0 && index != 0)
			continue;                                /* a second answer, which nobody asks for */
		parts(a, j, json_path(j, it.value, "content.parts"));
		finish(a, j, it.value);
		break;
	}
	if (block >= 0)
		blocked(a, j, block);
	return json_type(j, list) == JSON_ARRAY || json_get(j, 0, "promptFeedback") >= 0 || json_get(j, 0, "usageMetadata") >= 0;
}

void gemini_event(struct answer *a, const struct json *j)
{
	if (json_type(j, json_get(j, 0, "error")) > JSON_NULL)
		build_error(a, j, 0, true);
	else
		response(a, j);
}

void gemini_whole(struct answer *a, const struct json *j)
{
	if (json_type(j, json_get(j, 0, "error")) > JSON_NULL)
		build_error(a, j, 0, false);
	else if (!response(a, j))
		build_fail(a, "protocol", "the answer has no candidates");
}

/* ---- blocks */

/* A call that came in pieces, or without an object for its arguments, as if it had come whole. */
static void streamed(struct answer *a, struct part *p, struct jw *w)
{
	struct json *j = &a->json;
	const struct call *c = &a->calls[p->call];
	size_t n;

	if (json_parse(j, p->raw.p, p->raw.len, NULL) < 0)
		return;
	jw_obj(w);
	jw_key(w, "functionCall");
	jw_obj(w);
	for (struct json_iter it = json_iter(j, json_get(j, 0, "functionCall")); json_next(&it);) {
		const char *raw = json_raw(j, it.value, &n);
		if (json_eq(j, it.key, "name") || json_eq(j, it.key, "id"))
			jw_kraw(w, json_eq(j, it.key, "id") ? "id" : "name", raw, n);
	}
	jw_key(w, "args");
	anthropic_input(a, w, c->args.p, c->args.len);
	jw_end(w);
	if (p->sig.len > 0)
		jw_kstrn(w, "thoughtSignature", p->sig.p, p->sig.len);
	jw_end(w);
}

static void block(struct answer *a, struct part *p, struct jw *w)
{
	if (p->kind == PART_CALL && p->call < 0)
		return;
	if (p->kind == PART_CALL && p->index & STREAMED) {
		streamed(a, p, w);
	} else if (p->raw.len > 0) {
		jw_raw(w, p->raw.p, p->raw.len);
	} else {
		jw_obj(w);
		jw_kstrn(w, "text", p->text.p, p->text.len);
		if (p->kind == PART_THINKING)
			jw_kbool(w, "thought", true);
		jw_end(w);
	}
}

void gemini_end(struct answer *a)
{
	bool special = false;
	struct part *p = open_call(a);
	if (p)
		close_call(a, p);
	for (size_t i = 0; i < a->nparts; i++)
		special |= (a->parts[i].index & SPECIAL) != 0;
	if (!special || a->error.set || !a->terminal)
		return;
	struct jw w = jw_begin(&a->blocks);
	jw_arr(&w);
	for (size_t i = 0; i < a->nparts; i++)
		block(a, &a->parts[i], &w);
	jw_end(&w);
}

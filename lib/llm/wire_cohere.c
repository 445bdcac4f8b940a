/* wire_cohere.c - answers of Cohere's v2 chat API, and of its v1 where an old endpoint still speaks it.
 * https://docs.cohere.com/reference/chat-stream
 *
 * v2 streams events by "type"; "tool_calls" of an event is one object there, a list in a whole answer. What the model says
 * before its calls (tool_plan) is a thought. v1 is flat: "text", "tool_calls" with "parameters", "event_type". */
#include <string.h>

#include "llm/wires.h"

enum { KEPT_THOUGHT = 1, KEPT_PLAN };

/* Keeps a piece of a thought for the blocks: the two kinds go back by different ways. */
static void think(struct answer *a, int64_t kind, const struct json *j, int v)
{
	struct part *p = a->nparts ? &a->parts[a->nparts - 1] : NULL;

	if (json_strlen(j, v) == 0)
		return;
	if (!p || p->index != kind)
		p = build_part(a, PART_THINKING, kind);
	if (p)
		json_str(j, v, &p->text);
	build_think(a, j, v);
}

static void content(struct answer *a, const struct json *j, int v)
{
	if (json_type(j, v) == JSON_STRING) {
		build_text(a, j, v);
		return;
	}
	think(a, KEPT_THOUGHT, j, json_get(j, v, "thinking"));
	build_text(a, j, json_get(j, v, "text"));
}

static int by_index(const struct answer *a, int64_t index)
{
	for (size_t i = a->ncalls; i-- > 0;)
		if (a->calls[i].index == index)
			return (int)i;
	return a->ncalls && index < 0 ? (int)a->ncalls - 1 : -1;
}

static void call(struct answer *a, const struct json *j, int v, int64_t index, bool start)
{
	int f = json_get(j, v, "function"), args = json_get(j, f, "arguments"), at = start ? -1 : by_index(a, index);

	if (f < 0) {                             /* v1 */
		f = v;
		args = json_get(j, v, "parameters");
	}
	if (at < 0 && json_strlen(j, json_get(j, f, "name")) == 0) {
		if (json_strlen(j, args) > 0)
			build_fail(a, "protocol", "a piece of a tool call belongs to no call");
		return;
	}
	if (at < 0)
		at = build_call(a, index, j, json_get(j, v, "id"), json_get(j, f, "name"));
	build_args(a, at, j, args);
}

static void calls(struct answer *a, const struct json *j, int list, int64_t index, bool start)
{
	if (json_type(j, list) == JSON_OBJECT)
		call(a, j, list, index, start);
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);)
		call(a, j, it.value, start ? (int64_t)a->ncalls : index, start);
}

static void message(struct answer *a, const struct json *j, int m, int64_t index, bool start)
{
	int list = json_get(j, m, "content");

	think(a, KEPT_PLAN, j, json_get(j, m, "tool_plan"));
	if (json_type(j, list) == JSON_ARRAY)
		for (struct json_iter it = json_iter(j, list); json_next(&it);)
			content(a, j, it.value);
	else
		content(a, j, list);
	calls(a, j, json_get(j, m, "tool_calls"), index, start);
}

/* billed_units leave out what Cohere adds to the prompt; tokens are what the model saw and wrote. */
static void usage(struct answer *a, const struct json *j, int v)
{
	struct usage *u = &a->usage;
	int n = json_get(j, v, "tokens");

	if (json_get(j, n, "input_tokens") < 0 && json_get(j, n, "output_tokens") < 0)
		n = json_get(j, v, "billed_units");
	build_count(&u->input, j, json_get(j, n, "input_tokens"));
	build_count(&u->output, j, json_get(j, n, "output_tokens"));
	build_count(&u->cache_read, j, json_get(j, v, "cached_tokens"));
	if (u->input >= 0 && u->cache_read > 0)
		u->input = u->input > u->cache_read ? u->input - u->cache_read : 0;
}

static void finish(struct answer *a, const struct json *j, int v)
{
	static const struct { const char *word; enum stop stop; } words[] = {
		{ "COMPLETE", STOP_END_TURN }, { "STOP_SEQUENCE", STOP_STOP_SEQUENCE }, { "MAX_TOKENS", STOP_MAX_TOKENS },
		{ "TOOL_CALL", STOP_TOOL_USE }, { "ERROR_TOXIC", STOP_CONTENT_FILTER }, { "ERROR_LIMIT", STOP_CONTEXT_EXCEEDED },
		{ "ERROR", STOP_ERROR }, { "TIMEOUT", STOP_ERROR }, { "USER_CANCEL", STOP_TRUNCATED },
	};
	int reason = json_get(j, v, "finish_reason"), u = json_get(j, v, "usage"), error = json_get(j, v, "error");

	if (!build_str(&a->stop_raw, j, reason))
		return;
	a->terminal = true;
	a->stop = STOP_END_TURN;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(a->stop_raw.p, words[i].word) == 0)
			a->stop = words[i].stop;
	usage(a, j, u >= 0 ? u : json_get(j, v, "meta"));
	if (a->stop == STOP_ERROR && json_strlen(j, error) > 0)
		build_error(a, j, v, true);
}

static void v1_event(struct answer *a, const struct json *j)
{
	int type = json_get(j, 0, "event_type"), response = json_get(j, 0, "response");

	if (a->id.len == 0)
		build_str(&a->id, j, json_get(j, 0, "generation_id"));
	if (json_eq(j, type, "text-generation"))
		build_text(a, j, json_get(j, 0, "text"));
	else if (json_eq(j, type, "tool-calls-generation"))
		calls(a, j, json_get(j, 0, "tool_calls"), 0, true);
	if (!json_eq(j, type, "stream-end"))
		return;
	finish(a, j, 0);
	usage(a, j, json_get(j, response, "meta"));
}

/* A whole answer of either version, or something else. */
static void whole(struct answer *a, const struct json *j, bool in_stream)
{
	int m = json_get(j, 0, "message");

	if (json_get(j, 0, "finish_reason") < 0) {
		build_error(a, j, 0, in_stream);
		return;
	}
	if (!build_str(&a->id, j, json_get(j, 0, "id")))
		build_str(&a->id, j, json_get(j, 0, "response_id"));
	build_text(a, j, json_get(j, 0, "text"));
	if (json_type(j, m) == JSON_OBJECT)
		message(a, j, m, 0, true);
	else
		calls(a, j, json_get(j, 0, "tool_calls"), 0, true);
	finish(a, j, 0);
}

void cohere_whole(struct answer *a, const struct json *j)
{
	whole(a, j, false);
}

void cohere_event(struct answer *a, const struct json *j)
{
	int type = json_get(j, 0, "type"), delta = json_get(j, 0, "delta");
	int64_t index = -1;

	if (json_type(j, json_get(j, 0, "event_type")) == JSON_STRING) {
		v1_event(a, j);
		return;
	}
	if (json_type(j, type) != JSON_STRING) {
		whole(a, j, true);
		return;
	}
	json_i64(j, json_get(j, 0, "index"), &index);
	if (a->id.len == 0)
		build_str(&a->id, j, json_get(j, 0, "id"));
	if (json_eq(j, type, "message-end"))
		finish(a, j, delta);
	else if (json_eq(j, type, "error"))
		build_error(a, j, 0, true);
	else
		message(a, j, json_get(j, delta, "message"), index, json_eq(j, type, "tool-call-start"));
}

static void blocks(struct answer *a)
{
	struct jw w = jw_begin(&a->blocks);

	jw_arr(&w);
	for (size_t i = 0; i < a->nparts; i++) {
		const struct part *p = &a->parts[i];
		const char *kind = p->index == KEPT_PLAN ? "tool_plan" : "thinking";

		jw_obj(&w);
		jw_kstr(&w, "type", kind);
		jw_kstrn(&w, kind, p->text.p, p->text.len);
		jw_end(&w);
	}
	jw_end(&w);
}

void cohere_end(struct answer *a)
{
	if (a->stop == STOP_ERROR)
		build_fail(a, strcmp(a->stop_raw.p, "TIMEOUT") == 0 ? "timeout" : "unknown",
		           "the provider ended the answer with an error and gave no reason");
	if (a->stop == STOP_TRUNCATED)
		a->terminal = false;
	if (a->nparts > 0)
		blocks(a);
}

/* wire_openai_chat.c - answers of OpenAI's Chat Completions API and of everything that is said to be compatible
 * with it. */
#include <string.h>

#include "llm/wires.h"

static void stop(struct answer *a, const struct json *j, int v)
{
	static const struct { const char *word; enum stop stop; } words[] = {
		{ "stop", STOP_END_TURN }, { "eos", STOP_END_TURN }, { "length", STOP_MAX_TOKENS }, { "max_tokens", STOP_MAX_TOKENS },
		{ "model_length", STOP_MAX_TOKENS }, { "tool_calls", STOP_TOOL_USE }, { "tool_use", STOP_TOOL_USE },
		{ "function_call", STOP_TOOL_USE }, { "content_filter", STOP_CONTENT_FILTER }, { "sensitive", STOP_CONTENT_FILTER },
		{ "refusal", STOP_REFUSAL }, { "stop_sequence", STOP_STOP_SEQUENCE },
		{ "model_context_window_exceeded", STOP_CONTEXT_EXCEEDED },
		{ "error", STOP_ERROR }, { "network_error", STOP_ERROR }, { "insufficient_system_resource", STOP_ERROR },
		{ "abort", STOP_TRUNCATED },
	};
	if (!build_str(&a->stop_raw, j, v))
		return;
	a->stop = STOP_END_TURN;
	a->terminal = true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(a->stop_raw.p, words[i].word) == 0)
			a->stop = words[i].stop;
}

/* Mistral: content is a list of texts and thoughts while the model thinks. */
static void content_list(struct answer *a, const struct json *j, int list)
{
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		int thinking = json_get(j, it.value, "thinking");
		if (json_type(j, it.value) == JSON_STRING)
			build_text(a, j, it.value);
		else if (json_type(j, thinking) == JSON_STRING)
			build_think(a, j, thinking);
		else if (json_type(j, thinking) == JSON_ARRAY)
			for (struct json_iter in = json_iter(j, thinking); json_next(&in);)
				build_think(a, j, json_get(j, in.value, "text"));
		else
			build_text(a, j, json_get(j, it.value, "text"));
	}
}

static void content(struct answer *a, const struct json *j, int v)
{
	switch (json_type(j, v)) {
	case JSON_STRING:
		build_text(a, j, v);
		break;
	case JSON_ARRAY:
		content_list(a, j, v);
		break;
	case JSON_OBJECT: {             /* Cloudflare: the JSON that was asked for, as such */
		struct buf text, quoted;
		struct json q = JSON_INIT;
		buf_init(&text, ANSWER_MAX);
		buf_init(&quoted, BUF_NOLIMIT);
		json_compact(&text, j, v);
		struct jw w = jw_begin(&quoted);
		jw_strn(&w, text.p, text.len);
		if (json_parse(&q, quoted.p, quoted.len, NULL) == 0)
			build_text(a, &q, 0);
		json_free(&q);
		buf_free(&text);
		buf_free(&quoted);
		break;
	}
	default:
		break;
	}
}

/* Several members may carry the same thought: the first that says something counts. */
static void thoughts(struct answer *a, const struct json *j, int v)
{
	static const char *const names[] = { "reasoning_content", "reasoning" };
	bool said = false;
	for (size_t i = 0; i < sizeof names / sizeof *names && !said; i++) {
		int r = json_get(j, v, names[i]);
		if (json_strlen(j, r) == 0)
			continue;
		said = true;
		if (!a->thought_in)
			a->thought_in = names[i];
		build_think(a, j, r);
	}
	int details = json_get(j, v, "reasoning_details");
	if (json_type(j, details) == JSON_ARRAY)
		chat_details(a, j, details, !said);
}

static void message(struct answer *a, const struct json *j, int v)
{
	thoughts(a, j, v);
	content(a, j, json_get(j, v, "content"));
	int refusal = json_get(j, v, "refusal");
	if (json_strlen(j, refusal) > 0) {
		a->refused = true;
		build_text(a, j, refusal);
	}
	chat_calls(a, j, json_get(j, v, "tool_calls"));
	chat_legacy_call(a, j, json_get(j, v, "function_call"));
	int extra = json_get(j, v, "extra_content");
	if (json_type(j, extra) == JSON_OBJECT) {
		buf_clear(&a->echo);
		json_compact(&a->echo, j, extra);
	}
}

static void choice(struct answer *a, const struct json *j, int v)
{
	int64_t index;
	if (json_i64(j, json_get(j, v, "index"), &index) == 0 && index > 0)
		return;                              /* only one is asked for */
	int delta = json_get(j, v, "delta");
	/* Perplexity repeats the whole message beside each delta */
	message(a, j, json_type(j, delta) == JSON_OBJECT ? delta : json_get(j, v, "message"));
	stop(a, j, json_get(j, v, "finish_reason"));
	int usage = json_get(j, v, "usage");
	if (json_type(j, usage) == JSON_OBJECT)
		chat_usage(&a->usage, j, usage);
}

static void chunk(struct answer *a, const struct json *j, bool in_stream)
{
	if (a->id.len == 0)
		build_str(&a->id, j, json_get(j, 0, "id"));
	if (a->model.len == 0)
		build_str(&a->model, j, json_get(j, 0, "model"));
	int choices = json_get(j, 0, "choices");
	if (json_type(j, choices) == JSON_ARRAY)
		for (struct json_iter it = json_iter(j, choices); json_next(&it);)
			choice(a, j, it.value);
	int usage = json_get(j, 0, "usage");
	if (json_type(j, usage) != JSON_OBJECT)
		usage = json_path(j, 0, "x_groq.usage");
	if (json_type(j, usage) == JSON_OBJECT)
		chat_usage(&a->usage, j, usage);       /* the last one holds: some send it with every chunk */
	int error = json_get(j, 0, "error");
	bool empty = json_type(j, choices) != JSON_ARRAY;
	if (json_type(j, error) > JSON_NULL && (json_type(j, error) != JSON_STRING || json_strlen(j, error) > 0))
		build_error(a, j, 0, in_stream);
	else if (empty && (json_eq(j, json_get(j, 0, "object"), "error") || json_eq(j, json_get(j, 0, "type"), "error") ||
	         json_get(j, 0, "detail") >= 0))
		build_error(a, j, 0, in_stream);
	else if (empty && !in_stream)
		build_fail(a, "protocol", "the answer has no choices");
}

void chat_event(struct answer *a, const struct json *j)
{
	chunk(a, j, true);
}

void chat_whole(struct answer *a, const struct json *j)
{
	chunk(a, j, false);
	a->terminal = true;
}

void chat_end(struct answer *a)
{
	if (a->done)
		a->terminal = true;                  /* some never give a finish_reason */
	if (a->stop == STOP_ERROR)
		build_fail(a, strcmp(a->stop_raw.p, "error") == 0 ? "unknown" : "overloaded",
		           "the provider ended the answer with an error and gave no reason");
	if (a->stop == STOP_TRUNCATED)
		a->terminal = false;
	if (a->refused && a->stop == STOP_END_TURN)
		a->stop = STOP_REFUSAL;
	chat_blocks(a);
}

/* wire_ollama.c - answers of Ollama's own /api/chat: a JSON object a line, or one object; both have the same members.
 * https://github.com/ollama/ollama/blob/main/docs/api.md
 *
 * Tool calls come whole, mostly in a line before the last one; done_reason stays "stop" beside them. */
#include <string.h>

#include "llm/wires.h"

static void calls(struct answer *a, const struct json *j, int list)
{
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		int f = json_get(j, it.value, "function");

		if (json_strlen(j, json_get(j, f, "name")) == 0)
			continue;
		int at = build_call(a, -1, j, json_get(j, it.value, "id"), json_get(j, f, "name"));
		build_args(a, at, j, json_get(j, f, "arguments"));
	}
}

/* Servers that only speak the protocol have other names for a thought, some of them two for the same: the first that says
 * anything counts. */
static void think(struct answer *a, const struct json *j, int m)
{
	static const char *const names[] = { "thinking", "reasoning_content", "reasoning" };

	for (size_t i = 0; i < sizeof names / sizeof *names && !a->thought_in; i++)
		if (json_strlen(j, json_get(j, m, names[i])) > 0)
			a->thought_in = names[i];
	if (a->thought_in)
		build_think(a, j, json_get(j, m, a->thought_in));
}

static void stop(struct answer *a, const struct json *j, int v)
{
	static const struct { const char *word; enum stop stop; } words[] = {
		{ "stop", STOP_END_TURN }, { "length", STOP_MAX_TOKENS }, { "load", STOP_ERROR }, { "unload", STOP_ERROR },
	};

	a->terminal = true;
	a->stop = STOP_END_TURN;
	if (!build_str(&a->stop_raw, j, v))      /* servers before 0.1.40 give no reason */
		return;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(a->stop_raw.p, words[i].word) == 0)
			a->stop = words[i].stop;
}

void ollama_event(struct answer *a, const struct json *j)
{
	int m = json_get(j, 0, "message"), error = json_get(j, 0, "error");
	int done = json_get(j, 0, "done");

	if (json_type(j, error) > JSON_NULL && (json_type(j, error) != JSON_STRING || json_strlen(j, error) > 0)) {
		build_error(a, j, 0, true);
		return;
	}
	if (json_type(j, m) != JSON_OBJECT && json_type(j, done) != JSON_BOOL) {
		build_error(a, j, 0, true);          /* no line of an answer: what else would a server say? */
		return;
	}
	if (a->model.len == 0)
		build_str(&a->model, j, json_get(j, 0, "model"));
	think(a, j, m);
	build_text(a, j, json_get(j, m, "content"));
	calls(a, j, json_get(j, m, "tool_calls"));
	build_count(&a->usage.input, j, json_get(j, 0, "prompt_eval_count"));
	build_count(&a->usage.output, j, json_get(j, 0, "eval_count"));
	if (json_true(j, done))
		stop(a, j, json_get(j, 0, "done_reason"));
}

/* blocks: the thought, for the model that had it. */
void ollama_end(struct answer *a)
{
	if (a->stop == STOP_ERROR) {             /* it says so instead of an answer */
		a->stop = STOP_END_TURN;
		if (a->content.len == 0 && a->thinking.len == 0 && a->ncalls == 0)
			build_fail(a, "overloaded", strcmp(a->stop_raw.p, "load") == 0 ?
			           "the server loaded the model and gave no answer" :
			           "the server unloaded the model and gave no answer");
	}
	if (!a->thought_in || a->thinking.len == 0)
		return;
	struct jw w = jw_begin(&a->blocks);
	jw_arr(&w);
	jw_obj(&w);
	jw_kstr(&w, "type", "thinking");
	jw_kstrn(&w, "thinking", a->thinking.p, a->thinking.len);
	jw_end(&w);
	jw_end(&w);
}

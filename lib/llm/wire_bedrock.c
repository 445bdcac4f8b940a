/* wire_bedrock.c - answers of Bedrock's Converse and ConverseStream, one form for the models of all makers there.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 *
 * An event is known by its members, not by its name: each has others. A text block does not begin, only its pieces come.
 * Thoughts that Nova writes between <thinking> tags are text here: the model may as well have been asked for such tags. */
#include <string.h>

#include "base/base64.h"
#include "llm/wires.h"

static void usage(struct answer *a, const struct json *j, int v)
{
	build_count(&a->usage.input, j, json_get(j, v, "inputTokens"));
	build_count(&a->usage.cache_read, j, json_get(j, v, "cacheReadInputTokens"));
	build_count(&a->usage.cache_write, j, json_get(j, v, "cacheWriteInputTokens"));
	build_count(&a->usage.output, j, json_get(j, v, "outputTokens"));
}

static void stop(struct answer *a, const struct json *j, int v)
{
	static const struct { const char *word; enum stop stop; } words[] = {
		{ "end_turn", STOP_END_TURN }, { "tool_use", STOP_TOOL_USE }, { "max_tokens", STOP_MAX_TOKENS },
		{ "stop_sequence", STOP_STOP_SEQUENCE }, { "guardrail_intervened", STOP_CONTENT_FILTER },
		{ "content_filtered", STOP_CONTENT_FILTER }, { "model_context_window_exceeded", STOP_CONTEXT_EXCEEDED },
		{ "refusal", STOP_REFUSAL }, { "malformed_model_output", STOP_ERROR }, { "malformed_tool_use", STOP_ERROR },
	};
	if (!build_str(&a->stop_raw, j, v))
		return;
	a->terminal = true;
	a->stop = STOP_END_TURN;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(a->stop_raw.p, words[i].word) == 0)
			a->stop = words[i].stop;
	if (a->stop != STOP_ERROR || a->error.set)
		return;
	build_fail(a, "unknown", "the model ended its answer with what is no answer, or no tool call");
	build_str(&a->error.code, j, v);
}

static struct part *find(struct answer *a, int64_t index)
{
	for (size_t i = a->nparts; i-- > 0;)
		if (a->parts[i].index == index)
			return &a->parts[i];
	return NULL;
}

/* The part of a kind at an index, which may begin with its first piece. */
static struct part *part_of(struct answer *a, enum part_kind kind, int64_t index)
{
	struct part *p = find(a, index);
	return p && p->kind == kind ? p : build_part(a, kind, index);
}

/* toolUse, as it begins or as a whole. What the provider runs by itself is no call of ours. */
static void tool_use(struct answer *a, const struct json *j, int v, int64_t index, bool all)
{
	struct part *p = build_part(a, json_eq(j, json_get(j, v, "type"), "server_tool_use") ? PART_OTHER : PART_CALL, index);
	if (!p)
		return;
	json_compact(&p->raw, j, v);
	if (p->kind == PART_OTHER) {
		buf_adds(&p->sig, "toolUse");
		return;
	}
	p->call = build_call(a, index, j, json_get(j, v, "toolUseId"), json_get(j, v, "name"));
	int input = json_get(j, v, "input");
	if (all || json_count(j, input) > 0)
		build_args(a, p->call, j, input);
}

/* sig of a PART_OTHER is the name of its one member, raw its value. */
static void other(struct answer *a, const struct json *j, int key, int v, int64_t index)
{
	struct part *p = build_part(a, PART_OTHER, index);
	if (!p)
		return;
	json_str(j, key, &p->sig);
	json_compact(&p->raw, j, v);
}

/* What is encrypted may come in pieces, each in base64 with an end of its own: cites has its bytes, raw its text for where it
 * is no base64 (done). */
static void redacted(struct part *p, const struct json *j, int v)
{
	struct buf piece;
	buf_init(&piece, ANSWER_MAX);
	json_str(j, v, &piece);
	p->done |= base64_decode(&p->cites, piece.p, piece.len) < 0;
	buf_add(&p->raw, piece.p, piece.len);
	buf_free(&piece);
}

/* reasoningContent of a piece, or reasoningText of a whole block. raw of a PART_THINKING is what is encrypted of it. */
static void reasoning(struct answer *a, const struct json *j, int v, int64_t index)
{
	struct part *p = part_of(a, PART_THINKING, index);
	build_think(a, j, json_get(j, v, "text"));
	if (!p)
		return;
	json_str(j, json_get(j, v, "text"), &p->text);
	json_str(j, json_get(j, v, "signature"), &p->sig);
	redacted(p, j, json_get(j, v, "redactedContent"));
}

static void text(struct answer *a, const struct json *j, int v, int64_t index)
{
	struct part *p = part_of(a, PART_TEXT, index);
	build_text(a, j, v);
	if (p)
		json_str(j, v, &p->text);
}

static void delta(struct answer *a, const struct json *j, int v, int64_t index)
{
	int t = json_get(j, v, "toolUse"), r = json_get(j, v, "toolResult");
	struct part *p;
	if (json_get(j, v, "text") >= 0) {
		text(a, j, json_get(j, v, "text"), index);
	} else if (json_get(j, v, "reasoningContent") >= 0) {
		reasoning(a, j, json_get(j, v, "reasoningContent"), index);
	} else if (t >= 0 && (p = find(a, index))) {
		if (p->kind == PART_CALL)
			build_args(a, p->call, j, json_get(j, t, "input"));
		else
			json_str(j, json_get(j, t, "input"), &p->text);
	} else if (json_type(j, r) == JSON_ARRAY && (p = find(a, index)) && p->kind == PART_OTHER) {
		for (struct json_iter it = json_iter(j, r); json_next(&it);) {
			if (p->cites.len)
				buf_addc(&p->cites, ',');
			json_compact(&p->cites, j, it.value);
		}
	}
}

static void begin(struct answer *a, const struct json *j, int v, int64_t index)
{
	struct json_iter it = json_iter(j, v);
	if (json_get(j, v, "toolUse") >= 0)
		tool_use(a, j, json_get(j, v, "toolUse"), index, false);
	else if (json_type(j, v) == JSON_OBJECT && json_next(&it) && json_type(j, it.value) == JSON_OBJECT &&
	         json_count(j, it.value) > 0)
		other(a, j, it.key, it.value, index);
}

void converse_event(struct answer *a, const struct json *j)
{
	int64_t index = -1;
	int v = json_get(j, 0, "delta");
	json_i64(j, json_get(j, 0, "contentBlockIndex"), &index);
	if (v >= 0)
		delta(a, j, v, index);
	else if ((v = json_get(j, 0, "start")) >= 0)
		begin(a, j, v, index);
	else if (json_get(j, 0, "output") >= 0)
		converse_whole(a, j);
	else if (json_type(j, json_get(j, 0, "error")) > JSON_NULL)     /* a gateway's */
		build_error(a, j, 0, true);
	else
		stop(a, j, json_get(j, 0, "stopReason"));
	usage(a, j, json_get(j, 0, "usage"));
}

static void block(struct answer *a, const struct json *j, int v, int64_t index)
{
	struct json_iter it = json_iter(j, v);
	if (json_type(j, v) != JSON_OBJECT || !json_next(&it))
		return;
	if (json_eq(j, it.key, "text")) {
		text(a, j, it.value, index);
	} else if (json_eq(j, it.key, "toolUse")) {
		tool_use(a, j, it.value, index, true);
	} else if (json_eq(j, it.key, "reasoningContent")) {
		int inner = json_get(j, it.value, "reasoningText");
		reasoning(a, j, inner >= 0 ? inner : it.value, index);
	} else if (json_eq(j, it.key, "citationsContent")) {
		int list = json_get(j, it.value, "content");
		for (struct json_iter c = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&c);)
			text(a, j, json_get(j, c.value, "text"), index);
	} else {
		other(a, j, it.key, it.value, index);
	}
}

void converse_whole(struct answer *a, const struct json *j)
{
	int content = json_path(j, 0, "output.message.content");
	int64_t index = 0;
	if (json_type(j, content) != JSON_ARRAY) {
		if (json_get(j, 0, "message") >= 0 || json_type(j, json_get(j, 0, "error")) > JSON_NULL)
			build_error(a, j, 0, false);
		else
			build_fail(a, "protocol", "the answer has no message");
		return;
	}
	for (struct json_iter it = json_iter(j, content); json_next(&it);)
		block(a, j, it.value, index++);
	usage(a, j, json_get(j, 0, "usage"));
	stop(a, j, json_get(j, 0, "stopReason"));
	a->terminal = true;
}

/* Only what its maker has signed is wanted back; other thoughts are refused in a history (DeepSeek), or useless. */
static bool opaque(const struct part *p)
{
	return p->kind == PART_OTHER || (p->kind == PART_THINKING && (p->sig.len > 0 || p->raw.len > 0));
}

static void put_reasoning(const struct part *p, struct jw *w)
{
	jw_key(w, "reasoningContent");
	jw_obj(w);
	if (p->raw.len > 0) {
		struct buf whole;
		buf_init(&whole, BUF_NOLIMIT);
		if (p->done)
			buf_add(&whole, p->raw.p, p->raw.len);
		else
			base64_encode(&whole, p->cites.p, p->cites.len);
		jw_kstrn(w, "redactedContent", whole.p, whole.len);
		buf_free(&whole);
	} else {
		jw_key(w, "reasoningText");
		jw_obj(w);
		jw_kstrn(w, "text", p->text.p, p->text.len);
		jw_kstrn(w, "signature", p->sig.p, p->sig.len);
		jw_end(w);
	}
	jw_end(w);
}

static void put_call(struct answer *a, const struct part *p, struct jw *w)
{
	const struct call *c = &a->calls[p->call];
	jw_key(w, "toolUse");
	jw_obj(w);
	jw_kstrn(w, "toolUseId", c->id.p, c->id.len);
	jw_kstrn(w, "name", c->name.p, c->name.len);
	jw_key(w, "input");
	anthropic_input(a, w, c->args.p, c->args.len);
	jw_end(w);
}

/* With what its pieces brought: the input of a use, the content of a result. */
static void put_other(struct answer *a, const struct part *p, struct jw *w)
{
	jw_key(w, p->sig.p);
	if (p->text.len == 0 && p->cites.len == 0) {
		jw_raw(w, p->raw.p, p->raw.len);
		return;
	}
	jw_raw(w, p->raw.p, p->raw.len - 1);
	if (p->text.len > 0) {
		buf_adds(w->b, ",\"input\":");
		struct jw in = jw_begin(w->b);
		anthropic_input(a, &in, p->text.p, p->text.len);
	} else {
		buf_addf(w->b, ",\"content\":[%s]", p->cites.p);
	}
	buf_addc(w->b, '}');
}

void converse_end(struct answer *a)
{
	bool any = false;
	for (size_t i = 0; i < a->nparts && !any; i++)
		any = opaque(&a->parts[i]);
	if (!any || a->error.set || !a->terminal)
		return;
	struct jw w = jw_begin(&a->blocks);
	jw_arr(&w);
	for (size_t i = 0; i < a->nparts; i++) {
		const struct part *p = &a->parts[i];
		if ((p->kind == PART_TEXT && p->text.len == 0) || (p->kind == PART_THINKING && !opaque(p)) ||
		    (p->kind == PART_CALL && p->call < 0))
			continue;
		jw_obj(&w);
		if (p->kind == PART_TEXT)
			jw_kstrn(&w, "text", p->text.p, p->text.len);
		else if (p->kind == PART_THINKING)
			put_reasoning(p, &w);
		else if (p->kind == PART_CALL)
			put_call(a, p, &w);
		else
			put_other(a, p, &w);
		jw_end(&w);
	}
	jw_end(&w);
}

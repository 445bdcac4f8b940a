/* wire_anthropic.c - answers of the Anthropic Messages API and its clones.
 * https://docs.anthropic.com/en/api/messages-streaming */
#include <string.h>

#include "llm/wires.h"

/* Counters are cumulative: a later value replaces an earlier one, it is never added. */
static void usage(struct answer *a, const struct json *j, int v)
{
	build_count(&a->usage.input, j, json_get(j, v, "input_tokens"));
	build_count(&a->usage.cache_read, j, json_get(j, v, "cache_read_input_tokens"));
	build_count(&a->usage.cache_write, j, json_get(j, v, "cache_creation_input_tokens"));
	build_count(&a->usage.output, j, json_get(j, v, "output_tokens"));
	build_count(&a->usage.reasoning, j, json_path(j, v, "output_tokens_details.thinking_tokens"));
}

static void stop(struct answer *a, const struct json *j, int v)
{
	static const struct { const char *word; enum stop stop; } words[] = {
		{ "end_turn", STOP_END_TURN }, { "tool_use", STOP_TOOL_USE }, { "max_tokens", STOP_MAX_TOKENS },
		{ "stop_sequence", STOP_STOP_SEQUENCE }, { "pause_turn", STOP_PAUSE }, { "refusal", STOP_REFUSAL },
		{ "model_context_window_exceeded", STOP_CONTEXT_EXCEEDED }, { "compaction", STOP_PAUSE },
		{ "content_filter", STOP_CONTENT_FILTER }, { "sensitive", STOP_CONTENT_FILTER },
	};
	if (!build_str(&a->stop_raw, j, v))
		return;
	a->stop = STOP_END_TURN;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(a->stop_raw.p, words[i].word) == 0)
			a->stop = words[i].stop;
}

static void message(struct answer *a, const struct json *j, int v)
{
	build_str(&a->id, j, json_get(j, v, "id"));
	build_str(&a->model, j, json_get(j, v, "model"));
	usage(a, j, json_get(j, v, "usage"));
	stop(a, j, json_get(j, v, "stop_reason"));
}

/* A block begins, or is there as a whole. */
static void block(struct answer *a, const struct json *j, int v, int64_t index, bool all)
{
	int type = json_get(j, v, "type");
	bool call = json_eq(j, type, "tool_use");
	enum part_kind kind = json_eq(j, type, "text") ? PART_TEXT : json_eq(j, type, "thinking") ? PART_THINKING :
	                      call ? PART_CALL : PART_OTHER;
	struct part *p = build_part(a, kind, index);
	if (!p)
		return;
	json_compact(&p->raw, j, v);
	if (kind == PART_TEXT)
		build_text(a, j, json_get(j, v, "text"));
	else if (kind == PART_THINKING)
		build_think(a, j, json_get(j, v, "thinking"));
	if (!call)
		return;
	p->call = build_call(a, index, j, json_get(j, v, "id"), json_get(j, v, "name"));
	/* A stream begins a call with an empty object that is to be forgotten; some clones send the arguments there. */
	int input = json_get(j, v, "input");
	if (all || (json_type(j, input) == JSON_OBJECT && json_count(j, input) > 0))
		build_args(a, p->call, j, input);
}

/* By index; without one, or with one that never began, the block that began last. */
static struct part *find(struct answer *a, const struct json *j)
{
	int64_t index;
	if (json_i64(j, json_get(j, 0, "index"), &index) == 0)
		for (size_t i = a->nparts; i-- > 0;)
			if (a->parts[i].index == index)
				return &a->parts[i];
	return NULL;
}

static struct part *find_or_begin(struct answer *a, const struct json *j, enum part_kind kind)
{
	struct part *p = find(a, j);
	if (p)
		return p;
	p = a->nparts ? &a->parts[a->nparts - 1] : NULL;
	if (p && p->kind == kind)
		return p;
	if (kind != PART_TEXT && kind != PART_THINKING)
		return p;
	int64_t index = -1;
	json_i64(j, json_get(j, 0, "index"), &index);
	p = build_part(a, kind, index);
	if (p)
		buf_adds(&p->raw, kind == PART_TEXT ? "{\"type\":\"text\",\"text\":\"\"}" :
		         "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}");
	return p;
}

static void delta(struct answer *a, const struct json *j)
{
	int d = json_get(j, 0, "delta"), type = json_get(j, d, "type");
	struct part *p;
	if (json_eq(j, type, "text_delta")) {
		p = find_or_begin(a, j, PART_TEXT);
		build_text(a, j, json_get(j, d, "text"));
		if (p)
			json_str(j, json_get(j, d, "text"), &p->text);
	} else if (json_eq(j, type, "thinking_delta")) {
		p = find_or_begin(a, j, PART_THINKING);
		build_think(a, j, json_get(j, d, "thinking"));
		if (p)
			json_str(j, json_get(j, d, "thinking"), &p->text);
	} else if (json_eq(j, type, "signature_delta")) {
		p = find_or_begin(a, j, PART_THINKING);
		if (p)
			json_str(j, json_get(j, d, "signature"), &p->sig);
	} else if (json_eq(j, type, "input_json_delta")) {
		p = find_or_begin(a, j, PART_CALL);
		if (p && p->call >= 0)
			build_args(a, p->call, j, json_get(j, d, "partial_json"));
		else if (p)
			json_str(j, json_get(j, d, "partial_json"), &p->text);
	} else if (json_eq(j, type, "citations_delta")) {
		p = find_or_begin(a, j, PART_TEXT);
		if (p && json_get(j, d, "citation") >= 0) {
			if (p->cites.len)
				buf_addc(&p->cites, ',');
			json_compact(&p->cites, j, json_get(j, d, "citation"));
		}
	} else if (json_eq(j, type, "compaction_delta")) {
		p = find_or_begin(a, j, PART_OTHER);
		if (p)
			json_str(j, json_get(j, d, "content"), &p->text);
	}
}

void anthropic_event(struct answer *a, const struct json *j)
{
	int type = json_get(j, 0, "type");
	if (json_eq(j, type, "content_block_delta")) {
		delta(a, j);
	} else if (json_eq(j, type, "content_block_start")) {
		int64_t index = -1;
		json_i64(j, json_get(j, 0, "index"), &index);
		block(a, j, json_get(j, 0, "content_block"), index, false);
	} else if (json_eq(j, type, "message_start")) {
		message(a, j, json_get(j, 0, "message"));
	} else if (json_eq(j, type, "message_delta")) {
		usage(a, j, json_get(j, 0, "usage"));
		stop(a, j, json_path(j, 0, "delta.stop_reason"));
	} else if (json_eq(j, type, "message_stop")) {
		a->terminal = true;
	} else if (json_eq(j, type, "message")) {
		anthropic_whole(a, j);
	} else if (json_eq(j, type, "error") || json_type(j, json_get(j, 0, "error")) > JSON_NULL) {
		build_error(a, j, 0, true);
	}
}

void anthropic_whole(struct answer *a, const struct json *j)
{
	if (json_eq(j, json_get(j, 0, "type"), "error") || json_type(j, json_get(j, 0, "error")) > JSON_NULL) {
		build_error(a, j, 0, false);
		return;
	}
	int content = json_get(j, 0, "content");
	if (json_type(j, content) != JSON_ARRAY) {
		build_fail(a, "protocol", "the answer has no content");
		return;
	}
	message(a, j, 0);
	a->terminal = true;
	int64_t index = 0;
	for (struct json_iter it = json_iter(j, content); json_next(&it);)
		block(a, j, it.value, index++, true);
}

/* Is there anything that cannot be rebuilt from text and calls? */
static bool special(struct answer *a, struct part *p)
{
	bool yes;
	if (p->kind == PART_TEXT)
		return p->cites.len > 0;
	if (p->kind != PART_CALL)
		return true;
	if (json_parse(&a->json, p->raw.p, p->raw.len, NULL) < 0)
		return false;
	int caller = json_get(&a->json, 0, "caller");
	yes = caller >= 0 && !json_eq(&a->json, json_get(&a->json, caller, "type"), "direct");
	return yes;
}

void anthropic_input(struct answer *a, struct jw *w, const char *args, size_t n)
{
	struct json in = JSON_INIT;
	buf_clear(&a->mended);
	json_repair(&a->mended, args, n);
	if (json_parse(&in, a->mended.p, a->mended.len, NULL) == 0 && json_type(&in, 0) == JSON_OBJECT) {
		struct buf b;
		buf_init(&b, BUF_NOLIMIT);
		json_compact(&b, &in, 0);
		jw_raw(w, b.p, b.len);
		buf_free(&b);
	} else {
		jw_raw(w, "{}", 2);
	}
	json_free(&in);
}

/* A member of a block as it began, with what the deltas have brought since. */
static void member(struct answer *a, struct part *p, struct jw *w, const char *key, int v)
{
	const struct json *j = &a->json;
	struct buf *grown = NULL;
	if ((p->kind == PART_TEXT && strcmp(key, "text") == 0) || (p->kind == PART_THINKING && strcmp(key, "thinking") == 0) ||
	    (p->kind == PART_OTHER && strcmp(key, "content") == 0 && json_type(j, v) != JSON_ARRAY))
		grown = &p->text;
	else if (p->kind == PART_THINKING && strcmp(key, "signature") == 0)
		grown = &p->sig;
	size_t n;
	const char *raw = json_raw(j, v, &n);
	jw_key(w, key);
	if (grown && grown->len > 0) {
		struct buf b;
		buf_init(&b, BUF_NOLIMIT);
		json_str(j, v, &b);
		buf_add(&b, grown->p, grown->len);
		jw_strn(w, b.p, b.len);
		buf_free(&b);
	} else if (p->kind == PART_CALL && strcmp(key, "input") == 0 && p->call >= 0) {
		anthropic_input(a, w, a->calls[p->call].args.p, a->calls[p->call].args.len);
	} else if (p->kind == PART_CALL && strcmp(key, "id") == 0 && p->call >= 0) {
		jw_str(w, a->calls[p->call].id.p);
	} else if (p->kind == PART_OTHER && strcmp(key, "input") == 0 && p->text.len > 0) {
		anthropic_input(a, w, p->text.p, p->text.len);
	} else {
		jw_raw(w, raw, n);
	}
}

static void put_block(struct answer *a, struct part *p, struct jw *w)
{
	struct json *j = &a->json;
	if (json_parse(j, p->raw.p, p->raw.len, NULL) < 0 || json_type(j, 0) != JSON_OBJECT)
		return;
	bool sig = json_get(j, 0, "signature") >= 0;
	/* a thought cut short by the limit has no signature, and its maker refuses it */
	if (p->kind == PART_THINKING && a->stop == STOP_MAX_TOKENS && p->sig.len == 0 &&
	    json_strlen(j, json_get(j, 0, "signature")) == 0)
		return;
	if (p->kind == PART_TEXT && p->text.len == 0 && json_strlen(j, json_get(j, 0, "text")) == 0)
		return;                                  /* empty text blocks are refused too */
	jw_obj(w);
	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		struct buf key;
		buf_init(&key, BUF_NOLIMIT);   /* a cut one could be there twice */
		json_str(j, it.key, &key);
		if (strcmp(key.p, "citations") != 0 || p->cites.len == 0)
			member(a, p, w, key.p, it.value);
		buf_free(&key);
	}
	if (p->kind == PART_THINKING && !sig && p->sig.len > 0)
		jw_kstrn(w, "signature", p->sig.p, p->sig.len);
	if (p->cites.len > 0) {
		jw_key(w, "citations");
		jw_arr(w);
		jw_raw(w, p->cites.p, p->cites.len);
		jw_end(w);
	}
	jw_end(w);
}

void anthropic_end(struct answer *a)
{
	bool any = false;
	for (size_t i = 0; i < a->nparts && !any; i++)
		any = special(a, &a->parts[i]);
	if (!any || a->error.set || !a->terminal)
		return;
	struct jw w = jw_begin(&a->blocks);
	jw_arr(&w);
	for (size_t i = 0; i < a->nparts; i++)
		put_block(a, &a->parts[i], &w);
	jw_end(&w);
	if (strcmp(a->blocks.p, "[]") == 0)
		buf_clear(&a->blocks);
}

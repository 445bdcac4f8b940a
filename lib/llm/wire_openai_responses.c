/* wire_openai_responses.c - answers of the OpenAI Responses API and its clones.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 *
 * The output is a list of items. Deltas tell of one as it grows, output_item.done brings it whole: that is what holds. What belongs
 * together is told by output_index; ids of items change from event to event at some gateways. */
#include <string.h>

#include "llm/wires.h"

static bool is(const struct json *j, int type, const char *word)
{
	return json_eq(j, type, word);
}

/* input_tokens has the cached ones in it. */
static void usage(struct answer *a, const struct json *j, int v)
{
	struct usage *u = &a->usage;
	int64_t all = -1;
	build_count(&u->cache_read, j, json_path(j, v, "input_tokens_details.cached_tokens"));
	build_count(&u->cache_write, j, json_path(j, v, "input_tokens_details.cache_write_tokens"));
	build_count(&u->output, j, json_get(j, v, "output_tokens"));
	build_count(&u->reasoning, j, json_path(j, v, "output_tokens_details.reasoning_tokens"));
	build_count(&all, j, json_get(j, v, "input_tokens"));
	if (all < 0)
		return;
	if (u->cache_read > 0)
		all -= u->cache_read;
	if (u->cache_write > 0)
		all -= u->cache_write;
	u->input = all > 0 ? all : 0;
}

static enum part_kind kind_of(const struct json *j, int item)
{
	int type = json_get(j, item, "type");
	if (is(j, type, "message"))
		return PART_TEXT;
	if (is(j, type, "reasoning"))
		return PART_THINKING;
	return is(j, type, "function_call") || is(j, type, "custom_tool_call") ? PART_CALL : PART_OTHER;
}

static struct part *find(struct answer *a, const struct json *j)
{
	int64_t index;
	if (json_i64(j, json_get(j, 0, "output_index"), &index) < 0)
		return a->nparts ? &a->parts[a->nparts - 1] : NULL;
	for (size_t i = a->nparts; i-- > 0;)
		if (a->parts[i].index == index)
			return &a->parts[i];
	return NULL;
}

static struct part *begin(struct answer *a, const struct json *j, int item, enum part_kind kind, int64_t index)
{
	struct part *p = build_part(a, kind, index < 0 ? (int64_t)a->nparts : index);
	if (!p || kind != PART_CALL)
		return p;
	int id = json_get(j, item, "call_id");
	p->call = build_call(a, p->index, j, json_strlen(j, id) ? id : json_get(j, item, "id"), json_get(j, item, "name"));
	return p;
}

/* The item's text is not what its deltas said: the message has it as the item does, for who reads it next. */
static void correct(struct answer *a, struct part *p, const struct buf *all)
{
	struct buf *b = p->kind == PART_TEXT ? &a->content : &a->thinking;
	size_t had = p->text.len;
	if (all->len == 0 || b->len < had || memcmp(b->p + b->len - had, p->text.p, had) != 0)
		return;
	buf_truncate(b, b->len - had);
	buf_add(b, all->p, all->len);
	buf_clear(&p->text);
	buf_add(&p->text, all->p, all->len);
	a->corrected = true;
}

/* Text of an item beyond what was told already. */
static void tell(struct answer *a, struct part *p, const struct buf *all)
{
	struct json j = JSON_INIT;
	struct buf text;
	size_t had = p->text.len;
	if (all->len < had || memcmp(all->p, p->text.p, had) != 0) {
		correct(a, p, all);
		return;
	}
	if (all->len == had)
		return;
	buf_init(&text, BUF_NOLIMIT);
	struct jw w = jw_begin(&text);
	jw_strn(&w, all->p + had, all->len - had);
	if (json_parse(&j, text.p, text.len, NULL) == 0) {
		if (p->kind == PART_TEXT)
			build_text(a, &j, 0);
		else
			build_think(a, &j, 0);
	}
	buf_add(&p->text, all->p + had, all->len - had);
	json_free(&j);
	buf_free(&text);
}

static void texts(struct answer *a, const struct json *j, int list, struct buf *all)
{
	if (json_type(j, list) == JSON_STRING)
		json_str(j, list, all);
	if (json_type(j, list) != JSON_ARRAY)
		return;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		if (is(j, json_get(j, it.value, "type"), "refusal"))
			a->refused = true;
		json_str(j, json_get(j, it.value, "text"), all);
		json_str(j, json_get(j, it.value, "refusal"), all);
	}
}

/* The arguments as a whole: what came in pieces is checked against them, and they win. */
static void arguments(struct answer *a, int call, const struct json *j, int v)
{
	if (call < 0 || (json_type(j, v) != JSON_STRING && json_type(j, v) != JSON_OBJECT))
		return;
	struct call *c = &a->calls[call];
	struct buf all;
	buf_init(&all, BUF_NOLIMIT);
	if (json_type(j, v) == JSON_OBJECT)
		json_compact(&all, j, v);
	else
		json_str(j, v, &all);
	bool same = all.len == c->args.len && memcmp(all.p, c->args.p, all.len) == 0;
	if (!same && all.len > 0) {
		a->args_total -= c->args.len;
		buf_clear(&c->args);
		c->depth = 0;
		c->in_string = c->escaped = c->whole = false;
		build_args(a, call, j, v);
	}
	buf_free(&all);
}

/* A custom tool takes text, not an object: it becomes the object's one member. */
static void custom_input(struct answer *a, int call, const struct json *j, int v)
{
	struct json in = JSON_INIT;
	struct buf b, text;
	buf_init(&b, BUF_NOLIMIT);
	buf_init(&text, BUF_NOLIMIT);
	json_str(j, v, &text);
	struct jw w = jw_begin(&b);
	jw_obj(&w);
	jw_kstrn(&w, "input", text.p, text.len);
	jw_end(&w);
	if (json_parse(&in, b.p, b.len, NULL) == 0)
		arguments(a, call, &in, 0);
	json_free(&in);
	buf_free(&b);
	buf_free(&text);
}

static void item_done(struct answer *a, struct part *p, const struct json *j, int item)
{
	struct buf all;
	if (p->done || p->kind != kind_of(j, item))
		return;
	p->done = true;
	json_compact(&p->raw, j, item);
	buf_init(&all, BUF_NOLIMIT);
	switch (p->kind) {
	case PART_TEXT:
		texts(a, j, json_get(j, item, "content"), &all);
		tell(a, p, &all);
		break;
	case PART_THINKING:
		texts(a, j, json_get(j, item, "summary"), &all);
		texts(a, j, json_get(j, item, "content"), &all);
		tell(a, p, &all);
		break;
	case PART_CALL:
		if (p->call < 0)
			break;
		build_name(a, p->call, j, json_get(j, item, "name"));
		if (is(j, json_get(j, item, "type"), "custom_tool_call"))
			custom_input(a, p->call, j, json_get(j, item, "input"));
		else
			arguments(a, p->call, j, json_get(j, item, "arguments"));
		break;
	default:
		break;
	}
	buf_free(&all);
}

/* Is it the item that was done already, byte for byte? Relays that connect again send an event twice. */
static bool again(const struct part *p, const struct json *j, int item)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	json_compact(&b, j, item);
	bool same = b.len == p->raw.len && memcmp(b.p, p->raw.p, b.len) == 0;
	buf_free(&b);
	return same;
}

/* An item begins, or (all) is there as a whole. */
static void item(struct answer *a, const struct json *j, bool all)
{
	int v = json_get(j, 0, "item");
	int64_t index = -1;
	if (json_type(j, v) != JSON_OBJECT)
		return;
	json_i64(j, json_get(j, 0, "output_index"), &index);
	struct part *p = all ? find(a, j) : NULL;
	if (p && p->done && again(p, j, v))
		return;
	if (!p || p->done || p->kind != kind_of(j, v))
		p = begin(a, j, v, kind_of(j, v), index);
	if (p && all)
		item_done(a, p, j, v);
}

/* The whole output, at the end: what no event told of. */
static void output(struct answer *a, const struct json *j, int list)
{
	size_t told = 0, i = 0, before = a->nparts;
	for (size_t k = 0; k < a->nparts; k++)
		told += a->parts[k].done;
	if (json_type(j, list) != JSON_ARRAY || told >= (size_t)json_count(j, list))
		return;
	for (struct json_iter it = json_iter(j, list); json_next(&it); i++) {
		struct part *p = NULL;
		if (json_type(j, it.value) != JSON_OBJECT)
			continue;
		for (size_t k = 0; k < before && !p; k++)
			if (a->parts[k].index == (int64_t)i)
				p = &a->parts[k];
		if (!p)
			p = begin(a, j, it.value, kind_of(j, it.value), (int64_t)i);
		if (p)
			item_done(a, p, j, it.value);
	}
}

/* The response's own error tells more exactly what the error event before it said. Relays put it beside the response. */
static void failed(struct answer *a, const struct json *j, int response)
{
	struct answer_error *e = &a->error;
	int error = json_get(j, response, "error");
	if (json_type(j, error) <= JSON_NULL) {
		response = 0;
		error = json_get(j, 0, "error");
	}
	if (json_type(j, error) == JSON_OBJECT && e->set && !e->class[0]) {
		struct buf *all[] = { &e->type, &e->code, &e->message, &e->param, &e->detail };
		for (size_t i = 0; i < sizeof all / sizeof *all; i++)
			buf_clear(all[i]);
		e->set = false;
	}
	if (json_type(j, error) > JSON_NULL)
		build_error(a, j, response, json_type(j, json_get(j, 0, "type")) == JSON_STRING);   /* an event, or a body */
	else
		build_fail(a, "unknown", "the provider says that the response failed, and not why");
}

static void incomplete(struct answer *a, const struct json *j, int response)
{
	int reason = json_path(j, response, "incomplete_details.reason");
	a->stop = is(j, reason, "content_filter") ? STOP_CONTENT_FILTER : STOP_MAX_TOKENS;
	if (build_str(&a->stop_raw, j, reason))
		buf_insert(&a->stop_raw, 0, "incomplete:", 11);
	else
		buf_adds(&a->stop_raw, "incomplete");
	a->terminal = true;
}

/* How it ended. word: what the event says. An event that says it is complete may hold a response that says how. */
static void status(struct answer *a, const struct json *j, int response, const char *word)
{
	buf_clear(&a->stop_raw);
	if (!build_str(&a->stop_raw, j, json_get(j, response, "status")) && word)
		buf_adds(&a->stop_raw, word);
	const char *s = word ? word : a->stop_raw.p;
	if (strcmp(s, "completed") == 0 && (strcmp(a->stop_raw.p, "incomplete") == 0 || strcmp(a->stop_raw.p, "failed") == 0 ||
	                                    strcmp(a->stop_raw.p, "cancelled") == 0))
		s = a->stop_raw.p;
	if (strcmp(s, "failed") == 0) {
		failed(a, j, response);
	} else if (strcmp(s, "incomplete") == 0) {
		buf_clear(&a->stop_raw);
		incomplete(a, j, response);
	} else if (strcmp(s, "cancelled") == 0) {
		build_fail(a, "unknown", "the provider says that the response was cancelled");
	} else if (strcmp(s, "in_progress") != 0 && strcmp(s, "queued") != 0) {
		a->stop = a->refused ? STOP_REFUSAL : STOP_END_TURN;
		a->terminal = true;
	}
}

static void response(struct answer *a, const struct json *j, int v, const char *word)
{
	build_str(&a->id, j, json_get(j, v, "id"));
	build_str(&a->model, j, json_get(j, v, "model"));
	usage(a, j, json_get(j, v, "usage"));
	if (!word)
		return;
	output(a, j, json_get(j, v, "output"));
	status(a, j, v, word);
}

static void delta(struct answer *a, const struct json *j, enum part_kind kind)
{
	int64_t index = -1;
	int text = json_get(j, 0, "delta");
	json_i64(j, json_get(j, 0, "output_index"), &index);
	struct part *p = find(a, j);
	if (!p || p->kind != kind)
		p = kind == PART_CALL ? NULL : begin(a, j, -1, kind, index);
	if (!p || p->done)
		return;
	if (kind == PART_CALL) {
		build_args(a, p->call, j, text);
		return;
	}
	json_str(j, text, &p->text);
	if (kind == PART_TEXT)
		build_text(a, j, text);
	else
		build_think(a, j, text);
}

void responses_event(struct answer *a, const struct json *j)
{
	int type = json_get(j, 0, "type"), r = json_get(j, 0, "response");
	if (is(j, type, "response.output_text.delta")) {
		delta(a, j, PART_TEXT);
	} else if (is(j, type, "response.reasoning_summary_text.delta") || is(j, type, "response.reasoning_text.delta")) {
		delta(a, j, PART_THINKING);
	} else if (is(j, type, "response.function_call_arguments.delta")) {
		delta(a, j, PART_CALL);
	} else if (is(j, type, "response.refusal.delta")) {
		a->refused = true;
		delta(a, j, PART_TEXT);
	} else if (is(j, type, "response.output_item.added") || is(j, type, "response.output_item.done")) {
		item(a, j, is(j, type, "response.output_item.done"));
	} else if (is(j, type, "response.function_call_arguments.done")) {
		struct part *p = find(a, j);
		if (p && p->kind == PART_CALL && !p->done)
			arguments(a, p->call, j, json_get(j, 0, "arguments"));
	} else if (is(j, type, "response.completed") || is(j, type, "response.done")) {
		response(a, j, r, "completed");
	} else if (is(j, type, "response.incomplete")) {
		response(a, j, r, "incomplete");
	} else if (is(j, type, "response.failed")) {
		response(a, j, r, "failed");
	} else if (is(j, type, "response.cancelled")) {
		response(a, j, r, "cancelled");
	} else if (is(j, type, "response.created") || is(j, type, "response.in_progress")) {
		response(a, j, r, NULL);
	} else if (is(j, type, "error") || json_type(j, json_get(j, 0, "error")) > JSON_NULL) {
		build_error(a, j, 0, true);
	} else if (json_type(j, type) != JSON_STRING && json_type(j, json_get(j, 0, "output")) == JSON_ARRAY) {
		responses_whole(a, j);        /* events of hosted shells have an output, too */
	}
}

void responses_whole(struct answer *a, const struct json *j)
{
	int list = json_get(j, 0, "output"), word = json_get(j, 0, "status");
	if (json_type(j, list) != JSON_ARRAY && json_type(j, word) != JSON_STRING) {
		if (json_type(j, json_get(j, 0, "error")) > JSON_NULL) {
			build_error(a, j, 0, false);
			return;
		}
		/* an answer of another API, without a status: it says nothing here, and that it is all */
		if (json_type(j, json_get(j, 0, "choices")) != JSON_ARRAY) {
			build_fail(a, "protocol", "the answer has no output");
			return;
		}
	}
	response(a, j, 0, NULL);
	output(a, j, list);
	status(a, j, 0, NULL);
}

void responses_end(struct answer *a)
{
	if (a->terminal && !a->error.set)
		responses_blocks(a);
}

/* wire_openai_responses_items.c - the items of an answer that their maker wants to see again.
 *
 * With store: false the provider keeps nothing: reasoning (encrypted or plain), phases of messages, compaction and the items of
 * tools that it runs itself live in our history or nowhere. An answer of nothing but text and calls needs none of it.
 * https://platform.openai.com/docs/guides/reasoning */
#include <string.h>

#include "llm/wires.h"

/* Is there anything that cannot be rebuilt from text and calls? */
static bool special(struct answer *a, const struct part *p)
{
	if (!p->done || p->kind == PART_CALL)
		return false;
	if (p->kind != PART_TEXT)
		return true;
	if (json_parse(&a->json, p->raw.p, p->raw.len, NULL) < 0)
		return false;
	return json_strlen(&a->json, json_get(&a->json, 0, "phase")) > 0;
}

static void put_call(struct answer *a, const struct call *c, struct jw *w)
{
	struct json in = JSON_INIT;
	buf_clear(&a->mended);
	json_repair(&a->mended, c->args.p, c->args.len);
	bool ok = json_parse(&in, a->mended.p, a->mended.len, NULL) == 0 && json_type(&in, 0) == JSON_OBJECT;
	jw_kstrn(w, "call_id", c->id.p, c->id.len);
	jw_kstr(w, "arguments", ok ? a->mended.p : "{}");
	json_free(&in);
}

/* A call as it came, under the id that we know it by. */
static void put_function(struct answer *a, const struct part *p, struct jw *w)
{
	struct json *j = &a->json;
	const struct call *c = &a->calls[p->call];
	jw_obj(w);
	if (p->done && json_parse(j, p->raw.p, p->raw.len, NULL) == 0 && json_eq(j, json_get(j, 0, "type"), "function_call")) {
		for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
			struct buf key;
			size_t n;
			const char *raw = json_raw(j, it.value, &n);
			buf_init(&key, BUF_NOLIMIT);
			json_str(j, it.key, &key);
			if (!json_eq(j, it.key, "call_id") && !json_eq(j, it.key, "arguments"))
				jw_kraw(w, key.p, raw, n);
			buf_free(&key);
		}
	} else {
		jw_kstr(w, "type", "function_call");
		jw_kstrn(w, "name", c->name.p, c->name.len);
	}
	put_call(a, c, w);
	jw_end(w);
}

static void put_text(const struct part *p, struct jw *w)
{
	jw_obj(w);
	jw_kstr(w, "type", "message");
	jw_kstr(w, "role", "assistant");
	jw_key(w, "content");
	jw_arr(w);
	jw_obj(w);
	jw_kstr(w, "type", "output_text");
	jw_kstrn(w, "text", p->text.p, p->text.len);
	jw_end(w);
	jw_end(w);
	jw_end(w);
}

void responses_blocks(struct answer *a)
{
	bool any = false;
	for (size_t i = 0; i < a->nparts && !any; i++)
		any = special(a, &a->parts[i]);
	if (!any)
		return;
	struct jw w = jw_begin(&a->blocks);
	jw_arr(&w);
	for (size_t i = 0; i < a->nparts; i++) {
		const struct part *p = &a->parts[i];
		if (p->kind == PART_CALL && p->call >= 0)
			put_function(a, p, &w);
		else if (p->done)
			jw_raw(&w, p->raw.p, p->raw.len);
		else if (p->kind == PART_TEXT && p->text.len > 0)
			put_text(p, &w);
	}
	jw_end(&w);
}

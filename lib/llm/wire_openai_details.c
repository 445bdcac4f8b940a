/* wire_openai_details.c - reasoning_details, the form in which OpenRouter and other gateways hand on signed or
 * encrypted thoughts. https://openrouter.ai/docs/use-cases/reasoning-tokens : pieces are joined by index and type,
 * and the array goes back unchanged with the assistant's message. */
#include <string.h>

#include "llm/wires.h"

static const char *const grows[] = { "text", "summary", "data" };

static struct part *find(struct answer *a, const struct json *j, int v, int64_t index)
{
	int type = json_get(j, v, "type"), id = json_get(j, v, "id");
	for (size_t i = a->nparts; i-- > 0;) {
		struct part *p = &a->parts[i];
		/* cites holds the id, raw the type: see begin() */
		if (p->index != index || !json_eq(j, type, p->raw.p))
			continue;
		if (json_strlen(j, id) > 0 && p->cites.len > 0 && !json_eq(j, id, p->cites.p))
			continue;
		return p;
	}
	return NULL;
}

static struct part *begin(struct answer *a, const struct json *j, int v, int64_t index)
{
	struct part *p = build_part(a, PART_OTHER, index);
	if (!p)
		return NULL;
	json_str(j, json_get(j, v, "type"), &p->raw);
	build_str(&p->cites, j, json_get(j, v, "id"));
	return p;
}

/* sig collects the finished element: its other members first. */
static void others(struct part *p, const struct json *j, int v)
{
	for (struct json_iter it = json_iter(j, v); json_next(&it);) {
		size_t nk, nv;
		bool text = false;
		for (size_t i = 0; i < sizeof grows / sizeof *grows; i++)
			text |= json_eq(j, it.key, grows[i]) && json_type(j, it.value) == JSON_STRING;
		const char *key = json_raw(j, it.key, &nk);
		const char *value = json_raw(j, it.value, &nv);
		if (text || json_type(j, it.value) == JSON_NULL)
			continue;
		if (memmem(p->sig.p, p->sig.len, key, nk))       /* said before */
			continue;
		if (p->sig.len > 0)
			buf_addc(&p->sig, ',');
		buf_add(&p->sig, key, nk);
		buf_addc(&p->sig, ':');
		buf_add(&p->sig, value, nv);
	}
}

void chat_details(struct answer *a, const struct json *j, int list, bool said)
{
	int64_t index = 0;
	for (struct json_iter it = json_iter(j, list); json_next(&it); index++) {
		int v = it.value;
		if (json_type(j, v) != JSON_OBJECT)
			continue;
		json_i64(j, json_get(j, v, "index"), &index);
		struct part *p = find(a, j, v, index);
		if (!p)
			p = begin(a, j, v, index);
		if (!p)
			return;
		others(p, j, v);
		for (size_t i = 0; i < sizeof grows / sizeof *grows; i++)
			json_str(j, json_get(j, v, grows[i]), &p->text);
		if (said) {
			build_think(a, j, json_get(j, v, "text"));
			build_think(a, j, json_get(j, v, "summary"));
		}
	}
}

static void put(const struct part *p, struct jw *w)
{
	const char *key = strstr(p->raw.p, "encrypted") ? "data" : strstr(p->raw.p, "summary") ? "summary" : "text";
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	buf_addc(&b, '{');
	buf_add(&b, p->sig.p, p->sig.len);
	if (p->text.len > 0) {
		buf_addf(&b, "%s\"%s\":\"", p->sig.len ? "," : "", key);
		jw_escape(&b, p->text.p, p->text.len);
		buf_addc(&b, '"');
	}
	buf_addc(&b, '}');
	jw_raw(w, b.p, b.len);
	buf_free(&b);
}

/* blocks: objects whose members go back on the assistant's message. */
void chat_blocks(struct answer *a)
{
	bool thought = a->thought_in && a->nparts == 0 && a->ncalls > 0 && a->thinking.len > 0;
	if (a->nparts == 0 && a->echo.len == 0 && !thought)
		return;
	struct jw w = jw_begin(&a->blocks);
	jw_arr(&w);
	jw_obj(&w);
	if (a->nparts > 0) {
		jw_key(&w, "reasoning_details");
		jw_arr(&w);
		for (size_t i = 0; i < a->nparts; i++)
			put(&a->parts[i], &w);
		jw_end(&w);
	} else if (thought) {
		jw_kstrn(&w, a->thought_in, a->thinking.p, a->thinking.len);
	}
	if (a->echo.len > 0)
		jw_kraw(&w, "extra_content", a->echo.p, a->echo.len);
	jw_end(&w);
	jw_end(&w);
}

#include "agent/heal_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "json/jw.h"

enum { NAME_BYTES = 64 };   /* OpenAI's limit of a function's name, the strictest */

static const char no_result[] = "interrupted: no result was recorded";

/* An id that no call bears yet, out of the one that came: "call_0" becomes "call_0_2". Letters, digits, _ and - are what
 * every provider takes, and 64 bytes what the strictest take (OpenAI's tool_call_id). */
static char *fresh_id(struct heal *h, const char *came)
{
	size_t n = strlen(came), keep_n = n > 48 ? 48 : n;
	char id[64 + 24];
	struct heal_entry *e;

	while (keep_n > 0 && keep_n < n && ((unsigned char)came[keep_n] & 0xc0) == 0x80)
		keep_n--;
	do {
		struct heal_entry *of = heal_map_put(&h->ids, came, keep_n);
		of->count++;
		snprintf(id, sizeof id, "%.*s_%lu", (int)(n ? keep_n : 4), n ? came : "call", of->count + (n ? 1UL : 0UL));
		e = heal_map_put(&h->ids, id, strlen(id));
	} while (e->used);
	e->used = true;
	h->report.ids++;
	return xstrdup(id);
}

/* Takes the call's id into the table and gives it one of its own. */
static void register_call(struct heal *h, struct heal_call *c)
{
	struct heal_entry *e = heal_map_put(&h->ids, c->came, strlen(c->came));

	if (e->stamp != h->stamp || !e->open)
		e->open = c;
	else
		e->last->next_same = c;
	e->last = c;
	e->stamp = h->stamp;
	if (e->used || !*c->came) {
		c->id = fresh_id(h, c->came);
	} else {
		e->used = true;
		c->id = c->came;
	}
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* What every provider takes as a function's name, to be freed; NULL if the one at v is such. */
static char *mended_name(const struct json *j, int v)
{
	char *name = json_dup(j, v);
	bool bad = false;

	if (!name || !*name) {
		free(name);
		return xstrdup("unknown");
	}
	for (char *p = name; *p; p++)
		if (!name_char(*p)) {
			*p = '_';
			bad = true;
		}
	if (strlen(name) > NAME_BYTES) {
		name[NAME_BYTES] = 0;
		bad = true;
	}
	if (bad)
		return name;
	free(name);
	return NULL;
}

static bool input_ok(const struct json *j, int v)
{
	return json_type(j, v) == JSON_OBJECT || json_type(j, v) == JSON_STRING;
}

/* Writes one call to h->calls, with what has to be replaced. True if something was. */
static bool write_call(struct heal *h, const struct json *j, int v, const struct heal_call *c)
{
	char *name = mended_name(j, json_get(j, v, "name"));
	bool ok_in = input_ok(j, json_get(j, v, "input"));
	struct jw w = jw_begin(&h->calls);

	if (name || !ok_in)
		h->report.calls++;
	jw_obj(&w);
	jw_kstr(&w, "id", c->id);
	if (name)
		jw_kstr(&w, "name", name);
	for (struct json_iter it = json_iter(j, v); json_next(&it);) {
		size_t kn, vn;
		const char *k = json_raw(j, it.key, &kn), *raw = json_raw(j, it.value, &vn);
		if (json_eq(j, it.key, "id") || (name && json_eq(j, it.key, "name")) || (!ok_in && json_eq(j, it.key, "input")))
			continue;
		buf_addc(&h->calls, ',');
		buf_add(&h->calls, k, kn);
		buf_addc(&h->calls, ':');
		buf_add(&h->calls, raw, vn);
	}
	if (!ok_in)
		jw_kraw(&w, "input", "{}", 2);
	jw_end(&w);
	bool changed = name || !ok_in || c->id != c->came;
	free(name);
	return changed;
}

/* The calls of an assistant message into g; true if its tool_calls must be replaced by h->calls. */
bool heal_calls_take(struct heal *h, const struct json *j, struct heal_group *g, bool *mended)
{
	int v = json_get(j, 0, "tool_calls");
	bool changed = v >= 0 && json_type(j, v) != JSON_ARRAY;
	int n = json_type(j, v) == JSON_ARRAY ? json_count(j, v) : 0;

	buf_clear(&h->calls);
	buf_addc(&h->calls, '[');
	h->stamp++;
	g->calls = n ? xcalloc((size_t)n, sizeof *g->calls) : NULL;
	if (n)
		for (struct json_iter it = json_iter(j, v); json_next(&it);) {
			if (json_type(j, it.value) != JSON_OBJECT) {
				changed = true;
				h->report.calls++;
				continue;
			}
			struct heal_call *c = &g->calls[g->ncalls++];
			c->came = json_dup(j, json_get(j, it.value, "id"));
			if (!c->came)
				c->came = xstrdup("");
			register_call(h, c);
			if (g->ncalls > 1)
				buf_addc(&h->calls, ',');
			*mended |= write_call(h, j, it.value, c);
		}
	buf_addc(&h->calls, ']');
	return changed || *mended;
}

/* The call that a result with this id belongs to; NULL if none waits for it. */
struct heal_call *heal_call_find(struct heal *h, const char *id, bool *known)
{
	struct heal_entry *e = heal_map_get(&h->ids, id, strlen(id));
	struct heal_group *g = h->assistant;

	*known = e && e->last;
	if (e && e->open) {
		struct heal_call *c = e->open;
		while (c && c->result.line)
			c = c->next_same;
		e->open = c ? c->next_same : NULL;
		return c;
	}
	if (*id || !g)
		return NULL;
	/* The result came without an id although the call had one: the first call that waits. */
	while (g->open < g->ncalls && g->calls[g->open].result.line)
		g->open++;
	if (g->open == g->ncalls)
		return NULL;
	struct heal_call *c = &g->calls[g->open];
	e = heal_map_get(&h->ids, c->came, strlen(c->came));
	if (e && e->open == c)
		e->open = c->next_same;
	return c;
}

void heal_call_close(struct heal *h, struct heal_call *c)
{
	struct heal_entry *e = heal_map_get(&h->ids, c->came, strlen(c->came));

	if (e && e->open == c)
		e->open = NULL;
	buf_clear(&h->line);
	struct jw w = jw_begin(&h->line);
	jw_obj(&w);
	jw_kstr(&w, "role", "tool");
	jw_kstr(&w, "tool_call_id", c->id);
	jw_kstr(&w, "content", no_result);
	jw_kbool(&w, "is_error", true);
	jw_kstr(&w, "origin", "claws");
	jw_end(&w);
	held_set(h, &c->result, h->line.p, h->line.len);
	h->report.closed++;
}

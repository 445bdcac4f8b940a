/* wire_openai_calls.c - which call does a piece of tool_calls belong to? Servers disagree about index, id and name:
 * the index is missing, or 0 for each of several calls, or the tail has another one than the head; ids are empty, or
 * repeated with every piece, or the same for two calls; names come once or always.
 *
 * The rules, in this order: a known id is that call (unless a call of that id is whole and another index and a name
 * come with it); a new id with a name opens a call; a known index is that call unless another name comes; a name
 * opens a call; what has none of them goes on with the last call that is not whole. */
#include <string.h>

#include "llm/wires.h"

struct piece {
	const struct json *j;
	int id, name, args;
	int64_t index;
	bool has_id, has_name, has_args;
};

static bool same(const struct buf *b, const struct piece *p, int v)
{
	return json_eq(p->j, v, b->p);
}

/* Of several with that id the one of this index, else the last. */
static int by_id(const struct answer *a, const struct piece *p)
{
	int last = -1;

	for (size_t i = a->ncalls; i-- > 0;) {
		if (!same(&a->calls[i].raw_id, p, p->id))
			continue;
		if (a->calls[i].index == p->index)
			return (int)i;
		if (last < 0)
			last = (int)i;
	}
	return last;
}

static int by_index(const struct answer *a, int64_t index)
{
	for (size_t i = a->ncalls; index >= 0 && i-- > 0;)
		if (a->calls[i].index == index)
			return (int)i;
	return -1;
}

static int last_open(const struct answer *a)
{
	for (size_t i = a->ncalls; i-- > 0;)
		if (!a->calls[i].whole)
			return (int)i;
	return -1;
}

/* Does a piece with a name begin another call than c? */
static bool another(const struct call *c, const struct piece *p)
{
	if (!p->has_name || c->name.len == 0)
		return false;
	if (!same(&c->name, p, p->name))
		return true;
	return c->whole && p->has_args;
}

static int open_call(struct answer *a, const struct piece *p)
{
	return build_call(a, p->index, p->j, p->id, p->name);
}

static int slot(struct answer *a, const struct piece *p)
{
	int at = p->has_id ? by_id(a, p) : -1;
	if (at >= 0) {
		const struct call *c = &a->calls[at];
		bool moved = p->index >= 0 && c->index >= 0 && p->index != c->index && by_index(a, p->index) < 0;
		if (p->has_name && c->whole && (moved || (p->has_args && p->index < 0)))
			return open_call(a, p);
		return p->has_name && moved && !c->whole && !same(&c->name, p, p->name) ? open_call(a, p) : at;
	}
	if (p->has_id && p->has_name)
		return open_call(a, p);
	at = by_index(a, p->index);
	if (at >= 0)
		return another(&a->calls[at], p) ? open_call(a, p) : at;
	if (p->has_name) {
		at = a->ncalls && p->index < 0 && !p->has_id ? (int)a->ncalls - 1 : -1;
		/* the name is repeated with a further piece of the same call */
		if (at >= 0 && !a->calls[at].whole && a->calls[at].args.len > 0 && same(&a->calls[at].name, p, p->name))
			return at;
		return open_call(a, p);
	}
	if (p->has_id && (p->index >= 0 || a->ncalls == 0))
		return open_call(a, p);              /* its name may come later */
	return last_open(a);
}

static void piece(struct answer *a, const struct json *j, int v)
{
	int f = json_get(j, v, "function");
	struct piece p = { j, json_get(j, v, "id"), json_get(j, f, "name"), json_get(j, f, "arguments"), -1, 0, 0, 0 };
	json_i64(j, json_get(j, v, "index"), &p.index);
	p.has_id = json_strlen(j, p.id) > 0;
	p.has_name = json_strlen(j, p.name) > 0;
	p.has_args = json_strlen(j, p.args) > 0 || json_type(j, p.args) == JSON_OBJECT;
	if (!p.has_id && !p.has_name && !p.has_args && by_index(a, p.index) < 0)
		return;
	int at = slot(a, &p);
	if (at < 0) {
		if (p.has_args && a->ncalls < ANSWER_CALLS)
			build_fail(a, "protocol", "a piece of a tool call belongs to no call");
		return;
	}
	struct call *c = &a->calls[at];
	build_name(a, at, j, p.name);
	if (json_type(j, p.args) != JSON_OBJECT || c->args.len == 0)
		build_args(a, at, j, p.args);
	int extra = json_get(j, v, "extra_content");
	if (json_type(j, extra) == JSON_OBJECT) {
		buf_clear(&c->extra);
		json_compact(&c->extra, j, extra);
	}
}

void chat_calls(struct answer *a, const struct json *j, int list)
{
	if (json_type(j, list) == JSON_OBJECT)
		piece(a, j, list);
	else if (json_type(j, list) == JSON_ARRAY)
		for (struct json_iter it = json_iter(j, list); json_next(&it);)
			piece(a, j, it.value);
}

/* The form of 2023, without ids. Snowflake sends it empty in every answer. */
void chat_legacy_call(struct answer *a, const struct json *j, int v)
{
	int name = json_get(j, v, "name"), args = json_get(j, v, "arguments");
	if (json_strlen(j, name) == 0 && (json_strlen(j, args) == 0 || a->ncalls == 0))
		return;
	int at = a->ncalls ? (int)a->ncalls - 1 : -1;
	if (at < 0)
		at = build_call(a, -1, j, -1, name);
	build_args(a, at, j, args);
}

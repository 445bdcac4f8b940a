#include "llm/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

bool build_str(struct buf *b, const struct json *j, int v)
{
	size_t n;
	const char *raw = json_raw(j, v, &n);
	enum json_type t = json_type(j, v);
	if ((t != JSON_STRING && t != JSON_NUMBER) || (t == JSON_STRING && n <= 2))
		return false;
	buf_clear(b);
	if (t == JSON_STRING)
		json_str(j, v, b);
	else
		buf_add(b, raw, n);
	return true;
}

void build_count(int64_t *n, const struct json *j, int v)
{
	int64_t got;
	if (json_i64(j, v, &got) == 0 && got >= 0)
		*n = got;
}

static bool id_used(const struct answer *a, const struct call *c)
{
	for (size_t i = 0; i < a->ncalls; i++)
		if (&a->calls[i] != c && strcmp(a->calls[i].id.p, c->id.p) == 0)
			return true;
	return false;
}

/* Some servers give none, or the same to each: both break every later request. */
static void give_id(struct answer *a, struct call *c)
{
	buf_add(&c->id, c->raw_id.p, c->raw_id.len);
	if (a->sink.rename)
		a->sink.rename(a->arg, &c->id);
	for (size_t n = a->ncalls; c->id.len == 0 || id_used(a, c); n++) {
		buf_clear(&c->id);
		buf_addf(&c->id, "call_%zu", n);
	}
}

/* The sink hears of a call when its name is known. */
static void tell(struct answer *a, int i, const char *args, size_t n)
{
	struct call *c = &a->calls[i];
	if (c->name.len == 0 || (c->told && n == 0))
		return;
	a->heard = true;
	if (a->sink.call && c->told)
		a->sink.call(a->arg, i, NULL, NULL, args, n);
	else if (a->sink.call)
		a->sink.call(a->arg, i, c->id.p, c->name.p, c->args.p, c->args.len);
	c->told = true;
}

int build_call(struct answer *a, int64_t index, const struct json *j, int id, int name)
{
	if (a->ncalls == ANSWER_CALLS) {
		build_fail(a, "protocol", "the answer has too many tool calls");
		return -1;
	}
	if (a->ncalls == a->capcalls) {
		a->capcalls = a->capcalls ? 2 * a->capcalls : 4;
		a->calls = xrealloc(a->calls, a->capcalls, sizeof *a->calls);
	}
	int i = (int)a->ncalls++;
	struct call *c = &a->calls[i];
	memset(c, 0, sizeof *c);
	c->index = index;
	buf_init(&c->id, 1024);
	buf_init(&c->raw_id, 1024);
	buf_init(&c->name, 1024);
	buf_init(&c->args, ANSWER_MAX);
	buf_init(&c->extra, ANSWER_MAX);
	build_str(&c->raw_id, j, id);
	build_str(&c->name, j, name);
	give_id(a, c);
	tell(a, i, "", 0);
	return i;
}

void build_name(struct answer *a, int call, const struct json *j, int name)
{
	if (call < 0 || a->calls[call].name.len > 0)
		return;
	build_str(&a->calls[call].name, j, name);
	tell(a, call, "", 0);
}

/* Follows brackets and strings, so that whether the text is whole is known without reading it again. */
static void follow(struct call *c, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (c->escaped)
			c->escaped = false;
		else if (c->in_string)
			c->in_string = s[i] != '"', c->escaped = s[i] == '\\';
		else if (s[i] == '"')
			c->in_string = true;
		else if (s[i] == '{' || s[i] == '[')
			c->depth++;
		else if ((s[i] == '}' || s[i] == ']') && --c->depth <= 0)
			c->whole = true;
	}
}

void build_args(struct answer *a, int call, const struct json *j, int v)
{
	if (call < 0)
		return;
	struct call *c = &a->calls[call];
	size_t before = c->args.len;
	if (json_type(j, v) == JSON_STRING)
		json_str(j, v, &c->args);
	else if (json_type(j, v) > JSON_NULL)
		json_compact(&c->args, j, v);
	size_t n = c->args.len - before;
	a->args_total += n;
	if (c->args.over || a->args_total > ANSWER_MAX)
		build_fail(a, "protocol", "the arguments of the tool calls are too long");
	follow(c, c->args.p + before, n);
	tell(a, call, c->args.p + before, n);
}

struct part *build_part(struct answer *a, enum part_kind kind, int64_t index)
{
	if (a->nparts == (size_t)64 << 10) {
		build_fail(a, "protocol", "the answer has too many blocks");
		return NULL;
	}
	if (a->nparts == a->capparts) {
		a->capparts = a->capparts ? 2 * a->capparts : 8;
		a->parts = xrealloc(a->parts, a->capparts, sizeof *a->parts);
	}
	struct part *p = &a->parts[a->nparts++];
	memset(p, 0, sizeof *p);
	p->kind = kind;
	p->index = index;
	p->call = -1;
	buf_init(&p->raw, ANSWER_MAX);
	buf_init(&p->text, ANSWER_MAX);
	buf_init(&p->sig, ANSWER_MAX);
	buf_init(&p->cites, ANSWER_MAX);
	return p;
}

void part_free(struct part *p)
{
	buf_free(&p->raw);
	buf_free(&p->text);
	buf_free(&p->sig);
	buf_free(&p->cites);
}

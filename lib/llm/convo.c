#include "llm/convo.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"

void convo_init(struct convo *c, const struct wire *wire, const char *maker)
{
	memset(c, 0, sizeof *c);
	c->wire = wire;
	c->maker = xstrdup(maker);
	buf_init(&c->messages, CONVO_MAX);
	buf_init(&c->system, CONVO_MAX);
	buf_init(&c->tools, CONVO_MAX);
	buf_init(&c->pending, CONVO_MAX);
	buf_init(&c->final, CONVO_MAX);
	buf_init(&c->open, CONVO_MAX);
}

void convo_forget_calls(struct convo *c)
{
	for (size_t i = 0; i < c->ncalls; i++) {
		free(c->calls[i].id);
		free(c->calls[i].name);
		free(c->calls[i].own);
	}
	free(c->calls);
	c->calls = NULL;
	c->ncalls = 0;
}

void convo_free(struct convo *c)
{
	convo_forget_calls(c);
	free(c->maker);
	struct buf *all[] = { &c->messages, &c->system, &c->tools, &c->pending, &c->final, &c->open };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buf_free(all[i]);
	set_free(&c->ids);
}

void convo_reset(struct convo *c)
{
	convo_forget_calls(c);
	buf_clear(&c->messages);
	buf_clear(&c->pending);
	buf_clear(&c->final);
	buf_clear(&c->open);
	c->nmessages = 0;
	c->has_final = c->no_thinking = false;
	c->last_at = c->mark_at = c->mark_before = c->results_at = 0;
	c->last = CONVO_NONE;
	/* ids stay: what was once used in a session is not used again */
}

/* A set of ids as text: NUL id NUL id NUL. */
static char *find_id(const struct buf *set, const char *id, size_t n)
{
	char *p = set->p, *end = set->p + set->len;
	while (p < end) {
		char *at = memmem(p, (size_t)(end - p), id, n + 1);
		if (!at)
			return NULL;
		if (at > set->p && at[-1] == 0)
			return at;
		p = at + 1;
	}
	return NULL;
}

static void add_id(struct buf *set, const char *id)
{
	if (set->len == 0)
		buf_addc(set, 0);
	buf_add(set, id, strlen(id) + 1);
}

bool convo_has_id(const struct convo *c, const char *id)
{
	return set_has(&c->ids, id, strlen(id));
}

static void note_calls(struct convo *c, const struct json *j)
{
	buf_clear(&c->open);
	int calls = json_get(j, 0, "tool_calls");
	if (json_type(j, calls) != JSON_ARRAY)
		return;
	for (struct json_iter it = json_iter(j, calls); json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id"));
		if (id && *id && !find_id(&c->open, id, strlen(id))) {
			add_id(&c->open, id);
			set_add(&c->ids, id, strlen(id));
		}
		free(id);
	}
}

/* A result that nobody waits for makes the provider refuse the whole conversation. */
static bool awaited(struct convo *c, const struct json *j)
{
	char *id = json_dup(j, json_get(j, 0, "tool_call_id"));
	size_t n = id ? strlen(id) : 0;
	char *at = n > 0 ? find_id(&c->open, id, n) : NULL;
	free(id);
	if (!at) {
		c->dropped++;
		return false;
	}
	size_t from = (size_t)(at - c->open.p);
	memmove(at, at + n + 1, c->open.len - from - n - 1);
	buf_truncate(&c->open, c->open.len - n - 1);
	return true;
}

static void set_system(struct convo *c, const struct json *j)
{
	buf_clear(&c->system);
	json_str(j, json_get(j, 0, "content"), &c->system);
}

static int add(struct convo *c, const struct json *j, enum msg_kind kind, struct err *e)
{
	if (kind == MSG_TOOL && !awaited(c, j))
		return 0;
	if (kind == MSG_ASSISTANT)
		note_calls(c, j);
	if (c->wire->add(c, j, e) < 0)
		return -1;
	if (c->messages.over || c->pending.over)
		return err_set(e, ST_DATA, "the conversation is larger than %zu MiB", CONVO_MAX >> 20);
	return 0;
}

int convo_add(struct convo *c, const struct json *line, struct err *e)
{
	enum msg_kind kind = msg_kind(line);
	switch (kind) {
	case MSG_SYSTEM: case MSG_TOOLS: case MSG_USER: case MSG_ASSISTANT: case MSG_TOOL:
		break;
	default:
		return 0;
	}
	if (msg_check(line, e) < 0)
		return -1;
	if (kind == MSG_SYSTEM) {
		set_system(c, line);
		return 0;
	}
	if (kind == MSG_TOOLS) {
		buf_clear(&c->tools);
		return c->wire->tools(c, line, json_get(line, 0, "tools"), e);
	}
	return add(c, line, kind, e);
}

#include "llm/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "llm/schema_plain.h"

int request_add(struct convo *c, const struct json *message, request_adder *user, request_adder *assistant, request_adder *tool)
{
	enum msg_kind kind = msg_kind(message);
	request_adder *add = kind == MSG_USER ? user : kind == MSG_ASSISTANT ? assistant : kind == MSG_TOOL ? tool : NULL;

	if (add)
		add(c, message);
	return 0;
}

int request_blocks(const struct convo *c, const struct json *j)
{
	int blocks = json_get(j, 0, "blocks");
	if (!json_eq(j, json_get(j, blocks, "maker"), c->maker))
		return -1;
	int list = json_get(j, blocks, "list");
	return json_type(j, list) == JSON_ARRAY && json_count(j, list) > 0 ? list : -1;
}

char *request_name(const struct json *j, int call)
{
	char *name = json_dup(j, json_get(j, call, "name"));

	if (name && *name)
		return name;
	free(name);
	return xstrdup("unknown");
}

void request_note_calls(struct convo *c, const struct json *j)
{
	int calls = json_get(j, 0, "tool_calls");

	convo_forget_calls(c);
	for (struct json_iter it = json_iter(j, calls); json_type(j, calls) == JSON_ARRAY && json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id"));

		c->calls = xrealloc(c->calls, c->ncalls + 1, sizeof *c->calls);
		c->calls[c->ncalls++] = (struct convo_call){ .id = id ? id : xstrdup(""), .name = request_name(j, it.value) };
	}
}

struct convo_call *request_called(const struct convo *c, const struct json *j)
{
	for (size_t i = 0; i < c->ncalls; i++)
		if (json_eq(j, json_get(j, 0, "tool_call_id"), c->calls[i].id))
			return &c->calls[i];
	return NULL;
}

size_t request_trim(const char *s, size_t n)
{
	while (n > 0 && s[n - 1] && strchr(" \t\r\n\f\v", s[n - 1]))
		n--;
	return n;
}

void request_input(struct jw *w, const struct json *j, int input)
{
	struct buf b;
	if (json_type(j, input) != JSON_OBJECT) {
		jw_raw(w, "{}", 2);
		return;
	}
	buf_init(&b, BUF_NOLIMIT);
	json_compact(&b, j, input);
	jw_raw(w, b.p, b.len);
	buf_free(&b);
}

#define ID_BYTES ((size_t)48)

void request_id(struct jw *w, const char *key, const struct json *j, int v)
{
	struct buf id;
	char digest[SHA256_HEX];
	bool other;
	buf_init(&id, BUF_NOLIMIT);
	json_str(j, v, &id);
	sha256_hex(digest, id.p, id.len);
	other = id.len > ID_BYTES;
	for (size_t i = 0; i < id.len; i++)
		if (!id.p[i] || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", id.p[i])) {
			id.p[i] = '_';
			other = true;
		}
	if (other) {
		if (id.len > ID_BYTES)
			buf_truncate(&id, ID_BYTES);
		buf_addf(&id, "_%.12s", digest);
	}
	jw_kstrn(w, key, id.p, id.len);
	buf_free(&id);
}

void request_schema(struct jw *w, const struct json *j, int schema, uint64_t quirks)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	if (quirks & QUIRK_PLAIN_SCHEMA) {
		schema_plain(&b, j, schema);
		jw_raw(w, b.p, b.len);
		buf_free(&b);
		return;
	}
	jw_obj(w);
	jw_kstr(w, "type", "object");
	if (json_type(j, schema) != JSON_OBJECT || json_type(j, json_get(j, schema, "properties")) != JSON_OBJECT)
		jw_kraw(w, "properties", "{}", 2);
	for (struct json_iter it = json_iter(j, schema); json_type(j, schema) == JSON_OBJECT && json_next(&it);) {
		static const char *const skip[] = { "type", "oneOf", "anyOf", "allOf", "$schema", "$id" };
		bool no = json_eq(j, it.key, "properties") && json_type(j, it.value) != JSON_OBJECT;
		for (size_t i = 0; i < sizeof skip / sizeof *skip; i++)
			no |= json_eq(j, it.key, skip[i]);
		if (no)
			continue;
		char *key = json_dup(j, it.key);
		buf_clear(&b);
		json_compact(&b, j, it.value);
		jw_kraw(w, key, b.p, b.len);
		free(key);
	}
	jw_end(w);
	buf_free(&b);
}

/* Has the object that is being written a member that begins so: "key":? */
static bool has_member(const struct buf *b, const struct buf *key)
{
	int depth = 0;
	for (size_t i = 0; i < b->len; i++) {
		char ch = b->p[i];
		if (ch == '"' && depth == 1 && b->len - i >= key->len && memcmp(b->p + i, key->p, key->len) == 0)
			return true;
		if (ch == '"')
			for (i++; i < b->len && b->p[i] != '"'; i++)
				i += b->p[i] == '\\';
		else if (ch == '{' || ch == '[')
			depth++;
		else if (ch == '}' || ch == ']')
			depth--;
	}
	return false;
}

int request_extra(struct jw *w, const struct call_options *o, struct err *e)
{
	struct json j = JSON_INIT;
	struct buf all, value;
	if (!o->extra || !*o->extra)
		return 0;
	buf_init(&all, BUF_NOLIMIT);
	buf_init(&value, BUF_NOLIMIT);
	buf_addf(&all, "{%s}", o->extra);
	int r = json_parse(&j, all.p, all.len, e);
	if (r < 0)
		err_wrap(e, "further members of the request");
	for (struct json_iter it = json_iter(&j, 0); r == 0 && json_next(&it);) {
		char *key = json_dup(&j, it.key);
		buf_clear(&value);
		struct jw k = jw_begin(&value);
		jw_strn(&k, key, strlen(key));
		buf_addc(&value, ':');
		if (!has_member(w->b, &value)) {             /* what was asked for with an option stands */
			buf_clear(&value);
			json_compact(&value, &j, it.value);
			jw_kraw(w, key, value.p, value.len);
		}
		free(key);
	}
	json_free(&j);
	buf_free(&all);
	buf_free(&value);
	return r;
}

void request_message(struct convo *c)
{
	if (c->messages.len > 0)
		buf_addc(&c->messages, ',');
	c->last_at = c->messages.len;
	c->has_final = false;
	c->nmessages++;
}

static void put(struct buf *out, const struct convo *c, size_t *from, size_t to)
{
	buf_add(out, c->messages.p + *from, to - *from);
	*from = to;
}

void request_messages(struct jw *w, const char *key, const struct convo *c, const struct buf *before, const char *mark)
{
	size_t at = 0, end = c->has_final ? c->last_at : c->messages.len;
	jw_key(w, key);
	jw_arr(w);
	struct buf *out = w->b;
	jw_raw(w, before ? before->p : "", before ? before->len : 0);
	if (before && before->len > 0 && c->messages.len > 0)
		buf_addc(out, ',');
	if (mark && c->mark_before > 0 && c->mark_before < end) {
		put(out, c, &at, c->mark_before);
		buf_adds(out, mark);
	}
	if (mark && c->mark_at > 0 && c->mark_at < end) {
		put(out, c, &at, c->mark_at);
		buf_adds(out, mark);
	}
	if (c->has_final && c->final.len == 0 && end > 0)
		end--;                               /* the comma before a message of nothing but space */
	if (end > at)
		put(out, c, &at, end);
	if (c->has_final)
		buf_add(out, c->final.p, c->final.len);
	if (c->pending.len > 0)
		buf_addf(out, "%s%s]}", out->p[out->len - 1] == '[' ? "" : ",", c->pending.p);
	jw_end(w);
}

void request_into_user(struct convo *c, const struct buf *blocks, bool result)
{
	struct buf *m = &c->messages;

	if (c->last != CONVO_USER) {
		c->mark_before = c->mark_at;
		request_message(c);
		buf_adds(m, "{\"role\":\"user\",\"content\":[");
		c->results_at = m->len;
		buf_adds(m, "]}");
		c->last = CONVO_USER;
	}
	size_t end = m->len - 2, at = result ? c->results_at : end;
	if (m->p[at - 1] != '[')
		buf_insert(m, at++, ",", 1);
	else if (at < end)
		buf_insert(m, at, ",", 1);
	buf_insert(m, at, blocks->p, blocks->len);
	if (result)
		c->results_at = at + blocks->len;
}

void request_tools(struct jw *w, const struct convo *c, const struct call_options *o)
{
	if (c->tools.len == 0 || o->quirks & QUIRK_NO_TOOLS)
		return;
	jw_key(w, "tools");
	jw_arr(w);
	jw_raw(w, c->tools.p, c->tools.len);
	jw_end(w);
}

void request_rest(struct jw *w, const struct convo *c, const struct call_options *o)
{
	struct buf system;

	request_tools(w, c, o);
	buf_init(&system, CONVO_MAX);
	if (c->system.len > 0) {
		struct jw s = jw_begin(&system);

		jw_obj(&s);
		jw_kstr(&s, "role", "system");
		jw_kstrn(&s, "content", c->system.p, c->system.len);
		jw_end(&s);
	}
	request_messages(w, "messages", c, &system, NULL);
	jw_end(w);
	buf_free(&system);
}

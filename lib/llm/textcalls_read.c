/* textcalls_read.c - reads what stands after an opener: one call or several. */
#include <stdio.h>
#include <string.h>

#include "json/json.h"
#include "json/jw.h"
#include "llm/textcalls_int.h"

#define NAME_MAX_LEN 128

struct reader {
	const struct textcalls_out *out;
	struct cursor c;
};

static size_t word_length(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && i <= NAME_MAX_LEN && ((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') ||
	       (p[i] >= '0' && p[i] <= '9') || p[i] == '_' || p[i] == '-' || p[i] == '.'))
		i++;
	return i;
}

static void tell(const struct reader *r, const char *id, size_t nid, const char *name, size_t n, const struct buf *args)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	struct jw w = jw_begin(&b);
	jw_obj(&w);
	if (nid > 0)
		jw_kstrn(&w, "id", id, nid);
	jw_kstrn(&w, "name", name, n);
	jw_kraw(&w, "arguments", args->p, args->len);
	jw_end(&w);
	r->out->call(r->out->arg, b.p, b.len);
	buf_free(&b);
}

static int first(const struct json *j, int v, const char *const *keys)
{
	int at = -1;

	for (size_t i = 0; keys[i] && at < 0; i++)
		at = json_get(j, v, keys[i]);
	return at;
}

/* {"name": NAME, "arguments": {..}}: `check` only says whether it is one. */
static bool envelope(const struct reader *r, const struct json *j, int v, bool check)
{
	static const char *const arguments[] = { "arguments", "args", "parameters", NULL };
	int f = json_get(j, v, "function"), in = json_type(j, f) == JSON_OBJECT ? f : v;
	int name = json_get(j, in, "name"), given = first(j, in, arguments);
	struct json inner = JSON_INIT;
	struct buf text, args, id;
	bool ok;

	if (json_type(j, name) != JSON_STRING)
		name = f;
	buf_init(&text, 1024);
	buf_init(&id, 1024);
	buf_init(&args, BUF_NOLIMIT);
	json_str(j, name, &text);
	json_str(j, json_get(j, v, "id"), &id);
	if (json_type(j, given) == JSON_OBJECT)
		json_compact(&args, j, given);
	else if (given >= 0)
		json_str(j, given, &args);       /* as a text, like OpenAI's */
	else
		buf_adds(&args, "{}");
	ok = text.len > 0 && !text.over && json_parse(&inner, args.p, args.len, NULL) == 0 &&
	     json_type(&inner, 0) == JSON_OBJECT && r->out->offered(r->out->arg, text.p, text.len);
	if (ok && !check)
		tell(r, id.p, id.len, text.p, text.len, &args);
	json_free(&inner);
	buf_free(&text);
	buf_free(&id);
	buf_free(&args);
	return ok;
}

/* An envelope, or a list of nothing but envelopes. */
static bool json_item(struct reader *r)
{
	struct json j = JSON_INIT;
	struct buf b;
	bool ok;

	buf_init(&b, BUF_NOLIMIT);
	size_t from = r->c.at;
	ok = loose_value(&r->c, &b) && json_parse(&j, b.p, b.len, NULL) == 0;
	if (ok && json_type(&j, 0) == JSON_ARRAY) {
		ok = json_count(&j, 0) > 0;
		for (struct json_iter it = json_iter(&j, 0); ok && json_next(&it);)
			ok = envelope(r, &j, it.value, true);
		for (struct json_iter it = json_iter(&j, 0); ok && json_next(&it);)
			envelope(r, &j, it.value, false);
	} else {
		ok = ok && json_type(&j, 0) == JSON_OBJECT && envelope(r, &j, 0, false);
	}
	if (!ok)
		r->c.at = from;
	json_free(&j);
	buf_free(&b);
	return ok;
}

static bool object(struct cursor *c, struct buf *args)
{
	skip_space(c);
	return c->at < c->n && c->p[c->at] == '{' && loose_value(c, args);
}

/* Goes past what stands between a name and its arguments; Mistral has an id there. */
static void between(struct cursor *c, const char **id, size_t *nid)
{
	size_t len;
	bool may;

	for (;;) {
		skip_space(c);
		if (skip(c, "[CALL_ID]")) {
			*id = c->p + c->at;
			*nid = word_length(*id, c->n - c->at);
			c->at += *nid;
		} else if (mark_at(c->p + c->at, c->n - c->at, &len, &may) == MARK_BETWEEN) {
			c->at += len;
		} else {
			return;
		}
	}
}

/* NAME{..} in the forms of Gemma, Mistral, DeepSeek and Kimi. */
static bool name_item(struct reader *r)
{
	struct cursor *c = &r->c;
	size_t from = c->at, start, n, nid = 0;
	const char *id = NULL, *name;
	struct buf args;
	bool ok;

	if (!skip(c, "call:") && skip(c, "function"))
		if (!skip(c, "<｜tool▁sep｜>"))
			c->at = from;
	start = c->at;
	skip(c, "functions.");
	name = c->p + c->at;
	n = word_length(name, c->n - c->at);
	c->at += n;
	if (c->at < c->n && c->p[c->at] == ':') {    /* Kimi: functions.NAME:0 is the id */
		size_t digits = c->at + 1;

		while (digits < c->n && c->p[digits] >= '0' && c->p[digits] <= '9')
			digits++;
		id = c->p + start;
		nid = digits - start;
		c->at = digits;
	}
	buf_init(&args, BUF_NOLIMIT);
	ok = n > 0 && n <= NAME_MAX_LEN && r->out->offered(r->out->arg, name, n);
	if (ok) {
		between(c, &id, &nid);
		ok = object(c, &args);
	}
	if (ok) {
		tell(r, id, nid, name, n, &args);
		skip_space(c);
		skip(c, "```");
	} else {
		c->at = from;
	}
	buf_free(&args);
	return ok;
}

/* The value's end: the tag that is followed by the next parameter or the call's end, for a value may hold the tag itself. */
static const char *value_end(struct cursor *c)
{
	static const char tag[] = "</parameter>";
	const char *s = c->p + c->at, *end = c->p + c->n, *at = s;

	while (at < end && (at = memmem(at, (size_t)(end - at), tag, sizeof tag - 1))) {
		struct cursor after = { at + sizeof tag - 1, (size_t)(end - at) - (sizeof tag - 1), 0, 0 };

		skip_space(&after);
		if (after.at == after.n || skip(&after, "<parameter=") || skip(&after, "</function>") ||
		    skip(&after, "</tool_call>"))
			break;
		at += sizeof tag - 1;
	}
	size_t used = at && at < end ? (size_t)(at - s) : (size_t)(end - s);
	c->work = c->work > used ? c->work - used : 0;
	return c->work > 0 && at && at < end ? at : NULL;
}

/* <parameter=KEY>\nVALUE\n</parameter>. What the schema has as a string is one, whatever it looks like. */
static bool parameters(struct reader *r, const char *tool, size_t ntool, struct buf *args)
{
	struct cursor *c = &r->c;
	struct jw w = jw_begin(args);

	jw_obj(&w);
	for (skip_space(c); skip(c, "<parameter="); skip_space(c)) {
		const char *key = c->p + c->at, *s, *end;
		size_t nkey = word_length(key, c->n - c->at), n;
		struct json j = JSON_INIT;
		char name[NAME_MAX_LEN + 2];

		c->at += nkey;
		if (nkey == 0 || nkey > NAME_MAX_LEN || !skip(c, ">") || !(end = value_end(c)))
			return false;
		s = c->p + c->at;
		n = (size_t)(end - s);
		c->at += n + strlen("</parameter>");
		if (n > 0 && *s == '\n')
			s++, n--;
		if (n > 0 && s[n - 1] == '\n')
			n--;
		snprintf(name, sizeof name, "%.*s", (int)nkey, key);
		if (!r->out->is_string(r->out->arg, tool, ntool, key, nkey) && json_parse(&j, s, n, NULL) == 0)
			jw_kraw(&w, name, s, n);
		else
			jw_kstrn(&w, name, s, n);
		json_free(&j);
	}
	jw_end(&w);
	return true;
}

static bool function_item(struct reader *r)
{
	struct cursor *c = &r->c;
	size_t from = c->at, n;
	struct buf args;
	struct json j = JSON_INIT;
	bool ok;

	if (!skip(c, "<function="))
		return false;
	const char *name = c->p + c->at;
	n = word_length(name, c->n - c->at);
	c->at += n;
	buf_init(&args, BUF_NOLIMIT);
	ok = n > 0 && n <= NAME_MAX_LEN && skip(c, ">") && r->out->offered(r->out->arg, name, n);
	if (ok) {
		size_t body = c->at;

		skip_space(c);
		if (c->at < c->n && c->p[c->at] == '{') {
			ok = object(c, &args);
		} else {
			c->at = body;
			/* a key twice is no object */
			ok = parameters(r, name, n, &args) && json_parse(&j, args.p, args.len, NULL) == 0;
		}
		skip_space(c);
		if (ok && args.len == 2)         /* without arguments it must be closed, or it is only spoken of */
			ok = c->n - c->at >= 11 && memcmp(c->p + c->at, "</function>", 11) == 0;
	}
	if (ok)
		tell(r, NULL, 0, name, n, &args);
	else
		c->at = from;
	json_free(&j);
	buf_free(&args);
	return ok;
}

/* Goes past space, commas and marks: closers, and openers if they are wanted. */
static void skip_marks(struct cursor *c, bool openers)
{
	size_t len;
	bool may;

	for (;;) {
		skip_space(c);
		enum mark m = mark_at(c->p + c->at, c->n - c->at, &len, &may);
		if (m == MARK_CLOSER || (openers && m == MARK_OPENER))
			c->at += len;
		else if (!openers || !skip(c, ","))
			return;
	}
}

size_t textcalls_read(const struct textcalls_out *out, const char *p, size_t n, size_t *work)
{
	struct reader r = { out, { p, n, 0, *work } };
	size_t end = 0;

	for (bool ok = true; ok && r.c.work > 0;) {
		skip_marks(&r.c, true);
		char c = r.c.at < n ? p[r.c.at] : 0;
		ok = c == '{' || c == '[' ? json_item(&r) : c == '<' ? function_item(&r) : name_item(&r);
		if (ok) {
			skip_marks(&r.c, false);
			end = r.c.at;
		}
	}
	*work = r.c.work;
	return end;
}

bool textcalls_hopeless(const struct textcalls_out *out, const char *p, size_t n, bool *sure)
{
	static const char *const words[] = { "call", "function", "functions" };
	struct cursor c = { p, n, 0, 0 };
	size_t len, start;
	bool may, prefix;

	*sure = false;
	skip_marks(&c, true);
	start = c.at;
	if (start > 4096)
		return true;
	if (start == n)
		return false;
	if (p[start] == '{' || p[start] == '[') {
		*sure = mark_at(p + start, n - start, &len, &may) == MARK_NONE && !may;
		return false;
	}
	if (mark_at(p + start, n - start, &len, &may) == MARK_FUNCTION)
		c.at = start += len;
	else if (may)
		return false;
	prefix = skip(&c, "functions.") || skip(&c, "call:");
	start = c.at;
	len = word_length(p + start, n - start);
	if (start + len == n && len <= NAME_MAX_LEN)
		return false;
	for (size_t i = 0; i < 3 && !prefix; i++)
		if (strlen(words[i]) == len && memcmp(p + start, words[i], len) == 0)
			return false;
	*sure = len > 0 && len <= NAME_MAX_LEN && out->offered(out->arg, p + start, len);
	return !*sure;
}

#include "llm/schema_plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/set.h"
#include "json/jw.h"

#define SOURCES 32             /* schemas that are joined into one by $ref and allOf */
#define REFS 64                /* $ref that are being put in place, one in another */

struct plain {
	const struct json *j;
	struct buf *out;
	int root;
	int refs[REFS];        /* targets that are open */
	int nrefs;
	int level, nodes;
};

/* A schema and what it takes over: the first that has a keyword wins. */
struct view {
	int at[SOURCES];
	int n;
	int strict;            /* so many of them may require properties */
	bool nullable, cycle;
};

enum kind { STRING, INTEGER, NUMBER, BOOLEAN, ARRAY, OBJECT, NOTHING, KINDS };
static const char *const kinds[KINDS] = { "string", "integer", "number", "boolean", "array", "object", "null" };

static enum kind kind_of(const struct json *j, int type)
{
	int k = 0;
	while (k < KINDS && !json_eq(j, type, kinds[k]))
		k++;
	return (enum kind)k;
}

/* ---- finding */

static int step(const struct json *j, int v, const char *name, size_t n)
{
	struct buf key;
	int64_t index = 0;
	int found = -1;

	buf_init(&key, BUF_NOLIMIT);
	for (size_t i = 0; i < n; i++) {
		if (name[i] == '~' && i + 1 < n && (name[i + 1] == '0' || name[i + 1] == '1'))
			buf_addc(&key, name[++i] == '0' ? '~' : '/');     /* RFC 6901 section 3 */
		else
			buf_addc(&key, name[i]);
	}
	if (json_type(j, v) == JSON_OBJECT) {
		found = json_get(j, v, key.p);
	} else if (json_type(j, v) == JSON_ARRAY && n > 0 && n < 10 && strspn(key.p, "0123456789") == n) {
		index = strtol(key.p, NULL, 10);
		for (struct json_iter it = json_iter(j, v); json_next(&it) && found < 0;)
			if (index-- == 0)
				found = it.value;
	}
	buf_free(&key);
	return found;
}

/* The target of a $ref within the schema: "#", "#/$defs/x". -1: there is none, or it lies elsewhere. */
static int target(const struct plain *p, int ref)
{
	char *s = json_dup(p->j, ref), *at = s;
	int v = s && *s == '#' ? p->root : -1;

	for (at = at ? at + (*at != 0) : at; v >= 0 && *at;) {
		if (*at != '/') {
			v = -1;
			break;
		}
		size_t n = strcspn(++at, "/");
		v = step(p->j, v, at, n);
		at += n;
	}
	free(s);
	return json_type(p->j, v) == JSON_OBJECT ? v : -1;
}

static bool open_ref(const struct plain *p, int v)
{
	for (int i = 0; i < p->nrefs; i++)
		if (p->refs[i] == v)
			return true;
	return false;
}

static int choices(const struct json *j, int schema)
{
	int list = json_get(j, schema, "anyOf");
	if (json_type(j, list) != JSON_ARRAY)
		list = json_get(j, schema, "oneOf");
	return json_type(j, list) == JSON_ARRAY && json_count(j, list) > 0 ? list : -1;
}

static bool is_null(const struct json *j, int v)
{
	return kind_of(j, json_get(j, v, "type")) == NOTHING || json_type(j, json_get(j, v, "const")) == JSON_NULL;
}

/* Joins schema and what it refers to into s; the targets stay open until the caller closes them. */
static void join(struct plain *p, struct view *s, int schema)
{
	const struct json *j = p->j;
	if (json_type(j, schema) != JSON_OBJECT || s->n == SOURCES)
		return;
	s->at[s->n++] = schema;
	int ref = json_get(j, schema, "$ref"), to = ref >= 0 ? target(p, ref) : -1;
	if (to >= 0 && (open_ref(p, to) || p->nrefs == REFS)) {
		s->cycle = true;
	} else if (to >= 0) {
		p->refs[p->nrefs++] = to;
		join(p, s, to);
	}
	int all = json_get(j, schema, "allOf");
	for (struct json_iter it = json_iter(j, all); json_type(j, all) == JSON_ARRAY && s->n < SOURCES && json_next(&it);)
		join(p, s, it.value);
	s->nullable |= json_true(j, json_get(j, schema, "nullable"));
	/* a choice of one thing or nothing is that thing, nullable */
	int list = choices(j, schema), only = -1, n = 0;
	for (struct json_iter it = json_iter(j, list); list >= 0 && json_next(&it);) {
		if (is_null(j, it.value))
			s->nullable = true;
		else
			only = it.value, n++;
	}
	if (n == 1)
		join(p, s, only);
}

static int find(const struct plain *p, const struct view *s, const char *key)
{
	for (int i = 0; i < s->n; i++) {
		int v = json_get(p->j, s->at[i], key);
		if (v >= 0)
			return v;
	}
	return -1;
}

static bool has_type(const struct json *j, int v)
{
	return json_type(j, v) == JSON_STRING || json_type(j, v) == JSON_ARRAY;
}

/* A choice between several things that are something. */
static int find_choices(const struct plain *p, const struct view *s)
{
	for (int i = 0; i < s->n; i++) {
		int list = choices(p->j, s->at[i]), n = 0;
		for (struct json_iter it = json_iter(p->j, list); list >= 0 && json_next(&it);)
			n += !is_null(p->j, it.value);
		if (n > 1)
			return list;
	}
	return -1;
}

/* The kinds that a schema allows, as bits; what is not said is found by the keywords it has. */
static unsigned allowed(const struct plain *p, struct view *s)
{
	const struct json *j = p->j;
	unsigned set = 0;
	int type = -1;
	for (int i = 0; i < s->n && !has_type(j, type); i++)
		type = json_get(j, s->at[i], "type");
	if (json_type(j, type) == JSON_STRING && kind_of(j, type) < KINDS)
		set = 1u << kind_of(j, type);
	for (struct json_iter it = json_iter(j, type); json_type(j, type) == JSON_ARRAY && json_next(&it);)
		if (kind_of(j, it.value) < KINDS)
			set |= 1u << kind_of(j, it.value);
	s->nullable |= (set & 1u << NOTHING) && set != 1u << NOTHING;
	set &= ~(1u << NOTHING);
	if (set & 1u << NUMBER)
		set &= ~(1u << INTEGER);
	return set;
}

static enum kind kind_of_value(const struct json *j, int v)
{
	int64_t n;
	switch (json_type(j, v)) {
	case JSON_NUMBER: return json_i64(j, v, &n) == 0 ? INTEGER : NUMBER;
	case JSON_BOOL: return BOOLEAN;
	case JSON_ARRAY: return ARRAY;
	case JSON_OBJECT: return OBJECT;
	default: return STRING;
	}
}

static enum kind guess(const struct plain *p, const struct view *s)
{
	const struct json *j = p->j;
	if (s->cycle || find(p, s, "properties") >= 0 || find(p, s, "additionalProperties") >= 0 || find(p, s, "required") >= 0)
		return OBJECT;
	if (find(p, s, "items") >= 0 || find(p, s, "prefixItems") >= 0)
		return ARRAY;
	if (find(p, s, "const") >= 0)
		return kind_of_value(j, find(p, s, "const"));
	int list = find(p, s, "enum");
	if (json_type(j, list) == JSON_ARRAY) {
		struct json_iter it = json_iter(j, list);
		return json_next(&it) ? kind_of_value(j, it.value) : STRING;
	}
	if (find(p, s, "minimum") >= 0 || find(p, s, "maximum") >= 0)
		return NUMBER;
	return find(p, s, "$ref") >= 0 ? OBJECT : STRING;      /* a $ref that leads nowhere: most are objects */
}

/* ---- values: enum, const and choices between them */

struct values {
	struct buf list;        /* joined by commas, JSON text */
	bool plain;             /* strings that are not empty: what enum takes */
	int n;
};

static void add_value(struct values *v, const struct json *j, int value)
{
	if (json_type(j, value) == JSON_NULL)
		return;
	struct buf one;
	buf_init(&one, BUF_NOLIMIT);
	json_compact(&one, j, value);
	if (v->n++)
		buf_adds(&v->list, ",");
	buf_add(&v->list, one.p, one.len);
	v->plain &= json_strlen(j, value) > 0;
	buf_free(&one);
}

static bool add_values(struct values *v, const struct json *j, int schema, struct view *s)
{
	int list = json_get(j, schema, "enum"), one = json_get(j, schema, "const");
	if (one >= 0) {
		s->nullable |= json_type(j, one) == JSON_NULL;
		add_value(v, j, one);
		return true;
	}
	if (json_type(j, list) != JSON_ARRAY || json_count(j, list) == 0)
		return false;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		s->nullable |= json_type(j, it.value) == JSON_NULL;
		add_value(v, j, it.value);
	}
	return true;
}

/* True: the choice was between values, which are in v now. */
static bool choice_of_values(struct values *v, const struct json *j, int list, struct view *s)
{
	for (struct json_iter it = json_iter(j, list); json_next(&it);)
		if (json_get(j, it.value, "const") < 0 && !is_null(j, it.value) &&
		    json_type(j, json_get(j, it.value, "enum")) != JSON_ARRAY)
			return false;
	for (struct json_iter it = json_iter(j, list); json_next(&it);)
		if (!is_null(j, it.value))
			add_values(v, j, it.value, s);
	return v->n > 0;
}

/* ---- writing */

static void node(struct plain *p, struct jw *w, int schema, const char *description, bool nullable);

static void write_description(struct jw *w, const char *text, const struct values *v)
{
	struct buf b;
	bool say = v && v->n > 0 && !v->plain;
	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&b, text);
	if (say)
		buf_addf(&b, "%sOne of: %s", b.len ? "\n" : "", v->list.p);
	if (b.len > 0)
		jw_kstrn(w, "description", b.p, b.len);
	buf_free(&b);
}

static void copy_number(const struct plain *p, struct jw *w, const struct view *s, const char *key, bool count)
{
	int64_t n;
	size_t len;
	int v = find(p, s, key);
	if (json_type(p->j, v) != JSON_NUMBER || (count && (json_i64(p->j, v, &n) < 0 || n < 0)))
		return;
	const char *raw = json_raw(p->j, v, &len);
	if (count)
		jw_ki64(w, key, n);
	else
		jw_kraw(w, key, raw, len);
}

static void copy_format(const struct plain *p, struct jw *w, const struct view *s, enum kind k)
{
	static const struct { enum kind kind; const char *word; } known[] = {
		{ STRING, "date-time" }, { INTEGER, "int32" }, { INTEGER, "int64" }, { NUMBER, "float" }, { NUMBER, "double" } };
	int v = find(p, s, "format");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].kind == k && json_eq(p->j, v, known[i].word))
			jw_kstr(w, "format", known[i].word);
}

/* Their names are in `names` then; of a property that an earlier source has, nothing is taken. */
static size_t properties(struct plain *p, struct jw *w, const struct view *s, struct set *names)
{
	const struct json *j = p->j;
	for (int i = 0; i < s->n; i++) {
		int map = json_get(j, s->at[i], "properties");
		for (struct json_iter it = json_iter(j, map); json_type(j, map) == JSON_OBJECT && json_next(&it);) {
			char *key = json_dup(j, it.key);
			if (*key && set_add(names, key, strlen(key))) {
				if (names->n == 1) {
					jw_key(w, "properties");
					jw_obj(w);
				}
				jw_key(w, key);
				node(p, w, it.value, "", false);
			}
			free(key);
		}
	}
	if (names->n > 0)
		jw_end(w);
	return names->n;
}

/* A required name that is no property is refused. */
static void required(struct plain *p, struct jw *w, const struct view *s, const struct set *names)
{
	struct set seen = SET_INIT;
	for (int i = 0; i < s->strict; i++) {
		int list = json_get(p->j, s->at[i], "required");
		for (struct json_iter it = json_iter(p->j, list); json_type(p->j, list) == JSON_ARRAY && json_next(&it);) {
			char *key = json_dup(p->j, it.value);
			if (key && set_has(names, key, strlen(key)) && set_add(&seen, key, strlen(key))) {
				if (seen.n == 1) {
					jw_key(w, "required");
					jw_arr(w);
				}
				jw_str(w, key);
			}
			free(key);
		}
	}
	if (seen.n > 0)
		jw_end(w);
	set_free(&seen);
}

static void object(struct plain *p, struct jw *w, const struct view *s)
{
	struct set names = SET_INIT;
	if (properties(p, w, s, &names) > 0)
		required(p, w, s, &names);
	set_free(&names);
}

static void items(struct plain *p, struct jw *w, const struct view *s)
{
	int v = find(p, s, "items");
	if (json_type(p->j, v) != JSON_OBJECT) {            /* a list of schemas, one for each place: the first will do */
		int list = json_type(p->j, v) == JSON_ARRAY ? v : find(p, s, "prefixItems");
		struct json_iter it = json_iter(p->j, list);
		v = json_type(p->j, list) == JSON_ARRAY && json_next(&it) ? it.value : -1;
	}
	jw_key(w, "items");                                 /* an array without is refused */
	node(p, w, v, "", false);
}

/* The members of a schema of one kind, but for its end. */
static void members(struct plain *p, struct jw *w, const struct view *s, enum kind k, const char *text, const struct values *v)
{
	jw_kstr(w, "type", kinds[k]);
	write_description(w, text, v);
	if (s->nullable)
		jw_kbool(w, "nullable", true);
	if (v && v->n > 0 && v->plain && k == STRING)
		jw_kraw(w, "enum", v->list.p, v->list.len);
	copy_format(p, w, s, k);
	if (k == INTEGER || k == NUMBER) {
		copy_number(p, w, s, "minimum", false);
		copy_number(p, w, s, "maximum", false);
	} else if (k == STRING) {
		copy_number(p, w, s, "minLength", true);
		copy_number(p, w, s, "maxLength", true);
	} else if (k == ARRAY) {
		copy_number(p, w, s, "minItems", true);
		copy_number(p, w, s, "maxItems", true);
		items(p, w, s);
	} else if (k == OBJECT) {
		object(p, w, s);
	}
}

/* Beside anyOf nothing else may stand (Vertex: "it must be the only field set"): each branch has it all. */
static void branches(struct plain *p, struct jw *w, int list, const char *text, bool nullable)
{
	jw_key(w, "anyOf");
	jw_arr(w);
	for (struct json_iter it = json_iter(p->j, list); json_next(&it);)
		if (!is_null(p->j, it.value))
			node(p, w, it.value, text, nullable);
	jw_end(w);
}

static void kinds_of(struct plain *p, struct jw *w, const struct view *s, unsigned set, const char *text, const struct values *v)
{
	jw_key(w, "anyOf");
	jw_arr(w);
	for (int k = 0; k < NOTHING; k++) {
		if (!(set & 1u << k))
			continue;
		jw_obj(w);
		members(p, w, s, (enum kind)k, text, v);
		jw_end(w);
	}
	jw_end(w);
}

/* All is known to fit no more: the type alone. */
static void stub(struct plain *p, struct jw *w, int schema)
{
	enum kind k = kind_of(p->j, json_get(p->j, schema, "type"));
	if (k >= NOTHING)
		k = OBJECT;
	jw_kstr(w, "type", kinds[k]);
	if (k == ARRAY)
		jw_kraw(w, "items", "{\"type\":\"object\"}", 17);
}

static void whole(struct plain *p, struct jw *w, struct view *s, const char *text)
{
	struct values v = { .plain = true };
	const struct json *j = p->j;
	int list = find_choices(p, s);
	unsigned set = allowed(p, s);

	buf_init(&v.list, BUF_NOLIMIT);
	buf_adds(&v.list, "");
	for (int i = 0; i < s->n && v.n == 0; i++)
		add_values(&v, j, s->at[i], s);
	bool values = list >= 0 && v.n == 0 && choice_of_values(&v, j, list, s);
	if (v.n > 0 && v.plain && (!set || set & 1u << STRING)) {
		buf_insert(&v.list, 0, "[", 1);
		buf_addc(&v.list, ']');
		set = 1u << STRING;
	} else {
		v.plain = false;
	}
	bool parts = list >= 0 && !values && v.n == 0 && !set && find(p, s, "properties") < 0;
	if (!set && values) {
		struct json_iter it = json_iter(j, list);
		int first = json_next(&it) ? json_get(j, it.value, "const") : -1;
		set = 1u << (first >= 0 ? kind_of_value(j, first) : STRING);
	}
	if (!set)
		set = 1u << guess(p, s);
	if (parts)
		branches(p, w, list, text, s->nullable);
	else if (set & (set - 1))
		kinds_of(p, w, s, set, text, &v);
	else
		members(p, w, s, (enum kind)(ffs((int)set) - 1), text, &v);
	buf_free(&v.list);
}

static void node(struct plain *p, struct jw *w, int schema, const char *description, bool nullable)
{
	struct view s = { .n = 0 };
	int refs = p->nrefs;

	jw_obj(w);
	if (p->level == SCHEMA_LEVELS || p->nodes == SCHEMA_NODES || p->out->len > SCHEMA_BYTES) {
		stub(p, w, schema);
		jw_end(w);
		return;
	}
	p->level++;
	p->nodes++;
	join(p, &s, schema);
	s.strict = s.n;
	s.nullable |= nullable;
	char *own = json_dup(p->j, find(p, &s, "description"));
	whole(p, w, &s, own && *own ? own : description);
	free(own);
	p->nrefs = refs;
	p->level--;
	jw_end(w);
}

size_t schema_plain(struct buf *out, const struct json *j, int schema)
{
	struct plain p = { .j = j, .out = out, .root = schema };
	struct view s = { .n = 0 };
	struct set names = SET_INIT;
	struct jw w = jw_begin(out);

	join(&p, &s, schema);
	s.strict = s.n;
	for (int i = 0; i < s.strict; i++) {
		int list = choices(j, s.at[i]);
		for (struct json_iter it = json_iter(j, list); list >= 0 && json_next(&it);)
			join(&p, &s, it.value);
	}
	if (json_type(j, schema) == JSON_OBJECT && p.nrefs < REFS)
		p.refs[p.nrefs++] = schema;                  /* "#" */
	jw_obj(&w);
	jw_kstr(&w, "type", "object");
	char *text = json_dup(j, find(&p, &s, "description"));
	write_description(&w, text ? text : "", NULL);
	free(text);
	size_t n = properties(&p, &w, &s, &names);
	if (n > 0)
		required(&p, &w, &s, &names);
	else
		jw_kraw(&w, "properties", "{}", 2);
	jw_end(&w);
	set_free(&names);
	return n;
}

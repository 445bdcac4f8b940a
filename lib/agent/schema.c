#include "agent/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct check {
	const struct json *sj, *j;
	struct buf *why;
	struct buf at;          /* JSON pointer of the value under check */
	int faults;
};

static void check_value(struct check *c, int s, int v);

static void fault_begin(struct check *c)
{
	if (c->faults++)
		buf_adds(c->why, "; ");
	buf_adds(c->why, c->at.len ? c->at.p : "the arguments");
	buf_adds(c->why, ": ");
}

static bool enough(const struct check *c)
{
	return c->faults >= SCHEMA_FAULTS;
}

/* Lengthen the pointer by a key (RFC 6901: ~ is ~0, / is ~1); returns the length to go back to. */
static size_t go_into(struct check *c, const char *key, size_t n)
{
	size_t was = c->at.len;

	buf_addc(&c->at, '/');
	for (size_t i = 0; i < n && i < 100; i++) {
		if (key[i] == '~')
			buf_adds(&c->at, "~0");
		else if (key[i] == '/')
			buf_adds(&c->at, "~1");
		else
			buf_addc(&c->at, key[i]);
	}
	return was;
}

static bool is_integer(const struct json *j, int v)
{
	int64_t n;
	double d;

	if (json_type(j, v) != JSON_NUMBER)
		return false;
	return json_i64(j, v, &n) == 0 || (json_double(j, v, &d) == 0 && isfinite(d) && floor(d) == d);
}

static bool type_is(const struct json *j, int v, const char *name)
{
	enum json_type t = json_type(j, v);

	if (!strcmp(name, "integer"))
		return is_integer(j, v);
	if (!strcmp(name, "boolean"))
		return t == JSON_BOOL;
	if (!strcmp(name, "number"))
		return t == JSON_NUMBER;
	if (!strcmp(name, "string"))
		return t == JSON_STRING;
	if (!strcmp(name, "array"))
		return t == JSON_ARRAY;
	if (!strcmp(name, "object"))
		return t == JSON_OBJECT;
	if (!strcmp(name, "null"))
		return t == JSON_NULL;
	return true;            /* a type this version does not know is no reason to refuse */
}

static bool type_value_is(struct check *c, int type, int v)
{
	struct buf name;
	bool fits;

	buf_init(&name, 64);
	fits = json_str(c->sj, type, &name) < 0 || type_is(c->j, v, name.p);
	buf_free(&name);
	return fits;
}

static const char *kind_of(const struct json *j, int v)
{
	switch (json_type(j, v)) {
	case JSON_NULL: return "null";
	case JSON_BOOL: return "boolean";
	case JSON_NUMBER: return is_integer(j, v) ? "integer" : "number";
	case JSON_STRING: return "string";
	case JSON_ARRAY: return "array";
	case JSON_OBJECT: return "object";
	default: return "nothing";
	}
}

/* What the schema's type says, for people: "string", "string or null". */
static void say_type(struct check *c, int type)
{
	int n = 0;

	if (json_type(c->sj, type) == JSON_STRING) {
		json_str(c->sj, type, c->why);
		return;
	}
	for (struct json_iter it = json_iter(c->sj, type); json_next(&it);) {
		if (n++)
			buf_adds(c->why, " or ");
		json_str(c->sj, it.value, c->why);
	}
}

static bool check_type(struct check *c, int s, int v)
{
	int type = json_get(c->sj, s, "type");
	bool fits = false;

	if (type < 0)
		return true;
	if (json_type(c->sj, type) == JSON_ARRAY) {
		for (struct json_iter it = json_iter(c->sj, type); !fits && json_next(&it);)
			fits = type_value_is(c, it.value, v);
	} else {
		fits = type_value_is(c, type, v);
	}
	if (fits)
		return true;
	fault_begin(c);
	buf_adds(c->why, "expected ");
	say_type(c, type);
	buf_addf(c->why, ", got %s", kind_of(c->j, v));
	return false;
}

static bool same(const struct json *a, int va, const struct json *b, int vb)
{
	struct buf x, y;
	bool equal;

	buf_init(&x, BUF_NOLIMIT);
	buf_init(&y, BUF_NOLIMIT);
	json_canon(&x, a, va);
	json_canon(&y, b, vb);
	equal = x.len == y.len && !memcmp(x.p, y.p, x.len);
	buf_free(&x);
	buf_free(&y);
	return equal;
}

static void check_enum(struct check *c, int s, int v)
{
	int list = json_get(c->sj, s, "enum"), one = json_get(c->sj, s, "const");

	if (one >= 0 && !same(c->sj, one, c->j, v)) {
		fault_begin(c);
		buf_adds(c->why, "expected ");
		json_compact(c->why, c->sj, one);
	}
	if (json_type(c->sj, list) != JSON_ARRAY)
		return;
	for (struct json_iter it = json_iter(c->sj, list); json_next(&it);)
		if (same(c->sj, it.value, c->j, v))
			return;
	fault_begin(c);
	buf_adds(c->why, "expected one of ");
	json_compact(c->why, c->sj, list);
}

static void check_limit(struct check *c, int s, const char *key, double have, int sign, bool open, const char *what)
{
	double limit;
	int k = json_get(c->sj, s, key);
	size_t n;
	const char *raw;

	if (json_type(c->sj, k) != JSON_NUMBER || json_double(c->sj, k, &limit) < 0)
		return;
	if (sign < 0 ? (open ? have > limit : have >= limit) : (open ? have < limit : have <= limit))
		return;
	raw = json_raw(c->sj, k, &n);
	fault_begin(c);
	buf_addf(c->why, "%s must be %s %s%.*s", what, sign < 0 ? "more than" : "less than", open ? "" : "or equal to ",
	         (int)n, raw);
}

static void check_number(struct check *c, int s, int v)
{
	double d;

	if (json_double(c->j, v, &d) < 0)
		return;
	check_limit(c, s, "minimum", d, -1, false, "the number");
	check_limit(c, s, "maximum", d, 1, false, "the number");
	check_limit(c, s, "exclusiveMinimum", d, -1, true, "the number");
	check_limit(c, s, "exclusiveMaximum", d, 1, true, "the number");
}

static void check_string(struct check *c, int s, int v)
{
	struct buf b;
	double chars = 0;

	if (json_get(c->sj, s, "minLength") < 0 && json_get(c->sj, s, "maxLength") < 0)
		return;
	buf_init(&b, BUF_NOLIMIT);
	json_str(c->j, v, &b);
	for (size_t i = 0; i < b.len; i++)
		chars += ((unsigned char)b.p[i] & 0xc0) != 0x80;
	buf_free(&b);
	check_limit(c, s, "minLength", chars, -1, false, "the length");
	check_limit(c, s, "maxLength", chars, 1, false, "the length");
}

static void check_array(struct check *c, int s, int v)
{
	int items = json_get(c->sj, s, "items");
	double n = json_count(c->j, v);
	size_t i = 0;

	check_limit(c, s, "minItems", n, -1, false, "the number of items");
	check_limit(c, s, "maxItems", n, 1, false, "the number of items");
	if (json_type(c->sj, items) != JSON_OBJECT)
		return;
	for (struct json_iter it = json_iter(c->j, v); !enough(c) && json_next(&it); i++) {
		char key[24];
		size_t was, k = 0, x = i;
		do {
			memmove(key + 1, key, k++);
			key[0] = (char)('0' + x % 10);
		} while (x /= 10);
		was = go_into(c, key, k);
		check_value(c, items, it.value);
		buf_truncate(&c->at, was);
	}
}

static void check_required(struct check *c, int s, int v)
{
	int props = json_get(c->sj, s, "properties");

	for (struct json_iter it = json_iter(c->sj, json_get(c->sj, s, "required")); !enough(c) && json_next(&it);) {
		char *key = json_dup(c->sj, it.value);
		if (key && json_get(c->j, v, key) < 0) {
			int type = json_get(c->sj, json_get(c->sj, props, key), "type");
			size_t was = go_into(c, key, strlen(key));
			fault_begin(c);
			buf_adds(c->why, "missing");
			if (type >= 0) {
				buf_adds(c->why, ", expected ");
				say_type(c, type);
			}
			buf_truncate(&c->at, was);
		}
		free(key);
	}
}

static void say_properties(struct check *c, int props)
{
	int n = 0;

	buf_adds(c->why, "not a known argument");
	for (struct json_iter it = json_iter(c->sj, props); json_next(&it) && n < 20;) {
		buf_adds(c->why, n++ ? ", " : "; known are ");
		json_str(c->sj, it.key, c->why);
	}
}

static void check_object(struct check *c, int s, int v)
{
	int props = json_get(c->sj, s, "properties"), more = json_get(c->sj, s, "additionalProperties");
	bool closed = json_type(c->sj, more) == JSON_BOOL && !json_true(c->sj, more);

	check_required(c, s, v);
	for (struct json_iter it = json_iter(c->j, v); !enough(c) && json_next(&it);) {
		char *key = json_dup(c->j, it.key);
		int sub = key ? json_get(c->sj, props, key) : -1;
		size_t was = go_into(c, key ? key : "", key ? strlen(key) : 0);
		if (sub >= 0) {
			check_value(c, sub, it.value);
		} else if (closed) {
			fault_begin(c);
			say_properties(c, props);
		} else if (json_type(c->sj, more) == JSON_OBJECT) {
			check_value(c, more, it.value);
		}
		buf_truncate(&c->at, was);
		free(key);
	}
}

static void check_value(struct check *c, int s, int v)
{
	if (json_type(c->sj, s) != JSON_OBJECT || enough(c) || !check_type(c, s, v))
		return;
	check_enum(c, s, v);
	switch (json_type(c->j, v)) {
	case JSON_NUMBER: check_number(c, s, v); break;
	case JSON_STRING: check_string(c, s, v); break;
	case JSON_ARRAY: check_array(c, s, v); break;
	case JSON_OBJECT: check_object(c, s, v); break;
	default: break;
	}
}

int schema_check(const struct json *sj, int s, const struct json *j, int v, struct buf *why)
{
	struct check c = {.sj = sj, .j = j, .why = why};

	buf_init(&c.at, BUF_NOLIMIT);
	check_value(&c, s, v);
	buf_free(&c.at);
	return c.faults ? -1 : 0;
}

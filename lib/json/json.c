#include "json/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/jw.h"
#include "json/token.h"

static const struct json_token *at(const struct json *j, int v)
{
	return v >= 0 && (uint32_t)v < j->n ? &j->tok[v] : NULL;
}

enum json_type json_type(const struct json *j, int v)
{
	const struct json_token *t = at(j, v);

	return t ? (enum json_type)t->type : JSON_NONE;
}

const char *json_type_name(enum json_type t)
{
	static const char *const names[] = {"nothing", "null", "boolean", "number", "string", "array", "object"};

	return names[t];
}

int json_count(const struct json *j, int v)
{
	const struct json_token *t = at(j, v);

	return t ? (int)t->count : 0;
}

struct json_iter json_iter(const struct json *j, int v)
{
	const struct json_token *t = at(j, v);
	struct json_iter it = {.j = j, .key = -1, .value = -1};

	if (t && (t->type == JSON_ARRAY || t->type == JSON_OBJECT)) {
		it.at = (uint32_t)v + 1;
		it.end = t->next;
		it.object = t->type == JSON_OBJECT;
	}
	return it;
}

bool json_next(struct json_iter *it)
{
	if (it->at >= it->end)
		return false;
	it->key = it->object ? (int)it->at++ : -1;
	it->value = (int)it->at;
	it->at = it->j->tok[it->at].next;
	return true;
}

static bool string_is(const struct json *j, const struct json_token *t, const char *s, size_t n)
{
	struct buf plain;
	bool same;

	if (!t->escaped)
		return t->end - t->start == n + 2 && !memcmp(j->text + t->start + 1, s, n);
	if (t->end - t->start - 2 < n)
		return false;
	buf_init(&plain, BUF_NOLIMIT);
	json_decode(&plain, j->text + t->start + 1, t->end - t->start - 2);
	same = plain.len == n && !memcmp(plain.p, s, n);
	buf_free(&plain);
	return same;
}

static int get(const struct json *j, int object, const char *key, size_t n)
{
	if (json_type(j, object) != JSON_OBJECT)
		return -1;
	for (struct json_iter it = json_iter(j, object); json_next(&it);)
		if (string_is(j, &j->tok[it.key], key, n))
			return it.value;
	return -1;
}

int json_get(const struct json *j, int object, const char *key)
{
	return get(j, object, key, strlen(key));
}

int json_path(const struct json *j, int v, const char *path)
{
	while (*path && v >= 0) {
		size_t n = strcspn(path, ".");

		if (json_type(j, v) == JSON_ARRAY) {
			long want = strtol(path, NULL, 10), k = 0;
			struct json_iter it = json_iter(j, v);

			v = -1;
			while (json_next(&it))
				if (k++ == want) {
					v = it.value;
					break;
				}
		} else {
			v = get(j, v, path, n);
		}
		path += n + (path[n] == '.');
	}
	return v;
}

const char *json_raw(const struct json *j, int v, size_t *len)
{
	const struct json_token *t = at(j, v);

	*len = t ? t->end - t->start : 0;
	return t ? j->text + t->start : NULL;
}

static uint32_t hex4(const char *s)
{
	char digits[5] = {s[0], s[1], s[2], s[3], 0};

	return (uint32_t)strtoul(digits, NULL, 16);
}

int json_decode(struct buf *out, const char *s, size_t n)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *end = s + n;

	while (s < end) {
		const char *slash = memchr(s, '\\', (size_t)(end - s));
		uint32_t cp;
		char c[4];

		if (!slash)
			return buf_add(out, s, (size_t)(end - s));
		if (buf_add(out, s, (size_t)(slash - s)) < 0)
			return -1;
		s = slash + 2;
		if (slash[1] != 'u') {
			if (buf_addc(out, to[strchr(from, slash[1]) - from]) < 0)
				return -1;
			continue;
		}
		cp = hex4(s);
		s += 4;
		if (cp >= 0xd800 && cp <= 0xdbff) {
			cp = 0x10000 + ((cp - 0xd800) << 10) + (hex4(s + 2) - 0xdc00);
			s += 6;
		}
		if (buf_add(out, c, (size_t)utf8_encode(c, cp)) < 0)
			return -1;
	}
	return 0;
}

int json_str(const struct json *j, int v, struct buf *out)
{
	const struct json_token *t = at(j, v);

	if (!t || t->type != JSON_STRING)
		return -1;
	if (!t->escaped)
		return buf_add(out, j->text + t->start + 1, t->end - t->start - 2);
	return json_decode(out, j->text + t->start + 1, t->end - t->start - 2);
}

char *json_dup(const struct json *j, int v)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	if (json_str(j, v, &b) < 0)
		return NULL;
	return buf_detach(&b);
}

bool json_eq(const struct json *j, int v, const char *s)
{
	const struct json_token *t = at(j, v);

	return t && t->type == JSON_STRING && string_is(j, t, s, strlen(s));
}

size_t json_strlen(const struct json *j, int v)
{
	const struct json_token *t = at(j, v);
	struct buf b;
	size_t n;

	if (!t || t->type != JSON_STRING)
		return 0;
	if (!t->escaped)
		return t->end - t->start - 2;
	buf_init(&b, BUF_NOLIMIT);
	json_str(j, v, &b);
	n = b.len;
	buf_free(&b);
	return n;
}

/* The number's text as a C string in small, or NULL if it is no number or too long to be a sensible one. */
static const char *number_text(const struct json *j, int v, char small[64])
{
	const struct json_token *t = at(j, v);
	size_t n;

	if (!t || t->type != JSON_NUMBER)
		return NULL;
	n = t->end - t->start;
	if (n >= 64)
		return NULL;
	memcpy(small, j->text + t->start, n);
	small[n] = 0;
	return small;
}

int json_i64(const struct json *j, int v, int64_t *out)
{
	char small[64], *end;
	const char *s = number_text(j, v, small);
	long long n;
	double d;

	if (!s)
		return -1;
	errno = 0;
	n = strtoll(s, &end, 10);
	if (!*end) {
		if (errno)
			return -1;
		*out = n;
		return 0;
	}
	d = strtod(s, NULL);
	if (!(fabs(d) <= 9007199254740992.0) || d != (double)(int64_t)d)
		return -1;
	*out = (int64_t)d;
	return 0;
}

int json_double(const struct json *j, int v, double *out)
{
	char small[64];
	const char *s = number_text(j, v, small);

	if (!s)
		return -1;
	*out = strtod(s, NULL);
	return 0;
}

bool json_true(const struct json *j, int v)
{
	const struct json_token *t = at(j, v);

	return t && t->type == JSON_BOOL && j->text[t->start] == 't';
}

int json_compact(struct buf *out, const struct json *j, int v)
{
	const struct json_token *t = at(j, v);
	bool object, some = false;

	if (!t)
		return -1;
	if (t->type != JSON_ARRAY && t->type != JSON_OBJECT)
		return buf_add(out, j->text + t->start, t->end - t->start);
	object = t->type == JSON_OBJECT;
	buf_addc(out, object ? '{' : '[');
	for (struct json_iter it = json_iter(j, v); json_next(&it); some = true) {
		if (some)
			buf_addc(out, ',');
		if (object) {
			buf_add(out, j->text + j->tok[it.key].start, j->tok[it.key].end - j->tok[it.key].start);
			buf_addc(out, ':');
		}
		json_compact(out, j, it.value);
	}
	buf_addc(out, object ? '}' : ']');
	return out->over ? -1 : 0;
}

struct member {
	struct buf key;
	int value;
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	size_t n = x->key.len < y->key.len ? x->key.len : y->key.len;
	int c = memcmp(x->key.p, y->key.p, n);

	return c ? c : x->key.len < y->key.len ? -1 : x->key.len > y->key.len;
}

static void canon_string(struct buf *out, const char *s, size_t n)
{
	buf_addc(out, '"');
	jw_escape(out, s, n);
	buf_addc(out, '"');
}

static void canon_object(struct buf *out, const struct json *j, int v)
{
	size_t n = (size_t)json_count(j, v), k = 0;
	struct member *all = xcalloc(n, sizeof *all);

	for (struct json_iter it = json_iter(j, v); json_next(&it); k++) {
		buf_init(&all[k].key, BUF_NOLIMIT);
		json_str(j, it.key, &all[k].key);
		all[k].value = it.value;
	}
	qsort(all, n, sizeof *all, by_key);
	buf_addc(out, '{');
	for (k = 0; k < n; k++) {
		if (k)
			buf_addc(out, ',');
		canon_string(out, all[k].key.p, all[k].key.len);
		buf_addc(out, ':');
		json_canon(out, j, all[k].value);
		buf_free(&all[k].key);
	}
	buf_addc(out, '}');
	free(all);
}

int json_canon(struct buf *out, const struct json *j, int v)
{
	struct buf plain;
	bool some = false;

	switch (json_type(j, v)) {
	case JSON_OBJECT:
		canon_object(out, j, v);
		break;
	case JSON_ARRAY:
		buf_addc(out, '[');
		for (struct json_iter it = json_iter(j, v); json_next(&it); some = true) {
			if (some)
				buf_addc(out, ',');
			json_canon(out, j, it.value);
		}
		buf_addc(out, ']');
		break;
	case JSON_STRING:
		buf_init(&plain, BUF_NOLIMIT);
		json_str(j, v, &plain);
		canon_string(out, plain.p, plain.len);
		buf_free(&plain);
		break;
	default:
		return json_compact(out, j, v);
	}
	return out->over ? -1 : 0;
}

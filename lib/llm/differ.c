/* differ.c - where two JSON values part. */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "llm/record.h"

static void add_key(struct buf *pointer, const char *key)
{
	buf_addc(pointer, '/');
	for (; *key; key++)     /* RFC 6901, section 3 */
		if (*key == '~')
			buf_adds(pointer, "~0");
		else if (*key == '/')
			buf_adds(pointer, "~1");
		else
			buf_addc(pointer, *key);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All keys of both objects, sorted, each once; to be freed. */
static char **all_keys(const struct json *a, int va, const struct json *b, int vb, size_t *n)
{
	char **v = xcalloc((size_t)(json_count(a, va) + json_count(b, vb)) + 1, sizeof *v);
	size_t k = 0;

	*n = 0;
	for (struct json_iter it = json_iter(a, va); json_next(&it);)
		v[k++] = json_dup(a, it.key);
	for (struct json_iter it = json_iter(b, vb); json_next(&it);)
		v[k++] = json_dup(b, it.key);
	qsort(v, k, sizeof *v, by_text);
	for (size_t i = 0; i < k; i++)
		if (*n && !strcmp(v[*n - 1], v[i]))
			free(v[i]);
		else
			v[(*n)++] = v[i];
	return v;
}

static bool objects_differ(const struct json *a, int va, const struct json *b, int vb, struct buf *pointer,
                           int *at_a, int *at_b)
{
	size_t n, was = pointer->len;
	char **key = all_keys(a, va, b, vb, &n);
	bool differ = false;

	for (size_t i = 0; i < n; i++) {
		if (!differ) {
			add_key(pointer, key[i]);
			differ = record_differ(a, json_get(a, va, key[i]), b, json_get(b, vb, key[i]), pointer, at_a, at_b);
			if (!differ)
				buf_truncate(pointer, was);
		}
		free(key[i]);
	}
	free(key);
	return differ;
}

static bool arrays_differ(const struct json *a, int va, const struct json *b, int vb, struct buf *pointer,
                          int *at_a, int *at_b)
{
	struct json_iter ia = json_iter(a, va), ib = json_iter(b, vb);
	size_t was = pointer->len;

	for (int i = 0;; i++) {
		bool more_a = json_next(&ia), more_b = json_next(&ib);

		if (!more_a && !more_b)
			return false;
		buf_addf(pointer, "/%d", i);
		if (record_differ(a, more_a ? ia.value : -1, b, more_b ? ib.value : -1, pointer, at_a, at_b))
			return true;
		buf_truncate(pointer, was);
	}
}

bool record_differ(const struct json *a, int va, const struct json *b, int vb, struct buf *pointer,
                   int *at_a, int *at_b)
{
	enum json_type t = json_type(a, va);
	struct buf ca, cb;
	bool differ;

	*at_a = va;
	*at_b = vb;
	if (va < 0 || vb < 0 || t != json_type(b, vb))
		return va >= 0 || vb >= 0;
	if (t == JSON_OBJECT)
		return objects_differ(a, va, b, vb, pointer, at_a, at_b);
	if (t == JSON_ARRAY)
		return arrays_differ(a, va, b, vb, pointer, at_a, at_b);
	buf_init(&ca, BUF_NOLIMIT);
	buf_init(&cb, BUF_NOLIMIT);
	json_canon(&ca, a, va);
	json_canon(&cb, b, vb);
	differ = ca.len != cb.len || memcmp(ca.p, cb.p, ca.len);
	buf_free(&ca);
	buf_free(&cb);
	return differ;
}

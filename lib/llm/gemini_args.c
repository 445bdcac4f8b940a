#include "llm/gemini_args.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "json/jw.h"

enum type { UNSET, STRING, RAW, ARRAY, OBJECT };

/* Values in the order in which they came; 0 is the root. Children are a list by index. */
struct value {
	enum type type;
	char *key;               /* in an object */
	struct buf text;         /* of a string, or JSON text */
	int first, last, next;   /* children; the next of its parent's. -1: none */
	int count;
};

struct args {
	struct value *all;
	int n, cap;
};

static int new_value(struct args *g, int parent, char *key)
{
	if (g->n == g->cap) {
		g->cap = g->cap ? 2 * g->cap : 8;
		g->all = xrealloc(g->all, (size_t)g->cap, sizeof *g->all);
	}
	int i = g->n++;
	g->all[i] = (struct value){ .key = key, .first = -1, .last = -1, .next = -1 };
	buf_init(&g->all[i].text, BUF_NOLIMIT);
	if (parent < 0)
		return i;
	struct value *p = &g->all[parent];
	if (p->last >= 0)
		g->all[p->last].next = i;
	else
		p->first = i;
	p->last = i;
	p->count++;
	return i;
}

/* The child of parent by that name, or at that place; made where there is none. */
static int child(struct args *g, int parent, const char *key, size_t n, bool index)
{
	struct value *p = &g->all[parent];
	enum type want = index ? ARRAY : OBJECT;
	if (p->type == UNSET)
		p->type = want;
	if (p->type != want)
		return -1;
	long at = index ? strtol(key, NULL, 10) : 0;
	if (index && at < p->count && at == p->count - 1)
		return p->last;
	if (!index || at < p->count)
		for (int i = p->first; i >= 0; i = g->all[i].next)
			if (index ? at-- == 0 : strlen(g->all[i].key) == n && memcmp(g->all[i].key, key, n) == 0)
				return i;
	return g->n == GEMINI_VALUES ? -1 : new_value(g, parent, index ? NULL : xstrndup(key, n));
}

/* One step of a path: ".name", "[0]", "['name']". Where it ends; NULL: it is none. */
static const char *step(struct args *g, const char *s, int *at)
{
	struct buf name;
	bool index = false;

	buf_init(&name, BUF_NOLIMIT);
	if (*s == '.') {
		size_t n = strcspn(++s, ".[");
		buf_add(&name, s, n);
		s += n;
	} else if (*s == '[' && (s[1] == '\'' || s[1] == '"')) {
		char quote = s[1];
		for (s += 2; *s && *s != quote; s++) {
			if (*s == '\\' && s[1])
				s++;
			buf_addc(&name, *s);
		}
		s = *s && s[1] == ']' ? s + 2 : NULL;
	} else if (*s == '[') {
		size_t n = strspn(++s, "0123456789");
		index = true;
		buf_add(&name, s, n);
		s = n > 0 && n < 10 && s[n] == ']' ? s + n + 1 : NULL;
	} else {
		s = NULL;
	}
	if (s && (name.len > 0 || !index))
		*at = child(g, *at, name.p, name.len, index);
	buf_free(&name);
	return *at < 0 ? NULL : s;
}

static int find(struct args *g, const char *path)
{
	int at = 0, depth = 0;
	if (*path++ != '$' || !*path)
		return -1;
	while (path && *path) {
		if (depth++ == GEMINI_DEPTH)
			return -1;
		path = step(g, path, &at);
	}
	return path ? at : -1;
}

static int set(struct args *g, const struct json *j, int part)
{
	static const char *const raw[] = { "numberValue", "boolValue" };
	char *path = json_dup(j, json_get(j, part, "jsonPath"));
	int at = path ? find(g, path) : -1, s = json_get(j, part, "stringValue");
	free(path);
	if (at < 0)
		return -1;
	struct value *v = &g->all[at];
	if (v->type == ARRAY || v->type == OBJECT)
		return -1;
	if (json_type(j, s) == JSON_STRING) {
		if (v->type != STRING)
			buf_clear(&v->text);
		v->type = STRING;
		json_str(j, s, &v->text);
		return 0;
	}
	/* a piece of a string that is under way may say nothing */
	if (v->type != STRING) {
		v->type = RAW;
		buf_clear(&v->text);
		buf_adds(&v->text, "null");
	}
	for (size_t i = 0; i < 2; i++) {
		int value = json_get(j, part, raw[i]);
		if (json_type(j, value) != JSON_NUMBER && json_type(j, value) != JSON_BOOL)
			continue;
		v->type = RAW;
		buf_clear(&v->text);
		json_compact(&v->text, j, value);
	}
	return 0;
}

static void put(const struct args *g, struct jw *w, int i)
{
	const struct value *v = &g->all[i];
	switch (v->type) {
	case STRING:
		jw_strn(w, v->text.p, v->text.len);
		break;
	case RAW:
		jw_raw(w, v->text.p, v->text.len);
		break;
	case UNSET:
		jw_null(w);
		break;
	default:
		if (v->type == ARRAY)
			jw_arr(w);
		else
			jw_obj(w);
		for (int k = v->first; k >= 0; k = g->all[k].next) {
			if (v->type == OBJECT)
				jw_key(w, g->all[k].key);
			put(g, w, k);
		}
		jw_end(w);
	}
}

int gemini_args(struct buf *out, const struct json *j, int pieces)
{
	struct args g = { .n = 0 };
	struct jw w = jw_begin(out);
	int r = 0;

	new_value(&g, -1, NULL);
	g.all[0].type = OBJECT;
	for (struct json_iter it = json_iter(j, pieces); json_type(j, pieces) == JSON_ARRAY && json_next(&it);)
		if (set(&g, j, it.value) < 0)
			r = -1;
	put(&g, &w, 0);
	for (int i = 0; i < g.n; i++) {
		free(g.all[i].key);
		buf_free(&g.all[i].text);
	}
	free(g.all);
	return r;
}

/* catalog_check.c - what a row may say: names of members, their types, and the words that mean something. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "llm/catalog.h"
#include "llm/effort.h"
#include "llm/quirk.h"
#include "llm/wire.h"

enum kind { TEXT, NUMBER, TEXTS, TEXT_MAP, OBJECT, QUIRK_LIST, INPUT_LIST, EFFORT_MAP, STYLE, WIRE, PRICE, ABOVE, WORD, ARGV };

struct member {
	const char *name;
	enum kind kind;
	const char *words;        /* WORD: "a|b" */
	bool own;                 /* in a user's file only */
};

static const struct member provider_members[] = {
	{"name", TEXT, NULL, false}, {"aliases", TEXTS, NULL, false},
	{"kind", WORD, "direct|gateway|local|enterprise", false}, {"title", TEXT, NULL, false}, {"wire", WIRE, NULL, false},
	{"base_url", TEXT, NULL, false}, {"base_keywords", TEXTS, NULL, false}, {"path", TEXT, NULL, false},
	{"path_stream", TEXT, NULL, false}, {"query", TEXT, NULL, false}, {"key_env", TEXTS, NULL, false},
	{"key", WORD, "optional", false}, {"key_prefix", TEXT, NULL, false}, {"key_command", ARGV, NULL, true},
	{"key_file", TEXT, NULL, true}, {"auth", TEXT, NULL, false}, {"headers", TEXT_MAP, NULL, false},
	{"prefixes", TEXTS, NULL, false}, {"strip", TEXTS, NULL, false}, {"pin", TEXT, NULL, false},
	{"default_model", TEXT, NULL, false}, {"default_max_tokens", NUMBER, NULL, false}, {"max_output", NUMBER, NULL, false},
	{"context", NUMBER, NULL, false}, {"cache", WORD, "marks|automatic|none", false}, {"thinking", STYLE, NULL, false},
	{"efforts", EFFORT_MAP, NULL, false}, {"quirks", QUIRK_LIST, NULL, false}, {"input", INPUT_LIST, NULL, false},
	{"cascade", TEXTS, NULL, false}, {"extra", OBJECT, NULL, false}, {"price", PRICE, NULL, false},
	{"price_factor", NUMBER, NULL, false}, {NULL, TEXT, NULL, false}};

static const struct member model_members[] = {
	{"provider", TEXT, NULL, false}, {"wire", WIRE, NULL, false}, {"context", NUMBER, NULL, false},
	{"max_output", NUMBER, NULL, false}, {"default_max_tokens", NUMBER, NULL, false}, {"price", PRICE, NULL, false},
	{"price_above", ABOVE, NULL, false}, {"cache", WORD, "marks|automatic|none", false}, {"thinking", STYLE, NULL, false},
	{"efforts", EFFORT_MAP, NULL, false}, {"quirks", QUIRK_LIST, NULL, false}, {"input", INPUT_LIST, NULL, false},
	{"extra", OBJECT, NULL, false}, {NULL, TEXT, NULL, false}};

static int fault(const struct table *t, int v, const char *name, const char *what, struct err *e)
{
	struct buf where;

	buf_init(&where, 4096 + 32);
	at_where(&where, &(struct at){t, v});
	err_set(e, ST_CONFIG, "%s: %s: %s", where.p, name, what);
	buf_free(&where);
	return -1;
}

static bool among(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; *p; p += strcspn(p, "|"), p += *p == '|')
		if (strcspn(p, "|") == n && strncmp(p, word, n) == 0)
			return true;
	return false;
}

static const char *word_fault(const char *s, const struct member *m)
{
	uint64_t set = 0;

	switch (m->kind) {
	case QUIRK_LIST:
		return quirk_add(&set, s, strlen(s)) ? NULL : "there is no such quirk";
	case INPUT_LIST:
		return among("image|pdf", s) ? NULL : "expected image or pdf";
	case STYLE:
		return style_find(s) < STYLES ? NULL : "there is no such style of thinking";
	case WIRE:
		return wire_find(s) ? NULL : "there is no such wire";
	case WORD:
		return among(m->words, s) ? NULL : "it is not one of the words known here";
	default:
		return NULL;
	}
}

static int check_word(const struct table *t, int v, const struct member *m, struct err *e)
{
	char *s = json_dup(&t->json, v);
	const char *bad = s ? word_fault(s, m) : "expected a string";

	if (bad) {
		char name[160];
		struct buf b;

		buf_init(&b, sizeof name);
		buf_addf(&b, "%s%s%.80s", m->name, s ? " " : "", s ? s : "");
		fault(t, v, b.p, bad, e);
		buf_free(&b);
	}
	free(s);
	return bad ? -1 : 0;
}

static int check_number(const struct table *t, int v, const char *name, struct err *e)
{
	double d;

	return json_type(&t->json, v) != JSON_NUMBER || json_double(&t->json, v, &d) < 0 || d < 0 ?
		fault(t, v, name, "expected a number that is not negative", e) : 0;
}

static int check_price(const struct table *t, int v, bool above, struct err *e)
{
	const struct json *j = &t->json;

	if (json_type(j, v) != JSON_OBJECT)
		return fault(t, v, "price", "expected an object", e);
	for (struct json_iter it = json_iter(j, v); json_next(&it);) {
		char *key = json_dup(j, it.key);
		bool known = key && (among("input|output|cache_read|cache_write|cache_write_1h", key) ||
			(above && !strcmp(key, "tokens")));
		int bad = !known ? fault(t, it.key, key ? key : "price", "a price has no such member", e) :
			json_type(j, it.value) == JSON_NULL ? 0 : check_number(t, it.value, key, e);

		free(key);
		if (bad)
			return -1;
	}
	return 0;
}

static int check_efforts(const struct table *t, int v, struct err *e)
{
	const struct json *j = &t->json;

	if (json_type(j, v) != JSON_OBJECT)
		return fault(t, v, "efforts", "expected an object", e);
	for (struct json_iter it = json_iter(j, v); json_next(&it);) {
		char *key = json_dup(j, it.key);
		int bad = !key || !*key || effort_find(key) == EFFORTS ?
			fault(t, it.key, key ? key : "efforts", "there is no such effort", e) :
			json_type(j, it.value) != JSON_STRING ? fault(t, it.value, key, "expected a string", e) : 0;

		free(key);
		if (bad)
			return -1;
	}
	return 0;
}

static int check_list(const struct table *t, int v, const struct member *m, struct err *e)
{
	if (json_type(&t->json, v) != JSON_ARRAY)
		return fault(t, v, m->name, "expected an array", e);
	if (m->kind == ARGV && json_count(&t->json, v) == 0)
		return fault(t, v, m->name, "it names no program", e);
	for (struct json_iter it = json_iter(&t->json, v); json_next(&it);)
		if (check_word(t, it.value, m, e) < 0)
			return -1;
	return 0;
}

static int check_member(const struct table *t, int v, const struct member *m, struct err *e)
{
	switch (m->kind) {
	case NUMBER:
		return check_number(t, v, m->name, e);
	case TEXTS: case ARGV: case QUIRK_LIST: case INPUT_LIST:
		return check_list(t, v, m, e);
	case OBJECT: case TEXT_MAP:
		if (json_type(&t->json, v) != JSON_OBJECT)
			return fault(t, v, m->name, "expected an object", e);
		for (struct json_iter it = json_iter(&t->json, v); m->kind == TEXT_MAP && json_next(&it);)
			if (json_type(&t->json, it.value) != JSON_STRING)
				return fault(t, it.value, m->name, "expected strings", e);
		return 0;
	case EFFORT_MAP:
		return check_efforts(t, v, e);
	case PRICE: case ABOVE:
		return check_price(t, v, m->kind == ABOVE, e);
	default:
		return check_word(t, v, m, e);
	}
}

static int check_row(const struct table *t, int row, const char *name, const struct member *members, struct err *e)
{
	const struct json *j = &t->json;

	if (json_type(j, row) != JSON_OBJECT)
		return fault(t, row, name, "expected an object", e);
	for (struct json_iter it = json_iter(j, row); json_next(&it);) {
		const struct member *m = members;

		while (m->name && !json_eq(j, it.key, m->name))
			m++;
		if (!m->name || (m->own && !t->own)) {
			char *key = json_dup(j, it.key);

			fault(t, it.key, key ? key : "?", "there is no such member", e);
			free(key);
			return err_wrap(e, "row %s", name);
		}
		if (check_member(t, it.value, m, e) < 0)
			return err_wrap(e, "row %s", name);
	}
	return 0;
}

int catalog_check_providers(const struct table *t, struct err *e)
{
	if (!t->path)
		return 0;
	for (struct json_iter it = json_iter(&t->json, 0); json_next(&it);) {
		char *name = json_dup(&t->json, json_get(&t->json, it.value, "name"));
		int bad = name && *name ? check_row(t, it.value, name, provider_members, e) :
			fault(t, it.value, "a row", "it is an object with a name", e);

		free(name);
		if (bad)
			return -1;
	}
	return 0;
}

int catalog_check_models(const struct table *t, struct err *e)
{
	if (!t->path)
		return 0;
	for (struct json_iter it = json_iter(&t->json, 0); json_next(&it);) {
		char *name = json_dup(&t->json, it.key);
		int bad = check_row(t, it.value, name ? name : "?", model_members, e);

		free(name);
		if (bad)
			return -1;
	}
	return 0;
}

#include "llm/provider.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define CATALOG_MAX ((size_t)16 << 20)

static int catalog_read(const char *name, struct buf *text, struct json *j, enum json_type want, struct err *e)
{
	struct buf path;
	int bad;

	buf_init(&path, PATH_MAX);
	bad = dirs_share(&path, name, e) < 0 || io_read_file(AT_FDCWD, path.p, text, e) < 0;
	if (!bad && json_parse(j, text->p, text->len, e) < 0)
		bad = 1;
	else if (!bad && json_type(j, 0) != want)
		bad = err_set(e, ST_CONFIG, "not %s", json_type_name(want));
	if (bad) {
		err_wrap(e, "%s", path.len ? path.p : name);
		e->status = ST_CONFIG;
	}
	buf_free(&path);
	return bad ? -1 : 0;
}

int catalog_open(struct catalog *c, struct err *e)
{
	*c = (struct catalog){.providers = JSON_INIT, .models = JSON_INIT};
	buf_init(&c->providers_text, CATALOG_MAX);
	buf_init(&c->models_text, CATALOG_MAX);
	if (catalog_read("providers.json", &c->providers_text, &c->providers, JSON_ARRAY, e) < 0 ||
	    catalog_read("models.json", &c->models_text, &c->models, JSON_OBJECT, e) < 0) {
		catalog_close(c);
		return -1;
	}
	return 0;
}

void catalog_close(struct catalog *c)
{
	json_free(&c->providers);
	json_free(&c->models);
	buf_free(&c->providers_text);
	buf_free(&c->models_text);
}

static bool name_is(const struct json *j, int v, const char *s, size_t n)
{
	struct buf b;
	bool same;

	if (json_strlen(j, v) != n)
		return false;
	buf_init(&b, n + 1);
	same = json_str(j, v, &b) == 0 && b.len == n && !memcmp(b.p, s, n);
	buf_free(&b);
	return same;
}

/* The row of the provider or alias s[0..n), or -1. */
static int row_named(const struct json *j, const char *s, size_t n)
{
	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		if (name_is(j, json_get(j, it.value, "name"), s, n))
			return it.value;
		for (struct json_iter a = json_iter(j, json_get(j, it.value, "aliases")); json_next(&a);)
			if (name_is(j, a.value, s, n))
				return it.value;
	}
	return -1;
}

/* The row that claims the model's beginning, or -1. */
static int row_claiming(const struct json *j, const char *model)
{
	for (struct json_iter it = json_iter(j, 0); json_next(&it);)
		for (struct json_iter a = json_iter(j, json_get(j, it.value, "prefixes")); json_next(&a);) {
			char *prefix = json_dup(j, a.value);
			bool fits = prefix && *prefix && !strncmp(model, prefix, strlen(prefix));

			free(prefix);
			if (fits)
				return it.value;
		}
	return -1;
}

/* Length of a date at the end of the model's name: "-20250929", "-2025-04-14"; 0 if there is none. */
static size_t date_length(const char *model, size_t n)
{
	static const char *const shapes[] = {"-dddddddd", "-dddd-dd-dd"};

	for (int k = 0; k < 2; k++) {
		size_t m = strlen(shapes[k]), i = 0;

		if (n <= m)
			continue;
		for (const char *p = model + n - m; i < m; i++, p++)
			if (shapes[k][i] == 'd' ? !isdigit((unsigned char)*p) : *p != '-')
				break;
		if (i == m)
			return m;
	}
	return 0;
}

/* The row of a model, with or without a date behind its name, or -1. */
static int model_row(const struct json *j, const char *model)
{
	char *plain = xstrdup(model);
	int v = json_get(j, 0, plain);

	if (v < 0) {
		size_t n = strlen(plain);
		plain[n - date_length(plain, n)] = 0;
		v = json_get(j, 0, plain);
	}
	free(plain);
	return v;
}

static int64_t number(const struct json *j, int object, const char *key)
{
	int64_t n;

	return json_i64(j, json_get(j, object, key), &n) == 0 && n > 0 ? n : 0;
}

static char *text(const struct json *j, int object, const char *key)
{
	char *s = json_dup(j, json_get(j, object, key));

	return s ? s : xstrdup("");
}

static char *members(const struct json *j, int object)
{
	struct buf b;

	if (json_count(j, object) == 0)
		return NULL;
	buf_init(&b, CATALOG_MAX);
	json_compact(&b, j, object);
	buf_cut(&b, 1);
	buf_truncate(&b, b.len - 1);
	return buf_detach(&b);
}

static void take_quirks(const struct json *j, int row, struct provider *p)
{
	for (struct json_iter it = json_iter(j, json_get(j, row, "quirks")); json_next(&it);) {
		char *word = json_dup(j, it.value);

		if (word)
			quirk_add(&p->quirks, word, strlen(word));
		free(word);
	}
}

static void take_row(const struct json *j, int row, struct provider *p)
{
	int keys = json_get(j, row, "key_env");
	size_t n = 0;

	p->name = text(j, row, "name");
	p->wire = text(j, row, "wire");
	p->base_url = text(j, row, "base_url");
	p->auth = text(j, row, "auth");
	p->key_env = xcalloc((size_t)json_count(j, keys) + 1, sizeof *p->key_env);
	for (struct json_iter it = json_iter(j, keys); json_next(&it);)
		if ((p->key_env[n] = json_dup(j, it.value)))
			n++;
	p->key_optional = json_eq(j, json_get(j, row, "key"), "optional");
	take_quirks(j, row, p);
	p->cache = json_eq(j, json_get(j, row, "cache"), "marks") ? CACHE_MARKS :
		json_eq(j, json_get(j, row, "cache"), "automatic") ? CACHE_AUTOMATIC : CACHE_NONE;
	p->extra = members(j, json_get(j, row, "extra"));
	p->max_tokens = number(j, row, "default_max_tokens");
	p->context = number(j, row, "context");
}

/* What models.json knows of the model, if its row is of this provider. */
static void take_model(const struct json *j, struct provider *p)
{
	static const char *const names[] = {
		[PRICE_INPUT] = "input", [PRICE_OUTPUT] = "output",
		[PRICE_CACHE_READ] = "cache_read", [PRICE_CACHE_WRITE] = "cache_write"};
	int row = model_row(j, p->model);
	int64_t limit;

	for (int i = 0; i < 4; i++)
		p->price[i] = -1;
	if (row < 0 || !json_eq(j, json_get(j, row, "provider"), p->name))
		return;
	if (number(j, row, "context"))
		p->context = number(j, row, "context");
	limit = number(j, row, "max_output");
	if (limit && p->max_tokens > limit)
		p->max_tokens = limit;
	for (int i = 0; i < 4; i++)
		if (json_double(j, json_get(j, json_get(j, row, "price"), names[i]), &p->price[i]) < 0)
			p->price[i] = -1;
}

static int unknown_provider(const struct json *j, const char *name, struct err *e)
{
	struct buf b;

	buf_init(&b, 600);
	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		buf_adds(&b, b.len ? ", " : "");
		json_str(j, json_get(j, it.value, "name"), &b);
	}
	err_set(e, ST_CONFIG, "model '%s': no known provider; write PROVIDER/MODEL with one of %s, or set CLAWS_BASE_URL",
		name, b.p);
	buf_free(&b);
	return -1;
}

int provider_find(const struct catalog *c, const char *name, bool custom, struct provider *p, struct err *e)
{
	const struct json *j = &c->providers;
	const char *model = name;
	size_t first = strcspn(name, "/:");
	int row = -1, known;

	memset(p, 0, sizeof *p);
	if (name[first] && (row = row_named(j, name, first)) >= 0)
		model = name + first + 1;
	if (row < 0 && (known = model_row(&c->models, name)) >= 0) {
		char *of = text(&c->models, known, "provider");

		row = row_named(j, of, strlen(of));
		free(of);
	}
	if (row < 0)
		row = row_claiming(j, name);
	if (row < 0 && custom)
		row = row_named(j, "custom", 6);
	if (row < 0)
		return unknown_provider(j, name, e);
	if (!*model)
		return err_set(e, ST_CONFIG, "model '%s': the model's name is missing behind the provider's", name);
	take_row(j, row, p);
	p->model = xstrdup(model);
	take_model(&c->models, p);
	return 0;
}

void provider_free(struct provider *p)
{
	for (char **k = p->key_env; k && *k; k++)
		free(*k);
	free(p->key_env);
	free(p->name);
	free(p->model);
	free(p->wire);
	free(p->base_url);
	free(p->auth);
	free(p->extra);
	memset(p, 0, sizeof *p);
}

static bool key_is_set(const struct json *j, int names)
{
	for (struct json_iter it = json_iter(j, names); json_next(&it);) {
		char *name = json_dup(j, it.value);
		const char *key = name ? getenv(name) : NULL;

		free(name);
		if (key && *key)
			return true;
	}
	return false;
}

char *provider_default(const struct catalog *c)
{
	const struct json *j = &c->providers;

	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		char *name = json_dup(j, json_get(j, it.value, "name")), *found = NULL;
		char *model = json_dup(j, json_get(j, it.value, "default_model"));

		if (name && model && key_is_set(j, json_get(j, it.value, "key_env")))
			found = xasprintf("%s/%s", name, model);
		free(name);
		free(model);
		if (found)
			return found;
	}
	return NULL;
}

double provider_cost(const struct provider *p, const struct usage *u)
{
	const int64_t count[4] = {
		[PRICE_INPUT] = u->input, [PRICE_OUTPUT] = u->output,
		[PRICE_CACHE_READ] = u->cache_read, [PRICE_CACHE_WRITE] = u->cache_write};
	double sum = 0;

	if (u->input < 0 || u->output < 0)
		return -1;
	for (int i = 0; i < 4; i++) {
		if (count[i] <= 0)
			continue;
		if (p->price[i] < 0)
			return -1;
		sum += (double)count[i] * p->price[i] / 1e6;
	}
	return sum;
}

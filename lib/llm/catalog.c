#include "llm/catalog.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "net/url.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define CATALOG_MAX ((size_t)16 << 20)

static int line_of(const struct table *t, size_t at)
{
	int line = 1;

	for (size_t i = 0; i < at && i < t->text.len; i++)
		line += t->text.p[i] == '\n';
	return line;
}

void at_where(struct buf *out, const struct at *a)
{
	size_t len;
	const char *raw = json_raw(&a->t->json, a->v, &len);

	buf_addf(out, "%s:%d", a->t->path, raw ? line_of(a->t, (size_t)(raw - a->t->json.text)) : 1);
}

static int table_parse(struct table *t, enum json_type want, struct err *e)
{
	if (io_read_file(AT_FDCWD, t->path, &t->text, e) < 0)
		return -1;
	if (json_parse(&t->json, t->text.p, t->text.len, e) < 0)
		return err_wrap(e, "%s:%d", t->path, line_of(t, t->json.fault_at));
	if (json_type(&t->json, 0) != want)
		return err_set(e, ST_CONFIG, "%s: it is not %s", t->path, want == JSON_ARRAY ? "an array" : "an object");
	return 0;
}

static int table_open(struct table *t, const char *name, bool own, enum json_type want, struct err *e)
{
	struct buf path;
	int bad;

	*t = (struct table){.json = JSON_INIT, .own = own};
	buf_init(&t->text, CATALOG_MAX);
	buf_init(&path, PATH_MAX);
	bad = own ? dirs_config_path(&path, name, e) : dirs_share(&path, name, e);
	/* where there is no home there is no file of the user's either */
	if (own && (bad < 0 || access(path.p, F_OK) != 0)) {
		err_clear(e);
		buf_free(&path);
		return 0;
	}
	if (bad == 0) {
		t->path = buf_detach(&path);
		bad = table_parse(t, want, e);
	}
	if (bad < 0 && e)
		e->status = ST_CONFIG;
	buf_free(&path);
	return bad;
}

int catalog_open(struct catalog *c, struct err *e)
{
	struct err own = ERR_INIT;

	memset(c, 0, sizeof *c);
	e = e ? e : &own;
	if (table_open(&c->providers[0], "providers.json", true, JSON_ARRAY, e) < 0 ||
	    table_open(&c->providers[1], "providers.json", false, JSON_ARRAY, e) < 0 ||
	    table_open(&c->models[0], "models.json", true, JSON_OBJECT, e) < 0 ||
	    table_open(&c->models[1], "models.json", false, JSON_OBJECT, e) < 0 ||
	    catalog_check_providers(&c->providers[0], e) < 0 || catalog_check_models(&c->models[0], e) < 0) {
		catalog_close(c);
		return -1;
	}
	return 0;
}

void catalog_close(struct catalog *c)
{
	struct table *t[] = {&c->providers[0], &c->providers[1], &c->models[0], &c->models[1]};

	for (int i = 0; i < 4; i++) {
		json_free(&t[i]->json);
		buf_free(&t[i]->text);
		free(t[i]->path);
		t[i]->path = NULL;
	}
}

/* Is the string at v, in any case, s[0..n)? Names hold no escapes: their bytes are compared as they stand. */
static bool same(const struct json *j, int v, const char *s, size_t n)
{
	size_t len;
	const char *raw = json_raw(j, v, &len);

	return raw && *raw == '"' && len == n + 2 && strncasecmp(raw + 1, s, n) == 0;
}

/* Adds the rows of this very name in all layers. */
static bool layers(const struct catalog *c, const char *name, size_t n, struct row *r)
{
	r->n = 0;
	for (int k = 0; k < 2; k++) {
		const struct json *j = &c->providers[k].json;

		if (!c->providers[k].path)
			continue;
		for (struct json_iter it = json_iter(j, 0); json_next(&it);)
			if (same(j, json_get(j, it.value, "name"), name, n)) {
				r->t[r->n] = &c->providers[k];
				r->v[r->n++] = it.value;
				break;
			}
	}
	return r->n > 0;
}

static bool layers_of(const struct catalog *c, const struct json *j, int row, struct row *r)
{
	char *name = json_dup(j, json_get(j, row, "name"));
	bool found = name && layers(c, name, strlen(name), r);

	free(name);
	return found;
}

bool catalog_provider(const struct catalog *c, const char *s, size_t n, struct row *r)
{
	if (!n)
		return false;
	if (layers(c, s, n, r))
		return true;
	for (int k = 0; k < 2; k++) {
		const struct json *j = &c->providers[k].json;

		if (!c->providers[k].path)
			continue;
		for (struct json_iter it = json_iter(j, 0); json_next(&it);)
			for (struct json_iter a = json_iter(j, json_get(j, it.value, "aliases")); json_next(&a);)
				if (same(j, a.value, s, n))
					return layers_of(c, j, it.value, r);
	}
	return false;
}

/* Finds the row with the best score above 0; of equals the user's, then the first. */
static bool best(const struct catalog *c, size_t (*score)(const struct json *j, int row, const char *what), const char *what,
                 struct row *r)
{
	size_t most = 0;
	bool found = false;

	for (int k = 0; k < 2; k++) {
		const struct json *j = &c->providers[k].json;

		if (!c->providers[k].path)
			continue;
		for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
			size_t n = score(j, it.value, what);

			if (n > most) {
				most = n;
				found = layers_of(c, j, it.value, r);
			}
		}
	}
	return found;
}

/* Length of the longest string of the list that begins what, in any case. */
static size_t longest(const struct json *j, int list, const char *what)
{
	size_t most = 0, len;

	for (struct json_iter a = json_iter(j, list); json_next(&a);) {
		const char *raw = json_raw(j, a.value, &len);

		if (raw && *raw == '"' && len > most + 2 && strncasecmp(raw + 1, what, len - 2) == 0)
			most = len - 2;
	}
	return most;
}

static size_t score_prefix(const struct json *j, int row, const char *what)
{
	return longest(j, json_get(j, row, "prefixes"), what);
}

static size_t score_key(const struct json *j, int row, const char *what)
{
	size_t len;
	const char *raw = json_raw(j, json_get(j, row, "key_prefix"), &len);

	return raw && *raw == '"' && len > 2 && strncmp(raw + 1, what, len - 2) == 0 ? len - 2 : 0;
}

static size_t score_url(const struct json *j, int row, const char *what)
{
	char *base = json_dup(j, json_get(j, row, "base_url"));
	struct url a, b;
	size_t n = 0, len;

	if (base && !strchr(base, '$') && url_parse(base, &a, NULL) == 0 && url_parse(what, &b, NULL) == 0 &&
	    a.port == b.port && !strcmp(a.host, b.host)) {
		/* several rows share a host: the one whose path goes further fits better */
		size_t path = strlen(base + a.path);

		n = 10 + (strncmp(base + a.path, what + b.path, path) == 0 ? path : 0);
	}
	free(base);
	for (struct json_iter it = json_iter(j, json_get(j, row, "base_keywords")); json_next(&it);) {
		char *word = json_dup(j, it.value);

		len = word ? strlen(word) : 0;
		if (len && strstr(what, word) && len > n)
			n = len;
		free(word);
	}
	return n;
}

bool catalog_claims(const struct catalog *c, const char *model, struct row *r)
{
	return best(c, score_prefix, model, r);
}

bool catalog_at_url(const struct catalog *c, const char *base, struct row *r)
{
	return best(c, score_url, base, r);
}

bool catalog_by_key(const struct catalog *c, const char *key, struct row *r)
{
	return best(c, score_key, key, r);
}

bool catalog_nth(const struct catalog *c, size_t n, struct row *r)
{
	const struct json *j = &c->providers[1].json;

	for (struct json_iter it = json_iter(j, 0); json_next(&it);)
		if (n-- == 0)
			return layers_of(c, j, it.value, r);
	j = &c->providers[0].json;
	if (!c->providers[0].path)
		return false;
	for (struct json_iter it = json_iter(j, 0); json_next(&it);)
		if (layers_of(c, j, it.value, r) && r->n == 1 && n-- == 0)
			return true;
	return false;
}

/* Length of a date or version at the end of the model's name: "-20250929", "-2025-04-14", "-v1", "-latest"; 0 if there
 * is none. */
static size_t tail(const char *model)
{
	static const char *const shapes[] = {"-dddddddd", "-dddd-dd-dd", "-vd", "-latest"};
	size_t n = strlen(model);

	for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
		size_t m = strlen(shapes[k]), i = 0;

		if (n <= m)
			continue;
		for (const char *p = model + n - m; i < m; i++, p++)
			if (k < 3 && shapes[k][i] == 'd' ? !isdigit((unsigned char)*p) : *p != shapes[k][i])
				break;
		if (i == m)
			return m;
	}
	return 0;
}

enum { NAMES = 10 };

static void push(char **names, int *n, const char *s)
{
	if (*n < NAMES && *s && strcmp(names[*n - 1], s) != 0)
		names[(*n)++] = xstrdup(s);
}

/* The names under which a model may be known, from the whole to the plain one. */
static int names_of(const char *model, char **names)
{
	char *all = xstrdup(model), *s = all, *at;
	int n = 1;
	size_t m;

	for (char *p = all; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	names[0] = xstrdup(all);
	if ((at = strchr(s + (*s != 0), '@')))                /* @region, @provider/quantization, @date of Vertex */
		*at = 0;
	push(names, &n, s);
	if ((at = strrchr(s, '/')))
		s = at + 1;
	push(names, &n, s);
	if ((at = strchr(s, ':')))
		*at = 0;
	push(names, &n, s);
	while ((at = strchr(s, '.')) && strspn(s, "abcdefghijklmnopqrstuvwxyz") == (size_t)(at - s))
		s = at + 1;                                   /* "us.anthropic." of Bedrock */
	push(names, &n, s);
	while ((m = tail(s))) {
		s[strlen(s) - m] = 0;
		push(names, &n, s);
	}
	free(all);
	return n;
}

/* How well the key of a row names the model; 0: not at all. */
static size_t fit(const char *key, size_t len, const char *provider, char *const *names, int n, bool *here)
{
	size_t of = provider ? strlen(provider) : 0;
	bool qualified = of && len > of + 1 && strncasecmp(key, provider, of) == 0 && key[of] == '/';
	const char *rest = qualified ? key + of + 1 : key;
	size_t m = qualified ? len - of - 1 : len;

	for (int i = 0; i < n; i++) {
		*here = qualified;
		if (strlen(names[i]) == m && strncasecmp(names[i], rest, m) == 0)
			return 2000 - (size_t)i;
		if (m && rest[m - 1] == '*' && strncasecmp(names[i], rest, m - 1) == 0)
			return m < 500 ? m : 500;
		*here = false;
		if (qualified && strlen(names[i]) == len && strncasecmp(names[i], key, len) == 0)
			return 2000 - (size_t)i;
	}
	return 0;
}

static bool model_row(const struct catalog *c, const char *provider, bool here, const char *model, struct row *r)
{
	char *names[NAMES];
	int n = names_of(model, names), at[2] = {-1, -1};
	size_t most[2] = {0, 0}, len;

	for (int k = 0; k < 2; k++) {
		const struct json *j = &c->models[k].json;

		if (!c->models[k].path)
			continue;
		for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
			const char *raw = json_raw(j, it.key, &len);
			bool qualified = false;
			size_t score = fit(raw + 1, len - 2, provider, names, n, &qualified);

			if (score > most[k] && qualified == here) {
				most[k] = score;
				at[k] = it.value;
			}
		}
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	r->n = 0;
	for (int i = 0; i < 2; i++) {
		int k = most[0] >= most[1] ? i : 1 - i;

		if (at[k] >= 0) {
			r->t[r->n] = &c->models[k];
			r->v[r->n++] = at[k];
		}
	}
	return r->n > 0;
}

struct at row_get(const struct row *r, const char *member)
{
	struct at a = {NULL, -1};

	for (int i = 0; i < r->n; i++) {
		a.t = r->t[i];
		a.v = json_get(&a.t->json, r->v[i], member);
		if (a.v >= 0)
			return a;
	}
	return a;
}

bool row_is(const struct row *r, const char *member, const char *word)
{
	struct at a = row_get(r, member);

	return a.v >= 0 && json_eq(&a.t->json, a.v, word);
}

char *row_text(const struct row *r, const char *member)
{
	struct at a = row_get(r, member);

	return a.v >= 0 ? json_dup(&a.t->json, a.v) : NULL;
}

bool catalog_model(const struct catalog *c, const char *provider, const char *model, struct row *r)
{
	return model_row(c, provider, false, model, r);
}

bool catalog_model_here(const struct catalog *c, const char *provider, const char *model, struct row *r)
{
	return model_row(c, provider, true, model, r);
}

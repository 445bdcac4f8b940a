/* provider.c - which row serves a model, at which address. */
#include "llm/provider.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "json/jw.h"
#include "llm/window.h"

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

/* NAME_BASE_URL, the name in capitals. To be freed. */
static char *base_variable(const char *provider)
{
	char *name = xasprintf("%s_BASE_URL", provider);

	for (char *c = name; *c; c++)
		*c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	return name;
}

static int unknown_provider(const struct catalog *c, const char *name, struct err *e)
{
	struct buf b;
	struct row r;

	buf_init(&b, 4096);
	for (size_t i = 0; catalog_nth(c, i, &r); i++) {
		char *s = row_text(&r, "name");

		buf_addf(&b, "%s%s", b.len ? ", " : "", s ? s : "?");
		free(s);
	}
	err_set(e, ST_CONFIG, "model '%s': no known provider; write PROVIDER/MODEL with one of %s, or set CLAWS_BASE_URL",
		name, b.p);
	buf_free(&b);
	return -1;
}

static bool row_by_gateway(const struct catalog *c, struct row *r)
{
	for (size_t i = 0; catalog_nth(c, i, r); i++)
		if (row_is(r, "kind", "gateway") && provider_key_set(r))
			return true;
	return false;
}

/* The model's row names its provider. Families come last: "llama*" says what a model is, not who serves it best. */
static bool row_by_model(const struct catalog *c, const char *name, bool family, struct row *r)
{
	struct row m;
	const char *at;
	size_t len;
	char *of;
	bool found;

	/* "meta/llama-3" names a vendor: nobody is meant by what follows alone */
	if (strchr(name, '/') || !catalog_model(c, NULL, name, &m))
		return false;
	/* the key lies before the value: its last byte before the quote tells a family */
	for (at = json_raw(&m.t[0]->json, m.v[0], &len); *at != '"'; at--)
		;
	if ((at[-1] == '*') != family)
		return false;
	of = row_text(&m, "provider");
	found = of && catalog_provider(c, of, strlen(of), r);
	free(of);
	return found;
}

struct choice {
	struct row row;
	const char *model;
	const char *rule;             /* NULL: none applied */
};

static void choose(const struct catalog *c, const struct provider_want *w, const char *given, struct choice *o)
{
	const char *name = w->name, *key = env("CLAWS_API_KEY");
	size_t first = strcspn(name, "/:");

	o->model = name;
	o->rule = NULL;
	if (w->provider) {
		size_t n = strlen(w->provider);

		if (!catalog_provider(c, w->provider, n, &o->row))
			return;
		if (strncmp(name, w->provider, n) == 0 && (name[n] == '/' || name[n] == ':'))
			o->model = name + n + 1;
		o->rule = "it is forced";
	} else if (name[first] && catalog_provider(c, name, first, &o->row)) {
		o->model = name + first + 1;
		o->rule = "the model's name begins with it";
	} else if (given && catalog_at_url(c, given, &o->row)) {
		o->rule = "the base URL is one of it";
	} else if (row_by_model(c, name, false, &o->row)) {
		o->rule = "the model's row in models.json names it";
	} else if (catalog_claims(c, name, &o->row)) {
		o->rule = "it claims the beginning of the model's name";
	} else if (given && catalog_provider(c, "custom", 6, &o->row)) {
		o->rule = "a base URL is given that is nobody's";
	} else if (key && *name && catalog_by_key(c, key, &o->row)) {
		o->rule = "CLAWS_API_KEY begins as a key of it";
	} else if (name[first] == '/' && first && name[first + 1] && row_by_gateway(c, &o->row)) {
		o->rule = "it is the first gateway whose key is set";
	} else if (row_by_model(c, name, true, &o->row)) {
		o->rule = "the model's family in models.json names it";
	}
}

/* The model's name without what the row strips, and without the @provider/quantization that a gateway's row turns into a
 * member of the request. */
static void sent_name(const struct row *r, const char *model, struct provider *p)
{
	struct at strip = row_get(r, "strip");
	char *member = row_text(r, "pin"), *at;

	if (strip.v >= 0)
		for (struct json_iter it = json_iter(&strip.t->json, strip.v); json_next(&it);) {
			char *s = json_dup(&strip.t->json, it.value);
			const char *last = strrchr(model, '/');

			if (s && !strcmp(s, "*/") && last && last[1])
				model = last + 1;
			else if (s && *s && !strncmp(model, s, strlen(s)) && model[strlen(s)])
				model += strlen(s);
			free(s);
		}
	p->model = xstrdup(model);
	if (member && *p->model && (at = strchr(p->model + 1, '@')) && at[1]) {
		char *slash = strchr(at + 1, '/');
		struct buf b;
		struct jw w;

		*at = 0;
		if (slash)
			*slash = 0;
		buf_init(&b, 1 << 20);
		w = jw_begin(&b);
		jw_obj(&w);
		jw_key(&w, member);
		jw_obj(&w);
		jw_key(&w, "order");
		jw_arr(&w);
		jw_str(&w, at + 1);
		jw_end(&w);
		jw_kbool(&w, "allow_fallbacks", false);
		if (slash && slash[1]) {
			jw_key(&w, "quantizations");
			jw_arr(&w);
			jw_str(&w, slash + 1);
			jw_end(&w);
		}
		jw_end(&w);
		jw_end(&w);
		buf_cut(&b, 1);
		buf_truncate(&b, b.len - 1);
		p->extra = buf_detach(&b);
	}
	free(member);
}

/* The address: of the option, NAME_BASE_URL, CLAWS_BASE_URL, the row. True: not the row's. */
static bool find_base(const struct provider_want *w, struct provider *p)
{
	char *name = base_variable(p->name);
	const char *v = w->base_url;
	const char *from = v ? "--base-url" : NULL;

	if (!v && (v = env(name)))
		from = name;
	if (!v && (v = env("CLAWS_BASE_URL")))
		from = "CLAWS_BASE_URL";
	if (v) {
		free(p->base_url);
		free(p->missing);
		p->base_url = xstrdup(v);
		p->missing = NULL;
		if (w->explain) {
			free(p->from[FROM_URL]);
			p->from[FROM_URL] = xstrdup(from);
		}
	}
	free(name);
	return v != NULL;
}

static bool shares_key(const struct row *r, const struct provider *p)
{
	struct at a = row_get(r, "key_env");

	for (char **k = p->key_env; a.v >= 0 && *k; k++)
		for (struct json_iter it = json_iter(&a.t->json, a.v); json_next(&it);)
			if (json_eq(&a.t->json, it.value, *k))
				return true;
	return false;
}

/* CLAWS_API_KEY is for whoever is called, but a key that tells whose it is goes to nobody else. Where the user gives an address
 * he says himself who gets it. */
static void find_general(const struct catalog *c, struct provider *p)
{
	const char *key = env("CLAWS_API_KEY");
	struct row r;
	char *name;

	if (!key || !catalog_by_key(c, key, &r))
		return;
	name = row_text(&r, "name");
	if (name && strcmp(name, p->name) != 0 && !shares_key(&r, p))
		p->general_of = name;
	else
		free(name);
}

/* What a local or custom server said of its window the last time it was asked (window.h). */
static void find_window(const struct provider_want *w, struct provider *p)
{
	int64_t n;

	if (p->context_known || !*p->base_url || (!p->local && strcmp(p->name, "custom") != 0))
		return;
	n = window_known(p->base_url, p->model);
	if (n <= 0)
		return;
	p->context = n;
	p->context_known = true;
	if (w->explain) {
		free(p->from[FROM_CONTEXT]);
		p->from[FROM_CONTEXT] = xstrdup("the server's list of models, as kept in the cache");
	}
}

int provider_find(const struct catalog *c, const struct provider_want *w, struct provider *p, struct err *e)
{
	const char *given = w->base_url ? w->base_url : env("CLAWS_BASE_URL");
	struct choice o;
	struct row m, here;
	bool known;

	memset(p, 0, sizeof *p);
	if (!given)
		given = env("CUSTOM_BASE_URL");
	choose(c, w, given, &o);
	if (!o.rule && w->provider)
		return err_set(e, ST_CONFIG, "there is no provider '%s': see claws models --providers", w->provider);
	if (!o.rule)
		return unknown_provider(c, w->name, e);
	if (!*o.model)
		return err_set(e, ST_CONFIG, "model '%s': the model's name is missing behind the provider's", w->name);
	p->name = row_text(&o.row, "name");
	sent_name(&o.row, o.model, p);
	known = catalog_model(c, p->name, p->model, &m);
	if (!known)
		m.n = 0;
	if (!catalog_model_here(c, p->name, p->model, &here))
		here.n = 0;
	provider_take(&o.row, &here, &m, w->explain, p);
	if (w->explain)
		p->from[FROM_PROVIDER] = xstrdup(o.rule);
	if (!find_base(w, p))
		find_general(c, p);
	find_window(w, p);
	return 0;
}

char *provider_default(const struct catalog *c)
{
	struct row r;

	for (size_t i = 0; catalog_nth(c, i, &r); i++) {
		char *name = row_text(&r, "name"), *model = row_text(&r, "default_model"), *found = NULL;

		if (name && model && provider_key_set(&r))
			found = xasprintf("%s/%s", name, model);
		free(name);
		free(model);
		if (found)
			return found;
	}
	return NULL;
}

int64_t provider_max_tokens(const struct provider *p, int64_t asked)
{
	int64_t n = asked > 0 ? asked : p->max_tokens;

	if (n > 0 && p->max_output > 0)
		return n < p->max_output ? n : p->max_output;
	if (n > 0 && p->context_known && p->context > 0) {
		int64_t fits = p->context > 512 ? p->context - 256 : 256;

		return n < fits ? n : fits;
	}
	return n;
}

double provider_cost(const struct provider *p, const struct usage *u)
{
	const int64_t count[PRICES] = {
		[PRICE_INPUT] = u->input, [PRICE_OUTPUT] = u->output,
		[PRICE_CACHE_READ] = u->cache_read, [PRICE_CACHE_WRITE] = u->cache_write};
	int64_t all = u->input + (u->cache_read > 0 ? u->cache_read : 0) + (u->cache_write > 0 ? u->cache_write : 0);
	const double *price = p->above_tokens > 0 && all > p->above_tokens ? p->above : p->price;
	double sum = 0;

	if (u->input < 0 || u->output < 0)
		return -1;
	for (int i = 0; i < PRICES; i++) {
		if (count[i] <= 0)
			continue;
		if (price[i] < 0)
			return -1;
		sum += (double)count[i] * price[i] / 1e6;
	}
	return sum;
}

/* provider_take.c - what the rows of a provider and of a model say together. The row of a model at this provider speaks first,
 * then the model's own, then the provider's; of the row of a model that is another's only what it is counts (window, limit,
 * inputs), not how it is asked. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "llm/provider.h"

struct rows {
	const struct row *here;       /* of the model at this provider, or NULL */
	const struct row *model;      /* of this provider, or NULL */
	const struct row *any;        /* whoever's it is */
	const struct row *provider;
	bool explain;
	struct provider *p;
};

static void say(struct rows *s, enum from what, const struct at *a)
{
	struct buf b;

	if (!s->explain || a->v < 0 || s->p->from[what])
		return;
	buf_init(&b, 8192);
	at_where(&b, a);
	s->p->from[what] = buf_detach(&b);
}

static struct at own(const struct rows *s, const char *member)
{
	struct at a = {NULL, -1};

	if (s->here)
		a = row_get(s->here, member);
	if (a.v < 0 && s->model)
		a = row_get(s->model, member);
	return a.v >= 0 ? a : row_get(s->provider, member);
}

/* What a model is, wherever it is served. */
static struct at of_model(const struct rows *s, const char *member)
{
	struct at a = {NULL, -1};

	if (s->here)
		a = row_get(s->here, member);
	return a.v < 0 && s->any ? row_get(s->any, member) : a;
}

static int64_t number(const struct at *a)
{
	int64_t n;

	return a->v >= 0 && json_i64(&a->t->json, a->v, &n) == 0 && n > 0 ? n : 0;
}

static char **texts(const struct at *a)
{
	char **list;
	size_t n = 0;

	list = xcalloc(a->v < 0 ? 1 : (size_t)json_count(&a->t->json, a->v) + 1, sizeof *list);
	if (a->v >= 0)
		for (struct json_iter it = json_iter(&a->t->json, a->v); json_next(&it);)
			if ((list[n] = json_dup(&a->t->json, it.value)))
				n++;
	return list;
}

/* A value within the name of a host must not end it: "evil.test/" before ".amazonaws.com" would be another host. What no name
 * has is spelled so that the address is refused. */
static void add_value(struct buf *b, const char *v)
{
	const char *host = b->len ? strstr(b->p, "://") : NULL;
	bool within = host && !host[3 + strcspn(host + 3, "/?")];

	for (; *v; v++) {
		if (within && !isalnum((unsigned char)*v) && !strchr(".-_", *v))
			buf_addf(b, "%%%02X", (unsigned char)*v);
		else
			buf_addc(b, *v);
	}
}

/* The text with ${NAME} and ${NAME:-default} put in from the environment. NULL if one is not set: *missing names it, if it
 * is wanted. A value's slash at its end gives way to one that follows. */
static char *expand(const char *s, char **missing, struct secrets *secrets)
{
	struct buf b;
	const char *end;

	buf_init(&b, 1 << 16);
	buf_adds(&b, "");
	while (*s) {
		if (s[0] != '$' || s[1] != '{' || !(end = strchr(s, '}'))) {
			buf_addc(&b, *s++);
			continue;
		}
		char *name = xstrndup(s + 2, (size_t)(end - s) - 2), *standby = strstr(name, ":-");
		const char *v;

		if (standby) {
			*standby = 0;
			standby += 2;
		}
		v = getenv(name);
		if (v && strlen(v) >= SECRET_LEAST && secret_name(name, strlen(name)))
			secrets_add(secrets, v);
		v = v && *v ? v : standby;
		if (!v) {
			if (missing && !*missing)
				*missing = xstrdup(name);
			free(name);
			buf_free(&b);
			return NULL;
		}
		add_value(&b, v);
		free(name);
		s = end + 1;
		while (*s == '/' && b.len && b.p[b.len - 1] == '/')
			buf_truncate(&b, b.len - 1);
	}
	return buf_detach(&b);
}

static char *expanded(const struct rows *s, const char *member, char **missing)
{
	char *text = row_text(s->provider, member), *full = text ? expand(text, missing, &s->p->secrets) : NULL;

	free(text);
	return full;
}

static char *or_empty(char *s)
{
	return s ? s : xstrdup("");
}

/* Members of "extra", the model's before the provider's, behind what is already there. */
static void take_extra(const struct row *r, struct provider *p)
{
	struct at a = row_get(r, "extra");
	struct buf b;

	if (a.v < 0 || json_count(&a.t->json, a.v) == 0)
		return;
	buf_init(&b, 1 << 24);
	json_compact(&b, &a.t->json, a.v);
	buf_cut(&b, 1);
	buf_truncate(&b, b.len - 1);
	buf_term(&b);
	if (p->extra) {
		char *both = xasprintf("%s,%s", p->extra, b.p);

		free(p->extra);
		p->extra = both;
		buf_free(&b);
	} else {
		p->extra = buf_detach(&b);
	}
}

/* A header whose variable is not set is left out. */
static void take_headers(struct rows *s)
{
	struct at a = row_get(s->provider, "headers");
	size_t n = 0;

	s->p->headers = xcalloc(a.v < 0 ? 1 : (size_t)json_count(&a.t->json, a.v) + 1, sizeof *s->p->headers);
	if (a.v < 0)
		return;
	for (struct json_iter it = json_iter(&a.t->json, a.v); json_next(&it);) {
		char *name = json_dup(&a.t->json, it.key), *raw = json_dup(&a.t->json, it.value);
		char *value = raw ? expand(raw, NULL, &s->p->secrets) : NULL;

		if (name && value && !strpbrk(value, "\r\n"))
			s->p->headers[n++] = xasprintf("%s: %s", name, value);
		free(name);
		free(raw);
		free(value);
	}
}

static void take_quirks(struct rows *s, const struct row *r)
{
	struct at a = r ? row_get(r, "quirks") : (struct at){NULL, -1};

	if (a.v < 0)
		return;
	for (struct json_iter it = json_iter(&a.t->json, a.v); json_next(&it);) {
		char *word = json_dup(&a.t->json, it.value);

		if (word)
			quirk_add(&s->p->quirks, word, strlen(word));
		free(word);
	}
	say(s, FROM_QUIRKS, &a);
}

static void take_thinking(struct rows *s)
{
	struct at a = own(s, "thinking");
	const struct row *layers[] = {s->provider, s->model, s->here};
	char *word = a.v >= 0 ? json_dup(&a.t->json, a.v) : NULL;
	enum thinking_style style = word ? style_find(word) : STYLE_NONE;

	s->p->style = style == STYLES ? STYLE_NONE : style;
	say(s, FROM_THINKING, &a);
	free(word);
	for (int i = 0; i < 3; i++) {
		a = layers[i] ? row_get(layers[i], "efforts") : (struct at){NULL, -1};
		if (a.v < 0)
			continue;
		for (struct json_iter it = json_iter(&a.t->json, a.v); json_next(&it);) {
			char *ours = json_dup(&a.t->json, it.key);
			enum effort effort = ours ? effort_find(ours) : EFFORTS;

			if (effort < EFFORTS) {
				free(s->p->effort_words[effort]);
				s->p->effort_words[effort] = json_dup(&a.t->json, it.value);
			}
			free(ours);
		}
	}
}

static void take_inputs(struct rows *s)
{
	struct at a = of_model(s, "input");

	if (a.v < 0)
		a = row_get(s->provider, "input");
	if (a.v < 0)
		return;
	for (struct json_iter it = json_iter(&a.t->json, a.v); json_next(&it);)
		s->p->inputs |= json_eq(&a.t->json, it.value, "image") ? INPUT_IMAGE : INPUT_PDF;
	if (!s->p->inputs)
		s->p->inputs = INPUT_TEXT_ONLY;
	say(s, FROM_INPUT, &a);
}

static void read_price(const struct at *a, double factor, double *price)
{
	static const char *const names[PRICES] = {
		[PRICE_INPUT] = "input", [PRICE_OUTPUT] = "output",
		[PRICE_CACHE_READ] = "cache_read", [PRICE_CACHE_WRITE] = "cache_write"};

	for (int i = 0; i < PRICES; i++) {
		double d;

		if (json_double(&a->t->json, json_get(&a->t->json, a->v, names[i]), &d) == 0)
			price[i] = d * factor;
	}
}

/* Anthropic's rule, where marks are set and the row says nothing else: a write costs a quarter more, a read a tenth. */
static void fill_marks(const struct provider *p, double *price)
{
	if (p->cache != CACHE_MARKS || price[PRICE_INPUT] < 0)
		return;
	if (price[PRICE_CACHE_WRITE] < 0)
		price[PRICE_CACHE_WRITE] = price[PRICE_INPUT] * 1.25;
	if (price[PRICE_CACHE_READ] < 0)
		price[PRICE_CACHE_READ] = price[PRICE_INPUT] * 0.1;
}

static void take_price(struct rows *s)
{
	struct at a = {NULL, -1}, f = row_get(s->provider, "price_factor"), more = {NULL, -1};
	struct provider *p = s->p;
	double factor = 1;

	for (int i = 0; i < PRICES; i++)
		p->price[i] = p->above[i] = -1;
	if (s->here) {
		a = row_get(s->here, "price");
		more = row_get(s->here, "price_above");
	}
	if (a.v < 0 && s->model) {
		a = row_get(s->model, "price");
		more = row_get(s->model, "price_above");
	}
	/* another's price holds here only where the provider's row says by which factor */
	if (a.v < 0 && s->any && f.v >= 0 && json_double(&f.t->json, f.v, &factor) == 0) {
		a = row_get(s->any, "price");
		more = row_get(s->any, "price_above");
	}
	if (a.v < 0) {
		a = row_get(s->provider, "price");
		factor = 1;
	}
	for (int i = 0; a.v < 0 && p->local && i < PRICES; i++)
		p->price[i] = 0;
	if (a.v < 0)
		return;
	read_price(&a, factor, p->price);
	fill_marks(p, p->price);
	say(s, FROM_PRICE, &a);
	if (more.v < 0)
		return;
	read_price(&more, factor, p->above);
	fill_marks(p, p->above);
	json_i64(&more.t->json, json_get(&more.t->json, more.v, "tokens"), &p->above_tokens);
}

static void take_limits(struct rows *s)
{
	struct provider *p = s->p;
	struct at a = of_model(s, "context");

	p->context_known = number(&a) > 0;
	if (!p->context_known)
		a = row_get(s->provider, "context");
	p->context = number(&a);
	/* where the window must be asked for, the provider's row says how much of it: a whole one may not fit into memory */
	if (p->quirks & QUIRK_NUM_CTX) {
		struct at most = row_get(s->provider, "context");

		if (number(&most) && number(&most) < p->context) {
			p->context = number(&most);
			a = most;
		}
	}
	say(s, FROM_CONTEXT, &a);
	a = of_model(s, "max_output");
	if (!number(&a))
		a = row_get(s->provider, "max_output");
	p->max_output = number(&a);
	say(s, FROM_MAX_OUTPUT, &a);
	a = own(s, "default_max_tokens");
	p->max_tokens = number(&a);
	say(s, FROM_MAX_TOKENS, &a);
	if (p->max_tokens && p->max_output && p->max_tokens > p->max_output)
		p->max_tokens = p->max_output;
}

static void take_address(struct rows *s)
{
	struct provider *p = s->p;
	struct at a = own(s, "wire");

	p->wire = or_empty(a.v >= 0 ? json_dup(&a.t->json, a.v) : NULL);
	say(s, FROM_WIRE, &a);
	a = row_get(s->provider, "base_url");
	p->base_url = or_empty(expanded(s, "base_url", &p->missing));
	if (*p->base_url || p->missing)
		say(s, FROM_URL, &a);
	/* a model with another wire than its provider's has that wire's paths */
	if ((!s->model || row_get(s->model, "wire").v < 0) && (!s->here || row_get(s->here, "wire").v < 0)) {
		p->path = expanded(s, "path", &p->missing);
		p->path_stream = expanded(s, "path_stream", &p->missing);
	}
	p->query = expanded(s, "query", NULL);
}

static void take_key(struct rows *s)
{
	struct provider *p = s->p;
	struct at a = row_get(s->provider, "key_env");

	p->key_env = texts(&a);
	a = row_get(s->provider, "key_command");
	p->key_command = a.v >= 0 ? texts(&a) : NULL;
	p->key_file = row_text(s->provider, "key_file");
	p->key_optional = row_is(s->provider, "key", "optional");
	p->key_prefix = or_empty(row_text(s->provider, "key_prefix"));
	p->auth = or_empty(row_text(s->provider, "auth"));
}

void provider_take(const struct row *provider, const struct row *here, const struct row *model, bool explain, struct provider *p)
{
	struct rows s = {here->n ? here : NULL, NULL, model->n ? model : NULL, provider, explain, p};
	struct at a;
	char *of = s.any ? row_text(model, "provider") : NULL;

	/* a row that names no provider holds wherever the model is served */
	if (s.any && (!of || !strcmp(of, p->name)))
		s.model = model;
	free(of);
	p->title = or_empty(row_text(provider, "title"));
	p->kind = or_empty(row_text(provider, "kind"));
	p->local = !strcmp(p->kind, "local");
	take_address(&s);
	take_key(&s);
	take_headers(&s);
	a = own(&s, "cache");
	p->cache = a.v < 0 ? CACHE_NONE : json_eq(&a.t->json, a.v, "marks") ? CACHE_MARKS :
		json_eq(&a.t->json, a.v, "automatic") ? CACHE_AUTOMATIC : CACHE_NONE;
	say(&s, FROM_CACHE, &a);
	a = row_get(provider, "cascade");
	p->cascade = texts(&a);
	if (s.here)
		take_extra(s.here, p);
	if (s.model)
		take_extra(s.model, p);
	take_extra(provider, p);
	take_quirks(&s, s.here);
	take_quirks(&s, s.model);
	take_quirks(&s, provider);
	take_thinking(&s);
	take_inputs(&s);
	take_limits(&s);
	take_price(&s);
}

bool provider_key_set(const struct row *r)
{
	struct at a = row_get(r, "key_env");

	if (a.v < 0)
		return false;
	for (struct json_iter it = json_iter(&a.t->json, a.v); json_next(&it);) {
		char *name = json_dup(&a.t->json, it.value);
		const char *key = name ? getenv(name) : NULL;

		free(name);
		if (key && *key)
			return true;
	}
	return false;
}

static void free_list(char **list)
{
	for (char **k = list; k && *k; k++)
		free(*k);
	free(list);
}

void provider_free(struct provider *p)
{
	char *const texts_of[] = {p->name, p->model, p->title, p->kind, p->wire, p->base_url, p->missing, p->key_file, p->auth,
		p->path, p->path_stream, p->query, p->key_prefix, p->extra, p->general_of};

	for (size_t i = 0; i < sizeof texts_of / sizeof *texts_of; i++)
		free(texts_of[i]);
	free_list(p->key_env);
	free_list(p->key_command);
	free_list(p->headers);
	free_list(p->cascade);
	secrets_free(&p->secrets);
	for (int i = 0; i < EFFORTS; i++)
		free(p->effort_words[i]);
	for (int i = 0; i < FROMS; i++)
		free(p->from[i]);
	memset(p, 0, sizeof *p);
}

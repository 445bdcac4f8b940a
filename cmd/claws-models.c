/* claws-models - lists and searches the models and providers that claws knows: claws-models(1). */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/termsafe.h"
#include "base/xalloc.h"
#include "json/jw.h"
#include "llm/provider.h"
#include "llm/record.h"
#include "llm/window.h"
#include "net/http.h"
#include "net/url.h"
#include "opt/opt.h"
#include "sys/io.h"

#define LIVE_MAX ((size_t)16 << 20)

struct conf {
	bool json, providers, live, window;
	long timeout;
};

static const struct opt options[] = {
	{'j', "json", NULL, OPT_FLAG, offsetof(struct conf, json), "print a JSON object a line", 0, 0, NULL},
	{'p', "providers", NULL, OPT_FLAG, offsetof(struct conf, providers), "list providers instead of models", 0, 0, NULL},
	{'l', "live", NULL, OPT_FLAG, offsetof(struct conf, live), "ask the provider that the first SEARCH names", 0, 0, NULL},
	{'w', "window", NULL, OPT_FLAG, offsetof(struct conf, window), "print the window of the model named by SEARCH", 0, 0, NULL},
	{0, "timeout", "TIME", OPT_TIME, offsetof(struct conf, timeout), "give a server this long (3)", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static const struct opt_spec spec = {
	"claws-models", "[OPTION...] [SEARCH...]", "List and search models and providers: windows, limits, prices, keys.", options, NULL,
	"All words of SEARCH must be in a line's names, in any case.\n"
	"Prices are dollars for a million tokens; '-' is unknown.", OPT_MIXED};

struct list {
	struct conf conf;
	char **words;                 /* NULL-terminated */
	struct catalog c;
	size_t shown;
};

static bool wanted(const struct list *l, const char *a, const char *b, const char *c)
{
	for (char **w = l->words; *w; w++)
		if (!strcasestr(a, *w) && !strcasestr(b, *w) && !strcasestr(c, *w))
			return false;
	return true;
}

static void put_line(struct buf *b)
{
	struct buf shown;

	while (b->len && b->p[b->len - 1] == ' ')
		buf_truncate(b, b->len - 1);
	buf_init(&shown, BUF_NOLIMIT);
	term_safe(&shown, b->len ? b->p : "", b->len, TERM_ONE_LINE);
	printf("%s\n", shown.len ? shown.p : "");
	buf_free(&shown);
	buf_clear(b);
}

static const char *tokens(char out[24], int64_t n)
{
	if (n <= 0)
		snprintf(out, 24, "-");
	else if (n >= 1000000)
		snprintf(out, 24, "%.3gM", (double)n / 1e6);
	else if (n >= 1000)
		snprintf(out, 24, "%" PRId64 "k", n / 1000);
	else
		snprintf(out, 24, "%" PRId64, n);
	return out;
}

static const char *dollars(char out[24], double d)
{
	snprintf(out, 24, d < 0 ? "-" : "%g", d);
	return out;
}

static const char *inputs(unsigned set)
{
	return !set ? "?" : set & INPUT_TEXT_ONLY ? "text" : (set & INPUT_IMAGE) && (set & INPUT_PDF) ? "image,pdf" :
		set & INPUT_PDF ? "pdf" : "image";
}

/* Is a key there, or none needed? Programs that print keys are not run for a list. */
static const char *key_state(const struct provider *p)
{
	char *key = NULL, *from = NULL;
	const char *state = "unset";

	if (provider_key(p, false, &key, &from, NULL) == 0 && from && strcmp(from, "CLAWS_API_KEY") != 0)
		state = "set";
	else if (p->key_optional)
		state = "none needed";
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
	free(from);
	return state;
}

static void json_price(struct jw *w, const char *name, double d)
{
	jw_key(w, name);
	if (d < 0)
		jw_null(w);
	else
		jw_double(w, d);
}

static void json_count_or_null(struct jw *w, const char *name, int64_t n)
{
	jw_key(w, name);
	if (n > 0)
		jw_i64(w, n);
	else
		jw_null(w);
}

static void json_model(const struct provider *p, const char *name)
{
	struct buf b;
	struct jw w;

	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "model", name);
	jw_kstr(&w, "provider", p->name);
	jw_kstr(&w, "wire", p->wire);
	json_count_or_null(&w, "context", p->context);
	json_count_or_null(&w, "max_output", p->max_output);
	jw_key(&w, "price");
	jw_obj(&w);
	json_price(&w, "input", p->price[PRICE_INPUT]);
	json_price(&w, "output", p->price[PRICE_OUTPUT]);
	json_price(&w, "cache_read", p->price[PRICE_CACHE_READ]);
	json_price(&w, "cache_write", p->price[PRICE_CACHE_WRITE]);
	jw_end(&w);
	jw_kstr(&w, "thinking", style_name(p->style));
	jw_key(&w, "input");
	if (p->inputs) {
		jw_arr(&w);
		if (p->inputs & INPUT_IMAGE)
			jw_str(&w, "image");
		if (p->inputs & INPUT_PDF)
			jw_str(&w, "pdf");
		jw_end(&w);
	} else {
		jw_null(&w);
	}
	jw_kstr(&w, "key", key_state(p));
	jw_end(&w);
	printf("%s\n", b.p);
	buf_free(&b);
}

static void text_model(const struct provider *p, const char *name)
{
	char context[24], output[24], in[24], out[24], cached[24];
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	buf_addf(&b, "%-42s %7s %7s %7s %7s %7s  %-11s %-9s %s", name, tokens(context, p->context), tokens(output, p->max_output),
		dollars(in, p->price[PRICE_INPUT]), dollars(out, p->price[PRICE_OUTPUT]), dollars(cached, p->price[PRICE_CACHE_READ]),
		style_name(p->style), inputs(p->inputs), key_state(p));
	put_line(&b);
	buf_free(&b);
}

static void show_model(struct list *l, const char *provider, const char *model)
{
	char *name = xasprintf("%s/%s", provider, model);
	struct provider p;

	if (provider_find(&l->c, &(struct provider_want){.name = name}, &p, NULL) == 0 && wanted(l, name, p.title, "")) {
		if (!l->shown++ && !l->conf.json)
			printf("%-42s %7s %7s %7s %7s %7s  %-11s %-9s %s\n", "MODEL", "CONTEXT", "OUTPUT", "IN $/M", "OUT", "CACHED",
				"THINKING", "INPUT", "KEY");
		if (l->conf.json)
			json_model(&p, name);
		else
			text_model(&p, name);
	}
	provider_free(&p);
	free(name);
}

/* The rows of models.json that name who serves them, the user's first; a key of both is shown once. */
static void list_models(struct list *l)
{
	for (int k = 0; k < 2; k++) {
		const struct json *j = &l->c.models[k].json;

		if (!l->c.models[k].path)
			continue;
		for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
			char *key = json_dup(j, it.key), *of = json_dup(j, json_get(j, it.value, "provider")), *slash;
			bool again = k == 1 && l->c.models[0].path && key && json_get(&l->c.models[0].json, 0, key) >= 0;

			slash = key ? strchr(key, '/') : NULL;
			if (key && of && !again) {
				show_model(l, of, key);
			} else if (slash && !again) {
				*slash = 0;
				show_model(l, key, slash + 1);
			}
			free(key);
			free(of);
		}
	}
}

/* The address without what is secret in it. */
static void show_url(struct buf *out, const struct provider *p)
{
	struct secrets secrets = SECRETS_INIT;

	for (size_t i = 0; i < p->secrets.n; i++)
		secrets_add(&secrets, p->secrets.v[i]);
	secrets_of_url(&secrets, p->base_url);
	record_mask_all(out, p->base_url, strlen(p->base_url), NULL, secrets_list(&secrets));
	secrets_free(&secrets);
}

static void show_provider(struct list *l, const struct row *r)
{
	char *name = row_text(r, "name"), *full = xasprintf("%s/?", name), *model = row_text(r, "default_model");
	struct at aliases = row_get(r, "aliases");
	struct provider p;
	struct buf names, b, url;

	buf_init(&names, 4096);
	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&names, name);
	for (struct json_iter it = json_iter(aliases.v >= 0 ? &aliases.t->json : &l->c.models[1].json, aliases.v); json_next(&it);) {
		buf_addc(&names, ' ');
		json_str(&aliases.t->json, it.value, &names);
	}
	buf_init(&url, BUF_NOLIMIT);
	buf_adds(&url, "");
	if (provider_find(&l->c, &(struct provider_want){.name = full}, &p, NULL) == 0 && wanted(l, names.p, p.title, p.kind)) {
		show_url(&url, &p);
		if (l->conf.json) {
			struct jw w = jw_begin(&b);

			jw_obj(&w);
			jw_kstr(&w, "provider", name);
			jw_kstr(&w, "title", p.title);
			jw_kstr(&w, "kind", p.kind);
			jw_kstr(&w, "wire", p.wire);
			jw_kstr(&w, "base_url", url.len ? url.p : NULL);
			jw_kstr(&w, "needs", p.missing);
			jw_kstr(&w, "key_env", p.key_env[0]);
			jw_kstr(&w, "key", key_state(&p));
			jw_kstr(&w, "default_model", model);
			jw_end(&w);
		} else {
			if (!l->shown)
				printf("%-24s %-10s %-16s %-26s %-11s %s\n", "PROVIDER", "KIND", "WIRE", "KEY'S NAME", "KEY", "ADDRESS");
			buf_addf(&b, "%-24s %-10s %-16s %-26s %-11s %s%s", name, p.kind, p.wire, p.key_env[0] ? p.key_env[0] : "-",
				key_state(&p), p.missing ? "needs " : "", p.missing ? p.missing : url.p);
		}
		l->shown++;
		put_line(&b);
	}
	provider_free(&p);
	buf_free(&names);
	buf_free(&url);
	buf_free(&b);
	free(name);
	free(full);
	free(model);
}

/* ---- asking a server ---- */

struct ask {
	struct buf body;
	int status;
};

static void ask_head(void *arg, int status)
{
	((struct ask *)arg)->status = status;
}

static void ask_header(void *arg, const char *name, const char *value)
{
	(void)arg;
	(void)name;
	(void)value;
}

static int ask_body(void *arg, const char *p, size_t n)
{
	return buf_add(&((struct ask *)arg)->body, p, n);
}

/* Where a provider lists its models: Ollama by its own way, Gemini and Anthropic below their version, others beside the chat. */
static const char *list_path(const struct provider *p)
{
	return !strcmp(p->wire, "ollama-chat") ? "/api/tags" : !strcmp(p->wire, "gemini") ? "/v1beta/models?pageSize=1000" :
		!strcmp(p->wire, "anthropic") ? "/v1/models?limit=1000" : !strcmp(p->wire, "cohere") ? "/v1/models?page_size=1000" :
		"/models";
}

static char *auth_line(const struct provider *p, const char *key)
{
	const struct wire *wire = wire_find(p->wire);
	const char *auth = *p->auth ? p->auth : wire ? wire->auth : "bearer";

	return !strcmp(auth, "bearer") || !strcmp(auth, "sigv4") ? xasprintf("authorization: Bearer %s", key)
	                                                         : xasprintf("%s: %s", auth, key);
}

static int run_request(struct ask *a, const struct provider *p, const char *url, const char *const *headers, long timeout,
                       struct err *e)
{
	static const struct http_sink sink = {.head = ask_head, .header = ask_header, .body = ask_body};
	const char *ca = getenv("CURL_CA_BUNDLE");
	struct http_request r = {.url = url, .headers = headers, .connect_ms = timeout, .first_ms = timeout, .idle_ms = timeout,
		.no_proxy = p->local, .sink = &sink, .arg = a};
	long long end = io_now_ms() + timeout;
	struct http h;
	int bad = 0;

	r.ca_file = ca && *ca ? ca : getenv("SSL_CERT_FILE");
	if (http_init(&h, 0, e) < 0)
		return -1;
	if (http_start(&h, &r, e) < 0)
		bad = -1;
	while (!bad && http_busy(&h)) {
		long long left = end - io_now_ms();

		if (left <= 0)
			bad = err_set(e, ST_UNAVAILABLE, "%s: it did not answer within %ld ms", p->name, timeout);
		else if (http_wait(&h, NULL, 0, (long)left, e) < 0)
			bad = -1;
	}
	if (!bad && h.failed)
		bad = err_set(e, ST_UNAVAILABLE, "%s: %s", p->name, h.text);
	if (bad)
		http_stop(&h);
	http_free(&h);
	if (!bad && (a->status == 401 || a->status == 403))
		return err_set(e, ST_AUTH, "%s: the key is refused (status %d)", p->name, a->status);
	if (!bad && a->status / 100 != 2)
		return err_set(e, ST_UNAVAILABLE, "%s: it has no list of models there (status %d)", p->name, a->status);
	return bad;
}

static bool has_secrets(const struct provider *p, const char *url)
{
	struct secrets s = SECRETS_INIT;
	bool any;

	secrets_of_url(&s, url);
	for (char **h = p->headers; h && *h; h++)
		secrets_of_header(&s, *h);
	any = s.n || p->secrets.n;
	secrets_free(&s);
	return any;
}

static int ask_models(struct ask *a, const struct provider *p, long timeout, struct err *e)
{
	const struct wire *wire = wire_find(p->wire);
	const char *headers[16] = {"user-agent: claws/" CLAWS_VERSION, "accept: application/json"};
	char *key = NULL, *from = NULL, *auth = NULL;
	struct buf url;
	struct url u;
	int bad;

	if (!*p->base_url)
		return err_set(e, ST_CONFIG, "provider %s has no address: set %s", p->name, p->missing ? p->missing : "CLAWS_BASE_URL");
	buf_init(&url, 8192);
	bad = url_join(&url, p->base_url, list_path(p), e) < 0 || url_parse(url.p, &u, e) < 0 ||
		provider_key(p, true, &key, &from, e) < 0;
	prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
	if (!bad && !key && !p->key_optional && p->key_env[0])
		bad = err_set(e, ST_CONFIG, "no key for %s: set %s", p->name, p->key_env[0]);
	if (!bad && (key || has_secrets(p, url.p)) && !u.tls && !url_loopback(&u))
		bad = err_set(e, ST_CONFIG, "the key in %s is not sent to %s: plain http goes to this machine only",
			key ? from : "the address or the row", u.host);
	if (!bad) {
		size_t n = 2;

		if (key)
			headers[n++] = auth = auth_line(p, key);
		if (wire && wire->headers)
			headers[n++] = wire->headers;
		for (char **h = p->headers; h && *h && n < 15; h++)
			headers[n++] = *h;
		bad = run_request(a, p, url.p, headers, timeout, e);
	}
	if (key)
		explicit_bzero(key, strlen(key));
	if (auth)
		explicit_bzero(auth, strlen(auth));
	free(auth);
	free(key);
	free(from);
	buf_free(&url);
	return bad ? -1 : 0;
}

static bool find_provider(struct list *l, const char *name, struct provider *p, struct err *e)
{
	return provider_find(&l->c, &(struct provider_want){.name = name}, p, e) == 0;
}

/* What a server lists, each under PROVIDER/MODEL, as our own tables describe it. */
static void list_live(struct list *l)
{
	struct ask a = {.status = 0};
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	struct provider p;
	int models;

	if (!l->words[0])
		opt_usage(&spec, "--live: name the provider to ask");
	if (provider_find(&l->c, &(struct provider_want){.name = "?", .provider = l->words[0]}, &p, &e) < 0)
		die_err(&e);
	buf_init(&a.body, LIVE_MAX);
	if (ask_models(&a, &p, l->conf.timeout, &e) < 0)
		die_err(&e);
	if (json_parse(&j, a.body.p, a.body.len, &e) < 0)
		die(ST_PROTOCOL, "%s: its list of models is no JSON: %s", p.name, e.text);
	if (p.local || !strcmp(p.name, "custom"))
		window_keep(p.base_url, a.body.p, a.body.len, NULL);
	l->words++;
	models = json_type(&j, 0) == JSON_ARRAY ? 0 : json_get(&j, 0, "data") >= 0 ? json_get(&j, 0, "data") : json_get(&j, 0, "models");
	for (struct json_iter it = json_iter(&j, models); json_next(&it);) {
		char *id = json_dup(&j, json_get(&j, it.value, "id"));

		if (!id)
			id = json_dup(&j, json_get(&j, it.value, "name"));
		/* Gemini: "models/gemini-2.5-pro" */
		if (id && *id)
			show_model(l, p.name, strncmp(id, "models/", 7) == 0 ? id + 7 : id);
		free(id);
	}
	json_free(&j);
	buf_free(&a.body);
	provider_free(&p);
}

/* The window of one model: of the tables, else as a local or custom server says it, asked at most once a day. */
static void show_window(struct list *l)
{
	const char *word = l->words[0] ? l->words[0] : getenv("CLAWS_MODEL");
	char *standby = word && *word ? NULL : provider_default(&l->c);
	struct ask a = {.status = 0};
	struct err e = ERR_INIT;
	struct provider p;

	word = word && *word ? word : standby;
	if (!word)
		die(ST_CONFIG, "no model: name one, or set CLAWS_MODEL");
	if (l->words[0] && l->words[1])
		opt_usage(&spec, "--window: one model is named");
	if (!find_provider(l, word, &p, &e))
		die_err(&e);
	if (!p.context_known && *p.base_url && (p.local || !strcmp(p.name, "custom")) && window_known(p.base_url, p.model) < 0) {
		buf_init(&a.body, LIVE_MAX);
		/* what cannot be asked is kept, too: a server that is down must not cost every run its time */
		if (ask_models(&a, &p, l->conf.timeout, &e) < 0)
			buf_clear(&a.body);
		window_keep(p.base_url, a.body.len ? a.body.p : "", a.body.len, NULL);
		buf_free(&a.body);
		provider_free(&p);
		if (!find_provider(l, word, &p, &e))
			die_err(&e);
	}
	if (p.context > 0) {
		printf("%" PRId64 "\n", p.context);
		l->shown++;
	}
	provider_free(&p);
	free(standby);
}

int main(int argc, char **argv)
{
	struct list l = {.conf = {.timeout = 3000}};
	struct err e = ERR_INIT;
	struct row r;

	prog_name("claws-models");
	l.words = argv + opt_parse(&spec, argc, argv, &l.conf);
	if (l.conf.live + l.conf.window + l.conf.providers > 1)
		opt_usage(&spec, "--live, --providers and --window exclude each other");
	if (catalog_open(&l.c, &e) < 0)
		die_err(&e);
	if (l.conf.window)
		show_window(&l);
	else if (l.conf.live)
		list_live(&l);
	else if (l.conf.providers)
		for (size_t i = 0; catalog_nth(&l.c, i, &r); i++)
			show_provider(&l, &r);
	else
		list_models(&l);
	catalog_close(&l.c);
	finish(l.shown ? ST_OK : ST_FAILED);
}

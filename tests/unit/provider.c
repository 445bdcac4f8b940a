/* Model names, the tables, every row of them, and what a call costs. */
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "llm/provider.h"
#include "llm/window.h"
#include "net/url.h"
#include "tap.h"

static int find(const struct catalog *c, const char *name, const char *base, struct provider *p, struct err *e)
{
	return provider_find(c, &(struct provider_want){.name = name, .base_url = base, .explain = true}, p, e);
}

static void finds(const struct catalog *c)
{
	static const char *const own = "http://127.0.0.1:49999";
	static const struct { const char *name, *base, *provider, *model; } v[] = {
		{"anthropic/claude-sonnet-4-5", NULL, "anthropic", "claude-sonnet-4-5"},
		{"claude:claude-x", NULL, "anthropic", "claude-x"},
		{"Claude/claude-x", NULL, "anthropic", "claude-x"},
		{"claude-sonnet-4-5", NULL, "anthropic", "claude-sonnet-4-5"},
		{"claude-sonnet-4-5-20250929", NULL, "anthropic", "claude-sonnet-4-5-20250929"},
		{"o3", NULL, "openai", "o3"},
		{"gpt-4o-2024-08-06", NULL, "openai", "gpt-4o-2024-08-06"},
		{"gpt-99", NULL, "openai", "gpt-99"},
		{"GPT-99", NULL, "openai", "GPT-99"},
		{"openrouter/openai/gpt-4o", NULL, "openrouter", "openai/gpt-4o"},
		{"ollama:qwen3:8b", NULL, "ollama", "qwen3:8b"},
		{"llama3:8b", NULL, "ollama", "llama3:8b"},
		{"moonshot-v1-8k", NULL, "moonshot", "moonshot-v1-8k"},
		{"MiniMax-M2", NULL, "minimax", "MiniMax-M2"},
		{"opencode/opencode/grok-code", NULL, "opencode", "grok-code"},
		{"aihubmix/openai/gpt-4o", NULL, "aihubmix", "gpt-4o"},
		{"meta/llama", own, "custom", "meta/llama"},
		{"openai/x", own, "openai", "x"},
		{"gpt-4o", own, "openai", "gpt-4o"},
		{"my-own", own, "custom", "my-own"},
		{"qwen3:8b", "http://gpu:11434/v1", "ollama", "qwen3:8b"},
		{"qwen3-8b", "http://localhost:1234/v1", "lmstudio", "qwen3-8b"},
		{"claude-sonnet-4-5", "https://openrouter.ai/api/v1", "openrouter", "claude-sonnet-4-5"},
		{"x", "https://ark.cn-beijing.volces.com/api/coding/v3", "volcengine_coding_plan", "x"}};
	static const char *const bad[] = {"meta/llama", "nobody-9", "anthropic/", "", "/x", ":"};
	struct provider p;

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		OK(find(c, v[i].name, v[i].base, &p, NULL) == 0, "found %s", v[i].name);
		IS(p.name, v[i].provider, "%s: provider", v[i].name);
		IS(p.model, v[i].model, "%s: model", v[i].name);
		OK(p.from[FROM_PROVIDER] && p.from[FROM_WIRE], "%s: and why", v[i].name);
		provider_free(&p);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;

		OK(find(c, bad[i], NULL, &p, &e) < 0 && e.status == ST_CONFIG, "not found: '%s'", bad[i]);
		provider_free(&p);
	}
	setenv("CLAWS_API_KEY", "sk-or-v1-abc", 1);
	OK(find(c, "some-model", NULL, &p, NULL) == 0 && !strcmp(p.name, "openrouter"), "CLAWS_API_KEY says whose it is");
	provider_free(&p);
	unsetenv("CLAWS_API_KEY");
	setenv("GROQ_API_KEY", "x", 1);
	OK(find(c, "meta/llama", NULL, &p, NULL) == 0 && !strcmp(p.name, "groq") && !strcmp(p.model, "meta/llama"),
		"VENDOR/MODEL goes to the gateway whose key is set");
	provider_free(&p);
	unsetenv("GROQ_API_KEY");
	OK(provider_find(c, &(struct provider_want){.name = "openai/gpt-oss-120b", .provider = "groq"}, &p, NULL) == 0 &&
		!strcmp(p.name, "groq") && !strcmp(p.model, "openai/gpt-oss-120b"), "a forced provider takes the name whole");
	OK(fabs(p.price[PRICE_INPUT] - 0.15) < 1e-9, "and a model's row of this provider");
	provider_free(&p);
	OK(provider_find(c, &(struct provider_want){.name = "x", .provider = "nobody"}, &p, NULL) < 0, "none of that name");
	provider_free(&p);
}

static double cost(const struct catalog *c, const char *name, struct usage u)
{
	struct provider p;
	double d = -2;

	if (find(c, name, NULL, &p, NULL) == 0)
		d = provider_cost(&p, &u);
	provider_free(&p);
	return d;
}

static void costs(const struct catalog *c)
{
	static const char *const same[] = {"claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5@20250929",
		"openrouter/anthropic/claude-sonnet-4-5@anthropic/fp8", "openrouter/anthropic/claude-sonnet-4-5:beta"};
	struct usage u = {.input = 1000000, .cache_read = 1000000, .cache_write = 1000000, .output = 1000000, .reasoning = 5};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		OK(fabs(cost(c, same[i], u) - 22.05) < 1e-9, "dollars: %s", same[i]);
	u.output = -1;
	OK(cost(c, "claude-sonnet-4-5", u) < 0, "a counter that is missing");
	u = (struct usage){.input = 500000, .cache_read = 0, .cache_write = -1, .output = 0, .reasoning = -1};
	OK(fabs(cost(c, "gpt-4.1", u) - 1) < 1e-9, "what was not used needs no price");
	u.cache_write = 7;
	OK(cost(c, "gpt-4.1", u) < 0, "what was used does");
	u.cache_write = -1;
	OK(cost(c, "groq/gpt-4.1", u) < 0, "the price list of one provider says nothing of another's");
	OK(cost(c, "claude-sonnet-4-9", u) < 0, "an unknown model's price is not 0");
	OK(cost(c, "ollama/qwen3:8b", u) == 0 && cost(c, "nim/meta/llama-3.3-70b-instruct", u) == 0, "what is free costs 0");
	u = (struct usage){.input = 100000, .cache_read = 100000, .cache_write = -1, .output = 1000, .reasoning = 500};
	OK(fabs(cost(c, "gemini-2.5-pro", u) - 0.1475) < 1e-9, "up to 200,000 tokens of input");
	u.input++;
	OK(fabs(cost(c, "gemini-2.5-pro", u) - (0.2500025 + 0.025 + 0.015)) < 1e-9, "above them all of it costs more");
}

static void limits(const struct catalog *c)
{
	static const struct { const char *name; int64_t context, asked, tokens; } v[] = {
		{"anthropic/claude-sonnet-4-5", 200000, 0, 32000}, {"claude-3-haiku-20240307", 200000, 0, 4096},
		{"claude-3-haiku", 200000, 100000, 4096}, {"claude-unheard-of", 200000, 100000, 100000},
		{"ollama/qwen2.5:72b", 32768, 0, 0}, {"ollama/llama3.3:70b", 32768, 0, 0}, {"ollama/phi4", 16384, 20000, 16128},
		{"nim/meta/llama-3.3-70b-instruct", 131072, 99999, 16384}, {"openrouter/z-ai/glm-4.6:free", 200000, 0, 0},
		{"fireworks/accounts/fireworks/models/qwen3-8b", 32768, 0, 0}, {"gpt-4.1-2025-04-14", 1047576, 40000, 32768},
		{"bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200000, 0, 8192}};
	struct provider p;

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		OK(find(c, v[i].name, NULL, &p, NULL) == 0, "found %s", v[i].name);
		OK(p.context == v[i].context, "%s: window %lld", v[i].name, (long long)p.context);
		OK(provider_max_tokens(&p, v[i].asked) == v[i].tokens, "%s: max_tokens %lld", v[i].name,
			(long long)provider_max_tokens(&p, v[i].asked));
		provider_free(&p);
	}
}

static void pins(const struct catalog *c)
{
	struct provider p;

	find(c, "openrouter/deepseek/deepseek-r1@fireworks/fp8", NULL, &p, NULL);
	IS(p.model, "deepseek/deepseek-r1", "what is pinned is no part of the name");
	IS(p.extra, "\"provider\":{\"order\":[\"fireworks\"],\"allow_fallbacks\":false,\"quantizations\":[\"fp8\"]}", "but a member");
	OK(p.context == 65536, "and the window is the plain model's");
	provider_free(&p);
	find(c, "openrouter/deepseek/deepseek-r1@fireworks", NULL, &p, NULL);
	IS(p.extra, "\"provider\":{\"order\":[\"fireworks\"],\"allow_fallbacks\":false}", "without a quantization");
	provider_free(&p);
	find(c, "openrouter/@preset/x", NULL, &p, NULL);
	IS(p.model, "@preset/x", "a name may begin with @");
	provider_free(&p);
	setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/", 1);
	find(c, "azure/gpt-4o", NULL, &p, NULL);
	IS(p.base_url, "https://me.openai.azure.com/openai/v1", "the environment is put in");
	provider_free(&p);
	unsetenv("AZURE_OPENAI_ENDPOINT");
	find(c, "azure/gpt-4o", NULL, &p, NULL);
	OK(!*p.base_url && p.missing && !strcmp(p.missing, "AZURE_OPENAI_ENDPOINT"), "or named where it is missing");
	provider_free(&p);
}

/* No two rows may have a word in common: which of them it means would be chance. */
static void unique(const struct json *j, const char *member, bool list)
{
	size_t n = 0, cap = 1024;
	char **seen = xcalloc(cap, sizeof *seen);
	bool fine = true;

	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		int v = json_get(j, it.value, member), one = list ? -1 : v;

		for (struct json_iter a = json_iter(j, v); one >= 0 || json_next(&a); one = -1) {
			char *s = json_dup(j, one >= 0 ? one : a.value);

			for (size_t i = 0; s && i < n; i++)
				if (!strcasecmp(seen[i], s)) {
					printf("# %s twice: %s\n", member, s);
					fine = false;
				}
			if (s && n < cap)
				seen[n++] = s;
			if (one >= 0)
				break;
		}
	}
	OK(fine && n > 0 && n < cap, "%s: each once", member);
	while (n)
		free(seen[--n]);
	free(seen);
}

static void check_provider(const struct catalog *c, const struct row *r, const char *name)
{
	char *wire = row_text(r, "wire"), *kind = row_text(r, "kind"), *title = row_text(r, "title"), *full;
	struct at keys = row_get(r, "key_env"), aliases = row_get(r, "aliases");
	struct provider p;
	struct url u;
	bool sane = keys.v >= 0 && json_count(&keys.t->json, keys.v) > 0;

	OK(wire && wire_find(wire), "%s: its wire is known: %s", name, wire ? wire : "");
	OK(kind && title, "%s: kind and title", name);
	for (struct json_iter it = json_iter(&keys.t->json, keys.v); sane && json_next(&it);) {
		char *k = json_dup(&keys.t->json, it.value);

		sane = k && strlen(k) > 4 && strspn(k, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(k);
		free(k);
	}
	OK(sane, "%s: the names of its key", name);
	for (struct json_iter it = json_iter(&aliases.t->json, aliases.v); aliases.v >= 0 && json_next(&it);) {
		char *a = json_dup(&aliases.t->json, it.value);
		struct row other;
		char *of = catalog_provider(c, a, strlen(a), &other) ? row_text(&other, "name") : NULL;

		OK(of && !strcmp(of, name), "%s: its alias %s", name, a);
		free(a);
		free(of);
	}
	full = xasprintf("%s/some-model", name);
	OK(find(c, full, NULL, &p, NULL) == 0 && !strcmp(p.name, name), "%s: is found", name);
	OK(p.missing || url_parse(p.base_url, &u, NULL) == 0, "%s: its address: %s", name, p.base_url);
	OK(p.missing || u.tls || !strcmp(kind, "local"), "%s: is not spoken to in the clear", name);
	OK(p.context > 0, "%s: its window", name);
	provider_free(&p);
	free(full);
	free(wire);
	free(kind);
	free(title);
}

/* Every row is whole: a known wire, an address, a key's name, and models of known providers. */
static void rows(const struct catalog *c)
{
	const struct json *m = &c->models[1].json;
	struct err e = ERR_INIT;
	struct row r;
	size_t n = 0;

	OK(catalog_check_providers(&c->providers[1], &e) == 0, "providers.json: members, quirks, styles, wires: %s", e.text);
	OK(catalog_check_models(&c->models[1], &e) == 0, "models.json: the same: %s", e.text);
	unique(&c->providers[1].json, "name", false);
	unique(&c->providers[1].json, "aliases", true);
	unique(&c->providers[1].json, "prefixes", true);
	unique(&c->providers[1].json, "key_prefix", false);
	for (; catalog_nth(c, n, &r); n++) {
		char *name = row_text(&r, "name");

		check_provider(c, &r, name);
		free(name);
	}
	OK(n > 60, "%zu providers", n);
	for (struct json_iter it = json_iter(m, 0); json_next(&it);) {
		char *model = json_dup(m, it.key), *of = json_dup(m, json_get(m, it.value, "provider"));
		char *slash = strchr(model, '/');
		double input;

		if (slash)
			OK(catalog_provider(c, model, (size_t)(slash - model), &r), "%s: a provider", model);
		else if (of)
			OK(catalog_provider(c, of, strlen(of), &r) && row_is(&r, "name", of), "%s: %s", model, of);
		if (json_get(m, it.value, "price") >= 0)
			OK(json_double(m, json_path(m, it.value, "price.input"), &input) == 0 &&
				json_double(m, json_path(m, it.value, "price.output"), &input) == 0, "%s: its price is whole", model);
		free(model);
		free(of);
	}
}

static void put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/config/%s", dir, name);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	free(path);
}

static void user_files(const char *dir)
{
	static const struct { const char *file, *text, *words; } bad[] = {
		{"providers.json", "[\n{\"name\": \"x\",\n \"basurl\": \"y\"}]", "providers.json:3: basurl: there is no such member"},
		{"providers.json", "[\n{\"name\": \"x\",\n \"quirks\": [\"odd\"]}]", "providers.json:3: quirks odd: there is no such quirk"},
		{"providers.json", "[\n{\"name\": \"x\", \"thinking\": \"deep\"}]", "providers.json:2: thinking deep: there is no such style"},
		{"providers.json", "[\n{\"name\": \"x\", \"wire\": \"fax\"}]", "providers.json:2: wire fax: there is no such wire"},
		{"providers.json", "[{\"name\": \"x\", \"key_command\": []}]", "key_command: it names no program"},
		{"providers.json", "[{\"aliases\": []}]", "a row: it is an object with a name"},
		{"providers.json", "[\n\n{\"name\": }]", "providers.json:3: "},
		{"models.json", "{\"m\": {\"context\": -1}}", "models.json:1: context: expected a number"},
		{"models.json", "{\"m\": {\"price\": {\"in\": 1}}}", "a price has no such member"},
		{"models.json", "[]", "it is not an object"}};
	struct catalog c;
	struct provider p;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;

		put(dir, "providers.json", "[]");
		put(dir, "models.json", "{}");
		put(dir, bad[i].file, bad[i].text);
		OK(catalog_open(&c, &e) < 0 && e.status == ST_CONFIG && strstr(e.text, bad[i].words), "refused: %s", e.text);
	}
	put(dir, "providers.json", "[{\"name\": \"groq\", \"context\": 5},\n{\"name\": \"mine\", \"wire\": \"openai-chat\","
		"\"base_url\": \"https://mine.example/v1\", \"key_command\": [\"printf\", \" k-%s\\n\", \"1\"], \"price\": {\"input\": 1, \"output\": 2}}]");
	put(dir, "models.json", "{\"gpt-4o\": {\"context\": 77},\n \"mine/m*\": {\"context\": 99}}");
	OK(catalog_open(&c, NULL) == 0, "the user's files");
	find(&c, "groq/unknown-x", NULL, &p, NULL);
	OK(p.context == 5 && !strcmp(p.base_url, "https://api.groq.com/openai/v1"), "override single members of a row");
	provider_free(&p);
	find(&c, "gpt-4o", NULL, &p, NULL);
	OK(p.context == 77 && p.max_output == 16384 && strstr(p.from[FROM_CONTEXT], "config/models.json:1"), "of a model's row too");
	provider_free(&p);
	OK(find(&c, "mine/m-1", NULL, &p, NULL) == 0 && p.context == 99 && p.price[PRICE_OUTPUT] > 1.9, "and add providers");
	char *key, *from;
	OK(provider_key(&p, true, &key, &from, NULL) == 0 && key && !strcmp(key, "k-1"), "key_command prints the key");
	IS(from, "key_command printf", "and is named");
	free(key);
	free(from);
	provider_free(&p);
	catalog_close(&c);
	put(dir, "providers.json", "[]");
	put(dir, "models.json", "{}");
}

static void windows(const struct catalog *c)
{
	static const char list[] = "{\"data\":[{\"id\":\"a\",\"max_model_len\":4000},{\"id\":\"b\",\"meta\":{\"n_ctx\":2000}},{\"id\":\"c\"}]}";
	const char *base = "http://127.0.0.1:49998/v1";
	struct provider p;

	OK(window_known(base, "a") == -1, "not asked yet");
	OK(window_keep(base, list, sizeof list - 1, NULL) == 0 && window_known(base, "a") == 4000 && window_known(base, "b") == 2000,
		"what the server said");
	OK(window_known("http://127.0.0.1:49998/v1/", "other") == 2000, "of others the smallest");
	find(c, "a", base, &p, NULL);
	OK(p.context == 4000 && p.context_known && provider_max_tokens(&p, 9000) == 3744, "a custom server's window counts");
	provider_free(&p);
	OK(window_keep(base, "<html>", 6, NULL) == 0 && window_known(base, "a") == 0, "one that does not say");
}

int main(void)
{
	char dir[] = "/tmp/provider-test-XXXXXX", *config;
	struct catalog c;
	struct err e = ERR_INIT;

	if (!mkdtemp(dir))
		return 1;
	clearenv();
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("CLAWS_HOME", dir, 1);
	config = xasprintf("%s/config", dir);
	mkdir(config, 0700);
	OK(catalog_open(&c, &e) == 0, "the tables are read");
	if (e.status) {
		printf("# %s\n", e.text);
		return END();
	}
	finds(&c);
	costs(&c);
	limits(&c);
	pins(&c);
	rows(&c);
	windows(&c);
	catalog_close(&c);
	user_files(dir);
	free(config);
	if (fork() == 0)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	wait(NULL);
	return END();
}

/* Model names, the tables, and what a call costs. */
#include <stdlib.h>

#include "base/status.h"
#include "llm/provider.h"
#include "tap.h"

static void finds(const struct catalog *c)
{
	static const struct { const char *name; bool custom; const char *provider, *model; } v[] = {
		{"anthropic/claude-sonnet-4-5", false, "anthropic", "claude-sonnet-4-5"},
		{"claude:claude-x", false, "anthropic", "claude-x"},
		{"claude-sonnet-4-5", false, "anthropic", "claude-sonnet-4-5"},
		{"claude-sonnet-4-5-20250929", false, "anthropic", "claude-sonnet-4-5-20250929"},
		{"o3", false, "openai", "o3"},
		{"gpt-4o-2024-08-06", false, "openai", "gpt-4o-2024-08-06"},
		{"gpt-99", false, "openai", "gpt-99"},
		{"openrouter/openai/gpt-4o", false, "openrouter", "openai/gpt-4o"},
		{"ollama:qwen3:8b", false, "ollama", "qwen3:8b"},
		{"meta/llama", true, "custom", "meta/llama"},
		{"openai/x", true, "openai", "x"},
		{"gpt-4o", true, "openai", "gpt-4o"},
		{"my-own", true, "custom", "my-own"}};
	static const char *const bad[] = {"meta/llama", "llama3:8b", "anthropic/", "", "/x", ":"};
	struct provider p;

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		OK(provider_find(c, v[i].name, v[i].custom, &p, NULL) == 0, "found %s", v[i].name);
		IS(p.name, v[i].provider, "%s: provider", v[i].name);
		IS(p.model, v[i].model, "%s: model", v[i].name);
		provider_free(&p);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;

		OK(provider_find(c, bad[i], false, &p, &e) < 0 && e.status == ST_CONFIG, "not found: '%s'", bad[i]);
		provider_free(&p);
	}
}

static void costs(const struct catalog *c)
{
	struct provider p;
	struct usage u = {.input = 1000000, .cache_read = 1000000, .cache_write = 1000000, .output = 1000000, .reasoning = 5};

	provider_find(c, "claude-sonnet-4-5-20250929", false, &p, NULL);
	OK(p.context == 200000 && p.max_tokens == 32000, "window and limit");
	OK(provider_cost(&p, &u) > 22.04 && provider_cost(&p, &u) < 22.06, "dollars");
	u.output = -1;
	OK(provider_cost(&p, &u) < 0, "a counter that is missing");
	provider_free(&p);
	provider_find(c, "gpt-4.1", false, &p, NULL);
	u = (struct usage){.input = 500000, .cache_read = 0, .cache_write = -1, .output = 0, .reasoning = -1};
	OK(provider_cost(&p, &u) > 0.99 && provider_cost(&p, &u) < 1.01, "what was not used needs no price");
	u.cache_write = 7;
	OK(provider_cost(&p, &u) < 0, "what was used does");
	provider_free(&p);
	/* the price list of one provider says nothing of another's */
	provider_find(c, "openrouter/gpt-4.1", false, &p, NULL);
	OK(provider_cost(&p, &u) < 0 && p.context == 128000, "another provider's price");
	provider_free(&p);
	provider_find(c, "claude-sonnet-4-9", false, &p, NULL);
	OK(provider_cost(&p, &u) < 0 && p.context == 200000, "a model that is not known");
	provider_free(&p);
}

/* Every row is whole: a known wire, an address, a key's name, and models of known providers. */
static void rows(const struct catalog *c)
{
	const struct json *j = &c->providers;

	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		char *name = json_dup(j, json_get(j, it.value, "name")), *wire = json_dup(j, json_get(j, it.value, "wire"));
		bool custom = json_eq(j, json_get(j, it.value, "name"), "custom");

		OK(name && wire && wire_find(wire), "%s: its wire is known", name);
		OK(custom || json_strlen(j, json_get(j, it.value, "base_url")) > 10, "%s: its address", name);
		OK(custom || json_count(j, json_get(j, it.value, "key_env")) > 0, "%s: the name of its key", name);
		free(name);
		free(wire);
	}
	for (struct json_iter it = json_iter(&c->models, 0); json_next(&it);) {
		char *model = json_dup(&c->models, it.key), *of = json_dup(&c->models, json_get(&c->models, it.value, "provider"));
		struct provider p;

		OK(provider_find(c, model, false, &p, NULL) == 0 && of && !strcmp(p.name, of), "%s is found", model);
		provider_free(&p);
		free(model);
		free(of);
	}
}

int main(void)
{
	struct catalog c;
	struct err e = ERR_INIT;

	OK(catalog_open(&c, &e) == 0, "the tables are read");
	if (e.status) {
		printf("# %s\n", e.text);
		return END();
	}
	finds(&c);
	costs(&c);
	rows(&c);
	catalog_close(&c);
	return END();
}

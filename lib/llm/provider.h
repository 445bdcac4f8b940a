/* provider.h - where a model is called, how it is spoken to, what it costs: the tables providers.json and models.json
 * (claws-stream(1) describes them).
 *
 *   struct catalog c;
 *   if (catalog_open(&c, &e) < 0) ...
 *   struct provider p;
 *   if (provider_find(&c, "anthropic/claude-sonnet-4-5", false, &p, &e) < 0) ...
 *   ...p.wire, p.base_url, p.model, p.context...
 *   provider_free(&p); catalog_close(&c);
 *
 * Names: PROVIDER/MODEL, PROVIDER:MODEL (PROVIDER may be an alias), or a bare model, whose provider is that of its row
 * in models.json or the one that claims its beginning. What names no known provider is a model of "custom" if `custom`
 * is set (a base URL was given), else an error.
 *
 * Errors: ST_CONFIG with what to write instead. Ownership: strings of a provider live until provider_free. */
#ifndef LLM_PROVIDER_H
#define LLM_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "llm/convo.h"
#include "llm/wire.h"

struct catalog {
	struct buf providers_text, models_text;
	struct json providers, models;
};

struct provider {
	char *name, *model;
	char *wire, *base_url;        /* base_url "" for custom */
	char **key_env;               /* NULL-terminated */
	bool key_optional;
	char *auth;                   /* "x-api-key", "bearer", or "" for the wire's own */
	char *path, *path_stream;     /* instead of the wire's; NULL: the wire's own */
	char **headers;               /* further ones, "name: value", NULL-terminated */
	enum { CACHE_NONE, CACHE_AUTOMATIC, CACHE_MARKS } cache;  /* of prompts: by itself, or where marks are set */
	enum thinking_style style;
	char *effort_words[EFFORTS];  /* NULL: our own word; "": say nothing */
	uint64_t quirks;
	unsigned inputs;              /* convo.h: INPUT_IMAGE | INPUT_PDF, or INPUT_TEXT_ONLY */
	char **cascade;               /* models to go over to in turn where the limit of one is reached; NULL-terminated */
	char *key_prefix;             /* how a key of it begins; "" */
	bool local;                   /* on this machine: no proxy, no key needed, no price */
	char *extra;                  /* further members of each request, JSON text without braces; NULL: none */
	int64_t max_output;           /* the most tokens that the model can answer with; 0 unknown */
	int64_t max_tokens;           /* to ask for; 0: none */
	int64_t context;              /* tokens of the window; 0 unknown */
	double price[4];              /* dollars for a million tokens; < 0 unknown; by enum price */
};

enum price { PRICE_INPUT, PRICE_OUTPUT, PRICE_CACHE_READ, PRICE_CACHE_WRITE };

int catalog_open(struct catalog *c, struct err *e);
void catalog_close(struct catalog *c);

int provider_find(const struct catalog *c, const char *name, bool custom, struct provider *p, struct err *e);
void provider_free(struct provider *p);

/* PROVIDER/MODEL to call where nothing names one: default_model of the first row that has one and whose key is in the
 * environment. To be freed; NULL: there is none. */
char *provider_default(const struct catalog *c);

/* Dollars, or -1 where a price of something that was used is not known. */
double provider_cost(const struct provider *p, const struct usage *u);

#endif

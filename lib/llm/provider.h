/* provider.h - where a model is called, how it is spoken to, what it costs: what the rows of catalog.h say of one model.
 *
 *   struct catalog c;
 *   if (catalog_open(&c, &e) < 0) ...
 *   struct provider p;
 *   if (provider_find(&c, &(struct provider_want){.name = "anthropic/claude-sonnet-4-5"}, &p, &e) < 0) ...
 *   ...p.wire, p.base_url, p.model, p.context...
 *   provider_free(&p); catalog_close(&c);
 *
 * Who serves a name is decided by the first rule that applies; p.from[FROM_PROVIDER] says which it was:
 *   1. the provider that is forced;
 *   2. PROVIDER/MODEL or PROVIDER:MODEL, PROVIDER being a name or an alias;
 *   3. a base URL was given, and it is that of a row, or holds a keyword of one (the port of a local server);
 *   4. the model's row in models.json, by its whole or plain name, where it names no vendor ("meta/llama");
 *   5. the beginning of the name, which a row claims;
 *   6. a base URL was given: custom;
 *   7. CLAWS_API_KEY is set and begins as the keys of a row do;
 *   8. VENDOR/MODEL: the first gateway whose key is set;
 *   9. a family of models.json ("llama3*").
 *
 * Errors: ST_CONFIG with what to write instead. Ownership: strings of a provider live until provider_free. */
#ifndef LLM_PROVIDER_H
#define LLM_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "llm/catalog.h"
#include "llm/convo.h"
#include "llm/secret.h"
#include "llm/wire.h"

enum price { PRICE_INPUT, PRICE_OUTPUT, PRICE_CACHE_READ, PRICE_CACHE_WRITE, PRICES };

enum from { FROM_PROVIDER, FROM_WIRE, FROM_URL, FROM_KEY, FROM_CONTEXT, FROM_MAX_OUTPUT, FROM_MAX_TOKENS, FROM_PRICE,
	FROM_THINKING, FROM_QUIRKS, FROM_CACHE, FROM_INPUT, FROMS };

struct provider {
	char *name, *model, *title;
	char *kind;                   /* "direct", "gateway", "local", "enterprise" */
	char *wire, *base_url;        /* base_url "" where there is none */
	char *missing;                /* the variable that the row's base URL or path needs and that is not set; NULL */
	char **key_env;               /* NULL-terminated */
	char **key_command;           /* the user's own program that prints the key; NULL: none */
	char *key_file;               /* the user's own file that holds it; NULL */
	bool key_optional;
	char *auth;                   /* "x-api-key", "bearer", or "" for the wire's own */
	char *path, *path_stream;     /* instead of the wire's; NULL: the wire's own */
	char *query;                  /* put behind the path; NULL: nothing */
	char **headers;               /* further ones, "name: value", NULL-terminated */
	struct secrets secrets;       /* what rows took out of variables such as X_TOKEN, for an address, a query, a header */
	char *general_of;             /* another provider, whose key CLAWS_API_KEY is by its beginning: not sent here; NULL */
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
	bool context_known;           /* of this model, not only the provider's usual one */
	double price[PRICES];         /* dollars for a million tokens; < 0 unknown; by enum price */
	double above[PRICES];         /* the same for a request of more than above_tokens of input */
	int64_t above_tokens;         /* 0: all requests cost the same */
	char *from[FROMS];            /* where each was found; NULL unless asked for, or if nobody said it */
};

struct provider_want {
	const char *name;             /* as the user wrote the model */
	const char *provider;         /* forced; NULL: none */
	const char *base_url;         /* of an option; NULL: none */
	bool explain;                 /* fill from[] */
};

int provider_find(const struct catalog *c, const struct provider_want *w, struct provider *p, struct err *e);
void provider_free(struct provider *p);

/* PROVIDER/MODEL to call where nothing names one: default_model of the first row that has one and whose key is in the
 * environment. To be freed; NULL: there is none. */
char *provider_default(const struct catalog *c);

/* max_tokens of a request: what was asked for (0: nothing), or the row's own; never more than the model can answer with,
 * nor, where the window is known and the limit of the answer is not, than fits beside 256 tokens of it. 0: say nothing. */
int64_t provider_max_tokens(const struct provider *p, int64_t asked);

/* Dollars, or -1 where a price of something that was used is not known. */
double provider_cost(const struct provider *p, const struct usage *u);

/* The key: of the variables of the row, key_file, key_command (without a shell, at most 10 s), CLAWS_API_KEY. *key is NULL if
 * there is none (no error here; CLAWS_API_KEY is none where general_of is set), else to be wiped and freed. *from says
 * where it is from, or NULL; to be freed. Without `run`
 * neither file nor program is used: then *from may be set without a key. */
int provider_key(const struct provider *p, bool run, char **key, char **from, struct err *e);

/* provider_take.c: fills p from the rows. */
void provider_take(const struct row *provider, const struct row *here, const struct row *model, bool explain, struct provider *p);
/* Is a key of the row in the environment? */
bool provider_key_set(const struct row *r);

#endif

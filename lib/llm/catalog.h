/* catalog.h - the tables of providers and models: those that come with claws, and the user's own on top of them.
 *
 *   struct catalog c;
 *   if (catalog_open(&c, &e) < 0) ...
 *   struct row r;
 *   if (catalog_provider(&c, "groq", 4, &r)) {
 *       struct at a = row_get(&r, "base_url");        // the user's word before the shipped one
 *       ... json_dup(&a.t->json, a.v), at_where(&out, &a)
 *   }
 *   catalog_close(&c);
 *
 * share/claws/providers.json is an array of rows with a "name" each, models.json an object with a row for each model
 * (claws-stream(1) lists the members). The user's providers.json and models.json in the configuration directory have the
 * same form: a row adds a name, or overrides single members of the row of that name. A key of models.json that ends in '*'
 * holds for all models that begin so; "PROVIDER/MODEL" as a key is that model at that provider only.
 *
 * The user's files are checked whole at open: what is wrong there is ST_CONFIG with file and line. The shipped ones are
 * checked by the tests (catalog_check). Strings are borrowed from the tables. */
#ifndef LLM_CATALOG_H
#define LLM_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "json/json.h"

struct table {
	char *path;               /* NULL: there is none */
	struct buf text;
	struct json json;
	bool own;                 /* the user's */
};

struct catalog {
	struct table providers[2], models[2];   /* the user's, the shipped */
};

struct row {                      /* one row, in the layers that have it; the first wins */
	const struct table *t[2];
	int v[2];
	int n;
};

struct at {                       /* a value and the table it is from; v < 0: not there */
	const struct table *t;
	int v;
};

int catalog_open(struct catalog *c, struct err *e);
void catalog_close(struct catalog *c);

/* The row of that name or alias; any case. */
bool catalog_provider(const struct catalog *c, const char *s, size_t n, struct row *r);
/* The row that claims the model's beginning (the longest claim), or the one at whose address `base` is. */
bool catalog_claims(const struct catalog *c, const char *model, struct row *r);
bool catalog_at_url(const struct catalog *c, const char *base, struct row *r);
/* The row whose keys begin so. */
bool catalog_by_key(const struct catalog *c, const char *key, struct row *r);
/* The n-th provider of all, the user's new ones last; false: no more. */
bool catalog_nth(const struct catalog *c, size_t n, struct row *r);

/* What is known of a model: by its whole name, then by the plain one (vendor path, @suffix, :tag, version and date
 * dropped), then by the longest family ("qwen3*"). The second finds what is known of it at this provider alone
 * ("PROVIDER/MODEL", "PROVIDER/qwen3*"). provider may be NULL for the first. */
bool catalog_model(const struct catalog *c, const char *provider, const char *model, struct row *r);
bool catalog_model_here(const struct catalog *c, const char *provider, const char *model, struct row *r);

struct at row_get(const struct row *r, const char *member);
bool row_is(const struct row *r, const char *member, const char *word);
/* To be freed; NULL: there is no such member or it is no string. */
char *row_text(const struct row *r, const char *member);
/* "PATH:LINE" of a value. */
void at_where(struct buf *out, const struct at *a);

/* Checks every row of a table: its members, their types, quirks, styles, wires. ST_CONFIG with file and line. */
int catalog_check_providers(const struct table *t, struct err *e);
int catalog_check_models(const struct table *t, struct err *e);

#endif

/* permit.h - the gate: may this call run? Used by claws-tool before each call, and by claws-permit.
 *
 *   struct permit g; permit_init(&g, MODE_AUTO, cwd);
 *   g.where = ...; rules_add(&g.rules, ...); harmless_load(&g.harmless, file, &e);
 *   struct verdict v = VERDICT_INIT;
 *   permit_judge(&g, &use, &v);          // v.decision, why, and what would allow it
 *   verdict_free(&v); permit_free(&g);
 *
 * In this order: what is never done (credentials, rm -rf / and the like) is denied; deny rules; in modes read-only and plan
 * whatever is not read-only is denied; ask rules; mode accept-all; allow rules; then the mode. What is not known
 * to be safe is asked, never allowed.
 *
 * An allow rule or a mode cannot reach a protected file (git's hooks, shell start-up files ...): only a rule that names the very
 * path, accept-all, or a person can. Nothing here looks into the stream: rules come from the command line and the environment. */
#ifndef AGENT_PERMIT_H
#define AGENT_PERMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/manifest.h"
#include "agent/rules.h"
#include "base/err.h"
#include "json/json.h"

/* From the narrowest to the widest. */
enum permit_mode { MODE_READ_ONLY, MODE_PLAN, MODE_MANUAL, MODE_AUTO, MODE_ACCEPT_EDITS, MODE_ACCEPT_ALL, MODE_COUNT };
#define PERMIT_MODES "read-only|plan|manual|auto|accept-edits|accept-all"

const char *permit_mode_name(enum permit_mode m);
int permit_mode_parse(const char *name, enum permit_mode *m);      /* -1: no such mode */

/* Where a path is, for the gate. */
enum place { PLACE_INSIDE, PLACE_OUTSIDE, PLACE_PROTECTED, PLACE_REFUSED };
struct where {
	enum place place;
	char *resolved;           /* absolute, links resolved; to be freed; NULL if it cannot be told */
	struct err why;           /* when not inside */
};
typedef void where_fn(void *arg, const char *path, bool write, struct where *w);

struct harmless {                 /* command lines that only show something: "ls -l" */
	char **v;
	size_t n;
};

/* One a line, # comments. -1: unreadable (then nothing is harmless). */
int harmless_load(struct harmless *h, const char *file, struct err *e);
void harmless_free(struct harmless *h);

struct permit {
	enum permit_mode mode;
	struct rules rules;
	struct harmless harmless;
	const char *cwd, *home;         /* borrowed */
	const char *const *roots;       /* borrowed, NULL-terminated */
	const char *path;               /* PATH that commands get; borrowed */
	where_fn *where;
	void *where_arg;
};

void permit_init(struct permit *g, enum permit_mode mode, const char *cwd, const char *const *roots);
void permit_free(struct permit *g);

enum decision { ALLOW, ASK, DENY };

struct verdict {
	enum decision decision;
	const char *by;           /* "mode" or "rule" */
	char *rule;               /* the rule's text, or the mode's name */
	char *why;                /* one sentence without a full stop */
	char *exact;              /* the rule that would allow exactly this, or NULL */
	bool harmless;            /* allowed because it only shows something */
	struct where at;          /* of the call's path; resolved NULL if it has none */
};
#define VERDICT_INIT {0}

/* input is an object of j and fits the tool's schema. */
void permit_judge(const struct permit *g, const struct manifest *tool, const struct json *j, int input, struct verdict *v);
void verdict_free(struct verdict *v);

/* Does the command consist of plain words that make up one of the harmless lines, its program outside the roots? why (may be
 * NULL) says what speaks against it. */
bool permit_is_harmless(const struct permit *g, const char *command, char why[256]);

/* A command that is refused in every mode: its name ("rm -rf /"), or NULL. A seat belt against accidents, no wall. */
const char *permit_never(const char *command);

#endif

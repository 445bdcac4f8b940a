/* rules.h - permission rules: Tool and Tool(SPEC), in lists for allow, ask and deny.
 *
 *   struct rules r = RULES_INIT;
 *   rules_add(&r, RULE_ALLOW, "Bash(make test), Read", &e);      // comma or white space between rules
 *   const struct rule *hit = rules_match(&r, RULE_DENY, &use);   // NULL: none
 *   rules_free(&r);
 *
 * Syntax, that of Claude Code's settings: `Tool` is every use of the tool; `Bash(CMD)` exactly this command line (no
 * pattern, no prefix); `Read(GLOB)`, and so Write, Edit, Glob, Grep, a path: absolute, `~/...`, or from the working directory;
 * `*` and `?` stop at a slash, `**` does not; a GLOB without a slash is a name at any depth. Inside parentheses
 * parentheses must balance (\( and \) do not count), unless the list is that one rule. What is inside is taken as it is.
 *
 * What is not sure errs to the safe side: an allow rule must match the path with all its links resolved, and only from
 * the working directory down if relative; a deny or ask rule matches the path as written or as resolved, and all that lies
 * beneath. A deny or ask rule of Read also holds for Glob and Grep of that path, one of Write for Edit and the reverse.
 * A deny or ask rule `Bash(...)` with a * is refused: it would be taken for a pattern and protect nothing. So is an allow
 * rule that can only be meant as one (`Bash(git *)`, `Bash(git:*)`): it would allow nothing. */
#ifndef AGENT_RULES_H
#define AGENT_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum rule_kind { RULE_ALLOW, RULE_ASK, RULE_DENY };

struct rule {
	enum rule_kind kind;
	char *text;             /* as written: "Bash(make test)" */
	char *tool;
	char *spec;             /* NULL: every use */
};

struct rules {
	struct rule *v;
	size_t n;
};

#define RULES_INIT {0, 0}

struct rule_use {               /* one use of a tool, to be matched; all borrowed */
	const char *tool;
	const char *command;    /* Bash: the command line, else NULL */
	const char *path;       /* absolute, as the model wrote it; NULL: the tool takes none */
	const char *resolved;   /* the same without links */
	const char *cwd, *home; /* absolute; home may be NULL */
};

/* Adds each rule of the list. ST_USAGE if one is none; the ones before it stay. */
int rules_add(struct rules *r, enum rule_kind kind, const char *list, struct err *e);
void rules_free(struct rules *r);

/* The first rule of this kind that matches. */
const struct rule *rules_match(const struct rules *r, enum rule_kind kind, const struct rule_use *use);

/* The rule of this kind that names the whole tool, or NULL. */
const struct rule *rules_whole(const struct rules *r, enum rule_kind kind, const char *tool);

/* Is the rule one path without wildcards? Only such a rule reaches a protected file. */
bool rule_is_literal(const struct rule *r);

/* Does a list with this rule's text read back as this rule? */
bool rules_writable(const struct rule *r);

/* Adds one rule from its parts (spec may be NULL), which need not be writable as text. */
void rules_put(struct rules *r, enum rule_kind kind, const char *tool, const char *spec);

/* Appends the rule that matches exactly this use, as rules_add reads it back. False, and nothing appended, if there is none:
 * unbalanced parentheses (which in a list would read as several rules), wildcards in a path, a command line that reads as a
 * pattern, control characters. */
bool rule_write(struct buf *out, const char *tool, const char *spec);

#endif

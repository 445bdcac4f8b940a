#include "agent/rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"

#define RULES_MAX 10000

static bool is_path_tool(const char *tool)
{
	static const char *const names[] = {"Read", "Write", "Edit", "Glob", "Grep"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(tool, names[i]))
			return true;
	return false;
}

static bool is_name(char c, bool first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (!first && ((c >= '0' && c <= '9') || c == '_' || c == '-'));
}

static bool is_gap(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

void rules_put(struct rules *r, enum rule_kind kind, const char *tool, const char *spec)
{
	struct rule *n;

	r->v = xrealloc(r->v, r->n + 1, sizeof *r->v);
	n = &r->v[r->n++];
	n->kind = kind;
	n->tool = xstrdup(tool);
	n->spec = spec ? xstrdup(spec) : NULL;
	n->text = spec ? xasprintf("%s(%s)", tool, spec) : xstrdup(tool);
}

/* Where the parenthesis that opens before s closes; NULL if it does not. */
static const char *closing(const char *s)
{
	int depth = 1;

	for (; *s; s++) {
		if (*s == '\\' && (s[1] == '(' || s[1] == ')'))
			s++;
		else if (*s == '(')
			depth++;
		else if (*s == ')' && --depth == 0)
			return s;
	}
	return NULL;
}

/* White space around a command line or path means nothing. */
static char *trimmed(const char *s, size_t n)
{
	while (n && is_gap(*s) && *s != ',')
		s++, n--;
	while (n && is_gap(s[n - 1]) && s[n - 1] != ',')
		n--;
	return xstrndup(s, n);
}

/* Meant as a pattern, as in Claude Code's settings: `*`, `git *`, `git:*`, `git*`. A star in quotes, and one in a
 * word of the arguments (`ls *.c`), can belong to a command line and is no sign. */
static bool like_pattern(const char *s)
{
	const char *word = s;
	char quote = 0;

	for (const char *p = s; *p; p++) {
		if (quote) {
			if (*p == quote)
				quote = 0;
		} else if (*p == '\'' || *p == '"') {
			quote = *p;
		} else if (*p == '\\' && p[1]) {
			p++;
		} else if (is_gap(*p) && *p != ',') {
			word = p + 1;
		} else if (*p == '*') {
			bool ends = !p[1] || (is_gap(p[1]) && p[1] != ',');
			if ((ends && (p == word || p[-1] == ':')) || (word == s && !memchr(s, '=', (size_t)(p - s))))
				return true;
		}
	}
	return false;
}

static int put_checked(struct rules *r, enum rule_kind kind, const char *tool, char *spec, struct err *e)
{
	const char *list = kind == RULE_ALLOW ? "allow" : kind == RULE_ASK ? "ask" : "deny";

	if (r->n >= RULES_MAX)
		return err_set(e, ST_USAGE, "more than %d permission rules", RULES_MAX);
	if (spec && !*spec)
		return err_set(e, ST_USAGE, "permission rule '%s()': nothing between the parentheses; write '%s' for every use", tool,
		               tool);
	if (spec && strcmp(tool, "Bash") && !is_path_tool(tool))
		return err_set(e, ST_USAGE, "permission rule '%s(%s)': only Bash, Read, Write, Edit, Glob and Grep take something in "
		               "parentheses; write '%s'", tool, spec, tool);
	if (spec && !strcmp(tool, "Bash") && kind != RULE_ALLOW && strchr(spec, '*'))
		return err_set(e, ST_USAGE, "%s rule 'Bash(%s)': Bash(...) names one exact command line, so a pattern would protect "
		               "nothing; use 'Bash' for every command", list, spec);
	if (spec && !strcmp(tool, "Bash") && like_pattern(spec))
		return err_set(e, ST_USAGE, "%s rule 'Bash(%s)': Bash(...) names one exact command line, so a pattern would allow "
		               "nothing; write each command whole, as in 'Bash(make test)', or 'Bash' for every command", list, spec);
	rules_put(r, kind, tool, spec);
	return 0;
}

/* One rule at *s; *s is moved behind it. last: up to the last ')' of the text. */
static int add_one(struct rules *r, enum rule_kind kind, const char **s, bool last, struct err *e)
{
	const char *p = *s, *end;
	char *tool, *spec = NULL;
	int rc;

	if (!is_name(*p, true))
		return err_set(e, ST_USAGE, "permission rule '%.200s': expected Tool or Tool(...)", p);
	while (is_name(*p, false))
		p++;
	tool = xstrndup(*s, (size_t)(p - *s));
	if (*p == '(') {
		end = last ? strrchr(p, ')') : closing(p + 1);
		if (!end) {
			rc = err_set(e, ST_USAGE, "permission rule '%.200s': the parenthesis is not closed", *s);
			goto out;
		}
		spec = trimmed(p + 1, (size_t)(end - p - 1));
		p = end + 1;
	}
	if (*p && !is_gap(*p)) {
		rc = err_set(e, ST_USAGE, "permission rule '%.200s': unexpected '%c' after %s%s", *s, *p, tool, spec ? "(...)" : "");
		goto out;
	}
	*s = p;
	rc = put_checked(r, kind, tool, spec, e);
out:
	free(tool);
	free(spec);
	return rc;
}

static void drop_from(struct rules *r, size_t n)
{
	while (r->n > n) {
		struct rule *x = &r->v[--r->n];
		free(x->text);
		free(x->tool);
		free(x->spec);
	}
}

static int add_list(struct rules *r, enum rule_kind kind, const char *s, struct err *e)
{
	size_t before = r->n;

	for (;;) {
		while (is_gap(*s))
			s++;
		if (!*s)
			return 0;
		if (add_one(r, kind, &s, false, e) < 0) {
			drop_from(r, before);
			return -1;
		}
	}
}

/* The list is Name(...) as a whole, so it can be one rule whose parentheses do not balance. */
static bool may_be_one(const char *s)
{
	size_t n = strlen(s), i = 0;

	while (n && is_gap(s[n - 1]))
		n--;
	while (is_name(s[i], i == 0))
		i++;
	return i && s[i] == '(' && n > i + 1 && s[n - 1] == ')';
}

int rules_add(struct rules *r, enum rule_kind kind, const char *list, struct err *e)
{
	struct err first = ERR_INIT;
	const char *s = list;

	if (add_list(r, kind, list, &first) == 0)
		return 0;
	while (is_gap(*s))
		s++;
	if (may_be_one(s) && add_one(r, kind, &s, true, NULL) == 0)
		return 0;
	return err_set(e, first.status, "%s", first.text);
}

void rules_free(struct rules *r)
{
	drop_from(r, 0);
	free(r->v);
	r->v = NULL;
}

/* Segment by segment; p and s start at a segment. beneath: what lies below a match matches too. */
static bool match_path(const char *p, const char *s, bool beneath)
{
	size_t pn = strcspn(p, "/"), sn = strcspn(s, "/");
	const char *prest = p + pn + (p[pn] == '/'), *srest = s + sn + (s[sn] == '/');
	char *pseg, *sseg;
	bool same;

	if (!*p)
		return !*s || beneath;
	if (pn == 2 && p[0] == '*' && p[1] == '*') {
		if (!*prest)
			return *s != 0;
		for (const char *t = s;; t += strcspn(t, "/"), t += *t == '/') {
			if (match_path(prest, t, beneath))
				return true;
			if (!*t)
				return false;
		}
	}
	if (!*s)
		return false;
	pseg = xstrndup(p, pn);
	sseg = xstrndup(s, sn);
	same = fnmatch(pseg, sseg, 0) == 0;
	free(pseg);
	free(sseg);
	return same && match_path(prest, srest, beneath);
}

/* What of path lies below dir, or NULL. */
static const char *below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	if (strncmp(dir, path, n) || (path[n] != '/' && path[n]))
		return NULL;
	return path[n] ? path + n + 1 : path + n;
}

static bool match_spec(const struct rule *r, const struct rule_use *use, const char *path)
{
	const char *spec = r->spec, *base = use->cwd, *rest;
	bool beneath = r->kind != RULE_ALLOW, any = false, matches;
	char *pattern;
	size_t n;

	if (!path)
		return false;
	if (*spec == '/') {
		base = "/";
		spec += strspn(spec, "/");
	} else if (spec[0] == '~' && spec[1] == '/') {
		base = use->home ? use->home : "/nonexistent";
		spec += 2;
	} else {
		while (spec[0] == '.' && spec[1] == '/')
			spec += 2;
		any = spec == r->spec && !strchr(spec, '/');
		if (any && beneath)
			base = "/";
	}
	rest = below(base, path);
	if (!rest)
		return false;
	n = strlen(spec);
	if (!strcmp(spec, "."))
		pattern = xstrdup(beneath ? "" : "**");
	else if (n && spec[n - 1] == '/')
		pattern = beneath ? xstrndup(spec, n - 1) : xasprintf("%s**", spec);
	else
		pattern = any ? xasprintf("**/%s", spec) : xstrdup(spec);
	matches = match_path(pattern, rest, beneath);
	free(pattern);
	return matches;
}

/* Does a rule for this tool speak of a use of that one? */
static bool concerns(const struct rule *r, const char *tool)
{
	if (!strcmp(r->tool, tool))
		return true;
	if (r->kind == RULE_ALLOW || !r->spec)
		return false;
	if (!strcmp(r->tool, "Read"))
		return !strcmp(tool, "Glob") || !strcmp(tool, "Grep");
	if (!strcmp(r->tool, "Write"))
		return !strcmp(tool, "Edit");
	return !strcmp(r->tool, "Edit") && !strcmp(tool, "Write");
}

static bool rule_hits(const struct rule *r, const struct rule_use *use)
{
	if (!concerns(r, use->tool))
		return false;
	if (!r->spec)
		return true;
	if (!strcmp(use->tool, "Bash")) {
		char *cmd = use->command ? trimmed(use->command, strlen(use->command)) : NULL;
		bool same = cmd && !strcmp(cmd, r->spec);
		free(cmd);
		return same;
	}
	if (r->kind == RULE_ALLOW)
		return match_spec(r, use, use->resolved);
	return match_spec(r, use, use->path) || match_spec(r, use, use->resolved);
}

const struct rule *rules_match(const struct rules *r, enum rule_kind kind, const struct rule_use *use)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].kind == kind && rule_hits(&r->v[i], use))
			return &r->v[i];
	return NULL;
}

const struct rule *rules_whole(const struct rules *r, enum rule_kind kind, const char *tool)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].kind == kind && !r->v[i].spec && !strcmp(r->v[i].tool, tool))
			return &r->v[i];
	return NULL;
}

bool rule_is_literal(const struct rule *r)
{
	return r->spec && !strpbrk(r->spec, "*?[\\") && r->spec[strlen(r->spec) - 1] != '/';
}

/* The parenthesis that opens before the text closes at its very end. */
static bool balanced(const char *spec)
{
	char *closed = xasprintf("%s)", spec);
	const char *end = closing(closed);
	bool good = end && !end[1];

	free(closed);
	return good;
}

bool rules_writable(const struct rule *r)
{
	return !r->spec || balanced(r->spec);
}

bool rule_write(struct buf *out, const char *tool, const char *spec)
{
	bool good;

	if (!spec) {
		buf_adds(out, tool);
		return true;
	}
	good = *spec && balanced(spec) && (strcmp(tool, "Bash") || !like_pattern(spec));
	for (const char *p = spec; *p; p++)
		good = good && (unsigned char)*p >= 0x20 && *p != 0x7f;
	if (is_path_tool(tool) && strpbrk(spec, "*?[\\"))
		good = false;
	if (good)
		buf_addf(out, "%s(%s)", tool, spec);
	return good;
}

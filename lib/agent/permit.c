#include "agent/permit.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/globstart.h"
#include "base/status.h"
#include "base/xalloc.h"

static const char *const mode_names[MODE_COUNT] = {
	[MODE_READ_ONLY] = "read-only", [MODE_PLAN] = "plan", [MODE_MANUAL] = "manual",
	[MODE_AUTO] = "auto", [MODE_ACCEPT_EDITS] = "accept-edits", [MODE_ACCEPT_ALL] = "accept-all",
};

const char *permit_mode_name(enum permit_mode m)
{
	return mode_names[m];
}

int permit_mode_parse(const char *name, enum permit_mode *m)
{
	for (int i = 0; i < MODE_COUNT; i++)
		if (!strcmp(name, mode_names[i])) {
			*m = (enum permit_mode)i;
			return 0;
		}
	return -1;
}

void permit_init(struct permit *g, enum permit_mode mode, const char *cwd, const char *const *roots)
{
	*g = (struct permit){.mode = mode, .cwd = cwd, .roots = roots, .home = getenv("HOME"), .path = getenv("PATH")};
}

void permit_free(struct permit *g)
{
	rules_free(&g->rules);
	harmless_free(&g->harmless);
}

void verdict_free(struct verdict *v)
{
	free(v->rule);
	free(v->why);
	free(v->exact);
	free(v->at.resolved);
	*v = (struct verdict)VERDICT_INIT;
}

/* The built-in tools that touch files: which argument, and whether they write. */
static const struct path_arg {
	const char *tool, *key;
	bool write;
} path_args[] = {
	{"Read", "file_path", false}, {"Write", "file_path", true}, {"Edit", "file_path", true},
	{"Glob", "path", false}, {"Grep", "path", false},
};

struct use {                       /* what a call wants, taken from its input */
	struct rule_use r;
	char *command;
	char *given, *path;         /* as the model wrote it, which is what the tool will open; and absolute */
	const struct path_arg *arg;
};

/* Absolute, without ".", ".." and doubled slashes: by the text alone, so ".." behind a link is not what open(2) sees; the
 * resolved path beside it is. */
static char *lexical(const char *cwd, const char *home, const char *path)
{
	char *full, *out;
	size_t n = 0;

	if (path[0] == '~' && path[1] == '/' && home)
		full = xasprintf("%s/%s", home, path + 2);
	else
		full = *path == '/' ? xstrdup(path) : xasprintf("%s/%s", cwd, path);
	out = xmalloc(strlen(full) + 2);
	for (const char *s = full; *s;) {
		size_t len;
		s += strspn(s, "/");
		len = strcspn(s, "/");
		if (len == 2 && s[0] == '.' && s[1] == '.') {
			while (n && out[--n] != '/')
				;
		} else if (len && !(len == 1 && *s == '.')) {
			out[n++] = '/';
			memcpy(out + n, s, len);
			n += len;
		}
		s += len;
	}
	if (!n)
		out[n++] = '/';
	out[n] = 0;
	free(full);
	return out;
}

/* What Glob opens is not its path alone: the pattern's leading directories belong to it. */
static void take_glob_start(struct use *u, const struct json *j, int input)
{
	char *pattern = json_dup(j, json_get(j, input, "pattern")), *dir;
	const char *rest;

	if (!pattern)
		return;
	dir = glob_start(u->given, pattern, &rest);
	free(u->given);
	u->given = dir;
	free(pattern);
}

static void use_take(struct use *u, const struct permit *g, const struct manifest *tool, const struct json *j, int input)
{
	*u = (struct use){.r = {.tool = tool->name, .cwd = g->cwd, .home = g->home}};
	if (!tool->builtin)
		return;
	if (!strcmp(tool->name, "Bash"))
		u->r.command = u->command = json_dup(j, json_get(j, input, "command"));
	for (size_t i = 0; i < sizeof path_args / sizeof *path_args; i++) {
		if (strcmp(tool->name, path_args[i].tool))
			continue;
		u->arg = &path_args[i];
		u->given = json_dup(j, json_get(j, input, u->arg->key));
		if (!strcmp(tool->name, "Glob"))
			take_glob_start(u, j, input);
		if (!u->given)
			u->given = xstrdup(".");
		u->r.path = u->path = lexical(g->cwd, g->home, u->given);
	}
}

static void use_free(struct use *u)
{
	free(u->command);
	free(u->given);
	free(u->path);
}

__attribute__((format(printf, 5, 6)))
static void decide(struct verdict *v, enum decision d, const char *by, const char *rule, const char *fmt, ...)
{
	va_list ap;
	char text[1024];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	v->decision = d;
	v->by = by;
	v->rule = xstrdup(rule);
	v->why = xstrdup(text);
}

/* The pattern of Glob can lead out of its path by itself. */
static bool leads_out(const struct use *u, const struct json *j, int input)
{
	char *p;
	bool out = false;

	if (strcmp(u->r.tool, "Glob"))
		return false;
	p = json_dup(j, json_get(j, input, "pattern"));
	for (const char *s = p; s && *s && !out; s += strcspn(s, "/"), s += *s == '/')
		out = !strncmp(s, "..", 2) && (!s[2] || s[2] == '/');
	out = out || (p && (*p == '/' || *p == '~'));
	free(p);
	return out;
}

static bool never(const struct use *u, struct verdict *v)
{
	const char *name = u->command ? permit_never(u->command) : NULL;

	if (name) {
		decide(v, DENY, "rule", name, "'%s' is refused in every mode", name);
		return true;
	}
	if (u->path && v->at.place == PLACE_REFUSED) {
		decide(v, DENY, "rule", "never", "%s", v->at.why.text);
		return true;
	}
	return false;
}

static bool is_edit(const struct use *u)
{
	return u->arg && u->arg->write;
}

/* Allow rules, short of what they cannot reach. */
static const struct rule *allowing(const struct permit *g, const struct use *u, const struct verdict *v)
{
	for (size_t i = 0; i < g->rules.n; i++) {
		const struct rules one = {&g->rules.v[i], 1};
		const struct rule *r = rules_match(&one, RULE_ALLOW, &u->r);
		if (r && (v->at.place != PLACE_PROTECTED || !u->path || rule_is_literal(r)))
			return r;
	}
	return NULL;
}

static void by_mode(const struct permit *g, const struct manifest *tool, const struct use *u, const char *not_harmless,
                    struct verdict *v)
{
	const char *mode = mode_names[g->mode];

	if (g->mode == MODE_MANUAL)
		decide(v, ASK, "mode", mode, "mode manual asks for every call");
	else if (v->harmless)
		decide(v, ALLOW, "mode", mode, "the command only shows something");
	else if (tool->builtin && tool->read_only && v->at.place == PLACE_INSIDE)
		decide(v, ALLOW, "mode", mode, "%s only reads, inside the allowed directories", tool->name);
	else if (g->mode == MODE_ACCEPT_EDITS && is_edit(u) && v->at.place == PLACE_INSIDE)
		decide(v, ALLOW, "mode", mode, "mode accept-edits allows it inside the allowed directories");
	else if (u->path && v->at.place != PLACE_INSIDE)
		decide(v, ASK, "mode", mode, "%s", v->at.why.text);
	else if (u->command)
		decide(v, ASK, "mode", mode, "%s", not_harmless);
	else
		decide(v, ASK, "mode", mode, "mode %s does not allow %s by itself", mode, tool->name);
}

void permit_judge(const struct permit *g, const struct manifest *tool, const struct json *j, int input, struct verdict *v)
{
	struct use u;
	const struct rule *r;
	char not_harmless[256] = "";
	struct buf exact;

	use_take(&u, g, tool, j, input);
	v->at.place = PLACE_INSIDE;
	if (u.path) {
		g->where(g->where_arg, u.given, u.arg->write, &v->at);
		if (v->at.place == PLACE_INSIDE && leads_out(&u, j, input)) {
			v->at.place = PLACE_OUTSIDE;
			err_set(&v->at.why, ST_DENIED, "the pattern leads out of its directory");
		}
		u.r.resolved = v->at.resolved ? v->at.resolved : u.path;
	}
	v->harmless = u.command && permit_is_harmless(g, u.command, not_harmless);
	buf_init(&exact, 8192);
	if (rule_write(&exact, tool->name, u.command ? u.command : u.path ? u.r.resolved : NULL))
		v->exact = xstrdup(exact.p);
	buf_free(&exact);

	if (never(&u, v))
		;
	else if ((r = rules_match(&g->rules, RULE_DENY, &u.r)))
		decide(v, DENY, "rule", r->text, "the rule %s denies it", r->text);
	else if (g->mode <= MODE_PLAN && !v->harmless && !(tool->builtin && tool->read_only))
		decide(v, DENY, "mode", mode_names[g->mode], "mode %s allows only what reads; --permission-mode auto asks",
		       mode_names[g->mode]);
	else if ((r = rules_match(&g->rules, RULE_ASK, &u.r)))
		decide(v, ASK, "rule", r->text, "the rule %s asks for it", r->text);
	else if (g->mode == MODE_ACCEPT_ALL)
		decide(v, ALLOW, "mode", "accept-all", "mode accept-all allows it");
	else if ((r = allowing(g, &u, v)))
		decide(v, ALLOW, "rule", r->text, "the rule %s allows it", r->text);
	else
		by_mode(g, tool, &u, not_harmless, v);
	use_free(&u);
}

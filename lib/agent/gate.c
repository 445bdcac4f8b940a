#include "agent/gate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/near.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "sys/dirs.h"

/* What a variable says wrong is a matter of configuration, and the variable has to be named. */
static int env_wrong(struct err *e, const char *name)
{
	e->status = ST_CONFIG;
	return err_wrap(e, "%s", name);
}

static int take_rules(struct gate *g, enum rule_kind kind, const struct opt_list *list, const char *name, struct err *e)
{
	const char *env = getenv(name);

	if (env && rules_add(&g->permit.rules, kind, env, e) < 0)
		return env_wrong(e, name);
	for (size_t i = 0; i < list->n; i++)
		if (rules_add(&g->permit.rules, kind, list->v[i], e) < 0)
			return -1;
	return 0;
}

static int add_root(struct gate *g, size_t *n, const char *dir, const char *from, struct err *e)
{
	struct stat st;
	char *real;

	if (!*dir)
		return 0;
	real = realpath(dir, NULL);
	if (!real || stat(real, &st) < 0)
		return err_sys(e, "%s %s", from, dir);
	if (!S_ISDIR(st.st_mode)) {
		free(real);
		return err_set(e, ST_USAGE, "%s %s: not a directory", from, dir);
	}
	g->roots = xrealloc(g->roots, *n + 2, sizeof *g->roots);
	g->roots[(*n)++] = real;
	g->roots[*n] = NULL;
	return 0;
}

static int take_roots(struct gate *g, const struct opt_list *dirs, struct err *e)
{
	const char *env = getenv("CLAWS_ADD_DIR");
	char *list, *rest, *dir;
	size_t n = 1;
	int rc = 0;

	g->cwd = getcwd(NULL, 0);
	if (!g->cwd)
		return err_sys(e, "current directory");
	g->roots = xcalloc(2, sizeof *g->roots);
	g->roots[0] = xstrdup(g->cwd);
	rest = list = xstrdup(env ? env : "");
	while (rc == 0 && (dir = strsep(&rest, "\n")))
		if ((rc = add_root(g, &n, dir, "the directory", e)) < 0)
			env_wrong(e, "CLAWS_ADD_DIR");
	free(list);
	for (size_t i = 0; rc == 0 && i < dirs->n; i++)
		rc = add_root(g, &n, dirs->v[i], "--add-dir", e);
	return rc;
}

/* "; near it: Bash": names of tools near this one; nothing if there are none. */
static void add_near(struct buf *out, const struct gate *g, const char *name)
{
	int n = 0;

	for (size_t i = 0; i < g->tools.n && n < 3; i++)
		if (name_near(name, g->tools.v[i]->name))
			buf_addf(out, "%s%s", n++ ? " or " : "; near it: ", g->tools.v[i]->name);
}

static int no_such_tool(const struct gate *g, const char *name, struct err *e)
{
	struct buf b;

	buf_init(&b, 512);
	buf_addf(&b, "there is no tool '%.64s'", name);
	add_near(&b, g, name);
	err_set(e, ST_USAGE, "%s; 'claws-tool list' shows all", b.p);
	buf_free(&b);
	return -1;
}

static int take_tools(struct gate *g, const char *list, struct err *e)
{
	bool all = !list || !strcmp(list, "all");
	const char *s = list ? list : "";

	g->offered = xcalloc(g->tools.n + 1, sizeof *g->offered);
	for (size_t i = 0; i < g->tools.n; i++)
		g->offered[i] = all;
	if (all || !strcmp(s, "none"))
		return 0;
	while (*(s += strspn(s, " ,\t\n"))) {
		size_t n = strcspn(s, " ,\t\n"), i = 0;
		while (i < g->tools.n && (strncmp(g->tools.v[i]->name, s, n) || g->tools.v[i]->name[n]))
			i++;
		if (i == g->tools.n) {
			char *name = xstrndup(s, n);
			no_such_tool(g, name, e);
			free(name);
			return -1;
		}
		g->offered[i] = true;
		s += n;
	}
	return 0;
}

static void load_tools(struct gate *g, manifest_heard *heard, void *arg)
{
	struct buf builtin, user;
	struct err e = ERR_INIT;
	bool have;

	buf_init(&builtin, PATH_MAX);
	buf_init(&user, PATH_MAX);
	if (dirs_share(&builtin, "tools", &e) < 0) {
		heard(arg, e.text);
		buf_clear(&builtin);
	}
	have = dirs_data_path(&user, "tools", NULL) == 0;
	manifests_load(&g->tools, builtin.len ? builtin.p : NULL, have ? user.p : NULL, heard, arg);
	buf_clear(&builtin);
	err_clear(&e);
	if (dirs_share(&builtin, "harmless", &e) < 0 || harmless_load(&g->permit.harmless, builtin.p, &e) < 0)
		heard(arg, e.text);
	buf_free(&builtin);
	buf_free(&user);
}

/* Does the parent's list hold this rule, or one for the whole tool? */
static bool parent_allows(const struct rules *parent, const struct rule *r)
{
	for (size_t i = 0; i < parent->n; i++) {
		const struct rule *p = &parent->v[i];
		if (!strcmp(p->tool, r->tool) && (!p->spec || (r->spec && !strcmp(p->spec, r->spec))))
			return true;
	}
	return false;
}

static int take_parent(struct rules *r, enum rule_kind kind, const char *name, struct err *e)
{
	const char *list = getenv(name);

	return list && rules_add(r, kind, list, e) < 0 ? env_wrong(e, name) : 0;
}

static int narrow_rules(struct gate *g, enum permit_mode parent_mode, manifest_heard *heard, void *arg, struct err *e)
{
	struct rules parent = RULES_INIT, *mine = &g->permit.rules;
	const char *allowed = getenv("CLAWS_PARENT_ALLOWED");
	char text[512];

	if (allowed)
		rules_add(&parent, RULE_ALLOW, allowed, NULL);
	for (size_t i = 0; i < mine->n && parent_mode != MODE_ACCEPT_ALL; i++) {
		struct rule *r = &mine->v[i];
		if (r->kind != RULE_ALLOW || parent_allows(&parent, r))
			continue;
		snprintf(text, sizeof text, "the rule %.200s is ignored: the claws around this one does not have it", r->text);
		heard(arg, text);
		r->kind = RULE_ASK;
	}
	rules_free(&parent);
	if (take_parent(mine, RULE_ASK, "CLAWS_PARENT_ASKED", e) < 0)
		return -1;
	return take_parent(mine, RULE_DENY, "CLAWS_PARENT_DENIED", e);
}

/* Inside a tool of another claws: no more than that one. What cannot be read there counts as the narrowest. */
static int narrow(struct gate *g, manifest_heard *heard, void *arg, struct err *e)
{
	const char *mode = getenv("CLAWS_PARENT_MODE"), *depth = getenv("CLAWS_DEPTH");
	enum permit_mode parent = MODE_READ_ONLY;
	char text[200];

	g->depth = depth ? strtol(depth, NULL, 10) : 0;
	if (g->depth >= GATE_DEPTH_MAX)
		return err_set(e, ST_LIMIT, "claws inside a tool of claws, %ld deep; the limit is %d", g->depth, GATE_DEPTH_MAX);
	if (!mode)
		return 0;
	permit_mode_parse(mode, &parent);
	if (g->permit.mode > parent) {
		snprintf(text, sizeof text, "mode %s becomes %s: the claws around this one has no wider mode",
		         permit_mode_name(g->permit.mode), permit_mode_name(parent));
		heard(arg, text);
		g->permit.mode = parent;
	}
	return narrow_rules(g, parent, heard, arg, e);
}

static bool named_before(const struct rules *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(r->v[k].tool, r->v[i].tool))
			return true;
	return false;
}

/* Rules that do nothing and are no error: the tool may come later, the command line may be meant so. n: those of this
 * claws, without what it inherited. */
static void doubt_rules(const struct gate *g, size_t n, manifest_heard *heard, void *arg)
{
	const struct rules *r = &g->permit.rules;
	struct buf b;

	buf_init(&b, 1024);
	for (size_t i = 0; i < n; i++) {
		const char *spec = r->v[i].spec;
		buf_clear(&b);
		if (!manifests_find(&g->tools, r->v[i].tool) && !named_before(r, i)) {
			buf_addf(&b, "the rule %.200s: there is no tool '%.64s'", r->v[i].text, r->v[i].tool);
			add_near(&b, g, r->v[i].tool);
		} else if (!strcmp(r->v[i].tool, "Bash") && spec && strlen(spec) > 1 && spec[strlen(spec) - 1] == '*') {
			buf_addf(&b, "the rule %.200s is for exactly that command line: its * is no pattern", r->v[i].text);
		}
		if (b.len)
			heard(arg, b.p);
	}
	buf_free(&b);
}

/* The option, else the variable; from says which. */
static const char *setting(const char *option, const char *option_name, const char *env_name, const char **from)
{
	*from = option ? option_name : env_name;
	return option ? option : getenv(env_name);
}

/* e says what is wrong with a setting: names where it comes from, and an environment is configuration. */
static int setting_wrong(struct err *e, const char *from)
{
	return *from == '-' ? err_wrap(e, "%s", from) : env_wrong(e, from);
}

int gate_open(struct gate *g, const struct gate_options *o, manifest_heard *heard, void *arg, struct err *e)
{
	const char *from, *name = setting(o->mode, "--permission-mode", "CLAWS_PERMISSION_MODE", &from), *tools;
	enum permit_mode mode = MODE_AUTO;
	size_t own;

	*g = (struct gate){.tools = MANIFESTS_INIT};
	if (name && *name && permit_mode_parse(name, &mode) < 0) {
		err_set(e, ST_USAGE, "no permission mode '%s'; there are %s", name, PERMIT_MODES);
		return setting_wrong(e, from);
	}
	if (take_roots(g, &o->add_dirs, e) < 0)
		return -1;
	permit_init(&g->permit, mode, g->cwd, (const char *const *)g->roots);
	if (take_rules(g, RULE_DENY, &o->denied, "CLAWS_DISALLOWED_TOOLS", e) < 0 ||
	    take_rules(g, RULE_ASK, &o->asked, "CLAWS_ASK_TOOLS", e) < 0 ||
	    take_rules(g, RULE_ALLOW, &o->allowed, "CLAWS_ALLOWED_TOOLS", e) < 0)
		return -1;
	own = g->permit.rules.n;
	if (narrow(g, heard, arg, e) < 0)
		return -1;
	load_tools(g, heard, arg);
	tools = setting(o->tools, "--tools", "CLAWS_TOOLS", &from);
	if (take_tools(g, tools, e) < 0)
		return setting_wrong(e, from);
	doubt_rules(g, own, heard, arg);
	return 0;
}

void gate_close(struct gate *g)
{
	permit_free(&g->permit);
	manifests_free(&g->tools);
	free(g->offered);
	for (char **r = g->roots; r && *r; r++)
		free(*r);
	free(g->roots);
	free(g->cwd);
}

const struct manifest *gate_tool(const struct gate *g, const char *name)
{
	for (size_t i = 0; i < g->tools.n; i++)
		if (g->offered[i] && !strcmp(g->tools.v[i]->name, name))
			return g->tools.v[i];
	return NULL;
}

static void export_rules(const struct gate *g, enum rule_kind kind, const char *name)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	for (size_t i = 0; i < g->permit.rules.n; i++) {
		const struct rule *r = &g->permit.rules.v[i];
		/* A deny or ask rule that cannot be written in a list holds for the whole tool in there. */
		if (r->kind != kind)
			continue;
		if (!rules_writable(r) && kind != RULE_ALLOW)
			buf_addf(&b, "%s\n", r->tool);
		else if (rules_writable(r))
			buf_addf(&b, "%s\n", r->text);
	}
	setenv(name, b.p, 1);
	buf_free(&b);
}

void gate_mark(const struct gate *g)
{
	char depth[24];

	snprintf(depth, sizeof depth, "%ld", g->depth + 1);
	setenv("CLAWS_DEPTH", depth, 1);
	setenv("CLAWS_PARENT_MODE", permit_mode_name(g->permit.mode), 1);
	export_rules(g, RULE_ALLOW, "CLAWS_PARENT_ALLOWED");
	export_rules(g, RULE_ASK, "CLAWS_PARENT_ASKED");
	export_rules(g, RULE_DENY, "CLAWS_PARENT_DENIED");
}

/* claws-permit: what the gate of claws-tool says about a command or another tool's input, and why. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/gate.h"
#include "agent/schema.h"
#include "base/prog.h"
#include "base/status.h"
#include "json/jw.h"
#include "opt/opt.h"
#include "sys/io.h"
#include "sys/term.h"
#include "tools/tool.h"
#include "tools/where.h"

#define INPUT_MAX ((size_t)64 << 20)

struct conf {
	struct gate_options gate;
	const char *dir, *tool;
	bool explain, json;
};

static const struct opt options[] = {
	{'m', "mode", "MODE", OPT_STR, offsetof(struct conf, gate.mode), "the permission mode", 0, 0, PERMIT_MODES},
	{0, "permission-mode", "MODE", OPT_STR, offsetof(struct conf, gate.mode), "the same, as other programs call it", 0, 0,
	 PERMIT_MODES},
	{0, "tool", "NAME", OPT_STR, offsetof(struct conf, tool), "judge NAME with the arguments on stdin", 0, 0, 0},
	{0, "allowed-tools", "RULES", OPT_LIST, offsetof(struct conf, gate.allowed), "run these uses of tools unasked", 0, 0, 0},
	{0, "ask-tools", "RULES", OPT_LIST, offsetof(struct conf, gate.asked), "always ask about these", 0, 0, 0},
	{0, "disallowed-tools", "RULES", OPT_LIST, offsetof(struct conf, gate.denied), "never run these", 0, 0, 0},
	{0, "add-dir", "DIR", OPT_LIST, offsetof(struct conf, gate.add_dirs), "a further directory that tools may use", 0, 0, 0},
	{'C', "directory", "DIR", OPT_STR, offsetof(struct conf, dir), "judge as if in DIR", 0, 0, 0},
	{0, "explain", NULL, OPT_FLAG, offsetof(struct conf, explain), "say what decided, and what would allow it", 0, 0, 0},
	{0, "json", NULL, OPT_FLAG, offsetof(struct conf, json), "print one JSON object", 0, 0, 0},
	{0, NULL, NULL, 0, 0, NULL, 0, 0, NULL},
};

static const struct opt_spec spec = {
	.prog = "claws-permit",
	.args = "[OPTION...] COMMAND",
	.summary = "Say what the permission gate decides about a shell command: allow, ask or deny.",
	.options = options,
	.footer =
		"Exit status: 0 allow, 1 ask, 3 deny.\n"
		"RULES are Tool or Tool(SPEC), separated by commas or blanks; Bash(CMD) is exactly that command line,\n"
		"no prefix and no pattern.\n"
		"\n"
		"  claws-permit --explain 'git push'\n"
		"  echo '{\"file_path\":\"/etc/shadow\"}' | claws-permit --tool Read\n",
	.flags = OPT_MIXED,
};

static void heard(void *arg, const char *text)
{
	(void)arg;
	warn("%s", text);
}

/* The arguments: {"command": CMD}, or what stdin has; canonical, as claws-tool judges them. */
static void take_input(struct json *j, struct buf *canon, const char *command)
{
	struct err e = ERR_INIT;
	struct json raw = JSON_INIT;
	struct buf b;
	struct jw w;

	buf_init(&b, INPUT_MAX);
	if (command) {
		w = jw_begin(&b);
		jw_obj(&w);
		jw_kstr(&w, "command", command);
		jw_end(&w);
	} else if (io_read_all(0, &b, &e) < 0) {
		die_err(&e);
	}
	if (json_parse(&raw, b.p, b.len, &e) < 0)
		die(ST_DATA, "arguments on stdin: %s", e.text);
	if (json_type(&raw, 0) != JSON_OBJECT)
		die(ST_DATA, "arguments on stdin: expected an object, not %s", json_type_name(json_type(&raw, 0)));
	json_canon(canon, &raw, 0);
	if (json_parse(j, canon->p, canon->len, &e) < 0)
		die_err(&e);
	json_free(&raw);
	buf_free(&b);
}

static void print_json(const struct gate *g, const struct verdict *v, const char *word)
{
	struct buf b;
	struct jw w;

	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "decision", word);
	jw_kstr(&w, "by", v->by);
	jw_kstr(&w, "rule", v->rule);
	jw_kstr(&w, "why", v->why);
	jw_kstr(&w, "mode", permit_mode_name(g->permit.mode));
	if (v->decision == ASK && v->exact && !strcmp(v->by, "mode"))
		jw_kstr(&w, "would_allow", v->exact);
	jw_end(&w);
	puts(b.p);
	buf_free(&b);
}

/* On one line whatever the command holds: the first word of the output is the decision and nothing else. */
static void print_text(const struct verdict *v, const char *word, bool explain)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&b, word);
	if (explain) {
		buf_addf(&b, " by %s ", v->by);
		term_safe(&b, v->rule, strlen(v->rule), TERM_ONE_LINE);
		buf_adds(&b, ": ");
		term_safe(&b, v->why, strlen(v->why), TERM_ONE_LINE);
		if (v->decision == ASK && v->exact && !strcmp(v->by, "mode")) {
			buf_adds(&b, "; allowed by the rule ");
			term_safe(&b, v->exact, strlen(v->exact), TERM_ONE_LINE);
		}
	}
	puts(b.p);
	buf_free(&b);
}

static int judge(const struct gate *g, const struct conf *c, const char *command)
{
	static const char *const words[] = {[ALLOW] = "allow", [ASK] = "ask", [DENY] = "deny"};
	static const int statuses[] = {[ALLOW] = ST_OK, [ASK] = ST_FAILED, [DENY] = ST_DENIED};
	const char *name = c->tool ? c->tool : "Bash";
	const struct manifest *t = manifests_find(&g->tools, name);
	struct verdict v = VERDICT_INIT;
	struct json j = JSON_INIT;
	struct buf canon, why;
	int status;

	if (!t)
		die(ST_USAGE, "there is no tool '%s'; see claws-tool --list", name);
	buf_init(&canon, BUF_NOLIMIT);
	buf_init(&why, SCHEMA_WHY_MAX);
	take_input(&j, &canon, command);
	if (schema_check(&t->json, t->schema, &j, 0, &why) < 0)
		die(ST_DATA, "the arguments of %s are wrong: %s", name, why.p);
	permit_judge(&g->permit, t, &j, 0, &v);
	if (c->json)
		print_json(g, &v, words[v.decision]);
	else
		print_text(&v, words[v.decision], c->explain);
	status = statuses[v.decision];
	verdict_free(&v);
	json_free(&j);
	buf_free(&canon);
	buf_free(&why);
	return status;
}

int main(int argc, char **argv)
{
	struct conf c = {0};
	struct gate g;
	struct tool_ctx ctx = {.blobs = -1};
	struct err e = ERR_INIT;
	int first, status;

	prog_name("claws-permit");
	first = opt_parse(&spec, argc, argv, &c);
	if (argc - first != (c.tool ? 0 : 1))
		opt_usage(&spec, "%s", c.tool ? "--tool takes its arguments on stdin" : "expected one command, as one word");
	if (c.dir && chdir(c.dir) < 0) {
		err_sys(&e, "-C %s", c.dir);
		die_err(&e);
	}
	if (gate_open(&g, &c.gate, heard, NULL, &e) < 0)
		die_err(&e);
	ctx.cwd = g.cwd;
	ctx.roots = g.permit.roots;
	g.permit.where = where_is;
	g.permit.where_arg = &ctx;
	status = judge(&g, &c, c.tool ? NULL : argv[first]);
	gate_close(&g);
	finish(status);
}

/* claws-memory - notes that outlive a session. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/instructions.h"
#include "base/prog.h"
#include "base/status.h"
#include "memory.h"
#include "opt/opt.h"

static const struct opt options[] = {
	{'d', "description", "TEXT", OPT_STR, offsetof(struct conf, description), "save: what it is about, in a line", 0, 0, NULL},
	{'t', "type", "TYPE", OPT_STR, offsetof(struct conf, type), "save: user, feedback, project or reference", 0, 0,
	"user|feedback|project|reference"},
	{0, "scope", "SCOPE", OPT_STR, offsetof(struct conf, scope), "user (every project), project (this one) or all", 0, 0,
	"user|project|all"},
	{0, "origin", "ORIGIN", OPT_STR, offsetof(struct conf, origin),
	 "save: whose words these are (file, web, mcp:NAME, ...)", 0, 0, NULL},
	{'n', "max", "N", OPT_LONG, offsetof(struct conf, max), "search: print at most N (default 10)", 1, 100000, NULL},
	{'j', "json", NULL, OPT_FLAG, offsetof(struct conf, json), "print objects, one a line", 0, 0, NULL},
	{'C', "directory", "DIR", OPT_STR, offsetof(struct conf, dir), "as if started in DIR", 0, 0, NULL},
	{0, "no-time", NULL, OPT_FLAG, offsetof(struct conf, no_time), "save: write no dates", 0, 0, NULL},
	{0}};

static const struct opt_verb verbs[] = {
	{"save", "NAME [TEXT...]", "keep a text (from stdin if there is no TEXT) under a name"},
	{"search", "WORD...", "print the memories that have these words, best first"},
	{"list", "", "print all memories"},
	{"show", "NAME...", "print their texts"},
	{"delete", "NAME...", "remove them"},
	{0}};

static const struct opt_spec spec = {"claws-memory", "[OPTION...] VERB [ARG...]", "Keep notes that outlive a session.", options,
				verbs, NULL, OPT_MIXED};

static const struct {
	const char *name;
	int (*run)(const struct memory_store *, const struct conf *, char **, int);
	int least, most;
} runs[] = {
	{"save", do_save, 1, INT_MAX}, {"search", do_search, 1, INT_MAX}, {"list", do_list, 0, 0},
	{"show", do_show, 1, INT_MAX}, {"delete", do_delete, 1, INT_MAX},
};

enum memory_scope scope_of(const struct conf *c, enum memory_scope none)
{
	if (!c->scope)
		return none;
	return !strcmp(c->scope, "user") ? MEMORY_USER : !strcmp(c->scope, "project") ? MEMORY_PROJECT : MEMORY_BOTH;
}

static void open_store(struct memory_store *s, const struct conf *c)
{
	struct err e = ERR_INIT;
	struct buf root;

	if (c->dir && chdir(c->dir) < 0)
		die(errno == ENOENT ? ST_NOINPUT : ST_IO, "%s: %s", c->dir, strerror(errno));
	char *cwd = getcwd(NULL, 0);
	if (!cwd)
		die(ST_IO, "the working directory: %s", strerror(errno));
	buf_init(&root, PATH_MAX);
	instructions_root(cwd, &root);
	if (memory_open(s, root.p, &e) < 0)
		die_err(&e);
	buf_free(&root);
	free(cwd);
}

int main(int argc, char **argv)
{
	struct conf c = {.max = 10};
	struct memory_store s;
	const char *off = getenv("CLAWS_NO_TIME");

	prog_name("claws-memory");
	int at = opt_parse(&spec, argc, argv, &c), n = argc - at - 1;
	if (n < 0)
		opt_usage(&spec, "a verb is missing");
	c.no_time |= off && *off && strcmp(off, "0");
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		if (strcmp(runs[i].name, argv[at]))
			continue;
		if (n < runs[i].least)
			opt_usage(&spec, "%s: an operand is missing", argv[at]);
		if (n > runs[i].most)
			opt_usage(&spec, "%s: takes no operand", argv[at]);
		open_store(&s, &c);
		int status = runs[i].run(&s, &c, argv + at + 1, n);
		memory_close(&s);
		finish(status);
	}
	opt_usage(&spec, "there is no verb '%s'", argv[at]);
}

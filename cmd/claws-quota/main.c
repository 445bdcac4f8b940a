/* claws-quota - what was spent on models, and the budgets that it stays within: claws-quota(1). */
#include <stddef.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "quota.h"

static const struct opt options[] = {
	{'j', "json", NULL, OPT_FLAG, offsetof(struct conf, json), "print lines of JSON", 0, 0, NULL},
	{'d', "days", "N", OPT_LONG, offsetof(struct conf, days), "list: this many days back (30)", 1, 36500, NULL},
	{'s', "session", "S", OPT_STR, offsetof(struct conf, session),
	 "show, check: this session (default: CLAWS_SESSION)", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static const struct opt_verb verbs[] = {
	{"show", "", "today's spend by model, and the budgets (the default)"},
	{"list", "", "the spend of each day"},
	{"check", "", "status 4 if a standing budget, or one of the environment, is reached"},
	{"set", "day|session AMOUNT...|none", "standing budgets, for all runs to come"},
	{NULL, NULL, NULL}};

const struct opt_spec spec = {
	"claws-quota", "[OPTION...] [VERB [ARG...]]", "Show what was spent on models, and keep budgets for it.", options, verbs,
	"AMOUNT is $5 or 5usd, or 200k or 1.5m tokens. Days are those of UTC.", OPT_MIXED};

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct conf *, char **);
	} table[] = {{"show", do_show}, {"list", do_list}, {"check", do_check}, {"set", do_set}};
	struct conf conf = {.days = 30};
	int first = opt_parse(&spec, argc, argv, &conf);

	if (first == argc)
		finish(do_show(&conf, argv + first));
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(argv[first], table[i].name))
			finish(table[i].run(&conf, argv + first + 1));
	opt_usage(&spec, "unknown verb '%s'", argv[first]);
}

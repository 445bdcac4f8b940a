/* claws-msg - make and check the lines that claws programs exchange. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "msg_cmd.h"

static const struct opt options[] = {
	{0, "strict", NULL, OPT_FLAG, offsetof(struct conf, strict), "check: the order of the lines too", 0, 0, NULL},
	{'n', "no-stdin", NULL, OPT_FLAG, offsetof(struct conf, no_stdin), "prompt: do not read stdin", 0, 0, NULL},
	{'f', "file", "FILE", OPT_LIST, offsetof(struct conf, files), "prompt: a file's text, before the words; - is stdin", 0, 0,
	 NULL},
	{'i', "image", "FILE", OPT_LIST, offsetof(struct conf, images), "prompt: an image; needs --session", 0, 0, NULL},
	{0, "stdin-wait", "TIME", OPT_TIME, offsetof(struct conf, stdin_wait), "prompt: how long stdin's first byte may take", 0,
	 0, NULL},
	{0, "session", "LOG", OPT_STR, offsetof(struct conf, session), "prompt: the session's log; images go beside it", 0, 0,
	 NULL},
	{'o', "output", "FILE", OPT_STR, offsetof(struct conf, output), "prompt: to FILE, which only its owner can read", 0, 0,
	 NULL},
	{0, "no-time", NULL, OPT_FLAG, offsetof(struct conf, no_time), "prompt: no time stamps, counters as ids", 0, 0, NULL},
	{0, "timeout", "TIME", OPT_TIME, offsetof(struct conf, timeout), "check-stage: how long a line may take (2s)", 0, 0,
	 NULL},
	{0, NULL, NULL, 0, 0, NULL, 0, 0, NULL},
};

static const struct opt_verb verbs[] = {
	{"prompt", "[WORD...]", "make user messages of files, stdin and words"},
	{"check", "[FILE...]", "check lines against claws-messages(5)"},
	{"check-stage", "CMD [ARG...]", "check that a filter keeps the rules of the pipeline"},
	{"norm", "[FILE...]", "strip ids and times, so that two runs can be compared"},
	{"schema", "", "print a JSON Schema of the lines"},
	{"table", "", "print the tables of claws-messages(5) as mdoc"},
	{NULL, NULL, NULL},
};

static const struct opt_spec spec = {
	"claws-msg", "[OPTION...] VERB [OPTION...] [ARG...]", "Make and check the lines of claws-messages(5).", options, verbs,
	NULL, 0,
};

static const struct {
	const char *name;
	int (*run)(const struct conf *c, int argc, char **argv);
	int most;               /* operands; -1: any number */
} commands[] = {
	{"prompt", cmd_prompt, -1}, {"check", cmd_check, -1}, {"check-stage", cmd_check_stage, -1},
	{"norm", cmd_norm, -1}, {"schema", cmd_schema, 0}, {"table", cmd_table, 0},
};

int main(int argc, char **argv)
{
	struct conf c = {.stdin_wait = -1, .timeout = 2000};
	int verb, first;

	prog_name("claws-msg");
	verb = opt_parse(&spec, argc, argv, &c);
	if (verb >= argc)
		opt_usage(&spec, "a verb is missing: prompt, check, check-stage, norm, schema or table");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (strcmp(argv[verb], commands[i].name) != 0)
			continue;
		/* Options may stand behind the verb as well, but before its operands: those may be another program's. */
		first = verb + opt_parse(&spec, argc - verb, argv + verb, &c);
		if (commands[i].most >= 0 && argc - first > commands[i].most)
			opt_usage(&spec, "%s: too many operands", argv[verb]);
		finish(commands[i].run(&c, argc - first, argv + first));
	}
	opt_usage(&spec, "unknown verb '%s'", argv[verb]);
}

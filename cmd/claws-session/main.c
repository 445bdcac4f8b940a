/* claws-session - the logs: appending to one, printing one, and finding them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "session.h"

static const struct opt options[] = {
	{'j', "json", NULL, OPT_FLAG, offsetof(struct conf, json), "list, show, diff: NDJSON", 0, 0, NULL},
	{'a', "all", NULL, OPT_FLAG, offsetof(struct conf, all), "list: of every directory, whoever started them", 0, 0, NULL},
	{0, "max-turns", "N", OPT_LONG, offsetof(struct conf, max_turns), "append: end a run after N model calls; 0: no limit",
	 0, 1000000, NULL},
	{0, "max-time", "TIME", OPT_TIME, offsetof(struct conf, max_time),
	 "append: shown in run_start; claws-ring keeps the time", 0, 0, NULL},
	{0, "on-deny", "WHAT", OPT_STR, offsetof(struct conf, on_deny),
	 "append: a denied call makes the status 3, or does not", 0, 0, "fail|continue"},
	{0, "sync", "WHEN", OPT_STR, offsetof(struct conf, sync), "append: when the log is forced to disk", 0, 0,
	 "turn|always|never"},
	{'i', "interactive", NULL, OPT_FLAG, offsetof(struct conf, interactive),
	 "append: stay for the next prompt of the inbox", 0, 0, NULL},
	{0, "origin", "ORIGIN", OPT_STR, offsetof(struct conf, origin), "inbox: agent:ID or channel:NAME instead of user", 0, 0,
	 NULL},
	{0, "name", "NAME", OPT_STR, offsetof(struct conf, name), "open: the session of this id, prefix, title or file", 0, 0,
	 NULL},
	{0, "id", "ID", OPT_STR, offsetof(struct conf, id), "open: the session of exactly this id, made if missing", 0, 0, NULL},
	{0, "last", NULL, OPT_FLAG, offsetof(struct conf, last),
	 "open: the newest of this directory that a person started", 0, 0, NULL},
	{0, "ephemeral", NULL, OPT_FLAG, offsetof(struct conf, ephemeral),
	 "open: one in a private directory, which the caller removes", 0, 0, NULL},
	{0, "every", NULL, OPT_FLAG, offsetof(struct conf, all_of_it), "diff: all differences, not the first alone", 0, 0, NULL},
	{'q', "quiet", NULL, OPT_FLAG, offsetof(struct conf, quiet), "diff: only the status says it", 0, 0, NULL},
	{0, "replay", "DIR", OPT_STR, offsetof(struct conf, replay),
	 "open: lay what a recording says of its run beside the log", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static const struct opt_verb verbs[] = {
	{"append", "[S]", "filter: log the durable lines, then pass them on"},
	{"cat", "[S]", "print the conversation"},
	{"inbox", "[S] [TEXT]", "put a user message into a session; says joined or queued"},
	{"list", "", "sessions of this directory, newest first"},
	{"show", "[S]", "a session for a person to read"},
	{"diff", "A B", "where two sessions part"},
	{"open", "", "print the log file to use, for scripts"},
	{NULL, NULL, NULL}};

const struct opt_spec spec = {
	"claws-session", "VERB [OPTION...] [S] [ARG...]", "Keep the logs of conversations.", options, verbs,
	"S is a session's id, a unique prefix of it, its title, or a file (a path with a '/'); missing: CLAWS_SESSION.\n"
	"Logs lie in ~/.local/state/claws/sessions; see claws-messages(5) for the lines.", OPT_MIXED};

/* Directories are made for ids only, where we know the place; a path with a slip in it is not to leave any. */
static bool in_a_directory(const char *name)
{
	char *dir = xstrndup(name, (size_t)(strrchr(name, '/') + 1 - name));
	struct stat st;
	bool there = stat(dir, &st) == 0 && S_ISDIR(st.st_mode);

	free(dir);
	return there;
}

void the_log(char **args, bool exists, struct buf *path)
{
	const char *name = args[0] ? args[0] : getenv("CLAWS_SESSION");
	struct err e = ERR_INIT;
	struct stat st;

	buf_init(path, 8192);
	if (!name || !*name)
		opt_usage(&spec, "no session named, and CLAWS_SESSION is not set");
	if (strchr(name, '/') && !in_a_directory(name))
		die(ST_NOINPUT, "session %s: its directory is not there", name);
	if (session_find(name, path, &e) < 0) {
		/* A new id is fine where a log may be made. */
		if (exists || e.status != ST_NOINPUT || !session_id_ok(name))
			die_err(&e);
		err_clear(&e);
		if (session_path(name, path, &e) < 0)
			die_err(&e);
	}
	if (exists && stat(path->p, &st) < 0) {
		err_sys(&e, "session %s", path->p);
		die_err(&e);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct conf *, char **);
	} table[] = {{"append", do_append}, {"cat", do_cat}, {"inbox", do_inbox},
	             {"list", do_list}, {"show", do_show}, {"diff", do_diff}, {"open", do_open}};
	struct conf conf = {.sync = "turn", .on_deny = "fail"};
	int first = opt_parse(&spec, argc, argv, &conf);

	if (first == argc)
		opt_usage(&spec, "no verb");
	for (size_t k = 0; k < sizeof table / sizeof *table; k++)
		if (!strcmp(argv[first], table[k].name))
			finish(table[k].run(&conf, argv + first + 1));
	opt_usage(&spec, "unknown verb '%s'", argv[first]);
}

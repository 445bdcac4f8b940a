#include "claws-tool.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "llm/quota.h"
#include "sys/dirs.h"
#include "sys/private.h"
#include "tools/where.h"

static const struct opt options[] = {
	{0, "permission-mode", "MODE", OPT_STR, offsetof(struct options, gate.mode), "what runs without being asked about", 0, 0,
	 PERMIT_MODES},
	{0, "allowed-tools", "RULES", OPT_LIST, offsetof(struct options, gate.allowed), "run these uses of tools unasked", 0, 0, 0},
	{0, "ask-tools", "RULES", OPT_LIST, offsetof(struct options, gate.asked), "always ask about these", 0, 0, 0},
	{0, "disallowed-tools", "RULES", OPT_LIST, offsetof(struct options, gate.denied), "never run these", 0, 0, 0},
	{0, "tools", "NAMES", OPT_STR, offsetof(struct options, gate.tools), "the tools there are: names, all or none", 0, 0, 0},
	{0, "add-dir", "DIR", OPT_LIST, offsetof(struct options, gate.add_dirs), "a further directory that tools may use", 0, 0, 0},
	{'C', "directory", "DIR", OPT_STR, offsetof(struct options, dir), "work in DIR", 0, 0, 0},
	{0, "ask-timeout", "TIME", OPT_TIME, offsetof(struct options, ask_timeout), "how long a question waits (5m)", 0, 0, 0},
	{0, "no-time", NULL, OPT_FLAG, offsetof(struct options, no_time), "no times, and counters as ids: for tests", 0, 0, 0},
	{0, "record", "DIR", OPT_STR, offsetof(struct options, record), "keep the results of the calls in DIR", 0, 0, 0},
	{0, "replay", "DIR", OPT_STR, offsetof(struct options, replay), "run nothing: give the results that DIR has", 0, 0, 0},
	{0, "list", NULL, OPT_FLAG, offsetof(struct options, list), "print the tools as one tools line", 0, 0, 0},
	{0, "call", "NAME", OPT_STR, offsetof(struct options, call), "run one tool with the arguments on stdin", 0, 0, 0},
	{0, "add", NULL, OPT_FLAG, offsetof(struct options, add), "the same as the verb add", 0, 0, 0},
	{0, "remove", NULL, OPT_FLAG, offsetof(struct options, remove), "the same as the verb remove", 0, 0, 0},
	{0, NULL, NULL, 0, 0, NULL, 0, 0, NULL},
};

static const struct opt_verb verbs[] = {
	{"add", "NAME DESCRIPTION [PARAM:TYPE[?]...] -- COMMAND [ARG...]", "make a tool out of a program"},
	{"remove", "NAME", "remove such a tool"},
	{"list", "", "print the tools there are, for people"},
	{NULL, NULL, NULL},
};

static const struct opt_spec spec = {
	.prog = "claws-tool",
	.args = "[OPTION...] [VERB ARG...]",
	.summary = "Run the tool calls in a stream of claws-messages(5), through the permission gate.",
	.options = options,
	.verbs = verbs,
	.footer =
		"RULES are Tool or Tool(SPEC), separated by commas or blanks: 'Read, Bash(make test)'.\n"
		"Bash(CMD) is exactly that command line, no prefix and no pattern.\n"
		"Read, Write, Edit, Glob and Grep take a path with *, ? and **.\n"
		"Deny rules go before ask rules, those before allow rules.\n"
		"Files with credentials are denied in every mode by the file tools; Bash has the user's own rights.\n"
		"\n"
		"  claws-tool --call Bash --allowed-tools 'Bash(make test)' <<< '{\"command\":\"make test\"}'\n"
		"  claws-tool add Lines 'Count the lines of a file' file:string -- ./lines.sh\n",
	.flags = 0,
};

/* A ring has one place for notices, the stream; --list would say them a second time. */
void host_notice(void *arg, const char *text)
{
	struct host *h = arg;

	if (h->stage && h->stage->ring)
		stage_notice(h->stage, "%s", text);
	else if (h->stage || !getenv("CLAWS_RING"))
		warn("%s", text);
}

/* Where long output goes as a whole: beside the session, else into a private directory. Without one it is only cut. */
static void open_blobs(struct host *h)
{
	struct err e = ERR_INIT;

	h->session = getenv("CLAWS_SESSION");
	if (h->session && !*h->session)
		h->session = NULL;
	if (h->session) {
		h->ctx.blobs = session_blobs(h->session, &e);
		if (h->ctx.blobs >= 0)
			session_side(h->session, "blobs", &h->blob_path, &e);
	} else if (dirs_runtime(&h->blob_path, "blobs", &e) == 0) {
		h->ctx.blobs = open(h->blob_path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (h->ctx.blobs < 0)
			err_sys(&e, "open %s", h->blob_path.p);
	}
	if (h->ctx.blobs < 0)
		host_notice(h, e.text);
	else
		h->ctx.blob_path = h->blob_path.p;
}

/* A claws that a tool starts spends from the account of this session: its budget holds for both. */
static void set_account(const struct host *h)
{
	struct buf path;

	if (!h->session || getenv("CLAWS_QUOTA"))
		return;
	buf_init(&path, 8192);
	if (quota_session_path(&path, h->session, NULL) == 0)
		setenv("CLAWS_QUOTA", path.p, 1);
	buf_free(&path);
}

static void host_open(struct host *h, const struct options *o)
{
	struct err e = ERR_INIT;

	h->ask_timeout = o->ask_timeout;
	buf_init(&h->blob_path, 8192);
	if (gate_open(&h->gate, &o->gate, host_notice, h, &e) < 0) {
		/* In a ring --list reads the same options and has said it. */
		if (h->stage && h->stage->ring)
			finish(e.status);
		if (h->stage) {
			stage_error(h->stage, "config", "%s", e.text);
			stage_flush(h->stage);
		}
		die_err(&e);
	}
	h->ctx = (struct tool_ctx){.cwd = h->gate.cwd, .roots = h->gate.permit.roots, .blobs = -1, .output_max = TOOL_OUTPUT_MAX};
	h->gate.permit.where = where_is;
	h->gate.permit.where_arg = &h->ctx;
}

static int run(const struct options *o)
{
	struct host h = {0};
	struct stage stage;
	int status;

	if (!o->list && !o->call) {
		stage_init(&stage, "claws-tool", 't');
		h.stage = &stage;
	}
	process_private();        /* a tool must not trace the gate that judges it */
	host_open(&h, o);
	if (o->list) {
		status = o->people ? single_show(&h) : single_list(&h);
	} else {
		open_blobs(&h);
		set_account(&h);
		if (h.stage && (o->record || o->replay))
			h.recording = recording_open(o->replay ? o->replay : o->record, o->replay != NULL);
		status = o->call ? single_call(&h, o->call) : filter_run(&h);
		recording_close(h.recording);
	}
	gate_close(&h.gate);
	buf_free(&h.blob_path);
	if (h.ctx.blobs >= 0)
		close(h.ctx.blobs);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = {.ask_timeout = 5 * 60 * 1000};
	int first;

	prog_name("claws-tool");
	first = opt_parse(&spec, argc, argv, &o);
	if (o.dir && chdir(o.dir) < 0) {
		struct err e = ERR_INIT;
		err_sys(&e, "-C %s", o.dir);
		die_err(&e);
	}
	if (o.no_time)
		setenv("CLAWS_NO_TIME", "1", 1);
	if (o.record && o.replay)
		opt_usage(&spec, "--record and --replay exclude each other");
	if (o.call && (o.record || o.replay))
		opt_usage(&spec, "--record and --replay are for a stream, not for --call");
	if (o.add + o.remove + o.list + (o.call != NULL) > 1)
		opt_usage(&spec, "only one of --list, --call, --add and --remove");
	if (o.add || o.remove)
		finish(o.add ? add_tool(argc - first, argv + first) : remove_tool(argc - first, argv + first));
	if (first < argc && !strcmp(argv[first], "add"))
		finish(add_tool(argc - first - 1, argv + first + 1));
	if (first < argc && !strcmp(argv[first], "remove"))
		finish(remove_tool(argc - first - 1, argv + first + 1));
	if (first < argc && !strcmp(argv[first], "list")) {
		if (first + 1 < argc)
			opt_usage(&spec, "list takes no operand; options stand before it");
		if (o.list || o.call)
			opt_usage(&spec, "only one of list, --list and --call");
		o.list = o.people = true;
		first++;
	}
	if (first < argc)
		opt_usage(&spec, "unexpected '%s'; the stream comes on stdin", argv[first]);
	if (!o.list && !o.call && isatty(0))
		opt_usage(&spec, "the stream comes on stdin, and that is a terminal; 'claws tool list' shows the tools");
	finish(run(&o));
}

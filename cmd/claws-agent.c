/* claws-agent - an agent as a process: its own session (of both kinds), no terminal, a record of what became of it. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "json/jw.h"
#include "opt/opt.h"
#include "proto/stage.h"
#include "sys/atomic.h"
#include "sys/dirs.h"
#include "sys/sig.h"
#include "sys/spawn.h"

#define DEPTH_MAX 3      /* agents that start agents that start agents (CheetahClaws: max_agent_depth) */
#define GRACE_MS 5000    /* between passing a signal on and killing the group */

struct conf {
	const char *name, *model, *mode, *tools, *system, *directory, *output;
	struct opt_list allowed, denied;
	long max_turns, max_time;
	bool json, quiet;
};

static const struct opt options[] = {
	{0, "name", "NAME", OPT_STR, offsetof(struct conf, name), "id of the agent and its session (default: made up)", 0, 0, NULL},
	{'m', "model", "MODEL", OPT_STR, offsetof(struct conf, model), "the model", 0, 0, NULL},
	{0, "permission-mode", "MODE", OPT_STR, offsetof(struct conf, mode), "what runs unasked; never wider than the caller's", 0, 0,
	 "read-only|auto|accept-edits|accept-all|manual|plan"},
	{0, "tools", "NAMES", OPT_STR, offsetof(struct conf, tools), "the tools it is offered", 0, 0, NULL},
	{0, "allowed-tools", "RULES", OPT_LIST, offsetof(struct conf, allowed), "what runs unasked", 0, 0, NULL},
	{0, "disallowed-tools", "RULES", OPT_LIST, offsetof(struct conf, denied), "what never runs", 0, 0, NULL},
	{'s', "system", "TEXT|@FILE", OPT_STR, offsetof(struct conf, system), "its system prompt", 0, 0, NULL},
	{0, "max-turns", "N", OPT_LONG, offsetof(struct conf, max_turns), "at most N model calls (50)", 1, 1000000, NULL},
	{0, "max-time", "TIME", OPT_TIME, offsetof(struct conf, max_time), "end it after TIME (30m)", 0, 0, NULL},
	{'C', "directory", "DIR", OPT_STR, offsetof(struct conf, directory), "where it works", 0, 0, NULL},
	{'o', "output", "FILE", OPT_STR, offsetof(struct conf, output), "its answer to FILE too, if it succeeds", 0, 0, NULL},
	{0, "json", NULL, OPT_FLAG, offsetof(struct conf, json), "print the lines of claws-messages(5)", 0, 0, NULL},
	{'q', "quiet", NULL, OPT_FLAG, offsetof(struct conf, quiet), "nothing but the answer", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static const struct opt_verb verbs[] = {{"run", "PROMPT...", "run one agent to its end and print its answer"}, {NULL, NULL, NULL}};

static const struct opt_spec spec = {
	"claws-agent", "VERB [OPTION...] [ARG...]", "Run an agent in a process group and a session of its own.", options, verbs,
	"PROMPT '-' is read from standard input; otherwise the agent reads none. It has no terminal, so what would be asked is\n"
	"denied unless CLAWS_ASK names a program that answers.", OPT_MIXED};

struct agent {
	char id[160];
	char turns[24], time[32];  /* limits as option values */
	struct buf record;        /* path of its record */
	pid_t pid;
	int64_t started;
};

struct words {
	const char **v;
	size_t n;
};

static void word(struct words *w, const char *s)
{
	w->v = xrealloc(w->v, w->n + 2, sizeof *w->v);
	w->v[w->n++] = s;
	w->v[w->n] = NULL;
}

static void option(struct words *w, const char *name, const char *value)
{
	if (value) {
		word(w, name);
		word(w, value);
	}
}

static void command(struct words *w, const struct conf *c, struct agent *a, char **prompt)
{
	word(w, "claws");
	word(w, "-p");
	option(w, "--session-id", a->id);
	option(w, "-C", c->directory);
	option(w, "-m", c->model);
	option(w, "--permission-mode", c->mode);
	option(w, "--tools", c->tools);
	for (size_t k = 0; k < c->allowed.n; k++)
		option(w, "--allowed-tools", c->allowed.v[k]);
	for (size_t k = 0; k < c->denied.n; k++)
		option(w, "--disallowed-tools", c->denied.v[k]);
	option(w, "-s", c->system);
	option(w, "-o", c->output);
	snprintf(a->turns, sizeof a->turns, "%ld", c->max_turns);
	snprintf(a->time, sizeof a->time, "%ldms", c->max_time);
	option(w, "--max-turns", c->max_turns ? a->turns : NULL);
	option(w, "--max-time", c->max_time ? a->time : NULL);
	if (c->json)
		word(w, "--json");
	if (c->quiet)
		word(w, "-q");
	if (!strcmp(prompt[0], "-") && !prompt[1]) {
		word(w, "-");
		return;
	}
	word(w, "-n");
	word(w, "--");
	for (size_t k = 0; prompt[k]; k++)
		word(w, prompt[k]);
}

/* ~/.local/state/claws/agents/ID.json: whole or absent, rewritten when the agent ends. */
static void record(const struct agent *a, int exit_status)
{
	struct err e = ERR_INIT;
	struct buf b;
	struct jw w;

	buf_init(&b, 65536);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "id", a->id);
	jw_kstr(&w, "session", a->id);
	jw_ki64(&w, "pid", a->pid);
	jw_ki64(&w, "started", a->started);
	if (exit_status >= 0) {
		jw_ki64(&w, "ended", stage_now_ms());
		jw_ki64(&w, "exit", exit_status);
	}
	jw_kstr(&w, "state", exit_status < 0 ? "running" : exit_status ? "failed" : "done");
	jw_end(&w);
	buf_addc(&b, '\n');
	if (atomic_write(AT_FDCWD, a->record.p, b.p, b.len, 0600, &e) < 0)
		warn("the agent's record: %s", e.text);
	buf_free(&b);
}

static void go_deeper(void)
{
	const char *now = getenv("CLAWS_AGENT_DEPTH");
	long depth = now ? strtol(now, NULL, 10) : 0;
	char *next;

	if (depth >= DEPTH_MAX)
		die(ST_LIMIT, "agents may start agents %d deep and this one is %ld deep", DEPTH_MAX, depth);
	next = xasprintf("%ld", depth + 1);
	setenv("CLAWS_AGENT_DEPTH", next, 1);
	free(next);
}

/* Until it ends. Signals for us are for it: the first is passed on, the second, or the end of the grace, kills. */
static int wait_for(struct agent *a, struct sigs *sigs)
{
	bool told = false;
	int status = 0;

	while (waitpid(a->pid, &status, WNOHANG) == 0) {
		struct pollfd p = {.fd = sigs->fd, .events = POLLIN};
		int n = poll(&p, 1, told ? GRACE_MS : -1), sig;

		if (n == 0)
			kill(-a->pid, SIGKILL);
		while ((sig = sig_read(sigs, NULL)) > 0)
			if (sig != SIGCHLD) {
				kill(told ? -a->pid : a->pid, told ? SIGKILL : sig);
				told = true;
			}
	}
	return status_of_wait(status);
}

static int run(const struct conf *c, char **prompt)
{
	struct agent a = {.started = stage_now_ms()};
	struct spawn_fd input = {0, SPAWN_NULL};
	struct words w = {0};
	struct spawn s = {.group = SPAWN_SESSION, .death_signal = SIGTERM};
	struct err e = ERR_INIT;
	struct sigs sigs;
	char *starter, id[32];
	int status;

	if (!prompt[0])
		opt_usage(&spec, "run: no prompt");
	go_deeper();
	if (c->name) {
		if (!session_id_ok(c->name))
			opt_usage(&spec, "--name: '%s' is no id: letters, digits, '-', '_' and '.'", c->name);
		snprintf(a.id, sizeof a.id, "%s", c->name);
	} else {
		session_new_id(id);
		snprintf(a.id, sizeof a.id, "agent-%s", id);
	}
	buf_init(&a.record, 8192);
	if (dirs_state(&a.record, "agents", &e) < 0)
		die_err(&e);
	buf_addf(&a.record, "/%s.json", a.id);
	starter = xasprintf("agent:%s", a.id);
	setenv("CLAWS_STARTER", starter, 1);
	command(&w, c, &a, prompt);
	s.argv = w.v;
	if (strcmp(prompt[0], "-") || prompt[1])
		s.fds = &input, s.nfds = 1;
	if (sig_open(&sigs, (const int[]){SIGINT, SIGTERM, SIGHUP, SIGCHLD, 0}, &e) < 0)
		die_err(&e);
	a.pid = spawn_start(&s, &e);
	if (a.pid < 0)
		die_err(&e);
	record(&a, -1);
	status = wait_for(&a, &sigs);
	record(&a, status);
	free(starter);
	free(w.v);
	buf_free(&a.record);
	return status;
}

int main(int argc, char **argv)
{
	struct conf conf = {0};
	int first = opt_parse(&spec, argc, argv, &conf);

	if (first == argc)
		opt_usage(&spec, "no verb");
	if (strcmp(argv[first], "run"))
		opt_usage(&spec, "unknown verb '%s'", argv[first]);
	return run(&conf, argv + first + 1);
}

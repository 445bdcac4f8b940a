/* open.c - which log file a run is to use: for the driver and other scripts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/log.h"
#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "here.h"
#include "session.h"
#include "sys/dirs.h"
#include "sys/lock.h"

extern char **environ;

/* One that is in use now is of no use to the caller: better said before a prompt is read. */
static void must_be_free(const char *log)
{
	struct err e = ERR_INIT;
	struct buf path;
	struct lock l;

	buf_init(&path, 8192);
	if (session_side(log, "lock", &path, &e) < 0)
		die_err(&e);
	if (lock_take(&l, path.p, 0, 0, &e) < 0) {
		if (e.status == ST_TEMP)
			err_wrap(&e, "session %s", log);
		die_err(&e);
	}
	lock_release(&l);
	buf_free(&path);
}

struct newest {
	struct here here;
	struct buf path;
	struct timespec at;
};

static int newer(void *arg, const char *id, const char *path)
{
	struct newest *n = arg;
	struct log_head h;
	struct stat st;

	(void)id;
	if (stat(path, &st) < 0 || log_head(path, &h, NULL) < 0)
		return 0;
	if (here_is(&n->here, &h) && (!h.starter || !strcmp(h.starter, "user")) &&
	    (!n->path.len || st.st_mtim.tv_sec > n->at.tv_sec ||
	     (st.st_mtim.tv_sec == n->at.tv_sec && st.st_mtim.tv_nsec > n->at.tv_nsec))) {
		buf_clear(&n->path);
		buf_adds(&n->path, path);
		n->at = st.st_mtim;
	}
	log_head_free(&h);
	return 0;
}

static void last_of_here(struct buf *path)
{
	struct newest n = {0};
	struct err e = ERR_INIT;

	here_init(&n.here);
	buf_init(&n.path, 8192);
	if (session_each(newer, &n, &e) < 0)
		die_err(&e);
	if (!n.path.len)
		die(ST_NOINPUT, "no session of this directory to continue; claws session list --all shows all");
	buf_adds(path, n.path.p);
	buf_free(&n.path);
	here_free(&n.here);
}

static void ephemeral(struct buf *path)
{
	struct err e = ERR_INIT;

	if (dirs_runtime(path, NULL, &e) < 0)
		die_err(&e);
	buf_adds(path, "/run.XXXXXX");
	if (!mkdtemp(path->p))
		die(ST_IO, "make a private directory %s: %s", path->p, strerror(errno));
	buf_adds(path, "/session.ndjson");
}

/* A slip in the name of a stage would leave the stage as it is, in silence. */
static void check_stages(void)
{
	static const char prefix[] = "CLAWS_STAGE_";
	static const char *const stages[] = {"CONTEXT", "COMPACT", "STREAM", "TOOL", "SESSION", "RENDER"};

	for (char **v = environ; *v; v++) {
		const char *name = *v + sizeof prefix - 1;
		bool known = strncmp(*v, prefix, sizeof prefix - 1) != 0;

		for (size_t k = 0; !known && k < sizeof stages / sizeof *stages; k++)
			known = !strncmp(name, stages[k], strlen(stages[k])) && name[strlen(stages[k])] == '=';
		if (!known)
			die(ST_CONFIG, "%.*s names no stage; there are CONTEXT, COMPACT, STREAM, TOOL, SESSION and RENDER",
			    (int)strcspn(*v, "="), *v);
	}
}

int do_open(const struct conf *c, char **args)
{
	struct err e = ERR_INIT;
	struct buf path, side;
	struct stat st;
	char id[32];

	if (args[0])
		opt_usage(&spec, "open takes no operand '%s'; use --name or --id", args[0]);
	if (c->replay && (c->name || c->last))
		opt_usage(&spec, "open: --replay begins a session of its own; it does not go with --name or --last");
	if (!!c->name + !!c->id + c->last + c->ephemeral > 1)
		opt_usage(&spec, "open: --name, --id, --last and --ephemeral exclude each other");
	check_stages();
	buf_init(&path, 8192);
	if (c->ephemeral) {
		ephemeral(&path);
	} else if (c->last) {
		last_of_here(&path);
	} else if (c->name) {
		if (session_find(c->name, &path, &e) < 0)
			die_err(&e);
		if (stat(path.p, &st) < 0)
			die(ST_NOINPUT, "session %s: %s", path.p, strerror(errno));
		if (log_check(path.p, &e) < 0)
			die_err(&e);
	} else {
		session_new_id(id);
		if (session_path(c->id ? c->id : id, &path, &e) < 0)
			die_err(&e);
	}
	if (c->last || c->name || c->id)
		must_be_free(path.p);
	buf_init(&side, 8192);
	if (session_side(path.p, "", &side, &e) < 0)
		die_err(&e);
	buf_free(&side);
	if (c->replay)
		replay_lay_out(c->replay, path.p);
	puts(path.p);
	buf_free(&path);
	return ST_OK;
}

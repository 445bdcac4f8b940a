/* append.c - the only writer of a log, and in a ring what starts each turn.
 *
 * By hand it logs what passes and passes it on. In a ring it also feeds descriptor 3: `ring`, the prompt, `turn`, every
 * new message, and at each turn_done what comes next. Its output and the feed are queues that never block it, so that a
 * slow reader cannot lock the ring up. */
#include "append.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

void append_feed(struct append *a, const char *line, size_t len)
{
	out_line(&a->feed, line, len, NULL);
}

void append_made(void *arg, const char *line, size_t len)
{
	struct append *a = arg;

	stage_write(&a->st, line, len);
	if (a->st.ring)
		append_feed(a, line, len);
}

/* A log that cannot be written ends everything: what is not logged must not be acted on. */
_Noreturn void append_log_failed(struct append *a, const struct err *e)
{
	if (a->run.active)
		run_done(&a->run, &a->st, e->status, NULL, e->text);
	stage_flush(&a->st);
	die_err(e);
}

void append_close_calls(struct append *a, const char *why)
{
	struct err e = ERR_INIT;

	if (keep_close_calls(&a->keep, why, append_made, a, &e) < 0)
		append_log_failed(a, &e);
}

/* A message: into the log, then on. */
static void durable(struct append *a, const struct msg *m)
{
	struct err e = ERR_INIT;
	int r = keep_line(&a->keep, m, &e);

	if (r < 0 && e.status == ST_DATA) {
		stage_error(&a->st, "input", "%s", e.text);
		a->st.bad++;
	} else if (r < 0) {
		append_log_failed(a, &e);
	} else if (r > 0) {
		stage_write(&a->st, a->keep.line.p, a->keep.line.len);
		if (a->st.ring && m->kind != MSG_SYSTEM && msg_lines()[m->kind].class == CLASS_MESSAGE)
			append_feed(a, a->keep.line.p, a->keep.line.len);
	} else if (m->kind == MSG_SYSTEM) {
		stage_pass(&a->st, m);
	}
}

static void on_turn_done(struct append *a, const struct msg *m)
{
	struct err e = ERR_INIT;
	char *stop = json_dup(m->json, json_get(m->json, 0, "stop_reason"));

	a->run.stop = stop ? stop_parse(stop) : STOP_NONE;
	if (a->run.stop == STOP_NONE)
		a->run.stop = STOP_ERROR;
	free(stop);
	run_usage(&a->run, m->json);
	/* The results come before turn_done; making them may overwrite its line. */
	if (keep_open_calls(&a->keep)) {
		struct buf line;

		buf_init(&line, BUF_NOLIMIT);
		buf_add(&line, m->line, m->len);
		append_close_calls(a, a->run.interrupt ? "interrupted: it was not run"
		               : a->run.stop == STOP_MAX_TOKENS
		                       ? "not run: the output limit cut the answer that asked for it; ask for smaller parts"
		                       : "not run: the answer that asked for it did not end as it should");
		stage_write(&a->st, line.p, line.len);
		buf_free(&line);
	} else {
		stage_pass(&a->st, m);
	}
	a->run.turning = false;
	if (a->st.ring)
		a->unsynced = true;
	else if (keep_sync(&a->keep, &e) < 0)
		append_log_failed(a, &e);
	if (a->st.ring && a->run.active)
		append_decide(a);
}

static void on_permission(struct append *a, const struct msg *m)
{
	char *id;

	if (!json_eq(m->json, json_get(m->json, 0, "decision"), "deny"))
		return;
	id = json_dup(m->json, json_get(m->json, 0, "id"));
	run_denied(&a->run, m->json, id ? keep_call_name(&a->keep, id) : "");
	free(id);
}

void append_handle(struct append *a, const struct msg *m)
{
	switch (m->kind) {
	case MSG_SYSTEM:
	case MSG_USER:
	case MSG_ASSISTANT:
	case MSG_TOOL:
	case MSG_COMPACTION:
	case MSG_CHECKPOINT:
		durable(a, m);
		return;
	case MSG_TURN_DONE:
		on_turn_done(a, m);
		return;
	case MSG_COMPACT_REQUEST:
		if (!a->st.ring)
			break;
		if (a->run.turning) {
			buf_clear(&a->request);
			buf_add(&a->request, m->line, m->len);
		}
		return;
	case MSG_RING:
	case MSG_TURN:
	case MSG_INTERRUPT:
	case MSG_RUN_START:
	case MSG_RUN_DONE:
		/* In a ring these are ours, and they have been round. */
		if (a->st.ring)
			return;
		break;
	case MSG_ERROR:
		run_error(&a->run, m->json);
		break;
	case MSG_PERMISSION:
		on_permission(a, m);
		break;
	default:
		break;
	}
	stage_pass(&a->st, m);
}

static int by_hand(struct append *a)
{
	struct msg m;
	int status;

	a->run.stop = STOP_NONE;
	while (stage_read(&a->st, &m) > 0)
		append_handle(a, &m);
	append_close_calls(a, "interrupted: the run ended before a result came");
	status = a->run.stop == STOP_NONE ? ST_OK : run_status(&a->run);
	if (a->run.ndenied && a->conf->on_deny[0] == 'f')
		status = status_worse(status, ST_DENIED);
	return status;
}

int do_append(const struct conf *c, char **args)
{
	struct append a = {.conf = c, .run = {.stop = STOP_NONE}};
	struct err e = ERR_INIT;
	struct buf path;
	char *id;
	int status;

	the_log(args, false, &path);
	a.path = path.p;
	a.id = id = strdup(strrchr(path.p, '/') + 1);
	if (strlen(id) > 7 && !strcmp(id + strlen(id) - 7, ".ndjson"))
		id[strlen(id) - 7] = 0;
	stage_init(&a.st, "claws-session", 's');
	/* Else the lock or the log would get the number, and the feed be written into it. */
	if (a.st.ring && fcntl(FEED_FD, F_GETFD) < 0)
		die(ST_USAGE, "CLAWS_RING is set, but descriptor 3, the feed of a ring, is closed");
	buf_init(&a.run.denied, (size_t)1 << 20);
	buf_init(&a.run.error_text, 4096);
	buf_init(&a.request, LINE_MAX_BYTES);
	if (keep_open(&a.keep, &a.st, a.path, &e) < 0) {
		if (a.st.ring) {
			run_begin(&a.run, &a.st, 1);
			run_done(&a.run, &a.st, e.status, NULL, e.text);
			stage_flush(&a.st);
		}
		die_err(&e);
	}
	a.keep.sync_always = !strcmp(c->sync, "always");
	a.keep.sync_never = !strcmp(c->sync, "never");
	status = a.st.ring ? append_ring(&a) : by_hand(&a);
	if (keep_sync(&a.keep, &e) < 0)
		status = status_worse(status, e.status);
	keep_close(&a.keep);
	buf_free(&a.request);
	run_free(&a.run);
	status = status_worse(status, stage_end(&a.st));
	free(id);
	buf_free(&path);
	return status;
}

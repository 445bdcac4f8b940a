/* input.c - what an input line does. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "stream.h"
#include "sys/blob.h"

/* convo.load: an image is a blob of the session's own directory, and nothing else. */
int input_blob(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	struct stream *s = arg;
	const char *log = getenv("CLAWS_SESSION");

	if (s->blobs < 0) {
		char *dir;

		if (!log || !*log)
			return err_set(e, ST_NOINPUT, "no session, so no images");
		dir = xasprintf("%s.d/blobs", log);
		s->blobs = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		free(dir);
		if (s->blobs < 0)
			return err_sys(e, "open the session's blobs");
	}
	if (blob_get(s->blobs, ref, bytes, e) < 0)
		return -1;
	if (s->recording)
		recording_blob(s, bytes);
	return 0;
}

static void converse(struct stream *s, const struct msg *m)
{
	struct err e = ERR_INIT;

	if (s->broken.status)
		return;
	if (convo_add(chain_first(s), m->json, &e) < 0) {
		stage_error(&s->st, "input", "input line %lu was left out: %s", m->no, e.text);
		s->st.bad++;
		return;
	}
	chain_keep(s, m);
	if (m->kind == MSG_ASSISTANT)
		s->assistants++;
}

static void pass(struct stream *s, const struct msg *m)
{
	if (!s->conf.dry_run)
		stage_pass(&s->st, m);
}

static void interrupt(struct stream *s)
{
	if (s->phase != PHASE_IDLE)
		call_cut(s);
	for (; s->queued; s->queued--)
		emit_turn_done(s, STOP_INTERRUPTED);
}

void input_line(struct stream *s, const struct msg *m)
{
	switch (m->kind) {
	case MSG_USER: case MSG_ASSISTANT: case MSG_TOOL:
		converse(s, m);
		break;
	case MSG_SYSTEM: case MSG_TOOLS:
		converse(s, m);
		pass(s, m);
		break;
	case MSG_RESET:
		if (!s->broken.status)
			chain_reset(s);
		pass(s, m);
		break;
	case MSG_RING:
		unblock(s);
		pass(s, m);
		break;
	case MSG_TURN:
		pass(s, m);
		if (!s->st.ring || s->conf.dry_run)
			break;
		if (s->phase == PHASE_IDLE)
			call_start(s);
		else
			s->queued++;
		break;
	case MSG_INTERRUPT:
		pass(s, m);
		interrupt(s);
		break;
	default:
		pass(s, m);
	}
}

#include "claws-tool.h"

#include <string.h>

#include "sys/io.h"

static struct jw *begin(struct host *h, enum msg_kind kind, const struct call *c)
{
	struct jw *w = stage_begin(h->stage, kind);

	jw_kstr(w, "id", c->id);
	return w;
}

static void emit(struct host *h, const struct call *c, const struct jw *w)
{
	recording_event(h, c, w->b->p, w->b->len);
	stage_emit(h->stage);
}

void report_start(struct host *h, const struct call *c)
{
	struct jw *w;

	if (!h->stage)
		return;
	w = begin(h, MSG_TOOL_START, c);
	jw_kstr(w, "name", c->name);
	jw_kraw(w, "input", c->input, strlen(c->input));
	emit(h, c, w);
}

void report_output(struct host *h, const struct call *c, const char *stream, const char *text, size_t n)
{
	struct jw *w;

	if (!h->stage)
		return;
	w = begin(h, MSG_TOOL_OUTPUT, c);
	jw_kstr(w, "stream", stream);
	jw_kstrn(w, "text", text, n);
	emit(h, c, w);
}

void report_end(struct host *h, const struct call *c)
{
	struct jw *w;

	if (!h->stage)
		return;
	if (c->change_path) {
		w = begin(h, MSG_FILE_CHANGE, c);
		jw_kstr(w, "path", c->change_path);
		jw_kstr(w, "op", c->change_op ? c->change_op : "update");
		if (c->change_before)
			jw_kstr(w, "before", c->change_before);
		if (c->change_after)
			jw_kstr(w, "after", c->change_after);
		emit(h, c, w);
	}
	w = begin(h, MSG_TOOL_END, c);
	jw_kstr(w, "name", c->name);
	jw_kstr(w, "status", c->status);
	if (c->started && !h->stage->no_time)
		jw_ki64(w, "ms", io_now_ms() - c->run.started);
	emit(h, c, w);
}

/* rule: what "always" would add; the ask program shows it and sends it back. */
void request_write(struct jw *w, const struct host *h, const struct call *c)
{
	jw_kstr(w, "name", c->name);
	jw_kraw(w, "input", c->input, strlen(c->input));
	jw_kstr(w, "hash", c->hash);
	jw_kstr(w, "reason", c->verdict.why);
	jw_kstr(w, "cwd", h->gate.cwd);
	if (c->verdict.exact)
		jw_kstr(w, "rule", c->verdict.exact);
}

void report_request(struct host *h, const struct call *c)
{
	struct jw *w;

	if (!h->stage)
		return;
	w = begin(h, MSG_PERMISSION_REQUEST, c);
	request_write(w, h, c);
	emit(h, c, w);
}

#define DENIED "Denied: "   /* how the text of a denied call begins (call_denied) */

void report_permission(struct host *h, const struct call *c, const char *decision, const char *by, const char *rule)
{
	struct jw *w;

	if (!h->stage)
		return;
	w = begin(h, MSG_PERMISSION, c);
	jw_kstr(w, "decision", decision);
	jw_kstr(w, "by", by);
	if (rule)
		jw_kstr(w, "rule", rule);
	if (c->denied && !strncmp(c->text.p, DENIED, strlen(DENIED)))
		jw_kstr(w, "why", c->text.p + strlen(DENIED));
	emit(h, c, w);
}

void report_message(struct host *h, const struct call *c)
{
	struct jw *w;
	char id[24];

	if (!h->stage)
		return;
	stage_id(h->stage, id);
	w = stage_begin(h->stage, MSG_TOOL);
	jw_kstr(w, "tool_call_id", c->id);
	jw_kstr(w, "name", c->name);
	jw_kstrn(w, "content", c->text.p, c->text.len);
	jw_kbool(w, "is_error", c->is_error);
	if (*c->origin)
		jw_kstr(w, "origin", c->origin);
	jw_kstr(w, "id", id);
	stage_kts(h->stage, w);
	recording_message(h, c, w->b->p, w->b->len);
	stage_emit(h->stage);
}

/* inbox.c - a user message for a session, from outside of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inbox.h"
#include "base/prog.h"
#include "base/status.h"
#include "proto/stage.h"
#include "session.h"
#include "sys/io.h"

/* Who speaks is not for the sender to say: a program started by a tool is an agent, whatever it claims. */
static const char *the_origin(const struct conf *c)
{
	if (getenv("CLAWS_PARENT_MODE"))
		return "agent:tool";
	if (!c->origin)
		return "user";
	if (strncmp(c->origin, "agent:", 6) && strncmp(c->origin, "channel:", 8))
		opt_usage(&spec, "--origin: '%s' is neither agent:ID nor channel:NAME", c->origin);
	return c->origin;
}

static int put(struct stage *st, const char *log, const char *text, size_t len, const char *origin, const struct json *j)
{
	struct err e = ERR_INIT;
	struct jw *w;
	char id[24];
	const char *raw;
	size_t n;
	int r;

	stage_id(st, id);
	w = stage_begin(st, MSG_USER);
	jw_kstr(w, "id", id);
	stage_kts(st, w);
	jw_kstr(w, "origin", origin);
	jw_kstrn(w, "content", text, len);
	if (j && (raw = json_raw(j, json_get(j, 0, "name"), &n)))
		jw_kraw(w, "name", raw, n);
	if (j && (raw = json_raw(j, json_get(j, 0, "images"), &n)))
		jw_kraw(w, "images", raw, n);
	jw_end(w);
	r = inbox_put(log, st->made.p, st->made.len, &e);
	if (r < 0)
		die_err(&e);
	return r;
}

/* User lines as claws-msg prompt makes them. */
static int put_lines(struct stage *st, const struct conf *c, const char *log)
{
	struct msg m;
	int joined = -1;

	while (stage_read(st, &m) > 0) {
		const char *origin = the_origin(c);
		struct buf text;
		struct err e = ERR_INIT;

		if (m.kind != MSG_USER || msg_check(m.json, &e) < 0)
			die(ST_DATA, "standard input, line %lu: %s", m.no, e.status ? e.text : "not a user message");
		if (!strcmp(origin, "user") && json_eq(m.json, json_get(m.json, 0, "origin"), "stdin"))
			origin = "stdin";
		if (!strcmp(origin, "user") && json_eq(m.json, json_get(m.json, 0, "origin"), "file"))
			origin = "file";
		buf_init(&text, BUF_NOLIMIT);
		json_str(m.json, json_get(m.json, 0, "content"), &text);
		joined = put(st, log, text.p, text.len, origin, m.json);
		buf_free(&text);
	}
	return joined;
}

int do_inbox(const struct conf *c, char **args)
{
	const char *log_name[2] = {args[0], NULL};
	struct stage st;
	struct buf path, text;
	struct err e = ERR_INIT;
	int joined = -1;

	/* One operand may be the text, where CLAWS_SESSION names the log. */
	if (args[0] && !args[1] && getenv("CLAWS_SESSION") && *getenv("CLAWS_SESSION")) {
		args--;
		log_name[0] = getenv("CLAWS_SESSION");
	}
	the_log((char **)(size_t)log_name, false, &path);
	stage_init(&st, "claws-session", 'i');
	buf_init(&text, LINE_MAX_BYTES / 2);
	if (c->json) {
		joined = put_lines(&st, c, path.p);
	} else if (log_name[0] && args[1]) {
		for (size_t k = 1; args[k]; k++)
			buf_addf(&text, "%s%s", k > 1 ? " " : "", args[k]);
	} else if (io_read_all(0, &text, &e) < 0) {
		die_err(&e);
	}
	if (!c->json && text.len)
		joined = put(&st, path.p, text.p, text.len, the_origin(c), NULL);
	if (joined < 0)
		die(ST_NOINPUT, "no message: give a text or write it to standard input");
	puts(joined ? "joined" : "queued");
	buf_free(&text);
	buf_free(&path);
	stage_end(&st);
	return ST_OK;
}

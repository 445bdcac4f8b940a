/* text.c - the view for people: the answer, and on a terminal what the tools do. */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "render.h"
#include "sys/term.h"

struct view_state {
	struct sink *tools;         /* where tool lines go; NULL: nowhere */
	size_t shown;               /* bytes of the message under way that were shown as they came */
	bool thinking;              /* the last thing shown was thinking */
	char *open;                 /* id of the call whose line is unfinished on the screen */
};

static void begin(struct render *r)
{
	struct view_state *v = r->state = xcalloc(1, sizeof *v);

	if (!r->c.quiet)
		v->tools = r->out.tty ? &r->out : r->err.tty ? &r->err : NULL;
}

/* Is text shown as it comes? In a ring only the last message is the answer, and which one is last shows at the end. */
static bool live(const struct render *r)
{
	return r->out.tty || !r->run.ring || r->c.partial;
}

/* Something else than the open tool line or the thinking is about to be shown. */
static void settle(struct render *r)
{
	struct view_state *v = r->state;

	if (v->open) {
		sink_fresh(v->tools);
		free(v->open);
		v->open = NULL;
	}
	if (v->thinking) {
		sink_color(&r->out, NULL);
		sink_fresh(&r->out);
		v->thinking = false;
	}
}

static void show_text(struct render *r, const struct json *j, const char *key)
{
	char *s = text_of(j, key);

	if (*s && live(r)) {
		settle(r);
		sink_text(&r->out, s, strlen(s));
		r->state->shown += strlen(s);
	}
	free(s);
}

static void show_thinking(struct render *r, const struct json *j, const char *key)
{
	char *s;

	if (!r->c.thinking || !r->out.tty)
		return;
	s = text_of(j, key);
	if (*s) {
		if (!r->state->thinking) {
			settle(r);
			sink_fresh(&r->out);
			sink_color(&r->out, "2");
		}
		r->state->thinking = true;
		sink_text(&r->out, s, strlen(s));
	}
	free(s);
}

static void show_assistant(struct render *r, const struct json *j)
{
	/* Chunks are events, and events may be missing. */
	if (!r->state->shown)
		show_text(r, j, "content");
	settle(r);
	sink_fresh(&r->out);
	r->state->shown = 0;
}

/* "Bash make test" without a line end. */
static void tool_line(struct sink *s, const char *name, const char *input)
{
	size_t width = s->tty ? (size_t)term_width(s->fd) : 80, used = strlen(name) + 20;
	struct buf arg;

	buf_init(&arg, BUF_NOLIMIT);
	tool_argument(&arg, input);
	sink_fresh(s);
	sink_color(s, "1");
	sink_safe(s, name, strlen(name), 40);
	sink_color(s, NULL);
	if (arg.len) {
		sink_put(s, " ", 1);
		sink_safe(s, arg.p, arg.len, width > used + 20 ? width - used : 20);
	}
	buf_free(&arg);
}

static void tool_start(struct render *r, const struct json *j)
{
	struct view_state *v = r->state;
	char *name;
	const char *input;
	size_t n;
	char *copy;

	if (!v->tools)
		return;
	settle(r);
	name = text_of(j, "name");
	input = json_raw(j, json_get(j, 0, "input"), &n);
	copy = input ? xstrndup(input, n) : xstrdup("{}");
	tool_line(v->tools, name, copy);
	v->open = text_of(j, "id");
	free(copy);
	free(name);
}

/* The outcome, on the call's own line if that is still the last one. */
static void outcome(struct render *r, const char *id, const char *name, const char *status, int64_t ms)
{
	struct view_state *v = r->state;
	struct call *c = run_call(&r->run, id);
	bool good = !strcmp(status, "ok");

	if (!v->tools || (c && c->shown))
		return;
	if (c)
		c->shown = true;
	if (!v->open || strcmp(v->open, id) != 0) {
		settle(r);
		tool_line(v->tools, c ? c->name : *name ? name : id, c ? c->input : "{}");
	}
	sink_put(v->tools, "  ", 2);
	sink_color(v->tools, good ? "32" : "31");
	sink_safe(v->tools, status, strlen(status), 20);
	sink_color(v->tools, NULL);
	if (ms >= 100) {
		char *d = duration(ms);

		sink_put(v->tools, " ", 1);
		sink_put(v->tools, d, strlen(d));
		free(d);
	}
	sink_put(v->tools, "\n", 1);
	free(v->open);
	v->open = NULL;
}

static void tool_end(struct render *r, const struct json *j)
{
	char *id = text_of(j, "id"), *name = text_of(j, "name"), *status = text_of(j, "status");
	struct call *c = run_call(&r->run, id);

	/* The line "claws: denied" on stderr said it. */
	if (!(c && c->denied && !strcmp(status, "denied")))
		outcome(r, id, name, status, number_of(j, "ms"));
	free(id);
	free(name);
	free(status);
}

static const char *diff_color(const char *line, size_t n)
{
	if (n >= 4 && (!strncmp(line, "--- ", 4) || !strncmp(line, "+++ ", 4)))
		return "1";
	return *line == '+' ? "32" : *line == '-' ? "31" : *line == '@' ? "36" : NULL;
}

/* Where a unified diff begins in a tool's text: "--- " and on the next line "+++ ". NULL: there is none. */
static const char *find_diff(const char *text)
{
	for (const char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		const char *next = strchr(p, '\n');

		if (!strncmp(p, "--- ", 4) && next && !strncmp(next + 1, "+++ ", 4))
			return p;
	}
	return NULL;
}

/* A line of a file: its tabs are its indentation. */
static void tabbed(struct sink *s, const char *p, size_t n)
{
	while (n) {
		const char *tab = memchr(p, '\t', n);
		size_t k = tab ? (size_t)(tab - p) : n;

		sink_safe(s, p, k, 0);
		if (tab)
			sink_put(s, "\t", 1);
		k += tab != NULL;
		p += k, n -= k;
	}
}

static void show_diff(struct sink *s, const char *p)
{
	while (*p && strchr("+-@ \\", *p)) {
		size_t n = strcspn(p, "\n");
		const char *color = diff_color(p, n);

		sink_put(s, "  ", 2);
		if (color)
			sink_color(s, color);
		tabbed(s, p, n);
		if (color)
			sink_color(s, NULL);
		sink_put(s, "\n", 1);
		p += n + (p[n] == '\n');
	}
}

static void show_line(struct sink *s, const char *p, size_t n)
{
	sink_put(s, "  ", 2);
	sink_safe(s, p, n, 300);
	sink_put(s, "\n", 1);
}

/* What a failed tool said: the first line, and the last two, where compilers and shells say how it ended. */
static void show_failure(struct sink *s, const char *text)
{
	size_t n = strlen(text), first = strcspn(text, "\n"), at, lines = 0;

	while (n && text[n - 1] == '\n')
		n--;
	if (first > n || !n)
		return;
	show_line(s, text, first);
	for (at = n; at > first && lines < 2; lines++)
		for (at--; at > first && text[at] != '\n'; at--)
			;
	if (at > first)
		show_line(s, "...", 3);
	while (at < n) {
		size_t len = strcspn(text + at + 1, "\n");

		show_line(s, text + at + 1, len);
		at += 1 + len;
	}
}

static void show_tool(struct render *r, const struct json *j)
{
	struct view_state *v = r->state;
	char *id = text_of(j, "tool_call_id"), *name = text_of(j, "name"), *text = text_of(j, "content");
	bool failed = is_true(j, "is_error");
	struct call *c = run_call(&r->run, id);
	const char *diff = failed ? NULL : find_diff(text);

	if (v->tools && !(c && c->denied)) {
		outcome(r, id, name, failed ? "error" : "ok", 0);
		settle(r);
		if (failed)
			show_failure(v->tools, text);
		if (diff)
			show_diff(v->tools, diff);
	}
	free(id);
	free(name);
	free(text);
}

/* A prompt of one's own stands on the screen already in a run; in a stored conversation it is part of the story, and what
 * others sent is shown always. */
static void show_user(struct render *r, const struct json *j)
{
	char *origin = text_of(j, "origin"), *text = text_of(j, "content");
	bool other = strchr(origin, ':') != NULL;
	bool own = !*origin || !strcmp(origin, "user");

	if (r->out.tty && (other || (own && !r->run.ring))) {
		settle(r);
		sink_fresh(&r->out);
		sink_color(&r->out, "1");
		if (other) {
			sink_safe(&r->out, origin, strlen(origin), 60);
			sink_put(&r->out, ": ", 2);
		} else {
			sink_put(&r->out, "> ", 2);
		}
		sink_text(&r->out, text, strlen(text));
		sink_color(&r->out, NULL);
		sink_fresh(&r->out);
	}
	free(origin);
	free(text);
}

static void run_over(struct render *r, const struct seen *m)
{
	settle(r);
	if (!live(r))
		sink_put(&r->out, r->run.answer.p, r->run.answer.len);
	sink_fresh(&r->out);
	r->state->shown = 0;
	say_done(r, m);
}

static void notices(struct render *r, const struct seen *m)
{
	/* What is said on the same screen must not run into an unfinished line. */
	if (m->kind == MSG_ERROR || m->kind == MSG_PERMISSION ||
	    (!r->c.quiet && (m->kind == MSG_RETRY || m->kind == MSG_NOTICE || m->kind == MSG_COMPACTION)))
		settle(r);
	say_notices(r, m);
}

static void line(struct render *r, const struct seen *m)
{
	if (!m->j)
		return;
	switch (m->kind) {
	case MSG_TEXT_CHUNK: show_text(r, m->j, "text"); break;
	case MSG_THINKING_CHUNK: show_thinking(r, m->j, "text"); break;
	case MSG_ASSISTANT: show_assistant(r, m->j); break;
	case MSG_TOOL_START: tool_start(r, m->j); break;
	case MSG_TOOL_END: tool_end(r, m->j); break;
	case MSG_TOOL: show_tool(r, m->j); break;
	case MSG_USER: show_user(r, m->j); break;
	case MSG_RUN_DONE: run_over(r, m); break;
	case MSG_RUN_START:
		r->state->shown = 0;
		if (!r->c.quiet)
			say_done(r, m);
		break;
	default: notices(r, m); break;
	}
}

static void end(struct render *r)
{
	settle(r);
	/* A finished answer is worth showing even if what came after it failed. */
	if (!r->run.over && !live(r) && stop_parse(r->run.stop) == STOP_END_TURN)
		sink_put(&r->out, r->run.answer.p, r->run.answer.len);
	sink_fresh(&r->out);
	if (!r->run.over && r->run.ring)
		say(r, "error: the stream ended before the run did: a stage of the pipeline has died");
	else if (!r->run.over && r->run.any_turn && !strcmp(r->run.stop, "truncated") && !r->run.class)
		say(r, "truncated: the answer was cut");
	free(r->state->open);
	free(r->state);
}

const struct view view_text = {begin, line, end};

/* run.c - what is known of the run under way: its answer, its end, its counts. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "llm/classify.h"
#include "render.h"

int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

char *text_of(const struct json *j, const char *key)
{
	char *s = json_dup(j, json_get(j, 0, key));

	return s ? s : xstrdup("");
}

int64_t number_of(const struct json *j, const char *key)
{
	int64_t n = 0;

	return json_i64(j, json_get(j, 0, key), &n) < 0 ? 0 : n;
}

bool is_true(const struct json *j, const char *key)
{
	return json_true(j, json_get(j, 0, key));
}

static void copy_text(char *to, size_t size, const struct json *j, const char *key)
{
	char *s = text_of(j, key);

	to[0] = 0;
	strncat(to, s, size - 1);
	free(s);
}

static void set_text(char **to, const struct json *j, const char *key)
{
	free(*to);
	*to = text_of(j, key);
}

void run_init(struct run *r)
{
	memset(r, 0, sizeof *r);
	buf_init(&r->answer, BUF_NOLIMIT);
	buf_init(&r->denials, BUF_NOLIMIT);
	buf_init(&r->tools, BUF_NOLIMIT);
	buf_adds(&r->tools, "[]");
	r->begun_ms = clock_ms();
}

static void free_calls(struct run *r)
{
	for (size_t i = 0; i < r->ncalls; i++) {
		free(r->calls[i].id);
		free(r->calls[i].name);
		free(r->calls[i].input);
	}
	free(r->calls);
	r->calls = NULL;
	r->ncalls = 0;
}

void run_free(struct run *r)
{
	char *s[] = {r->run, r->session, r->cwd, r->model, r->mode, r->class, r->message, r->why};

	for (size_t i = 0; i < sizeof s / sizeof *s; i++)
		free(s[i]);
	free_calls(r);
	buf_free(&r->answer);
	buf_free(&r->denials);
	buf_free(&r->tools);
}

struct call *run_call(struct run *r, const char *id)
{
	for (size_t i = 0; i < r->ncalls; i++)
		if (!strcmp(r->calls[i].id, id))
			return &r->calls[i];
	return NULL;
}

static void start(struct run *r, const struct json *j)
{
	struct run fresh;

	run_init(&fresh);
	buf_clear(&fresh.tools);
	buf_add(&fresh.tools, r->tools.p, r->tools.len);
	run_free(r);
	*r = fresh;
	r->ring = true;
	set_text(&r->run, j, "run");
	set_text(&r->session, j, "session");
	set_text(&r->cwd, j, "cwd");
	set_text(&r->model, j, "model");
	set_text(&r->mode, j, "mode");
}

static void add_count(const struct json *j, int usage, const char *key, int64_t *sum)
{
	int64_t n;

	if (json_i64(j, json_get(j, usage, key), &n) == 0 && n > 0)
		*sum += n;
}

static void add_usage(struct totals *t, const struct json *j)
{
	int u = json_get(j, 0, "usage");
	double cost;

	if (json_type(j, u) != JSON_OBJECT)
		return;
	add_count(j, u, "input", &t->input);
	add_count(j, u, "cache_read", &t->cache_read);
	add_count(j, u, "cache_write", &t->cache_write);
	add_count(j, u, "output", &t->output);
	add_count(j, u, "reasoning", &t->reasoning);
	/* One unknown cost makes the sum unknown. */
	if (json_double(j, json_get(j, u, "cost_usd"), &cost) < 0)
		t->cost_known = false;
	else if (!t->any || t->cost_known)
		t->cost += cost, t->cost_known = true;
	t->any = true;
}

static void assistant(struct run *r, const struct json *j)
{
	int calls = json_get(j, 0, "tool_calls");

	buf_clear(&r->answer);
	json_str(j, json_get(j, 0, "content"), &r->answer);
	r->got_message = true;
	if (json_type(j, json_get(j, 0, "stop_reason")) == JSON_STRING)
		copy_text(r->stop, sizeof r->stop, j, "stop_reason");
	if (!r->ring && json_type(j, json_get(j, 0, "model")) == JSON_STRING)
		set_text(&r->model, j, "model");
	free_calls(r);
	for (struct json_iter it = json_iter(j, calls); json_next(&it);) {
		size_t n;
		const char *raw = json_raw(j, json_get(j, it.value, "input"), &n);
		struct call *c;

		r->calls = xrealloc(r->calls, r->ncalls + 1, sizeof *r->calls);
		c = &r->calls[r->ncalls++];
		memset(c, 0, sizeof *c);
		c->id = json_dup(j, json_get(j, it.value, "id"));
		c->name = json_dup(j, json_get(j, it.value, "name"));
		c->id = c->id ? c->id : xstrdup("");
		c->name = c->name ? c->name : xstrdup("");
		c->input = raw ? xstrndup(raw, n) : xstrdup("{}");
	}
}

static void denial(struct run *r, const char *id, const char *name)
{
	struct call *c = run_call(r, id);
	struct jw w;

	if (c && c->denied)
		return;
	if (c)
		c->denied = true;
	if (r->denials.len)
		buf_addc(&r->denials, ',');
	w = jw_begin(&r->denials);
	jw_obj(&w);
	jw_kstr(&w, "tool_name", *name || !c ? name : c->name);
	jw_kstr(&w, "tool_use_id", id);
	jw_kraw(&w, "tool_input", c ? c->input : "{}", c ? strlen(c->input) : 2);
	jw_end(&w);
}

static void permission(struct run *r, const struct json *j)
{
	char *id;

	if (!json_eq(j, json_get(j, 0, "decision"), "deny"))
		return;
	id = text_of(j, "id");
	denial(r, id, "");
	r->denial_told = true;
	free(id);
}

static void turn_done(struct run *r, const struct json *j)
{
	if (!r->got_message)
		buf_clear(&r->answer);      /* the text of a turn before is not the answer of one that failed */
	r->got_message = false;
	r->any_turn = true;
	copy_text(r->stop, sizeof r->stop, j, "stop_reason");
	r->turns++;
	r->api_ms += number_of(j, "ms");
	add_usage(&r->usage, j);
}

static void failure(struct run *r, const struct json *j)
{
	/* A bad input line is named by itself; it does not make the run fail. */
	if (json_eq(j, json_get(j, 0, "class"), "input"))
		return;
	set_text(&r->class, j, "class");
	set_text(&r->message, j, "message");
	r->http_status = number_of(j, "status");
	r->retry_after_ms = number_of(j, "retry_after_ms");
}

static void done(struct run *r, const struct json *j)
{
	r->over = true;
	r->exit = (int)number_of(j, "exit");
	set_text(&r->why, j, "error");
	copy_text(r->limit, sizeof r->limit, j, "limit");
	if (json_type(j, json_get(j, 0, "stop_reason")) == JSON_STRING)
		copy_text(r->stop, sizeof r->stop, j, "stop_reason");
	if (json_type(j, json_get(j, 0, "turns")) == JSON_NUMBER)
		r->turns = number_of(j, "turns");
	if (json_type(j, json_get(j, 0, "usage")) == JSON_OBJECT) {
		memset(&r->usage, 0, sizeof r->usage);
		add_usage(&r->usage, j);
	}
	for (struct json_iter it = json_iter(j, json_get(j, 0, "denied")); json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id")), *name = json_dup(j, json_get(j, it.value, "name"));
		struct buf mark;

		/* Calls of earlier messages are known by their permission event only. */
		buf_init(&mark, BUF_NOLIMIT);
		buf_adds(&mark, "\"tool_use_id\":\"");
		jw_escape(&mark, id ? id : "", id ? strlen(id) : 0);
		buf_adds(&mark, "\"");
		if (!strstr(r->denials.p, mark.p))
			denial(r, id ? id : "", name ? name : "");
		buf_free(&mark);
		free(id);
		free(name);
	}
}

static void tools(struct run *r, const struct json *j)
{
	struct jw w;

	buf_clear(&r->tools);
	w = jw_begin(&r->tools);
	jw_arr(&w);
	for (struct json_iter it = json_iter(j, json_get(j, 0, "tools")); json_next(&it);) {
		char *name = json_dup(j, json_get(j, it.value, "name"));

		if (name)
			jw_str(&w, name);
		free(name);
	}
	jw_end(&w);
}

void run_line(struct run *r, const struct seen *m)
{
	if (!m->j)
		return;
	switch (m->kind) {
	case MSG_RUN_START: start(r, m->j); break;
	case MSG_ASSISTANT: assistant(r, m->j); break;
	case MSG_TURN_DONE: turn_done(r, m->j); break;
	case MSG_PERMISSION: permission(r, m->j); break;
	case MSG_ERROR: failure(r, m->j); break;
	case MSG_RUN_DONE: done(r, m->j); break;
	case MSG_TOOLS: tools(r, m->j); break;
	default: break;
	}
}

void run_end(struct run *r)
{
	enum stop s = stop_parse(r->stop);

	if (r->over)
		return;
	if (r->class)
		r->exit = error_class(r->class)->status;
	else if (r->ring || s == STOP_NONE)
		r->exit = ST_FAILED;        /* it began and nobody said how it ended */
	else
		r->exit = stop_status(s);
}

bool run_good(const struct run *r)
{
	enum stop s = stop_parse(r->stop);

	return r->ring ? r->over && r->exit == ST_OK : r->exit == ST_OK && (s == STOP_END_TURN || s == STOP_STOP_SEQUENCE);
}

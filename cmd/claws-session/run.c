#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "llm/classify.h"

void run_begin(struct run *r, struct stage *st, unsigned long number)
{
	run_free(r);
	*r = (struct run){.active = true, .stop = STOP_NONE};
	buf_init(&r->denied, (size_t)1 << 20);
	buf_init(&r->error_text, 4096);
	if (st->no_time)
		snprintf(r->id, sizeof r->id, "r%lu", number);
	else
		stage_id(st, r->id);
	r->id[0] = 'r';
}

void run_free(struct run *r)
{
	if (r->denied.max)
		buf_free(&r->denied);
	if (r->error_text.max)
		buf_free(&r->error_text);
}

static void replaced(struct jw *w)
{
	static const char *const names[] = {"context", "compact", "stream", "tool", "session", "render"};
	static const char *const variables[] = {"CLAWS_STAGE_CONTEXT", "CLAWS_STAGE_COMPACT", "CLAWS_STAGE_STREAM",
	                                        "CLAWS_STAGE_TOOL", "CLAWS_STAGE_SESSION", "CLAWS_STAGE_RENDER"};
	bool some = false;

	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		const char *v = getenv(variables[k]);

		if (!v || !*v)
			continue;
		if (!some) {
			jw_key(w, "replaced");
			jw_arr(w);
		}
		some = true;
		jw_str(w, names[k]);
	}
	if (some)
		jw_end(w);
}

void run_started(struct run *r, struct stage *st, const char *session, int64_t max_turns, int64_t max_time_ms)
{
	struct jw *w = stage_begin(st, MSG_RUN_START);
	const char *model = getenv("CLAWS_MODEL"), *mode = getenv("CLAWS_PERMISSION_MODE");
	char *cwd = getcwd(NULL, 0);

	jw_ki64(w, "v", 1);
	jw_kstr(w, "run", r->id);
	jw_kstr(w, "session", st->no_time ? "" : session);
	if (cwd)
		jw_kstr(w, "cwd", cwd);
	if (model && *model)
		jw_kstr(w, "model", model);
	jw_kstr(w, "mode", mode && *mode ? mode : "auto");
	jw_key(w, "limits");
	jw_obj(w);
	jw_ki64(w, "turns", max_turns);
	jw_ki64(w, "time_ms", max_time_ms);
	jw_end(w);
	replaced(w);
	stage_kts(st, w);
	stage_emit(st);
	free(cwd);
}

void run_error(struct run *r, const struct json *j)
{
	struct buf class, code;
	int64_t http = 0;

	/* A bad input line was mended or left out: the call goes on. Without its recording a replay does not. */
	if (json_eq(j, json_get(j, 0, "class"), "input") && !json_eq(j, json_get(j, 0, "code"), "replay_miss"))
		return;
	buf_init(&class, sizeof r->error_class - 1);
	json_str(j, json_get(j, 0, "class"), &class);
	memcpy(r->error_class, class.p, class.len + 1);
	buf_init(&code, 256);
	json_str(j, json_get(j, 0, "code"), &code);
	json_i64(j, json_get(j, 0, "status"), &http);
	r->error_exit = error_status(class.p, (int)http, code.p);
	buf_free(&code);
	buf_free(&class);
	buf_clear(&r->error_text);
	json_str(j, json_get(j, 0, "message"), &r->error_text);
}

static void copy_value(struct jw *w, const struct json *j, const char *key)
{
	size_t len;
	const char *raw = json_raw(j, json_get(j, 0, key), &len);

	if (raw)
		jw_kraw(w, key, raw, len);
}

void run_denied(struct run *r, const struct json *j, const char *name)
{
	struct jw w;

	r->ndenied++;
	if (r->ndenied > 1)
		buf_addc(&r->denied, ',');
	w = jw_begin(&r->denied);
	jw_obj(&w);
	copy_value(&w, j, "id");
	jw_kstr(&w, "name", name);
	copy_value(&w, j, "by");
	copy_value(&w, j, "rule");
	jw_end(&w);
}

static void count(const struct json *j, int usage, const char *key, int64_t *sum)
{
	int64_t n;

	/* What a provider counts is not ours to believe: the sum stays at the largest number. */
	if (json_i64(j, json_get(j, usage, key), &n) == 0 && n > 0 && __builtin_add_overflow(*sum, n, sum))
		*sum = INT64_MAX;
}

void run_usage(struct run *r, const struct json *j)
{
	int usage = json_get(j, 0, "usage");
	struct counters *c = &r->usage;
	double cost;

	r->turns++;
	if (json_type(j, usage) != JSON_OBJECT)
		return;
	c->any = true;
	count(j, usage, "input", &c->input);
	count(j, usage, "cache_read", &c->cache_read);
	count(j, usage, "cache_write", &c->cache_write);
	count(j, usage, "output", &c->output);
	count(j, usage, "reasoning", &c->reasoning);
	if (json_double(j, json_get(j, usage, "cost_usd"), &cost) == 0)
		c->cost += cost;
	else
		c->cost_unknown = true;
}

int run_status(const struct run *r)
{
	if (r->interrupt)
		return r->interrupt;
	if (r->stop == STOP_ERROR)
		return r->error_class[0] ? r->error_exit : ST_FAILED;
	return stop_status(r->stop);
}

void run_done(struct run *r, struct stage *st, int exit_status, const char *limit, const char *why)
{
	struct jw *w = stage_begin(st, MSG_RUN_DONE);

	jw_kstr(w, "run", r->id);
	jw_ki64(w, "exit", exit_status);
	if (r->stop != STOP_NONE)
		jw_kstr(w, "stop_reason", stop_name(r->stop));
	jw_ki64(w, "turns", r->turns);
	if (r->usage.any) {
		jw_key(w, "usage");
		jw_obj(w);
		jw_ki64(w, "input", r->usage.input);
		jw_ki64(w, "cache_read", r->usage.cache_read);
		jw_ki64(w, "cache_write", r->usage.cache_write);
		jw_ki64(w, "output", r->usage.output);
		jw_ki64(w, "reasoning", r->usage.reasoning);
		jw_key(w, "cost_usd");
		jw_double(w, r->usage.cost_unknown ? 0.0 / 0.0 : r->usage.cost);
		jw_end(w);
	}
	jw_key(w, "denied");
	jw_arr(w);
	if (r->ndenied)
		jw_raw(w, r->denied.p, r->denied.len);
	jw_end(w);
	if (limit)
		jw_kstr(w, "limit", limit);
	if (why)
		jw_kstr(w, "error", why);
	else if (r->stop == STOP_ERROR && r->error_text.len)
		jw_kstr(w, "error", r->error_text.p);
	stage_kts(st, w);
	stage_emit(st);
	r->active = false;
}

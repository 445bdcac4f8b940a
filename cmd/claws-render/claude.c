/* claude.c - lines in the shapes of `claude -p`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "claude.h"

/* A UUID of version 8 (RFC 9562: content as one likes): the hash of the session and the line's number, so that it repeats when
 * a stream is rendered twice. */
static void kuuid(struct jw *w, struct shape *s, const struct run *r)
{
	struct sha256 h;
	unsigned char d[32];
	struct buf b;
	char n[32];

	snprintf(n, sizeof n, "/%lu", ++s->n);
	sha256_init(&h);
	if (r->session)
		sha256_add(&h, r->session, strlen(r->session));
	if (r->run)
		sha256_add(&h, r->run, strlen(r->run));
	sha256_add(&h, n, strlen(n));
	sha256_end(&h, d);
	d[6] = (unsigned char)((d[6] & 0x0f) | 0x80);
	d[8] = (unsigned char)((d[8] & 0x3f) | 0x80);
	buf_init(&b, 64);
	buf_addhex(&b, d, 16);
	for (size_t i = 0, at[] = {8, 13, 18, 23}; i < 4; i++)
		buf_insert(&b, at[i], "-", 1);
	jw_kstr(w, "uuid", b.p);
	buf_free(&b);
}

static void tail(struct jw *w, struct shape *s, const struct run *r)
{
	jw_kstr(w, "session_id", r->session ? r->session : "");
	kuuid(w, s, r);
	jw_end(w);
}

const char *claude_stop(const char *stop)
{
	switch (stop_parse(stop)) {
	case STOP_PAUSE: return "pause_turn";
	case STOP_CONTENT_FILTER: return "refusal";
	case STOP_CONTEXT_EXCEEDED: return "model_context_window_exceeded";
	case STOP_ERROR: case STOP_INTERRUPTED: case STOP_TRUNCATED: case STOP_NONE: return NULL;
	default: return stop;
	}
}

static void counts(struct jw *w, const struct totals *t)
{
	jw_obj(w);
	jw_ki64(w, "input_tokens", t->input);
	jw_ki64(w, "cache_creation_input_tokens", t->cache_write);
	jw_ki64(w, "cache_read_input_tokens", t->cache_read);
	jw_ki64(w, "output_tokens", t->output);
	jw_end(w);
}

static int64_t count(const struct json *j, int usage, const char *key)
{
	int64_t n = 0;

	return json_i64(j, json_get(j, usage, key), &n) < 0 || n < 0 ? 0 : n;
}

void claude_usage(struct jw *w, const struct json *j, int usage)
{
	struct totals t = {.input = count(j, usage, "input"), .cache_read = count(j, usage, "cache_read"),
	                   .cache_write = count(j, usage, "cache_write"), .output = count(j, usage, "output")};

	counts(w, &t);
}

static const char *subtype(const struct run *r)
{
	if (r->exit == ST_OK || r->exit == ST_DENIED)
		return "success";
	if (!strcmp(r->limit, "turns"))
		return "error_max_turns";
	if (!strcmp(r->limit, "cost"))
		return "error_max_budget_usd";
	if (r->exit == ST_SCHEMA)
		return "error_max_structured_output_retries";
	return "error_during_execution";
}

static void errors(struct jw *w, const struct run *r)
{
	jw_key(w, "errors");
	jw_arr(w);
	if (r->message)
		jw_str(w, r->message);
	if (r->why && *r->why && !(r->message && !strcmp(r->why, r->message)))
		jw_str(w, r->why);
	else if (!r->message && *r->limit)
		jw_str(w, r->limit);
	else if (!r->message && r->ring && !r->over)
		jw_str(w, "the stream ended before the run did: a stage of the pipeline has died");
	else if (!r->message)
		jw_str(w, status_text(r->exit));
	jw_end(w);
	if (!r->message)
		return;
	jw_key(w, "error");
	jw_obj(w);
	jw_kstr(w, "class", r->class);
	jw_kstr(w, "message", r->message);
	if (r->http_status > 0)
		jw_ki64(w, "status", r->http_status);
	if (r->retry_after_ms > 0)
		jw_ki64(w, "retry_after_ms", r->retry_after_ms);
	jw_end(w);
}

void claude_result(struct buf *out, struct shape *s, const struct run *r)
{
	struct jw w = jw_begin(out);
	const char *stop = claude_stop(r->stop);

	jw_obj(&w);
	jw_kstr(&w, "type", "result");
	jw_kstr(&w, "subtype", subtype(r));
	jw_kbool(&w, "is_error", r->exit != ST_OK);
	jw_ki64(&w, "duration_ms", s->no_time ? 0 : clock_ms() - r->begun_ms);
	jw_ki64(&w, "duration_api_ms", s->no_time ? 0 : r->api_ms);
	jw_ki64(&w, "num_turns", r->turns);
	jw_kstrn(&w, "result", r->answer.p, r->answer.len);
	jw_kstr(&w, "stop_reason", stop);
	jw_key(&w, "total_cost_usd");
	if (r->usage.cost_known)
		jw_double(&w, r->usage.cost);
	else
		jw_null(&w);
	jw_key(&w, "usage");
	counts(&w, &r->usage);
	jw_key(&w, "permission_denials");
	jw_arr(&w);
	if (r->denials.len)
		jw_raw(&w, r->denials.p, r->denials.len);
	jw_end(&w);
	if (r->exit != ST_OK && r->exit != ST_DENIED)
		errors(&w, r);
	jw_ki64(&w, "exit", r->exit);
	tail(&w, s, r);
}

/* Our permission modes go by other names there; what has none is shown as it is. */
static const char *mode_name(const char *mode)
{
	if (!mode || !*mode || !strcmp(mode, "manual"))
		return "default";
	if (!strcmp(mode, "accept-all"))
		return "bypassPermissions";
	if (!strcmp(mode, "accept-edits"))
		return "acceptEdits";
	return mode;
}

void claude_init(struct buf *out, struct shape *s, const struct run *r)
{
	static const char *const empty[] = {"mcp_servers", "slash_commands", "agents", "skills", "plugins"};
	struct jw w = jw_begin(out);

	jw_obj(&w);
	jw_kstr(&w, "type", "system");
	jw_kstr(&w, "subtype", "init");
	jw_kstr(&w, "cwd", r->cwd ? r->cwd : "");
	jw_kraw(&w, "tools", r->tools.p, r->tools.len);
	jw_kstr(&w, "model", r->model ? r->model : "");
	jw_kstr(&w, "permissionMode", mode_name(r->mode));
	jw_kstr(&w, "apiKeySource", "user");
	jw_kstr(&w, "output_style", "default");
	for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
		jw_kraw(&w, empty[i], "[]", 2);
	tail(&w, s, r);
}

static void text_block(struct jw *w, const char *type, const char *key, const struct json *j, int v)
{
	char *text = json_dup(j, v);

	if (text && *text) {
		jw_obj(w);
		jw_kstr(w, "type", type);
		jw_kstr(w, key, text);
		if (!strcmp(type, "thinking"))
			jw_kstr(w, "signature", "");
		jw_end(w);
	}
	free(text);
}

static void tool_use(struct jw *w, const struct json *j, int call)
{
	int input = json_get(j, call, "input");
	char *id = json_dup(j, json_get(j, call, "id")), *name = json_dup(j, json_get(j, call, "name"));
	size_t n;
	const char *raw = json_raw(j, input, &n);

	jw_obj(w);
	jw_kstr(w, "type", "tool_use");
	jw_kstr(w, "id", id ? id : "");
	jw_kstr(w, "name", name ? name : "");
	if (json_type(j, input) == JSON_OBJECT)
		jw_kraw(w, "input", raw, n);
	else
		jw_kraw(w, "input", "{}", 2);
	jw_end(w);
	free(id);
	free(name);
}

static void head(struct jw *w, const char *type)
{
	jw_obj(w);
	jw_kstr(w, "type", type);
	jw_key(w, "message");
	jw_obj(w);
}

void claude_assistant(struct buf *out, struct shape *s, const struct run *r, const struct json *j)
{
	struct jw w = jw_begin(out);
	char *id = text_of(j, "id"), *model = text_of(j, "model"), *stop = text_of(j, "stop_reason");

	head(&w, "assistant");
	jw_kstr(&w, "id", id);
	jw_kstr(&w, "type", "message");
	jw_kstr(&w, "role", "assistant");
	jw_kstr(&w, "model", model);
	jw_key(&w, "content");
	jw_arr(&w);
	text_block(&w, "thinking", "thinking", j, json_get(j, 0, "thinking"));
	text_block(&w, "text", "text", j, json_get(j, 0, "content"));
	for (struct json_iter it = json_iter(j, json_get(j, 0, "tool_calls")); json_next(&it);)
		tool_use(&w, j, it.value);
	jw_end(&w);
	jw_kstr(&w, "stop_reason", claude_stop(stop));
	jw_kstr(&w, "stop_sequence", NULL);
	jw_key(&w, "usage");
	claude_usage(&w, j, json_get(j, 0, "usage"));
	jw_end(&w);
	jw_kstr(&w, "parent_tool_use_id", NULL);
	tail(&w, s, r);
	free(id);
	free(model);
	free(stop);
}

void claude_user(struct buf *out, struct shape *s, const struct run *r, const struct json *j)
{
	struct jw w = jw_begin(out);
	char *id = text_of(j, "tool_call_id"), *text = text_of(j, "content");

	head(&w, "user");
	jw_kstr(&w, "role", "user");
	jw_key(&w, "content");
	jw_arr(&w);
	jw_obj(&w);
	jw_kstr(&w, "tool_use_id", id);
	jw_kstr(&w, "type", "tool_result");
	jw_kstr(&w, "content", text);
	jw_kbool(&w, "is_error", is_true(j, "is_error"));
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_kstr(&w, "parent_tool_use_id", NULL);
	tail(&w, s, r);
	free(id);
	free(text);
}

static struct jw system_line(struct buf *out, const char *kind)
{
	struct jw w = jw_begin(out);

	jw_obj(&w);
	jw_kstr(&w, "type", "system");
	jw_kstr(&w, "subtype", kind);
	return w;
}

void claude_retry(struct buf *out, struct shape *s, const struct run *r, const struct json *j)
{
	struct jw w = system_line(out, "api_retry");
	char *class = text_of(j, "class");

	jw_ki64(&w, "attempt", number_of(j, "attempt"));
	jw_ki64(&w, "retry_delay_ms", number_of(j, "wait_ms"));
	jw_kstr(&w, "error", class);
	tail(&w, s, r);
	free(class);
}

void claude_compact(struct buf *out, struct shape *s, const struct run *r, const struct json *j)
{
	struct jw w = system_line(out, "compact_boundary");

	jw_key(&w, "compact_metadata");
	jw_obj(&w);
	jw_kstr(&w, "trigger", "auto");
	jw_ki64(&w, "pre_tokens", number_of(j, "before"));
	jw_ki64(&w, "post_tokens", number_of(j, "after"));
	jw_end(&w);
	tail(&w, s, r);
}

void claude_event(struct buf *out, struct shape *s, const struct run *r, const char *event)
{
	struct jw w = jw_begin(out);

	jw_obj(&w);
	jw_kstr(&w, "type", "stream_event");
	jw_kraw(&w, "event", event, strlen(event));
	jw_kstr(&w, "parent_tool_use_id", NULL);
	tail(&w, s, r);
}

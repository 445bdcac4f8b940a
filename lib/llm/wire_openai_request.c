/* wire_openai_request.c - requests of OpenAI's Chat Completions API and of what is compatible with it.
 * https://platform.openai.com/docs/api-reference/chat/create */
#include <string.h>

#include "llm/request.h"
#include "llm/wires.h"

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"     /* OpenRouter and other gateways: in the parts of a content */

int chat_tools(struct convo *c, const struct json *j, int tools, struct err *e)
{
	(void)e;
	struct jw w = jw_begin(&c->tools);
	jw_arr(&w);
	for (struct json_iter it = json_iter(j, tools); json_next(&it);) {
		if (json_strlen(j, json_get(j, it.value, "name")) == 0)
			continue;
		jw_obj(&w);
		jw_kstr(&w, "type", "function");
		jw_key(&w, "function");
		jw_obj(&w);
		size_t n;
		const char *raw = json_raw(j, json_get(j, it.value, "name"), &n);
		jw_kraw(&w, "name", raw, n);
		raw = json_raw(j, json_get(j, it.value, "description"), &n);
		if (json_strlen(j, json_get(j, it.value, "description")) > 0)
			jw_kraw(&w, "description", raw, n);
		jw_key(&w, "parameters");
		request_schema(&w, j, json_get(j, it.value, "input_schema"), c->quirks);
		jw_end(&w);
		jw_end(&w);
	}
	buf_cut(&c->tools, 1);
	return 0;
}

static int options(struct jw *w, const struct call_options *o, struct err *e)
{
	jw_kstr(w, "model", o->model);
	if (o->max_tokens > 0 && !(o->quirks & QUIRK_NO_MAX_TOKENS))
		jw_ki64(w, o->quirks & QUIRK_MAX_COMPLETION_TOKENS ? "max_completion_tokens" : "max_tokens", o->max_tokens);
	if (o->temperature >= 0 && !(o->quirks & QUIRK_NO_TEMPERATURE)) {
		jw_key(w, "temperature");
		jw_double(w, o->temperature);
	}
	chat_thinking(w, o);
	if (o->stream)
		jw_kbool(w, "stream", true);
	if (o->stream && !(o->quirks & QUIRK_NO_STREAM_USAGE))
		jw_kraw(w, "stream_options", "{\"include_usage\":true}", 22);
	if (o->session && *o->session && (o->quirks & QUIRK_CACHE_KEY))
		jw_kstr(w, "prompt_cache_key", o->session);
	if (o->context > 0 && (o->quirks & QUIRK_NUM_CTX)) {
		jw_key(w, "options");
		jw_obj(w);
		jw_ki64(w, "num_ctx", o->context);
		jw_end(w);
	}
	return request_extra(w, o, e);
}

/* The system prompt as a message of its own. */
static void system_message(struct buf *out, const struct convo *c, const struct call_options *o, const char *role)
{
	struct jw w = jw_begin(out);
	if (c->system.len == 0)
		return;
	jw_obj(&w);
	jw_kstr(&w, "role", role);
	if (!(c->quirks & QUIRK_CACHE_PARTS)) {
		jw_kstrn(&w, "content", c->system.p, c->system.len);
	} else {
		jw_key(&w, "content");
		jw_arr(&w);
		jw_obj(&w);
		jw_kstr(&w, "type", "text");
		jw_kstrn(&w, "text", c->system.p, c->system.len);
		jw_end(&w);
		if (o->cache)
			buf_insert(out, out->len - 1, MARK, sizeof MARK - 1);
		jw_end(&w);
	}
	jw_end(&w);
}

/* There is no system role: its text begins the first user message, if the conversation begins with one. True: a copy of the
 * messages with it is in out; positions in it are `shift` later. */
static bool into_first(struct buf *out, const struct convo *c, size_t *shift)
{
	static const char string[] = "{\"role\":\"user\",\"content\":\"", parts[] = "{\"role\":\"user\",\"content\":[";
	const struct buf *m = &c->messages;
	struct buf text;
	size_t at = 0;
	buf_init(&text, BUF_NOLIMIT);
	if (m->len > sizeof string && memcmp(m->p, string, sizeof string - 1) == 0) {
		at = sizeof string - 1;
		jw_escape(&text, c->system.p, c->system.len);
		buf_adds(&text, "\\n\\n");
	} else if (m->len > sizeof parts && memcmp(m->p, parts, sizeof parts - 1) == 0) {
		struct jw w = jw_begin(&text);
		at = sizeof parts - 1;
		jw_obj(&w);
		jw_kstr(&w, "type", "text");
		jw_kstrn(&w, "text", c->system.p, c->system.len);
		jw_end(&w);
		buf_addc(&text, ',');
	}
	if (at > 0) {
		buf_add(out, m->p, at);
		buf_add(out, text.p, text.len);
		buf_add(out, m->p + at, m->len - at);
	}
	*shift = text.len;
	buf_free(&text);
	return at > 0;
}

static void messages(struct jw *w, const struct convo *c, const struct call_options *o)
{
	bool as_user = (o->quirks & QUIRK_SYSTEM_AS_USER) && c->system.len > 0;
	struct convo copy = *c;
	struct buf system;
	size_t shift;
	buf_init(&system, CONVO_MAX);
	buf_init(&copy.messages, BUF_NOLIMIT);
	if (as_user && into_first(&copy.messages, c, &shift)) {
		copy.last_at += copy.last_at > 0 ? shift : 0;
		copy.mark_at += copy.mark_at > 0 ? shift : 0;
		copy.mark_before += copy.mark_before > 0 ? shift : 0;
		c = &copy;
	} else {
		system_message(&system, c, o, as_user ? "user" : o->quirks & QUIRK_DEVELOPER ? "developer" : "system");
	}
	request_messages(w, "messages", c, &system, o->cache && (c->quirks & QUIRK_CACHE_PARTS) ? MARK : NULL);
	buf_free(&copy.messages);
	buf_free(&system);
}

int chat_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct jw w = jw_begin(out);
	jw_obj(&w);
	if (options(&w, o, e) < 0)
		return -1;
	request_tools(&w, c, o);
	messages(&w, c, o);
	jw_end(&w);
	return out->over ? err_set(e, ST_DATA, "the request is too large") : 0;
}

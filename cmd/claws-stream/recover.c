/* recover.c - a request that was refused for something that can be left out or made smaller: mended, once.
 *
 * What is mended here is not sent in the same form again: each repair changes an option or the conversation, and is made
 * at most once a model (what it refuses is remembered for the process) or once a call (the room for the answer). The
 * provider's own type, code and parameter say what is meant; only where it names no parameter do its words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llm/classify.h"
#include "stream.h"

#define ROOM_SPARE 2500      /* tokens: what counts on both sides differs by some */
#define ROOM_LEAST 256       /* an answer shorter than that is none */

enum { MENDED_ROOM = 1, MENDED_CALL = 2 };

void recover_begin(struct stream *s)
{
	s->mended = 0;
	if (s->room >= 0)
		s->options.max_tokens = s->room;
	s->room = -1;
}

/* The refusal as one may look for words in it: the parameter that it names, or the message. */
static const char *place(const struct answer_error *e)
{
	return e->param.len ? e->param.p : e->message.p;
}

static bool names(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

#define ANY(...) (const char *const[]){ __VA_ARGS__, NULL }

static const char *limit_name(const struct call_options *o)
{
	return o->quirks & QUIRK_MAX_COMPLETION_TOKENS ? "max_completion_tokens" : "max_tokens";
}

/* ---- what the model does not have ---- */

static bool is_refusal(const struct answer_error *e)
{
	static const char *const words[] = {
		"unsupported", "not supported", "not support", "unrecognized", "not permitted", "deprecated", "unknown",
		"only the default", "may only be set", "unexpected", "not allowed", "no endpoints found", "cannot be used",
		"not available", "not enabled", "requires --jinja", "does not have", NULL};

	return names(e->message.p, words) || names(e->code.p, words) || names(e->type.p, words);
}

static bool set_quirk(struct call_options *o, uint64_t quirk)
{
	if (o->quirks & quirk)
		return false;
	o->quirks |= quirk;
	return true;
}

/* The name of a member of `extra` stands in the refusal: then none of them is sent any more. */
static bool extra_named(const struct call_options *o, const char *text)
{
	struct buf all;
	struct json j;
	bool found = false;

	if (!o->extra || !*o->extra)
		return false;
	buf_init(&all, BUF_NOLIMIT);
	buf_addf(&all, "{%s}", o->extra);
	memset(&j, 0, sizeof j);
	if (json_parse(&j, all.p, all.len, NULL) == 0)
		for (struct json_iter it = json_iter(&j, 0); !found && json_next(&it);) {
			char *key = json_dup(&j, it.key);

			found = key && strlen(key) > 3 && strstr(text, key);
			free(key);
		}
	json_free(&j);
	buf_free(&all);
	return found;
}

/* One option less. NULL: the refusal names none that is sent. */
static const char *drop_option(struct stream *s, const char *text)
{
	struct call_options *o = &s->options;

	if (o->temperature >= 0 && strstr(text, "temperature"))
		return o->temperature = -1, "temperature is";
	if ((o->thinking >= 0 || o->effort != EFFORT_UNSAID) &&
	    names(text, ANY("thinking", "reasoning_effort", "reasoning.effort", "reasoning", "thinkingConfig", "output_config")))
		return o->thinking = -1, o->effort = EFFORT_UNSAID, "thinking is";
	if (strstr(text, "stream_options") && set_quirk(o, QUIRK_NO_STREAM_USAGE))
		return "stream_options are";
	if (o->max_tokens && !s->swapped && strstr(text, limit_name(o)))
		return s->swapped = true, o->quirks ^= QUIRK_MAX_COMPLETION_TOKENS, "this name of the token limit is";
	if (o->cache && strstr(text, "cache_control"))
		return o->cache = false, "cache_control is";
	if (strstr(text, "prompt_cache_key") && (o->quirks & QUIRK_CACHE_KEY))
		return o->quirks &= ~(uint64_t)QUIRK_CACHE_KEY, "prompt_cache_key is";
	if (extra_named(o, text))
		return o->extra = NULL, "what its row adds to each request is";
	return NULL;
}

/* OpenAI: param "messages[0].role", "does not support 'developer'"; others say it in words only. */
static const char *drop_role(struct stream *s, const struct answer_error *e)
{
	struct call_options *o = &s->options;

	if (!names(e->message.p, ANY("role", "developer message", "system message")))
		return NULL;
	if ((o->quirks & QUIRK_DEVELOPER) && strstr(e->message.p, "developer"))
		return o->quirks &= ~(uint64_t)QUIRK_DEVELOPER, "the role developer is";
	if (strstr(e->message.p, "system") && !(o->quirks & QUIRK_DEVELOPER) && set_quirk(o, QUIRK_SYSTEM_AS_USER))
		return "the role system is";
	return NULL;
}

static const char *drop_content(struct stream *s, const struct answer_error *e)
{
	const char *m = e->message.p;

	if (s->convo.tools.len && names(m, ANY("support tool", "support function", "tools is not", "tools are not", "tool calling is not",
	                                       "tools param", "tool use is not", "`tools`", "function calling is not")) &&
	    set_quirk(&s->options, QUIRK_NO_TOOLS))
		return "tools are";
	if (s->p.inputs != INPUT_TEXT_ONLY && names(m, ANY("image", "vision", "multimodal")) && strstr(s->kept.p, "\"images\"")) {
		s->p.inputs = INPUT_TEXT_ONLY;
		return chain_again(s) ? "images are" : NULL;
	}
	return NULL;
}

static bool drop_refused(struct stream *s)
{
	const struct answer_error *e = &s->answer.error;
	const char *what = NULL;

	if (!is_refusal(e))
		return false;
	if (e->status == 400 || e->status == 422) {
		what = drop_role(s, e);
		if (!what)
			what = drop_option(s, place(e));
	}
	/* OpenRouter has 404 for tools, llama.cpp 500 and 501 */
	if (!what && (e->status == 400 || e->status == 404 || e->status == 422 || e->status == 500 || e->status == 501))
		what = drop_content(s, e);
	if (!what)
		return false;
	stage_notice(&s->st, "%s not known to %s and left out from now on", what, s->maker);
	return true;
}

/* ---- what is too large ---- */

static bool lower_cap(struct stream *s)
{
	const struct answer_error *e = &s->answer.error;
	struct call_options *o = &s->options;
	int64_t cap;

	if (s->capped || o->max_tokens <= 0 || (e->status != 400 && e->status != 422) || overflow_prompt(e->message.p))
		return false;
	if (!names(e->message.p, ANY("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max tokens",
	                             "maximum tokens", "completion tokens", "num_predict", "maxTokens")) &&
	    !names(e->param.p, ANY("max_tokens", "max_completion_tokens", "max_output_tokens")))
		return false;
	cap = output_cap(e->message.p, o->max_tokens);
	if (cap <= 0)
		return false;
	s->capped = true;
	o->max_tokens = cap;
	stage_notice(&s->st, "%s answers with at most %lld tokens: the limit is lowered to that", s->maker, (long long)cap);
	return true;
}

/* The prompt fits, but not with so long an answer behind it. */
static bool make_room(struct stream *s)
{
	const struct answer_error *e = &s->answer.error;
	int64_t limit = overflow_limit(e->message.p), prompt = overflow_prompt(e->message.p), room = limit - prompt - ROOM_SPARE;

	if (strcmp(e->class, "overflow") != 0 || (s->mended & MENDED_ROOM) || limit <= 0 || prompt <= 0 || room < ROOM_LEAST ||
	    (s->options.max_tokens > 0 && room >= s->options.max_tokens))
		return false;
	s->mended |= MENDED_ROOM;
	s->room = s->options.max_tokens;
	s->options.max_tokens = room;
	stage_notice(&s->st, "the conversation leaves room for %lld tokens: this answer may be no longer", (long long)room);
	return true;
}

/* Azure answers a prompt that is too long with 429 and no delay: no wait helps. Four bytes of JSON are a token at the very
 * least in any language; pictures are none. */
bool recover_oversize(struct stream *s)
{
	struct answer_error *e = &s->answer.error;

	if (strcmp(e->class, "rate_limit") != 0 || e->retry_after_ms >= 0 || s->p.context <= 0 ||
	    s->body.len / 4 <= (size_t)s->p.context || strstr(s->kept.p, "\"images\""))
		return false;
	snprintf(e->class, sizeof e->class, "overflow");
	return true;
}

/* Groq: the model wrote a call that is none. */
bool recover_by_chance(const struct stream *s)
{
	return !strcmp(s->answer.error.code.p, "tool_use_failed");
}

bool recover(struct stream *s)
{
	const struct answer_error *e = &s->answer.error;

	if (!e->set || s->answer.heard)
		return false;
	if (recover_by_chance(s)) {
		bool first = !(s->mended & MENDED_CALL);

		s->mended |= MENDED_CALL;
		return first;
	}
	if (!strcmp(e->class, "auth") || !strcmp(e->class, "billing") || !strcmp(e->class, "rate_limit"))
		return false;
	return make_room(s) || lower_cap(s) || drop_refused(s);
}

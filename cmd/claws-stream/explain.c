/* explain.c - --explain: what would be called, how, and which rule or row said so. Sends nothing, shows no key. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/termsafe.h"
#include "stream.h"

static void line(const char *name, const char *value, const char *from)
{
	struct buf b, shown;

	buf_init(&b, BUF_NOLIMIT);
	buf_init(&shown, BUF_NOLIMIT);
	buf_addf(&b, "%-14s %s", name, value);
	if (from)
		buf_addf(&b, "  (%s)", from);
	term_safe(&shown, b.p, b.len, TERM_ONE_LINE);
	printf("%s\n", shown.p);
	buf_free(&b);
	buf_free(&shown);
}

static void number(const char *name, int64_t n, const char *nothing, const char *from)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, n);
	line(name, n > 0 ? text : nothing, from);
}

static void show_key(const struct stream *s)
{
	char names[512] = "";

	if (s->key_from) {
		line("key", s->key_from, s->key || s->aws ? "set" : "not looked at");
		return;
	}
	for (char **k = s->p.key_env; k && *k; k++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? " or " : "", *k);
	line("key", *names ? names : "CLAWS_API_KEY", s->p.key_optional ? "not set; none is needed" : "not set");
}

static const char *amount(char *text, size_t n, double d)
{
	if (d < 0)
		snprintf(text, n, "unknown");
	else
		snprintf(text, n, "$%g", d);
	return text;
}

static void show_price(const struct provider *p)
{
	static const char *const names[PRICES] = {
		[PRICE_INPUT] = "input", [PRICE_OUTPUT] = "output", [PRICE_CACHE_READ] = "cache read",
		[PRICE_CACHE_WRITE] = "cache write"};
	char text[256] = "", one[32];

	for (int i = 0; i < PRICES; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s", i ? ", " : "", names[i],
			amount(one, sizeof one, p->price[i]));
	line("price", text, p->from[FROM_PRICE] ? p->from[FROM_PRICE] : p->local ? "a local provider" : "no row says it");
	if (!p->above_tokens)
		return;
	snprintf(text, sizeof text, "above %" PRId64 " tokens of input:", p->above_tokens);
	for (int i = 0; i < PRICES; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s", i ? ", " : " ", names[i],
			amount(one, sizeof one, p->above[i]));
	line("", text, NULL);
}

static void show_thinking(const struct provider *p)
{
	struct buf b;

	buf_init(&b, 4096);
	buf_adds(&b, style_name(p->style));
	for (int i = EFFORT_NONE; i < EFFORTS; i++)
		if (p->effort_words[i])
			buf_addf(&b, ", %s is %s", effort_name((enum effort)i), *p->effort_words[i] ? p->effort_words[i] : "not said");
	line("thinking", b.p, p->from[FROM_THINKING] ? p->from[FROM_THINKING] : "no row says it");
	buf_free(&b);
}

static void show_quirks(const struct provider *p)
{
	struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < QUIRKS; i++)
		if (p->quirks >> i & 1)
			buf_addf(&b, "%s%s", b.len ? " " : "", quirks()[i].name);
	line("quirks", b.len ? b.p : "none", p->from[FROM_QUIRKS]);
	buf_free(&b);
}

static void show_address(const struct stream *s)
{
	struct buf url;
	const struct provider *p = &s->p;
	const char *auth = *p->auth ? p->auth : s->wire->auth;
	struct buf b;

	line("wire", s->wire->name, s->conf.wire ? "--wire" : p->from[FROM_WIRE]);
	buf_init(&url, BUF_NOLIMIT);
	setup_mask(s, &url, s->url.p, s->url.len);
	line("url", url.len ? url.p : "none", p->from[FROM_URL]);
	buf_free(&url);
	show_key(s);
	buf_init(&b, 256);
	if (!strcmp(auth, "bearer") || (!strcmp(auth, "sigv4") && s->key && !s->aws))
		buf_adds(&b, "authorization: Bearer");
	else
		buf_adds(&b, auth);
	line("sent as", b.p, *p->auth ? "the provider's row" : "the wire");
	buf_free(&b);
}

static const char *tokens_from(const struct stream *s)
{
	int64_t asked = s->conf.max_tokens ? s->conf.max_tokens : s->p.max_tokens;

	if (!asked)
		return "nobody says it";
	if (s->options.max_tokens < asked)
		return s->p.max_output ? "as many as the model can answer with" : "as many as fit into the window";
	return s->conf.max_tokens ? "--max-tokens" : s->p.from[FROM_MAX_TOKENS];
}

void explain(const struct stream *s)
{
	static const char *const caches[] = {[CACHE_NONE] = "none", [CACHE_AUTOMATIC] = "automatic", [CACHE_MARKS] = "marks"};
	const struct provider *p = &s->p;

	line("provider", p->name, p->from[FROM_PROVIDER]);
	line("model", p->model, s->conf.model ? "-m" : getenv("CLAWS_MODEL") && *getenv("CLAWS_MODEL") ? "CLAWS_MODEL" :
		"default of the first provider whose key is set");
	show_address(s);
	number("context", p->context, "unknown", p->from[FROM_CONTEXT]);
	number("max_output", p->max_output, "unknown", p->from[FROM_MAX_OUTPUT]);
	number("max_tokens", s->options.max_tokens, "the wire's own", tokens_from(s));
	show_price(p);
	line("cache", caches[p->cache], p->from[FROM_CACHE]);
	show_thinking(p);
	line("input", !p->inputs ? "not said: image pdf" : p->inputs & INPUT_TEXT_ONLY ? "text only" :
		(p->inputs & INPUT_IMAGE) && (p->inputs & INPUT_PDF) ? "image pdf" : p->inputs & INPUT_PDF ? "pdf" : "image",
		p->from[FROM_INPUT]);
	show_quirks(p);
	if (p->extra) {
		struct buf extra;

		buf_init(&extra, BUF_NOLIMIT);
		setup_mask(s, &extra, p->extra, strlen(p->extra));
		line("extra", extra.p, NULL);
		buf_free(&extra);
	}
	for (char **c = p->cascade; c && *c; c++)
		line(c == p->cascade ? "cascade" : "", *c, NULL);
}

/* fallback.c - the models that are called where the first cannot be had, and who is not called now (llm/breaker.h).
 *
 * The chain is the first model, the others of its provider's cascade, and what --fallback-model names. One of them is the
 * stream's own route; the rest wait in the chain. A conversation is told to a model when it is first called, out of the
 * kept lines, and after that only what is new: that costs nothing until a fallback is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "llm/classify.h"
#include "stream.h"

#define KEPT_MAX ((size_t)64 << 20)   /* lines beyond this are not kept twice */
#define SWAPS 3                       /* of a cascade, in one call */

/* ---- conversations ---- */

static void convo_begin(struct stream *s)
{
	convo_init(&s->convo, s->wire, s->maker);
	s->convo.quirks = s->p.quirks;
	s->convo.inputs = s->p.inputs;
	s->convo.load = input_blob;
	s->convo.load_arg = s;
}

/* Adds the lines from *from on. They were valid when they came. */
static void tell(struct stream *s, const struct buf *lines, size_t *from)
{
	struct json j;
	struct err e = ERR_INIT;

	memset(&j, 0, sizeof j);
	while (*from < lines->len) {
		const char *line = lines->p + *from;
		size_t n = (size_t)((const char *)memchr(line, '\n', lines->len - *from) - line);

		if (json_parse(&j, line, n, &e) == 0)
			convo_add(&s->convo, &j, &e);
		*from += n + 1;
	}
	json_free(&j);
}

static void tell_all(struct stream *s)
{
	struct chain *c = &s->chain[s->at];

	if (c->resets != s->resets) {
		convo_reset(&s->convo);
		c->fed = 0;
		c->resets = s->resets;
	}
	tell(s, &s->fixed, &c->fed_fixed);
	tell(s, &s->kept, &c->fed);
	s->dropped = s->convo.dropped;    /* spoken of when the first model had them */
}

bool chain_again(struct stream *s)
{
	struct chain *c = &s->chain[s->at];

	if (s->forgot)
		return false;
	convo_free(&s->convo);
	convo_begin(s);
	c->fed = c->fed_fixed = 0;
	tell_all(s);
	return true;
}

struct convo *chain_first(struct stream *s)
{
	return s->at ? &s->chain[0].route.convo : &s->convo;
}

void chain_keep(struct stream *s, const struct msg *m)
{
	struct buf *b = m->kind == MSG_SYSTEM || m->kind == MSG_TOOLS ? &s->fixed : &s->kept;

	if (s->forgot)
		return;
	if (b->len + m->len > KEPT_MAX) {
		s->forgot = true;
		buf_free(b);
		buf_init(b, BUF_NOLIMIT);
		return;
	}
	buf_add(b, m->line, m->len);
	buf_addc(b, '\n');
	/* the first model has it already */
	if (b == &s->kept)
		s->chain[0].fed = b->len;
	else
		s->chain[0].fed_fixed = b->len;
}

void chain_reset(struct stream *s)
{
	convo_reset(chain_first(s));
	buf_clear(&s->kept);
	s->chain[0].fed = 0;
	s->chain[0].resets = ++s->resets;
}

/* ---- the chain ---- */

static void append(struct stream *s, char *name, bool cascade)
{
	s->chain = xrealloc(s->chain, s->nchain + 1, sizeof *s->chain);
	s->chain[s->nchain++] = (struct chain){.name = name, .cascade = cascade};
}

static void append_list(struct stream *s, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ", ");

		if (n)
			append(s, xstrndup(list, n), false);
		list += n;
		list += strspn(list, ", ");
	}
}

/* The others of the cascade, from the one behind the first model on, and round. */
static void append_cascade(struct stream *s)
{
	size_t n = 0, own = 0;

	for (char **c = s->p.cascade; c && *c; c++, n++)
		if (!strcmp(*c, s->p.model))
			own = n + 1;
	for (size_t i = 0; i < n; i++) {
		const char *model = s->p.cascade[(own + i) % n];

		if (strcmp(model, s->p.model) != 0)
			append(s, xasprintf("%s/%s", s->p.name, model), true);
	}
}

static void reset_breakers(struct stream *s)
{
	struct breaker b;
	char *name = xasprintf("%s@%s:%u", s->p.name, s->target.host, (unsigned)s->target.port);

	breaker_open(&b, name);
	breaker_reset(&b);
	breaker_close(&b);
	free(name);
}

void chain_begin(struct stream *s)
{
	const char *list = getenv("CLAWS_FALLBACK_MODELS");

	buf_init(&s->kept, BUF_NOLIMIT);
	buf_init(&s->fixed, BUF_NOLIMIT);
	append(s, NULL, false);
	s->chain[0].set = true;
	s->first_fallback = 1;
	if (s->broken.status)
		return;
	convo_begin(s);
	s->room = -1;
	append_cascade(s);
	s->first_fallback = s->nchain;
	for (size_t i = 0; i < s->conf.fallback.n; i++)
		append_list(s, s->conf.fallback.v[i]);
	if (!s->conf.fallback.n && list)
		append_list(s, list);
	if (s->conf.reset_breaker)
		reset_breakers(s);
}

static void put(struct stream *s, size_t i)
{
	s->chain[s->at].route = s->route;
	s->route = s->chain[i].route;
	s->at = i;
}

void chain_free(struct stream *s)
{
	breaker_close(&s->breaker);
	chain_home(s);
	for (size_t i = s->nchain; i-- > 0;) {
		if (!s->chain[i].set)
			continue;
		put(s, i);
		if (!s->broken.status)
			convo_free(&s->convo);
		setup_route_free(s);
		memset(&s->route, 0, sizeof s->route);
		free(s->chain[i].name);
		s->chain[i].name = NULL;
	}
	for (size_t i = 0; i < s->nchain; i++)
		free(s->chain[i].name);
	free(s->chain);
	buf_free(&s->kept);
	buf_free(&s->fixed);
}

/* The address and the wire that the command line gives are those of the first model's provider, not of another. */
static int set_route(struct stream *s, size_t i, struct err *e)
{
	const struct conf said = s->conf;
	const char *provider = s->chain[0].route.p.name;
	int bad;

	s->conf.model = s->chain[i].name;
	s->conf.base_url = s->conf.wire = NULL;
	bad = setup_route(s, e);
	if ((said.base_url || said.wire) && (bad || !strcmp(s->p.name, provider))) {
		setup_route_free(s);
		memset(&s->route, 0, sizeof s->route);
		*e = (struct err)ERR_INIT;
		s->conf.base_url = said.base_url;
		s->conf.wire = said.wire;
		bad = setup_route(s, e);
	}
	s->conf = said;
	return bad;
}

/* Model i is called now. -1: it cannot be, and the one before still is. */
static int use(struct stream *s, size_t i, struct err *e)
{
	size_t before = s->at;

	if (i == s->at)
		return 0;
	if (i && s->forgot)
		return err_set(e, ST_DATA, "the conversation is too long to be told to another model");
	put(s, i);
	if (!s->chain[i].set && set_route(s, i, e) < 0) {
		setup_route_free(s);
		memset(&s->route, 0, sizeof s->route);
		put(s, before);
		return -1;
	}
	if (!s->chain[i].set) {
		s->chain[i].set = true;
		s->room = -1;
		convo_begin(s);
	}
	setup_secrets(s);
	if (i)
		tell_all(s);
	return 0;
}

void chain_home(struct stream *s)
{
	struct err e = ERR_INIT;

	s->swaps = 0;
	use(s, 0, &e);
}

bool chain_swap(struct stream *s)
{
	char *from;
	struct err e = ERR_INIT;

	if (s->at >= s->first_fallback || s->first_fallback < 2 || s->swaps >= SWAPS)
		return false;
	s->swaps++;
	from = xstrdup(s->maker);
	if (use(s, (s->at + 1) % s->first_fallback, &e) < 0) {
		free(from);
		return false;
	}
	stage_notice(&s->st, "%s has reached its rate limit: %s is called instead", from, s->maker);
	free(from);
	return true;
}

bool chain_next(struct stream *s, const char *class, const char *why)
{
	size_t i = s->at < s->first_fallback ? s->first_fallback : s->at + 1;
	struct buf words;
	char *from;

	if (!error_class(class)->failover || i >= s->nchain)
		return false;
	from = xstrdup(s->maker);
	buf_init(&words, 4096);
	setup_mask(s, &words, why, strlen(why));
	for (; i < s->nchain; i++) {
		struct err e = ERR_INIT;

		if (use(s, i, &e) < 0) {
			stage_notice(&s->st, "fallback %s cannot be called: %s", s->chain[i].name, e.text);
			continue;
		}
		stage_notice(&s->st, "%s failed (%s: %s): %s is called instead", from, class, words.p, s->maker);
		s->retry.done = 0;
		break;
	}
	buf_free(&words);
	free(from);
	return i < s->nchain;
}

/* ---- the breaker ---- */

bool breaker_lets(struct stream *s, struct err *e, int64_t *left_ms)
{
	const char *off = getenv("CLAWS_BREAKER");
	enum breaker_say say;
	char *name;

	s->breaker_asked = s->probing = false;
	if (s->replaying || s->conf.no_breaker || (off && !strcmp(off, "off")))
		return true;
	breaker_close(&s->breaker);
	name = xasprintf("%s@%s:%u", s->p.name, s->target.host, (unsigned)s->target.port);
	breaker_open(&s->breaker, name);
	free(name);
	say = breaker_ask(&s->breaker, breaker_now(), left_ms);
	s->breaker_asked = say != BREAKER_OPEN;
	s->probing = say == BREAKER_PROBE;
	if (say != BREAKER_OPEN)
		return true;
	err_set(e, ST_TEMP, "%s at %s failed %d times within a minute and is not called for %lld s more; --no-breaker calls it all "
		"the same, --reset-breaker forgets that", s->p.name, s->target.host, BREAKER_FAILURES,
		((long long)*left_ms + 999) / 1000);
	return false;
}

void breaker_tell(struct stream *s, enum outcome out)
{
	if (!s->breaker_asked)
		return;
	if (out == OUT_FAILED && breaker_failed(&s->breaker, breaker_now()))
		stage_notice(&s->st, "%s at %s has failed %d times within a minute: it is not called for two minutes",
			s->p.name, s->target.host, BREAKER_FAILURES);
	else if (out == OUT_WORKED)
		breaker_worked(&s->breaker);
	else if (out == OUT_NOTHING)
		breaker_gave_up(&s->breaker);
}

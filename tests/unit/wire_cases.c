/* wire_cases.c - feeds recorded answers to the wires and compares what comes out with what an independent reader
 * says.
 *
 *   wire_cases DIR CASE...     DIR/CASE/{meta.json,response.body,expected.json}
 *
 * Each body is fed whole, byte by byte, in pieces of random size, and (server-sent events) with LF, CRLF and CR as
 * line end. Without arguments, or without cases of a known wire, nothing is tested; how
 * many cases are of other wires is said. */
#include <stdlib.h>

#include "base/buf.h"
#include "llm/answer.h"
#include "tap.h"

struct heard {
	struct buf text, thinking, args;
	int calls;
};

static void on_text(void *arg, const char *s, size_t n)
{
	buf_add(&((struct heard *)arg)->text, s, n);
}

static void on_thinking(void *arg, const char *s, size_t n)
{
	buf_add(&((struct heard *)arg)->thinking, s, n);
}

static void on_call(void *arg, int index, const char *id, const char *name, const char *args, size_t n)
{
	struct heard *h = arg;
	if (id && name && index == h->calls)
		h->calls++;
	buf_add(&h->args, args, n);
}

static const struct answer_sink sink = { on_text, on_thinking, on_call, NULL };

static int slurp(struct buf *b, const char *dir, const char *name, const char *file)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s/%s", dir, name, file);
	FILE *f = fopen(path, "rb");
	if (!f)
		return -1;
	char *p;
	size_t n;
	while ((p = buf_room(b, 65536)) && (n = fread(p, 1, 65536, f)) > 0)
		b->len += n;
	buf_term(b);
	fclose(f);
	return 0;
}

static char why[4096];

static bool differ(const char *what, const char *got, const char *want)
{
	snprintf(why, sizeof why, "%s: got <%.600s> want <%.600s>", what, got, want);
	return false;
}

static bool same_str(const char *what, const struct buf *got, const struct json *j, int v)
{
	struct buf want;
	buf_init(&want, BUF_NOLIMIT);
	if (json_type(j, v) == JSON_STRING) {
		json_str(j, v, &want);
	} else if (json_type(j, v) == JSON_NUMBER) {
		size_t n;
		const char *raw = json_raw(j, v, &n);
		buf_add(&want, raw, n);
	}
	bool ok = want.len == got->len && memcmp(want.p, got->p, got->len) == 0;
	if (!ok)
		differ(what, got->p, want.p);
	buf_free(&want);
	return ok;
}

static bool same_args(const struct call *c, const struct json *j, int v)
{
	struct json got = JSON_INIT;
	struct buf a, b;
	buf_init(&a, BUF_NOLIMIT);
	buf_init(&b, BUF_NOLIMIT);
	bool ok = c->ok && json_parse(&got, c->args.p, c->args.len, NULL) == 0;
	if (ok)
		json_canon(&a, &got, 0);
	json_canon(&b, j, v);
	ok = ok && strcmp(a.p, b.p) == 0;
	if (!ok)
		differ("arguments", c->args.p, b.p);
	buf_free(&a);
	buf_free(&b);
	json_free(&got);
	return ok;
}

/* Calls without a name (OpenAI's custom tools, which nobody asks for) are in the answer, but the sink does not hear
 * of them. */
static int named(const struct answer *a)
{
	int n = 0;
	for (size_t i = 0; i < a->ncalls; i++)
		n += a->calls[i].name.len > 0;
	return n;
}

/* A zero value of function_call, which some servers put into every message, is read as a call without name, id and
 * arguments by the other reader; it is none. */
static bool nothing(const struct json *j, int call)
{
	return json_strlen(j, json_get(j, call, "name")) == 0 && json_strlen(j, json_get(j, call, "id")) == 0 &&
	       json_count(j, json_get(j, call, "input")) == 0;
}

static bool same_calls(const struct answer *a, const struct json *j, int list, size_t *count)
{
	size_t n = 0;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		if (nothing(j, it.value))
			continue;
		if (n == a->ncalls)
			return differ("calls", "fewer", "more");
		const struct call *c = &a->calls[n++];
		int id = json_get(j, it.value, "id");
		if (!same_str("name", &c->name, j, json_get(j, it.value, "name")) ||
		    !same_args(c, j, json_get(j, it.value, "input")))
			return false;
		if (json_strlen(j, id) > 0 && !same_str("id", &c->id, j, id))
			return false;
		if (c->id.len == 0)
			return differ("id", "", "some");
		for (size_t i = 0; i + 1 < n; i++)
			if (strcmp(a->calls[i].id.p, c->id.p) == 0)
				return differ("id", c->id.p, "another");
	}
	*count = n;
	return n == a->ncalls || differ("calls", "more", "fewer");
}

static bool same_count(const char *what, int64_t got, const struct json *j, int v)
{
	int64_t want = 0;
	char g[32], w[32];
	json_i64(j, v, &want);
	snprintf(g, sizeof g, "%lld", (long long)(got < 0 ? 0 : got));
	snprintf(w, sizeof w, "%lld", (long long)want);
	return strcmp(g, w) == 0 || differ(what, g, w);
}

static bool same_usage(const struct usage *u, const struct json *j, int v)
{
	return same_count("input", u->input, j, json_get(j, v, "input")) &&
	       same_count("cache_read", u->cache_read, j, json_get(j, v, "cache_read")) &&
	       same_count("cache_write", u->cache_write, j, json_get(j, v, "cache_write")) &&
	       same_count("output", u->output, j, json_get(j, v, "output")) &&
	       same_count("reasoning", u->reasoning, j, json_get(j, v, "reasoning"));
}

static bool same_error(const struct answer *a, const struct json *j, int e)
{
	if (json_type(j, e) != JSON_OBJECT)
		return !a->error.set || differ("error", a->error.message.p, "none");
	if (!a->error.set)
		return differ("error", "none", "one");
	if (!a->error.class[0])
		return differ("class", "", "one");
	int message = json_get(j, e, "message");
	return same_count("status", a->error.status, j, json_get(j, e, "status")) &&
	       same_str("type", &a->error.type, j, json_get(j, e, "type")) &&
	       same_str("code", &a->error.code, j, json_get(j, e, "code")) &&
	       same_str("message", &a->error.message, j, message);
}

static bool same_stop(const struct answer *a, const struct json *e, size_t ncalls)
{
	char *want = json_dup(e, json_get(e, 0, "stop_reason"));
	bool dropped = ncalls == 0 && json_count(e, json_get(e, 0, "tool_calls")) > 0;
	const char *w = json_true(e, json_get(e, 0, "incomplete")) ? "truncated" :
	                want && *want ? want : ncalls ? "tool_use" : "end_turn";
	if (stop_parse(w) == STOP_NONE)
		w = ncalls ? "tool_use" : "end_turn"; /* the other reader hands on a word that nobody knows */
	if (dropped && strcmp(w, "tool_use") == 0)
		w = "end_turn";                      /* it said so for the sake of the call that is none */
	bool ok = strcmp(stop_name(a->stop), w) == 0 || differ("stop", stop_name(a->stop), w);
	free(want);
	return ok;
}

static bool compare(const struct answer *a, const struct heard *h, const struct json *e)
{
	size_t ncalls = 0;
	if (!same_str("content", &a->content, e, json_get(e, 0, "content")) ||
	    !same_str("thinking", &a->thinking, e, json_get(e, 0, "thinking")) ||
	    !same_error(a, e, json_get(e, 0, "error")) ||
	    !same_calls(a, e, json_get(e, 0, "tool_calls"), &ncalls) ||
	    !same_stop(a, e, ncalls) ||
	    !same_usage(&a->usage, e, json_get(e, 0, "usage")) ||
	    !same_str("stop_raw", &a->stop_raw, e, json_get(e, 0, "stop_raw")))
		return false;
	if (json_get(e, 0, "model") >= 0 && !same_str("model", &a->model, e, json_get(e, 0, "model")))
		return false;
	if (!a->corrected && strcmp(h->text.p, a->content.p) != 0)
		return differ("pieces", h->text.p, a->content.p);
	if (!a->corrected && strcmp(h->thinking.p, a->thinking.p) != 0)
		return differ("thinking pieces", h->thinking.p, a->thinking.p);
	return a->stop == STOP_TRUNCATED || a->stop == STOP_ERROR || h->calls == named(a) ||
	       differ("calls heard", "other", "as many");
}

/* The answer's blocks are JSON, one line, and hold every signature that the expected ones have. */
static bool blocks_hold(const struct answer *a, const struct json *e)
{
	struct json j = JSON_INIT;
	bool ok = true;
	if (a->blocks.len > 0) {
		ok = json_parse(&j, a->blocks.p, a->blocks.len, NULL) == 0 && !memchr(a->blocks.p, '\n', a->blocks.len);
		if (!ok)
			differ("blocks", a->blocks.p, "one line of JSON");
		json_free(&j);
	}
	if (a->stop == STOP_TRUNCATED || a->stop == STOP_ERROR)
		return ok;
	for (struct json_iter it = json_iter(e, json_get(e, 0, "blocks")); ok && json_next(&it);) {
		static const char *const opaque[] = { "signature", "data", "encrypted" };
		for (size_t i = 0; i < sizeof opaque / sizeof *opaque && ok; i++) {
			char *sig = json_dup(e, json_get(e, it.value, opaque[i]));
			if (sig && *sig && !strstr(a->blocks.p, sig))
				ok = differ(opaque[i], a->blocks.p, sig);
			free(sig);
		}
		int raw = json_get(e, it.value, "raw");
		char *data = json_dup(e, json_path(e, raw, "0.data"));
		if (data && !strstr(a->blocks.p, data))
			ok = differ("reasoning data", a->blocks.p, data);
		free(data);
	}
	return ok;
}

enum cut { WHOLE, BYTES, RANDOM, CRLF, CR, CUTS };
static const char *const cut_names[] = { "whole", "byte by byte", "at random", "with CRLF", "with CR" };

static unsigned
next_random(unsigned *seed)
{
	return *seed = *seed * 1103515245u + 12345u, *seed >> 16 & 0x7fff;
}

static void feed(struct answer *a, const struct buf *body, enum cut cut)
{
	unsigned seed = 7;
	for (size_t at = 0; at < body->len;) {
		size_t n = cut == WHOLE ? body->len : cut == RANDOM ? 1 + next_random(&seed) % 64 : 1;
		if (n > body->len - at)
			n = body->len - at;
		if (cut >= CRLF && body->p[at] == '\n')
			answer_feed(a, cut == CR ? "\r" : "\r\n", cut == CR ? 1 : 2);
		else if (cut < CRLF || body->p[at] != '\r')
			answer_feed(a, body->p + at, n);
		at += n;
	}
}

static bool one(const struct wire *wire, int status, const struct buf *body, const struct json *expected, enum cut cut)
{
	struct heard h = { .calls = 0 };
	buf_init(&h.text, BUF_NOLIMIT);
	buf_init(&h.thinking, BUF_NOLIMIT);
	buf_init(&h.args, BUF_NOLIMIT);
	struct answer a;
	answer_init(&a, wire, &sink, &h);
	answer_head(&a, status);
	feed(&a, body, cut);
	answer_end(&a);
	bool ok = compare(&a, &h, expected) && blocks_hold(&a, expected);
	answer_free(&a);
	buf_free(&h.text);
	buf_free(&h.thinking);
	buf_free(&h.args);
	return ok;
}

static int other_wires;

static void run_case(const char *dir, const char *name)
{
	struct buf meta, body, expected;
	struct json m = JSON_INIT, e = JSON_INIT;
	buf_init(&meta, BUF_NOLIMIT);
	buf_init(&body, BUF_NOLIMIT);
	buf_init(&expected, BUF_NOLIMIT);
	bool known = slurp(&meta, dir, name, "meta.json") == 0 && json_parse(&m, meta.p, meta.len, NULL) == 0;
	char *api = known ? json_dup(&m, json_get(&m, 0, "api")) : NULL;
	char *tail = api ? strrchr(api, '-') : NULL;
	if (tail && strcmp(tail, "-stream") == 0)        /* one wire reads both */
		*tail = 0;
	if (api && !wire_find(api)) {
		other_wires++;
	} else if (!api || slurp(&body, dir, name, "response.body") < 0 ||
	    slurp(&expected, dir, name, "expected.json") < 0 ||
	    json_parse(&e, expected.p, expected.len, NULL) < 0) {
		OK(0, "%s: cannot be read", name);
	} else {
		const struct wire *wire = wire_find(api);
		int64_t status = 0;
		json_i64(&m, json_get(&m, 0, "status"), &status);
		bool sse = json_eq(&m, json_get(&m, 0, "framing"), "sse");
		bool ok = true;
		const char *how = "";
		for (int cut = WHOLE; ok && cut < (sse ? CUTS : CRLF); cut++) {
			ok = one(wire, (int)status, &body, &e, (enum cut)cut);
			how = cut_names[cut];
		}
		OK(ok, "%s", name);
		if (!ok)
			printf("# %s: %s\n", how, why);
	}
	free(api);
	json_free(&m);
	json_free(&e);
	buf_free(&meta);
	buf_free(&body);
	buf_free(&expected);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		puts("1..0 # SKIP no cases given");
		return 0;
	}
	for (int i = 2; i < argc; i++)
		run_case(argv[1], argv[i]);
	if (other_wires)
		printf("# %d cases of wires that are not known here are left out\n", other_wires);
	return END();
}

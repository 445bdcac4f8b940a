#include "llm/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <stdlib.h>
#include <time.h>

#include "llm/build.h"
#include "llm/classify.h"
#include "llm/halves.h"

static void heard(void *arg, const char *name, char *data, size_t len);
static void value(void *arg, char *data, size_t len);
static void message(void *arg, enum eventstream_kind kind, const char *name, char *data, size_t len);

void answer_init(struct answer *a, const struct wire *wire, const struct answer_sink *sink, void *arg)
{
	memset(a, 0, sizeof *a);
	a->wire = wire;
	if (sink)
		a->sink = *sink;
	a->arg = arg;
	a->stop = STOP_NONE;
	a->should_retry = -1;
	a->header_retry_ms = -1;
	a->usage = (struct usage){-1, -1, -1, -1, -1};
	a->error.retry_after_ms = -1;
	struct buf *big[] = { &a->content, &a->thinking, &a->blocks, &a->echo };
	for (size_t i = 0; i < sizeof big / sizeof *big; i++)
		buf_init(big[i], ANSWER_MAX);
	struct buf *small[] = { &a->stop_raw, &a->model, &a->id, &a->request_id, &a->error.type, &a->error.code,
		&a->error.param };
	for (size_t i = 0; i < sizeof small / sizeof *small; i++)
		buf_init(small[i], 1024);
	buf_init(&a->error.message, (size_t)64 << 10);
	buf_init(&a->error.detail, (size_t)64 << 10);
	buf_init(&a->body, ANSWER_BODY);
	buf_init(&a->mended, BUF_NOLIMIT);
	buf_init(&a->held, BUF_NOLIMIT);
	buf_init(&a->joined, BUF_NOLIMIT);
	sse_init(&a->sse, heard, a);
	values_init(&a->values, value, a);
	build_text_init(a);
	eventstream_init(&a->aws, message, a);
	a->event = "";
	a->json.most = ANSWER_VALUES_MOST;
}

/* Keeps the first n. */
static void cut_calls(struct answer *a, size_t n)
{
	for (size_t i = n; i < a->ncalls; i++) {
		struct call *c = &a->calls[i];
		struct buf *its[] = { &c->id, &c->name, &c->args, &c->extra, &c->raw_id };
		for (size_t k = 0; k < sizeof its / sizeof *its; k++)
			buf_free(its[k]);
	}
	a->ncalls = n;
}

void answer_free(struct answer *a)
{
	struct buf *all[] = { &a->content, &a->thinking, &a->blocks, &a->echo, &a->stop_raw, &a->model, &a->id, &a->request_id,
		&a->error.type, &a->error.code, &a->error.param, &a->error.message, &a->error.detail, &a->body, &a->mended,
		&a->held, &a->joined };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buf_free(all[i]);
	cut_calls(a, 0);
	free(a->calls);
	for (size_t i = 0; i < a->nparts; i++)
		part_free(&a->parts[i]);
	free(a->parts);
	sse_free(&a->sse);
	values_free(&a->values);
	build_text_free(a);
	eventstream_free(&a->aws);
	json_free(&a->json);
}

void answer_head(struct answer *a, int status)
{
	a->status = status;
}

void answer_header(struct answer *a, const char *name, const char *value)
{
	static const char *const ids[] = { "request-id", "x-request-id", "x-generation-id", "x-ds-trace-id",
		"x-amzn-requestid" };
	int64_t ms = -1;
	if (strcasecmp(name, "retry-after") == 0)
		ms = retry_after_headers(value, NULL, (int64_t)time(NULL));
	else if (strcasecmp(name, "retry-after-ms") == 0)
		ms = retry_after_headers(NULL, value, 0);
	else if (strcasecmp(name, "x-should-retry") == 0)
		a->should_retry = strcasecmp(value, "true") == 0 ? 1 : strcasecmp(value, "false") == 0 ? 0 : -1;
	else if (strcasecmp(name, "x-amzn-errortype") == 0 && a->error.type.len == 0)
		buf_add(&a->error.type, value, strcspn(value, ":"));
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (a->request_id.len == 0 && strcasecmp(name, ids[i]) == 0)
			buf_adds(&a->request_id, value);
	if (ms > a->header_retry_ms)     /* Azure sends a second and 0 ms: the larger one holds */
		a->header_retry_ms = ms;
}

/* Providers write lone surrogates, NUL and raw control characters: mended here, so that nothing foreign goes on.
 * Not whole_characters: a half at the end of a string is left for the next event to complete, -1. */
static int parse(struct answer *a, const char *text, size_t len, bool whole_characters)
{
	if (json_parse(&a->json, text, len, NULL) == 0)
		return 0;
	switch (a->json.fault) {
	case JSON_BAD_UTF8: case JSON_NUL: case JSON_SURROGATE: case JSON_CONTROL:
		break;
	default:
		return -1;
	}
	if (!whole_characters && a->json.fault == JSON_SURROGATE && half_high(text, len) != HALF_NONE)
		return -1;
	buf_clear(&a->mended);
	json_repair(&a->mended, text, len);
	return json_parse(&a->json, a->mended.p, a->mended.len, NULL);
}

static int root(const struct json *j)
{
	if (json_type(j, 0) != JSON_ARRAY)
		return 0;
	struct json_iter it = json_iter(j, 0);      /* Google wraps errors into an array */
	return json_next(&it) ? it.value : 0;
}

static void no_json(struct answer *a, const char *name, const char *data, size_t len)
{
	if (strcmp(name, "error") == 0)
		build_error_text(a, data, len);
	else if (*data == '{')
		a->bad_event = true;
}

static void event(struct answer *a, const char *name, const char *data, size_t len, bool may_hold)
{
	if (parse(a, data, len, !may_hold) < 0) {
		if (may_hold && a->json.fault == JSON_SURROGATE) {
			buf_add(&a->held, data, len);
			return;
		}
		no_json(a, name, data, len);
		return;
	}
	const struct json *j = &a->json;
	int v = root(j);
	if (json_type(j, v) != JSON_OBJECT) {
		if (strcmp(name, "error") == 0)
			build_error(a, j, v, true);
		return;
	}
	/* The type in the data decides; the event's name only where the data say nothing. */
	if (v != 0 || (strcmp(name, "error") == 0 && json_get(j, v, "error") < 0 && json_get(j, v, "choices") < 0))
		build_error(a, j, v, true);
	else {
		a->event = name;
		a->wire->event(a, j);
		a->event = "";
	}
}

/* An event that was held back, before `data` (NULL: nothing comes any more). The half moves to where the other one is. */
static void release(struct answer *a, char **data, size_t *len)
{
	size_t low = data ? half_low(*data, *len) : HALF_NONE, high = half_high(a->held.p, a->held.len);
	if (low != HALF_NONE && high != HALF_NONE) {
		buf_clear(&a->joined);
		buf_add(&a->joined, *data, low);
		buf_add(&a->joined, a->held.p + high, HALF_LEN);
		buf_add(&a->joined, *data + low, *len - low);
		*data = a->joined.p;
		*len = a->joined.len;
		memmove(a->held.p + high, a->held.p + high + HALF_LEN, a->held.len - high - HALF_LEN);
		buf_truncate(&a->held, a->held.len - HALF_LEN);
	}
	event(a, "", a->held.p, a->held.len, false);
	buf_clear(&a->held);
}

static void heard(void *arg, const char *name, char *data, size_t len)
{
	struct answer *a = arg;
	if (a->bad_event)
		build_fail(a, "protocol", "an event of the stream is not JSON");
	a->bad_event = false;
	while (len > 0 && strchr(" \t\n", *data))
		data++, len--;
	if (len == 0)
		return;
	if (a->held.len > 0)
		release(a, &data, &len);
	if (len == 6 && memcmp(data, "[DONE]", 6) == 0)
		a->done = true;
	else
		event(a, name, data, len, strcmp(name, "error") != 0);
}

static void value(void *arg, char *data, size_t len)
{
	struct answer *a = arg;
	heard(a, "", data, len);
	if (a->shape == ANSWER_VALUES && *data != '{' && !a->done)
		a->bad_event = true;                /* fine only at the very end, where a line was cut */
}

/* AWS: an exception is an error as the wire's service names it. */
static void message(void *arg, enum eventstream_kind kind, const char *name, char *data, size_t len)
{
	struct answer *a = arg;
	if (kind == EVENTSTREAM_EVENT) {
		heard(a, name, data, len);
		return;
	}
	if (a->held.len > 0)
		release(a, NULL, NULL);
	build_exception(a, name, data, len);
}

/* The bytes of a stream of events. */
static void frames(struct answer *a, const char *p, size_t n)
{
	if (a->shape == ANSWER_AWS ? eventstream_feed(&a->aws, p, n) < 0 :
	    (a->shape == ANSWER_SSE ? sse_feed(&a->sse, p, n) : values_feed(&a->values, p, n)) < 0)
		build_fail(a, "protocol", a->aws.why ? a->aws.why : "an event of the stream is too long");
}

static bool framed(const struct answer *a)
{
	return a->shape == ANSWER_SSE || a->shape == ANSWER_VALUES || a->shape == ANSWER_AWS;
}

/* What kind of body is it? Decided by its first bytes, whatever the content type says. */
static void choose(struct answer *a, bool end)
{
	static const char *const fields[] = { "data:", "event:", "id:", "retry:", "error:" };
	const char *p = a->body.p;
	size_t n = a->body.len;
	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3, n -= 3;
	while (n > 0 && strchr(" \t\r\n", *p) && *p)
		p++, n--;
	if (n == 0 && !end) {
		buf_clear(&a->body);      /* not looked at again with each read: a server may send blanks without end */
		return;
	}
	a->shape = ANSWER_WHOLE;
	if (n > 0 && *p == ':')
		a->shape = ANSWER_SSE;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		size_t len = strlen(fields[i]);
		if (n >= len && memcmp(p, fields[i], len) == 0)
			a->shape = ANSWER_SSE;
		else if (n < len && memcmp(p, fields[i], n) == 0 && !end)
			a->shape = ANSWER_START;      /* cannot tell yet */
		if (a->shape != ANSWER_WHOLE)
			break;
	}
	if (n > 0 && n < 3 && (unsigned char)*p == 0xef && !end)
		a->shape = ANSWER_START;
	if (a->shape == ANSWER_WHOLE && a->wire->framing == FRAMING_VALUES && a->status < 400 && n > 0 && strchr("{[", *p) && *p)
		a->shape = ANSWER_VALUES;
	if (a->shape == ANSWER_WHOLE && a->wire->framing == FRAMING_AWS && a->status < 400 && n > 0 && *p == 0)
		a->shape = ANSWER_AWS;
	if (!framed(a))
		return;
	frames(a, p, n);
	buf_clear(&a->body);
}

int answer_feed(struct answer *a, const char *p, size_t n)
{
	if (a->ended)
		return -1;
	if (framed(a)) {
		frames(a, p, n);
	} else {
		if (buf_add(&a->body, p, n) < 0)
			build_fail(a, "protocol", "the answer is too long");
		if (a->shape == ANSWER_START)
			choose(a, false);
	}
	return a->error.set && strcmp(a->error.class, "protocol") == 0 ? -1 : 0;
}

static void whole(struct answer *a)
{
	const char *p = a->body.p;
	size_t n = a->body.len;
	while (n > 0 && strchr(" \t\r\n\xef\xbb\xbf", *p) && *p)
		p++, n--;
	if (parse(a, p, n, true) < 0) {
		if (a->status >= 400)
			build_error_text(a, a->body.p, a->body.len);
		else if (n > 0 && a->json.fault != JSON_CUT)
			build_fail(a, "protocol", *p == '<' ? "the answer is a web page, not JSON: is the base URL right?" :
			           "the answer is not JSON");
		return;
	}
	const struct json *j = &a->json;
	int v = root(j);
	if (a->status >= 400 || v != 0)
		build_error(a, j, v, false);
	else if (json_type(j, v) != JSON_OBJECT)
		build_fail(a, "protocol", "the answer is not a JSON object");
	else
		a->wire->whole(a, j);
}

/* args of the calls: one JSON object each, or not ok with its text kept. */
static void check_calls(struct answer *a)
{
	size_t kept = 0;
	for (size_t i = 0; i < a->ncalls; i++) {
		struct call *c = &a->calls[i], t = *c;
		c->ok = false;
		if (c->name.len == 0 && c->args.len == 0 && c->raw_id.len == 0)
			continue;                                  /* nothing of it was ever said: freed with the rest */
		if (c->args.p[strspn(c->args.p, " \t\r\n")] == 0 || strcmp(c->args.p, "null") == 0) {
			buf_clear(&c->args);
			buf_adds(&c->args, "{}");
		}
		if (parse(a, c->args.p, c->args.len, true) == 0 && json_type(&a->json, 0) == JSON_OBJECT) {
			c->ok = true;
			if (a->json.text == a->mended.p) {
				buf_clear(&c->args);
				buf_add(&c->args, a->mended.p, a->mended.len);
			}
		}
		t = *c;
		*c = a->calls[kept];
		a->calls[kept++] = t;
	}
	cut_calls(a, kept);
}

static void conclude(struct answer *a)
{
	if (a->error.set) {
		a->stop = STOP_ERROR;
	} else if (!a->terminal) {
		a->stop = STOP_TRUNCATED;
	} else if (a->ncalls > 0) {
		if (a->stop == STOP_END_TURN || a->stop == STOP_STOP_SEQUENCE || a->stop == STOP_NONE)
			a->stop = STOP_TOOL_USE;        /* Gemini, Ollama and some clones say "stop" beside calls */
	} else if (a->stop == STOP_TOOL_USE || a->stop == STOP_NONE) {
		a->stop = STOP_END_TURN;            /* a turn without calls would be repeated for ever */
	}
}

static void finish(struct answer *a, const char *class, const char *words)
{
	if (a->ended)
		return;
	if (a->shape == ANSWER_START)
		choose(a, true);
	if (a->shape == ANSWER_SSE)
		sse_end(&a->sse);
	else if (a->shape == ANSWER_VALUES)
		values_end(&a->values);
	else if (a->shape != ANSWER_AWS)
		whole(a);
	if (a->held.len > 0)
		release(a, NULL, NULL);
	a->ended = true;
	if (a->status >= 400 && !a->error.set)
		build_error_text(a, "", 0);
	if (a->wire->end)
		a->wire->end(a);
	build_text_end(a);
	if (a->content.over || a->thinking.over || a->blocks.over || a->echo.over)
		build_fail(a, "protocol", "the answer is too long");
	if (class && !a->terminal)
		build_fail(a, class, words);
	if (a->error.set)
		build_classify(a);
	check_calls(a);
	conclude(a);
	if (a->stop == STOP_ERROR || a->stop == STOP_TRUNCATED) {
		cut_calls(a, 0);    /* half an answer: nothing of it is run, or shown to the provider as its own */
		buf_clear(&a->blocks);
	}
}

void answer_end(struct answer *a)
{
	finish(a, NULL, NULL);
}

void answer_fail(struct answer *a, const char *class, const char *fmt, ...)
{
	char words[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(words, sizeof words, fmt, ap);
	va_end(ap);
	finish(a, class, words);
}

void answer_cut(struct answer *a)
{
	bool before = a->ended;
	finish(a, NULL, NULL);
	if (before || a->terminal)
		return;
	a->error.set = false;
	a->stop = STOP_INTERRUPTED;
}

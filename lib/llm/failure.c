/* failure.c - errors in answers: out of the bodies of many makers into one shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "llm/build.h"
#include "llm/classify.h"

static bool first_error(struct answer *a, bool in_stream)
{
	if (a->error.set)
		return false;
	a->error.set = true;
	/* an error after the head of a good answer has no HTTP status of its own */
	a->error.status = in_stream && a->status < 400 ? 0 : a->status;
	return true;
}

void build_fail(struct answer *a, const char *class, const char *what)
{
	if (!first_error(a, true))
		return;
	snprintf(a->error.class, sizeof a->error.class, "%s", class);
	buf_adds(&a->error.message, what);
}

void build_error_text(struct answer *a, const char *text, size_t n)
{
	if (!first_error(a, false))
		return;
	if (n > 32 * 1024)
		n = 32 * 1024;
	json_repair(&a->error.message, text, n);      /* UTF-8 and NUL; there are no strings in it */
}

/* FastAPI: {"detail":"..."} or {"detail":[{"msg":"..."}]} */
static bool detail(struct answer *a, const struct json *j, int v)
{
	if (build_str(&a->error.message, j, v))
		return true;
	struct json_iter it = json_iter(j, v);
	return json_type(j, v) == JSON_ARRAY && json_next(&it) &&
	       (build_str(&a->error.message, j, json_get(j, it.value, "msg")) || build_str(&a->error.message, j, it.value));
}

/* Google: details of type RetryInfo. */
static void retry_info(struct answer *a, const struct json *j, int details)
{
	for (struct json_iter it = json_iter(j, details); json_type(j, details) == JSON_ARRAY && json_next(&it);) {
		char *delay = json_dup(j, json_get(j, it.value, "retryDelay"));
		int64_t ms = delay ? retry_after_text(delay) : -1;
		if (ms > a->error.retry_after_ms)
			a->error.retry_after_ms = ms;
		free(delay);
	}
}

/* A spend limit looks like a rate limit but for one word in its details. */
static void inner(struct answer *a, const struct json *j, int v)
{
	struct answer_error *e = &a->error;
	if (!build_str(&e->type, j, json_get(j, v, "type")) && !build_str(&e->type, j, json_get(j, v, "status")))
		build_str(&e->type, j, json_get(j, v, "error_type"));
	if (!build_str(&e->code, j, json_get(j, v, "code")))
		build_str(&e->code, j, json_path(j, v, "details.error_code"));
	/* AWS's own front, before a service is reached, begins it with a capital letter */
	if (!build_str(&e->message, j, json_get(j, v, "message")) && !build_str(&e->message, j, json_get(j, v, "Message")) &&
	    !detail(a, j, json_get(j, v, "detail")))
		build_str(&e->message, j, json_get(j, v, "error"));
	build_str(&e->param, j, json_get(j, v, "param"));
	retry_info(a, j, json_get(j, v, "details"));
	build_str(&e->detail, j, json_path(j, v, "metadata.raw"));
}

void build_error(struct answer *a, const struct json *j, int v, bool in_stream)
{
	if (!first_error(a, in_stream))
		return;
	int e = json_get(j, v, "error");
	enum json_type t = json_type(j, e);
	if (t == JSON_OBJECT) {
		inner(a, j, e);
		if (a->error.code.len == 0 && json_type(j, json_get(j, v, "code")) == JSON_STRING)
			build_str(&a->error.code, j, json_get(j, v, "code"));
	} else if (json_type(j, v) == JSON_OBJECT) {
		inner(a, j, v);                          /* {"error":"words","code":..} too */
		if (t == JSON_STRING)
			build_str(&a->error.message, j, e);
	} else {
		build_str(&a->error.message, j, v);
	}
	if (a->error.message.len == 0 && json_type(j, v) == JSON_OBJECT && json_count(j, v) > 0)
		json_compact(&a->error.message, j, v);
}

/* Inside a stream an exception has no status; what each means is in the reference of Bedrock Runtime's
 * ConverseStream, where a modelStreamErrorException says to send the request again. */
static const char *exception_class(const char *name)
{
	static const struct { const char *begins, *class; } classes[] = {
		{ "internalServer", "overloaded" }, { "modelStreamError", "overloaded" }, { "modelNotReady", "overloaded" },
		{ "serviceUnavailable", "overloaded" }, { "throttling", "rate_limit" }, { "modelTimeout", "timeout" },
		{ "validation", "invalid_request" }, { "accessDenied", "auth" }, { "resourceNotFound", "model_not_found" },
	};
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (strncasecmp(name, classes[i].begins, strlen(classes[i].begins)) == 0)
			return classes[i].class;
	return "";
}

void build_exception(struct answer *a, const char *name, const char *data, size_t len)
{
	struct buf clean;
	if (a->error.set)
		return;
	buf_init(&clean, BUF_NOLIMIT);
	json_repair(&clean, data, len);
	if (json_parse(&a->json, clean.p, clean.len, NULL) == 0) {
		build_error(a, &a->json, 0, true);
	} else if (first_error(a, true)) {
		buf_add(&a->error.message, clean.p, clean.len < 32 * 1024 ? clean.len : 32 * 1024);
	}
	buf_clear(&a->error.type);
	json_repair(&a->error.type, name, strlen(name));
	snprintf(a->error.class, sizeof a->error.class, "%s", exception_class(name));
	if (strcmp(a->error.class, "invalid_request") == 0)      /* too long is one, too */
		snprintf(a->error.class, sizeof a->error.class, "%s", classify(400, a->error.type.p, "", a->error.message.p));
	buf_free(&clean);
}

/* What a gateway quotes of the provider behind it tells more than its own "Provider returned error": appends that one's
 * message, and takes its type and code where there is none but a number. Nothing where it quotes no JSON. */
static void gateway_detail(struct answer_error *e, struct buf *message)
{
	struct json j;
	int inside;

	if (e->detail.len == 0)
		return;
	memset(&j, 0, sizeof j);
	if (json_parse(&j, e->detail.p, e->detail.len, NULL) == 0) {
		inside = json_get(&j, 0, "error");
		if (json_type(&j, inside) != JSON_OBJECT)
			inside = 0;
		build_str(message, &j, json_get(&j, inside, "message"));
		if (e->type.len == 0 && !build_str(&e->type, &j, json_get(&j, inside, "type")))
			build_str(&e->type, &j, json_get(&j, inside, "status"));
		if (strspn(e->code.p, "0123456789") == e->code.len && json_type(&j, json_get(&j, inside, "code")) == JSON_STRING) {
			buf_clear(&e->code);
			build_str(&e->code, &j, json_get(&j, inside, "code"));
		}
	} else {
		buf_add(message, e->detail.p, e->detail.len);
	}
	json_free(&j);
}

void build_classify(struct answer *a)
{
	struct answer_error *e = &a->error;
	if (a->status >= 400 && a->header_retry_ms > e->retry_after_ms)
		e->retry_after_ms = a->header_retry_ms;  /* Anthropic sends it with good answers too */
	if (e->class[0])
		return;
	int status = e->status;
	if (status < 400) {                              /* a gateway hands on the status behind it as the code */
		char *end;
		long code = strtol(e->code.p, &end, 10);
		status = e->code.len == 3 && *end == 0 && code >= 400 && code < 600 ? (int)code : 0;
	}
	struct buf all;
	buf_init(&all, BUF_NOLIMIT);
	gateway_detail(e, &all);
	if (all.len == 0)
		buf_adds(&all, e->message.p);
	const char *class = classify(status, e->type.p, e->code.p, all.p);
	snprintf(e->class, sizeof e->class, "%s", class);
	if (error_class(class)->retry) {
		int64_t ms = retry_after_text(all.p);
		if (ms > e->retry_after_ms)
			e->retry_after_ms = ms;
	}
	buf_free(&all);
}

bool answer_retryable(const struct answer *a)
{
	if (a->stop == STOP_TRUNCATED)
		return true;
	if (!a->error.set)
		return false;
	/* Groq, Gemini, Bedrock: the model wrote a call that is none; the next attempt is likely to be better */
	static const char *const malformed[] = { "tool_use_failed", "MALFORMED_FUNCTION_CALL", "malformed_tool_use",
		"malformed_model_output" };
	for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
		if (strcmp(a->error.code.p, malformed[i]) == 0)
			return true;
	const char *class = a->error.class;
	if (strcmp(class, "billing") == 0 || strcmp(class, "overflow") == 0 || strcmp(class, "auth") == 0)
		return false;
	return a->should_retry >= 0 && a->status >= 400 ? a->should_retry : error_class(class)->retry;
}

/* Tags and runs of white space become one space: error pages are HTML as often as not. */
static void plain(struct buf *out, const char *s, size_t n)
{
	bool html = n > 0 && s[strspn(s, " \t\r\n")] == '<', tag = false, space = false;
	const char *title = html ? strcasestr(s, "<title>") : NULL, *end = title ? strcasestr(title, "</title>") : NULL;
	if (end) {
		s = title;
		n = (size_t)(end - title);
	}
	size_t start = out->len;
	for (size_t i = 0; i < n && out->len - start < 600; i++) {
		if (html && s[i] == '<')
			tag = true;
		if (tag || (unsigned char)s[i] <= ' ')
			space = true;
		else {
			if (space && out->len > start)
				buf_addc(out, ' ');
			space = false;
			buf_addc(out, s[i]);
		}
		if (s[i] == '>')
			tag = false;
	}
	while (out->len > start && ((unsigned char)out->p[out->len - 1] & 0xc0) == 0x80 && out->len - start >= 600)
		buf_truncate(out, out->len - 1);
}

void answer_words(const struct answer *a, struct buf *out)
{
	const struct answer_error *e = &a->error;
	if (a->stop == STOP_TRUNCATED && !e->set)
		buf_adds(out, "the answer was cut off: the connection ended before the provider said that it is complete");
	if (!e->set)
		return;
	size_t start = out->len;
	plain(out, e->message.p, e->message.len);
	if (e->detail.len > 0) {
		buf_adds(out, ": ");
		plain(out, e->detail.p, e->detail.len);
	}
	if (out->len == start)
		buf_adds(out, "the provider gave no reason");
	if (e->status >= 400)
		buf_addf(out, " (HTTP %d)", e->status);
	const char *advice = error_class(e->class)->advice;
	if (*advice)
		buf_addf(out, "; %s", advice);
}

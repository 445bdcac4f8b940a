#include "llm/classify.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"

static const struct error_class classes[] = {
	{ "auth", ST_AUTH, false, true, "check the API key of this provider" },
	{ "billing", ST_AUTH, false, true, "the account has no credit or has reached its spending limit" },
	{ "rate_limit", ST_TEMP, true, true, "" },
	{ "overflow", ST_LIMIT, false, false, "" },
	{ "budget", ST_LIMIT, false, false, "" },
	{ "model_not_found", ST_NOINPUT, false, true, "check the model's name and the base URL" },
	{ "overloaded", ST_TEMP, true, true, "" },
	{ "timeout", ST_UNAVAILABLE, true, true, "" },
	{ "connection", ST_UNAVAILABLE, true, true, "" },
	{ "invalid_request", ST_FAILED, false, false, "" },
	{ "refused", ST_REFUSED, false, false, "" },
	{ "truncated", ST_PROTOCOL, true, true, "" },
	{ "protocol", ST_PROTOCOL, false, true, "" },
	{ "config", ST_CONFIG, false, false, "" },
	{ "input", ST_DATA, false, false, "" },
	{ "io", ST_IO, false, false, "" },
	{ "internal", ST_BUG, false, false, "" },
	{ "unknown", ST_FAILED, false, true, "" },
	{ NULL, 0, false, false, NULL },
};

const struct error_class *error_classes(void)
{
	return classes;
}

const struct error_class *error_class(const char *name)
{
	const struct error_class *c = classes;
	while (c[1].name && strcmp(c->name, name) != 0)
		c++;
	return c;
}

int error_status(const char *name, int http, const char *code)
{
	const struct error_class *c = error_class(name);

	if (c->status == ST_TEMP && http >= 500 && http != 529 && !strcasestr(code, "overloaded"))
		return ST_UNAVAILABLE;
	return c->status;
}

static bool has(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

static bool begins(const char *text, const char *const *words)
{
	text += strspn(text, " \t\r\n");
	for (; *words; words++)
		if (strncasecmp(text, *words, strlen(*words)) == 0)
			return true;
	return false;
}

#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }
#define SAID 320            /* a provider's own sentence comes first; what follows may be anybody's */

static bool word_byte(char c)
{
	return isalnum((unsigned char)c) || (c & 0x80);
}

/* What the provider itself says: the beginning of its message without what it quotes, since that may be the user's words.
 * A quotation mark opens after white space or punctuation, so that the apostrophe of "doesn't" does not. */
static void own_words(char out[SAID + 1], const char *m)
{
	size_t n = 0;
	char before = ' ';

	while (*m && n < SAID) {
		const char *end = NULL;

		if ((*m == '"' || *m == '\'' || *m == '`') && !word_byte(before))
			for (end = strchr(m + 1, *m); end && word_byte(end[1]);)
				end = strchr(end + 1, *m);
		if (end) {
			out[n++] = '~';
			m = end + 1;
			before = '~';
		} else {
			before = out[n++] = *m++;
		}
	}
	out[n] = 0;
}

/* What each provider says when the prompt does not fit. */
static bool overflows(int status, const char *type, const char *code, const char *m)
{
	if (has(code, WORDS("context_length_exceeded", "too_many_tokens", "context_too_long")) ||
	    has(type, WORDS("too_many_prompt_tokens", "too_many_tokens", "request_too_large", "exceed_context_size")))
		return true;
	/* more than a minute's allowance at once: no wait helps (OpenAI 429, Groq 413) */
	if (begins(m, WORDS("request too large for")))
		return true;
	if (status >= 500 || strcasestr(m, "per minute") || strcasestr(m, "string too long") ||
	    strstr(code, "string_above_max"))
		return false;
	if (status == 413)
		return true;
	if (has(m, WORDS("prompt is too long", "prompt too long", "input is too long", "messages is too long",
	                 "context length", "context window", "maximum context", "context size", "context limit",
	                 "too many tokens", "too many prompt tokens", "too many input tokens", "input tokens exceeded",
	                 "exceeds the context", "exceed the context", "maximum prompt length")))
		return true;
	return (strcasestr(m, "input token") || strcasestr(m, "prompt token") || strcasestr(m, "prompt length")) &&
	       strcasestr(m, "exceed");
}

/* Codes: OpenAI, Anthropic, Moonshot, DashScope (Arrearage), Zhipu (1113), MiniMax (1008). */
static bool no_money(int status, const char *type, const char *code, const char *m)
{
	static const char *const words[] = { "insufficient_quota", "billing", "spend_limit", "insufficient_balance",
		"insufficient_credits", "credit_balance", "exceeded_current_quota", "arrearage", "payment_required", NULL };

	if (status == 402 || has(type, words) || has(code, words) || is_one_of(code, WORDS("1113", "1008")))
		return true;
	return (status < 500) && has(m, WORDS("credit balance is too low", "insufficient credit", "insufficient balance",
	                    "spend limit", "spending limit", "out of credits", "account is not active"));
}

static bool wrong_key(int status, const char *type, const char *code, const char *m)
{
	static const char *const words[] = { "authentication_error", "invalid_api_key", "invalidapikey", "permission_error",
		"permission_denied", "unauthenticated", "unauthorized", "AccessDenied", "ExpiredToken", "UnrecognizedClient",
		"InvalidSignature", "MissingAuthentication", "IncompleteSignature", NULL };

	if (status == 401 || status == 403 || has(type, words) || has(code, words))
		return true;
	return status < 500 && begins(m, WORDS("incorrect api key", "invalid api key", "api key not valid",
	                                       "api key not found", "api key expired", "invalid x-api-key",
	                                       "unauthorized", "no api key", "missing api key"));
}

static bool no_such_model(int status, const char *type, const char *code, const char *m)
{
	static const char *const words[] = { "model_not_found", "modelnotfound", "not_found_error", "notfound", "model_not_available",
		"unknown_model", "invalid_model", "model_decommissioned", "modelnotsupported", NULL };

	if (status == 404 || status == 410 || has(type, words) || has(code, words) || is_one_of(type, WORDS("NOT_FOUND")))
		return true;
	return (status < 400 || status == 400 || status == 422) &&
	       (begins(m, WORDS("the provided model identifier is invalid", "model not exist", "model not found",
	                        "no such model", "unknown model", "invalid model", "the model ~ does not exist",
	                        "model ~ not found", "model ~ does not exist")) ||
	        has(m, WORDS("is not a valid model id")));
}

/* Before the words of a message are looked at, what the provider says in types and codes, which are its own. */
static const char *by_words(int status, const char *type, const char *code, const char *m)
{
	static const char *const refused[] = { "content_filter", "content_policy", "ResponsibleAI", "data_inspection",
		"invalid_prompt", "policy_violation", "safety", NULL };
	static const char *const rate[] = { "rate_limit", "ratelimit", "throttl", "too_many_requests", "toomanyrequests",
		"resource_exhausted", "servicequotaexceeded", NULL };
	static const char *const busy[] = { "overloaded", "unavailable", "server_error", "api_error", "server_busy",
		"capacity", "internal_error", "internalserver", "insufficient_system_resource", "modelnotready",
		"modelstreamerror", "modelerror", NULL };
	static const char *const slow[] = { "timeout", "deadline_exceeded", NULL };

	if (overflows(status, type, code, m))
		return "overflow";
	if (has(type, refused) || has(code, refused) || (status == 403 && strcasestr(m, "flagged")))
		return "refused";
	if (no_money(status, type, code, m))
		return "billing";
	if (has(type, WORDS("modelnotready")) || has(code, WORDS("modelnotready")) || status == 529)
		return "overloaded";
	if (status == 429)
		return "rate_limit";
	if (wrong_key(status, type, code, m))
		return "auth";
	if (has(type, rate) || has(code, rate))
		return "rate_limit";
	if (no_such_model(status, type, code, m))
		return "model_not_found";
	if (has(type, slow) || has(code, slow))
		return "timeout";
	if ((status < 400 || status == 424) && (has(type, busy) || has(code, busy) || strcasecmp(type, "INTERNAL") == 0))
		return "overloaded";
	return NULL;
}

/* An error inside a good answer that has neither type nor code: only its first words can tell. */
static const char *by_beginning(const char *m)
{
	if (begins(m, WORDS("rate limit", "too many requests", "throttling")))
		return "rate_limit";
	if (begins(m, WORDS("overloaded", "the model is overloaded", "model is overloaded", "service unavailable",
	                    "internal server error", "server is busy", "server busy", "the server is busy", "upstream error")))
		return "overloaded";
	return NULL;
}

const char *classify(int status, const char *type, const char *code, const char *message)
{
	char own[SAID + 1];
	const char *class;

	own_words(own, message);
	class = by_words(status, type, code, own);
	if (!class && status < 400 && !*type && !*code)
		class = by_beginning(own);
	if (class)
		return class;
	switch (status) {
	case 408: case 504: case 524:
		return "timeout";
	case 409:                    /* a lock that another request holds: all official clients try again */
		return "overloaded";
	}
	if (status >= 500)
		return "overloaded";
	if (status >= 400 || strcasestr(type, "invalid") || strcasestr(code, "invalid"))
		return "invalid_request";
	return "unknown";
}

static int64_t to_ms(double value, double factor)
{
	double ms = value * factor;
	if (!(ms >= 0))
		return -1;
	return ms > 1e12 ? (int64_t)1e12 : (int64_t)(ms + 0.5);
}

static int64_t number_ms(const char *s, double factor)
{
	char *end;
	double d = strtod(s, &end);
	if (end == s || end[strspn(end, " \t")] || !isdigit((unsigned char)s[strspn(s, " \t+.")]))
		return -1;
	return to_ms(d, factor);
}

int64_t retry_after_headers(const char *retry_after, const char *retry_after_ms, int64_t now)
{
	int64_t ms = retry_after_ms ? number_ms(retry_after_ms, 1) : -1;
	int64_t other = -1;
	if (retry_after) {
		struct tm tm;
		memset(&tm, 0, sizeof tm);
		other = number_ms(retry_after, 1000);
		/* RFC 9110 section 5.6.7 */
		if (other < 0 && strptime(retry_after, "%a, %d %b %Y %H:%M:%S GMT", &tm))
			other = (int64_t)timegm(&tm) > now ? ((int64_t)timegm(&tm) - now) * 1000 : 0;
	}
	return ms > other ? ms : other;
}

/* "1m2.5s", "20ms", "11.054s", "5 seconds": as long as number and unit follow each other. */
static int64_t duration(const char *s)
{
	static const struct { const char *unit; double ms; } units[] = {
		{ "milliseconds", 1 }, { "ms", 1 }, { "seconds", 1e3 }, { "second", 1e3 }, { "secs", 1e3 }, { "sec", 1e3 },
		{ "s", 1e3 }, { "minutes", 6e4 }, { "minute", 6e4 }, { "min", 6e4 }, { "m", 6e4 }, { "hours", 36e5 },
		{ "hour", 36e5 }, { "h", 36e5 },
	};
	int64_t sum = -1;
	for (;;) {
		char *end;
		s += strspn(s, " ");
		if (!isdigit((unsigned char)*s))
			return sum;
		double d = strtod(s, &end);
		end += strspn(end, " ");
		size_t i = 0;
		while (i < sizeof units / sizeof *units && strncmp(end, units[i].unit, strlen(units[i].unit)) != 0)
			i++;
		if (i == sizeof units / sizeof *units)
			return sum;
		int64_t ms = to_ms(d, units[i].ms);
		sum = (sum < 0 ? 0 : sum) + ms;
		s = end + strlen(units[i].unit);
	}
}

int64_t retry_after_text(const char *text)
{
	static const char *const before[] = { "try again in ", "retry in ", "retry after ", "try again after ", NULL };
	int64_t ms = duration(text);
	for (size_t i = 0; ms < 0 && before[i]; i++) {
		const char *at = strcasestr(text, before[i]);
		if (at)
			ms = duration(at + strlen(before[i]));
	}
	return ms;
}

#include <stdlib.h>

#include "llm/answer.h"
#include "llm/classify.h"
#include "tap.h"

#define CHUNK(delta) "data: {\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define FINISH(why) "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why "\"}]}\n\n"

static struct answer a;
static struct buf made;

static void start(const char *wire, int status, const struct answer_sink *sink)
{
	if (a.wire)
		answer_free(&a);
	answer_init(&a, wire_find(wire), sink, NULL);
	answer_head(&a, status);
}

static int feed(const char *s)
{
	return answer_feed(&a, s, strlen(s));
}

static const char *line(void)
{
	buf_clear(&made);
	struct jw w = jw_begin(&made);
	jw_obj(&w);
	bool any = answer_write(&a, &w, "p/m", -1);
	jw_end(&w);
	return any ? made.p : "none";
}

static const char *words(void)
{
	buf_clear(&made);
	answer_words(&a, &made);
	return made.p;
}

static void writes(void)
{
	start("openai-chat", 200, NULL);
	feed(CHUNK("{\"content\":\"a\\u00e4\"}"));
	feed(CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"function\":{\"name\":\"f\","
	    "\"arguments\":\"{ \\\"x\\\" : 1.50 }\"},"
	           "\"extra_content\":{\"s\": 1}}]}"));
	feed(CHUNK("{\"tool_calls\":[{\"index\":1,\"id\":\"j\",\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"y\"}}]}"));
	feed(FINISH("tool_calls"));
	answer_end(&a);
	IS(line(), "{\"content\":\"a\xc3\xa4\",\"tool_calls\":[{\"id\":\"i\",\"name\":\"f\",\"input\":{\"x\":1.50},"
	    "\"extra_content\":{\"s\":1}},"
	   "{\"id\":\"j\",\"name\":\"g\",\"input\":\"{\\\"y\"}],\"model\":\"p/m\",\"stop_reason\":\"tool_use\","
	       "\"usage\":{\"input\":null,"
	   "\"cache_read\":null,\"cache_write\":null,\"output\":null,\"reasoning\":null,"
	       "\"cost_usd\":null}}", "assistant line");
	OK(a.calls[0].ok && !a.calls[1].ok, "broken arguments are not ok, their text is kept");
	static const char *const bad[] = { "[]", "3", "\\\"x\\\"", "true", "{} {}", "{\\\"a\\\":1,\\\"a\\\":2}" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[256];
		start("openai-chat", 200, NULL);
		snprintf(text, sizeof text, CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"function\":{\"name\":\"f\","
		    "\"arguments\":\"%s\"}}]}"), bad[i]);
		feed(text);
		feed(FINISH("tool_calls"));
		answer_end(&a);
		OK(a.ncalls == 1 && !a.calls[0].ok && a.stop == STOP_TOOL_USE, "arguments %s are not ok", bad[i]);
	}
	start("openai-chat", 200, NULL);
	feed(FINISH("stop"));
	answer_end(&a);
	IS(line(), "none", "no line without content");
	OK(a.stop == STOP_END_TURN && !a.heard, "but an end");
}

static void blocks(void)
{
	start("anthropic", 200, NULL);
	feed("data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"usage\":{}}}\n\n"
	     "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\","
	         "\"thinking\":\"\",\"signature\":\"\"}}\n\n"
	     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
	         "\"thinking\":\"so\\n\"}}\n\n"
	     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
	         "\"signature\":\"S1/+=\"}}\n\n"
	     "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"server_tool_use\","
	         "\"id\":\"s\",\"name\":\"web\",\"input\":{}}}\n\n"
	     "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
	         "\"partial_json\":\"{\\\"q\\\":\"}}\n\n"
	     "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
	         "\"partial_json\":\"1}\"}}\n\n"
	     "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"web_result\","
	         "\"data\": [1, 2]}}\n\n"
	     "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	     "data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
	     "data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"citations_delta\","
	         "\"citation\":{\"url\":\"u\"}}}\n\n"
	     "data: {\"type\":\"content_block_start\",\"index\":4,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	     "data: {\"type\":\"content_block_start\",\"index\":5,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\","
	         "\"name\":\"f\",\"input\":{}}}\n\n"
	     "data: {\"type\":\"content_block_delta\",\"index\":5,\"delta\":{\"type\":\"input_json_delta\","
	         "\"partial_json\":\"{\\\"x\\\": 2}\"}}\n\n"
	     "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},"
	         "\"usage\":{\"output_tokens\":3}}\n\n"
	     "data: {\"type\":\"message_stop\"}\n\n");
	answer_end(&a);
	IS(a.blocks.p, "[{\"type\":\"thinking\",\"thinking\":\"so\\n\",\"signature\":\"S1/+=\"},"
	   "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web\",\"input\":{\"q\":1}},{\"type\":\"web_result\","
	       "\"data\":[1,2]},"
	   "{\"type\":\"text\",\"text\":\"hi\",\"citations\":[{\"url\":\"u\"}]},"
	   "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"x\":2}}]", "the provider's blocks,"
	       " empty text left out");
	IS(a.thinking.p, "so\n", "thinking");
	OK(a.usage.output == 3 && a.usage.input == -1, "usage");
	OK(strstr(line(), ",\"blocks\":{\"maker\":\"p/m\",\"list\":[{\"type\":\"thinking\""), "with their maker");
	start("anthropic", 200, NULL);
	feed("{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"stop_reason\":\"end_turn\"}");
	answer_end(&a);
	OK(a.blocks.len == 0 && a.stop == STOP_END_TURN, "no blocks where text says it all");
}

static void ends(void)
{
	start("openai-chat", 200, NULL);
	feed(CHUNK("{\"content\":\"par\"}"));
	answer_fail(&a, "connection", "reset by %s", "peer");
	OK(a.stop == STOP_ERROR && strcmp(a.error.class, "connection") == 0 && answer_retryable(&a), "connection lost");
	IS(a.content.p, "par", "what came is kept");
	IS(words(), "reset by peer", "in words");
	start("openai-chat", 200, NULL);
	feed(CHUNK("{\"content\":\"all\"}") FINISH("stop"));
	answer_fail(&a, "connection", "reset");
	OK(a.stop == STOP_END_TURN && !a.error.set, "lost after the end: the answer stands");
	start("openai-chat", 200, NULL);
	feed(CHUNK("{\"content\":\"par\"}") CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"i\","
	    "\"function\":{\"name\":\"f\"}}]}"));
	answer_cut(&a);
	OK(a.stop == STOP_INTERRUPTED && a.ncalls == 0 && !a.error.set, "interrupted: calls are dropped");
	start("openai-chat", 200, NULL);
	feed(CHUNK("{\"content\":\"par\"}"));
	answer_end(&a);
	OK(a.stop == STOP_TRUNCATED && answer_retryable(&a), "cut off without a word");
	OK(strstr(words(), "cut off"), "in words");
	OK(feed("x") < 0, "nothing can come afterwards");
	start("openai-chat", 200, NULL);
	feed(CHUNK("{\"content\":\"a\"}") "data: {broken\n\n");
	OK(feed(CHUNK("{\"content\":\"b\"}")) < 0, "a broken event in the middle: hopeless");
	answer_end(&a);
	IS(a.error.class, "protocol", "class protocol");
	start("openai-chat", 200, NULL);
	feed("<html>hello</html>");
	answer_end(&a);
	OK(a.stop == STOP_ERROR && strcmp(a.error.class, "protocol") == 0, "a web page is no answer");
	start("openai-chat", 200, NULL);
	feed("{\"choices\":[{\"message\":{\"content\":\"ha");
	answer_end(&a);
	OK(a.stop == STOP_TRUNCATED, "half a JSON body");
	start("anthropic", 200, NULL);
	answer_end(&a);
	OK(a.stop == STOP_TRUNCATED, "nothing at all");
	start("openai-chat", 200, NULL);
	feed("event: error\ndata: out of order\n\n");
	answer_end(&a);
	IS(words(), "out of order", "an error in plain words");
	start("openai-chat", 502, NULL);
	feed("<html><head><title>Bad\n Gateway</title></head><body>x</body></html>");
	answer_end(&a);
	IS(words(), "Bad Gateway (HTTP 502)", "an error page in words");
}

static void many_calls(void)
{
	start("openai-chat", 200, NULL);
	int r = 0, n = 0;
	for (; r == 0 && n < 2000; n++) {
		char text[256];
		snprintf(text, sizeof text, CHUNK("{\"tool_calls\":[{\"index\":%d,\"id\":\"i%d\",\"function\":{\"name\":\"f\","
		    "\"arguments\":\"{}\"}}]}"), n, n);
		r = feed(text);
	}
	answer_end(&a);
	OK(n == ANSWER_CALLS + 1 && strcmp(a.error.class, "protocol") == 0 && a.ncalls == 0, "too many calls");
}

static void too_long(void)
{
	size_t n = (size_t)1 << 20;
	char *chunk = malloc(n + 100);
	int r = 0, pieces = 0;
	strcpy(chunk, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
	size_t at = strlen(chunk);
	memset(chunk + at, 'x', n);
	strcpy(chunk + at + n, "\"}}]}\n\n");
	start("openai-chat", 200, NULL);
	for (; r == 0 && pieces < 80; pieces++)
		r = feed(chunk);
	answer_end(&a);
	OK(r < 0 && pieces == 65 && strcmp(a.error.class, "protocol") == 0, "an endless answer is refused");
	free(chunk);
}

static void rename_id(void *arg, struct buf *id)
{
	(void)arg;
	if (strcmp(id->p, "used") == 0) {
		buf_clear(id);
		buf_adds(id, "fresh");
	}
}

static void told(void *arg, int index, const char *id, const char *name, const char *args, size_t n)
{
	(void)arg;
	buf_addf(&made, "%d,%s,%s,%.*s;", index, id ? id : "-", name ? name : "-", (int)n, args);
}

static void calls(void)
{
	static const struct answer_sink sink = { .call = told, .rename = rename_id };
	buf_clear(&made);
	start("openai-chat", 200, &sink);
	feed(CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"used\"}]}"));
	feed(CHUNK("{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}"));
	feed(CHUNK("{\"tool_calls\":[{\"index\":1,\"id\":\"fresh\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}"));
	feed(CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"used\",\"function\":{\"arguments\":\"}\"}}]}"));
	IS(made.p, "0,fresh,f,;0,-,-,{;1,call_2,g,;1,-,-,{};0,-,-,};", "pieces as they are heard");
	feed(FINISH("tool_calls"));
	answer_end(&a);
	OK(a.ncalls == 2 && a.calls[0].ok && a.heard, "two calls");
	IS(a.calls[0].id.p, "fresh", "a used id is changed");
	IS(a.calls[1].id.p, "call_2", "and never given twice");
}

static void classes(void)
{
	static const struct { int status; const char *type, *code, *message, *want; } t[] = {
		{ 401, "", "", "", "auth" }, { 400, "invalid-argument", "", "Incorrect API key provided: x", "auth" },
		{ 403, "", "", "not for you", "auth" }, { 402, "", "", "", "billing" },
		{ 429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota", "billing" },
		{ 429, "rate_limit_error", "enforced_spend_limit_reached", "", "billing" },
		{ 429, "RESOURCE_EXHAUSTED", "429", "You exceeded your current quota,"
		    " check plan and billing details", "rate_limit" },
		{ 429, "", "", "", "rate_limit" }, { 400, "ThrottlingException", "", "", "rate_limit" },
		{ 429, "rate_limit_error", "", "would exceed 30,000 input tokens per minute", "rate_limit" },
		{ 529, "overloaded_error", "", "", "overloaded" }, { 0, "overloaded_error", "", "", "overloaded" },
		{ 500, "", "", "", "overloaded" }, { 503, "", "", "", "overloaded" }, { 0, "api_error", "", "", "overloaded" },
		{ 409, "", "", "", "overloaded" }, { 408, "", "", "", "timeout" }, { 504, "", "", "", "timeout" },
		{ 0, "timeout_error", "", "", "timeout" }, { 404, "", "", "", "model_not_found" },
		{ 400, "", "model_not_found", "", "model_not_found" },
		{ 400, "invalid_request_error", "", "prompt is too long: 250000 tokens > 200000 maximum", "overflow" },
		{ 400, "", "context_length_exceeded", "", "overflow" }, { 413, "request_too_large", "", "", "overflow" },
		{ 429, "", "", "the maximum context length is 5 tokens", "overflow" },
		{ 400, "invalid_request_error", "string_above_max_length", "id: string too long", "invalid_request" },
		{ 400, "invalid_request_error", "", "bad", "invalid_request" }, { 422, "", "", "", "invalid_request" },
		{ 0, "invalid_request_error", "", "", "invalid_request" },
		{ 400, "", "content_filter", "", "refused" }, { 403, "", "", "your input was flagged", "refused" },
		{ 0, "", "", "what", "unknown" },
	};
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		IS(classify(t[i].status, t[i].type, t[i].code, t[i].message), t[i].want, "%d %s %s %s", t[i].status, t[i].type,
		   t[i].code, t[i].message);
	for (const struct error_class *c = error_classes(); c->name; c++)
		OK(error_class(c->name) == c && c->status > 0 && c->advice, "class %s", c->name);
	IS(error_class("no such")->name, "unknown", "unknown class");
}

static void delays(void)
{
	OK(retry_after_headers("2", NULL, 0) == 2000 && retry_after_headers("0.5", NULL, 0) == 500, "seconds");
	OK(retry_after_headers("1", "0", 0) == 1000 && retry_after_headers("1", "1500.4", 0) == 1500, "the larger one");
	OK(retry_after_headers("Sun, 06 Nov 1994 08:49:37 GMT", NULL, 784111770) == 7000, "a date");
	OK(retry_after_headers("Sun, 06 Nov 1994 08:49:37 GMT", NULL, 784111999) == 0, "a date that has passed");
	OK(retry_after_headers("soon", NULL, 0) == -1 && retry_after_headers("-1", NULL, 0) == -1 &&
	   retry_after_headers("inf", "nan", 0) == -1 && retry_after_headers(NULL, NULL, 0) == -1, "nonsense");
	OK(retry_after_text("48s") == 48000 && retry_after_text("1m2.5s") == 62500 && retry_after_text("20ms") == 20, "du"
	    "rations");
	OK(retry_after_text("Please try again in 11.054s. Visit") == 11054 && retry_after_text("retry after 5 seconds"
	    "") == 5000 &&
	   retry_after_text("Please retry in 1h2m3s") == 3723000, "in sentences");
	OK(retry_after_text("30 requests") == -1 && retry_after_text("") == -1, "no duration");
	OK(overflow_limit("maximum context length is 8192 tokens. However") == 8192 &&
	   overflow_limit("prompt is too long: 250000 tokens > 200,000 maximum") == 200000 && overflow_limit("too long"
	       "") == 0, "limits");
}

static void headers(void)
{
	start("openai-chat", 429, NULL);
	answer_header(&a, "Retry-After", "1");
	answer_header(&a, "RETRY-AFTER-MS", "0");
	answer_header(&a, "x-request-id", "r1");
	feed("{\"error\":{\"message\":\"slow, try again in 3s\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\","
	    "\"param\":\"p\"}}");
	answer_end(&a);
	OK(a.error.retry_after_ms == 3000 && answer_retryable(&a) && strcmp(a.request_id.p, "r1") == 0, "the longest wait"
	    " holds");
	OK(strcmp(a.error.param.p, "p") == 0 && a.error.status == 429, "param, status");
	start("openai-chat", 429, NULL);
	answer_header(&a, "x-should-retry", "false");
	answer_end(&a);
	OK(!answer_retryable(&a), "x-should-retry: false");
	start("openai-chat", 400, NULL);
	answer_header(&a, "x-should-retry", "true");
	answer_end(&a);
	OK(answer_retryable(&a), "x-should-retry: true");
	start("openai-chat", 402, NULL);
	answer_header(&a, "x-should-retry", "true");
	answer_end(&a);
	OK(!answer_retryable(&a), "but never without money");
	start("anthropic", 200, NULL);
	answer_header(&a, "retry-after", "60");
	feed("data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n");
	answer_end(&a);
	OK(a.error.retry_after_ms == -1 && answer_retryable(&a), "retry-after of a good head means nothing");
	start("openai-chat", 400, NULL);
	feed("{\"error\":{\"message\":\"no call\",\"code\":\"tool_use_failed\"}}");
	answer_end(&a);
	OK(answer_retryable(&a), "a call the model garbled is worth another try");
}

/* A server that sends nothing but blanks: they are not kept, and so not looked at again with each read. */
static void blanks(void)
{
	static char space[4096];
	memset(space, ' ', sizeof space - 1);
	start("openai-chat", 200, NULL);
	for (int i = 0; i < 1000; i++)
		feed(space);
	OK(a.body.len == 0, "blanks before an answer are not kept");
	feed("{\"choices\":[{\"message\":{\"content\":\"at last\"},\"finish_reason\":\"stop\"}]}");
	answer_end(&a);
	IS(a.content.p, "at last", "and what follows them is the answer");
}

int main(void)
{
	buf_init(&made, BUF_NOLIMIT);
	writes();
	blocks();
	ends();
	many_calls();
	too_long();
	calls();
	classes();
	delays();
	headers();
	blanks();
	answer_free(&a);
	buf_free(&made);
	return END();
}

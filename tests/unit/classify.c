/* classify.c - errors of every maker, through the whole of an answer, to their class; words of users are not read. */
#include <stdlib.h>

#include "base/status.h"
#include "llm/answer.h"
#include "llm/classify.h"
#include "tap.h"

static const struct {
	const char *name;
	int status;
	const char *body, *class;
	long retry_after_ms;   /* -1 none */
} cases[] = {
	/* Anthropic */
	{"anthropic 400", 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
		"\"messages: at least one\"}}", "invalid_request", -1},
	{"anthropic 401", 401, "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":"
		"\"invalid x-api-key\"}}", "auth", -1},
	{"anthropic credit", 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
		"\"message\":\"Your credit balance is too low to access the API\"}}", "billing", -1},
	{"anthropic 402", 402, "{\"type\":\"error\",\"error\":{\"type\":\"billing_error\",\"message\":"
		"\"pay\"}}", "billing", -1},
	{"anthropic 403", 403, "{\"type\":\"error\",\"error\":{\"type\":\"permission_error\",\"message\":"
		"\"no\"}}", "auth", -1},
	{"anthropic 404", 404, "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model:"
		" claude-z\"}}", "model_not_found", -1},
	{"anthropic 413", 413, "{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\",\"message\":"
		"\"Request exceeds the maximum size\"}}", "overflow", -1},
	{"anthropic long", 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
		"\"prompt is too long: 210000 tokens > 200000 maximum\"}}", "overflow", -1},
	{"anthropic 429", 429, "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"30,"
		"000 input tokens per minute exceeded\"}}", "rate_limit", -1},
	{"anthropic spend", 429, "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":"
		"\"limit\",\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}}}", "billing", -1},
	{"anthropic 504", 504, "{\"type\":\"error\",\"error\":{\"type\":\"timeout_error\",\"message\":"
		"\"slow\"}}", "timeout", -1},
	{"anthropic 529", 529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":"
		"\"Overloaded\"}}", "overloaded", -1},
	/* OpenAI and those like it */
	{"openai quota", 429, "{\"error\":{\"message\":\"You exceeded your current quota\",\"type\":"
		"\"insufficient_quota\",\"code\":\"insufficient_quota\"}}", "billing", -1},
	{"openai rate", 429, "{\"error\":{\"message\":\"Rate limit reached for m. Please try again in 1m2.5s.\","
		"\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", "rate_limit", 62500},
	{"openai too large", 429, "{\"error\":{\"message\":\"Request too large for gpt-x on tokens per min "
		"(TPM): Limit 30000, Requested 60000.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}",
		"overflow", -1},
	{"openai context", 400, "{\"error\":{\"message\":\"too much\",\"type\":\"invalid_request_error\","
		"\"code\":\"context_length_exceeded\"}}", "overflow", -1},
	{"openai model", 404, "{\"error\":{\"message\":\"The model `x` does not exist\",\"type\":"
		"\"invalid_request_error\",\"code\":\"model_not_found\"}}", "model_not_found", -1},
	{"openai flagged", 400, "{\"error\":{\"message\":\"flagged\",\"type\":\"invalid_request_error\","
		"\"code\":\"invalid_prompt\"}}", "refused", -1},
	{"openai 500", 500, "{\"error\":{\"message\":\"oops\",\"type\":\"server_error\"}}", "overloaded", -1},
	{"azure key", 401, "{\"error\":{\"code\":\"401\",\"message\":\"Access denied due to invalid "
		"subscription key\"}}", "auth", -1},
	{"azure filter", 400, "{\"error\":{\"code\":\"content_filter\",\"message\":\"filtered\"}}", "refused", -1},
	{"deepseek 402", 402, "{\"error\":{\"message\":\"Insufficient Balance\",\"type\":\"unknown_error\","
		"\"code\":\"invalid_request_error\"}}", "billing", -1},
	{"deepseek model", 400, "{\"error\":{\"message\":\"Model Not Exist\",\"type\":"
		"\"invalid_request_error\"}}", "model_not_found", -1},
	{"moonshot quota", 429, "{\"error\":{\"message\":\"suspended\",\"type\":"
		"\"exceeded_current_quota_error\"}}", "billing", -1},
	{"qwen arrears", 400, "{\"error\":{\"message\":\"Access denied\",\"code\":\"Arrearage\"}}", "billing", -1},
	{"zhipu balance", 429, "{\"error\":{\"code\":\"1113\",\"message\":\"no\"}}", "billing", -1},
	{"zhipu rate", 429, "{\"error\":{\"code\":\"1302\",\"message\":\"no\"}}", "rate_limit", -1},
	{"xai key", 400, "{\"code\":\"invalid-argument\",\"error\":\"Incorrect API key provided: xx\"}", "auth", -1},
	{"gemini key", 400, "{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass one.\","
		"\"status\":\"INVALID_ARGUMENT\"}}", "auth", -1},
	{"gemini rate", 429, "{\"error\":{\"code\":429,\"message\":\"You exceeded your current quota\","
		"\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"t/google.rpc.RetryInfo\",\"retryDelay\":"
		"\"48s\"}]}}", "rate_limit", 48000},
	{"gemini long", 400, "{\"error\":{\"code\":400,\"message\":\"The input token count (1100000) exceeds "
		"the maximum number of tokens allowed (1048576).\",\"status\":\"INVALID_ARGUMENT\"}}", "overflow",
		-1},
	{"gemini 504", 504, "{\"error\":{\"code\":504,\"message\":\"late\",\"status\":\"DEADLINE_EXCEEDED\"}}",
		"timeout", -1},
	{"openrouter raw", 429, "{\"error\":{\"code\":429,\"message\":\"Provider returned error\",\"metadata\":"
		"{\"raw\":\"{\\\"error\\\":{\\\"message\\\":\\\"no\\\",\\\"code\\\":\\\"insufficient_quota\\\"}}\"}}}",
		"billing", -1},
	{"openrouter model", 400, "{\"error\":{\"code\":400,\"message\":\"a/b is not a valid model ID\"}}",
		"model_not_found", -1},
	{"openrouter 200", 200, "{\"error\":{\"code\":502,\"message\":\"Upstream\"}}", "overloaded", -1},
	{"perplexity long", 400, "{\"error\":{\"message\":\"long\",\"type\":\"too_many_prompt_tokens\",\"code\":"
		"400}}", "overflow", -1},
	{"mistral 401", 401, "{\"detail\":\"Unauthorized\"}", "auth", -1},
	{"mistral 422", 422, "{\"detail\":[{\"msg\":\"Field required\"}]}", "invalid_request", -1},
	{"mistral model", 400, "{\"object\":\"error\",\"message\":\"Invalid model: x\",\"type\":"
		"\"invalid_model\",\"code\":\"1500\"}", "model_not_found", -1},
	{"cohere long", 400, "{\"message\":\"too many tokens: size limit exceeded\",\"error_type\":"
		"\"TOO_MANY_TOKENS\"}", "overflow", -1},
	{"bedrock model", 400, "{\"message\":\"The provided model identifier is invalid.\"}", "model_not_found", -1},
	{"ollama model", 404, "{\"error\":\"model 'x' not found\"}", "model_not_found", -1},
	{"groq call", 400, "{\"error\":{\"message\":\"Failed to call a function\",\"type\":"
		"\"invalid_request_error\",\"code\":\"tool_use_failed\"}}", "invalid_request", -1},
	{"html 502", 502, "<html><head><title>502 Bad Gateway</title></head></html>", "overloaded", -1},
	{"html 524", 524, "<html>timeout</html>", "timeout", -1},
	{"empty 503", 503, "", "overloaded", -1},
	{"html 413", 413, "<html>413 Request Entity Too Large</html>", "overflow", -1},
	/* what users say is not what providers say */
	{"user: author", 400, "{\"error\":{\"message\":\"Invalid value: 'the author is unauthorized, see rate "
		"limit 429'.\",\"type\":\"invalid_request_error\"}}", "invalid_request", -1},
	{"user: rate limit", 400, "{\"error\":{\"message\":\"Invalid 'messages[1].content': got \\\"rate limit "
		"exceeded, try again in 3s\\\"\",\"type\":\"invalid_request_error\"}}", "invalid_request", -1},
	{"user: key", 400, "{\"error\":{\"message\":\"Could not parse: my invalid api key was stolen\",\"type\":"
		"\"invalid_request_error\"}}", "invalid_request", -1},
	{"user: window", 400, "{\"error\":{\"message\":\"Bad input `what is a context window?` at 3\",\"type\":"
		"\"invalid_request_error\"}}", "invalid_request", -1},
	{"user: model", 400, "{\"error\":{\"message\":\"Bad input 'model not found'\",\"type\":"
		"\"invalid_request_error\"}}", "invalid_request", -1},
	{"user: apostrophe", 400, "{\"error\":{\"message\":\"It doesn't fit: this model's maximum context "
		"length is 10 tokens\"}}", "overflow", -1},
	{"user: billing", 400, "{\"error\":{\"message\":\"schema of tool 'insufficient credit' is wrong\","
		"\"type\":\"invalid_request_error\"}}", "invalid_request", -1},
};

static void one(size_t i)
{
	static const char *const wires[] = {"anthropic", "openai-chat"};
	struct answer a;

	for (size_t w = 0; w < 2; w++) {
		answer_init(&a, wire_find(wires[w]), &(struct answer_sink){.text = NULL}, NULL);
		answer_head(&a, cases[i].status);
		answer_feed(&a, cases[i].body, strlen(cases[i].body));
		answer_end(&a);
		IS(a.error.set ? a.error.class : "none", cases[i].class, "%s, %s", cases[i].name, wires[w]);
		if (cases[i].retry_after_ms >= 0)
			OK(a.error.retry_after_ms == cases[i].retry_after_ms, "%s: the delay", cases[i].name);
		answer_free(&a);
	}
}

static void figures(void)
{
	static const struct { const char *text; long limit, prompt; } c[] = {
		{"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).", 8192, 8000},
		{"maximum context length is 8192 tokens. However, you requested 2048 output tokens and your prompt contains at least 6500 input tokens", 8192, 6500},
		{"prompt is too long: 210000 tokens > 200000 maximum", 200000, 210000},
		{"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200000, 190000},
		{"The input token count (1,100,000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1100000},
		{"'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 20 input tokens", 8192, 20},
		{"the request exceeds the available context size (4096 tokens)", 4096, 0},
		{"no figures here", 0, 0}};
	static const struct { const char *text; long asked, cap; } o[] = {
		{"max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929", 200000, 64000},
		{"max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.", 200000, 16384},
		{"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 32768, 8192},
		{"max_output_tokens must be in the range [1,65537)", 100000, 65536},
		{"max_tokens is wrong", 100000, 0}};

	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		OK(overflow_limit(c[i].text) == c[i].limit, "limit in: %.40s (%ld)", c[i].text, (long)overflow_limit(c[i].text));
		OK(overflow_prompt(c[i].text) == c[i].prompt, "prompt in: %.40s (%ld)", c[i].text, (long)overflow_prompt(c[i].text));
	}
	for (size_t i = 0; i < sizeof o / sizeof *o; i++)
		OK(output_cap(o[i].text, o[i].asked) == o[i].cap, "cap in: %.40s (%ld)", o[i].text,
			(long)output_cap(o[i].text, o[i].asked));
}

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		one(i);
	figures();
	OK(error_status("overloaded", 503, "") == ST_UNAVAILABLE && error_status("overloaded", 529,
		"") == ST_TEMP, "exit statuses");
	OK(error_status("auth", 401, "") == ST_AUTH && error_status("overflow", 400, "") == ST_LIMIT, "of other "
		"classes");
	return END();
}

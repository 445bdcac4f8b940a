/* Requests of Bedrock's wires, byte for byte, and what an answer becomes in the next request. */
#include <stdlib.h>

#include "llm/answer.h"
#include "llm/convo.h"
#include "tap.h"

static struct convo c;
static struct buf body;
static struct call_options opt;

/* one grey pixel */
static const char png[] =
	"\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\001\000\000\000\001\010\000\000\000\000:~\233"
	"U\000\000\000\012IDATx\234c`\000\000\000\002\000\001H\257\244q\000\000\000\000IEND\256B`\202";
#define PNG "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
static const char pdf[] = "%PDF-1.4\n1 0 obj<</Type/Page>>endobj\ntrailer<<>>\nstartxref\n0\n%%EOF\n";

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	(void)arg;
	if (strcmp(ref, "sha256:png") == 0)
		return buf_add(bytes, png, sizeof png - 1);
	if (strcmp(ref, "sha256:pdf") == 0)
		return buf_add(bytes, pdf, sizeof pdf - 1);
	return err_set(e, 66, "no blob %s", ref);
}

static void start(const char *wire)
{
	if (c.wire)
		convo_free(&c);
	convo_init(&c, wire_find(wire), "bedrock/m");
	c.load = load;
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = -1, .stream = true, .style = STYLE_WIRE };
}

static void add(const char *line)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	if (json_parse(&j, line, strlen(line), &e) < 0 || convo_add(&c, &j, &e) < 0)
		OK(0, "%s: %s", line, e.text);
	json_free(&j);
}

static const char *request(void)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	buf_clear(&body);
	if (c.wire->body(&c, &opt, &body, &e) < 0)
		return e.text[0] ? "error" : "no body";
	if (json_parse(&j, body.p, body.len, &e) < 0)
		OK(0, "%s: %s", e.text, body.p);
	json_free(&j);
	return body.p;
}

static const char *messages(void)
{
	const char *at = strstr(request(), "\"messages\":");
	return at ? at + 11 : body.p;
}

static void talk(void)
{
	add("{\"role\":\"system\",\"content\":\"Be brief.\"}");
	add("{\"type\":\"tools\",\"tools\":[{\"name\":\"Read\",\"description\":\"Reads\",\"input_schema\":{"
	   "\"type\":\"object\",\"properties\":"
	    "{\"p\":{\"type\":\"string\"}},\"oneOf\":[]}},{\"name\":\"Now\",\"description\":\"\"}]}");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"I look\",\"tool_calls\":[{\"id\":\"t1\",\"name\":\"Read\",\"input\":{"
	   "\"p\": \"a\"}},"
	    "{\"id\":\"functions.Now:0\",\"name\":\"Now\",\"input\":\"broken\"}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"name\":\"Read\",\"content\":\"text\"}");
	add("{\"role\":\"user\",\"content\":\"and?\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"functions.Now:0\",\"name\":\"Now\",\"content\":\"\",\"is_error\":true}");
}

#define TOOLS "\"tools\":[{\"toolSpec\":{\"name\":\"Read\",\"description\":\"Reads\",\"inputSchema\":{\"json\":{" \
	   "\"type\":\"object\"," \
	"\"properties\":{\"p\":{\"type\":\"string\"}}}}}},{\"toolSpec\":{\"name\":\"Now\",\"inputSchema\":{\"json\":{" \
	   "\"type\":\"object\"," \
	"\"properties\":{}}}}}"
#define MARK ",{\"cachePoint\":{\"type\":\"default\"}}"
#define TALK(m1, m2) "[{\"role\":\"user\",\"content\":[{\"text\":\"hi\"}" m1 "]},{\"role\":\"assistant\"," \
	   "\"content\":[{\"text\":\"I look\"}," \
	"{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"Read\",\"input\":{\"p\":\"a\"}}}," \
	"{\"toolUse\":{\"toolUseId\":\"functions_Now_0_f1b136279bca\",\"name\":\"Now\",\"input\":{}}}]}," \
	"{\"role\":\"user\",\"content\":[{\"toolResult\":{\"toolUseId\":\"t1\",\"content\":[{\"text\":\"text\"}]}}," \
	"{\"toolResult\":{\"toolUseId\":\"functions_Now_0_f1b136279bca\",\"content\":[{\"text\":\"(no output)\"}]," \
	   "\"status\":\"error\"}}," \
	"{\"text\":\"and?\"}" m2 "]}]"

static void bodies(void)
{
	start("bedrock-converse");
	talk();
	IS(request(), "{\"system\":[{\"text\":\"Be brief.\"}],\"toolConfig\":{" TOOLS "]},\"messages\":" TALK("", "") "}",
	   "a conversation");
	opt.cache = true;
	opt.max_tokens = 100;
	opt.temperature = 0.5;
	opt.extra = "\"guardrailConfig\":{\"trace\":\"enabled\"}";
	IS(request(), "{\"inferenceConfig\":{\"maxTokens\":100,\"temperature\":0.5},\"guardrailConfig\":{\"trace\":\"enabled\"},"
	   "\"system\":[{\"text\":\"Be brief.\"}" MARK "],\"toolConfig\":{" TOOLS "]},\"messages\":" TALK(MARK, MARK) "}",
	   "with cache points, limits and a member of the user's");
	buf_clear(&c.system);
	OK(strstr(request(), "\"toolConfig\":{" TOOLS MARK "]}") != NULL, "without a system prompt, behind the tools");
	opt.extra = "broken";
	IS(request(), "error", "a member that is no JSON");
}

static void thoughts(void)
{
	static const struct { enum thinking_style style; int64_t tokens, max; enum effort effort; const char *want; } all[] = {
		{ STYLE_WIRE, 2000, 0, EFFORT_UNSAID, "{\"inferenceConfig\":{\"maxTokens\":10192},\"additionalModelRequestFields\":"
			"{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}}," },
		{ STYLE_BUDGET, -1, 3000, EFFORT_MEDIUM, "{\"inferenceConfig\":{\"maxTokens\":3000},\"additionalModelRequestFields\":"
			"{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1500}}," },
		{ STYLE_BUDGET, 2000, 900, EFFORT_UNSAID, "{\"inferenceConfig\":{\"maxTokens\":900,\"temperature\":0.5}," },
		{ STYLE_BUDGET, 0, 900, EFFORT_UNSAID, "{\"inferenceConfig\":{\"maxTokens\":900,\"temperature\":0.5}," },
		{ STYLE_ADAPTIVE, -1, 0, EFFORT_HIGH, "{\"additionalModelRequestFields\":{\"thinking\":{\"type\":\"adaptive\"},"
			"\"output_config\":{\"effort\":\"high\"}}," },
		{ STYLE_EFFORT, -1, 0, EFFORT_LOW, "{\"inferenceConfig\":{\"temperature\":0.5},\"additionalModelRequestFields\":"
			"{\"reasoning_effort\":\"low\"}," },
		{ STYLE_REASONING, -1, 70, EFFORT_LOW, "{\"inferenceConfig\":{\"maxTokens\":70,\"temperature\":0.5},"
			"\"additionalModelRequestFields\":{\"reasoningConfig\":{\"type\":\"enabled\",\"maxReasoningEffort\":\"low\"}}," },
		{ STYLE_REASONING, -1, 70, EFFORT_MAX, "{\"additionalModelRequestFields\":{\"reasoningConfig\":{\"type\":\"enabled\","
			"\"maxReasoningEffort\":\"high\"}}," },
		{ STYLE_NONE, 2000, 0, EFFORT_UNSAID, "{\"inferenceConfig\":{\"temperature\":0.5}," },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char head[400];
		start("bedrock-converse");
		add("{\"role\":\"user\",\"content\":\"hi\"}");
		opt.style = all[i].style, opt.thinking = all[i].tokens, opt.max_tokens = all[i].max, opt.effort = all[i].effort;
		opt.temperature = 0.5;
		snprintf(head, sizeof head, "%.*s", (int)strlen(all[i].want), request());
		IS(head, all[i].want, "thinking, %zu", i);
	}
	start("bedrock-converse");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"t\",\"name\":\"Now\",\"input\":{}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"t\",\"content\":\"noon\"}");
	opt.thinking = 2000;
	OK(!strstr(request(), "\"thinking\""), "none in the middle of a tool loop that began without a thought");
}

static void shapes(void)
{
	start("bedrock-converse");
	add("{\"role\":\"user\",\"content\":\"\",\"images\":[{\"blob\":\"sha256:png\",\"media_type\":\"image/png\"},"
	    "{\"blob\":\"sha256:pdf\",\"media_type\":\"application/pdf\",\"name\":\"my report_v1.2 .pdf\"},{"
	   "\"blob\":\"sha256:gone\",\"media_type\":\"image/png\"}]}");
	const char *m = messages();
	OK(strstr(m, "{\"image\":{\"format\":\"png\",\"source\":{\"bytes\":\"" PNG "\"}}}") != NULL, "an image");
	OK(strstr(m, "{\"document\":{\"format\":\"pdf\",\"name\":\"my report v1 2 pdf ") != NULL, "a document and its legal name");
	OK(strstr(m, "{\"text\":\"[image left out: no blob sha256:gone]\"}") != NULL, "an image that is not there");
	OK(strstr(m, ",{\"text\":\"(no text)\"}]}]") != NULL, "a document needs a text beside it");
	start("bedrock-converse");
	add("{\"role\":\"assistant\",\"content\":\"one\"}");
	add("{\"role\":\"assistant\",\"content\":\"two \"}");
	IS(messages(), "[{\"role\":\"user\",\"content\":[{\"text\":\"(continue)\"}]},{\"role\":\"assistant\",\"content\":[{"
	   "\"text\":\"one\"}]},"
	   "{\"role\":\"user\",\"content\":[{\"text\":\"(continue)\"}]},{\"role\":\"assistant\",\"content\":[{"
	   "\"text\":\"two\"}]}]}",
	   "roles alternate and begin with the user; no space at the end");
	start("bedrock-converse");
	talk();
	add("{\"type\":\"tools\",\"tools\":[]}");
	OK(strstr(request(), "\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"none\"") != NULL,
	   "calls in the history: there is a tool");
	start("bedrock-converse");
	add("{\"role\":\"user\",\"content\":\"{\\\"toolUse\\\":{\"}");
	OK(!strstr(request(), "toolConfig"), "a text that looks like one is none");
}

/* What came goes back to its maker, and only there. */
static void replay(void)
{
	static const char answer[] = "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[{\"reasoningContent\":{"
	   "\"reasoningText\":"
		"{\"text\":\"h\\u00e4\",\"signature\":\"c2ln\"}}},{\"reasoningContent\":{\"redactedContent\":\"cmVk\"}},{\"text\":\"\"},"
		"{\"text\":\"ok\"},{\"toolUse\":{\"input\":{\"q\":1},\"name\":\"g\",\"toolUseId\":\"s1\",\"type\":\"server_tool_use\"}},"
		"{\"toolResult\":{\"toolUseId\":\"s1\",\"content\":[{\"text\":\"r\"}]}},"
		"{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"Read\",\"input\":{\"p\": 1}}}]}},\"stopReason\":\"tool_use\",\"usage\":{}}";
	static const char want[] = "{\"role\":\"assistant\",\"content\":[{\"reasoningContent\":{\"reasoningText\":{"
	   "\"text\":\"h\xc3\xa4\","
		"\"signature\":\"c2ln\"}}},{\"reasoningContent\":{\"redactedContent\":\"cmVk\"}},{\"text\":\"ok\"},"
		"{\"toolUse\":{\"input\":{\"q\":1},\"name\":\"g\",\"toolUseId\":\"s1\",\"type\":\"server_tool_use\"}},"
		"{\"toolResult\":{\"toolUseId\":\"s1\",\"content\":[{\"text\":\"r\"}]}},"
		"{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"Read\",\"input\":{\"p\":1}}}]}";
	for (int mine = 1; mine >= 0; mine--) {
		struct answer a;
		struct buf line;
		start("bedrock-converse");
		answer_init(&a, c.wire, NULL, NULL);
		answer_head(&a, 200);
		answer_feed(&a, answer, sizeof answer - 1);
		answer_end(&a);
		buf_init(&line, BUF_NOLIMIT);
		struct jw w = jw_begin(&line);
		jw_obj(&w);
		jw_kstr(&w, "role", "assistant");
		answer_write(&a, &w, mine ? "bedrock/m" : "bedrock/other", -1);
		jw_end(&w);
		add("{\"role\":\"user\",\"content\":\"hi\"}");
		add(line.p);
		const char *at = strstr(messages(), "{\"role\":\"assistant\"");
		char *got = at ? strndup(at, strlen(at) - 2) : NULL;
		IS(got, mine ? want : "{\"role\":\"assistant\",\"content\":[{\"text\":\"ok\"},{\"toolUse\":{\"toolUseId\":\"t1\","
	   "\"name\":\"Read\","
		   "\"input\":{\"p\":1}}}]}", "blocks go back to %s", mine ? "their maker" : "nobody else");
		opt.thinking = 2000;
		OK(!strstr(request(), "\"thinking\"") == !mine, "and the thought that a tool loop begins with counts");
		free(got);
		answer_free(&a);
		buf_free(&line);
	}
}

static void hosts(void)
{
	start("bedrock-invoke");
	opt.model = "a\"b";
	opt.max_tokens = 9;
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	IS(request(), "{\"anthropic_version\":\"bedrock-2023-05-31\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":"
	   "[{\"type\":\"text\",\"text\":\"hi\"}]}]}", "InvokeModel: neither model nor stream");
	start("anthropic-vertex");
	opt.max_tokens = 9;
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	IS(request(), "{\"anthropic_version\":\"vertex-2023-10-16\",\"max_tokens\":9,\"stream\":true,\"messages\":[{"
	   "\"role\":\"user\",\"content\":"
	   "[{\"type\":\"text\",\"text\":\"hi\"}]}]}", "Vertex: no model");
}

static void classes(void)
{
	static const struct { const char *type, *message; int status; const char *class; bool again; } all[] = {
		{ "ThrottlingException", "Too many requests, please wait before trying again.", 429, "rate_limit", true },
		{ "ValidationException", "Input is too long for requested model.", 400, "overflow", false },
		{ "ValidationException", "The provided model identifier is invalid.", 400, "model_not_found", false },
		{ "AccessDeniedException", "You don't have access to the model", 403, "auth", false },
		{ "ExpiredTokenException", "The security token included in the request is expired", 403, "auth", false },
		{ "ServiceUnavailableException", "Bedrock is unable to process your request.", 503, "overloaded", true },
		{ "ModelTimeoutException", "took too long", 408, "timeout", true },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct answer a;
		struct buf text;
		buf_init(&text, BUF_NOLIMIT);
		buf_addf(&text, "{\"message\":\"%s\"}", all[i].message);
		answer_init(&a, wire_find("bedrock-converse"), NULL, NULL);
		answer_head(&a, all[i].status);
		answer_header(&a, "x-amzn-errortype", all[i].type);
		answer_feed(&a, text.p, text.len);
		answer_end(&a);
		IS(a.error.class, all[i].class, "%s: %s", all[i].type, all[i].message);
		IS(a.error.type.p, all[i].type, "its type is that of the header");
		OK(answer_retryable(&a) == all[i].again, "whether to try again");
		answer_free(&a);
		buf_free(&text);
	}
}

int main(void)
{
	buf_init(&body, BUF_NOLIMIT);
	bodies();
	thoughts();
	shapes();
	replay();
	hosts();
	classes();
	convo_free(&c);
	buf_free(&body);
	return END();
}

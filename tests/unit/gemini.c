/* The wire gemini: requests, byte for byte; arguments that come by path. */
#include <stdlib.h>

#include "llm/convo.h"
#include "llm/gemini_args.h"
#include "tap.h"

static struct convo c;
static struct buf body;
static struct call_options opt;

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	(void)arg;
	if (strcmp(ref, "sha256:gif") == 0)
		return buf_add(bytes, "GIF89a\1\0\1\0\200\0\0\0\0\0\377\377\377,\0\0\0\0\1\0\1\0\0\2\2D\1\0;", 35);
	return err_set(e, 66, "no blob %s", ref);
}

static void start(uint64_t quirks)
{
	if (c.wire)
		convo_free(&c);
	convo_init(&c, wire_find("gemini"), "gemini/m");
	c.load = load;
	c.quirks = quirks;
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = -1, .stream = true, .quirks = quirks };
}

static void add(const char *line)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	if (json_parse(&j, line, strlen(line), &e) < 0 || convo_add(&c, &j, &e) < 0)
		printf("# %s\n", e.text);
	json_free(&j);
}

static const char *request(void)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	buf_clear(&body);
	if (c.wire->body(&c, &opt, &body, &e) < 0 || json_parse(&j, body.p, body.len, &e) < 0)
		printf("# %s\n# %s\n", e.text, body.p);
	json_free(&j);
	return body.p;
}

static const char *contents(void)
{
	const char *at = strstr(request(), "\"contents\":");
	return at ? at + 11 : body.p;
}

#define USER(text) "{\"role\":\"user\",\"parts\":[{\"text\":\"" text "\"}]}"

static void whole(void)
{
	start(0);
	opt.max_tokens = 100;
	opt.temperature = 0.5;
	opt.effort = EFFORT_LOW;
	opt.style = STYLE_WIRE;
	opt.extra = "\"safetySettings\":[]";
	add("{\"role\":\"system\",\"content\":\"be brief\"}");
	add("{\"type\":\"tools\",\"tools\":[{\"name\":\"f\",\"description\":\"does f\",\"input_schema\":{\"type\":\"object\","
	    "\"properties\":{\"x\":{\"type\":[\"integer\",\"null\"],\"default\":1}},\"additionalProperties\":false}},"
	    "{\"name\":\"g\",\"input_schema\":{\"type\":\"object\",\"properties\":{}}}]}");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	IS(request(), "{\"safetySettings\":[],\"generationConfig\":{\"maxOutputTokens\":100,\"temperature\":0.5,"
	   "\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":1024}},"
	   "\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"description\":\"does f\",\"parameters\":{\"type\":\"object\","
	   "\"properties\":{\"x\":{\"type\":\"integer\",\"nullable\":true}}}},{\"name\":\"g\"}]}],"
	   "\"systemInstruction\":{\"parts\":[{\"text\":\"be brief\"}]},\"contents\":[" USER("hi") "]}", "the whole body");
	start(0);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	IS(request(), "{\"contents\":[" USER("hi") "]}", "nothing that was not asked for");
	add("{\"type\":\"tools\",\"tools\":[]}");
	IS(request(), "{\"contents\":[" USER("hi") "]}", "no tools: no list of them");
}

static void extras(void)
{
	start(0);
	opt.max_tokens = 100;
	opt.extra = "\"generationConfig\":{\"topP\":0.9,\"maxOutputTokens\":7},\"cachedContent\":\"c\"";
	IS(request(), "{\"cachedContent\":\"c\",\"generationConfig\":{\"topP\":0.9,\"maxOutputTokens\":7},\"contents\":[]}",
	   "a row's generationConfig and ours are one; the row's word holds");
	opt.max_tokens = 0;
	opt.temperature = 1;
	IS(request(), "{\"cachedContent\":\"c\",\"generationConfig\":{\"topP\":0.9,\"maxOutputTokens\":7,\"temperature\":1},"
	   "\"contents\":[]}", "and what it does not say is ours");
}

static const char *thinking(enum thinking_style style, enum effort effort, int64_t tokens)
{
	start(0);
	opt.style = style;
	opt.effort = effort;
	opt.thinking = tokens;
	char *end = strstr(request(), ",\"contents\"");
	if (end)
		*end = 0;
	return body.p;
}

static void efforts(void)
{
	IS(thinking(STYLE_WIRE, EFFORT_NONE, -1), "{\"generationConfig\":{\"thinkingConfig\":{\"thinkingBudget\":0}}", "budget: off");
	IS(thinking(STYLE_WIRE, EFFORT_UNSAID, 2000),
	   "{\"generationConfig\":{\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":2000}}", "budget: a number");
	IS(thinking(STYLE_LEVEL, EFFORT_NONE, -1), "{\"generationConfig\":{\"thinkingConfig\":{\"thinkingLevel\":\"minimal\"}}",
	   "level: none is the least");
	IS(thinking(STYLE_LEVEL, EFFORT_MAX, -1),
	   "{\"generationConfig\":{\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":\"high\"}}", "level: no more than high");
	IS(thinking(STYLE_LEVEL, EFFORT_UNSAID, 1000),
	   "{\"generationConfig\":{\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":\"low\"}}", "level: by a number");
	IS(thinking(STYLE_WIRE, EFFORT_UNSAID, -1), "{\"contents\":[]}", "nothing was said");
	IS(thinking(STYLE_NONE, EFFORT_HIGH, -1), "{\"contents\":[]}", "a model that does not think");
}

#define CALLS "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\",\"input\":{\"x\": 1}}," \
	"{\"id\":\"b\",\"name\":\"f\",\"input\":\"{broken\"},{\"id\":\"c\",\"name\":\"g\",\"input\":{}}]"
#define OUR_CALLS "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}}}," \
	"{\"functionCall\":{\"name\":\"f\",\"args\":{}}},{\"functionCall\":{\"name\":\"g\",\"args\":{}}}]}"
#define ANSWER(name, key, text) "{\"functionResponse\":{\"name\":\"" name "\",\"response\":{\"" key "\":\"" text "\"}}}"

static void results(void)
{
	start(0);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add(CALLS "}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"3\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"1\",\"images\":[{\"media_type\":\"image/gif\","
	    "\"blob\":\"sha256:gif\"},{\"media_type\":\"image/gif\",\"blob\":\"sha256:gone\"}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"zz\",\"content\":\"nobody asked\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"\",\"is_error\":true}");
	add("{\"role\":\"user\",\"content\":\"and?\"}");
	char *got = strdup(contents());
	char *note = strstr(got, "{\"text\":"), *note2 = note ? strstr(note + 1, "{\"text\":") : NULL;
	OK(note2 && strstr(note2, "gone"), "an image that is not there is a note");
	char *end = note2 ? strstr(note2, "\"},") : NULL;
	if (end)
		memmove(note2, end + 3, strlen(end + 3) + 1);
	IS(got, "[" USER("hi") "," OUR_CALLS ",{\"role\":\"user\",\"parts\":[" ANSWER("f", "output", "1") ","
	   ANSWER("f", "error", "(no output)") "," ANSWER("g", "output", "3") ",{\"inlineData\":{\"mimeType\":\"image/gif\","
	   "\"data\":\"R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=\"}},{\"text\":\"and?\"}]}]}",
	   "results in the order of their calls, before all else; images and the user's word after them");
	free(got);
}

static void signatures(void)
{
	start(0);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"well\",\"thinking\":\"hm\","
	    "\"tool_calls\":[{\"id\":\"n1\",\"name\":\"f\",\"input\":{}}],"
	    "\"blocks\":{\"maker\":\"gemini/m\",\"list\":[{\"text\":\"hm\",\"thought\":true},{\"text\":\"well\"},"
	    "{\"functionCall\":{\"id\":\"own\",\"name\":\"f\",\"args\":{}},\"thoughtSignature\":\"S+/=\"},"
	    "{\"text\":\"\",\"thoughtSignature\":\"T\"},{\"toolCall\":{\"x\":1}}]}}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"n1\",\"content\":\"1\"}");
	IS(contents(), "[" USER("hi") ",{\"role\":\"model\",\"parts\":[{\"text\":\"well\"},"
	   "{\"functionCall\":{\"id\":\"own\",\"name\":\"f\",\"args\":{}},\"thoughtSignature\":\"S+/=\"},"
	   "{\"text\":\"\",\"thoughtSignature\":\"T\"},{\"toolCall\":{\"x\":1}}]},{\"role\":\"user\",\"parts\":["
	   "{\"functionResponse\":{\"id\":\"own\",\"name\":\"f\",\"response\":{\"output\":\"1\"}}}]}]}",
	   "its own parts go back as they came, its own id too");
	start(QUIRK_SKIP_SIGNATURE);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\",\"input\":{}},{\"id\":\"b\","
	    "\"name\":\"g\",\"input\":{}}],\"blocks\":{\"maker\":\"gemini/other\",\"list\":[{\"functionCall\":{\"name\":\"f\"},"
	    "\"thoughtSignature\":\"SECRET\"}]}}");
	IS(contents(), "[" USER("hi") ",{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}},"
	   "\"thoughtSignature\":\"skip_thought_signature_validator\"},{\"functionCall\":{\"name\":\"g\",\"args\":{}}}]}]}",
	   "another model's signatures stay away, the placeholder stands for the first");
	start(0);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[],\"blocks\":{\"maker\":\"gemini/m\",\"list\":["
	    "{\"functionCall\":{\"name\":\"f\",\"args\":{}},\"thoughtSignature\":\"S\"}]}}");
	IS(contents(), "[" USER("hi") ",{\"role\":\"model\",\"parts\":[{\"text\":\"x\"}]}]}",
	   "parts with calls that the message has no more are not sent");
}

static void turns(void)
{
	start(0);
	add("{\"role\":\"user\",\"content\":\"one\"}");
	add("{\"role\":\"user\",\"content\":\" \"}");
	add("{\"role\":\"assistant\",\"content\":\" \"}");
	add("{\"role\":\"user\",\"content\":\"three\"}");
	IS(contents(), "[{\"role\":\"user\",\"parts\":[{\"text\":\"one\"},{\"text\":\"(no text)\"},{\"text\":\"three\"}]}]}",
	   "one turn after another; nothing empty");
	start(0);
	char before[4096];
	bool same = true;
	for (int i = 0; i < 50; i++) {
		char line[512];
		snprintf(line, sizeof line, "{\"role\":\"user\",\"content\":\"%d\"}", i);
		add(line);
		const char *now = request();
		same &= i == 0 || strncmp(now, before, strlen(before)) == 0;
		snprintf(before, sizeof before, "%.*s", (int)(body.len > 2 ? body.len - 2 : 0), body.p);
		if (strlen(before) > 4000)
			break;
		snprintf(line, sizeof line, "{\"role\":\"assistant\",\"content\":\"a%d\"}", i);
		add(line);
	}
	OK(same, "what was sent is the beginning of what is sent next");
	convo_reset(&c);
	add("{\"role\":\"user\",\"content\":\"new\"}");
	IS(contents(), "[" USER("new") "]}", "reset");
}

static const char *by_path(const char *pieces)
{
	struct json j = JSON_INIT;
	buf_clear(&body);
	if (json_parse(&j, pieces, strlen(pieces), NULL) == 0)
		gemini_args(&body, &j, 0);
	json_free(&j);
	return body.p;
}

static void paths(void)
{
	IS(by_path("[]"), "{}", "path: nothing");
	IS(by_path("[{\"jsonPath\":\"$.a\",\"stringValue\":\"x\",\"willContinue\":true},{\"jsonPath\":\"$.a\",\"stringValue\":\"y\\n\"},"
	           "{\"jsonPath\":\"$.a\"}]"), "{\"a\":\"xy\\n\"}", "path: pieces of a string");
	IS(by_path("[{\"jsonPath\":\"$.a.b[0]\",\"numberValue\":1.50},{\"jsonPath\":\"$.a.b[1].c\",\"boolValue\":false},"
	           "{\"jsonPath\":\"$.a.b[1].d\",\"nullValue\":\"NULL_VALUE\"},"
	           "{\"jsonPath\":\"$.z\",\"numberValue\":12345678901234567890}]"),
	   "{\"a\":{\"b\":[1.50,{\"c\":false,\"d\":null}]},\"z\":12345678901234567890}",
	   "path: members and places, numbers as written");
	IS(by_path("[{\"jsonPath\":\"$['a.b'][\\\"c\\\\\\\"d\\\"]\",\"stringValue\":\"x\"}]"),
	   "{\"a.b\":{\"c\\\"d\":\"x\"}}", "path: quoted");
	IS(by_path("[{\"jsonPath\":\"$.a[999999999]\",\"numberValue\":1},{\"jsonPath\":\"$.a[7]\",\"numberValue\":2}]"), "{\"a\":[1,2]}",
	   "path: beyond the end is the end");
	IS(by_path("[{\"jsonPath\":\"$\",\"stringValue\":\"x\"},{\"jsonPath\":\"a\",\"stringValue\":\"x\"},{\"jsonPath\":\"$[\"},"
	           "{\"jsonPath\":\"$.a[\"},{\"jsonPath\":\"$['a\"},{\"jsonPath\":7},3,{\"stringValue\":\"x\"}]"),
	   "{\"a\":null}", "path: none of these");
	IS(by_path("[{\"jsonPath\":\"$.a\",\"stringValue\":\"x\"},{\"jsonPath\":\"$.a.b\",\"stringValue\":\"y\"},"
	           "{\"jsonPath\":\"$[0]\",\"stringValue\":\"y\"}]"), "{\"a\":\"x\"}", "path: through what is no object");
}

int main(void)
{
	buf_init(&body, BUF_NOLIMIT);
	whole();
	extras();
	efforts();
	results();
	signatures();
	turns();
	paths();
	convo_free(&c);
	buf_free(&body);
	return END();
}

/* Requests byte for byte: each way of asking for thoughts, each quirk of Chat Completions, documents,
	what the model cannot see. */
#include <stdlib.h>

#include "base/hash.h"
#include "llm/convo.h"
#include "tap.h"

static struct convo c;
static struct buf body;
static struct call_options opt;

static const char gif[] = "GIF89a\1\0\2\0\0\0\0,\0;";
static const char big[] = "GIF89a\x41\x1f\2\0\0\0\0,\0;";                   /* 8001 pixels wide */
static const char pdf[] = "%PDF-1.4\n%%EOF";
#define GIF64 "R0lGODlhAQACAAAAACwAOw=="
#define PDF64 "JVBERi0xLjQKJSVFT0Y="

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	(void)arg;
	(void)e;
	if (strcmp(ref, "big") == 0)
		return buf_add(bytes, big, sizeof big - 1);
	return strcmp(ref, "pdf") == 0 ? buf_add(bytes, pdf, sizeof pdf - 1) : buf_add(bytes, gif, sizeof gif - 1);
}

static void start(const char *wire, uint64_t quirks)
{
	if (c.wire)
		convo_free(&c);
	convo_init(&c, wire_find(wire), "p/m");
	c.load = load;
	c.quirks = quirks;
	opt = (struct call_options){.model = "m", .temperature = -1, .thinking = -1, .quirks = quirks};
}

static void add(const char *line)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	if (json_parse(&j, line, strlen(line), &e) < 0 || convo_add(&c, &j, &e) < 0)
		OK(false, "%s: %s", line, e.text);
	json_free(&j);
}

static const char *request(void)
{
	struct err e = ERR_INIT;
	buf_clear(&body);
	return c.wire->body(&c, &opt, &body, &e) < 0 ? "no body" : body.p;
}

static const char *messages(void)
{
	const char *at = strstr(request(), "\"messages\":");
	return at ? at + 11 : body.p;
}

/* What stands between the model and the messages, for an effort. */
static void asks(const char *wire, enum thinking_style style, enum effort effort, const char *want)
{
	struct buf text;
	start(wire, 0);
	opt.style = style;
	opt.effort = effort;
	buf_init(&text, 4096);
	buf_addf(&text, "{\"model\":\"m\"%s%s,\"messages\":[]}", strcmp(wire, "anthropic") == 0 ? "" : *want ? ","
		"" : "", want);
	IS(request(), text.p, "%s, %s: %s", wire, style_name(style),
		effort_name(effort)[0] ? effort_name(effort) : "nothing said");
	buf_free(&text);
}

static void efforts(void)
{
	static const char chat[] = "openai-chat", claude[] = "anthropic";
	for (int s = 0; s < STYLES; s++)
		asks(chat, (enum thinking_style)s, EFFORT_UNSAID, "");
	asks(chat, STYLE_NONE, EFFORT_HIGH, "");
	asks(chat, STYLE_WIRE, EFFORT_LOW, "\"reasoning_effort\":\"low\"");
	asks(chat, STYLE_EFFORT, EFFORT_NONE, "\"reasoning_effort\":\"none\"");
	asks(chat, STYLE_REASONING, EFFORT_HIGH, "\"reasoning\":{\"effort\":\"high\"}");
	asks(chat, STYLE_REASONING, EFFORT_NONE, "\"reasoning\":{\"effort\":\"none\"}");
	asks(chat, STYLE_TYPE, EFFORT_NONE, "\"thinking\":{\"type\":\"disabled\"}");
	asks(chat, STYLE_TYPE, EFFORT_LOW, "\"thinking\":{\"type\":\"enabled\"}");
	asks(chat, STYLE_TYPE_EFFORT, EFFORT_NONE, "\"thinking\":{\"type\":\"disabled\"}");
	asks(chat, STYLE_TYPE_EFFORT, EFFORT_MAX, "\"thinking\":{\"type\":\"enabled\"},\"reasoning_effort\":\"max\"");
	asks(chat, STYLE_ENABLE, EFFORT_NONE, "\"enable_thinking\":false");
	asks(chat, STYLE_ENABLE, EFFORT_MEDIUM, "\"enable_thinking\":true,\"thinking_budget\":4096");
	asks(chat, STYLE_TEMPLATE, EFFORT_NONE, "\"chat_template_kwargs\":{\"enable_thinking\":false}");
	asks(chat, STYLE_TEMPLATE, EFFORT_HIGH, "\"chat_template_kwargs\":{\"enable_thinking\":true}");
	asks(chat, STYLE_SPLIT, EFFORT_HIGH, "\"reasoning_split\":true");
	for (int s = 0; s < STYLES; s++)
		asks(claude, (enum thinking_style)s, EFFORT_UNSAID, ",\"max_tokens\":8192");
	asks(claude, STYLE_NONE, EFFORT_HIGH, ",\"max_tokens\":8192");
	asks(claude, STYLE_BUDGET, EFFORT_NONE, ",\"max_tokens\":8192");
	asks(claude, STYLE_BUDGET, EFFORT_LOW, ",\"max_tokens\":9216,\"thinking\":{\"type\":\"enabled\","
		"\"budget_tokens\":1024}");
	asks(claude, STYLE_BUDGET, EFFORT_MAX, ",\"max_tokens\":40960,\"thinking\":{\"type\":\"enabled\","
		"\"budget_tokens\":32768}");
	asks(claude, STYLE_ADAPTIVE, EFFORT_NONE, ",\"max_tokens\":8192,\"thinking\":{\"type\":\"disabled\"}");
	asks(claude, STYLE_ADAPTIVE, EFFORT_MAX,
	     ",\"max_tokens\":8192,\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"max\"}");
}

static void words_and_numbers(void)
{
	static const char *const words[EFFORTS] = {[EFFORT_LOW] = "minimal", [EFFORT_NONE] = "",
		[EFFORT_MAX] = "xhigh"};
	start("openai-chat", 0);
	opt.style = STYLE_EFFORT;
	opt.effort_words = words;
	opt.effort = EFFORT_MAX;
	OK(strstr(request(), "\"reasoning_effort\":\"xhigh\""), "the provider's word");
	opt.effort = EFFORT_NONE;
	OK(!strstr(request(), "reasoning"), "the provider has none: nothing is said");
	opt.thinking = 1500;
	OK(strstr(request(), "\"reasoning_effort\":\"minimal\""), "a number goes before a word, and becomes one");
	opt.style = STYLE_REASONING;
	OK(strstr(request(), "\"reasoning\":{\"max_tokens\":1500}"), "or stays a number");
	opt.extra = "\"reasoning\":{\"exclude\":true},\"max_tokens\":5";
	OK(strstr(request(), "\"reasoning\":{\"max_tokens\":1500},\"max_tokens\":5,\"messages\""),
		"an option goes before the row's own members");
	start("anthropic", 0);
	opt.style = STYLE_ADAPTIVE;
	opt.effort = EFFORT_LOW;
	opt.temperature = 0.5;
	OK(!strstr(request(), "temperature"), "adaptive: no temperature");
	opt.effort = EFFORT_NONE;
	OK(strstr(request(), "\"temperature\":0.5"), "but without thoughts");
	opt.quirks = QUIRK_NO_TEMPERATURE;
	OK(!strstr(request(), "temperature"), "unless it is refused");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\",\"input\":{}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\"}");
	opt.effort = EFFORT_HIGH;
	OK(strstr(request(), "adaptive"), "adaptive: also in a tool loop that began without");
}

static void refused_parameters(void)
{
	start("openai-chat", QUIRK_NO_MAX_TOKENS | QUIRK_NO_TEMPERATURE | QUIRK_NUM_CTX | QUIRK_CACHE_KEY | QUIRK_NO_TOOLS);
	opt.max_tokens = 5;
	opt.temperature = 1;
	opt.context = 4096;
	opt.session = "claws-x";
	opt.stream = true;
	add("{\"type\":\"tools\",\"tools\":[{\"name\":\"f\",\"description\":\"does f\",\"input_schema\":{\"type\":"
		"\"object\"}}]}");
	IS(request(), "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
		"\"prompt_cache_key\":\"claws-x\","
	   "\"options\":{\"num_ctx\":4096},\"messages\":[]}", "no limit, no temperature,"
		" no tools; window and cache key");
	opt.quirks = QUIRK_NO_STREAM_USAGE;
	opt.session = NULL;
	IS(request(), "{\"model\":\"m\",\"max_tokens\":5,\"temperature\":1,\"stream\":true,\"tools\":[{\"type\":"
		"\"function\",\"function\":"
	   "{\"name\":\"f\",\"description\":\"does f\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}],"
		"\"messages\":[]}",
	   "and without these quirks");
}

static void system_role(void)
{
	static const char *const first[] = {"{\"role\":\"user\",\"content\":\"hi\"}",
		"{\"role\":\"user\",\"content\":\"hi\",\"images\":[{\"media_type\":\"image/gif\",\"blob\":\"gif\"}]}",
		"{\"role\":\"assistant\",\"content\":\"hi\"}"};
	static const char *const want[] = {"[{\"role\":\"user\",\"content\":\"be\\nbrief\\n\\nhi\"}]}",
		"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"be\\nbrief\"},{\"type\":\"text\","
			"\"text\":\"hi\"},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/gif;base64," GIF64 "\"}}]}]}",
		"[{\"role\":\"user\",\"content\":\"be\\nbrief\"},{\"role\":\"assistant\",\"content\":\"hi\"}]}"};
	for (int i = 0; i < 3; i++) {
		start("openai-chat", QUIRK_SYSTEM_AS_USER);
		add("{\"role\":\"system\",\"content\":\"be\\nbrief\"}");
		add(first[i]);
		IS(messages(), want[i], "system_as_user, %d", i);
	}
	start("openai-chat", QUIRK_SYSTEM_AS_USER);
	add("{\"role\":\"system\",\"content\":\"be brief\"}");
	add(first[0]);
	add("{\"role\":\"assistant\",\"content\":\"well \"}");
	OK(strstr(messages(), "hi\"},{\"role\":\"assistant\",\"content\":\"well\"}]}"),
		"space at the end is trimmed there too");
}

static void ids(void)
{
	static const char call[] = "{\"role\":\"assistant\",\"content\":\"\",\"model\":\"%s\",\"tool_calls\":"
		"[{\"id\":\"%s\",\"name\":\"f\",\"input\":{}}]}";
	static const char long_id[] = "call_0123456789012345678901234567890123456789";
	static const struct { uint64_t quirk; const char *maker, *id, *want; } cases[] = {
		{QUIRK_IDS_9, "p/m", "abcDEF123", "abcDEF123"},
		{QUIRK_IDS_9, "q/m", "call_1", NULL},
		{QUIRK_IDS_9, "p/m", "call-1234", NULL},
		{0, "p/m", long_id, long_id},
		{0, "q/m", long_id, "call_0123456789012345678901_"},
		{0, "q/m", "functions.f:0", "functions.f:0"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char line[512], want[128], digest[SHA256_HEX], a[256], b[256];
		sha256_hex(digest, cases[i].id, strlen(cases[i].id));
		snprintf(want, sizeof want, "%s", cases[i].want ? cases[i].want : "");
		if (!*want)
			snprintf(want, sizeof want, "%.9s", digest);
		else if (want[strlen(want) - 1] == '_')
			snprintf(want + strlen(want), 16, "%.12s", digest);
		start("openai-chat", cases[i].quirk);
		snprintf(line, sizeof line, call, cases[i].maker, cases[i].id);
		add(line);
		snprintf(line, sizeof line, "{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"content\":\"r\"}",
			cases[i].id);
		add(line);
		snprintf(a, sizeof a, "[{\"id\":\"%s\",", want);
		snprintf(b, sizeof b, "\"tool_call_id\":\"%s\",", want);
		OK(strstr(messages(), a) && strstr(body.p, b), "%s of %s: %s, in the call and in its result",
			cases[i].id, cases[i].maker, want);
	}
}

static void roles_and_contents(void)
{
	static const char call[] = "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":"
		"\"f\",\"input\":{}}]}";
	static const char with[] = "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\",\"images\":"
		"[{\"media_type\":\"image/gif\",\"blob\":\"gif\"}]}";
	start("openai-chat", QUIRK_STRICT_ROLES);
	add(call);
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\"}");
	add("{\"role\":\"user\",\"content\":\"and?\"}");
	OK(strstr(messages(), "\"content\":\"r\"},{\"role\":\"assistant\",\"content\":\"Understood.\"},{\"role\":"
		"\"user\",\"content\":\"and?\"}]}"),
	   "strict_roles: a word between a result and a prompt");
	add(call);
	add(with);
	OK(strstr(messages(), "\"content\":\"r\"},{\"role\":\"assistant\",\"content\":\"Understood.\"},{\"role\":"
		"\"user\",\"content\":[{\"type\":\"text\""),
	   "and before the images of results");
	start("openai-chat", QUIRK_IMAGES_IN_RESULTS);
	add(call);
	add(with);
	OK(strstr(messages(), "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":"
		"\"r\"},{\"type\":\"image_url\","
	          "\"image_url\":{\"url\":\"data:image/gif;base64," GIF64 "\"}}]}]}"), "images_in_results");
	start("openai-chat", QUIRK_CONTENT_REQUIRED);
	add(call);
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"\"}");
	add("{\"role\":\"user\",\"content\":\"\"}");
	IS(messages(), "[{\"role\":\"assistant\",\"content\":\"(empty)\",\"tool_calls\":[{\"id\":\"a\",\"type\":"
		"\"function\",\"function\":"
	   "{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":"
		"\"(empty)\"},"
	   "{\"role\":\"user\",\"content\":\"(empty)\"}]}", "content_required");
}

#define SET ",\"cache_control\":{\"type\":\"ephemeral\"}"
static void cache_parts(void)
{
	start("openai-chat", QUIRK_CACHE_PARTS);
	add("{\"role\":\"system\",\"content\":\"be brief\"}");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\",\"input\":{}},"
		"{\"id\":\"b\",\"name\":\"f\",\"input\":{}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"r\"}");
	opt.cache = true;
	IS(messages(), "[{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"be brief\"" SET "}]},"
	   "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"" SET "}]},{\"role\":\"assistant\","
		"\"content\":\"\",\"tool_calls\":["
	   "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
	   "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
	   "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":\"(empty)\"}]},"
	   "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":[{\"type\":\"text\",\"text\":\"r\"" SET "}]}]}",
	   "cache_parts: system, the end of the request before, the end of this one");
	opt.cache = false;
	OK(!strstr(request(), "cache_control"), "no marks where they were refused");
}

static void replay(void)
{
	static const char line[] = "{\"role\":\"assistant\",\"content\":\"\",\"model\":\"%s\",\"tool_calls\":"
		"[{\"id\":\"a\",\"name\":\"f\",\"input\":{}%s},"
		"{\"id\":\"b\",\"name\":\"f\",\"input\":{}}],\"blocks\":{\"maker\":\"%s\",\"list\":[{\"reasoning\":"
			"\"hm\",\"reasoning_details\":"
		"[{\"type\":\"reasoning.encrypted\",\"data\":\"X\\u0041==\"}],\"extra_content\":{\"k\":1}}]}}";
	char text[1024];
	for (int i = 0; i < 2; i++) {
		start("openai-chat", 0);
		snprintf(text, sizeof text, line, i ? "q/m" : "p/m", "", i ? "q/m" : "p/m");
		add(text);
		OK(!!strstr(messages(), "\"reasoning\":\"hm\",\"reasoning_details\":[{\"type\":"
			"\"reasoning.encrypted\",\"data\":\"X\\u0041==\"}],"
		            "\"extra_content\":{\"k\":1}}]}") == !i, "reasoning of %s %s",
			i ? "another" : "the maker", i ? "stays" : "goes back as it came");
		OK(!!strstr(body.p, "reasoning") == !i, "all of it");
	}
	start("openai-chat", QUIRK_NO_REASONING_BACK);
	snprintf(text, sizeof text, line, "p/m", "", "p/m");
	add(text);
	OK(strstr(messages(), "]}}") == NULL && strstr(body.p, "\"extra_content\":{\"k\":1}") && !strstr(body.p,
		"reasoning"),
	   "no_reasoning_back: all but reasoning");
	start("openai-chat", QUIRK_SKIP_SIGNATURE);
	snprintf(text, sizeof text, line, "p/m", ",\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}",
		"p/m");
	add(text);
	OK(strstr(messages(), "\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}},{\"id\":"
		"\"b\"") && !strstr(body.p, "skip_"),
	   "skip_signature: its own goes back");
	snprintf(text, sizeof text, line, "q/m", ",\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}",
		"q/m");
	add(text);
	OK(strstr(messages(), "\"extra_content\":{\"google\":{\"thought_signature\":"
		"\"skip_thought_signature_validator\"}}},{\"id\":\"b\",\"type\":"
	          "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}]}"),
		"a foreign one is the placeholder, once");
}

static const char look[] = "{\"role\":\"user\",\"content\":\"look\",\"images\":[{\"media_type\":\"image/gif\","
	"\"blob\":\"gif\",\"name\":\"d/a.gif\"},"
	"{\"media_type\":\"application/pdf\",\"blob\":\"pdf\",\"name\":\"d/x.pdf\"}]}";

static void documents(void)
{
	start("anthropic", 0);
	add(look);
	IS(messages(), "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[image d/a.gif]\"},{\"type\":"
		"\"image\",\"source\":{\"type\":\"base64\","
	   "\"media_type\":\"image/gif\",\"data\":\"" GIF64 "\"}},{\"type\":\"document\",\"source\":{\"type\":"
		"\"base64\",\"media_type\":"
	   "\"application/pdf\",\"data\":\"" PDF64 "\"},\"title\":\"d/x.pdf\"},{\"type\":\"text\",\"text\":"
		"\"look\"}]}]}", "anthropic: image and document");
	start("openai-chat", 0);
	add(look);
	IS(messages(), "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"text\","
		"\"text\":\"[image d/a.gif]\"},"
	   "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/gif;base64," GIF64 "\"}},{\"type\":\"file\","
		"\"file\":{\"filename\":\"x.pdf\","
	   "\"file_data\":\"data:application/pdf;base64," PDF64 "\"}}]}]}", "openai-chat: image and document");
	for (int i = 0; i < 2; i++) {
		start(i ? "openai-chat" : "anthropic", 0);
		c.inputs = INPUT_TEXT_ONLY;
		add(look);
		OK(strstr(messages(), "[image d/a.gif left out: p/m takes no images]") &&
		   strstr(body.p, "[document d/x.pdf left out: p/m takes no documents]") && !strstr(body.p,
			"base64"), "a model without eyes is told");
		start(i ? "openai-chat" : "anthropic", 0);
		c.inputs = INPUT_IMAGE;
		add(look);
		OK(strstr(messages(), GIF64) && strstr(body.p, "takes no documents"), "one that sees images only");
	}
	start("anthropic", 0);
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\",\"input\":{}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\",\"images\":[{\"media_type\":\"image/gif\","
		"\"blob\":\"gif\"},"
	    "{\"media_type\":\"image/gif\",\"blob\":\"big\",\"name\":\"b\"}]}");
	OK(strstr(messages(), "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[{\"type\":\"text\","
		"\"text\":\"r\"},{\"type\":\"image\",\"source\":"
	          "{\"type\":\"base64\",\"media_type\":\"image/gif\",\"data\":\"" GIF64 "\"}},{\"type\":\"text\","
		"\"text\":\"[image b left out: "
	          "it has more than 8000 pixels a side]\"}]}]}]}"), "anthropic:"
		" images inside the result; not those of 8001 pixels");
}

/* A turn of more than 20 blocks: the end of the request before is marked itself, so nothing has to be looked for. */
static void long_turn(void)
{
	struct buf b;
	unsigned marks = 0;
	start("anthropic", 0);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&b, "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[");
	for (int i = 0; i < 30; i++)
		buf_addf(&b, "%s{\"id\":\"i%d\",\"name\":\"f\",\"input\":{}}", i ? "," : "", i);
	buf_adds(&b, "]}");
	add(b.p);
	for (int i = 0; i < 30; i++) {
		buf_clear(&b);
		buf_addf(&b, "{\"role\":\"tool\",\"tool_call_id\":\"i%d\",\"content\":\"r\"}", i);
		add(b.p);
	}
	opt.cache = true;
	OK(strstr(messages(), "\"text\":\"hi\"" SET "}]}") && strstr(body.p, "\"i29\",\"content\":"
		"\"r\"" SET "}]}]}"), "30 results: both ends are marked");
	for (const char *p = body.p; (p = strstr(p, SET)) != NULL; p++)
		marks++;
	OK(marks == 2, "and nothing else");
	buf_free(&b);
}

static void blank_blocks(void)
{
	start("anthropic", 0);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\",\"input\":{}}],"
		"\"blocks\":{\"maker\":\"p/m\",\"list\":["
	    "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"S\"},{\"type\":\"text\",\"text\":\"\\n\"},"
	    "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}]}}");
	OK(strstr(messages(), "[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"S\"},{\"type\":\"tool_use\""),
	   "anthropic: a text of nothing is refused and stays behind, an empty thought goes back");
}

int main(void)
{
	buf_init(&body, BUF_NOLIMIT);
	efforts();
	words_and_numbers();
	refused_parameters();
	system_role();
	ids();
	roles_and_contents();
	cache_parts();
	replay();
	documents();
	long_turn();
	blank_blocks();
	convo_free(&c);
	buf_free(&body);
	return END();
}

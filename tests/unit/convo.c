#include <stdlib.h>

#include "llm/convo.h"
#include "tap.h"

static struct convo c;
static struct buf body;
static struct call_options opt;

/* one grey pixel */
static const char png[] =
	"\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\001\000\000\000\001\010\000\000\000\000:~\233"
	"U\000\000\000\012IDATx\234c`\000\000\000\002\000\001H\257\244q\000\000\000\000IEND\256B`\202";

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	(void)arg;
	if (strcmp(ref, "sha256:png") == 0)
		return buf_add(bytes, png, sizeof png - 1);
	if (strcmp(ref, "sha256:cut") == 0)
		return buf_add(bytes, "\x89PNG\r\n\x1a\n....", 12);
	if (strcmp(ref, "sha256:text") == 0)
		return buf_add(bytes, "hello", 5);
	return err_set(e, 66, "no blob %s", ref);
}

static void start(const char *wire, const char *maker)
{
	if (c.wire)
		convo_free(&c);
	convo_init(&c, wire_find(wire), maker);
	c.load = load;
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = -1, .stream = true,
		.style = STYLE_WIRE };
}

static int add(const char *line)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	int r = json_parse(&j, line, strlen(line), &e);
	if (r == 0)
		r = convo_add(&c, &j, &e);
	if (r < 0)
		printf("# %s\n", e.text);
	json_free(&j);
	return r;
}

static const char *request(void)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	buf_clear(&body);
	if (c.wire->body(&c, &opt, &body, &e) < 0)
		return "no body";
	if (json_parse(&j, body.p, body.len, &e) < 0)
		printf("# %s\n# %s\n", e.text, body.p);
	json_free(&j);
	return body.p;
}

static const char *messages(void)
{
	const char *at = strstr(request(), ",\"messages\":");
	return at ? at + 12 : body.p;
}

/* The conversation that most tests go through. */
static void talk(void)
{
	add("{\"role\":\"system\",\"content\":\"be brief\"}");
	add("{\"type\":\"tools\",\"tools\":[{\"name\":\"f\",\"description\":\"does f\","
	    "\"input_schema\":{\"type\":\"object\","
	    "\"properties\":{\"x\":{\"type\":\"integer\"}},\"required\":[\"x\"],\"anyOf\":[]}}]}");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	add("{\"role\":\"assistant\",\"content\":\"well\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\","
	    "\"input\":{\"x\": 1}},"
	    "{\"id\":\"b\",\"name\":\"f\",\"input\":\"{\\\"x\"}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"one\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"\",\"is_error\":true}");
	add("{\"role\":\"user\",\"content\":\"and?\"}");
}

static void anthropic(void)
{
	start("anthropic", "p/m");
	talk();
	IS(messages(),
	   "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
	   "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"well\"},"
	   "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"x\":1}},"
	   "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"f\",\"input\":{}}]},"
	   "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"one\"},"
	   "{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"(no output)\",\"is_error\":true},"
	   "{\"type\":\"text\",\"text\":\"and?\"}]}]}", "anthropic: results and the next prompt are one turn");
	OK(strstr(body.p, "\"tools\":[{\"name\":\"f\",\"description\":\"does f\",\"input_schema\":{\"type\":\"object\","
	          "\"properties\":{\"x\":{\"type\":\"integer\"}},\"required\":[\"x\"]}}]"), "tools,"
	              " without anyOf at the top");
	OK(strncmp(body.p, "{\"model\":\"m\",\"max_tokens\":8192,\"stream\":true,\"system\":[{\"type\":\"text\","
	    "\"text\":\"be brief\"}]", 80)
	   == 0, "options and system come first");
	OK(!strstr(body.p, "cache_control"), "no marks unless wanted");
	OK(c.dropped == 0, "nothing dropped");
	OK(convo_has_id(&c, "a") && !convo_has_id(&c, ""), "ids are remembered");
}

static void cache_marks(void)
{
	size_t plain = strlen(request()), marks = 0;
	opt.cache = true;
	size_t marked = strlen(request());
	for (const char *p = body.p; (p = strstr(p, ",\"cache_control\":{\"type\":\"ephemeral\"}")); p++)
		marks++;
	OK(marks == 4 && marked == plain + 4 * strlen(",\"cache_control\":{\"type\":\"ephemeral\"}"), "four marks,"
	    " nothing else");
	OK(strstr(body.p, "\"text\":\"be brief\",\"cache_control\""), "on the system");
	OK(strstr(body.p, "\"required\":[\"x\"]},\"cache_control\""), "on the last tool");
	OK(strstr(body.p, "\"text\":\"hi\",\"cache_control\""), "on the user message before");
	OK(strstr(body.p, "\"text\":\"and?\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}"), "on the last block");
	opt.cache = false;
	OK(strlen(request()) == plain, "and the conversation is not changed by it");
}

/* Bytes up to the end of the last message do not change when more comes. */
static void prefix(const char *wire)
{
	static const char *const more[] = {
		"{\"role\":\"assistant\",\"content\":\"done \"}",
		"{\"role\":\"user\",\"content\":\"again\"}",
		"{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"name\":\"f\",\"input\":{}}]}",
		("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"x\",\"images\":[{\"media_type\":"
			"\"image/png\","
		    "\"blob\":\"sha256:png\"}]}"),
		"{\"role\":\"assistant\",\"content\":\"ok\"}",
		"{\"role\":\"user\",\"content\":\"bye\"}",
	};
	bool stable = true;
	char *last = strdup(messages());
	for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
		add(more[i]);
		if (strstr(more[i], "assistant"))
			continue;            /* no request is sent that ends there */
		size_t n = strlen(last) - strlen("]}");
		if (strncmp(messages(), last, n) != 0) {
			stable = false;
			printf("# was: %s\n# is:  %s\n", last, messages());
		}
		free(last);
		last = strdup(messages());
	}
	free(last);
	OK(stable, "%s: what was sent is sent again byte for byte", wire);
}

static void own_blocks(void)
{
	static const char blocks[] = "[{\"type\":\"thinking\",\"thinking\":\"h\\u00e4\",\"signature\":\"Sig==\"},"
		"{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}]";
	static const char *const makers[] = { "p/m", "q/m" };
	for (int i = 0; i < 2; i++) {
		char line[1024];
		start("anthropic", "p/m");
		add("{\"role\":\"user\",\"content\":\"hi\"}");
		snprintf(line, sizeof line, "{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"h\","
		    "\"tool_calls\":[{\"id\":\"t\","
		         "\"name\":\"f\",\"input\":{}}],\"blocks\":{\"maker\":\"%s\",\"list\":%s}}", makers[i], blocks);
		add(line);
		add("{\"role\":\"tool\",\"tool_call_id\":\"t\",\"content\":\"r\"}");
		bool sent = strstr(messages(), blocks) != NULL;
		OK(sent == (i == 0), "blocks of %s go %s", makers[i], i ? "nowhere" : "back as they came");
		OK(!!strstr(body.p, "Sig") == (i == 0), "signature of %s", makers[i]);
		opt.thinking = 2000;
		OK(!!strstr(request(), "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}") == (i == 0),
		   "thinking is not asked for in a tool loop that began without");
		add("{\"role\":\"user\",\"content\":\"next\"}");
		OK(strstr(request(), "budget_tokens") != NULL, "but from the next prompt on");
	}
}

static void thinking(void)
{
	start("anthropic", "p/m");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	opt.thinking = 4000;
	opt.temperature = 0.5;
	OK(strstr(request(), "\"max_tokens\":12192,\"thinking\":{\"type\":\"enabled\","
	    "\"budget_tokens\":4000}"), "room for the answer");
	OK(!strstr(body.p, "temperature"), "no temperature beside thinking");
	opt.max_tokens = 4000;
	OK(strstr(request(), "\"max_tokens\":4000,\"thinking\":{\"type\":\"enabled\","
	    "\"budget_tokens\":2000}"), "limit holds");
	opt.max_tokens = 1024;
	OK(!strstr(request(), "thinking") && strstr(body.p, "\"temperature\":0.5"), "no room to think");
}

static void edges(void)
{
	start("anthropic", "p/m");
	add("{\"role\":\"user\",\"content\":\" \\n\"}");
	IS(messages(), "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(no text)\"}]}]}",
		"blank prompt");
	add("{\"role\":\"assistant\",\"content\":\"Hello \\n\"}");
	OK(strstr(messages(), "\"text\":\"Hello\"}]}]}"), "space at the end of the request is trimmed");
	add("{\"role\":\"user\",\"content\":\"go on\"}");
	OK(strstr(messages(), "\"text\":\"Hello \\n\"}]}"), "but only there");
	add("{\"role\":\"assistant\",\"content\":\" \"}");
	OK(!strstr(messages(), "\"text\":\" \""), "blank answer is not sent");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"functions.f:0\",\"name\":\"f\","
	    "\"input\":{}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"functions.f:0\",\"content\":\"r\"}");
	OK(strstr(messages(), "\"id\":\"functions_f_0_d6bdd4de328a\"") && strstr(body.p, "\"tool_use_id\":"
		"\"functions_f_0_d6bdd4de328a\""),
	    "ids are made legal, and stay different");
	add("{\"role\":\"tool\",\"tool_call_id\":\"functions.f:0\",\"content\":\"again\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"zz\",\"content\":\"again\"}");
	OK(c.dropped == 2 && !strstr(messages(), "again"), "results nobody waits for are left out");
	OK(!strstr(request(), "\"tools\"") && !strstr(body.p, "\"system\""), "no empty tools, no empty system");
	OK(add("{\"role\":\"tool\",\"content\":\"x\"}") < 0, "a bad line is an error");
	convo_reset(&c);
	IS(messages(), "[]}", "reset");
	opt.extra = "top_k: 5";
	IS(request(), "no body", "further members must be JSON");
	opt.extra = "\"top_k\":5,\"metadata\":{\"user_id\": \"u\"}";
	OK(strstr(request(), "\"top_k\":5,\"metadata\":{\"user_id\":\"u\"},\"messages\":[]}"), "further members");
}

static void images(void)
{
	static const char user[] = "{\"role\":\"user\",\"content\":\"look\",\"images\":[{\"media_type\":\"image/jpeg\","
	    "\"blob\":\"sha256:png\"},"
		"{\"media_type\":\"image/png\",\"blob\":\"sha256:cut\"},{\"media_type\":\"image/png\",\"blob\":"
			"\"sha256:text\"},"
		    "{\"media_type\":\"image/png\",\"blob\":\"sha256:none\"}]}";
	start("anthropic", "p/m");
	add(user);
	OK(strstr(messages(), "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
	          "\"data\":\""
	          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAA"
	          "CklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==\"}}"), "anthropic: the bytes decide the type");
	OK(strstr(body.p, "cut off") && strstr(body.p, "not a PNG") && strstr(body.p, "no blob sha256:none"),
		"others bec"
	    "ome notes");
	start("openai-chat", "p/m");
	add(user);
	OK(strstr(messages(), "[{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image_url\",\"image_url\":{\"url\":"
	          "\"data:image/png;base64,"
	          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAA"
	          "CklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==\"}}"), "openai-chat: data URL");
}

static void chat(void)
{
	start("openai-chat", "p/m");
	talk();
	IS(messages(),
	   "[{\"role\":\"system\",\"content\":\"be brief\"},{\"role\":\"user\",\"content\":\"hi\"},"
	   "{\"role\":\"assistant\",\"content\":\"well\",\"tool_calls\":["
	   "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}},"
	   "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
	   "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"one\"},{\"role\":\"tool\",\"tool_call_id\":\"b\","
	       "\"content\":\"\"},"
	   "{\"role\":\"user\",\"content\":\"and?\"}]}", "openai-chat: messages");
	opt.cache = true;
	opt.quirks = QUIRK_DEVELOPER | QUIRK_MAX_COMPLETION_TOKENS;
	opt.max_tokens = 77;
	OK(strncmp(request(), "{\"model\":\"m\",\"max_completion_tokens\":77,\"stream\":true,"
	    "\"stream_options\":{\"include_usage\":true},"
	           "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"does f\","
	               "\"parameters\":{", 150) == 0,
	   "options, then tools");
	OK(strstr(body.p, "{\"role\":\"developer\"") && !strstr(body.p, "cache_control"), "developer; no cache marks");
}

static void chat_echo(void)
{
	static const char line[] = "{\"role\":\"assistant\",\"content\":\"\",\"model\":\"%s\","
	    "\"tool_calls\":[{\"id\":\"a\",\"name\":\"f\","
		"\"input\":{},\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}}],"
		"\"blocks\":{\"maker\":\"%s\",\"list\":[{\"reasoning_content\":\"hm\"}]}}";
	static const char *const makers[] = { "p/m", "q/m" };
	for (int i = 0; i < 2; i++) {
		char text[1024];
		start("openai-chat", "p/m");
		c.quirks = QUIRK_REASONING_BACK;
		add("{\"role\":\"user\",\"content\":\"hi\"}");
		snprintf(text, sizeof text, line, makers[i], makers[i]);
		add(text);
		bool back = strstr(messages(), "\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}") != NULL;
		OK(back == (i == 0), "extra_content of %s", makers[i]);
		OK(strstr(body.p, i ? "\"reasoning_content\":\"\"}" : "\"reasoning_content\":\"hm\"}"),
			"reasoning of %s"
		    "", makers[i]);
	}
	add("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\",\"images\":[{\"media_type\":\"image/png\","
	    "\"blob\":\"sha256:png\"}]}");
	OK(strstr(messages(), "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\"},{\"role\":\"user\","
	    "\"content\":[{\"type\":\"text\","),
	   "images of results follow as a user message");
	add("{\"role\":\"assistant\",\"content\":\"seen \"}");
	OK(strstr(messages(), ",{\"role\":\"assistant\",\"content\":\"seen\"}]}"), "trailing space");
}

int main(void)
{
	buf_init(&body, BUF_NOLIMIT);
	anthropic();
	cache_marks();
	prefix("anthropic");
	own_blocks();
	thinking();
	edges();
	images();
	chat();
	prefix("openai-chat");
	chat_echo();
	convo_free(&c);
	buf_free(&body);
	return END();
}

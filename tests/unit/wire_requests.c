/* wire_requests.c - requests of the wires ollama-chat and cohere, byte for byte. */
#include <stdlib.h>

#include "llm/convo.h"
#include "tap.h"

static struct convo c;
static struct buf body;
static struct call_options opt;

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	/* the smallest PNG: one grey pixel */
	static const unsigned char png[] = {
		0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0,
		0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, 'I', 'D', 'A', 'T', 0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf, 0xa4,
		0x71, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82 };

	(void)arg;
	if (strcmp(ref, "sha256:png") == 0)
		return buf_add(bytes, png, sizeof png);
	return err_set(e, 66, "no blob %s", ref);
}

#define PNG "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

static void start(const char *wire, const char *maker)
{
	if (c.wire)
		convo_free(&c);
	convo_init(&c, wire_find(wire), maker);
	c.load = load;
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = -1, .stream = true };
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
	if (c.wire->body(&c, &opt, &body, &e) < 0 || json_parse(&j, body.p, body.len, &e) < 0)
		printf("# %s\n# %s\n", e.text, body.p);
	json_free(&j);
	return body.p;
}

static void talk(const char *maker)
{
	char line[512];

	add("{\"role\":\"system\",\"content\":\"be brief\"}");
	add("{\"type\":\"tools\",\"tools\":[{\"name\":\"f\",\"description\":\"does f\",\"input_schema\":{\"type\":\"object\","
	    "\"properties\":{\"x\":{\"type\":\"integer\"}},\"required\":[\"x\"]}}]}");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	snprintf(line, sizeof line, "{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"hm\",\"model\":\"%s\",\"tool_calls\":"
	         "[{\"id\":\"c1\",\"name\":\"f\",\"input\":{\"x\":1}},{\"id\":\"c2\",\"name\":\"f\",\"input\":\"broken\"}],"
	         "\"blocks\":{\"maker\":\"%s\",\"list\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},"
	         "{\"type\":\"tool_plan\",\"tool_plan\":\"I will\"}]}}", maker, maker);
	add(line);
	add("{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"name\":\"f\",\"content\":\"one\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"\",\"is_error\":true}");
	add("{\"role\":\"assistant\",\"content\":\"done \"}");
	add("{\"role\":\"user\",\"content\":\"thanks\"}");
}

#define TOOLS "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"does f\"," \
	"\"parameters\":{\"type\":\"object\"," \
	"\"properties\":{\"x\":{\"type\":\"integer\"}},\"required\":[\"x\"]}}}],"

#define OLLAMA(THINKING) "{\"model\":\"m\",\"stream\":true,\"options\":{}," TOOLS "\"messages\":[" \
	"{\"role\":\"system\",\"content\":\"be brief\"},{\"role\":\"user\",\"content\":\"hi\"}," \
	"{\"role\":\"assistant\",\"content\":\"\"" THINKING ",\"tool_calls\":[" \
	"{\"id\":\"c1\",\"function\":{\"index\":0,\"name\":\"f\",\"arguments\":{\"x\":1}}}," \
	"{\"id\":\"c2\",\"function\":{\"index\":1,\"name\":\"f\",\"arguments\":{}}}]}," \
	"{\"role\":\"tool\",\"content\":\"one\",\"tool_name\":\"f\",\"tool_call_id\":\"c1\"}," \
	"{\"role\":\"tool\",\"content\":\"\",\"tool_name\":\"f\",\"tool_call_id\":\"c2\"}," \
	"{\"role\":\"assistant\",\"content\":\"done \"},{\"role\":\"user\",\"content\":\"thanks\"}]}"

static void ollama(void)
{
	static const char *const words[EFFORTS] = { [EFFORT_MAX] = "high" };
	static const char head[] = "{\"model\":\"m\",\"stream\":false,";

	start("ollama-chat", "ollama/m");
	talk("ollama/m");
	IS(request(), OLLAMA(",\"thinking\":\"hm\""), "ollama: a conversation");
	start("ollama-chat", "ollama/m");
	talk("ollama/other");
	IS(request(), OLLAMA(""), "ollama: another model's thoughts are not sent");

	start("ollama-chat", "ollama/m");
	add("{\"role\":\"user\",\"content\":\"look\",\"images\":["
		"{\"media_type\":\"image/png\",\"blob\":\"sha256:png\"},"
		"{\"media_type\":\"image/png\",\"blob\":\"sha256:none\"}]}");
	opt.stream = false;
	request();
	OK(strstr(body.p, "\"images\":[\"" PNG "\"]}]}") && strstr(body.p, "\"content\":\"look\\n["),
		"ollama: an image, and a note for one that is not there");

	start("ollama-chat", "ollama/m");
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	opt = (struct call_options){ .model = "m", .temperature = 0.5, .thinking = -1, .max_tokens = 100, .context = 8192,
		.quirks = QUIRK_NUM_CTX, .style = STYLE_WIRE, .effort = EFFORT_HIGH,
		.extra = "\"keep_alive\":\"1h\",\"options\":{\"num_gpu\":1,\"num_ctx\":4096}" };
	IS(request(), "{\"model\":\"m\",\"stream\":false,\"think\":true,\"options\":{\"num_predict\":100"
		",\"temperature\":0.5,\"num_gpu\":1,"
	   "\"num_ctx\":4096},\"keep_alive\":\"1h\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
	   "ollama: the user's options win");
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = -1, .context = 8192, .quirks = QUIRK_NUM_CTX };
	OK(strstr(request(), ",\"options\":{\"num_ctx\":8192},"), "ollama: the window is asked for");
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = -1, .effort = EFFORT_NONE, .style = STYLE_WIRE };
	OK(strncmp(request(), head, sizeof head - 1) == 0 && strstr(body.p, "\"think\":false,"), "ollama: no thinking");
	opt.effort = EFFORT_MAX;
	opt.style = STYLE_EFFORT;
	OK(strstr(request(), "\"think\":\"max\","), "ollama: how hard, by a word");
	opt.effort_words = words;
	OK(strstr(request(), "\"think\":\"high\","), "ollama: by the provider's word");
	opt.style = STYLE_WIRE;
	OK(strstr(request(), "\"think\":\"high\","), "ollama: which says that there are degrees");
	opt.effort = EFFORT_UNSAID;
	OK(!strstr(request(), "think"), "ollama: nothing where nothing was said");
}

#define COHERE(CONTENT, PLAN) "{\"model\":\"m\",\"stream\":true," TOOLS "\"messages\":[" \
	"{\"role\":\"system\",\"content\":\"be brief\"},{\"role\":\"user\",\"content\":\"hi\"}," \
	"{\"role\":\"assistant\"," CONTENT PLAN "\"tool_calls\":[" \
	"{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}," \
	"{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}," \
	"{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"one\"}," \
	"{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"(empty)\"}," \
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"done \"}]},{\"role\":\"user\",\"content\":\"thanks\"}]}"

static void cohere(void)
{
	start("cohere", "cohere/m");
	talk("cohere/m");
	IS(request(), COHERE("\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"}],",
		"\"tool_plan\":\"I will\","), "cohere: a conversation");
	start("cohere", "cohere/m");
	talk("ollama/m");
	IS(request(), COHERE("", ""), "cohere: another model's thoughts are not sent");

	start("cohere", "cohere/m");
	add("{\"role\":\"user\",\"content\":\"look\",\"images\":[{\"media_type\":\"image/png\",\"blob\":\"sha256:png\"}]}");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c1\",\"name\":\"f\",\"input\":{}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"a picture\",\"images\":["
		"{\"media_type\":\"image/png\",\"blob\":\"sha256:png\"}]}");
	opt = (struct call_options){ .model = "m", .temperature = 0, .thinking = 500, .max_tokens = 100, .style = STYLE_WIRE };
	IS(request(), "{\"model\":\"m\",\"stream\":false,\"max_tokens\":100,\"temperature\":0,"
	   "\"thinking\":{\"type\":\"enabled\",\"token_budget\":500},\"messages\":[{\"role\":\"user\",\"content\":["
	   "{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image_url\",\"image_url\":"
	   "{\"url\":\"data:image/png;base64," PNG "\"}}]},"
	   "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":"
	   "{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
	   "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"a picture\"},{\"role\":\"user\",\"content\":["
	   "{\"type\":\"text\",\"text\":\"The images of these tool results:\"},"
	   "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64," PNG "\"}}]}]}",
	   "cohere: images, the limit and a budget");
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = 0, .style = STYLE_WIRE };
	OK(strstr(request(), "\"thinking\":{\"type\":\"disabled\"},"), "cohere: no thinking");
}

int main(void)
{
	buf_init(&body, BUF_NOLIMIT);
	ollama();
	cohere();
	convo_free(&c);
	buf_free(&body);
	return END();
}

/* wire_openai_responses.c - requests of the Responses API, byte for byte; answers that become the next request. */
#include <stdlib.h>

#include "llm/answer.h"
#include "llm/convo.h"
#include "tap.h"

#define HEAD "{\"model\":\"m\",\"stream\":true,\"store\":false,"
#define ENC_ASKED "\"include\":[\"reasoning.encrypted_content\"]"
#define US "openai/m"

static struct convo c;
static struct buf body, line;
static struct call_options opt;

/* one grey pixel */
static const char png[] =
	"\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\001\000\000\000\001\010\000\000\000\000:~\233"
	"U\000\000\000\012IDATx\234c`\000\000\000\002\000\001H\257\244q\000\000\000\000IEND\256B`\202";
#define PIXEL "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
static const char pdf[] = "%PDF-1.4\n1 0 obj <</Type /Page>> endobj\ntrailer\n%%EOF\n";

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	(void)arg;
	if (strcmp(ref, "sha256:png") == 0)
		return buf_add(bytes, png, sizeof png - 1);
	if (strcmp(ref, "sha256:pdf") == 0)
		return buf_add(bytes, pdf, sizeof pdf - 1);
	return err_set(e, 66, "no blob %s", ref);
}

static void start(const char *maker)
{
	if (c.wire)
		convo_free(&c);
	convo_init(&c, wire_find("openai-responses"), maker);
	c.load = load;
	opt = (struct call_options){ .model = "m", .temperature = -1, .thinking = -1, .stream = true };
}

static int add(const char *text)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	int r = json_parse(&j, text, strlen(text), &e);
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

/* The list of items, with its closing bracket and the body's brace. */
static const char *input(void)
{
	const char *at = strstr(request(), ",\"input\":");
	return at ? at + 9 : body.p;
}

/* The assistant line of an answer with this output. */
static const char *answered(const char *output)
{
	struct answer a;
	struct buf whole;
	buf_init(&whole, BUF_NOLIMIT);
	buf_addf(&whole, "{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[%s]}", output);
	answer_init(&a, wire_find("openai-responses"), NULL, NULL);
	answer_head(&a, 200);
	answer_feed(&a, whole.p, whole.len);
	answer_end(&a);
	buf_clear(&line);
	struct jw w = jw_begin(&line);
	jw_obj(&w);
	jw_kstr(&w, "role", "assistant");
	answer_write(&a, &w, US, -1);
	jw_end(&w);
	answer_free(&a);
	buf_free(&whole);
	return line.p;
}

static void options(void)
{
	start(US);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	IS(request(), HEAD "\"input\":[{\"role\":\"user\",\"content\":\"hi\"}]}", "the least body");

	add("{\"role\":\"system\",\"content\":\"be kind\"}");
	add("{\"type\":\"tools\",\"tools\":[{\"name\":\"f\",\"description\":\"does\",\"input_schema\":{\"type\":\"object\","
	    "\"properties\":{\"x\":{\"type\":\"string\"}}}}]}");
	IS(request(), HEAD "\"instructions\":\"be kind\",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"description\":\"does\","
	   "\"parameters\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}}},\"strict\":false}],"
	   "\"input\":[{\"role\":\"user\",\"content\":\"hi\"}]}", "instructions and tools");

	start(US);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	opt.stream = false;
	opt.max_tokens = 100;
	opt.temperature = 0.5;
	opt.session = "s1";
	opt.extra = "\"user\":\"u\"";
	opt.quirks = QUIRK_CACHE_KEY;
	IS(request(), "{\"model\":\"m\",\"max_output_tokens\":100,\"temperature\":0.5,\"store\":false,\"prompt_cache_key\":\"s1\","
	   "\"user\":\"u\",\"input\":[{\"role\":\"user\",\"content\":\"hi\"}]}", "limits, the cache's key, further members");
	opt.quirks = QUIRK_NO_TEMPERATURE | QUIRK_NO_MAX_TOKENS;
	opt.extra = NULL;
	IS(request(), "{\"model\":\"m\",\"store\":false,\"input\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
	   "what is refused is not sent");
}

static void effort(void)
{
	static const char *const words[EFFORTS] = { [EFFORT_MAX] = "xhigh", [EFFORT_LOW] = "" };
	start(US);
	add("{\"role\":\"user\",\"content\":\"hi\"}");
	opt.style = STYLE_WIRE;
	IS(request(), HEAD ENC_ASKED ",\"input\":[{\"role\":\"user\",\"content\":\"hi\"}]}", "thoughts are asked for in a form to keep");
	opt.effort = EFFORT_HIGH;
	IS(request(), HEAD ENC_ASKED ",\"reasoning\":{\"effort\":\"high\",\"summary\":\"auto\"},"
	   "\"input\":[{\"role\":\"user\",\"content\":\"hi\"}]}", "an effort by its word");
	opt.effort = EFFORT_UNSAID;
	opt.thinking = 0;
	IS(request(), HEAD ENC_ASKED ",\"reasoning\":{\"effort\":\"none\"},\"input\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
	   "none by number");
	opt.thinking = 100000;
	opt.effort_words = words;
	OK(strstr(request(), "\"effort\":\"xhigh\"") != NULL, "the provider's own word");
	opt.thinking = -1;
	opt.effort = EFFORT_LOW;
	OK(strstr(request(), "\"reasoning\"") == NULL, "no word, nothing said");
	opt.style = STYLE_NONE;
	opt.effort = EFFORT_HIGH;
	OK(strstr(request(), "reasoning") == NULL, "a model that does not think is not asked to");
}

static void images(void)
{
	start(US);
	add("{\"role\":\"user\",\"content\":\"see\",\"images\":["
	    "{\"media_type\":\"image/png\",\"blob\":\"sha256:png\"},{\"media_type\":\"image/png\",\"blob\":\"sha256:gone\"}]}");
	IS(input(), "[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"see\"},"
	   "{\"type\":\"input_image\",\"image_url\":\"" PIXEL "\"},"
	   "{\"type\":\"input_text\",\"text\":\"[image left out: no blob sha256:gone]\"}]}]}", "images, and what could not be loaded");
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"call_1\",\"name\":\"Read\",\"input\":{\"p\":1}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"name\":\"Read\",\"content\":\"\","
	    "\"images\":[{\"media_type\":\"image/png\",\"blob\":\"sha256:png\"}]}");
	OK(strstr(input(), ",{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"Read\",\"arguments\":\"{\\\"p\\\":1}\"},"
	   "{\"type\":\"function_call_output\",\"call_id\":\"call_1\","
	   "\"output\":[{\"type\":\"input_image\",\"image_url\":\"data:image/png;"),
	   "images in a result");

	start(US);
	add("{\"role\":\"user\",\"content\":\"read\","
	    "\"images\":[{\"media_type\":\"application/pdf\",\"blob\":\"sha256:pdf\",\"name\":\"a.pdf\"}]}");
	const char *at = strstr(input(), "{\"type\":\"input_file\"");
	static const char file[] = "{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,JVBERi0";
	OK(at && strncmp(at, file, sizeof file - 1) == 0, "a document is a file");
}

#define RS1 "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"ENC1\"}"
#define PLAIN "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[]," \
	"\"content\":[{\"type\":\"reasoning_text\",\"text\":\"t\"}]}"
#define SHELL "{\"id\":\"sh\",\"type\":\"shell_call\",\"call_id\":\"c\"}," \
	"{\"id\":\"so\",\"type\":\"shell_call_output\",\"call_id\":\"c\"}"
#define FC1 "{\"id\":\"fc_1\",\"type\":\"function_call\",\"name\":\"f\",\"call_id\":\"call_1\",\"arguments\":\"{\\\"x\\\":1}\"}"
#define FC2 "{\"id\":\"fc_2\",\"type\":\"function_call\",\"name\":\"g\",\"call_id\":\"call_2\",\"arguments\":\"{}\"}"
#define OUT1 "{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"one\"}"
#define OUT2 "{\"type\":\"function_call_output\",\"call_id\":\"call_2\",\"output\":\"two\"}"
#define BARE "{" MESSAGE
#define MSG "{\"id\":\"msg_1\"," MESSAGE
#define MESSAGE "\"type\":\"message\",\"role\":\"assistant\",\"phase\":\"final_answer\",\"status\":\"completed\"," \
	"\"content\":[{\"type\":\"output_text\",\"text\":\"done\",\"annotations\":[]}]}"
#define USER "{\"role\":\"user\",\"content\":\"go\"}"

static void turns(void)
{
	struct buf first;
	buf_init(&first, BUF_NOLIMIT);
	start(US);
	opt.style = STYLE_WIRE;
	add(USER);
	IS(request(), HEAD ENC_ASKED ",\"input\":[" USER "]}", "the first request");
	add(answered(RS1 "," FC1 "," FC2));
	add("{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"name\":\"f\",\"content\":\"one\"}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"call_2\",\"name\":\"g\",\"content\":\"two\"}");
	buf_adds(&first, HEAD ENC_ASKED ",\"input\":[" USER);
	OK(strncmp(request(), first.p, first.len) == 0, "the second begins with the bytes of the first");
	IS(body.p, HEAD ENC_ASKED ",\"input\":[" USER "," RS1 "," FC1 "," FC2 "," OUT1 "," OUT2 "]}",
	   "reasoning goes back before its calls, then the results");
	buf_clear(&first);
	buf_add(&first, body.p, body.len - 2);
	add(answered("{\"id\":\"rs_2\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"ENC2\",\"status\":null}," MSG));
	add("{\"role\":\"user\",\"content\":\"more\"}");
	OK(strncmp(request(), first.p, first.len) == 0, "the third begins with the bytes of the second");
	IS(body.p + first.len, ",{\"id\":\"rs_2\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"ENC2\"}," MSG
	   ",{\"role\":\"user\",\"content\":\"more\"}]}", "a phase is kept, a null is not said");
	buf_free(&first);

	start("xai/other");
	add(USER);
	add(answered(RS1 "," FC1));
	add("{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"name\":\"f\",\"content\":\"one\"}");
	IS(input(), "[" USER ",{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"},"
	   OUT1 "]}",
	   "another maker gets the call without the reasoning");
	add(answered(RS1 "," MSG));
	OK(strstr(input(), OUT1 ",{\"role\":\"assistant\",\"content\":\"done\"}]}") != NULL, "and text as text");
}

static const char *after(const char *output)
{
	start(US);
	add(USER);
	add(answered(output));
	const char *s = input();
	return strncmp(s, "[" USER, 1 + strlen(USER)) == 0 ? s + 1 + strlen(USER) : s;
}

static void pairs(void)
{
	IS(after(RS1), "]}", "reasoning that led to nothing stays here");
	IS(after("{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"s\"}]}," MSG),
	   "," BARE "]}", "reasoning without its content stays here, and the id that asks for it");
	IS(after(PLAIN "," MSG), "," PLAIN "," MSG "]}",
	   "plain reasoning goes back");
	IS(after(RS1 ",{\"id\":\"ls_1\",\"type\":\"local_shell_call\",\"call_id\":\"call_9\"}," MSG), "," BARE "]}",
	   "a call that nobody answers stays here, with what led to it");
	IS(after(SHELL "," MSG), "," SHELL "," MSG "]}",
	   "a tool that the provider ran goes with its result");
	IS(after("{\"id\":\"cmp\",\"type\":\"compaction\",\"encrypted_content\":\"C\"}," MSG),
	   ",{\"id\":\"cmp\",\"type\":\"compaction\",\"encrypted_content\":\"C\"}," MSG "]}", "compaction goes back");
	IS(after("{\"id\":\"c1\",\"type\":\"custom_tool_call\",\"call_id\":\"call_1\",\"name\":\"sh\",\"input\":\"ls\"}," RS1 "," MSG),
	   ",{\"type\":\"function_call\",\"name\":\"sh\",\"call_id\":\"call_1\","
	   "\"arguments\":\"{\\\"input\\\":\\\"ls\\\"}\"}," RS1 "," MSG "]}",
	   "a custom call is one of a function from then on");
	IS(after(RS1 ",{\"type\":\"function_call\",\"name\":\"f\",\"call_id\":\"call_1\",\"arguments\":\"{\\\"x\"}"),
	   "," RS1 ",{\"type\":\"function_call\",\"name\":\"f\",\"call_id\":\"call_1\",\"arguments\":\"{}\"}]}",
	   "arguments that are no JSON do not go back");
}

static void ids(void)
{
	start(US);
	add(USER);
	add("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"0123456789012345678901234567890123456789012345678901234567"
	    "8901234567890\",\"name\":\"f\",\"input\":{}}]}");
	add("{\"role\":\"tool\",\"tool_call_id\":\"01234567890123456789012345678901234567890123456789012345678901234567890\","
	    "\"name\":\"f\",\"content\":\"r\"}");
	const char *id = strstr(input(), "\"call_id\":\""), *again = id ? strstr(id + 1, "\"call_id\":\"") : NULL;
	OK(id && again && strcspn(id + 11, "\"") <= 64 && strncmp(id, again, 11 + strcspn(id + 11, "\"") + 1) == 0,
	   "a long id is shortened the same for call and result");
	add("{\"role\":\"tool\",\"tool_call_id\":\"nobody\",\"name\":\"f\",\"content\":\"r\"}");
	OK(strstr(input(), "nobody") == NULL && c.dropped == 1, "a result that nobody waits for is left out");
}

int main(void)
{
	buf_init(&body, BUF_NOLIMIT);
	buf_init(&line, BUF_NOLIMIT);
	options();
	effort();
	images();
	turns();
	pairs();
	ids();
	convo_free(&c);
	buf_free(&body);
	buf_free(&line);
	return END();
}

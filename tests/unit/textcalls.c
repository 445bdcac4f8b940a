/* textcalls.c - every way of writing a call as text, at every place where it can be cut; and what is no call. */
#include <stdlib.h>

#include "llm/answer.h"
#include "llm/quirk.h"
#include "tap.h"

static const char tools[] =
	"{\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"parameters\":{\"type\":\"object\",\"required\":[\"command\"],"
	"\"properties\":{\"command\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"o\":{\"type\":\"object\"}}}}},"
	"{\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}";

static struct buf heard, result;

static void on_text(void *arg, const char *s, size_t n)
{
	(void)arg;
	buf_add(&heard, s, n);
}

static void event(struct answer *a, const char *s, size_t n)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&b, "data: {\"choices\":[{\"delta\":{\"content\":\"");
	jw_escape(&b, s, n);
	buf_adds(&b, "\"}}]}\n\n");
	answer_feed(a, b.p, b.len);
	buf_free(&b);
}

/* content | thinking | calls, the stop reason in front. Pieces are cut at characters, as in events. */
static const char *model(const char *text, size_t cut, size_t step, const char *more)
{
	static const struct answer_sink sink = { .text = on_text };
	struct answer a;
	struct buf offered;
	size_t n = strlen(text);

	buf_init(&offered, BUF_NOLIMIT);
	buf_adds(&offered, tools);
	answer_init(&a, wire_find("openai-chat"), &sink, NULL);
	a.quirks = QUIRK_TEXT_CALLS | QUIRK_THINK_TAGS;
	a.tools = &offered;
	answer_head(&a, 200);
	buf_clear(&heard);
	for (size_t at = 0; at < n;) {
		size_t some = at < cut ? cut - at : step;

		if (some > n - at)
			some = n - at;
		while (at + some < n && ((unsigned char)text[at + some] & 0xc0) == 0x80)
			some++;
		event(&a, text + at, some);
		at += some;
	}
	answer_feed(&a, more, strlen(more));
	answer_end(&a);
	buf_clear(&result);
	buf_addf(&result, "%s|%s|%s|", stop_name(a.stop), a.content.p, a.thinking.p);
	for (size_t i = 0; i < a.ncalls; i++)
		buf_addf(&result, "%s %s %s%s;", a.calls[i].id.p, a.calls[i].name.p, a.calls[i].args.p,
			a.calls[i].ok ? "" : " broken");
	if (strcmp(heard.p, a.content.p) != 0)
		buf_addf(&result, " BUT HEARD %s", heard.p);
	answer_free(&a);
	buf_free(&offered);
	return result.p;
}

static const char end[] = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/* In one piece, in two at every place, and character by character. */
static void check(const char *text, const char *want, const char *name)
{
	size_t n = strlen(text), bad = 0, at = 0;

	for (size_t cut = 0; cut <= n && !bad; cut++)
		if (strcmp(model(text, cut, n, end), want) != 0)
			bad = 1, at = cut;
	if (!bad && strcmp(model(text, 0, 1, end), want) != 0)
		bad = 2;
	if (bad)
		printf("# cut at %zu%s\n", at, bad == 2 ? " and everywhere" : "");
	IS(bad ? model(text, at, bad == 2 ? 1 : n, end) : want, want, "%s", name);
}

#define LS "call_1 Bash {\"command\":\"ls\"};"

static void formats(void)
{
	check("Look:\n<tool_call>\n{\"name\": \"Bash\", \"arguments\": {\"command\": \"ls\"}}\n</tool_call>\n",
		"tool_use|Look:\n||" LS,
	      "<tool_call>{json}</tool_call>");
	check("<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}", "tool_use|||" LS, "without its end");
	check("<tool_call>{\"function\":\"Bash\",\"args\":{\"command\":\"ls\"}}</tool_call>", "tool_use|||" LS,
		"function and args");
	check("<tool_call>{\"function\":{\"name\":\"Bash\",\"parameters\":{\"command\":\"ls\"}}}</tool_call>", "tool_use|||" LS,
	      "a function object and parameters");
	check("<|tool_call|>{\"name\":\"Bash\",\"arguments\":\"{\\\"command\\\":\\\"ls\\\"}\"}<|/tool_call|>",
	      "tool_use|||call_1 Bash {\"command\":\"ls\"};", "arguments as a text");
	check("<|tool_call>call:Bash{\"command\":\"ls\"}<tool_call|>", "tool_use|||" LS, "call:NAME{json}");
	check("<|tool_call>call:Bash{command:<|\"|>echo \"a\\b\"\n<|\"|>,n:3,o:{x:[true,]}}<tool_call|>",
	      "tool_use|||call_1 Bash {\"command\":\"echo \\\"a\\\\b\\\"\\n\",\"n\":3,\"o\":{\"x\":[true]}};",
	      "quote tokens and bare keys");
	check("[TOOL_CALLS] [{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}},{\"name\":\"read_file\",\"arguments\":{}}]",
	      "tool_use|||" LS "call_2 read_file {};", "Mistral's list");
	check("ok [TOOL_CALLS]Bash[CALL_ID]a1B2c3D4e[ARGS]{\"command\": \"ls\"}",
		"tool_use|ok ||a1B2c3D4e Bash {\"command\":\"ls\"};",
	      "Mistral's newer form with an id");
	check("[TOOL_CALLS]Bash{\"command\":\"ls\"}[TOOL_CALLS]read_file{}", "tool_use|||" LS "call_2 read_file {};",
		"two of them");
	check("<function=Bash>{\"command\":\"ls\"}</function>", "tool_use|||" LS, "<function=NAME>{json}");
	check("<tool_call>\n<function=Bash>\n<parameter=command>\necho "
		"</parameter> \"x\"\n</parameter>\n<parameter=n>\n3\n</parameter>\n"
	      "</function>\n</tool_call>", "tool_use|||call_1 Bash {\"command\":\"echo </parameter> \\\"x\\\"\",\"n\":3};",
	      "parameters, one with the tag in it");
	check("<function=Bash><parameter=command>17</parameter></function>", "tool_use|||call_1 Bash {\"command\":\"17\"};",
	      "a string stays a string");
	check("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>Bash\n```json\n{\"command\":\"ls\"}\n```<｜tool▁call▁end｜>"
	      "<｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
	      "tool_use|||" LS "call_2 read_file {};", "DeepSeek V3");
	check("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>Bash<｜tool▁sep｜>{\"command\":\"ls\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
	      "tool_use|||" LS, "DeepSeek V3.1");
	check("<|tool_calls_section_begin|><|tool_call_begin|>functions.Bash:0<|tool_call_argument_begin|>{\"command\":\"ls\"}"
	      "<|tool_call_end|><|tool_calls_section_end|>", "tool_use|||functions.Bash:0 Bash {\"command\":\"ls\"};", "Kimi K2");
	check("<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>\n<tool_call>"
		"{\"name\":\"read_file\"}</tool_call>"
	      "\nDone.", "tool_use|Done.||" LS "call_2 read_file {};", "two with text behind");
	check("<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"echo </tool_call> <tool_call>\"}}</tool_call>",
	      "tool_use|||call_1 Bash {\"command\":\"echo </tool_call> <tool_call>\"};", "marks inside a string");
	check("<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"a\nb\"}}</tool_call>",
	      "tool_use|||call_1 Bash {\"command\":\"a\\u000ab\"};", "a raw line end in a string");
}

/* Comes out as it went in. */
static void stays(const char *text, const char *name)
{
	struct buf want;

	buf_init(&want, BUF_NOLIMIT);
	buf_addf(&want, "end_turn|%s||", text);
	check(text, want.p, name);
	buf_free(&want);
}

static void no_calls(void)
{
	stays("a < b [1] <b>bold</b> <tool [TOOL", "what only begins like one");
	stays("<tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>", "a tool that was not offered");
	stays("<tool_call>{\"name\":\"Bash\",\"arguments\":[1]}</tool_call>", "arguments that are no object");
	stays("<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":</tool_call> and more", "broken JSON");
	stays("<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"l", "JSON that is cut off");
	stays("<tool_call>{\"a\":1,\"a\":2}</tool_call>", "a key twice");
	stays("[TOOL_CALLS] [{\"name\":\"Bash\",\"arguments\":{}},{\"name\":\"rm\",\"arguments\":{}}]",
		"a list with a foreign name");
	stays("The tag <tool_call> begins a call, <function=Bash> too.", "prose about the tags");
	stays("Write `<tool_call>{\"name\":\"Bash\",\"arguments\":{}}</tool_call>` to call.", "in a code span");
	stays("So:\n```\n<tool_call>{\"name\":\"Bash\",\"arguments\":{}}</tool_call>\n```\nThat is it.", "in a code fence");
	stays("~~~xml\n<function=Bash>{}</function>\n", "in a fence that is not closed");
	stays("They say:\n> <tool_call>{\"name\":\"Bash\",\"arguments\":{}}</tool_call>\n", "in a quoted line");
	stays("```call``` [TOOL_CALLS] no", "an opener alone");
	check("```sh\nls\n```\n<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>",
	      "tool_use|```sh\nls\n```\n||" LS, "after a fence it counts again");
	check("`x` <tool_call>no</tool_call> <tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>",
	      "tool_use|`x` <tool_call>no</tool_call> ||" LS, "the second opener is one");
	IS(model("<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>", 0, 5, ""),
	   "truncated|<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>||",
	   "nothing is run of an answer that was cut");
}

static void thoughts(void)
{
	check("<think>so\n</think>\n\nHello", "end_turn|Hello|so\n|", "thoughts between tags");
	check(" \n<thinking>a </think> <b></thinking> Hello <think>x</think>", "end_turn|Hello <think>x</think>|a </think> <b>|",
	      "the other tag, and one later on");
	check("<think>so it", "end_turn||so it|", "not closed: all is a thought");
	check("<think>so</thi", "end_turn||so</thi|", "cut in the closing tag");
	check("<<</think", "end_turn|<<</think||", "no tag");
	check("  <thin air", "end_turn|  <thin air||", "what only begins like one");
	check("<think>x <</think></think>y", "end_turn|</think>y|x <|", "a bracket before the tag");
	check("<think>call Bash: <tool_call>{\"name\":\"Bash\",\"arguments\":{}}</tool_call></think><tool_call>"
	      "{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>",
	      "tool_use||call Bash: <tool_call>{\"name\":\"Bash\",\"arguments\":{}}</tool_call>|" LS,
	      "a call in a thought is none");
}

static void recovery(void)
{
	static const char empty[] = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c1\",\"function\":"
		"{\"name\":\"Bash\","
		"\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";
	static const char given[] = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c1\",\"function\":"
		"{\"name\":\"Bash\","
		"\"arguments\":\"{\\\"command\\\":\\\"pwd\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";
	static const char other[] = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c1\",\"function\":"
		"{\"name\":\"read_file\","
		"\"arguments\":\"\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";
	static const char text[] = "<|channel|>commentary to=functions.Bash <|constrain|>json<|message|>{\"command\":\"ls\"}";
	struct buf far;

	IS(strrchr(model(text, 0, 9, empty), '}') - 15, "{\"command\":\"ls\"};", "arguments out of the text");
	IS(strrchr(model(text, 0, 9, given), '|'), "|c1 Bash {\"command\":\"pwd\"};", "arguments that are there stand");
	IS(strrchr(model("to=read_file <|message|>{\"x\":1}", 0, 9, other), ';') - 2, "{};",
		"nor is a tool touched that needs none");
	IS(strrchr(model("call:Bash{\"command\":\"a\"} call:Bash{\"command\":\"b\"}", 0, 9, empty), ' '),
		" {\"command\":\"b\"};", "the last counts");
	IS(strrchr(model("to=Bashful<|message|>{\"command\":\"ls\"}", 0, 9, empty), ' '), " {};", "the name must be that one");
	buf_init(&far, BUF_NOLIMIT);
	buf_adds(&far, text);
	while (far.len < TEXTCALLS_BACK + sizeof text)
		buf_adds(&far, "and so on ");
	IS(strrchr(model(far.p, 0, 999, empty), '}') - 1, "{};", "not from far back");
	buf_free(&far);
}

/* Work stays in bounds however tangled it is. */
static void tangled(void)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	while (b.len < 400000)
		buf_adds(&b, "<tool_call>{\"name\": \"");
	model(b.p, 0, 4096, end);
	OK(strlen(heard.p) == b.len, "openers without end come out as text (%zu bytes)", b.len);
	buf_clear(&b);
	buf_adds(&b, "<tool_call>");
	while (b.len < 400000)
		buf_adds(&b, "{\"a\":[");
	model(b.p, 0, 4096, end);
	OK(strlen(heard.p) == b.len, "so does what is nested too deep");
	buf_free(&b);
}

int main(void)
{
	buf_init(&heard, BUF_NOLIMIT);
	buf_init(&result, BUF_NOLIMIT);
	formats();
	no_calls();
	thoughts();
	recovery();
	tangled();
	buf_free(&heard);
	buf_free(&result);
	return END();
}

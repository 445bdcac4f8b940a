/* textcalls_marks.c - the words by which models mark tool calls, and the loose JSON they write. */
#include <string.h>

#include "json/json.h"
#include "json/jw.h"
#include "llm/textcalls_int.h"

#define LOOSE_DEPTH 64

/* The bars of DeepSeek's marks are U+FF5C, the blanks U+2581. */
static const struct { enum mark kind; const char *word; } marks[] = {
	{ MARK_OPENER, "<tool_call>" }, { MARK_OPENER, "<|tool_call|>" }, { MARK_OPENER, "<|tool_call>" },
	{ MARK_OPENER, "[TOOL_CALLS]" }, { MARK_FUNCTION, "<function=" },
	{ MARK_OPENER, "<｜tool▁calls▁begin｜>" }, { MARK_OPENER, "<｜tool▁call▁begin｜>" },
	{ MARK_OPENER, "<|tool_calls_section_begin|>" }, { MARK_OPENER, "<|tool_call_begin|>" },
	{ MARK_CLOSER, "</tool_call>" }, { MARK_CLOSER, "<tool_call|>" }, { MARK_CLOSER, "<|/tool_call|>" },
	{ MARK_CLOSER, "<|/tool_call>" }, { MARK_CLOSER, "</|tool_call|>" }, { MARK_CLOSER, "<|tool_call_end|>" },
	{ MARK_CLOSER, "[/TOOL_CALLS]" }, { MARK_CLOSER, "</function>" },
	{ MARK_CLOSER, "<｜tool▁call▁end｜>" }, { MARK_CLOSER, "<｜tool▁calls▁end｜>" },
	{ MARK_CLOSER, "<｜end▁of▁sentence｜>" }, { MARK_CLOSER, "<|tool_calls_section_end|>" },
	{ MARK_BETWEEN, "[ARGS]" }, { MARK_BETWEEN, "<｜tool▁sep｜>" }, { MARK_BETWEEN, "<|tool_call_argument_begin|>" },
	{ MARK_BETWEEN, "<|message|>" }, { MARK_BETWEEN, "```json" }, { MARK_BETWEEN, "```" },
};

enum mark mark_at(const char *p, size_t n, size_t *len, bool *may)
{
	*may = false;
	for (size_t i = 0; n > 0 && i < sizeof marks / sizeof *marks; i++) {
		size_t l = strlen(marks[i].word);

		if (*p != *marks[i].word)
			continue;
		if (n >= l && memcmp(p, marks[i].word, l) == 0) {
			*len = l;
			return marks[i].kind;
		}
		*may |= n < l && memcmp(p, marks[i].word, n) == 0;
	}
	return MARK_NONE;
}

bool skip(struct cursor *c, const char *word)
{
	size_t l = strlen(word);

	if (c->n - c->at < l || memcmp(c->p + c->at, word, l) != 0)
		return false;
	c->at += l;
	return true;
}

void skip_space(struct cursor *c)
{
	while (c->at < c->n && c->p[c->at] && strchr(" \t\r\n", c->p[c->at]))
		c->at++;
}

static bool spend(struct cursor *c, size_t n)
{
	bool enough = c->work >= n;

	c->work = enough ? c->work - n : 0;
	return enough;
}

/* A string between plain quotes, or between two of one quote token: the inside of that is as it is, without escapes. */
static bool string(struct cursor *c, struct buf *out)
{
	static const char *const tokens[] = { "<|\"|>", "<|'|>" };
	size_t from;

	for (size_t i = 0; i < 2; i++) {
		if (!skip(c, tokens[i]))
			continue;
		const char *s = c->p + c->at, *end = memmem(s, c->n - c->at, tokens[i], strlen(tokens[i]));
		if (!spend(c, end ? (size_t)(end - s) : c->n - c->at) || !end)
			return false;
		buf_addc(out, '"');
		jw_escape(out, s, (size_t)(end - s));
		buf_addc(out, '"');
		c->at += (size_t)(end - s) + strlen(tokens[i]);
		return true;
	}
	from = c->at;
	if (!skip(c, "\""))
		return false;
	while (c->at < c->n && c->p[c->at] != '"')
		c->at += c->p[c->at] == '\\' ? 2 : 1;
	if (c->at >= c->n || !spend(c, c->at - from)) {
		spend(c, c->n - from);
		return false;
	}
	c->at++;
	buf_add(out, c->p + from, c->at - from);
	return true;
}

static size_t bare(const struct cursor *c)
{
	size_t i = c->at;

	while (i < c->n && c->p[i] && !strchr(",:{}[]\"'<> \t\r\n", c->p[i]))
		i++;
	return i - c->at;
}

static bool key(struct cursor *c, struct buf *out)
{
	size_t n;

	if (string(c, out))
		return true;
	n = bare(c);
	if (n == 0)
		return false;
	buf_addc(out, '"');
	jw_escape(out, c->p + c->at, n);
	buf_addc(out, '"');
	c->at += n;
	return true;
}

static bool value(struct cursor *c, struct buf *out, int depth);

static bool list(struct cursor *c, struct buf *out, bool object, int depth)
{
	const char *end = object ? "}" : "]";
	bool some = false;

	buf_addc(out, c->p[c->at++]);
	for (;;) {
		skip_space(c);
		if (skip(c, end)) {              /* a comma before it is one of the things that models write */
			buf_adds(out, end);
			return true;
		}
		if (some)
			buf_addc(out, ',');
		if (object) {
			if (!key(c, out))
				return false;
			skip_space(c);
			if (!skip(c, ":"))
				return false;
			buf_addc(out, ':');
		}
		if (!value(c, out, depth + 1))
			return false;
		some = true;
		skip_space(c);
		if (!skip(c, ",") && (c->at >= c->n || c->p[c->at] != *end))
			return false;
	}
}

static bool value(struct cursor *c, struct buf *out, int depth)
{
	size_t n;

	skip_space(c);
	if (depth > LOOSE_DEPTH || c->at >= c->n || !spend(c, 1))
		return false;
	if (c->p[c->at] == '{' || c->p[c->at] == '[')
		return list(c, out, c->p[c->at] == '{', depth);
	if (c->p[c->at] == '"' || c->p[c->at] == '<')
		return string(c, out);
	n = bare(c);                             /* a number or a literal: checked when all of it is parsed */
	buf_add(out, c->p + c->at, n);
	c->at += n;
	return n > 0;
}

bool loose_value(struct cursor *c, struct buf *out)
{
	struct json j = JSON_INIT;
	struct buf b;
	size_t from = c->at, start = out->len;
	bool ok;

	buf_init(&b, TEXTCALLS_MAX * 2);
	ok = value(c, &b, 0) && !b.over;
	if (ok) {
		json_repair(out, b.p, b.len);
		ok = json_parse(&j, out->p + start, out->len - start, NULL) == 0;
	}
	if (!ok) {
		c->at = from;
		buf_truncate(out, start);
	}
	json_free(&j);
	buf_free(&b);
	return ok;
}

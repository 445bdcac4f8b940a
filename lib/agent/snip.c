#include "agent/snip.h"

#include "agent/heal_line.h"
#include "base/utf8.h"
#include "json/jw.h"
#include "proto/msg.h"

static size_t characters(const char *s, size_t n)
{
	size_t c = 0;

	for (size_t i = 0; i < n; i++)
		c += ((unsigned char)s[i] & 0xc0) != 0x80;
	return c;
}

bool snip_text(struct buf *out, const char *s, size_t n, size_t limit)
{
	if (n <= limit) {
		buf_add(out, s, n);
		return false;
	}
	size_t head = utf8_cut(s, limit / 2), tail = n - limit / 4;
	while (tail < n && ((unsigned char)s[tail] & 0xc0) == 0x80)
		tail++;
	buf_add(out, s, head);
	buf_addf(out, "\n[... %zu characters snipped ...]\n", characters(s + head, tail - head));
	buf_add(out, s + tail, n - tail);
	return true;
}

/* A string of a call's input, shortened, as JSON. */
static bool snip_string(struct buf *out, const struct json *j, int v, size_t limit)
{
	struct buf text, cut;
	size_t n;
	const char *raw = json_raw(j, v, &n);

	if (json_type(j, v) != JSON_STRING || n <= limit) {
		buf_add(out, raw, n);
		return false;
	}
	buf_init(&text, BUF_NOLIMIT);
	buf_init(&cut, BUF_NOLIMIT);
	json_str(j, v, &text);
	bool shorter = snip_text(&cut, text.p, text.len, limit);
	if (shorter) {
		buf_addc(out, '"');
		jw_escape(out, cut.p, cut.len);
		buf_addc(out, '"');
	} else {
		buf_add(out, raw, n);
	}
	buf_free(&text);
	buf_free(&cut);
	return shorter;
}

static bool snip_members(struct buf *out, const struct json *j, int object, size_t limit)
{
	bool some = false;
	const char *comma = "";

	buf_addc(out, '{');
	for (struct json_iter it = json_iter(j, object); json_next(&it); comma = ",") {
		size_t n;
		const char *key = json_raw(j, it.key, &n);
		buf_adds(out, comma);
		buf_add(out, key, n);
		buf_addc(out, ':');
		some |= snip_string(out, j, it.value, limit);
	}
	buf_addc(out, '}');
	return some;
}

/* tool_calls with the strings of their inputs shortened; the calls have been through heal_add, so they are objects. */
static bool snip_calls(struct buf *out, const struct json *j, size_t limit)
{
	bool some = false;
	const char *next_call = "";

	buf_addc(out, '[');
	for (struct json_iter c = json_iter(j, json_get(j, 0, "tool_calls")); json_next(&c); next_call = ",") {
		const char *comma = "";
		buf_adds(out, next_call);
		buf_addc(out, '{');
		for (struct json_iter it = json_iter(j, c.value); json_next(&it); comma = ",") {
			size_t kn, vn;
			const char *k = json_raw(j, it.key, &kn), *v = json_raw(j, it.value, &vn);
			bool input = json_eq(j, it.key, "input");
			buf_adds(out, comma);
			buf_add(out, k, kn);
			buf_addc(out, ':');
			if (input && json_type(j, it.value) == JSON_OBJECT)
				some |= snip_members(out, j, it.value, limit);
			else if (input)
				some |= snip_string(out, j, it.value, limit);
			else
				buf_add(out, v, vn);
		}
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
	return some;
}

static bool snip_content(struct buf *cut, const struct json *j, size_t limit, bool images)
{
	struct buf text;

	buf_init(&text, BUF_NOLIMIT);
	line_content(&text, j);
	bool some = snip_text(cut, text.p, text.len, limit);
	if (images) {
		buf_addf(cut, "%s[%d images left out]", cut->len ? "\n" : "", line_images(j));
		some = true;
	}
	buf_free(&text);
	return some;
}

bool snip_line(struct buf *out, const struct json *j, size_t limit)
{
	struct line_edit ed = {0};
	struct buf cut, calls;
	bool assistant = msg_kind(j) == MSG_ASSISTANT, some = false;

	buf_init(&cut, BUF_NOLIMIT);
	buf_init(&calls, BUF_NOLIMIT);
	ed.no_images = !assistant && line_images(j) > 0;
	if (snip_content(&cut, j, limit, ed.no_images)) {
		ed.content = cut.p;
		ed.content_len = cut.len;
		some = true;
	}
	if (assistant && json_count(j, json_get(j, 0, "tool_calls")) > 0 && snip_calls(&calls, j, limit)) {
		ed.calls = calls.p;
		ed.calls_len = calls.len;
		some = true;
	}
	ed.no_blocks = assistant;
	if (some)
		line_rewrite(out, j, &ed);
	buf_free(&cut);
	buf_free(&calls);
	return some;
}

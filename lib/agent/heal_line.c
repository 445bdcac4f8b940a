#include "agent/heal_line.h"

#include <string.h>

#include "base/utf8.h"
#include "json/jw.h"

static bool is_space(uint32_t c)
{
	return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	       c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool line_blank(const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t c;
		int k = utf8_decode(s + i, n - i, &c);
		if (k <= 0 || !is_space(c))
			return false;
		i += (size_t)k;
	}
	return true;
}

size_t line_trimmed(const char *s, size_t n)
{
	while (n > 0) {
		size_t at = n - 1;
		uint32_t c;
		while (at > 0 && n - at < 4 && ((unsigned char)s[at] & 0xc0) == 0x80)
			at--;
		if (utf8_decode(s + at, n - at, &c) != (int)(n - at) || !is_space(c))
			break;
		n = at;
	}
	return n;
}

bool line_has_text(const struct json *j)
{
	int v = json_get(j, 0, "content");
	size_t n;
	const char *raw = json_raw(j, v, &n);

	if (json_type(j, v) != JSON_STRING)
		return false;
	/* The first character decides nearly always; an escape or a character beyond ASCII is looked at closely. */
	if (n > 2 && raw[1] > ' ' && raw[1] < 0x7f && raw[1] != '\\')
		return true;
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	json_str(j, v, &b);
	bool text = !line_blank(b.p, b.len);
	buf_free(&b);
	return text;
}

bool line_content(struct buf *out, const struct json *j)
{
	int v = json_get(j, 0, "content");
	size_t n;
	const char *raw;

	buf_clear(out);
	switch (json_type(j, v)) {
	case JSON_STRING:
		json_str(j, v, out);
		return true;
	case JSON_NONE:
	case JSON_NULL:
		return false;
	default:
		raw = json_raw(j, v, &n);
		buf_add(out, raw, n);
		return false;
	}
}

int line_images(const struct json *j)
{
	int v = json_get(j, 0, "images");

	return json_type(j, v) == JSON_ARRAY ? json_count(j, v) : 0;
}

static void add_string(struct buf *out, const char *s, size_t n)
{
	buf_addc(out, '"');
	jw_escape(out, s, n);
	buf_addc(out, '"');
}

void line_rewrite(struct buf *out, const struct json *j, const struct line_edit *ed)
{
	bool content = false, calls = false, id = false;
	const char *comma = "";

	buf_addc(out, '{');
	for (struct json_iter it = json_iter(j, 0); json_next(&it);) {
		size_t kn, vn;
		const char *k = json_raw(j, it.key, &kn), *v = json_raw(j, it.value, &vn);
		if ((ed->no_blocks && json_eq(j, it.key, "blocks")) || (ed->no_images && json_eq(j, it.key, "images")))
			continue;
		buf_adds(out, comma);
		buf_add(out, k, kn);
		buf_addc(out, ':');
		comma = ",";
		if (ed->content && json_eq(j, it.key, "content")) {
			add_string(out, ed->content, ed->content_len);
			content = true;
		} else if (ed->calls && json_eq(j, it.key, "tool_calls")) {
			buf_add(out, ed->calls, ed->calls_len);
			calls = true;
		} else if (ed->call_id && json_eq(j, it.key, "tool_call_id")) {
			add_string(out, ed->call_id, strlen(ed->call_id));
			id = true;
		} else {
			buf_add(out, v, vn);
		}
	}
	if (ed->content && !content) {
		buf_addf(out, "%s\"content\":", comma);
		add_string(out, ed->content, ed->content_len);
		comma = ",";
	}
	if (ed->calls && !calls) {
		buf_addf(out, "%s\"tool_calls\":", comma);
		buf_add(out, ed->calls, ed->calls_len);
		comma = ",";
	}
	if (ed->call_id && !id) {
		buf_addf(out, "%s\"tool_call_id\":", comma);
		add_string(out, ed->call_id, strlen(ed->call_id));
	}
	buf_addc(out, '}');
}

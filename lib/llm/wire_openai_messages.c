/* wire_openai_messages.c - messages of Chat Completions, serialised once: what each provider wants otherwise is in c->quirks.
 * https://platform.openai.com/docs/api-reference/chat/create */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "llm/image.h"
#include "llm/request.h"
#include "llm/wires.h"

#define IMAGE_BYTES ((size_t)20 << 20)
#define ID_BYTES 40                  /* OpenAI: longer ids of calls are refused */
#define ID_MISTRAL 9
#define BETWEEN "{\"role\":\"assistant\",\"content\":\"Understood.\"}"     /* what STRICT_ROLES puts after results */
#define PLACEHOLDER "{\"google\":{\"thought_signature\":\"skip_thought_signature_validator\"}}"

static bool wants(const struct convo *c, uint64_t quirk)
{
	return (c->quirks & quirk) != 0;
}

static void text_part(struct jw *w, const char *s, size_t n)
{
	jw_obj(w);
	jw_kstr(w, "type", "text");
	jw_kstrn(w, "text", s, n);
	jw_end(w);
}

/* {type: file, file: {filename, file_data}} or {type: image_url, image_url: {url}} */
static void image_part(struct jw *w, const struct image *im)
{
	const char *type = im->document ? "file" : "image_url", *slash = strrchr(im->name.p, '/');
	struct buf url;
	buf_init(&url, BUF_NOLIMIT);
	buf_addf(&url, "data:%s;base64,", im->media_type);
	buf_add(&url, im->text.p, im->text.len);
	jw_obj(w);
	jw_kstr(w, "type", type);
	jw_key(w, type);
	jw_obj(w);
	if (im->document)
		jw_kstr(w, "filename", slash && slash[1] ? slash + 1 : im->name.len > 0 ? im->name.p : "document.pdf");
	jw_kstrn(w, im->document ? "file_data" : "url", url.p, url.len);
	jw_end(w);
	jw_end(w);
	buf_free(&url);
}

static void image_parts(struct jw *w, const struct convo *c, const struct json *j)
{
	int list = json_get(j, 0, "images");
	for (struct json_iter it = json_iter(j, list); json_type(j, list) == JSON_ARRAY && json_next(&it);) {
		struct image im;
		struct buf label;
		image_load(&im, c, j, it.value, IMAGE_BYTES);
		if (im.media_type && !im.document && im.name.len > 0) {
			buf_init(&label, BUF_NOLIMIT);
			buf_addf(&label, "[image %s]", im.name.p);
			text_part(w, label.p, label.len);
			buf_free(&label);
		}
		if (im.media_type)
			image_part(w, &im);
		else
			text_part(w, im.text.p, im.text.len);
		image_free(&im);
	}
}

/* Strings go over as they are written: checked when they were parsed, and never twice converted. */
static void raw_string(struct jw *w, const char *key, const struct json *j, int v, const char *otherwise)
{
	size_t n;
	const char *raw = json_raw(j, v, &n);
	if (json_type(j, v) == JSON_STRING)
		jw_kraw(w, key, raw, n);
	else
		jw_kstr(w, key, otherwise);
}

static void content_string(struct jw *w, const struct convo *c, const struct json *j)
{
	int v = json_get(j, 0, "content");
	if (json_strlen(j, v) == 0 && wants(c, QUIRK_CONTENT_REQUIRED))
		jw_kstr(w, "content", "(empty)");
	else
		raw_string(w, "content", j, v, "");
}

/* Where a cache mark may go: before the brace that closes a text's part. The mark of the request before stays too. */
static void mark(struct convo *c, size_t at)
{
	if (c->last == CONVO_ASSISTANT)
		c->mark_before = c->mark_at;
	c->mark_at = at;
}

/* The content as a list: text, then images. */
static void content_parts(struct jw *w, struct convo *c, const struct json *j, bool with_images)
{
	bool empty = json_strlen(j, json_get(j, 0, "content")) == 0;
	jw_key(w, "content");
	jw_arr(w);
	if (!empty || !with_images) {                /* a part of no text is refused */
		jw_obj(w);
		jw_kstr(w, "type", "text");
		if (empty)
			jw_kstr(w, "text", "(empty)");
		else
			raw_string(w, "text", j, json_get(j, 0, "content"), "");
		jw_end(w);
		mark(c, w->b->len - 1);
	}
	if (with_images)
		image_parts(w, c, j);
	jw_end(w);
}

static void content(struct jw *w, struct convo *c, const struct json *j, bool with_images)
{
	if (with_images || wants(c, QUIRK_CACHE_PARTS))
		content_parts(w, c, j, with_images);
	else
		content_string(w, c, j);
}

/* Ids of calls as the provider takes them, the same for a call and its result. kept: the ids are its own. What becomes of
 * others ends in their digest, or is it: ids that differ must not become one. */
static void put_id(struct jw *w, const char *key, const struct convo *c, const struct json *j, int v, bool kept)
{
	struct buf id;
	char digest[SHA256_HEX];
	bool nine = true;
	buf_init(&id, BUF_NOLIMIT);
	json_str(j, v, &id);
	sha256_hex(digest, id.p, id.len);
	for (size_t i = 0; i < id.len; i++)
		nine = nine && (unsigned char)id.p[i] < 0x80 && isalnum((unsigned char)id.p[i]);
	if (wants(c, QUIRK_IDS_9) && !(nine && id.len == ID_MISTRAL)) {
		jw_kstrn(w, key, digest, ID_MISTRAL);
	} else if (!kept && id.len > ID_BYTES) {
		buf_truncate(&id, ID_BYTES - 13);
		buf_addf(&id, "_%.12s", digest);
		jw_kstrn(w, key, id.p, id.len);
	} else {
		raw_string(w, key, j, v, "");
	}
	buf_free(&id);
}

static void between(struct convo *c)
{
	if (c->last != CONVO_TOOL || !wants(c, QUIRK_STRICT_ROLES))
		return;
	request_message(c);
	buf_adds(&c->messages, BETWEEN);
}

/* Images of tool results, which cannot be part of a tool message: a user message after the last result. */
static void flush_pending(struct convo *c)
{
	if (c->pending.len == 0)
		return;
	request_message(c);
	buf_add(&c->messages, c->pending.p, c->pending.len);
	buf_adds(&c->messages, "]}");
	buf_clear(&c->pending);
	c->last = CONVO_USER;
}

static void add_user(struct convo *c, const struct json *j)
{
	flush_pending(c);
	between(c);
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "user");
	content(&w, c, j, json_count(j, json_get(j, 0, "images")) > 0);
	jw_end(&w);
	c->last = CONVO_USER;
}

static void add_tool(struct convo *c, const struct json *j)
{
	bool images = json_count(j, json_get(j, 0, "images")) > 0, inside = wants(c, QUIRK_IMAGES_IN_RESULTS);
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "tool");
	put_id(&w, "tool_call_id", c, j, json_get(j, 0, "tool_call_id"), c->ids_kept);
	content(&w, c, j, images && inside);
	jw_end(&w);
	c->last = CONVO_TOOL;
	if (!images || inside)
		return;
	struct buf parts;
	buf_init(&parts, CONVO_MAX);
	w = jw_begin(&parts);
	jw_arr(&w);
	image_parts(&w, c, j);
	if (c->pending.len == 0)
		buf_addf(&c->pending, "%s{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"The images of these "
		         "tool results:\"}", wants(c, QUIRK_STRICT_ROLES) ? BETWEEN "," : "");
	parts.p[0] = ',';
	buf_add(&c->pending, parts.p, parts.len);
	buf_free(&parts);
}

/* What came with a call of ours goes back with it. Where signatures are demanded the first call must have one: providers sign
 * only that of several. */
static void call_extra(struct jw *w, const struct convo *c, const struct json *j, int call, bool ours, bool first)
{
	int extra = json_get(j, call, "extra_content");
	size_t n;
	if (ours && json_type(j, extra) == JSON_OBJECT) {
		const char *raw = json_raw(j, extra, &n);
		jw_kraw(w, "extra_content", raw, n);
	} else if (first && wants(c, QUIRK_SKIP_SIGNATURE)) {
		jw_kraw(w, "extra_content", PLACEHOLDER, sizeof PLACEHOLDER - 1);
	}
}

static void calls(struct jw *w, const struct convo *c, const struct json *j, int list, bool ours)
{
	struct buf args;
	bool first = true;
	buf_init(&args, BUF_NOLIMIT);
	jw_key(w, "tool_calls");
	jw_arr(w);
	for (struct json_iter it = json_iter(j, list); json_next(&it); first = false) {
		jw_obj(w);
		put_id(w, "id", c, j, json_get(j, it.value, "id"), ours);
		jw_kstr(w, "type", "function");
		jw_key(w, "function");
		jw_obj(w);
		char *name = request_name(j, it.value);

		jw_kstr(w, "name", name);   /* an empty one would be refused with every later request */
		free(name);
		buf_clear(&args);
		struct jw in = jw_begin(&args);
		request_input(&in, j, json_get(j, it.value, "input"));
		jw_kstrn(w, "arguments", args.p, args.len);
		jw_end(w);
		call_extra(w, c, j, it.value, ours, first);
		jw_end(w);
	}
	jw_end(w);
	buf_free(&args);
}

/* What the provider wants to see again, of what chat_blocks writes: the first of each, and nothing else, for a log is a file
 * that anything may stand in. Returns whether reasoning_content was among it. */
static bool echo(struct jw *w, const struct convo *c, const struct json *j, int list)
{
	static const char *const members[] = { "reasoning_details", "reasoning_content", "reasoning", "extra_content" };
	unsigned done = 0;
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		if (json_get(j, it.value, "type") >= 0)      /* blocks of another wire */
			continue;
		for (struct json_iter m = json_iter(j, it.value); json_type(j, it.value) == JSON_OBJECT && json_next(&m);) {
			unsigned i = 0;
			size_t n;
			const char *raw = json_raw(j, m.value, &n);
			while (i < 4 && !json_eq(j, m.key, members[i]))
				i++;
			if (i == 4 || done & 1u << i || (i < 3 && wants(c, QUIRK_NO_REASONING_BACK)))
				continue;
			jw_kraw(w, members[i], raw, n);
			done |= 1u << i;
		}
	}
	return done & 2;
}

static void add_assistant(struct convo *c, const struct json *j)
{
	struct buf text;
	int list = json_get(j, 0, "tool_calls"), own = request_blocks(c, j);
	bool some = json_type(j, list) == JSON_ARRAY && json_count(j, list) > 0;
	bool ours = json_eq(j, json_get(j, 0, "model"), c->maker);
	if (json_strlen(j, json_get(j, 0, "content")) == 0 && !some)
		return;
	flush_pending(c);
	c->ids_kept = ours;
	request_message(c);
	struct jw w = jw_begin(&c->messages);
	jw_obj(&w);
	jw_kstr(&w, "role", "assistant");
	content_string(&w, c, j);
	if (some)
		calls(&w, c, j, list, ours);
	bool reasoning = own >= 0 && echo(&w, c, j, own);
	if (some && (c->quirks & QUIRK_REASONING_BACK) && !reasoning)
		jw_kstr(&w, "reasoning_content", "");
	jw_end(&w);
	c->last = CONVO_ASSISTANT;
	if (some)
		return;
	/* gateways hand the message on to providers that refuse white space at the end of a request */
	buf_init(&text, BUF_NOLIMIT);
	json_str(j, json_get(j, 0, "content"), &text);
	size_t keep = request_trim(text.p, text.len);
	c->has_final = keep < text.len;
	buf_clear(&c->final);
	if (c->has_final && keep > 0) {
		w = jw_begin(&c->final);
		jw_obj(&w);
		jw_kstr(&w, "role", "assistant");
		jw_kstrn(&w, "content", text.p, keep);
		jw_end(&w);
	}
	buf_free(&text);
}

int chat_add(struct convo *c, const struct json *message, struct err *e)
{
	(void)e;
	return request_add(c, message, add_user, add_assistant, add_tool);
}

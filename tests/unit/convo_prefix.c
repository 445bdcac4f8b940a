/* Automatic prompt caches find what begins as before: whatever comes,
	the bytes of a request up to the end of its last message
 * are the beginning of the next one's. For every wire, under every quirk that changes messages. */
#include <stdlib.h>

#include "llm/convo.h"
#include "tap.h"

static unsigned long seed;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(seed >> 33) % n;
}

static int load(void *arg, const char *ref, struct buf *bytes, struct err *e)
{
	(void)arg;
	(void)ref;
	(void)e;
	return buf_add(bytes, "GIF89a\1\0\2\0\0\0\0,\0;", 16);
}

static void add(struct convo *c, const char *line)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	if (json_parse(&j, line, strlen(line), &e) < 0 || convo_add(c, &j, &e) < 0)
		OK(false, "%s: %s", line, e.text);
	json_free(&j);
}

static const char image[] = ",\"images\":[{\"media_type\":\"image/gif\",\"blob\":\"b\",\"name\":\"a.gif\"}]";
static const char *const texts[] = {"", "well", "done \\n", "\\u00e4 \\\"quoted\\\"", " "};

/* An answer, and what makes the next request: results, a prompt, or both. */
static void turn(struct convo *c, unsigned n)
{
	static const char *const makers[] = {"p/m", "q/m"};
	unsigned calls = pick(4), maker = pick(2), blocks = pick(3);
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	buf_addf(&b, "{\"role\":\"assistant\",\"content\":\"%s\",\"model\":\"%s\"", texts[pick(5)], makers[maker]);
	for (unsigned i = 0; i < calls; i++)
		buf_addf(&b, "%s{\"id\":\"functions.f:%u_%u\",\"name\":\"f\",\"input\":{\"x\": %u}}", i ? "," : ","
			"\"tool_calls\":[", n, i, i);
	buf_adds(&b, calls ? "]" : "");
	if (blocks)
		buf_addf(&b, ",\"blocks\":{\"maker\":\"%s\",\"list\":[{\"reasoning_content\":\"hm %u\"}]}",
			makers[maker], n);
	buf_addc(&b, '}');
	add(c, b.p);
	for (unsigned i = 0; i < calls; i++) {
		buf_clear(&b);
		buf_addf(&b, "{\"role\":\"tool\",\"tool_call_id\":\"functions.f:%u_%u\",\"name\":\"f\",\"content\":"
			"\"%s\"%s%s}", n, i, texts[pick(5)],
		         pick(3) ? "" : ",\"is_error\":true", pick(4) ? "" : image);
		add(c, b.p);
	}
	if (!calls || pick(4) == 0) {
		buf_clear(&b);
		buf_addf(&b, "{\"role\":\"user\",\"content\":\"%s\"%s}", texts[1 + pick(3)], pick(4) ? "" : image);
		add(c, b.p);
	}
	buf_free(&b);
}

/* Without what closes it: }, ], } and white space. */
static size_t open_end(const struct buf *b)
{
	size_t n = b->len;
	while (n > 0 && strchr("]} \n", b->p[n - 1]))
		n--;
	return n;
}

static void stable(const struct wire *wire, uint64_t quirks, const char *name)
{
	struct call_options o = {.model = "m", .temperature = -1, .thinking = -1, .stream = true, .quirks = quirks,
		.style = STYLE_WIRE};
	struct convo c;
	struct buf last, now;
	struct err e = ERR_INIT;
	unsigned bad = 0;

	convo_init(&c, wire, "p/m");
	c.load = load;
	c.quirks = quirks;
	buf_init(&last, BUF_NOLIMIT);
	buf_init(&now, BUF_NOLIMIT);
	seed = 7;
	add(&c, "{\"role\":\"system\",\"content\":\"be brief\"}");
	add(&c, "{\"type\":\"tools\",\"tools\":[{\"name\":\"f\",\"description\":\"does f\",\"input_schema\":"
		"{\"type\":\"object\"}}]}");
	add(&c, "{\"role\":\"user\",\"content\":\"hi\"}");
	for (unsigned n = 0; n < 50; n++) {
		buf_clear(&now);
		if (wire->body(&c, &o, &now, &e) < 0)
			bad++;
		size_t same = open_end(&last);
		if (now.len < same || memcmp(now.p, last.p, same) != 0) {
			if (!bad++)
				printf("# turn %u\n# was: %s\n# is:  %s\n", n, last.p, now.p);
		}
		buf_clear(&last);
		buf_add(&last, now.p, now.len);
		turn(&c, n);
	}
	OK(bad == 0, "%s, %s: 50 turns, each request begins with the one before", wire->name, name);
	convo_free(&c);
	buf_free(&last);
	buf_free(&now);
}

int main(void)
{
	const struct wire *w;

	for (size_t i = 0; (w = wire_at(i)) != NULL; i++) {
		stable(w, 0, "as it is");
		stable(w, QUIRK_REASONING_BACK | QUIRK_STRICT_ROLES | QUIRK_SYSTEM_AS_USER | QUIRK_IDS_9 |
		       QUIRK_SKIP_SIGNATURE, "strict");
		stable(w, QUIRK_NO_REASONING_BACK | QUIRK_CACHE_PARTS | QUIRK_CONTENT_REQUIRED | QUIRK_IMAGES_IN_RESULTS, "parts");
	}
	return END();
}

/* toolline.c - the one argument that tells a person what a call does. */
#include <string.h>

#include "json/json.h"
#include "render.h"

/* In the order in which they tell most. */
static const char *const telling[] = {
	"command", "file_path", "path", "pattern", "url", "query", "uri", "name", "skill", "description", "prompt", "task",
	"text", "title", "id",
};

static bool scalar(const struct json *j, int v)
{
	enum json_type t = json_type(j, v);

	return t == JSON_STRING || t == JSON_NUMBER || t == JSON_BOOL;
}

static void add_value(struct buf *out, const struct json *j, int v)
{
	size_t n;
	const char *raw;

	if (json_str(j, v, out) == 0)
		return;
	raw = json_raw(j, v, &n);
	buf_add(out, raw ? raw : "", n);
}

static int choose(const struct json *j)
{
	for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
		if (json_type(j, json_get(j, 0, telling[i])) == JSON_STRING)
			return json_get(j, 0, telling[i]);
	for (struct json_iter it = json_iter(j, 0); json_next(&it);)
		if (scalar(j, it.value))
			return it.value;
	return -1;
}

void tool_argument(struct buf *out, const char *input)
{
	struct json j = JSON_INIT;
	int v;

	if (json_parse(&j, input, strlen(input), NULL) < 0 || json_type(&j, 0) != JSON_OBJECT) {
		buf_adds(out, input);
		json_free(&j);
		return;
	}
	v = choose(&j);
	if (v >= 0)
		add_value(out, &j, v);
	else if (json_count(&j, 0))
		json_compact(out, &j, 0);
	/* A search says little without where it looks. */
	if (v >= 0 && v == json_get(&j, 0, "pattern") && json_type(&j, json_get(&j, 0, "path")) == JSON_STRING) {
		buf_adds(out, " in ");
		add_value(out, &j, json_get(&j, 0, "path"));
	}
	json_free(&j);
}

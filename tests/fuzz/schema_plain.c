/* schema_plain.c - any JSON as a tool's schema: what comes out is one JSON object, bounded, in the words that it is to be in, and
 * the same again; made plain once more it stays legal. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "llm/schema_plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void words(const struct json *j, int v)
{
	static const char *const known[] = { "type", "description", "nullable", "enum", "format", "minimum", "maximum", "minLength",
		"maxLength", "minItems", "maxItems", "items", "properties", "required", "anyOf" };
	if (json_type(j, v) != JSON_OBJECT || (json_get(j, v, "type") < 0) == (json_get(j, v, "anyOf") < 0))
		abort();
	for (struct json_iter it = json_iter(j, v); json_next(&it);) {
		size_t i = 0;
		while (i < sizeof known / sizeof *known && !json_eq(j, it.key, known[i]))
			i++;
		if (i == sizeof known / sizeof *known)
			abort();
	}
	for (struct json_iter it = json_iter(j, json_get(j, v, "properties")); json_next(&it);)
		words(j, it.value);
	for (struct json_iter it = json_iter(j, json_get(j, v, "anyOf")); json_next(&it);)
		words(j, it.value);
	if (json_eq(j, json_get(j, v, "type"), "array") != (json_get(j, v, "items") >= 0))
		abort();
	if (json_get(j, v, "items") >= 0)
		words(j, json_get(j, v, "items"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json j = JSON_INIT, k = JSON_INIT;
	struct buf out, again;

	buf_init(&out, BUF_NOLIMIT);
	buf_init(&again, BUF_NOLIMIT);
	if (json_parse(&j, (const char *)data, size, NULL) == 0) {
		schema_plain(&out, &j, 0);
		schema_plain(&again, &j, 0);
		if (out.len != again.len || memcmp(out.p, again.p, out.len) != 0 || json_parse(&k, out.p, out.len, NULL) < 0)
			abort();
		words(&k, 0);
		buf_clear(&again);
		schema_plain(&again, &k, 0);
		if (json_parse(&j, again.p, again.len, NULL) < 0)
			abort();
		words(&j, 0);
	}
	json_free(&j);
	json_free(&k);
	buf_free(&out);
	buf_free(&again);
	return 0;
}

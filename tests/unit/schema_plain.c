/* schema_plain: what becomes of each keyword; schemas that lead back into themselves, are deep, large, or none. */
#include <stdlib.h>

#include "base/buf.h"
#include "llm/schema_plain.h"
#include "tap.h"

static struct buf out;

static const char *plain(const char *schema)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;

	buf_clear(&out);
	if (json_parse(&j, schema, strlen(schema), &e) < 0)
		return "(not JSON)";
	schema_plain(&out, &j, 0);
	json_free(&j);
	return out.p;
}

/* The schema of a property. */
static const char *property(const char *schema)
{
	static const char before[] = "{\"type\":\"object\",\"properties\":{\"x\":";
	struct buf all;

	buf_init(&all, BUF_NOLIMIT);
	buf_addf(&all, "{\"properties\":{\"x\":%s}}", schema);
	plain(all.p);
	buf_free(&all);
	if (strncmp(out.p, before, strlen(before)) != 0 || out.len < strlen(before) + 2)
		return out.p;
	buf_cut(&out, strlen(before));
	buf_truncate(&out, out.len - 2);
	return out.p;
}

#define X(schema, want) IS(property(schema), want, "%s", schema)

static void words(void)
{
	X("{\"type\":\"string\",\"description\":\"d\",\"default\":\"a\",\"pattern\":\"^a\",\"title\":\"X\"}",
	  "{\"type\":\"string\",\"description\":\"d\"}");
	X("{\"type\":\"string\",\"format\":\"uri\",\"minLength\":1,\"maxLength\":9}",
	  "{\"type\":\"string\",\"minLength\":1,\"maxLength\":9}");
	X("{\"type\":\"string\",\"format\":\"date-time\"}", "{\"type\":\"string\",\"format\":\"date-time\"}");
	X("{\"type\":\"integer\",\"exclusiveMinimum\":0,\"maximum\":10,\"format\":\"uint8\"}", "{\"type\":\"integer\",\"maximum\":10}");
	X("{\"type\":\"number\",\"minimum\":-1.5e3,\"multipleOf\":2}", "{\"type\":\"number\",\"minimum\":-1.5e3}");
	X("{\"type\":[\"string\",\"null\"]}", "{\"type\":\"string\",\"nullable\":true}");
	X("{\"type\":\"null\"}", "{\"type\":\"string\"}");
	X("{\"type\":[\"integer\",\"number\"]}", "{\"type\":\"number\"}");
	X("{\"type\":[\"string\",\"integer\",\"null\"],\"description\":\"d\",\"minimum\":1}",
	  "{\"anyOf\":[{\"type\":\"string\",\"description\":\"d\",\"nullable\":true},"
	  "{\"type\":\"integer\",\"description\":\"d\",\"nullable\":true,\"minimum\":1}]}");
	X("{\"type\":\"array\"}", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
	X("{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":1,\"uniqueItems\":true}",
	  "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"integer\"}}");
	X("{\"type\":\"array\",\"items\":[{\"type\":\"boolean\"},{}]}", "{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}");
	X("{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}", "{\"type\":\"object\"}");
	X("{\"properties\":{\"b\":{},\"a\":true},\"required\":[\"a\",\"gone\",\"a\",3],\"additionalProperties\":false}",
	  "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\"},\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}");
	X("{}", "{\"type\":\"string\"}");
	X("false", "{\"type\":\"string\"}");
	X("{\"type\":7,\"enum\":{},\"minimum\":\"1\",\"required\":1,\"properties\":2}", "{\"type\":\"object\"}");
	X("{\"type\":\"string\",\"minLength\":-1,\"maxLength\":1.5}", "{\"type\":\"string\"}");
}

static void values(void)
{
	X("{\"enum\":[\"a\",\"b\"]}", "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}");
	X("{\"enum\":[\"a\",null]}", "{\"type\":\"string\",\"nullable\":true,\"enum\":[\"a\"]}");
	X("{\"const\":\"a\",\"description\":\"d\"}", "{\"type\":\"string\",\"description\":\"d\",\"enum\":[\"a\"]}");
	X("{\"const\":3}", "{\"type\":\"integer\",\"description\":\"One of: 3\"}");
	X("{\"type\":\"integer\",\"enum\":[1,2],\"description\":\"d\"}", "{\"type\":\"integer\",\"description\":\"d\\nOne of: 1,2\"}");
	X("{\"type\":\"string\",\"enum\":[\"\",\"a\"]}", "{\"type\":\"string\",\"description\":\"One of: \\\"\\\",\\\"a\\\"\"}");
	X("{\"anyOf\":[{\"const\":\"a\"},{\"const\":\"b\"},{\"enum\":[\"c\"]}]}", "{\"type\":\"string\",\"enum\":[\"a\",\"b\",\"c\"]}");
	X("{\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"},{\"type\":\"null\"}]}",
	  "{\"type\":\"string\",\"nullable\":true,\"enum\":[\"a\"]}");
	X("{\"anyOf\":[{\"const\":1},{\"const\":2}]}", "{\"type\":\"integer\",\"description\":\"One of: 1,2\"}");
	X("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}],\"default\":null,\"description\":\"d\"}",
	  "{\"type\":\"string\",\"description\":\"d\",\"nullable\":true}");
	X("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}],\"description\":\"d\"}",
	  "{\"anyOf\":[{\"type\":\"string\",\"description\":\"d\"},{\"type\":\"integer\",\"description\":\"d\"}]}");
	X("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
	  "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}");
	X("{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]},"
	  "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"}}}]}",
	  "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"boolean\"}},\"required\":[\"a\"]}");
}

static void top(void)
{
	IS(plain("{}"), "{\"type\":\"object\",\"properties\":{}}", "nothing");
	IS(plain("[1]"), "{\"type\":\"object\",\"properties\":{}}", "no schema");
	IS(plain("{\"type\":\"string\",\"description\":\"d\"}"), "{\"type\":\"object\",\"description\":\"d\",\"properties\":{}}",
	   "the top is an object");
	IS(plain("{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]},"
	         "{\"properties\":{\"b\":{\"type\":\"string\"}}}]}"),
	   "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}}}",
	   "the branches of a choice at the top are joined");
	IS(plain("{\"$ref\":\"#/definitions/T\",\"definitions\":{\"T\":{\"properties\":{\"a\":{\"type\":\"string\"}},"
	         "\"required\":[\"a\"]}}}"),
	   "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}", "a $ref at the top");
}

static void refs(void)
{
	IS(plain("{\"properties\":{\"x\":{\"$ref\":\"#/$defs/a~1b\",\"description\":\"d\"},\"y\":{\"$ref\":\"#/$defs/a~1b\"}},"
	         "\"$defs\":{\"a/b\":{\"type\":\"string\",\"format\":\"uri\"}}}"),
	   "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\",\"description\":\"d\"},\"y\":{\"type\":\"string\"}}}",
	   "a $ref is put in place, as often as it comes");
	IS(plain("{\"properties\":{\"n\":{\"$ref\":\"#/$defs/N\"}},\"$defs\":{\"N\":{\"type\":\"object\",\"properties\":{"
	         "\"v\":{\"type\":\"integer\"},\"next\":{\"$ref\":\"#/$defs/N\"}},\"required\":[\"v\",\"next\"]}}}"),
	   "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\"},"
	   "\"next\":{\"type\":\"object\"}},\"required\":[\"v\",\"next\"]}}}", "one that leads back into itself ends there");
	IS(plain("{\"properties\":{\"all\":{\"$ref\":\"#\"}}}"),
	   "{\"type\":\"object\",\"properties\":{\"all\":{\"type\":\"object\"}}}", "the whole schema in itself");
	IS(plain("{\"properties\":{\"x\":{\"$ref\":\"#/$defs/A\"}},\"$defs\":{\"A\":{\"$ref\":\"#/$defs/B\"},"
	         "\"B\":{\"$ref\":\"#/$defs/A\"}}}"),
	   "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"object\"}}}", "two that are nothing but each other");
	IS(plain("{\"$ref\":\"#\"}"), "{\"type\":\"object\",\"properties\":{}}", "nothing but itself");
	IS(plain("{\"properties\":{\"x\":{\"$ref\":\"other.json#/a\"},\"y\":{\"$ref\":\"#/$defs/none\"},\"z\":{\"$ref\":3}}}"),
	   "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"object\"},\"y\":{\"type\":\"object\"},\"z\":{\"type\":\"object\"}}}",
	   "what leads elsewhere or nowhere");
	IS(plain("{\"properties\":{\"t\":{\"anyOf\":[{\"$ref\":\"#/$defs/T\"},{\"type\":\"null\"}]}},\"$defs\":{\"T\":{\"type\":\"array\","
	         "\"items\":{\"$ref\":\"#/$defs/T\"}}}}"),
	   "{\"type\":\"object\",\"properties\":{\"t\":{\"type\":\"array\",\"nullable\":true,\"items\":{\"type\":\"object\"}}}}",
	   "a list of itself or nothing");
}

/* JSON, within the bound, and the same again. */
static void sound(const char *schema, const char *what)
{
	struct json j = JSON_INIT;
	char *first = strdup(plain(schema));
	OK(json_parse(&j, first, strlen(first), NULL) == 0 && json_type(&j, 0) == JSON_OBJECT, "%s: is JSON", what);
	OK(strlen(first) < 4 * SCHEMA_BYTES, "%s: %zu bytes", what, strlen(first));
	OK(strcmp(first, plain(schema)) == 0, "%s: the same again", what);
	json_free(&j);
	free(first);
}

static void limits(void)
{
	struct buf s;
	buf_init(&s, BUF_NOLIMIT);
	for (int i = 0; i < 200; i++)
		buf_adds(&s, i % 2 ? "{\"items\":" : "{\"properties\":{\"x\":");
	buf_adds(&s, "{}");
	for (int i = 200; i-- > 0;)
		buf_adds(&s, i % 2 ? "}" : "}}");
	sound(s.p, "200 levels");

	buf_clear(&s);                               /* each of 30 definitions has the next one ten times */
	buf_adds(&s, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
	for (int i = 0; i < 30; i++) {
		buf_addf(&s, "%s\"d%d\":{\"properties\":{", i ? "," : "", i);
		for (int k = 0; k < 10; k++)
			buf_addf(&s, "%s\"p%d\":{\"$ref\":\"#/$defs/d%d\"}", k ? "," : "", k, i + 1);
		buf_adds(&s, "}}");
	}
	buf_adds(&s, "}}");
	sound(s.p, "definitions that multiply");

	buf_clear(&s);
	buf_adds(&s, "{\"properties\":{");
	for (int i = 0; i < 16000; i++)
		buf_addf(&s, "%s\"property%05d\":{\"type\":\"string\",\"description\":\"the one with the number %d\"}",
		         i ? "," : "", i, i);
	buf_adds(&s, "},\"required\":[");
	for (int i = 0; i < 16000; i++)
		buf_addf(&s, "%s\"property%05d\"", i ? "," : "", 15999 - i);
	buf_adds(&s, "]}");
	OK(s.len > 1000000, "%zu bytes of schema", s.len);
	sound(s.p, "1 MB");
	OK(strstr(plain(s.p), "\"property15999\":{\"type\":\"string\"}"), "1 MB: each property is there");

	buf_clear(&s);
	buf_adds(&s, "{\"properties\":{\"x\":");
	for (int i = 0; i < 100; i++)
		buf_adds(&s, "{\"allOf\":[{\"anyOf\":[");
	buf_adds(&s, "{\"type\":\"integer\"}");
	for (int i = 0; i < 100; i++)
		buf_adds(&s, "]}]}");
	buf_adds(&s, "}}");
	sound(s.p, "joined again and again");
	buf_free(&s);
}

int main(void)
{
	buf_init(&out, BUF_NOLIMIT);
	words();
	values();
	top();
	refs();
	limits();
	buf_free(&out);
	return END();
}

/* schema_check: each keyword, places, limits. */
#include "tap.h"

#include "agent/schema.h"

static char why_text[5000];

static const char *check(const char *schema, const char *value)
{
	struct json sj = JSON_INIT, j = JSON_INIT;
	struct buf why;
	int rc;

	buf_init(&why, SCHEMA_WHY_MAX);
	if (json_parse(&sj, schema, strlen(schema), NULL) < 0 || json_parse(&j, value, strlen(value), NULL) < 0)
		return "(not JSON)";
	rc = schema_check(&sj, 0, &j, 0, &why);
	snprintf(why_text, sizeof why_text, "%s", rc == 0 && !why.len ? "ok" : rc == 0 ? "(text without fault)" : why.p);
	buf_free(&why);
	json_free(&sj);
	json_free(&j);
	return why_text;
}

static const struct {
	const char *schema, *value, *want;
} rows[] = {
	{"{}", "3", "ok"},
	{"true", "3", "ok"},
	{"{\"type\":\"string\"}", "\"x\"", "ok"},
	{"{\"type\":\"string\"}", "3", "the arguments: expected string, got integer"},
	{"{\"type\":\"integer\"}", "3", "ok"},
	{"{\"type\":\"integer\"}", "3.0", "ok"},
	{"{\"type\":\"integer\"}", "1e3", "ok"},
	{"{\"type\":\"integer\"}", "123456789012345678901234567890", "ok"},
	{"{\"type\":\"integer\"}", "3.5", "the arguments: expected integer, got number"},
	{"{\"type\":\"number\"}", "3", "ok"},
	{"{\"type\":\"number\"}", "true", "the arguments: expected number, got boolean"},
	{"{\"type\":\"boolean\"}", "false", "ok"},
	{"{\"type\":\"null\"}", "null", "ok"},
	{"{\"type\":\"array\"}", "{}", "the arguments: expected array, got object"},
	{"{\"type\":[\"string\",\"null\"]}", "null", "ok"},
	{"{\"type\":[\"string\",\"null\"]}", "3", "the arguments: expected string or null, got integer"},
	{"{\"type\":\"unheard-of\"}", "3", "ok"},
	{"{\"enum\":[\"a\",1,{\"x\":1,\"y\":2}]}", "{\"y\":2,\"x\":1}", "ok"},
	{"{\"enum\":[\"a\",1]}", "\"b\"", "the arguments: expected one of [\"a\",1]"},
	{"{\"const\":1}", "2", "the arguments: expected 1"},
	{"{\"minimum\":1}", "1", "ok"},
	{"{\"minimum\":1}", "0", "the arguments: the number must be more than or equal to 1"},
	{"{\"maximum\":1.5}", "2", "the arguments: the number must be less than or equal to 1.5"},
	{"{\"exclusiveMinimum\":1}", "1", "the arguments: the number must be more than 1"},
	{"{\"exclusiveMaximum\":1}", "1", "the arguments: the number must be less than 1"},
	{"{\"maxLength\":2}", "\"\xc3\xa4\xc3\xb6\"", "ok"},
	{"{\"maxLength\":2}", "\"abc\"", "the arguments: the length must be less than or equal to 2"},
	{"{\"minLength\":1}", "\"\"", "the arguments: the length must be more than or equal to 1"},
	{"{\"minLength\":1}", "7", "ok"},
	{"{\"items\":{\"type\":\"string\"}}", "[\"a\",1,\"b\"]", "/1: expected string, got integer"},
	{"{\"minItems\":1}", "[]", "the arguments: the number of items must be more than or equal to 1"},
	{"{\"maxItems\":1}", "[1,2]", "the arguments: the number of items must be less than or equal to 1"},
	{"{\"required\":[\"a\"]}", "{\"a\":null}", "ok"},
	{"{\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"string\"}}}", "{}", "/a: missing, expected string"},
	{"{\"required\":[\"a\"]}", "{\"A\":1}", "/a: missing"},
	{"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", "ok"},
	{"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"b\":1}", "/b: not a known argument; known are a"},
	{"{\"additionalProperties\":{\"type\":\"string\"}}", "{\"b\":1}", "/b: expected string, got integer"},
	{"{\"properties\":{\"a/b~c\":{\"type\":\"string\"}}}", "{\"a/b~c\":1}", "/a~1b~0c: expected string, got integer"},
	{"{\"properties\":{\"a\":{\"items\":{\"properties\":{\"n\":{\"minimum\":5}}}}}}", "{\"a\":[{},{\"n\":4}]}",
	 "/a/1/n: the number must be more than or equal to 5"},
	{"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}}}", "{\"a\":1,\"b\":2}",
	 "/a: expected string, got integer; /b: expected string, got integer"},
	{"{\"format\":\"uri\",\"pattern\":\"^x\",\"$ref\":\"#/no\"}", "\"y\"", "ok"},
};

int main(void)
{
	const char *eleven = "[1,1,1,1,1,1,1,1,1,1,1]";
	int n = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		IS(check(rows[i].schema, rows[i].value), rows[i].want, "%s of %s", rows[i].value, rows[i].schema);
	for (const char *s = check("{\"items\":{\"type\":\"string\"}}", eleven); *s; s++)
		n += *s == ';';
	OK(n == SCHEMA_FAULTS - 1, "the first %d faults are named", SCHEMA_FAULTS);
	IS(check("{\"items\":{\"maximum\":0}}", "[0,0,0,0,0,0,0,0,0,0,1]"), "/10: the number must be less than or equal to 0",
	   "two digits in a pointer");
	return END();
}

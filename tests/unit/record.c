/* Canonical requests, secrets, and where two requests part. */
#include <stdlib.h>

#include "llm/record.h"
#include "tap.h"

static void canon(const char *body, const char *want, const char *what)
{
	static const struct record_names names = {.cwd = "/tmp/a \"b\"", .home = "/tmp", .key = "sk-1\\2"};
	struct buf out;

	buf_init(&out, BUF_NOLIMIT);
	OK(record_canon(&out, &names, "w", "/p", body, strlen(body), NULL) == 0, "%s: is JSON", what);
	buf_truncate(&out, out.len > 24 ? out.len - 24 : 0);   /* ,"path":"/p","wire":"w"} */
	IS(out.p + 8, want, "%s", what);
	buf_free(&out);
}

static void differ(const char *a, const char *b, const char *want)
{
	struct json x = JSON_INIT, y = JSON_INIT;
	struct buf p;
	int va, vb;

	buf_init(&p, 100);
	json_parse(&x, a, strlen(a), NULL);
	json_parse(&y, b, strlen(b), NULL);
	OK(record_differ(&x, 0, &y, 0, &p, &va, &vb) == (want != NULL), "%s and %s %s", a, b, want ? "differ" : "are equal");
	IS(p.p, want ? want : "", "at the right place");
	buf_free(&p);
	json_free(&x);
	json_free(&y);
}

int main(void)
{
	struct buf out;

	canon("{\"b\":1.50,\"a\":[ ]}", "{\"a\":[],\"b\":1.50}", "sorted, numbers as written");
	canon("[\"/tmp/a \\\"b\\\"/c\",\"/tmp/x\",\"/tmpx\",\"/tmp\"]", "[\"{cwd}/c\",\"{home}/x\",\"/tmpx\",\"{home}\"]",
	      "directories, as JSON spells them, at their ends");
	canon("[\"on 2026-11-30.\",\"12026-11-30\",\"2026-11-301\",\"9026-11-30\",\"2026-1-30\"]",
	      "[\"on {date}.\",\"12026-11-30\",\"2026-11-301\",\"9026-11-30\",\"2026-1-30\"]", "dates");
	canon("[\"sk-1\\\\2\"]", "[\"***\"]", "the key");

	buf_init(&out, 100);
	record_mask(&out, "a SECRET SECRETb SECRE", 22, "SECRET");
	IS(out.p, "a *** ***b SECRE", "a secret is masked wherever it stands");
	buf_clear(&out);
	record_mask(&out, "abc", 3, NULL);
	IS(out.p, "abc", "no secret, no change");
	buf_free(&out);

	differ("{\"a\":1,\"b\":[1,{\"c\":\"x\"}]}", "{\"b\":[1,{\"c\":\"y\"}],\"a\":1}", "/b/1/c");
	differ("{\"a\":1}", "{\"a\":1}", NULL);
	differ("{\"a\":1}", "{\"a\":\"1\"}", "/a");
	differ("[1,2]", "[1,2,3]", "/2");
	differ("{\"a\":1}", "{\"a\":1,\"b\":null}", "/b");
	differ("{\"x/y~\":1}", "{\"x/y~\":2}", "/x~1y~0");
	differ("1", "2", "");
	differ("{\"a\":{\"z\":1},\"b\":1}", "{\"a\":{\"z\":1},\"b\":2}", "/b");
	return END();
}

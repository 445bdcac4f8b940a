/* Canonical requests, secrets, and where two requests part. */
#include <stdlib.h>

#include "llm/record.h"
#include "tap.h"

static void canon(const char *body, const char *want, const char *what)
{
	static const struct record_names names = {.cwd = "/tmp/a \"b\"", .home = "/tmp", .key = "sk-1\\2-/xyz"};
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

static void mask(const char *secret, const char *text, const char *want, const char *what)
{
	struct buf out;

	buf_init(&out, 1000);
	record_mask(&out, text, strlen(text), secret);
	IS(out.p, want, "%s", what);
	buf_free(&out);
}

static void masks(void)
{
	static const char key[] = "sk-ant-api03-Ab/c+d_e%f0123456789";
	struct buf out;

	mask("SECRET-1", "a SECRET-1 SECRET-1b SECRET-", "a *** ***b SECRET-", "a secret is masked wherever it stands");
	mask(NULL, "abc", "abc", "no secret, no change");
	mask("", "abc", "abc", "an empty secret, no change");
	mask(key, "(sk-ant-api03-Ab/c+d_e%f0123456789)", "(***)", "as it is");
	mask(key, "{\"k\":\"sk-ant-api03-Ab\\/c\\u002bd_e%f0123456789\"}", "{\"k\":\"***\"}", "as JSON has it");
	mask(key, "\"{\\\"k\\\":\\\"sk-ant-api03-Ab\\\\/c\\\\u002bd_e%f0123456789\\\"}\"", "\"{\\\"k\\\":\\\"***\\\"}\"", "JSON in a string of JSON");
	mask(key, "https://x/?k=sk-ant-api03-Ab%2Fc%2bd_e%25f0123456789&b", "https://x/?k=***&b", "as a URL has it");
	mask(key, "\\u0073k-ant-api03-Ab/c+d_e%f0123456789%73%6B", "***%73%6B", "from its first character on");
	mask(key, "key sk-ant-api03-Ab/c...", "key ***...", "cut");
	mask(key, "begins with sk-ant-api03-", "begins with sk-ant-api03-", "what many keys begin with");
	mask("a\\\\bcdefgh", "a\\\\bcdefgh a\\\\\\\\bcdefgh", "*** ***", "with backslashes, plain and in JSON");
	mask("k", "invalid x-api-key: check the key k, (k)", "invalid x-api-key: check the key ***, (***)", "one letter");
	mask("x", "invalid x-api-key, x_y, \303\244x", "invalid x-api-key, x_y, \303\244x", "a part of a word is none");
	mask("key", "invalid x-api-key. keyed monkey. 'key'", "invalid x-api-key. keyed monkey. '***'", "a short word");
	mask("none", "none: nonetheless", "***: nonetheless", "another");
	mask("%", "100% %", "100% ***", "a sign behind a number");
	for (size_t n = 1; n < sizeof key - 1; n++) {      /* no prefix reads beyond the text */
		char *text = strndup(key, n);

		buf_init(&out, 100);
		record_mask(&out, text, n, key);
		IS(out.p, n < 16 ? text : "***", "the first %zu bytes", n);
		buf_free(&out);
		free(text);
	}
}

static void canon_short(void)
{
	static const struct record_names names = {.key = "word"};
	struct buf out;

	buf_init(&out, BUF_NOLIMIT);
	record_canon(&out, &names, "w", "/p", "[\"a word\"]", 10, NULL);
	OK(strstr(out.p, "a word") != NULL, "a short key is not looked for in a conversation");
	buf_free(&out);
}

int main(void)
{
	canon("{\"b\":1.50,\"a\":[ ]}", "{\"a\":[],\"b\":1.50}", "sorted, numbers as written");
	canon("[\"/tmp/a \\\"b\\\"/c\",\"/tmp/x\",\"/tmpx\",\"/tmp\"]", "[\"{cwd}/c\",\"{home}/x\",\"/tmpx\",\"{home}\"]",
	      "directories, as JSON spells them, at their ends");
	canon("[\"on 2026-11-30.\",\"12026-11-30\",\"2026-11-301\",\"9026-11-30\",\"2026-1-30\"]",
	      "[\"on {date}.\",\"12026-11-30\",\"2026-11-301\",\"9026-11-30\",\"2026-1-30\"]", "dates");
	canon("[\"sk-1\\\\2-/xyz\",\"sk-1\"]", "[\"***\",\"sk-1\"]", "the key");
	canon_short();

	masks();

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

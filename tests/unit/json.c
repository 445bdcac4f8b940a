/* The tokenizer, the writer and the mending of nearly-JSON. */
#include "json/json.h"

#include <stdlib.h>

#include "json/jw.h"
#include "tap.h"

static enum json_fault fault_of(const char *text, size_t n)
{
	struct json j = JSON_INIT;
	enum json_fault f;

	json_parse(&j, text, n, NULL);
	f = j.fault;
	json_free(&j);
	return f;
}

#define FAULT(text) fault_of(text, sizeof(text) - 1)

static void faults(void)
{
	static const char *const bad[] = {"[1,]", "[,1]", "{\"a\":1,}", "{a:1}", "01", ".5", "+1", "nul0", "[1 2]",
	                                  "{\"a\" 1}", "\"\\x\"", "\"\\u12g4\"", "{}x", "[}", "{\"a\":1]", "tru e", "--1", "'a'"};
	static const char *const cut[] = {"", "{", "[1", "\"abc", "{\"a\"", "{\"a\":", "tru", "-", "[1,", "\"\\u12", "1.", "1e"};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		OK(fault_of(bad[i], strlen(bad[i])) == JSON_SYNTAX, "refused: %s", bad[i]);
	for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
		OK(fault_of(cut[i], strlen(cut[i])) == JSON_CUT, "cut: %s", cut[i]);
	OK(FAULT("\"\xff\"") == JSON_BAD_UTF8, "invalid UTF-8");
	OK(FAULT("\"\xed\xa0\x80\"") == JSON_BAD_UTF8, "a surrogate in UTF-8");
	OK(FAULT("\"\xc0\x80\"") == JSON_BAD_UTF8, "an overlong form");
	OK(FAULT("\"a\0b\"") == JSON_NUL, "a raw NUL");
	OK(FAULT("\"\\u0000\"") == JSON_NUL, "an escaped NUL");
	OK(FAULT("\"\\ud99c\"") == JSON_SURROGATE, "a lone high surrogate");
	OK(FAULT("\"\\udc00\"") == JSON_SURROGATE, "a lone low surrogate");
	OK(FAULT("\"\\ud800\\u0041\"") == JSON_SURROGATE, "a high surrogate before a letter");
	OK(FAULT("\"\t\"") == JSON_CONTROL, "a raw control character");
	OK(FAULT("{\"a\":1,\"a\":2}") == JSON_DUPLICATE, "a key twice");
	OK(FAULT("{\"a\":1,\"\\u0061\":2}") == JSON_DUPLICATE, "a key twice, once escaped");
	OK(FAULT("[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]") == JSON_DUPLICATE, "a key twice, deep inside");
	OK(FAULT("{\"a\":1,\"A\":2}") == JSON_FINE, "keys differ by case");
}

static void many_keys(void)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	buf_addc(&b, '{');
	for (int i = 0; i < 3000; i++)
		buf_addf(&b, "\"k%d\":%d,", i, i);
	buf_adds(&b, "\"last\":1}");
	OK(fault_of(b.p, b.len) == JSON_FINE, "3000 different keys");
	buf_truncate(&b, b.len - strlen("\"last\":1}"));
	buf_adds(&b, "\"k1234\":1}");
	OK(fault_of(b.p, b.len) == JSON_DUPLICATE, "one of 3000 keys twice");
	buf_free(&b);
}

static void deep(void)
{
	char text[2 * JSON_DEPTH + 2];

	memset(text, '[', JSON_DEPTH);
	memset(text + JSON_DEPTH, ']', JSON_DEPTH);
	OK(fault_of(text, 2 * JSON_DEPTH) == JSON_FINE, "the deepest that is allowed");
	memset(text, '[', JSON_DEPTH + 1);
	memset(text + JSON_DEPTH + 1, ']', JSON_DEPTH + 1);
	OK(fault_of(text, 2 * JSON_DEPTH + 2) == JSON_DEEP, "one deeper");
}

static void reading(void)
{
	static const char text[] = " {\"n\":9007199254740993,\"s\":\"a\\n\\u00e9\\ud83d\\ude00\",\"l\":[1,{\"x\":true},[]],"
	                           "\"e\":1e3,\"f\":1.5,\"big\":12345678901234567890,\"b\\u0061d\":null} ";
	struct json j = JSON_INIT;
	struct buf b;
	int64_t n = 0;
	char *s;
	size_t len;
	int count = 0;

	OK(json_parse(&j, text, sizeof text - 1, NULL) == 0, "a document");
	OK(json_i64(&j, json_get(&j, 0, "n"), &n) == 0 && n == 9007199254740993, "an integer above 2^53 is exact");
	OK(json_i64(&j, json_get(&j, 0, "e"), &n) == 0 && n == 1000, "1e3 is an integer");
	OK(json_i64(&j, json_get(&j, 0, "f"), &n) < 0, "1.5 is none");
	OK(json_i64(&j, json_get(&j, 0, "big"), &n) < 0, "what does not fit is refused");
	s = json_dup(&j, json_get(&j, 0, "s"));
	IS(s, "a\n\xc3\xa9\xf0\x9f\x98\x80", "escapes are decoded");
	OK(json_strlen(&j, json_get(&j, 0, "s")) == 8, "decoded length");
	free(s);
	OK(json_true(&j, json_path(&j, 0, "l.1.x")), "a path through arrays");
	OK(json_path(&j, 0, "l.7.x") == -1 && json_get(&j, -1, "x") == -1, "what is not there is -1");
	OK(json_type(&j, json_get(&j, 0, "bad")) == JSON_NULL, "an escaped key is found");
	OK(json_get(&j, 0, "S") == -1, "case matters");
	for (struct json_iter it = json_iter(&j, 0); json_next(&it);)
		count++;
	OK(count == 7 && json_count(&j, 0) == 7, "members");
	OK(!memcmp(json_raw(&j, json_get(&j, 0, "big"), &len), "12345678901234567890", 20) && len == 20, "raw bytes");
	buf_init(&b, BUF_NOLIMIT);
	json_canon(&b, &j, 0);
	IS(b.p, "{\"bad\":null,\"big\":12345678901234567890,\"e\":1e3,\"f\":1.5,\"l\":[1,{\"x\":true},[]],"
	        "\"n\":9007199254740993,\"s\":\"a\\n\xc3\xa9\xf0\x9f\x98\x80\"}", "canonical form");
	buf_free(&b);
	json_free(&j);
}

static void mend(const char *text, size_t n, const char *want, size_t repairs, const char *name)
{
	struct json j = JSON_INIT;
	struct buf b;
	size_t r;

	buf_init(&b, BUF_NOLIMIT);
	r = json_repair(&b, text, n);
	IS(b.p, want, "%s", name);
	OK(r == repairs && json_parse(&j, b.p, b.len, NULL) == 0, "%s: %zu repairs, then it parses", name, repairs);
	json_free(&j);
	buf_free(&b);
}

#define MEND(text, want, repairs, name) mend(text, sizeof(text) - 1, want, repairs, name)

static void mending(void)
{
	MEND("{\"a\":\"x\\ud99cy\"}", "{\"a\":\"x\\ufffdy\"}", 1, "lone high surrogate");
	MEND("{\"a\":\"\\udc00\"}", "{\"a\":\"\\ufffd\"}", 1, "lone low surrogate");
	MEND("[\"\\ud83d\\ude00\"]", "[\"\\ud83d\\ude00\"]", 0, "a pair stays");
	MEND("[\"\\\\ud99c\"]", "[\"\\\\ud99c\"]", 0, "an escaped backslash is no escape");
	MEND("[\"x\\u0000y\"]", "[\"x\\ufffdy\"]", 1, "escaped NUL");
	MEND("[\"x\0y\"]", "[\"x\xef\xbf\xbdy\"]", 1, "raw NUL");
	MEND("[\"a\tb\"]", "[\"a\\u0009b\"]", 1, "raw TAB");
	MEND("[\t1]", "[\t1]", 0, "white space stays");
	MEND("[\"\xe4\xb8\"]", "[\"\xef\xbf\xbd\"]", 1, "a cut character");
	MEND("[\"\xff\xfe\"]", "[\"\xef\xbf\xbd\xef\xbf\xbd\"]", 2, "two bad bytes");
}

static void writing(void)
{
	struct buf b;
	struct jw w;

	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_ki64(&w, "n", INT64_MIN);
	jw_key(&w, "l");
	jw_arr(&w);
	jw_double(&w, 0.1);
	jw_double(&w, 1.0 / 0.0);
	jw_str(&w, NULL);
	jw_end(&w);
	jw_kstrn(&w, "s", "a\"\\\n\x01\x7f\xff\0z", 9);
	jw_kraw(&w, "r", "[1,2]", 5);
	jw_end(&w);
	IS(b.p, "{\"n\":-9223372036854775808,\"l\":[0.1,null,null],\"s\":\"a\\\"\\\\\\n\\u0001\\u007f\xef\xbf\xbd\xef\xbf\xbdz\","
	        "\"r\":[1,2]}", "the writer");
	buf_free(&b);
}

int main(void)
{
	faults();
	many_keys();
	deep();
	reading();
	mending();
	writing();
	return END();
}

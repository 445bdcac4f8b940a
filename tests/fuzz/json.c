/* json.c - any bytes: what is repaired parses or not by syntax alone; what parses has one canonical form, and its
 * values can be read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct json *j, int v)
{
	int64_t n;
	double d;
	struct buf s;
	buf_init(&s, BUF_NOLIMIT);
	if (json_str(j, v, &s) == 0 && s.len != json_strlen(j, v))
		abort();
	buf_free(&s);
	json_i64(j, v, &n);
	json_double(j, v, &d);
	int count = 0;
	for (struct json_iter it = json_iter(j, v); json_next(&it); count++)
		walk(j, it.value);
	if (count != json_count(j, v))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json j = JSON_INIT, k = JSON_INIT;
	struct buf mended, one, two;
	buf_init(&mended, BUF_NOLIMIT);
	buf_init(&one, BUF_NOLIMIT);
	buf_init(&two, BUF_NOLIMIT);
	int whole = json_parse(&j, (const char *)data, size, NULL);
	if (whole == 0) {
		walk(&j, 0);
		json_canon(&one, &j, 0);
		if (json_parse(&k, one.p, one.len, NULL) < 0)
			abort();
		json_canon(&two, &k, 0);
		if (one.len != two.len || memcmp(one.p, two.p, one.len) != 0)
			abort();
	}
	json_repair(&mended, (const char *)data, size);
	if (whole < 0 && json_parse(&j, mended.p, mended.len, NULL) < 0 &&
	    (j.fault == JSON_BAD_UTF8 || j.fault == JSON_NUL || j.fault == JSON_SURROGATE))
		abort();
	json_free(&j);
	json_free(&k);
	buf_free(&mended);
	buf_free(&one);
	buf_free(&two);
	return 0;
}

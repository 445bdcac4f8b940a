#include <stdlib.h>

#include "net/values.h"
#include "tap.h"

static struct buf got;

static void heard(void *arg, char *data, size_t len)
{
	(void)arg;
	buf_addc(&got, '<');
	buf_add(&got, data, len);
	buf_addc(&got, '>');
}

static const char *values(const char *text, size_t n, size_t step)
{
	struct values v;

	buf_clear(&got);
	values_init(&v, heard, NULL);
	for (size_t at = 0; at < n; at += step)
		values_feed(&v, text + at, n - at < step ? n - at : step);
	values_end(&v);
	values_free(&v);
	return got.p;
}

static void check(const char *text, const char *want, const char *name)
{
	size_t n = strlen(text);

	IS(values(text, n, n ? n : 1), want, "%s", name);
	for (size_t step = 1; step < 4; step++)
		IS(values(text, n, step), want, "%s, %zu at a time", name, step);
}

static void limit(void)
{
	struct values v;
	char *mib = malloc(1 << 20);
	int r = 0, pieces = 0;

	memset(mib, 'x', 1 << 20);
	buf_clear(&got);
	values_init(&v, heard, NULL);
	values_feed(&v, "{\"a\":\"", 6);
	while (r == 0 && pieces < 80) {
		r = values_feed(&v, mib, 1 << 20);
		pieces++;
	}
	OK(r < 0 && pieces >= 63 && pieces <= 66, "a value over the limit is refused (%d MiB)", pieces);
	OK(values_feed(&v, "\"}\n{}\n", 6) < 0, "and so is the rest");
	values_end(&v);
	OK(got.len == 0, "nothing of it is delivered");
	values_free(&v);
	free(mib);
}

int main(void)
{
	buf_init(&got, BUF_NOLIMIT);
	check("", "", "nothing");
	check("{\"a\":1}\n{\"b\":2}\n", "<{\"a\":1}><{\"b\":2}>", "a value a line");
	check("{\"a\":1}\r\n\r\n{\"b\":2}\r\n", "<{\"a\":1}><{\"b\":2}>", "CRLF");
	check("{\"a\":1}\n{\"b\":2}", "<{\"a\":1}><{\"b\":2}>", "no line end after the last");
	check("{\"a\":1}{\"b\":2}", "<{\"a\":1}><{\"b\":2}>", "nothing between them");
	check(" \n{\n \"a\": [1,\n 2]\n}\n", "<{\n \"a\": [1,\n 2]\n}>", "over several lines");
	check("[{\"a\":1}\n,\r\n{\"b\":[{}]}]\n", "<{\"a\":1}><{\"b\":[{}]}>", "one array");
	check("[]", "", "an empty array");
	check("{\"a\":\"}{\\\"]\\\\\"}{}", "<{\"a\":\"}{\\\"]\\\\\"}><{}>", "brackets in strings");
	check("{\"a\":1}\noops, no JSON\n{\"b\":2}\n", "<{\"a\":1}><oops, no JSON\n><{\"b\":2}>", "junk between them");
	check("{\"a\":1}\n[{\"b\":2}]\n", "<{\"a\":1}><[{\"b\":2}]\n>", "an array after a value is junk");
	check("{\"a\":1}\n{\"b\":", "<{\"a\":1}><{\"b\":>", "cut off: the caller sees that it is none");
	check("{\"a\":[}]\n{}", "<{\"a\":[}]><{}>", "brackets are counted, not matched");
	IS((values("{}\0{}", 5, 1), got.len == 9 ? "junk" : "other"), "junk", "a NUL between them is junk, not an end");
	limit();
	buf_free(&got);
	return END();
}

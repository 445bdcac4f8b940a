#include <stdlib.h>

#include "net/sse.h"
#include "tap.h"

static struct buf got;

static void heard(void *arg, const char *name, char *data, size_t len)
{
	(void)arg;
	buf_addf(&got, "[%s|", name);
	buf_add(&got, data, len);
	buf_addc(&got, ']');
}

static const char *events(const char *text, size_t n, size_t step)
{
	struct sse s;
	buf_clear(&got);
	sse_init(&s, heard, NULL);
	for (size_t at = 0; at < n; at += step)
		sse_feed(&s, text + at, n - at < step ? n - at : step);
	sse_end(&s);
	sse_free(&s);
	return got.p;
}

static void check(const char *text, const char *want, const char *name)
{
	size_t n = strlen(text);
	IS(events(text, n, n ? n : 1), want, "%s", name);
	for (size_t step = 1; step < 4; step++)
		IS(events(text, n, step), want, "%s, %zu at a time", name, step);
}

static void limit(void)
{
	struct sse s;
	char *mib = malloc(1 << 20);
	int r = 0, pieces = 0;
	memset(mib, 'x', 1 << 20);
	buf_clear(&got);
	sse_init(&s, heard, NULL);
	sse_feed(&s, "data:", 5);
	while (r == 0 && pieces < 80) {
		r = sse_feed(&s, mib, 1 << 20);
		pieces++;
	}
	OK(r < 0 && pieces >= 64 && pieces <= 66, "an event over the limit is refused (%d MiB)", pieces);
	OK(sse_feed(&s, "\n\ndata: y\n\n", 11) < 0, "and so is the rest");
	sse_end(&s);
	OK(got.len == 0, "nothing of it is delivered");
	sse_free(&s);
	free(mib);
}

int main(void)
{
	buf_init(&got, BUF_NOLIMIT);
	check("data: a\n\ndata: b\n\n", "[|a][|b]", "LF");
	check("data: a\r\n\r\ndata: b\r\n\r\n", "[|a][|b]", "CRLF");
	check("data: a\r\rdata: b\r\r", "[|a][|b]", "CR");
	check("data: a\n\r\ndata: b\r\n\n", "[|a][|b]", "mixed");
	check("data: a\ndata: b\ndata\ndata:\n\n", "[|a\nb\n\n]", "several data lines");
	check("data:a\n\ndata:  b\n\n", "[|a][| b]", "one space after the colon is dropped");
	check("event: e\ndata: a\n\ndata: b\n\n", "[e|a][|b]", "a name holds for one event");
	check("event: e\n\ndata: b\n\n", "[|b]", "no data, no event");
	check(": hi\n:\n\nid: 3\nretry: 9\nnoise\ndata: a\n\n", "[|a]", "comments and other fields");
	check("\xef\xbb\xbf" "data: a\n\n", "[|a]", "BOM");
	check("\xef\xbb" "data: a\n\ndata: b\n\n", "[|b]", "half a BOM is part of the line");
	check("data: a\n\n\xef\xbb\xbf" "data: b\n\n", "[|a]", "only the first BOM is one");
	check("data: a\n\ndata: b", "[|a][|b]", "the end of the stream ends the event");
	check("data: a\n\ndata: b\r", "[|a][|b]", "also after CR");
	check("data: a\nerror: {\"x\":1}\n\n", "[|a][error|{\"x\":1}]", "the error field");
	check("error:\n\ndata: a\n\n", "[|a]", "an empty error field is none");
	check("", "", "nothing");
	check("\n\n\r\r\n", "", "blank lines");
	limit();
	buf_free(&got);
	return END();
}

/* Lines in and out: every cut of the bytes gives the same lines; limits, ends, and a queue that does not block. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/lines.h"
#include "proto/out.h"
#include "tap.h"

/* What lines makes of text when each read brings at most step bytes: "[line]", "[long]", "[cut:line]". */
static void lines_of(const char *text, size_t n, size_t step, size_t max, struct buf *seen)
{
	struct lines in;
	struct line l;
	int p[2];
	size_t sent = 0;
	bool over = false;

	if (pipe(p) < 0)
		exit(1);
	lines_init(&in, p[0], max);
	while (!over) {
		switch (lines_next(&in, &l)) {
		case LINES_LINE:
			buf_addf(seen, "[%s%lu:", l.cut ? "cut " : "", l.no);
			buf_add(seen, l.p, l.len);
			buf_addc(seen, ']');
			break;
		case LINES_LONG:
			buf_addf(seen, "[long %lu]", l.no);
			break;
		case LINES_END:
			over = true;
			break;
		case LINES_NEED:
			if (sent < n) {
				size_t k = n - sent < step ? n - sent : step;

				sent += (size_t)write(p[1], text + sent, k);
			} else if (p[1] >= 0) {
				close(p[1]);
				p[1] = -1;
			}
			lines_fill(&in, NULL);
			break;
		}
	}
	lines_free(&in);
	close(p[0]);
}

static void same(const char *text, size_t n, size_t max, const char *want, const char *name)
{
	static const size_t steps[] = {1, 2, 3, 7, 4096};
	struct buf seen;

	buf_init(&seen, BUF_NOLIMIT);
	for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
		buf_clear(&seen);
		lines_of(text, n, steps[k], max, &seen);
		if (strcmp(seen.p, want))
			break;
	}
	IS(seen.p, want, "%s", name);
	buf_free(&seen);
}

#define SAME(text, max, want, name) same(text, sizeof(text) - 1, max, want, name)

static void reading(void)
{
	SAME("", 100, "", "nothing");
	SAME("a\nb\n", 100, "[1:a][2:b]", "lines");
	SAME("a\r\nb\r\n", 100, "[1:a][2:b]", "CR before LF is dropped");
	SAME("a\rb\n", 100, "[1:a\rb]", "a CR elsewhere stays");
	SAME("\n\nx\n", 100, "[1:][2:][3:x]", "empty lines count");
	SAME("a\nlast", 100, "[1:a][cut 2:last]", "a last line without its end");
	SAME("12345\n123456\nok\n", 5, "[1:12345][long 2][3:ok]", "one byte too long");
	SAME("123456", 5, "[long 1]", "too long and without end");
	SAME("12345\r\nx\n", 5, "[1:12345][2:x]", "the line end does not count");
	SAME("a\xe2\x80\xa8" "b\n", 100, "[1:a\xe2\x80\xa8" "b]", "U+2028 ends nothing");
}

static void big(void)
{
	size_t n = (size_t)3 << 20;
	char *text = malloc(n + 3), *want = malloc(n + 32);
	struct buf seen;

	if (!text || !want)
		exit(1);
	memset(text, 'x', n);
	memcpy(text + n, "\ny", 2);
	buf_init(&seen, BUF_NOLIMIT);
	lines_of(text, n + 2, 65536, LINE_MAX_BYTES, &seen);
	OK(seen.len == n + strlen("[1:][cut 2:y]") && !memcmp(seen.p + seen.len - 9, "[cut 2:y]", 9), "3 MiB in one line");
	buf_clear(&seen);
	lines_of(text, n + 2, 65536, 1000, &seen);
	IS(seen.p, "[long 1][cut 2:y]", "or skipped to its end");
	buf_free(&seen);
	free(text);
	free(want);
}

static void writing(void)
{
	struct out o;
	struct err e = ERR_INIT;
	char got[64] = "";
	char *much = malloc(300000);
	int p[2], r, turns = 0;
	size_t all = 0;

	if (!much || pipe(p) < 0)
		exit(1);
	out_init(&o, p[1]);
	out_line(&o, "one", 3, &e);
	out_line(&o, "two", 3, &e);
	OK(out_left(&o) == 8, "lines gather");
	OK(out_flush(&o, &e) == 0 && read(p[0], got, sizeof got) == 8 && !memcmp(got, "one\ntwo\n", 8), "and leave together");
	memset(much, 'm', 300000);
	out_nonblock(&o);
	out_line(&o, much, 300000, &e);
	OK(out_flush(&o, &e) == 1 && out_left(&o) > 0, "a full pipe does not block a queue");
	do {
		ssize_t n = read(p[0], much, 65536);

		all += n > 0 ? (size_t)n : 0;
		r = out_flush(&o, &e);
	} while (r == 1 && ++turns < 1000);
	all += (size_t)read(p[0], much, 300000);
	OK(r == 0 && all == 300001, "all of it comes");
	close(p[0]);
	out_line(&o, "x", 1, &e);
	OK(out_flush(&o, &e) == 0 && o.closed, "without a reader it closes itself");
	OK(out_line(&o, "y", 1, &e) == 0 && out_left(&o) == 0, "and drops the rest");
	out_close(&o);
	o = (struct out){.fd = open("/dev/full", O_WRONLY)};
	if (o.fd >= 0) {
		buf_init(&o.buf, BUF_NOLIMIT);
		out_line(&o, "z", 1, &e);
		OK(out_flush(&o, &e) < 0 && e.status, "a full disk is an error");
		out_close(&o);
	}
	free(much);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	reading();
	big();
	writing();
	return END();
}

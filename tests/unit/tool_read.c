/* Read: numbering, budgets and how to go on, line ends, encodings, memory. */
#include "tool_test.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define R(...) callv(tool_read, "file_path", __VA_ARGS__, NULL)

static void plain(void)
{
	PUTS("three", "one\ntwo\nthree\n");
	IS(R("three"), "     1\tone\n     2\ttwo\n     3\tthree\n", "numbered lines");
	IS(res.origin, "file", "the words are the file's");
	IS(R("three", "limit", "\1" "2"), "     1\tone\n     2\ttwo\n[stopped after 2 lines (limit); go on with offset=2]\n", "limit");
	IS(R("three", "offset", "\1" "2"), "     3\tthree\n", "offset counts from 0");
	IS(R("three", "limit", "\1" "3"), "     1\tone\n     2\ttwo\n     3\tthree\n", "a limit that is the length cuts nothing");
	IS(R("three", "limit", "1", "offset", "1"), "     2\ttwo\n[stopped after 1 lines (limit); go on with offset=2]\n",
		"numbers in strings");
	OK(has(R("three", "offset", "\1" "3"), "past the end: the file has 3 lines") && !res.is_error, "offset past the end");
	PUTS("noeol", "one\ntwo");
	IS(R("noeol"), "     1\tone\n     2\ttwo\n", "no line end at the end");
	OK(has(R("noeol", "offset", "\1" "9"), "the file has 2 lines"), "lines are counted without it too");
	PUTS("empty", "");
	IS(R("empty"), "(empty file)", "an empty file says so");
	PUTS("nl", "\n");
	IS(R("nl"), "     1\t\n", "one empty line is not an empty file");
	IS(R("three", "limit", "\1" "0"), "     1\tone\n     2\ttwo\n     3\tthree\n", "limit 0 is none");
}

static void wrong(void)
{
	OK(has(call(tool_read, "{}"), "needs the argument 'file_path'") && res.is_error, "no path");
	OK(has(call(tool_read, "{\"file_path\":7}"), "must be a string"), "a number for a path");
	OK(has(R(""), "empty") && res.is_error, "an empty path");
	OK(has(R("three", "limit", "\1-1"), "'limit'") && res.is_error, "a negative limit");
	OK(has(R("three", "offset", "x"), "'offset'"), "no number");
	OK(has(R("."), "is a directory"), "a directory");
	OK(has(R("nothere"), "no such file"), "not there");
	OK(has(R("no/where"), "no directory 'no'"), "its directory is not there");
	PUTS("Makefile", "");
	OK(has(R("makefile"), "did you mean 'Makefile'"), "other case");
	PUTS("caf\x65\xcc\x81.txt", "");
	OK(has(R("caf\xc3\xa9.txt"), "did you mean 'cafe\xcc\x81.txt'"), "other Unicode form of the name");
	PUTS("x.js", "");
	PUTS("module.ts", "");
	OK(has(R("module.js"), "did you mean 'module.ts'"), "other ending");
	OK(has(R("/etc/passwd"), "--add-dir") && res.is_error, "outside");
	mkfifo("fifo", 0600);
	OK(has(R("fifo"), "FIFO"), "a FIFO does not block");
	PUTS("../blobs/sha256-x", "spilled\n");
	char p[PATH_MAX + 40];
	snprintf(p, sizeof p, "%s/blobs/sha256-x", top);
	IS(R(p), "     1\tspilled\n", "spilled output can be read back");
}

static void line_ends(void)
{
	PUTS("crlf", "one\r\ntwo\r\n\r\n");
	IS(R("crlf"), "     1\tone\n     2\ttwo\n     3\t\n", "CR LF");
	PUTS("cr", "one\rtwo\r");
	IS(R("cr"), "     1\tone\n     2\ttwo\n[lines end in a single CR]\n", "CR alone");
	IS(R("cr", "offset", "\1" "1"), "     2\ttwo\n[lines end in a single CR]\n", "CR alone, from an offset");
	PUTS("stray", "a\rb\nc\r\r\n");
	IS(R("stray"), "     1\ta\\rb\n     2\tc\\r\n", "a stray CR is shown, and is no line end: numbers are grep's");
	/* CR LF across the block boundary, and lines of all lengths around it. */
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	for (int k = 65530; k < 65542; k++) {
		buf_clear(&b);
		while (b.len + 100 < (size_t)k)
			buf_adds(&b, "0123456789\r\n");
		while (b.len < (size_t)k)
			buf_addc(&b, 'x');
		buf_adds(&b, "\r\nlast\r\n");
		put("edge", b.p, b.len);
		long lines = 0;
		for (size_t i = 0; i < b.len; i++)
			lines += b.p[i] == '\n';
		char n[24], want[40];
		snprintf(n, sizeof n, "\1%ld", lines - 2);
		R("edge", "offset", n);
		snprintf(want, sizeof want, "%6ld\tlast\n", lines);
		bool good = has(res.text.p, want) && has(res.text.p, "x\n") && !strstr(res.text.p, "\\r");
		if (!good || k == 65541)
			OK(good, "CR LF at the block boundary (%d)", k);
	}
	buf_free(&b);
}

static void encodings(void)
{
	PUTS("gbk", "\xb0\xa1\n");
	IS(R("gbk"), "     1\t\\xb0\\xa1\n[not UTF-8: 2 bytes are shown as \\xNN]\n", "not UTF-8: escaped, and said so");
	PUTS("nul", "a\0b\n");
	IS(R("nul"), "     1\ta\\x00b\n", "NUL");
	PUTS("surrogate", "\xed\xa0\x80\n\xc0\xaf\n\xf5\x80\x80\x80\n");
	OK(has(R("surrogate"), "9 bytes"), "surrogates, over-long forms and what is beyond Unicode are not UTF-8");
	PUTS("bom", "\xef\xbb\xbfone\n");
	IS(R("bom"), "     1\tone\n", "a byte order mark is left out");
	PUTS("le", "\xff\xfe" "h\0i\0\n\0\x3d\xd8\x00\xde\n\0");
	IS(R("le"), "     1\thi\n     2\t\xf0\x9f\x98\x80\n[the file is UTF-16LE; shown converted]\n", "UTF-16, little end first");
	PUTS("be", "\xfe\xff" "\0h\0i\0\n\xd8\x3d\0x");
	IS(R("be"), "     1\thi\n     2\t\xef\xbf\xbdx\n[the file is UTF-16BE; shown converted]\n", "UTF-16, a lone surrogate");
	PUTS("esc", "\x1b[31mred\n");
	IS(R("esc"), "     1\t\x1b[31mred\n", "other control characters are the model's to see");
	PUTS("p.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
	OK(has(R("p.png"), "PNG image") && has(res.text.p, "-i p.png") && res.is_error, "PNG");
	PUTS("p.jpg", "\xff\xd8\xff\xe0\0\x10JFIF");
	OK(has(R("p.jpg"), "JPEG image"), "JPEG");
	PUTS("p.gif", "GIF89a\1\0\1\0");
	OK(has(R("p.gif"), "GIF image"), "GIF");
	PUTS("p.webp", "RIFF\1\0\0\0WEBPVP8 ");
	OK(has(R("p.webp"), "WebP image"), "WebP");
	PUTS("p.pdf", "%PDF-1.7\n");
	OK(has(R("p.pdf"), "PDF document"), "PDF");
	PUTS("bz", "BZh is how this text begins\n");
	IS(R("bz"), "     1\tBZh is how this text begins\n", "a text that begins like an archive");
}

/* Follows the markers to the end and puts the text together again. */
static bool all_of(const char *path, const char *want, size_t n, int most)
{
	struct buf got;
	char arg[40] = "\1" "0";
	const char *name = "offset";
	bool same = false;
	buf_init(&got, BUF_NOLIMIT);
	for (int i = 0; i < most; i++) {
		const char *s = R(path, name, arg), *mark = NULL;
		size_t before = got.len;
		for (const char *p = s; *p;) {
			size_t k = strcspn(p, "\n");
			if (p[0] == '[' && strstr(p, "go on with") && strstr(p, "go on with") < p + k)
				mark = p;
			else if (k >= 7 && p[6] == '\t')
				buf_add(&got, p + 7, k - 7), buf_addc(&got, '\n');
			p += k + (p[k] == '\n');
		}
		const char *cut = strstr(s, "[... ");
		if (cut) {                          /* drop the note and what follows; go on inside the line */
			const char *at = strstr(cut, "byte_offset=");
			size_t tail = strlen(got.p) - (size_t)(strstr(got.p + before, "[... ") - got.p);
			buf_truncate(&got, got.len - tail);
			snprintf(arg, sizeof arg, "\1%lu", strtoul(at + 12, NULL, 10));
			name = "byte_offset";
			continue;
		}
		if (!mark) {
			same = got.len == n && memcmp(got.p, want, n) == 0;
			if (!same)
				printf("# %zu bytes instead of %zu\n", got.len, n);
			break;
		}
		const char *at = strstr(mark, "byte_offset=");
		if (at)
			buf_truncate(&got, got.len - 1);   /* the line end is not in the text */
		name = at ? "byte_offset" : "offset";
		at = at ? at : strstr(mark, "offset=");
		snprintf(arg, sizeof arg, "\1%lu", strtoul(strchr(at, '=') + 1, NULL, 10));
		if (got.len == before) {
			printf("# no progress at %s=%s\n", name, arg + 1);
			break;
		}
	}
	buf_free(&got);
	return same;
}

static void budgets(void)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	for (int i = 0; i < 20000; i++)
		buf_addf(&b, "line %d of many\n", i);
	put("many", b.p, b.len);
	R("many");
	OK(res.text.len <= ctx.output_max && has(res.text.p, "bytes of output; go on with offset="), "output is bounded");
	OK(all_of("many", b.p, b.len, 60), "the markers lead through the whole file");

	buf_clear(&b);
	while (b.len < 32000)
		buf_adds(&b, "{\"k\": \"v\xc3\xa9\"}, ");
	buf_addc(&b, '\n');
	put("long", b.p, b.len);
	OK(has(R("long"), "more bytes of this line, from byte_offset=") && res.text.len < 2300, "a long line is cut");
	OK(all_of("long", b.p, b.len, 5), "and the markers lead through it");
	ctx.output_max = 900;
	OK(all_of("long", b.p, b.len, 200), "also with little room");
	ctx.output_max = TOOL_OUTPUT_MAX;

	buf_clear(&b);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 5000; k++)
			buf_addc(&b, 'a' + i);
		buf_addc(&b, '\n');
	}
	put("longs", b.p, b.len);
	R("longs");
	OK(has(res.text.p, "     1\ta") && has(res.text.p, "     2\tb") && has(res.text.p, "     3\tc"), "lines after a long one are shown");
	R("longs", "byte_offset", "\1" "4990");
	OK(has(res.text.p, "     1\taaaaaaaaaa\n     2\tb"), "byte_offset knows its line");
	OK(has(R("longs", "byte_offset", "\1" "99999"), "past the end: the text has 15003 bytes"), "byte_offset past the end");
	buf_clear(&b);
	while (b.len < 2100)
		buf_adds(&b, "\xe2\x82\xac");
	put("euro", b.p, b.len);
	R("euro");
	OK(has(res.text.p, "byte_offset=1998]"), "cut between characters");
	/* Bytes that are shown in four each still leave room for progress. */
	for (size_t i = 0; i < b.len; i++)
		b.p[i] = (char)0xff;
	put("ff", b.p, b.len);
	ctx.output_max = 900;
	R("ff");
	OK(has(res.text.p, "byte_offset=1"), "escaped bytes: progress");
	ctx.output_max = TOOL_OUTPUT_MAX;
	buf_free(&b);
}

/* Peak memory in KiB, and seconds, of one call in a process of its own; what it printed is checked there. */
static long alone(const char *json, const char *want)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct json j = JSON_INIT;
		json_parse(&j, json, strlen(json), NULL);
		tool_read(&ctx, &j, 0, &res);
		_exit(strstr(res.text.p, want) ? 0 : 1);
	}
	int st;
	struct rusage u;
	wait4(pid, &st, 0, &u);
	OK(WIFEXITED(st) && WEXITSTATUS(st) == 0, "%s says %s", json, want);
	printf("# %ld KiB, %ld.%03ld s\n", u.ru_maxrss, u.ru_utime.tv_sec + u.ru_stime.tv_sec,
		(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000);
	return u.ru_maxrss;
}

static void memory(void)
{
#ifdef __SANITIZE_ADDRESS__
	long most = 300 * 1024;
#else
	long most = 10 * 1024;
#endif
	PUTS("sparse", "1\n2\n3\n4\n5\n6\n");
	OK(truncate("sparse", 3ll << 30) == 0, "3 GiB");
	OK(alone("{\"file_path\":\"sparse\",\"limit\":5}", "     5\t5\n[stopped after 5 lines (limit); go on with offset=5]") < most,
		"five lines of it in constant memory");
	OK(alone("{\"file_path\":\"sparse\"}", "[stopped inside line 7, which is long; go on with byte_offset=2012]") < most,
		"all of it, too");
	PUTS("one", "");
	OK(truncate("one", 1ll << 30) == 0, "one line of 1 GiB");
	OK(alone("{\"file_path\":\"one\",\"byte_offset\":1000000000}", "go on with byte_offset=1000") < most, "the end of it");
}

int main(void)
{
	enter();
	plain();
	wrong();
	line_ends();
	encodings();
	budgets();
	memory();
	return END();
}

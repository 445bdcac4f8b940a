/* Bounded capture: what is kept, what is said, what is spilled. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/capture.h"
#include "tap.h"

static char dir[200];
static int dirfd_;
static struct buf out;

static void begin(struct capture *c, size_t max)
{
	capture_init(c, max, dirfd_, 1000);
	buf_clear(&out);
}

static void text_of(struct capture *c, size_t limit, const char *path)
{
	capture_end(c);
	capture_text(c, limit, path, &out);
	OK(utf8_valid_prefix(out.p, out.len) == out.len && !memchr(out.p, 0, out.len), "valid UTF-8 without NUL");
	char *mark = strstr(out.p, "[... ");
	size_t marker = mark ? strcspn(mark, "]") + 4 : 0;
	OK(out.len <= limit + marker, "%zu bytes of %zu", out.len - marker, limit);
}

static void whole(void)
{
	struct capture c;

	begin(&c, 30);
	capture_add(&c, "0123456789", 10);
	capture_add(&c, "0123456789", 10);
	capture_add(&c, "0123456789", 10);
	text_of(&c, 30, dir);
	IS(out.p, "012345678901234567890123456789", "what fits is whole");
	OK(!c.name[0] && capture_size(&c) == 30, "and not spilled");
	capture_free(&c);
	begin(&c, 12);
	capture_add(&c, "a\303", 2);
	capture_add(&c, "\244\0\377", 3);
	text_of(&c, 12, dir);
	OK(out.len == 9 && !memcmp(out.p, "a\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd", 9), "repaired: %s", out.p);
	capture_free(&c);
	begin(&c, 10);
	text_of(&c, 10, dir);
	IS(out.p, "", "nothing");
	capture_free(&c);
}

static void cut(void)
{
	struct capture c;
	struct buf b;
	struct err e = ERR_INIT;
	char line[20];

	buf_init(&b, 100000);
	begin(&c, 90);
	for (int i = 1; i <= 100; i++) {
		int n = snprintf(line, sizeof line, "line %d\n", i);
		buf_add(&b, line, (size_t)n);
		capture_add(&c, line, (size_t)n);
	}
	text_of(&c, 90, dir);
	OK(!strncmp(out.p, "line 1\nline 2\n", 14), "the head");
	OK(strstr(out.p, "\nline 100\n"), "the tail");
	char *mark = strstr(out.p, "[... "), *end = mark ? strchr(mark, '\n') : NULL;
	long left = mark ? atol(mark + 5) : 0;
	OK(end && mark[-1] == '\n' && !strncmp(end, "\nline ", 6), "cut at line ends: %s", out.p);
	OK(end && (size_t)left + (size_t)(mark - out.p) + strlen(end + 1) == b.len, "%ld left out, as counted", left);
	OK(strstr(out.p, dir) && strstr(out.p, "sha256-") && strstr(out.p, "all 792 bytes"), "the file is named");
	struct buf got;
	buf_init(&got, 100000);
	OK(blob_get(dirfd_, c.name, &got, &e) == 0 && got.len == b.len && !memcmp(got.p, b.p, b.len),
		"it holds all %s", e.text);
	buf_free(&got);
	capture_free(&c);

	/* One long line of three-byte characters: never cut inside one. */
	for (size_t max = 20; max < 29; max++) {
		begin(&c, max);
		for (int i = 0; i < 30; i++)
			capture_add(&c, "\xe2\x82\xac", 3);
		text_of(&c, max, NULL);
		OK(!strstr(out.p, "\xef\xbf\xbd") && strstr(out.p, "left out]"), "no character cut at %zu", max);
		capture_free(&c);
	}
	/* Binary grows three times as long when it is repaired: the limit holds all the same. */
	begin(&c, 90);
	for (int i = 0; i < 80; i++)
		capture_add(&c, "\377", 1);
	text_of(&c, 90, dir);
	OK(strstr(out.p, "left out") && c.name[0], "invalid bytes count as what they become");
	capture_free(&c);
	/* A smaller limit than what was held. */
	begin(&c, 300);
	for (int i = 1; i <= 30; i++)
		capture_add(&c, "12345678\n", 9);
	text_of(&c, 60, dir);
	OK(strstr(out.p, "[... 216 bytes left out; all 270 bytes are in "), "a smaller limit: %s", out.p);
	capture_free(&c);
	begin(&c, 90);
	for (int i = 1; i <= 300; i++)
		capture_add(&c, "12345678\n", 9);
	text_of(&c, 90, dir);
	OK(strstr(out.p, "the first 1000 bytes are in "), "the spill file has a cap");
	capture_free(&c);
	buf_free(&b);
}

/* Against a simple model, in pieces of all sizes. */
static void model(void)
{
	int bad = 0;

	srand(7);
	for (int round = 0; round < 3000; round++) {
		size_t max = 1 + (size_t)rand() % 60, n = (size_t)rand() % 200, at = 0;
		char text[200];
		struct capture c;
		for (size_t i = 0; i < n; i++)
			text[i] = (char)('a' + rand() % 26);
		begin(&c, max);
		c.blobdir = -1;
		while (at < n) {
			size_t piece = 1 + (size_t)rand() % 20;
			if (piece > n - at)
				piece = n - at;
			capture_add(&c, text + at, piece);
			at += piece;
		}
		capture_end(&c);
		capture_text(&c, max, NULL, &out);
		char want[400];
		size_t tail = max / 3, head = max - tail;
		if (n <= max)
			snprintf(want, sizeof want, "%.*s", (int)n, text);
		else
			snprintf(want, sizeof want, "%.*s\n[... %zu bytes left out]\n%.*s", (int)head, text, n - max,
				(int)tail, text + n - tail);
		bad += strcmp(want, out.p) != 0;
		capture_free(&c);
	}
	OK(!bad, "3000 random captures are head and tail");
}

static void failing(void)
{
	struct capture c;
	int full = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	capture_init(&c, 30, full, 1000);
	buf_clear(&out);
	for (int i = 0; i < 20; i++)
		capture_add(&c, "12345678\n", 9);
	text_of(&c, 30, "/proc/self");
	OK(c.note.status && strstr(out.p, "could not be kept in /proc"), "no file can be made: %s", out.p);
	capture_free(&c);
	close(full);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char cmd[300];

	snprintf(dir, sizeof dir, "%s/capture.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || (dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return 1;
	buf_init(&out, BUF_NOLIMIT);
	whole();
	cut();
	model();
	failing();
	buf_free(&out);
	int status = END();
	snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
	return system(cmd) ? 1 : status;
}

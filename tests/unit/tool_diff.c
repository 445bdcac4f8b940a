/* diff.h: known cases, and that a patch made of it leads from one text to the other. */
#include "tool_test.h"

#include "tools/diff.h"

static const char *diff(const char *a, const char *b, size_t lines)
{
	static struct buf out;
	if (out.p)
		buf_free(&out);
	buf_init(&out, BUF_NOLIMIT);
	diff_unified(&out, "f", a, strlen(a), b, strlen(b), lines, 100000);
	return out.p;
}

/* Applies a unified diff to a; true if that gives b. */
static bool leads(const char *patch, const char *a, const char *b)
{
	struct buf out;
	buf_init(&out, BUF_NOLIMIT);
	size_t line = 1, start;
	const char *p = strstr(patch, "@@ -");
	while (p && *p) {
		const char *nl = strchr(p, '\n');
		if (p[0] == '@') {
			start = strtoul(p + 4, NULL, 10) + (strstr(p, ",0 +") && strstr(p, ",0 +") < nl);
			for (; line < start && *a; line++) {
				size_t n = strcspn(a, "\n") + 1;
				buf_add(&out, a, n);
				a += n;
			}
		} else if (p[0] != '\\') {
			size_t n = (size_t)(nl - p);
			bool bare = nl[1] == '\\';
			if (p[0] != '+') {
				if (strncmp(a, p + 1, n - 1) != 0)
					break;
				a += n - 1 + (bare ? 0 : 1);
				line++;
			}
			if (p[0] != '-')
				buf_add(&out, p + 1, n - !!bare);
		}
		p = nl + 1;
	}
	buf_adds(&out, a);
	bool same = strcmp(out.p, b) == 0;
	buf_free(&out);
	return same;
}

static unsigned rnd(unsigned *s)
{
	return (*s = *s * 1103515245u + 12345u) >> 16;
}

static void make(struct buf *b, const char *from, unsigned *s)
{
	buf_clear(b);
	if (!from) {
		for (unsigned n = rnd(s) % 40; n > 0; n--)
			buf_addf(b, "%c\n", 'a' + (int)(rnd(s) % 6));
		return;
	}
	for (; *from; from += 2) {
		if (rnd(s) % 7 == 0)
			continue;
		buf_add(b, from, 2);
		if (rnd(s) % 7 == 0)
			buf_addf(b, "%c\n", 'a' + (int)(rnd(s) % 9));
	}
	if (b->len > 0 && rnd(s) % 3 == 0)
		buf_truncate(b, b->len - 1);
}

int main(void)
{
	IS(diff("a\n", "a\n", 99), "", "equal texts have no difference");
	IS(diff("", "", 99), "", "nor have empty ones");
	IS(diff("a\nb\nc\n", "a\nB\nc\n", 99), "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "one line");
	IS(diff("", "x\ny\n", 99), "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+x\n+y\n", "from nothing");
	IS(diff("x", "", 99), "--- f\n+++ f\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n", "to nothing");
	IS(diff("x", "x\n", 99), "--- f\n+++ f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n", "only the last line end");
	IS(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n", 99),
		"--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n", "three lines of context");
	IS(diff("a\nb\nc\n", "A\nB\nC\n", 5), "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n-b\n[... 4 more lines ...]\n", "the rest is counted");

	struct buf a, b;
	unsigned seed = 7;
	int good = 0, rounds = 400;
	buf_init(&a, BUF_NOLIMIT);
	buf_init(&b, BUF_NOLIMIT);
	for (int i = 0; i < rounds; i++) {
		make(&a, NULL, &seed);
		make(&b, a.p, &seed);
		bool same = leads(diff(a.p, b.p, 10000), a.p, b.p);
		good += same;
		if (!same)
			printf("# from <%s> to <%s>: %s\n", a.p, b.p, diff(a.p, b.p, 10000));
	}
	OK(good == rounds, "%d of %d random patches lead from one text to the other", good, rounds);

	/* Beyond the bound: all replaced, quickly. */
	buf_clear(&a);
	buf_clear(&b);
	for (int i = 0; i < 50000; i++) {
		buf_addf(&a, "%d\n", i);
		buf_addf(&b, "%d\n", (i * 7919) % 50000);
	}
	const char *big = diff(a.p, b.p, 10);
	OK(has(big, "more lines ...]"), "two long texts with nothing in common are still compared");
	buf_clear(&a);
	for (int i = 0; i < 3000; i++)
		buf_addc(&a, 'x');
	buf_adds(&a, "\xff\n");
	const char *cut = diff(a.p, "\xff\n", 99);
	OK(has(cut, "more bytes]") && utf8_valid_prefix(cut, strlen(cut)) == strlen(cut), "long lines are cut, bad bytes replaced");
	buf_free(&a);
	buf_free(&b);
	IS(diff("", "", 9), "", "freed");
	return END();
}

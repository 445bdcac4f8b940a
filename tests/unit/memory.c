/* memory.h: slugs, the file format, and any bytes as a file. */
#include "tap.h"

#include <stdlib.h>

#include "agent/memory.h"

static void slug(const char *name, const char *want)
{
	char s[MEMORY_SLUG], again[MEMORY_SLUG];

	memory_slug(name, s);
	memory_slug(s, again);
	IS(s, want, "slug of '%s'", name);
	IS(again, s, "which is its own slug");
}

static void round_trip(const char *name, const char *description)
{
	struct memory a, b;
	struct buf out;
	struct err e = ERR_INIT;

	memory_init(&a);
	memory_init(&b);
	buf_init(&out, BUF_NOLIMIT);
	memory_set(&a.name, name);
	memory_set(&a.description, description);
	memory_set(&a.origin, "web");
	buf_adds(&a.text, "text\n---\nmore: x");
	memory_print(&a, &out);
	OK(memory_parse(&b, out.p, out.len, &e) == 0, "'%s' is read again", name);
	IS(b.name, name, "name");
	IS(b.description, description, "description");
	IS(b.origin, "web", "origin");
	IS(b.text.p, a.text.p, "text");
	buf_free(&out);
	memory_free(&a);
	memory_free(&b);
}

static void any_bytes(void)
{
	static const char *const parts[] = {"---", "\n", "name", ":", " ", "\"", "'", "x", "\r\n", "\xff", "description: ", "\\", "\t", "--", "\"a\\u0041\""};
	unsigned long long seed = 7;
	int odd = 0, read = 0;

	for (int round = 0; round < 5000; round++) {
		struct buf in;
		struct memory m;
		buf_init(&in, BUF_NOLIMIT);
		if (round % 2)
			buf_adds(&in, "---\n");
		for (int n = round % 40; n > 0; n--) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			buf_adds(&in, parts[(seed >> 33) % (sizeof parts / sizeof *parts)]);
		}
		char *exact = malloc(in.len ? in.len : 1);   /* so that a sanitizer sees reads beyond the end */
		memcpy(exact, in.p, in.len);
		memory_init(&m);
		if (memory_parse(&m, exact, in.len, NULL) == 0)
			read++;
		odd += !m.name || !m.description || !m.origin || strlen(m.text.p) != m.text.len;
		memory_free(&m);
		free(exact);
		buf_free(&in);
	}
	OK(odd == 0 && read > 2500 && read < 5000, "five thousand odd files: %d read, the others refused", read);
}

int main(void)
{
	slug("Build Notes", "build_notes");
	slug("a-b_c9", "a-b_c9");
	slug("../x", "x_d6b96a97");
	slug("C", "c");
	slug("", "me3b0c442");
	slug("Memory", "memory_c3963aed");
	round_trip("plain", "words");
	round_trip("with: colon", "# hash \"quoted\" \\ 'single'");
	round_trip("- dash", "ends with:");
	round_trip("{x}", "\u00fc\u4e16");
	any_bytes();
	return END();
}

/* Edit: exact and other matches, literal insertion, line ends, what a failure says, several edits at once. */
#include "tool_test.h"

#include "tools/editmatch.h"
#include "tools/norm.h"

#define E(path, old, new) callv(tool_edit, "file_path", path, "old_string", old, "new_string", new, NULL)
#define ALL(path, old, new) callv(tool_edit, "file_path", path, "old_string", old, "new_string", new, "replace_all", "\1true", NULL)
#define EDITS(path, json) callv(tool_edit, "file_path", path, "edits", "\1" json, NULL)

static void exact(void)
{
	PUTS("f", "one\ntwo\nthree\n");
	IS(E("f", "two", "2"), "Changes applied to f:\n--- f\n+++ f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", "one match");
	IS(get("f"), "one\n2\nthree\n", "is replaced");
	IS(res.change.op, "update", "and reported");
	PUTS("m", "x = 1\ny\nx = 1\nz\nx = 1\n");
	OK(has(E("m", "x = 1", "q"), "appears 3 times (lines 1, 3, 5)") && res.is_error, "several matches: number and lines");
	IS(get("m"), "x = 1\ny\nx = 1\nz\nx = 1\n", "and nothing changed");
	OK(has(ALL("m", "x = 1", "x = 11"), "[3 replacements]"), "replace_all");
	IS(get("m"), "x = 11\ny\nx = 11\nz\nx = 11\n", "replaces all, once each");
	PUTS("aaa", "aaa");
	OK(has(E("aaa", "aa", "b"), "appears 2 times"), "overlapping matches are two");
	IS(E("f", "2", "2"), "f: old_string and new_string are the same: nothing to change", "no change is an error");
	PUTS("e", "a\0b\xff tail\n");
	E("e", "tail", "TAIL");
	int fd = open("e", O_RDONLY | O_CLOEXEC);
	char b[16] = "";
	OK(read(fd, b, 16) == 10 && !memcmp(b, "a\0b\xff TAIL\n", 10), "bytes that are not text stay");
	close(fd);
	E("f", "three\n", "");
	IS(get("f"), "one\n2\n", "an empty new_string deletes");
}

static void literal(void)
{
	static const char *const texts[] = {"A$&B $$ \\1 & \\n $` $' \\0 %s %n ${x} `id`", "\\", "&", "$1", "/", "|", "\\u0041"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		PUTS("l", "a = OLD;\n");
		E("l", "OLD", texts[i]);
		struct buf want;
		buf_init(&want, 200);
		buf_addf(&want, "a = %s;\n", texts[i]);
		IS(get("l"), want.p, "inserted as it is: %s", texts[i]);
		PUTS("l", "OLD OLD\n");
		ALL("l", "OLD", texts[i]);
		buf_clear(&want);
		buf_addf(&want, "%s %s\n", texts[i], texts[i]);
		IS(get("l"), want.p, "by replace_all too");
		buf_free(&want);
	}
	PUTS("l", "a.*b [x] (y)\n");
	E("l", "a.*b [x] (y)", "z");
	IS(get("l"), "z\n", "old_string is no pattern either");
}

static void fuzzy(void)
{
	PUTS("q", "a = \"hi\"\nb = \xe2\x80\x9chi\xe2\x80\x9d\n");
	E("q", "\"hi\"", "\"ho\"");
	IS(get("q"), "a = \"ho\"\nb = \xe2\x80\x9chi\xe2\x80\x9d\n", "of two quote variants the exact one");
	E("q", "\xe2\x80\x9chi\xe2\x80\x9d", "0");
	IS(get("q"), "a = \"ho\"\nb = 0\n", "also when it is the curly one");
	PUTS("q", "a = \xe2\x80\x9chi\xe2\x80\x9d\nb = \xe2\x80\x9ehi\xe2\x80\x9d\n");
	OK(has(E("q", "\"hi\"", "0"), "matches 2 times (lines 1, 2)") && res.is_error, "two that match only loosely: refused");
	IS(get("q"), "a = \xe2\x80\x9chi\xe2\x80\x9d\nb = \xe2\x80\x9ehi\xe2\x80\x9d\n", "and untouched");
	OK(has(ALL("q", "\"hi\"", "0"), "matches 2 times") && res.is_error, "replace_all wants exact matches when there are several");
	PUTS("q", "say(\xe2\x80\x9cone\xe2\x80\x9d, 1);\n");
	OK(has(E("q", "say(\"one\", 1)", "say(\"one\", 2)"), "[no exact match: found disregarding typographic"), "one: done, and said");
	IS(get("q"), "say(\xe2\x80\x9cone\xe2\x80\x9d, 2);\n", "what old and new share keeps its bytes");
	PUTS("q", "it\xe2\x80\x99s \xe2\x80\x93 now\n");
	E("q", "it's - now", "it was");
	IS(get("q"), "it was\n", "apostrophe and dash");
	PUTS("q", "a\xc2\xa0= 1\n");
	E("q", "a = 1", "a = 2");
	IS(get("q"), "a\xc2\xa0= 2\n", "no-break space");

	PUTS("t", "if (x) {   \n\treturn;\t\n}  \nend\n");
	E("t", "if (x) {\n\treturn;\n}", "if (y) {\n\treturn;\n}");
	IS(get("t"), "if (y) {   \n\treturn;\t\n}  \nend\n", "trailing blanks in the file");
	PUTS("t", "a\nb\nc\n");
	E("t", "a  \nb \nc", "a\nB\nc");
	IS(get("t"), "a\nB\nc\n", "trailing blanks in old_string");
	PUTS("t", "x\ny \nx \ny\n");
	OK(has(E("t", "x\ny\n", "z"), "matches 2 times"), "trailing blanks, twice");

	PUTS("n", "cafe\xcc\x81 = 1\nprint(cafe\xcc\x81)\n");
	E("n", "caf\xc3\xa9 = 1", "caf\xc3\xa9 = 2");
	IS(get("n"), "cafe\xcc\x81 = 2\nprint(cafe\xcc\x81)\n", "composed text in a decomposed file");
	PUTS("n", "caf\xc3\xa9 = 1\n");
	E("n", "cafe\xcc\x81 = 1", "x = 1");
	IS(get("n"), "x = 1\n", "decomposed text in a composed file");
	PUTS("n", "cafe\xcc\x81\n");
	OK(has(E("n", "cafe ", "x"), "not found") && res.is_error, "a letter without its accent is another letter");
	PUTS("n", "\xed\x95\x9c\xea\xb5\xad = 1\n\xe3\x81\x8c\n");
	E("n", "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\xe1\x84\x80\xe1\x85\xae\xe1\x86\xa8 = 1", "k");
	IS(get("n"), "k\n\xe3\x81\x8c\n", "Hangul");
	E("n", "\xe3\x81\x8b\xe3\x82\x99", "ga");
	IS(get("n"), "k\nga\n", "kana");
	PUTS("n", "e\xcc\x81 \xc3\xa9\n");
	E("n", "\xc3\xa9", "E");
	IS(get("n"), "e\xcc\x81 E\n", "exact before equivalent");
	PUTS("n", "\xe1\xba\xad x\n");
	E("n", "a\xcc\xa3\xcc\x82 x", "y");
	IS(get("n"), "y\n", "two accents");
}

static void line_ends(void)
{
	PUTS("c", "one\r\ntwo\r\nthree\r\n");
	E("c", "two\nthree", "2\nnew\n3");
	IS(get("c"), "one\r\n2\r\nnew\r\n3\r\n", "a CR LF file stays one");
	E("c", "one", "1\n1b");
	IS(get("c"), "1\r\n1b\r\n2\r\nnew\r\n3\r\n", "also where old_string is one line");
	E("c", "1\r\n1b\r\n", "0\r\n");
	IS(get("c"), "0\r\n2\r\nnew\r\n3\r\n", "given with CR LF");
	PUTS("c", "a\nb\nc\n");
	E("c", "a\r\nb\r\n", "A\r\nb\r\n");
	IS(get("c"), "A\nb\nc\n", "CR LF in old_string, LF in the file");
	PUTS("c", "a\r\nb\nc\r\nd\n");
	E("c", "c\nd", "C\nd");
	IS(get("c"), "a\r\nb\nC\r\nd\n", "a mixed file keeps what is not changed");
	E("c", "a\n", "A\nx\n");
	IS(get("c"), "A\r\nx\r\nb\nC\r\nd\n", "and new lines end as those they replace");
	PUTS("c", "\xef\xbb\xbfone\n");
	E("c", "one", "1");
	IS(get("c"), "\xef\xbb\xbf" "1\n", "a byte order mark stays");
}

static void hints(void)
{
	PUTS("h", "int main(void)\n{\n\tint count = 1;\n\treturn count;\n}\n");
	const char *s = E("h", "    int count = 1;\n    return count;", "x");
	OK(has(s, "     3\t\tint count = 1;") && has(s, "differs from the file's line 3 in its blanks"), "other indentation is named");
	s = E("h", "int count = 2;", "x");
	OK(has(s, "Nearest lines:\n     3\t\tint count = 1;") && has(s, "Read the file again"), "the nearest line, with its number");
	s = E("h", "int main(void)\n{\n\tint count = 1;\n\treturn 0;\n}", "x");
	OK(has(s, "Line 4 of old_string differs from the file's line 4"), "the line that differs");
	s = E("h", "qqqq zzzz", "x");
	OK(has(s, "nor any line like its first one"), "nothing like it");
	PUTS("u", "const s = \"it\\u2019s\";\n");
	s = E("u", "\"it\xe2\x80\x99s\"", "x");
	OK(has(s, "line 1 has it with the escaped form \\u2019 where old_string has \xe2\x80\x99"), "the escape in the file");
	IS(get("u"), "const s = \"it\\u2019s\";\n", "is not touched");
	PUTS("u", "s = '\\u00E9\\ud83d\\ude00';\nh = &quot;x&quot; &#233;\n");
	OK(has(E("u", "'\xc3\xa9\\", "x"), "\\u00E9"), "upper case");
	OK(has(E("u", "\xf0\x9f\x98\x80", "x"), "\\ud83d\\ude00"), "a surrogate pair");
	OK(has(E("u", "\"x\"", "x"), "&quot;"), "an entity");
	OK(has(E("u", "; \xc3\xa9", "x"), "&#233;"), "a number entity");
	PUTS("u", "a = \"x\xe2\x80\x99y\"\nb = 1\n");
	OK(has(E("u", "x\\u2019y", "x"), "itself where old_string has the escape \\u2019"), "the escape in old_string");
	OK(has(E("u", "y\"\\nb", "x"), "a line end itself where old_string has the escape \\n"), "an escaped line end in old_string");
	PUTS("u", "printf(\"a\\n\");\n");
	OK(has(E("u", "printf(\"a\n\");", "x"), "the escaped form \\n where old_string has a line end"), "a real line end for an escaped one");
	/* The same wrong edit over and over says the same: the way out is in every answer. */
	char *first = strdup(E("h", "int count = 2;", "x"));
	OK(!strcmp(first, E("h", "int count = 2;", "x")), "again the same");
	free(first);
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	for (int i = 0; i < 100000; i++)
		buf_addf(&b, "some line with number %d in it\n", i);
	put("big", b.p, b.len);
	s = E("big", "some line with number 77777 in them", "x");
	OK(has(s, "\tsome line with number 77777 in it") && res.text.len < 2000, "in a long file");
	buf_clear(&b);
	for (int i = 0; i < 100000; i++)
		buf_addc(&b, (char)('a' + i % 26));
	put("longline", b.p, b.len);
	s = E("longline", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0", "x");
	OK(res.is_error && res.text.len < 1000, "a long line is cut in the answer");
	buf_free(&b);
}

static void several(void)
{
	PUTS("s", "one\ntwo\nthree\n");
	const char *s = EDITS("s", "[{\"old_string\":\"one\",\"new_string\":\"1\"},{\"old_string\":\"nope\",\"new_string\":\"2\"},"
		"{\"old_string\":\"three\",\"new_string\":\"3\"}]");
	OK(res.is_error && has(s, "edit 2: old_string was not found") && has(s, "None of the edits was made") && !strstr(s, "edit 1:"),
		"which one failed");
	IS(get("s"), "one\ntwo\nthree\n", "none was made");
	OK(!res.change.path, "nor reported");
	EDITS("s", "[{\"old_string\":\"one\",\"new_string\":\"1\"},{\"old_string\":\"three\",\"new_string\":\"3\"}]");
	IS(get("s"), "1\ntwo\n3\n", "all");
	EDITS("s", "[{\"old_string\":\"1\",\"new_string\":\"0\\n0\"},{\"old_string\":\"0\",\"new_string\":\"9\",\"replace_all\":true}]");
	IS(get("s"), "9\n9\ntwo\n3\n", "one after the other");
	OK(has(callv(tool_edit, "file_path", "s", "old_string", "a", "new_string", "b", "edits",
		"\1[{\"old_string\":\"9\",\"new_string\":\"8\"}]", NULL), "not both"), "not both ways at once");
	OK(has(EDITS("s", "[{\"old_string\":\"9\"}]"), "needs the argument 'new_string'"), "half an edit");
}

static void files(void)
{
	IS(E("new/f", "", "made\n"), "Created new/f:\n--- new/f\n+++ new/f\n@@ -0,0 +1 @@\n+made\n", "an empty old_string makes a file");
	IS(get("new/f"), "made\n", "with that content");
	PUTS("z", "");
	E("z", "", "filled\n");
	IS(get("z"), "filled\n", "or fills an empty one");
	OK(has(E("z", "", "x"), "old_string is empty") && res.is_error, "but not one with content");
	OK(has(E("missing", "a", "b"), "no such file"), "not there");
	OK(has(E("new", "a", "b"), "is a directory"), "a directory");
	OK(has(callv(tool_edit, "file_path", "z", "old_string", "a", NULL), "new_string"), "no new_string");
	OK(has(E("../out/x", "", "b"), "--add-dir"), "outside");
	OK(has(E(".git/config", "", "b"), "protected"), "protected");
	PUTS("w", "\xff\xfe" "h\0i\0");
	OK(has(E("w", "hi", "ho"), "UTF-16"), "UTF-16");
	PUTS("x.sh", "#!/bin/sh\n");
	chmod("x.sh", 0755);
	ln_s("x.sh", "lnk");
	E("lnk", "sh\n", "sh\nexit 0\n");
	struct stat st;
	OK(lstat("lnk", &st) == 0 && S_ISLNK(st.st_mode) && stat("x.sh", &st) == 0 && (st.st_mode & 07777) == 0755,
		"link and mode stay");
	IS(get("x.sh"), "#!/bin/sh\nexit 0\n", "the target is edited");
}

/* Whatever the texts: an edit that succeeds loosely changes only where old_string stands, and the way back is whole. */
static void property(void)
{
	static const char *const bits[] = {"a", "b", " ", "  ", "\n", "\r\n", "\"", "\xe2\x80\x9c", "e\xcc\x81", "\xc3\xa9", "\t", "-", "\xff"};
	unsigned seed = 3;
	int done = 0, bad = 0;
	for (int round = 0; round < 20000; round++) {
		struct buf text, old, why;
		buf_init(&text, 1000);
		buf_init(&old, 1000);
		buf_init(&why, BUF_NOLIMIT);
		for (int i = 0; i < 14; i++)
			buf_adds(&text, bits[((seed = seed * 1103515245u + 12345u) >> 16) % 13]);
		for (int i = 0; i < 3; i++)
			buf_adds(&old, bits[((seed = seed * 1103515245u + 12345u) >> 16) % 12]);
		struct buf was;
		buf_init(&was, 1000);
		buf_add(&was, text.p, text.len);
		struct edit_done d;
		if (edit_apply(&text, old.p, "@@", false, &d, &why) == 0) {
			const char *at = strstr(text.p, "@@");
			size_t pre = at ? (size_t)(at - text.p) : 0, post = at ? text.len - pre - 2 : 0;
			done++;
			if (!at || pre + post > was.len || memcmp(was.p, text.p, pre) ||
					memcmp(was.p + was.len - post, at + 2, post)) {
				bad++;
				continue;
			}
			/* What went is equal to old_string in the loosest sense. */
			struct norm x, y;
			int how = NORM_EOL | NORM_BLANKS | NORM_LOOKS | NORM_FORM;
			norm_make(&x, was.p + pre, was.len - pre - post, how);
			norm_make(&y, old.p, old.len, how);
			bad += x.text.len != y.text.len || memcmp(x.text.p, y.text.p, x.text.len) != 0;
			norm_free(&x);
			norm_free(&y);
		} else {
			bad += text.len != was.len || memcmp(text.p, was.p, was.len) != 0 || why.len == 0;
		}
		buf_free(&text);
		buf_free(&old);
		buf_free(&why);
		buf_free(&was);
	}
	OK(bad == 0 && done > 500, "random texts: %d edits, %d wrong", done, bad);
}

int main(void)
{
	enter();
	exact();
	literal();
	fuzzy();
	line_ends();
	hints();
	several();
	files();
	property();
	return END();
}

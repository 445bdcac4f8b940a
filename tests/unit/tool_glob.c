/* Patterns (globmatch.h), ignore files (ignore.h), and Glob. */
#include "tool_test.h"

#include "agent/globstart.h"
#include "tools/globmatch.h"

#define G(...) callv(tool_glob, "pattern", __VA_ARGS__, NULL)

static void patterns(void)
{
	static const struct {
		const char *pattern, *path;
		bool match;
	} t[] = {
		{"*.c", "a.c", true}, {"*.c", "d/a.c", false}, {"*", ".hidden", true}, {"?.c", "\xc3\xa9.c", true}, {"?.c", "ab.c", false},
		{"**/*.c", "a.c", true}, {"**/*.c", "x/y/z.c", true}, {"**", "x/y", true}, {"a/**", "a", false}, {"a/**", "a/b/c", true},
		{"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true}, {"a/**/z", "a/b/c", false}, {"**/a/**/b", "x/a/y/a/b", true},
		{"[a-c]x", "bx", true}, {"[!a-c]x", "bx", false}, {"[^a-c]x", "dx", true}, {"[]]", "]", true}, {"[a", "[a", true},
		{"[\xc3\xa0-\xc3\xbc]", "\xc3\xa9", true}, {"\\*", "*", true}, {"\\*", "x", false}, {"a*b*c", "aXXbYYc", true},
		{"a*b*c", "aXXbYY", false}, {"*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false}, {"x/*", "x/y/z", false},
		{"", "", true}, {"**.c", "a/b.c", false}, {"**.c", "b.c", true}, {"*.c", "", false}, {"\xff?", "\xff\xfe", true},
	};
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		OK(glob_match(t[i].pattern, t[i].path) == t[i].match, "%s %s %s", t[i].pattern, t[i].match ? "matches" : "does not match",
			t[i].path);
	struct globs g;
	OK(globs_init(&g, "{src,lib/{a,b}}/*.{c,h}") == 0 && g.n == 6 && globs_match(&g, "lib/b/x.h") && !globs_match(&g, "lib/x.h"),
		"nested alternatives");
	globs_free(&g);
	OK(globs_init(&g, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}") < 0, "too many alternatives");
	OK(globs_init(&g, "a{b}c{") == 0 && globs_match(&g, "a{b}c{"), "braces that are none");
	globs_free(&g);
	OK(globs_init(&g, "x{,y}.c") == 0 && globs_match(&g, "x.c") && globs_match(&g, "xy.c"), "an empty alternative");
	globs_free(&g);
	OK(glob_literal_prefix("src/lib/*.c") == 8 && glob_literal_prefix("*.c") == 0 && glob_literal_prefix("a/b") == 2, "literal beginnings");
	/* Long and hostile: ends in time. */
	char p[2100], s[1100];
	for (int i = 0; i < 1000; i++)
		memcpy(p + 2 * i, "*a", 2), s[i] = 'a';
	strcpy(p + 2000, "b");
	s[1000] = '\0';
	OK(!glob_match(p, s), "a thousand stars");
	for (int i = 0; i < 300; i++)
		memcpy(p + 5 * i, "**/a/", 5), memcpy(s + 2 * i, "a/", 2);
	strcpy(p + 1500, "b");
	s[600] = '\0';
	OK(!glob_match(p, s), "three hundred double stars");
}

static void tree(void)
{
	static const char *const files[] = {"README", "src/a.c", "src/b.c", "src/b.h", "src/sub/c.c", "src/.hidden.c", "build/a.o",
		"build/keep.txt", "node_modules/m/index.js", ".git/config", "docs/x.md", "a-b.c", "a/z.c", "log/x.log", "log/important.log"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char dir[200];
		snprintf(dir, sizeof dir, "%s", files[i]);
		char *slash = strrchr(dir, '/');
		if (slash) {
			*slash = '\0';
			io_mkdirs(dir, 0755, NULL);
		}
		put(files[i], "x\n", 2);
	}
	PUTS(".gitignore", "# build\nbuild/*\n!build/keep.txt\n*.log\n!important.log\n/docs\n");
	ln_s("/etc", "etc");
	ln_s("../src", "src/again");
}

static void glob(void)
{
	IS(G("**/*.c"), "a-b.c\na/z.c\nsrc/.hidden.c\nsrc/a.c\nsrc/b.c\nsrc/sub/c.c\n", "sorted by path, links not followed");
	IS(G("*"), ".gitignore\nREADME\na-b.c\na/\nbuild/\netc\nlog/\nsrc/\n", "one level; directories end in a slash; no .git");
	IS(G("src/*.c"), "src/.hidden.c\nsrc/a.c\nsrc/b.c\n", "a directory in the pattern");
	IS(G("*.c", "path", "src"), "src/.hidden.c\nsrc/a.c\nsrc/b.c\n", "a directory in path");
	IS(G("{a,src/sub}/*.c"), "a/z.c\nsrc/sub/c.c\n", "alternatives with directories");
	IS(G("./README"), "README\n", "./");
	IS(G("src/../README"), "README\n", "..");
	char abs[PATH_MAX * 2];
	snprintf(abs, sizeof abs, "%s/src/*.h", ws);
	IS(G(abs), "src/b.h\n", "an absolute pattern");
	IS(G("**/*.txt"), "build/keep.txt\n", "an exception in the ignore file");
	IS(G("**/*.log"), "log/important.log\n", "the last rule decides");
	IS(G("build/*"), "build/keep.txt\n", "rules of the directory above count");
	IS(G("**/*.o"), "build/a.o\n[ignore files (.gitignore) leave out all of these]\n", "what only ignore files hide is shown, and said");
	IS(G("docs/*"), "docs/x.md\n", "an ignored directory that is named");
	IS(G("**/index.js"), "No files matched (node_modules is entered only when path or pattern names it)", "node_modules");
	IS(G("node_modules/**/*.js"), "node_modules/m/index.js\n", "node_modules, named");
	IS(G("**/node_modules/*/*.js"), "node_modules/m/index.js\n", "named in the middle");
	IS(G(".git/*"), ".git/config\n", ".git, named");
	OK(has(G("nothing/*.c"), "there is no directory") && !res.is_error, "a directory that is not there");
	OK(has(G("*.c", "path", "README"), "is a file"), "a file as path");
	OK(has(G("../*"), "outside") && res.is_error, "outside");
	OK(has(G("etc/*"), "outside") && res.is_error, "outside through a link");
	OK(has(call(tool_glob, "{}"), "needs the argument 'pattern'") && res.is_error, "no pattern");
	PUTS("new\nline\x1b.c", "");
	OK(has(G("new*"), "new\\nline\\x1B.c\n"), "a name is one line");
	unlink("new\nline\x1b.c");
	mkdir("many", 0755);
	char name[40];
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof name, "many/%04d", i);
		put(name, "", 0);
	}
	G("many/*");
	size_t lines = 0;
	for (const char *p = res.text.p; (p = strchr(p, '\n')); p++)
		lines++;
	OK(lines == 501 && has(res.text.p, "many/0499\n[more than 500 matches"), "500 at most");
	ctx.output_max = 2000;
	G("many/*");
	OK(res.text.len < 2100 && has(res.text.p, "more than"), "and within the output's limit");
	ctx.output_max = TOOL_OUTPUT_MAX;
	const char *was = roots[0];
	char home[PATH_MAX + 8];
	snprintf(home, sizeof home, "%s/home", top);
	io_mkdirs("../home/.ssh", 0700, NULL);
	PUTS("../home/.ssh/id_rsa", "k");
	PUTS("../home/x", "k");
	roots[0] = home;
	IS(G("**", "path", home), (snprintf(abs, sizeof abs, "%s/x\n", home), abs), "credentials are not listed");
	OK(has(G("*", "path", "~/.ssh"), "credentials") && res.is_error, "nor when named");
	roots[0] = was;
}

static void deep(void)
{
	char here[PATH_MAX];
	struct buf p;
	buf_init(&p, BUF_NOLIMIT);
	if (!getcwd(here, sizeof here))
		exit(99);
	for (int i = 0; i < 300; i++)
		if (mkdir("deep", 0755) < 0 || chdir("deep") < 0)
			break;
	PUTS("bottom", "");
	OK(chdir(here) == 0, "a deep tree");
	OK(has(G("**/bottom"), "No files matched") && has(res.text.p, "could not be read"), "ends, and says that it did not see all");
	buf_free(&p);
}

int main(void)
{
	enter();
	patterns();
	tree();
	glob();
	deep();
	return END();
}

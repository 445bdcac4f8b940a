/* Grep: the same with ripgrep and with grep, hostile patterns and trees, limits. */
#include "tool_test.h"

#include "sys/spawn.h"

#define G(...) callv(tool_grep, "pattern", __VA_ARGS__, NULL)
#define CONTENT "output_mode", "content"

static char path_rg[PATH_MAX * 3], path_grep[PATH_MAX * 2];
static bool have_rg;

/* A directory with a link to one program: PATH with and without ripgrep. */
static void set_up_paths(void)
{
	struct buf f;
	char dir[PATH_MAX + 16], link_name[PATH_MAX * 2];
	buf_init(&f, PATH_MAX);
	static const char *const names[] = {"rg", "grep"};
	for (int i = 0; i < 2; i++) {
		snprintf(dir, sizeof dir, "%s/bin-%s", top, names[i]);
		mkdir(dir, 0755);
		snprintf(link_name, sizeof link_name, "%s/%s", dir, names[i]);
		buf_clear(&f);
		if (spawn_find(names[i], getenv("PATH"), &f, NULL) == 0) {
			ln_s(f.p, link_name);
			have_rg |= i == 0;
		}
	}
	buf_free(&f);
	snprintf(path_rg, sizeof path_rg, "%s/bin-rg:%s/bin-grep", top, top);
	snprintf(path_grep, sizeof path_grep, "%s/bin-grep", top);
	setenv("PATH", have_rg ? path_rg : path_grep, 1);
}

static void tree(void)
{
	io_mkdirs("src/sub", 0755, NULL);
	io_mkdirs("node_modules/m", 0755, NULL);
	io_mkdirs(".git", 0755, NULL);
	io_mkdirs(".github", 0755, NULL);
	PUTS("src/a.c", "int needle(void)\n{\n\treturn 1;\n}\n- [ ] item\nx = -77;\np->q\n--pdf-engine\n-e\n--pre=evil\n");
	PUTS("src/b.h", "int needle(void);\nNeedle\ncaf\xc3\xa9 12 \xe2\x82\xac\n");
	PUTS("src/sub/latin1", "needle \xe9\xe8\nplain\n");
	PUTS("src/crlf", "needle\r\nother\r\n");
	PUTS("src/.hidden", "needle\n");
	PUTS("node_modules/m/i.js", "needle\n");
	PUTS(".git/config", "needle\n");
	PUTS(".github/x.yml", "needle\n");
	PUTS("bin.so", "\177ELF\0\0needle\n");
	PUTS("noeol", "needle");
	PUTS("empty", "");
	PUTS("late.nul", "");
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	while (b.len < 20000)
		buf_adds(&b, "some text\n");
	buf_addc(&b, '\0');
	buf_adds(&b, " needle after a NUL\n");
	put("late.nul", b.p, b.len);
	buf_free(&b);
	ln_s("src", "link");
	ln_s("src/a.c", "linkfile");
}

static void modes(void)
{
	const char *all = ".github/x.yml\nlate.nul\nnoeol\nsrc/.hidden\nsrc/a.c\nsrc/b.h\nsrc/crlf\nsrc/sub/latin1\n[1 binary file not searched]\n";
	IS(G("needle"), all, "files; hidden ones too; no links, no binary files, no node_modules");
	IS(res.origin, "file", "the words are the files'");
	IS(G("needle", "output_mode", "count", "path", "src"), "src/.hidden:1\nsrc/a.c:1\nsrc/b.h:1\nsrc/crlf:1\nsrc/sub/latin1:1\n", "count");
	IS(G("needle", CONTENT, "path", "src/b.h"), "src/b.h:1:int needle(void);\n", "content of one file");
	IS(G("needle", CONTENT, "path", "src/b.h", "case_insensitive", "\1true"), "src/b.h:1:int needle(void);\nsrc/b.h:2:Needle\n", "any case");
	IS(G("return", CONTENT, "context", "\1" "1", "glob", "*.c"), "src/a.c-2-{\nsrc/a.c:3:\treturn 1;\nsrc/a.c-4-}\n", "context");
	IS(G("int|x =", CONTENT, "context", "\1" "1", "path", "src/a.c"),
		"src/a.c:1:int needle(void)\nsrc/a.c-2-{\n--\nsrc/a.c-5-- [ ] item\nsrc/a.c:6:x = -77;\nsrc/a.c-7-p->q\n", "groups are set apart");
	IS(G("needle", "glob", "*.{c,h}"), "src/a.c\nsrc/b.h\n", "glob");
	IS(G("needle", "glob", "src/*.h"), "src/b.h\n", "glob with a directory");
	IS(G("needle", "glob", "!*.h", "path", "src"), "src/.hidden\nsrc/a.c\nsrc/crlf\nsrc/sub/latin1\n", "glob that excludes");
	IS(G("other", CONTENT, "glob", "crlf"), "src/crlf:2:other\n", "no CR at the end");
	IS(G("needle", CONTENT, "path", "src/sub"), "src/sub/latin1:1:needle \xef\xbf\xbd\xef\xbf\xbd\n", "what is not UTF-8 is replaced");
	IS(G("needle", "path", "node_modules"), "node_modules/m/i.js\n", "node_modules, named");
	IS(G("needle", CONTENT, "path", "linkfile"), "src/a.c:1:int needle(void)\n", "a link that is named");
	IS(G("after a NUL", CONTENT), "late.nul:2001:\\x00 needle after a NUL\n[1 binary file not searched]\n", "NUL far in");
	OK(has(G("zzzz"), "No matches found\n[node_modules is searched only when named as path]\n") && !res.is_error, "none");
}

static void hostile(void)
{
	static const char *const p[] = {"- \\[ \\]", "-77", "->", "--pdf-engine", "^-e$", "--pre=evil"};
	static const char *const want[] = {"5:- [ ] item", "6:x = -77;", "7:p->q", "8:--pdf-engine", "9:-e", "10:--pre=evil"};
	for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
		struct buf b;
		buf_init(&b, 200);
		buf_addf(&b, "src/a.c:%s\n", want[i]);
		IS(G(p[i], CONTENT, "path", "src/a.c"), b.p, "pattern %s", p[i]);
		buf_free(&b);
	}
	IS(G("-e", "path", "src/a.c"), "src/a.c\n", "pattern -e");
	OK(has(G("needle("), "not understood") && res.is_error, "a pattern that is none");
	OK(has(G("a\nb"), "line end") && res.is_error, "a line end in the pattern");
	OK(has(G(""), "pattern") && res.is_error, "an empty pattern");
	OK(has(G("x", "output_mode", "lines"), "output_mode is") && res.is_error, "an unknown mode");
	OK(has(G("x", "path", "nowhere"), "no such file"), "a path that is not there");
	OK(has(G("x", "path", "/etc"), "--add-dir"), "outside");
	OK(has(G("x", "path", "../out"), "--add-dir"), "outside, relative");
	IS(G("(?<=int )needle", CONTENT, "glob", "*.c"), "src/a.c:1:int needle(void)\n", "look-behind");
	IS(G("(.)\\1dle", CONTENT, "glob", "*.c"), "src/a.c:1:int needle(void)\n", "a back-reference");
	mkdir("-e", 0755);
	PUTS("-e/--pre", "dashes\n");
	PUTS("-e/a:1:b\nc", "dashes\n");
	IS(G("dashes", CONTENT), "-e/--pre:1:dashes\n-e/a:1:b\\nc:1:dashes\n[1 binary file not searched]\n", "names that look like options or results");
	mkfifo("fifo", 0600);
	OK(has(G("dashes"), "-e/--pre"), "a FIFO does not block");
	unlink("fifo");
	OK(has(G("x", "path", "-e/../../out"), "outside"), "no way out");
	unlink("-e/--pre");
	unlink("-e/a:1:b\nc");
	rmdir("-e");
}

/* The same call with both programs. */
static void equal(void)
{
	if (!have_rg) {
		OK(1, "no ripgrep to compare with # SKIP");
		return;
	}
	static const char *const patterns[] = {"needle", "^int", "\\bneedle\\b", "[0-9]+", "\\d+", "caf.\\s", "needle$", "(?i)NEEDLE", "x.*?;",
		".", "^$", "\\w+\\(void\\)", "zzz", "e{2}", "\\t", "\xe2\x82\xac", "[\xc3\xa9]", "-", "a|b", "\\.", "\\x41", "plain|other", "^.{3}$",
		"needle \\S"};
	static const char *const modes_of[] = {"files_with_matches", "count", "content"};
	size_t bad = 0, n = 0;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		for (int m = 0; m < 3; m++, n++) {
			setenv("PATH", path_rg, 1);
			char *a = strdup(G(patterns[i], "output_mode", modes_of[m], "context", "\1" "1"));
			setenv("PATH", path_grep, 1);
			const char *b = G(patterns[i], "output_mode", modes_of[m], "context", "\1" "1");
			if (strcmp(a, b)) {
				bad++;
				printf("# %s %s: rg %.300s\n# grep %.300s\n", patterns[i], modes_of[m], a, b);
			}
			free(a);
		}
	OK(bad == 0, "%zu searches give the same with rg and with grep", n);
	OK(has(G("needle("), "not understood") && res.is_error, "grep refuses a bad pattern, too");
	setenv("PATH", path_rg, 1);
}

static void ignored(void)
{
	io_mkdirs("p/sub/build", 0755, NULL);
	PUTS("p/sub/build/x", "treasure\n");
	PUTS("p/sub/y.log", "treasure\n");
	PUTS("p/.gitignore", "build/\n*.log\n");
	PUTS("p/sub/.ignore", "!y.log\n");
	IS(G("treasure", "path", "p"), "p/sub/y.log\n", "ignore files, the inner one decides");
	IS(G("treasure", "path", "p/sub/build"), "p/sub/build/x\n", "an ignored directory that is named is searched");
	unlink("p/sub/y.log");
	OK(has(G("treasure", "path", "p"), "No matches found\n[ignore files (.gitignore) leave out 1 files or directories, such as sub/build"),
		"nothing found: what was left out is named");
	/* An ignore file above the root, or above the repository, is not this project's. */
	PUTS("../.gitignore", "*\n");
	IS(G("treasure", "path", "p/sub/build"), "p/sub/build/x\n", "an ignore file above the root does not count");
	io_mkdirs("p/sub/.git", 0755, NULL);
	PUTS("p/sub/z.log", "treasure\n");
	unlink("p/sub/.ignore");
	IS(G("treasure", "path", "p/sub"), "p/sub/build/x\np/sub/z.log\n", "nor one above the repository");
	unlink("../.gitignore");
	PUTS("p/.gitignore", "");
	unlink("p/.gitignore");
	ln_s("/etc/passwd", "p/.gitignore");
	OK(has(G("treasure", "path", "p"), "p/sub/z.log"), "an ignore file that is a link is not read");
	unlink("p/.gitignore");
	mkfifo("p/.gitignore", 0600);
	OK(has(G("treasure", "path", "p"), "p/sub/z.log"), "nor a FIFO");
	unlink("p/.gitignore");
}

static void limits(void)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	mkdir("big", 0755);
	for (int i = 0; i < 4000000; i++)
		buf_adds(&b, "abcdefghij");
	put("big/line", b.p, b.len);
	long long t = io_now_ms();
	G(".", CONTENT, "path", "big");
	OK(res.text.len < 1000 && has(res.text.p, "[... 39999500 more bytes]"), "a line of 40 MB is cut");
	buf_clear(&b);
	for (int i = 0; i < 200000; i++)
		buf_addf(&b, "line %d\n", i);
	put("big/line", b.p, b.len);
	G("line", CONTENT, "path", "big");
	OK(res.text.len <= 20000 && has(res.text.p, "[stopped at"), "output is bounded");
	OK(io_now_ms() - t < 20000, "in time");
	unlink("big/line");
	for (int i = 0; i < 1000; i++) {
		char name[40];
		snprintf(name, sizeof name, "big/%04d", i);
		put(name, "batch\n", 6);
	}
	G("batch", "path", "big");
	OK(has(res.text.p, "big/0000\n") && has(res.text.p, "big/0999\n"), "more files than one run takes");
	G("batch", CONTENT, "path", "big", "context", "\1" "1");
	OK(has(res.text.p, "big/0399:1:batch\n--\nbig/0400:1:batch\n"), "with groups set apart between runs");
	/* A program that hangs. */
	char dir[PATH_MAX + 16], prog[PATH_MAX * 2];
	snprintf(dir, sizeof dir, "%s/slow", top);
	mkdir(dir, 0755);
	snprintf(prog, sizeof prog, "%s/rg", dir);
	PUTS("../slow/rg", "#!/bin/sh\n/bin/sleep 60 &\nexec /bin/sleep 60\n");
	chmod(prog, 0755);
	setenv("PATH", dir, 1);
	ctx.timeout_ms = 300;
	t = io_now_ms();
	G("batch", "path", "big");
	OK(has(res.text.p, "[stopped after 1 s") && !strcmp(res.status, "timeout") && io_now_ms() - t < 10000, "one that hangs is ended");
	ctx.timeout_ms = 60000;
	setenv("PATH", have_rg ? path_rg : path_grep, 1);
	buf_free(&b);
}

static void environment(void)
{
	char evil[PATH_MAX * 5];
	mkdir("evil", 0755);
	PUTS("evil/rg", "#!/bin/sh\ntouch PWNED ../PWNED\n");
	PUTS("evil/grep", "#!/bin/sh\ntouch PWNED ../PWNED\n");
	chmod("evil/rg", 0755);
	chmod("evil/grep", 0755);
	const char *path = have_rg ? path_rg : path_grep;
	snprintf(evil, sizeof evil, "%s/evil:evil:.::%s", ws, path);
	setenv("PATH", evil, 1);
	IS(G("needle", "glob", "*.h"), "src/b.h\n", "programs in the workspace are not used");
	char via[PATH_MAX + 20];
	snprintf(via, sizeof via, "%s/via", top);
	ln_s("ws/evil", via);
	snprintf(evil, sizeof evil, "%s:%s", via, path);
	setenv("PATH", evil, 1);
	IS(G("needle", "glob", "*.h"), "src/b.h\n", "nor through a link to it");
	snprintf(evil, sizeof evil, "%s/evil", ws);
	setenv("PATH", evil, 1);
	OK(has(G("needle"), "neither rg nor grep") && res.is_error, "no program left: an error that says so");
	OK(access("PWNED", F_OK) < 0 && access("../PWNED", F_OK) < 0, "none of them ran");
	setenv("PATH", path, 1);
	PUTS("../rgrc", "--invert-match\n--pre=/bin/false\n");
	char rc[PATH_MAX + 10];
	snprintf(rc, sizeof rc, "%s/rgrc", top);
	setenv("RIPGREP_CONFIG_PATH", rc, 1);
	setenv("GREP_OPTIONS", "-v", 1);
	setenv("GREP_COLORS", "mt=01;31", 1);
	IS(G("needle", CONTENT, "path", "src/b.h"), "src/b.h:1:int needle(void);\n", "no configuration counts");
	unsetenv("RIPGREP_CONFIG_PATH");
	unsetenv("GREP_OPTIONS");
	/* Credentials, when the home directory is the workspace. */
	const char *was = roots[0];
	char home[PATH_MAX + 8];
	snprintf(home, sizeof home, "%s/home", top);
	io_mkdirs("../home/.ssh", 0700, NULL);
	io_mkdirs("../home/.aws", 0700, NULL);
	PUTS("../home/.ssh/id_rsa", "PRIVATE needle\n");
	PUTS("../home/.aws/credentials", "needle\n");
	PUTS("../home/notes", "needle\n");
	OK(link("../home/.ssh/id_rsa", "../home/copy") == 0, "a second name");
	roots[0] = ctx.cwd = home;
	IS(G("needle"), "notes\n", "credentials are not searched, nor their hard links");
	roots[0] = ctx.cwd = ws;
	roots[0] = was;
}

int main(void)
{
	enter();
	set_up_paths();
	tree();
	modes();
	hostile();
	equal();
	ignored();
	limits();
	environment();
	return END();
}

/* Rules: how lists are read, what they match. The decisions themselves are tested through claws-permit. */
#include "tap.h"

#include "agent/near.h"
#include "agent/permit.h"

static const char *parsed(enum rule_kind kind, const char *list)
{
	static char text[2000];
	struct rules r = RULES_INIT;
	struct err e = ERR_INIT;
	size_t n = 0;

	text[0] = 0;
	if (rules_add(&r, kind, list, &e) < 0)
		snprintf(text, sizeof text, "error %d, %zu rules", e.status, r.n);
	else
		for (size_t i = 0; i < r.n; i++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s<%s|%s>", i ? " " : "", r.v[i].tool, r.v[i].spec ? r.v[i].spec : "");
	rules_free(&r);
	return text;
}

static int matches(enum rule_kind kind, const char *rule, const char *tool, const char *path)
{
	struct rules r = RULES_INIT;
	struct rule_use use = {.tool = tool, .path = path, .resolved = path, .cwd = "/w/x", .home = "/home/u"};
	int hit;

	if (rules_add(&r, kind, rule, NULL) < 0)
		return -1;
	hit = rules_match(&r, kind, &use) != NULL;
	rules_free(&r);
	return hit;
}

static const struct {
	const char *rule, *path;
	int allow, deny;
} paths[] = {
	{"Read", "/etc/x", 1, 1},
	{"Read(a)", "/w/x/a", 1, 1}, {"Read(a)", "/w/x/d/a", 1, 1}, {"Read(a)", "/w/a", 0, 1}, {"Read(a)", "/w/x/a/b", 0, 1},
	{"Read(./a)", "/w/x/a", 1, 1}, {"Read(./a)", "/w/x/d/a", 0, 0}, {"Read(./a)", "/w/x/ab", 0, 0}, {"Read(./a)", "/w/x/a/b", 0, 1},
	{"Read(d/*)", "/w/x/d/a", 1, 1}, {"Read(d/*)", "/w/x/d/e/a", 0, 1}, {"Read(d/*)", "/w/x/d", 0, 0},
	{"Read(d/**)", "/w/x/d/e/a", 1, 1}, {"Read(d/**)", "/w/x/d", 0, 0}, {"Read(d/**)", "/w/x/de", 0, 0},
	{"Read(d/)", "/w/x/d/a", 1, 1}, {"Read(**/a)", "/w/x/a", 1, 1}, {"Read(**/a)", "/w/x/p/q/a", 1, 1},
	{"Read(d/**/a)", "/w/x/d/a", 1, 1}, {"Read(d/**/a)", "/w/x/d/p/q/a", 1, 1}, {"Read(d/**/a)", "/w/x/d/p/q/b", 0, 0},
	{"Read(*.c)", "/w/x/p/a.c", 1, 1}, {"Read(*.c)", "/w/a.c", 0, 1}, {"Read(?.c)", "/w/x/ab.c", 0, 0}, {"Read([ab].c)", "/w/x/b.c", 1, 1},
	{"Read(/etc/*)", "/etc/x", 1, 1}, {"Read(//etc/*)", "/etc/x", 1, 1}, {"Read(/**)", "/etc/x", 1, 1}, {"Read(/etc)", "/etcx", 0, 0},
	{"Read(~/a)", "/home/u/a", 1, 1}, {"Read(~/a)", "/w/x/a", 0, 0}, {"Read(.)", "/w/x/a", 1, 1}, {"Read(**)", "/w/x/p/q", 1, 1},
	{"Read(**)", "/w/y", 0, 1},
};

static void writes(void)
{
	static const char *const good[][2] = {{"Bash", "make test"}, {"Bash", "(a) (b)"}, {"Bash", "find \\( -x \\)"}, {"Read", "/a b"}},
		*const bad[][2] = {{"Bash", "true) Bash(rm"}, {"Bash", "a)"}, {"Bash", "(a"}, {"Bash", "a\nb"}, {"Bash", "a\033"}, {"Bash", ""},
		{"Read", "/a*"}, {"Write", "/[a]"}, {"Bash", "rm *"}};
	struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct rules r = RULES_INIT;
		buf_clear(&b);
		OK(rule_write(&b, good[i][0], good[i][1]) && rules_add(&r, RULE_ALLOW, b.p, NULL) == 0 && r.n == 1 &&
		   !strcmp(r.v[0].spec, good[i][1]), "a rule for '%s' reads back as itself", good[i][1]);
		rules_free(&r);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		buf_clear(&b);
		OK(!rule_write(&b, bad[i][0], bad[i][1]) && !b.len, "no rule is offered, %zu", i);
	}
	buf_free(&b);
}

static void near(void)
{
	static const char *const yes[][2] = {{"bash", "Bash"}, {"Bsh", "Bash"}, {"Raed", "Read"}, {"Gerp", "Grep"}, {"MultiEdit2", "MultiEdit"},
		{"Lins", "Lines"}, {"WebFtech", "WebFetch"}},
		*const no[][2] = {{"Foo", "Bash"}, {"", "Bash"}, {"Bash", ""}, {"Re", "Read"}, {"Task", "Bash"}, {"Web", "Edit"}};

	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		OK(name_near(yes[i][0], yes[i][1]), "%s is near %s", yes[i][0], yes[i][1]);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		OK(!name_near(no[i][0], no[i][1]), "'%s' is not near '%s'", no[i][0], no[i][1]);
}

int main(void)
{
	static const char *const patterns[] = {"Bash(git *)", "Bash(git:*)", "Bash(*)", "Bash(git*)", "Bash(git * main)", "Bash(npm run test:*)",
		"Read, Bash(git diff:*)"};
	enum permit_mode m = MODE_AUTO;

	IS(parsed(RULE_ALLOW, ""), "", "an empty list");
	IS(parsed(RULE_ALLOW, " , \n"), "", "separators alone");
	IS(parsed(RULE_ALLOW, "Read"), "<Read|>", "a tool");
	IS(parsed(RULE_ALLOW, "Bash(make test),Read Edit\nGrep"), "<Bash|make test> <Read|> <Edit|> <Grep|>", "commas, blanks, newlines");
	IS(parsed(RULE_ALLOW, "Bash( a, b )"), "<Bash|a, b>", "inside parentheses a comma is a comma");
	IS(parsed(RULE_ALLOW, "Bash((a) (b)) Read"), "<Bash|(a) (b)> <Read|>", "parentheses balance");
	IS(parsed(RULE_ALLOW, "Bash(echo \")\")"), "<Bash|echo \")\">", "a list of one rule need not");
	IS(parsed(RULE_ALLOW, "Bash(echo \")\") Read"), "error 2, 0 rules", "more than one must");
	IS(parsed(RULE_ALLOW, "Bash(a) Bash(b)"), "<Bash|a> <Bash|b>", "two rules are two");
	IS(parsed(RULE_ALLOW, "Read Bash("), "error 2, 0 rules", "an error adds nothing");
	IS(parsed(RULE_ALLOW, "Bash()"), "error 2, 0 rules", "nothing in parentheses");
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		IS(parsed(RULE_ALLOW, patterns[i]), "error 2, 0 rules", "%s can only be meant as a pattern", patterns[i]);
	IS(parsed(RULE_ALLOW, "Bash(ls *.c)"), "<Bash|ls *.c>", "in an argument of an allow rule a star is a star");
	IS(parsed(RULE_ALLOW, "Bash(q 'select * from t')"), "<Bash|q 'select * from t'>", "in quotes too");
	IS(parsed(RULE_ALLOW, "Bash(A=* ls)"), "<Bash|A=* ls>", "and in an assignment");
	IS(parsed(RULE_DENY, "Bash(git *)"), "error 2, 0 rules", "in a deny rule it is an error");
	IS(parsed(RULE_ASK, "Bash(git:*)"), "error 2, 0 rules", "in an ask rule too");
	IS(parsed(RULE_ALLOW, "mcp__a__b"), "<mcp__a__b|>", "names with underscores");
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		OK(matches(RULE_ALLOW, paths[i].rule, "Read", paths[i].path) == paths[i].allow, "allow %s: %s", paths[i].rule, paths[i].path);
		OK(matches(RULE_DENY, paths[i].rule, "Read", paths[i].path) == paths[i].deny, "deny %s: %s", paths[i].rule, paths[i].path);
	}
	OK(matches(RULE_DENY, "Read(a)", "Grep", "/w/x/a") == 1, "a deny rule of Read holds for Grep");
	OK(matches(RULE_ALLOW, "Read(a)", "Grep", "/w/x/a") == 0, "an allow rule does not");
	OK(matches(RULE_DENY, "Edit(a)", "Write", "/w/x/a") == 1, "one of Edit for Write");
	OK(matches(RULE_DENY, "Read(a)", "Write", "/w/x/a") == 0, "one of Read not for Write");
	OK(matches(RULE_DENY, "Read", "Grep", "/w/x/a") == 0, "a whole tool is only itself");
	writes();
	near();
	for (int i = 0; i < MODE_COUNT; i++)
		OK(permit_mode_parse(permit_mode_name((enum permit_mode)i), &m) == 0 && m == (enum permit_mode)i, "mode %s",
		   permit_mode_name((enum permit_mode)i));
	OK(permit_mode_parse("bypass", &m) < 0 && permit_mode_parse("", &m) < 0, "no such mode");
	return END();
}

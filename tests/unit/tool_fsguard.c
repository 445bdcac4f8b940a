/* Which paths a tool may touch: fsguard.h, fsname.h, fslink.h. */
#include "tool_test.h"

#include <sys/socket.h>
#include <sys/un.h>

static enum fs_verdict look(const char *path, enum fs_want want)
{
	static struct err e;
	err_clear(&e);
	enum fs_verdict v = fs_check(&ctx, path, want, &e);
	if (v != FS_OK && !e.text[0])
		OK(0, "%s: a verdict has a reason", path);
	return v;
}

#define READS(path, want) OK(look(path, FS_READ) == (want), "read %s: %s", path, #want)
#define WRITES(path, want) OK(look(path, FS_WRITE) == (want), "write %s: %s", path, #want)

static char *in(const char *dir, const char *rest)
{
	static char b[8][PATH_MAX * 2];
	static int i;
	i = (i + 1) % 8;
	snprintf(b[i], sizeof b[i], "%s/%s/%s", top, dir, rest);
	return b[i];
}

static void places(void)
{
	PUTS("a.txt", "a");
	mkdir("sub", 0755);
	READS("a.txt", FS_OK);
	READS("./sub/../a.txt", FS_OK);
	READS("sub", FS_OK);
	READS("not/there/yet", FS_OK);
	WRITES("not/there/yet", FS_OK);
	READS(in("ws", "a.txt"), FS_OK);
	READS("", FS_REFUSED);
	READS("../out/x", FS_OUTSIDE);
	READS("/etc/passwd", FS_OUTSIDE);
	READS(in("ws2", "x"), FS_OUTSIDE);
	mkdir(in("ws2", ""), 0755);
	READS(in("ws2", "x"), FS_OUTSIDE);
	WRITES(in("out", "x"), FS_OUTSIDE);
	READS("~/x", FS_OUTSIDE);
	READS(in("blobs", "sha256-0"), FS_OK);
	WRITES(in("blobs", "sha256-0"), FS_OUTSIDE);
	READS("a.txt/x", FS_REFUSED);
	READS("not/../../out/x", FS_REFUSED);          /* what is not there has no parent */
	roots[1] = in("out", "");
	READS(in("out", "x"), FS_OK);
	WRITES("../out/x", FS_OK);
	roots[1] = NULL;
	struct err e = ERR_INIT;
	fs_check(&ctx, "/etc/hosts", FS_READ, &e);
	OK(has(e.text, ws) && has(e.text, "--add-dir"), "the refusal names the roots and the option");
}

static void links(void)
{
	PUTS("../out/secret", "s");
	OK(symlink("a.txt", "in1") == 0 && symlink("in1", "in2") == 0 && symlink("sub", "dlink") == 0, "links made");
	READS("in2", FS_OK);
	WRITES("in2", FS_OK);
	WRITES("dlink/new", FS_OK);
	ln_s(in("out", "secret"), "out1");
	ln_s("../out/secret", "out2");
	ln_s("out2", "out3");
	ln_s(in("out", ""), "odir");
	ln_s("loop2", "loop1");
	ln_s("loop1", "loop2");
	ln_s("sub/later", "dangling");
	ln_s("../out/later", "odangling");
	READS("out1", FS_OUTSIDE);
	READS("out2", FS_OUTSIDE);
	READS("out3", FS_OUTSIDE);
	READS("odir/secret", FS_OUTSIDE);
	WRITES("odir/new", FS_OUTSIDE);
	READS("odir/../ws/a.txt", FS_OK);
	READS("loop1", FS_REFUSED);
	WRITES("dangling", FS_OK);
	WRITES("odangling", FS_OUTSIDE);
	/* The root itself reached by a link. */
	ln_s("ws", in("", "alias"));
	READS(in("", "alias/a.txt"), FS_OK);
	const char *was = roots[0];
	roots[0] = in("", "alias");
	READS("a.txt", FS_OK);
	READS(in("ws", "a.txt"), FS_OK);
	READS("out1", FS_OUTSIDE);
	roots[0] = was;
}

static void swaps(void)
{
	struct fs_at at;
	struct err e = ERR_INIT;
	PUTS("swap", "mine");
	OK(fs_look(&ctx, "swap", FS_READ, &at, &e) == FS_OK, "looked at");
	unlink("swap");
	ln_s("../out/secret", "swap");
	OK(fs_open(&at, &e) < 0, "a link put in its place is not followed");
	unlink("swap");
	PUTS("swap", "other");
	err_clear(&e);
	OK(fs_open(&at, &e) < 0 && has(e.text, "replaced"), "nor is another file opened");
	unlink("swap");
	mkfifo("swap", 0600);
	err_clear(&e);
	OK(fs_open(&at, &e) < 0, "nor does a FIFO block");
	fs_close(&at);

	mkdir("moved", 0755);
	err_clear(&e);
	OK(fs_look(&ctx, "moved/deep/f", FS_WRITE, &at, &e) == FS_OK, "a directory is looked at");
	rename("moved", "away");
	ln_s(in("out", ""), "moved");
	OK(fs_make_parents(&at, &e) == 0, "parents are made by descriptor");
	int fd = openat(at.dir, at.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	OK(fd >= 0 && access("away/deep/f", F_OK) == 0 && access(in("out", "deep"), F_OK) < 0,
		"a directory exchanged for a link changes nothing");
	close(fd);
	fs_close(&at);
	/* A link put where a directory is still to be made. */
	err_clear(&e);
	OK(fs_look(&ctx, "fresh/f", FS_WRITE, &at, &e) == FS_OK, "a directory that is not there");
	ln_s(in("out", ""), "fresh");
	OK(fs_make_parents(&at, &e) < 0, "is not taken from a link");
	fs_close(&at);
}

static void special(void)
{
	mkfifo("fifo", 0600);
	READS("fifo", FS_REFUSED);
	WRITES("fifo", FS_REFUSED);
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "sock"};
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	OK(bind(s, (struct sockaddr *)&a, sizeof a) == 0, "a socket");
	READS("sock", FS_REFUSED);
	close(s);
	ln_s("/dev/zero", "zero");
	READS("zero", FS_REFUSED);
	ln_s("/dev/fd/0", "fd0");
	READS("fd0", FS_REFUSED);
	static const char *const proc[] = {"/proc/self/environ", "/proc/1/environ", "/proc/self/mem", "/proc/self/fd/0",
		"/proc/self/root/etc/passwd", "/proc/self/cwd/a.txt", "/proc/self/maps", "/proc/thread-self/environ",
		"/proc/self/task/1/environ", "/tmp/../proc/self/environ", "/proc//self/./environ", "/proc/self/ENVIRON",
		"/proc/self/root", "/proc/kcore", "/dev/fd/0", "/dev/stdin", "/dev/null", "/dev/mem"};
	for (size_t i = 0; i < sizeof proc / sizeof *proc; i++)
		READS(proc[i], FS_REFUSED);
	ln_s("/proc/self", "me");
	READS("me/environ", FS_REFUSED);
	READS("me/root/etc/passwd", FS_REFUSED);
	const char *was = roots[0];
	roots[0] = "/";
	READS("/proc/self/environ", FS_REFUSED);
	READS("me/environ", FS_REFUSED);
	READS("/dev/null", FS_REFUSED);
	READS("/etc/shadow", FS_REFUSED);
	READS("/etc/sudoers.d/x", FS_REFUSED);
	READS("/etc/passwd", FS_OK);
	WRITES("/etc/cron.d/x", FS_PROTECTED);
	WRITES("/etc/profile.d/x.sh", FS_PROTECTED);
	WRITES("/usr/bin/x", FS_PROTECTED);
	roots[0] = was;
}

static void credentials(void)
{
	mkdir(in("home", ".ssh"), 0700);
	PUTS("../home/.ssh/id_ed25519", "k");
	const char *was = roots[0];
	roots[0] = in("home", "");
	ctx.cwd = roots[0];
	static const char *const bad[] = {"~/.ssh/id_ed25519", ".ssh/id_rsa", ".SSH/id_rsa", ".ssh./id_rsa",
		".s\xe2\x80\x8csh/id_rsa", "\xef\xbc\x8essh/id_rsa", ".aws/credentials", ".gnupg/x", ".kube/config", ".docker/config.json",
		".netrc", ".pgpass", ".config/gh/hosts.yml", ".git-credentials", ".\xc5\xbf\xc5\xbfh/id_rsa", "x/../.ssh/../.ssh/id_x",
		".config/claws/api_key"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		READS(bad[i], FS_REFUSED);
		WRITES(bad[i], FS_REFUSED);
	}
	static const char *const good[] = {".ssh/config", ".ssh/known_hosts", ".ssh/authorized_keys", ".sshx", "awsome", ".config/x",
		".config/claws/config"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		READS(good[i], FS_OK);
	WRITES(".ssh/config", FS_PROTECTED);
	WRITES(".ssh/authorized_keys", FS_PROTECTED);
	WRITES(".config/claws/config", FS_PROTECTED);
	WRITES(".local/state/claws/sessions/x", FS_PROTECTED);
	WRITES(".local/share/claws/skills/x", FS_PROTECTED);
	WRITES("bin/x", FS_PROTECTED);
	/* Another user's home, wherever HOME is. */
	roots[1] = "/home";
	READS("/home/somebody/.ssh/id_rsa", FS_REFUSED);
	READS("/root/.aws/credentials", FS_REFUSED);
	roots[1] = NULL;
	roots[0] = was;
	ctx.cwd = ws;
	ln_s("../home/.ssh/id_ed25519", "innocent");
	READS("innocent", FS_REFUSED);
	OK(link("../home/.ssh/id_ed25519", "hard") == 0, "a hard link to a key");
	READS("hard", FS_REFUSED);
	WRITES("hard", FS_REFUSED);
	OK(link("a.txt", "hard2") == 0, "a second name");
	READS("hard2", FS_OK);
	WRITES("hard2", FS_OK);
}

static void later(void)
{
	mkdir(".git", 0755);
	PUTS(".git/config", "c");
	static const char *const bad[] = {".git/config", ".git", "sub/.git/hooks/pre-commit", ".GIT/config", ".Git/x", ".git./config",
		".git /config", ".g\xe2\x80\x8cit/config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config", ".claws/x", ".claude/settings.json",
		".envrc", "deep/.envrc", ".vscode/tasks.json", ".mcp.json", ".bashrc", ".profile", ".zshrc", ".bash_profile", ".zshenv",
		".config/fish/config.fish", "crontab", ".config/autostart/x.desktop", ".github/workflows/ci.yml", ".GitHub/Workflows/ci.yml",
		".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".gitmodules", ".husky/pre-commit", ".npmrc", ".local/bin/ls",
		"sub/../.git/config", "./.git/config", ".config/systemd/user/x.service"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		WRITES(bad[i], FS_PROTECTED);
	static const char *const good[] = {".gitignore", ".gitattributes", ".github/README.md", ".github/CODEOWNERS", "git/config",
		"bashrc", "x.git", "docs/.gitkeep", "claws", "crontab.md", "src/profile", ".env.example", "AGENTS.md", "usr/bin/x",
		"lib/x.c", "etc/x"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		WRITES(good[i], FS_OK);
	READS(".git/config", FS_OK);
	READS(".github/workflows/ci.yml", FS_OK);
	ln_s(".git", "harmless");
	WRITES("harmless/config", FS_PROTECTED);
	mkdir("elsewhere", 0755);
	ln_s("../elsewhere", "sub/.claws");
	WRITES("sub/.claws/x", FS_PROTECTED);
	ln_s(".bashrc", "notes");
	WRITES("notes", FS_PROTECTED);
	OK(link(".git/config", "linked") == 0, "a hard link to .git/config");
	WRITES("linked", FS_PROTECTED);
	READS("linked", FS_OK);
}

static void git_like(void)
{
	mkdir("bare", 0755);
	mkdir("bare/objects", 0755);
	WRITES("bare/config", FS_OK);
	mkdir("bare/refs", 0755);
	WRITES("bare/config", FS_OK);
	WRITES("bare/HEAD", FS_PROTECTED);            /* would make it one */
	WRITES("bare/head", FS_PROTECTED);
	PUTS("bare/HEAD", "ref: refs/heads/main\n");
	WRITES("bare/config", FS_PROTECTED);
	WRITES("bare/hooks/post-checkout", FS_PROTECTED);
	mkdir("bare2", 0755);
	mkdir("bare2/objects", 0755);
	PUTS("bare2/HEAD", "ref: refs/heads/main\n");
	WRITES("bare2/refs/x", FS_PROTECTED);         /* the last piece is a directory to be made */
	mkdir("tree", 0755);
	PUTS("tree/HEAD", "ref: refs/heads/main\n");
	WRITES("tree/commondir", FS_PROTECTED);
	ln_s("../sub", "bare/out");
	WRITES("bare/out/x", FS_OK);
}

static void workspaces(void)
{
	/* A workspace that itself lies below a protected name. */
	const char *was = roots[0];
	io_mkdirs(in("home", ".claude/worktrees/p/.git"), 0700, NULL);
	roots[0] = in("home", ".claude/worktrees/p");
	ctx.cwd = roots[0];
	WRITES("src/x.c", FS_OK);
	WRITES(".claude/x", FS_PROTECTED);
	WRITES(".git/config", FS_PROTECTED);
	roots[0] = "/usr/local/src";
	ctx.cwd = roots[0];
	WRITES("/usr/local/src/x.c", FS_OK);
	roots[0] = was;
	ctx.cwd = ws;

	struct fs_at at;
	struct err e = ERR_INIT;
	OK(fs_admit(&ctx, ".envrc", FS_WRITE, &at, &e) < 0, "a tool does not write what is protected");
	ctx.protected_ok = true;
	err_clear(&e);
	OK(fs_admit(&ctx, ".envrc", FS_WRITE, &at, &e) == 0, "unless it was allowed");
	fs_close(&at);
	OK(fs_admit(&ctx, "~/.ssh/id_ed25519", FS_WRITE, &at, &e) < 0, "which opens nothing that is refused");
	err_clear(&e);
	OK(fs_admit(&ctx, "../out/x", FS_WRITE, &at, &e) < 0, "nor outside");
	ctx.protected_ok = false;
	IS(fs_short(&ctx, in("ws", "a/b")), "a/b", "a path in the working directory is shown short");
	IS(fs_short(&ctx, "/x/y"), "/x/y", "another is not");
}

/* Whatever the path: where realpath(3) ends, this walk ends. */
static void property(void)
{
	static const char *const bits[] = {"d", "d", "e", "f", "l1", "l2", "l3", "up", "abs", "..", "..", ".", "", "none"};
	io_mkdirs("rnd/d/d/e", 0755, NULL);
	io_mkdirs("rnd/e/d", 0755, NULL);
	PUTS("rnd/f", "");
	PUTS("rnd/d/f", "");
	ln_s("d/e", "rnd/l1");
	ln_s("l1", "rnd/l2");
	ln_s("../e/../d", "rnd/d/l3");
	ln_s("..", "rnd/d/up");
	ln_s(in("ws", "rnd/d"), "rnd/e/abs");
	ln_s("self", "rnd/self");
	unsigned seed = 11;
	int good = 0, found = 0, rounds = 3000;
	for (int i = 0; i < rounds; i++) {
		char p[400] = "rnd", real[PATH_MAX];
		for (unsigned n = (seed = seed * 1103515245u + 12345u) >> 16 & 7; n > 0; n--) {
			seed = seed * 1103515245u + 12345u;
			size_t len = strlen(p);
			snprintf(p + len, sizeof p - len, "/%s", bits[(seed >> 16) % 14]);
		}
		struct fs_at at;
		struct err e = ERR_INIT;
		enum fs_verdict v = fs_look(&ctx, p, FS_READ, &at, &e);
		if (realpath(p, real)) {
			found++;
			bool inside = strncmp(real, ws, strlen(ws)) == 0 && (real[strlen(ws)] == '/' || !real[strlen(ws)]);
			bool same = at.fd >= 0 && !strcmp(at.path, real) && v == (inside ? FS_OK : FS_OUTSIDE);
			good += same;
			if (!same)
				printf("# %s: %s instead of %s\n", p, at.path ? at.path : e.text, real);
		} else {
			good += at.fd < 0;
		}
		fs_close(&at);
	}
	OK(good == rounds && found > 300, "%d of %d random paths, %d of which exist, resolve as realpath(3) says", good, rounds, found);
}

int main(void)
{
	enter();
	property();
	places();
	links();
	swaps();
	special();
	credentials();
	later();
	git_like();
	workspaces();
	return END();
}

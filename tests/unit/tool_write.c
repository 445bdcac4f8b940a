/* Write, and how files are saved (save.h): modes, links, undo, full disks. */
#include "tool_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "tools/save.h"

#define W(path, content) callv(tool_write, "file_path", path, "content", content, NULL)

static mode_t mode(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0xffff;
}

static bool no_temporary_left(void)
{
	callv(tool_glob, "pattern", "**/*.tmp", NULL);
	return strncmp(res.text.p, "No files matched", 16) == 0;
}

static void plain(void)
{
	IS(W("a/b/new.txt", "one\ntwo\n"), "Created a/b/new.txt (2 lines)", "a new file, with its directories");
	IS(get("a/b/new.txt"), "one\ntwo\n", "its content");
	OK(mode("a/b/new.txt") == 0644 && mode("a") == 0755, "modes follow the umask");
	IS(res.change.op, "add", "reported as added");
	OK(!res.change.before && blob_name_ok(res.change.after) && has(res.change.path, "/ws/a/b/new.txt"), "with what it is now");
	IS(W("a/b/new.txt", "one\ntwo\n"), "No changes in a/b/new.txt", "the same again");
	OK(!res.change.path, "is no change");
	IS(W("a/b/new.txt", "one\n2\n"), "--- a/b/new.txt\n+++ a/b/new.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "a difference");
	IS(res.change.op, "update", "reported as an update");
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	OK(blob_get(ctx.blobs, res.change.before, &b, NULL) == 0 && !strcmp(b.p, "one\ntwo\n"), "the old content is kept");
	buf_clear(&b);
	OK(blob_get(ctx.blobs, res.change.after, &b, NULL) == 0 && !strcmp(b.p, "one\n2\n"), "and the new one");
	IS(W("empty", ""), "Created empty (0 lines)", "an empty file");
	IS(W("one", "x"), "Created one (1 line)", "one line without end");
	W("crlf", "a\r\nb\r\n");
	IS(get("crlf"), "a\r\nb\r\n", "line ends as given");
	buf_clear(&b);
	for (int i = 0; i < 500; i++)
		buf_addf(&b, "%d\n", i);
	W("long", b.p);
	const char *d = W("long", "x\n");
	size_t lines = 0;
	for (const char *p = d; (p = strchr(p, '\n')); p++)
		lines++;
	OK(lines == 81 && has(d, "[... 424 more lines ...]"), "a difference of at most 80 lines");
	PUTS("bin", "a\0b");
	OK(has(W("bin", "text\n"), "Replaced bin (3 bytes"), "what was not text has no difference");
	buf_free(&b);
}

static void wrong(void)
{
	OK(has(callv(tool_write, "file_path", "x", NULL), "needs the argument 'content'") && res.is_error, "no content");
	OK(access("x", F_OK) < 0, "nothing made");
	OK(has(callv(tool_write, "content", "x", NULL), "file_path"), "no path");
	OK(has(W("a", "x"), "is a directory") && res.is_error, "a directory");
	OK(has(W("nodir/", "x"), "names a directory"), "a name that ends in a slash");
	OK(has(W("one/x", "y"), "Not a directory"), "below a file");
	OK(has(W("../out/x", "y"), "--add-dir") && access("../out/x", F_OK) < 0, "outside");
	OK(has(W(".git/hooks/pre-commit", "y"), "protected") && access(".git", F_OK) < 0, "protected; no directory is made");
	ctx.protected_ok = true;
	OK(has(W(".envrc", "y"), "Created"), "protected, allowed");
	ctx.protected_ok = false;
	OK(has(W(".envrc", "z"), "direnv") && !strcmp(get(".envrc"), "y"), "protected, again not");
	PUTS("big", "");
	stretch("big", 100 << 20);
	OK(has(W("big", "x"), "at most") && res.is_error, "one that is too long to be kept for undo");
	unlink("big");
}

static void modes(void)
{
	PUTS("s.sh", "#!/bin/sh\n");
	chmod("s.sh", 0755);
	W("s.sh", "#!/bin/sh\nexit\n");
	OK(mode("s.sh") == 0755, "the executable bit stays");
	umask(002);
	PUTS("g", "x");
	chmod("g", 0664);
	umask(022);
	W("g", "y");
	OK(mode("g") == 0664, "group write stays, whatever the umask");
	chmod("g", 0600);
	W("g", "z");
	OK(mode("g") == 0600, "a private file stays private");
	umask(077);
	W("private", "x");
	W("pd/x", "x");
	OK(mode("private") == 0600 && mode("pd") == 0700, "a new file follows the umask (077)");
	umask(002);
	W("shared", "x");
	OK(mode("shared") == 0664, "and 002");
	umask(022);
	chmod("s.sh", 04755);
	W("s.sh", "#!/bin/sh\nexit 1\n");
	OK(mode("s.sh") == 0755, "set-id bits go, as with write(2)");
	if (setxattr("g", "user.note", "kept", 4, 0) == 0) {
		char v[8] = "";
		W("g", "attributes");
		OK(getxattr("g", "user.note", v, sizeof v) == 4 && !memcmp(v, "kept", 4), "user attributes stay");
	}
	if (geteuid() == 0) {
		struct stat st;
		OK(chown("s.sh", 1234, 4321) == 0, "another user's file");
		W("s.sh", "#!/bin/sh\nexit 2\n");
		OK(stat("s.sh", &st) == 0 && st.st_uid == 1234 && st.st_gid == 4321, "stays his");
	}
}

static void links(void)
{
	struct stat a, b;
	PUTS("real.txt", "old\n");
	mkdir("d", 0755);
	ln_s("../real.txt", "d/link");
	ln_s("d/link", "link2");
	W("link2", "new\n");
	OK(lstat("link2", &a) == 0 && S_ISLNK(a.st_mode) && lstat("d/link", &a) == 0 && S_ISLNK(a.st_mode), "links stay links");
	IS(get("real.txt"), "new\n", "and lead to the new content");
	OK(has(res.change.path, "/ws/real.txt"), "the change is the target's");
	ln_s("later.txt", "dangling");
	W("dangling", "born\n");
	OK(lstat("dangling", &a) == 0 && S_ISLNK(a.st_mode) && !strcmp(get("later.txt"), "born\n"), "a dangling link's target is made");
	ln_s("../out/x", "escape");
	OK(has(W("escape", "x"), "outside") && access("../out/x", F_OK) < 0, "not outside");
	PUTS("h1", "old old old\n");
	OK(link("h1", "h2") == 0, "a hard link");
	chmod("h1", 0640);
	W("h1", "new\n");
	OK(stat("h1", &a) == 0 && stat("h2", &b) == 0 && a.st_ino == b.st_ino && a.st_nlink == 2, "stays one file");
	IS(get("h2"), "new\n", "under both names");
	OK((a.st_mode & 07777) == 0640, "with its mode");
	W("h2", "longer than it was before\n");
	IS(get("h1"), "longer than it was before\n", "also when it grows");
	stat("real.txt", &a);
	W("real.txt", "x\n");
	stat("real.txt", &b);
	OK(a.st_ino != b.st_ino, "a file with one name is replaced as a whole");
}

/* In a process of its own, where files can be at most this long; as if the disk were full. */
static bool full(const char *path, const char *content, size_t n, const char *want)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct rlimit l = {n, n};
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &l);
		W(path, content);
		_exit(res.is_error && !res.change.path && strstr(res.text.p, want) ? 0 : (puts(res.text.p), fflush(stdout), 1));
	}
	int st;
	waitpid(pid, &st, 0);
	return WIFEXITED(st) && WEXITSTATUS(st) == 0;
}

static void failures(void)
{
	int blobs = ctx.blobs;
	PUTS("keep", "precious old content\n");
	OK(full("keep", "new", 8, "could not be kept for undo"), "no room for the old content: an error");
	IS(get("keep"), "precious old content\n", "and nothing written");
	OK(full("fresh", "a new file's content", 8, "could not be kept"), "no room for a new one");
	OK(access("fresh", F_OK) < 0, "none is made");
	ctx.blobs = -1;
	OK(full("keep", "content that does not fit", 8, "keep"), "no room for the file itself");
	IS(get("keep"), "precious old content\n", "the old one stays");
	OK(link("keep", "keep2") == 0, "a second name");
	OK(full("keep", "content that does not fit in place either, for it is longer", 30, "keep"), "in place, no room");
	IS(get("keep2"), "precious old content\n", "the old one stays, whole");
	IS(W("keep", "no undo"), "--- keep\n+++ keep\n@@ -1 +1 @@\n-precious old content\n+no undo\n\\ No newline at end of file\n",
		"without a blob directory there is no undo, but it works");
	OK(res.change.path && !res.change.before, "and says so");
	ctx.blobs = blobs;
	char gone[] = "../gone";
	mkdir(gone, 0700);
	ctx.blobs = open(gone, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rmdir(gone);
	OK(has(W("keep", "x"), "not changed") && res.is_error, "a blob directory that is gone");
	close(ctx.blobs);
	ctx.blobs = blobs;
	OK(no_temporary_left(), "no temporary file is left");
}

static void meanwhile(void)
{
	struct save s;
	PUTS("race", "one\n");
	tool_result_free(&res);
	tool_result_init(&res);
	OK(save_load(&s, &ctx, "race", 1000, &res) == 0 && !strcmp(s.old.p, "one\n"), "loaded");
	PUTS("race", "somebody else's\n");
	OK(save_store(&s, &ctx, "mine\n", 5, &res) < 0 && has(res.text.p, "changed while"), "a file that changed meanwhile");
	IS(get("race"), "somebody else's\n", "is not overwritten");
	save_free(&s);
	OK(save_load(&s, &ctx, "race2", 1000, &res) == 0 && !s.exists, "one that is not there");
	PUTS("race2", "theirs\n");
	OK(save_store(&s, &ctx, "mine\n", 5, &res) < 0 && !strcmp(get("race2"), "theirs\n"), "and then is, neither");
	save_free(&s);
	save_load(&s, &ctx, "race", 1000, &res);
	unlink("race");
	ln_s("../out/target", "race");
	OK(save_store(&s, &ctx, "mine\n", 5, &res) < 0 && access("../out/target", F_OK) < 0, "a link put in its place is not followed");
	save_free(&s);
}

/* What an ordinary user meets. */
static void unprivileged(void)
{
	mkdir("ro", 0755);
	PUTS("ro/f", "old\n");
	PUTS("readonly", "old\n");
	chmod("readonly", 0444);
	chmod("ro/f", 0666);
	chmod("ro", 0555);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0) {
			char b[PATH_MAX + 8];
			static const char *const all[] = {"", "/ws", "/blobs", "/ws/readonly"};
			for (int i = 0; i < 4; i++) {
				snprintf(b, sizeof b, "%s%s", top, all[i]);
				if (chown(b, 65534, 65534) < 0)
					_exit(9);
			}
			if (setgid(65534) < 0 || setuid(65534) < 0)
				_exit(9);
		}
		int bad = 0;
		W("readonly", "new\n");
		bad |= !(res.is_error && strstr(res.text.p, "not writable") && !strcmp(get("readonly"), "old\n"));
		W("ro/f", "new\n");
		bad |= 2 * !(!res.is_error && !strcmp(get("ro/f"), "new\n"));
		W("ro/g", "new\n");
		bad |= 4 * !res.is_error;
		_exit(bad);
	}
	int st;
	waitpid(pid, &st, 0);
	int bad = WIFEXITED(st) ? WEXITSTATUS(st) : 255;
	OK(!(bad & 1), "a read-only file is not replaced behind its mode");
	OK(!(bad & 2), "in a directory without write permission the file is written in place");
	OK(!(bad & 4), "and none is made");
	chmod("ro", 0755);
}

int main(void)
{
	enter();
	plain();
	wrong();
	modes();
	links();
	failures();
	meanwhile();
	unprivileged();
	return END();
}

/* tool_bash as claws-tool calls it: in a process of its own, with arguments as JSON. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "json/jw.h"
#include "sys/atomic.h"
#include "sys/io.h"
#include "tap.h"
#include "tools/tool.h"

static char dir[256], blobs[300];
static struct tool_result res;
static struct buf heard;
static long took_ms;

static void hear(void *arg, const char *stream, const char *text, size_t n)
{
	(void)arg;
	buf_adds(&heard, stream);
	buf_adds(&heard, ":");
	buf_add(&heard, text, n);
}

static void call_in(const char *cwd, const char *command, long timeout_ms, size_t max, int blobdir)
{
	const char *roots[] = {dir, NULL};
	struct tool_ctx c = {.cwd = cwd, .roots = roots, .blobs = blobdir, .blob_path = blobs, .timeout_ms = timeout_ms,
		.output_max = max, .output = hear};
	struct json j = JSON_INIT;
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	struct jw w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "command", command);
	jw_end(&w);
	buf_free(&heard);
	buf_init(&heard, BUF_NOLIMIT);
	tool_result_free(&res);
	tool_result_init(&res);
	long long start = io_now_ms();
	if (json_parse(&j, b.p, b.len, NULL) == 0)
		tool_bash(&c, &j, 0, &res);
	took_ms = (long)(io_now_ms() - start);
	json_free(&j);
	buf_free(&b);
}

static void call(const char *command, long timeout_ms)
{
	int fd = open(blobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	call_in(dir, command, timeout_ms, 32000, fd);
	close(fd);
}

static bool has(const char *part)
{
	return strstr(res.text.p, part) != NULL;
}

static bool alive(const char *pidfile)
{
	char text[32] = "";
	char path[300];

	snprintf(path, sizeof path, "%s/%s", dir, pidfile);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	long pid = n > 0 ? atol(text) : 0;
	if (pid <= 0)
		return false;
	if (kill((pid_t)pid, 0) < 0)
		return false;
	/* A zombie that waits for its parent is not alive. */
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	char stat[256] = "";
	n = read(fd, stat, sizeof stat - 1);
	close(fd);
	char *s = strrchr(stat, ')');
	return s && s[2] != 'Z';
}

static bool there(const char *name)
{
	char path[300];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void results(void)
{
	call("echo hello", 0);
	IS(res.text.p, "hello", "stdout alone");
	OK(!res.is_error && !strcmp(res.status, "ok"), "ok");
	IS(heard.p, "stdout:hello\n", "heard while it ran");
	call("echo out; echo err >&2; exit 3", 0);
	IS(res.text.p, "out\n[stderr]\nerr\n[exit status 3]", "both streams and the status");
	OK(res.is_error && !strcmp(res.status, "error"), "an error");
	call("false", 5000);
	IS(res.text.p, "(no output)\n[exit status 1]", "no output, status 1");
	OK(took_ms < 2000, "and at once: %ld ms", took_ms);
	call("true", 0);
	IS(res.text.p, "(no output)", "nothing said, all well");
	call("kill -SEGV $$", 0);
	IS(res.text.p, "(no output)\n[killed by signal SIGSEGV]", "a signal by name");
	call("printf 'a\\000b\\377c'", 0);
	IS(res.text.p, "a\xef\xbf\xbd" "b\xef\xbf\xbd" "c", "NUL and invalid bytes repaired");
	call("no-such-program-here", 0);
	OK(has("[exit status 127]"), "no such program");
	call_in("/nonexistent-directory", "pwd", 0, 32000, -1);
	OK(res.is_error && has("/nonexistent-directory"), "a missing directory is named: %s", res.text.p);
}

static void arguments(void)
{
	static const char *const bad[] = {"{}", "{\"command\":7}", "{\"command\":\"  \\n\"}",
		"{\"command\":\"true\",\"timeout\":0}", "{\"command\":\"true\",\"timeout\":601}",
		"{\"command\":\"true\",\"timeout\":\"x\"}"};
	const char *roots[] = {dir, NULL};
	struct tool_ctx c = {.cwd = dir, .roots = roots, .blobs = -1, .output_max = 1000};
	struct json j = JSON_INIT;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tool_result_free(&res);
		tool_result_init(&res);
		OK(json_parse(&j, bad[i], strlen(bad[i]), NULL) == 0, "parses");
		tool_bash(&c, &j, 0, &res);
		OK(res.is_error && res.text.len, "refused: %s: %s", bad[i], res.text.p);
	}
	static const char one[] = "{\"command\":\"sleep 20\",\"timeout\":1}";
	json_parse(&j, one, sizeof one - 1, NULL);
	tool_result_free(&res);
	tool_result_init(&res);
	c.timeout_ms = 20000;
	tool_bash(&c, &j, 0, &res);
	OK(has("timed out after 1 s"), "the timeout argument overrides: %s", res.text.p);
	json_free(&j);
	char *longer = xmalloc(70000);
	memset(longer, 'x', 69999);
	longer[69999] = 0;
	call(longer, 0);
	OK(res.is_error && has("65536"), "more than 65536 bytes are refused");
	free(longer);
}

/* CA05, BA02: nothing survives a timeout, and nobody can hold the call. */
static void timeouts(void)
{
	call("echo before; trap '' TERM; (sleep 300 & echo $! > grand; sleep 300) & sleep 300; sleep 300", 300);
	OK(took_ms < 3500, "a TERM-ignoring tree is over after %ld ms", took_ms);
	IS(res.status, "timeout", "status timeout");
	OK(res.is_error && has("before\n") && has("timed out after 300 ms (process group killed)"),
		"output so far, and why");
	OK(there("grand") && !alive("grand"), "the grandchild is dead");
	call("(trap '' TERM; sleep 2; touch late) & sleep 60", 200);
	OK(took_ms < 2500, "over after %ld ms", took_ms);
	call("setsid sh -c 'echo $$ > stray; exec sleep 600' & echo spawned; sleep 600", 300);
	OK(took_ms < 3000 && has("spawned"), "a setsid stray does not hold the call: %ld ms", took_ms);
	OK(there("stray") && !alive("stray"), "and is dead");
	call("setsid sh -c 'trap \"\" TERM HUP; echo $$ > stray2; sleep 600; sleep 600' & "
		"while [ ! -s stray2 ]; do sleep 0.01; done; echo spawned", 10000);
	OK(took_ms < 3000, "a stray that ignores TERM ends with the command: %ld ms", took_ms);
	OK(!res.is_error && has("spawned") && has("ended with the call"), "and is reported: %s", res.text.p);
	OK(there("stray2") && !alive("stray2"), "and is dead");
	call("(setsid setsid sh -c 'setsid sh -c \"echo \\$\\$ > deep; exec sleep 600\" & exec sleep 600' &) ; "
		"while [ ! -s deep ]; do sleep 0.01; done", 10000);
	OK(!alive("deep"), "one that went away three times is dead too");
	call("kill -STOP $$", 300);
	OK(took_ms < 3000 && !strcmp(res.status, "timeout"), "a stopped command ends: %ld ms", took_ms);
	call("nohup sleep 600 >/dev/null 2>&1 & echo $! > nohup", 5000);
	OK(took_ms < 2500 && !alive("nohup"), "nohup does not help");
	poll(NULL, 0, 1200);
	OK(!there("late"), "the side effect of a timed-out command never comes");
}

/* BA05, BA06: nobody can answer here. */
static void terminals(void)
{
	static const char *const wants[] = {"read x </dev/tty", "cat", "python3", "read x; test -n \"$x\"",
		"git init -q r && cd r && git -c user.name=a -c user.email=a@b commit --allow-empty"};

	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		call(wants[i], 20000);
		OK(took_ms < 5000 && strcmp(res.status, "timeout"), "%s: over in %ld ms", wants[i], took_ms);
	}
	OK(res.is_error && has("no editor in a tool call"), "an editor fails with a hint");
	call("read x </dev/tty", 20000);
	OK(res.is_error && has("there is no terminal"), "so does the terminal");
	call("printf '#!/bin/sh\\nprintf \"[sudo] password for u: \" >&2; read p || exit 1\\n' > sudo; chmod +x sudo; "
		"./sudo true", 20000);
	OK(res.is_error && took_ms < 3000 && has("passwords cannot be entered"), "a password prompt fails at once");
	call("tty; ps -o tty= -p $$", 20000);
	OK(has("not a tty"), "no terminal at all");
}

/* BA07, BA08: bounded memory and time, whatever comes. */
static void floods(void)
{
	struct rusage u;
	char name[400], *s;
	struct stat st;

	call("yes", 1500);
	OK(took_ms < 5000 && has("timed out"), "yes is timed out: %ld ms", took_ms);
	OK(res.text.len < 34000 && has("bytes left out; "), "head, tail and a note: %zu bytes", res.text.len);
	OK(heard.len < (3 << 20), "what is heard is bounded: %zu", heard.len);
	s = strstr(res.text.p, "]\n");
	OK(s && s[2] == 'y' && s[3] == '\n', "the tail begins with a whole line");
	call("head -c 100000000 /dev/zero | tr '\\0' x", 30000);
	OK(!res.is_error && res.text.len < 34000, "100 MB pass");
	OK(has("bytes left out; the first 67108864 bytes are in "), "the note names cap and file");
	s = strstr(res.text.p, blobs);
	OK(s != NULL, "the file lies in the blob directory");
	if (s) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(s, "]"), s);
		OK(stat(name, &st) == 0 && st.st_size == 64 << 20 && (st.st_mode & 0777) == 0600,
			"it has 64 MiB, 0600");
	}
	getrusage(RUSAGE_SELF, &u);
	OK(u.ru_maxrss < 150 << 10, "at most %ld kB of memory", u.ru_maxrss);
	call("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo the end", 30000);
	OK(has("line 0\n") && has("the end") && has("line 19999\n"), "the head and the tail");
	call("while :; do echo a; echo b >&2; done", 1000);
	OK(took_ms < 4000 && !strcmp(res.status, "timeout"), "small lines do not starve the clock: %ld ms", took_ms);
	call("yes o | head -c 100000; yes e | head -c 100000 >&2", 10000);
	OK(res.text.len < 33500 && has("[stderr]\n") && has("e\ne"), "both floods share the limit: %zu", res.text.len);
	call("echo small; yes e | head -c 100000 >&2", 10000);
	OK(has("small\n[stderr]\n") && res.text.len > 31000, "a small stdout stays whole: %zu", res.text.len);
}

static void pieces(void)
{
	call("printf '\\303'; sleep 0.2; printf '\\244\\n'; printf '\\342\\202' ; sleep 0.2; printf '\\254'", 5000);
	OK(strstr(heard.p, "\xc3\xa4") && strstr(heard.p, "\xe2\x82\xac"), "characters are heard whole");
	OK(!strstr(heard.p, "\xef\xbf\xbd"), "none was cut");
}

/* BA14: calls do not share a working directory. */
static void own_directory(void)
{
	call("mkdir -p a && cd a && pwd", 0);
	call("pwd", 0);
	IS(res.text.p, dir, "cd does not last");
}

/* The environment: no keys, nothing of the ring. */
static void environment(void)
{
	setenv("OPENAI_API_KEY", "sk-secret", 1);
	setenv("CLAWS_RING", "1", 1);
	setenv("LD_PRELOAD_X", "x", 1);
	setenv("PATH", ".:/usr/local/bin:/usr/bin:/bin:", 1);
	call("env", 0);
	OK(!has("sk-secret") && !has("CLAWS_RING") && !has("LD_PRELOAD_X"), "scrubbed");
	OK(has("GIT_TERMINAL_PROMPT=0") && has("PATH=/usr/local/bin:/usr/bin:/bin\n"), "set");
	call("i=0; while [ $i -lt 300 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i+1)); done; true", 0);
	IS(res.text.p, "0\n1\n2", "no descriptor but 0, 1, 2");
}

/* BA15 */
static void limits(void)
{
	setenv("CLAWS_LIMIT_AS", "200M", 1);
	setenv("CLAWS_LIMIT_FSIZE", "1k", 1);
	call("tail /dev/zero", 20000);
	OK(res.is_error && strcmp(res.status, "timeout"), "a memory hog fails: %.80s", res.text.p);
	call("ulimit -v; yes > big; ls -l big | tr -s ' ' | cut -d' ' -f5", 5000);
	OK(has("204800\n") && has("1024\n"), "limits are set: %s", res.text.p);
	setenv("CLAWS_LIMIT_AS", "lots", 1);
	call("true", 0);
	OK(res.is_error && has("CLAWS_LIMIT_AS"), "a bad limit is named");
	unsetenv("CLAWS_LIMIT_AS");
	unsetenv("CLAWS_LIMIT_FSIZE");
	/* A fork bomb of 40 that doubles by session: bounded, so that the machine lives when this fails. */
	call("f() { [ $1 -gt 5 ] && exec sleep 600; setsid sh -c \"$BOMB\" sh $1 & f $(($1 + 1)) & wait; }; f 1", 700);
	OK(took_ms < 4000, "a spreading tree is ended: %ld ms", took_ms);
}

/* BA16: /dev/full has no directory form; a tmpfs of 64 kB is full soon (as root), else a read-only blob directory. */
static void full_disk(void)
{
	char tiny[300];

	snprintf(tiny, sizeof tiny, "%s/tiny", dir);
	mkdir(tiny, 0700);
	if (mount("tmpfs", tiny, "tmpfs", 0, "size=64k") == 0) {
		int fd = open(tiny, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		call_in(dir, "seq 1 50000; df . >/dev/null; echo done", 20000, 32000, fd);
		close(fd);
		OK(!res.is_error && has("done"), "a full disk does not stop a command");
		OK(has("could not be kept in ") && has(tiny) && has("No space left"), "the note names the file system");
		OK(umount(tiny) == 0, "nothing holds it");
	} else {
		int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		call_in(dir, "seq 1 50000; echo done", 20000, 32000, fd);
		close(fd);
		OK(!res.is_error && has("done"), "a directory that takes no file does not stop a command");
		OK(has("could not be kept in /proc"), "the note names it");
	}
}

/* A tool process that is told to end: result interrupted, group gone. */
static void interruption(void)
{
	int p[2];
	char text[200] = "";

	if (pipe(p) < 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		call("echo started; sleep 600 & echo $! > inner; wait", 60000);
		dprintf(p[1], "%s|%s", res.status, res.text.p);
		_exit(0);
	}
	close(p[1]);
	for (int i = 0; i < 500 && !there("inner"); i++)
		poll(NULL, 0, 20);
	kill(pid, SIGTERM);
	size_t n = 0;
	ssize_t r;
	while (n < sizeof text - 1 && (r = read(p[0], text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)r;
	close(p[0]);
	waitpid(pid, NULL, 0);
	IS(text, "interrupted|started\n[interrupted (process group killed)]", "SIGTERM interrupts the call");
	OK(there("inner") && !alive("inner"), "and nothing is left");
}

/* CA01, CA06: the owner is killed outright; its commands end. */
static void owner_dies(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		call("setsid sh -c 'trap \"\" TERM HUP; echo $$ > orphan; sleep 600; sleep 600' & "
			"echo $$ > main; sleep 600", 60000);
		_exit(0);
	}
	for (int i = 0; i < 500 && !(there("orphan") && there("main")); i++)
		poll(NULL, 0, 20);
	poll(NULL, 0, 50);
	OK(alive("main") && alive("orphan"), "command and stray run");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	int i = 0;
	while (i++ < 200 && (alive("main") || alive("orphan")))
		poll(NULL, 0, 20);
	OK(!alive("main") && !alive("orphan"), "the owner is killed: nothing is left after %d ms", i * 20);
}

/* CA01: the terminal goes away; SIGHUP comes to its foreground group only, not to the command's session. */
static void terminal_closes(void)
{
	int pt = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	const char *name = pt >= 0 && grantpt(pt) == 0 && unlockpt(pt) == 0 ? ptsname(pt) : NULL;

	OK(name != NULL, "a pseudo-terminal");
	if (!name)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		close(pt);
		setsid();
		int tty = open(name, O_RDWR | O_CLOEXEC);   /* becomes the controlling terminal: tty_ioctl(4) */
		if (tty < 0)
			_exit(1);
		call("nohup sleep 600 >/dev/null & echo $! > hup; sleep 600", 60000);
		_exit(!strcmp(res.status, "interrupted") ? 0 : 1);
	}
	for (int i = 0; i < 500 && !alive("hup"); i++)
		poll(NULL, 0, 20);
	OK(alive("hup"), "a command under a terminal");
	close(pt);
	int status = 1;
	waitpid(pid, &status, 0);
	OK(status == 0 && !alive("hup"), "the terminal closes: interrupted, nothing is left");
}

/* BA14: two at once. */
static void side_by_side(void)
{
	pid_t pids[2];
	int good = 0;

	for (int i = 0; i < 2; i++)
		if ((pids[i] = fork()) == 0) {
			char command[100];
			const char *sub = i ? "two" : "one";
			/* Each waits until the other has changed its directory. */
			snprintf(command, sizeof command,
				"mkdir -p %s; cd %s; >../at-%s; until test -e ../at-%s; do sleep 0.01; done; "
				"basename \"$PWD\"", sub, sub, sub, i ? "one" : "two");
			call(command, 20000);
			_exit(strcmp(res.text.p, sub) != 0);
		}
	for (int i = 0; i < 2; i++) {
		int status = 1;
		waitpid(pids[i], &status, 0);
		good += status == 0;
	}
	OK(good == 2, "two calls at once, each in its own directory");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof dir, "%s/bash.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	snprintf(blobs, sizeof blobs, "%s/blobs", dir);
	mkdir(blobs, 0700);
	buf_init(&heard, BUF_NOLIMIT);
	tool_result_init(&res);
	results();
	arguments();
	timeouts();
	terminals();
	floods();
	pieces();
	own_directory();
	side_by_side();
	environment();
	limits();
	full_disk();
	interruption();
	owner_dies();
	terminal_closes();
	tool_result_free(&res);
	buf_free(&heard);
	char *rm[] = {(char *)"rm", (char *)"-rf", dir, NULL};
	fflush(stdout);
	int status = END();
	fflush(stdout);
	if (fork() == 0)
		execv("/bin/rm", rm);
	wait(NULL);
	return status;
}

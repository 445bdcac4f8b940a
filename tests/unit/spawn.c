/* Starting programs: spawn.h, sig.h. Guards are in spawn_guard.c, the tool above them in bash.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/env.h"
#include "sys/io.h"
#include "sys/sig.h"
#include "sys/spawn.h"
#include "tap.h"

static char dir[200];

/* stdout of a program. */
static char *output_of(struct spawn *s, int *wstatus)
{
	static char text[4096];
	struct err e = ERR_INIT;
	struct buf b;
	int p[2];

	buf_init(&b, sizeof text - 1);
	if (io_pipe(p, &e) < 0)
		return NULL;
	struct spawn_fd fds[] = {{0, SPAWN_NULL}, {1, p[1]}};
	if (!s->fds) {
		s->fds = fds;
		s->nfds = 2;
	}
	pid_t pid = spawn_start(s, &e);
	close(p[1]);
	if (pid > 0) {
		io_read_all(p[0], &b, &e);
		waitpid(pid, wstatus, 0);
	}
	close(p[0]);
	snprintf(text, sizeof text, "%s%s", b.p, pid < 0 ? e.text : "");
	buf_free(&b);
	s->fds = NULL;
	return text;
}

static char *shell(const char *command, enum spawn_group group)
{
	const char *argv[] = {"sh", "-c", command, NULL};
	struct spawn s = {.argv = argv, .group = group, .cwd = dir};
	int w;
	return output_of(&s, &w);
}

static void starting(void)
{
	const char *none[] = {"no-such-program", NULL}, *slash[] = {"./here", "a", "b c", NULL}, *here[] = {"here",
		NULL};
	struct err e = ERR_INIT;
	struct spawn s = {.argv = none};
	int w = 0;
	char path[300];

	OK(spawn_start(&s, &e) < 0 && e.sys == ENOENT, "no such program: %s", e.text);
	err_clear(&e);
	IS(shell("pwd", SPAWN_SAME), strcat(strcpy(path, dir), "\n"), "cwd");
	s = (struct spawn){.argv = (const char *[]){"true", NULL}, .cwd = "/nonexistent"};
	OK(spawn_start(&s, &e) < 0 && e.sys == ENOENT && strstr(e.text, "/nonexistent"), "no such directory: %s",
		e.text);
	err_clear(&e);
	/* A script without #!, found by slash only, never in the current directory. */
	snprintf(path, sizeof path, "%s/here", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	io_write_all(fd, "echo ran \"$#\" \"$2\"\n", 19, NULL);
	close(fd);
	s = (struct spawn){.argv = slash, .cwd = dir};
	IS(output_of(&s, &w), "ran 2 b c\n", "a script without #! is given to sh");
	if (chdir(dir) < 0)
		return;
	setenv("PATH", ".::bin:/usr/bin:/bin:", 1);
	s = (struct spawn){.argv = here};
	OK(spawn_start(&s, &e) < 0 && e.sys == ENOENT, "relative and empty PATH entries are skipped");
	err_clear(&e);
	chmod(path, 0600);
	s = (struct spawn){.argv = slash};
	OK(spawn_start(&s, &e) < 0 && e.sys == EACCES, "not executable: %s", e.text);
	err_clear(&e);
	const char *env[] = {"A=1", "PATH=/usr/bin:/bin", NULL};
	s = (struct spawn){.argv = (const char *[]){"env", NULL}, .env = env};
	IS(output_of(&s, &w), "A=1\nPATH=/usr/bin:/bin\n", "its environment");
	s = (struct spawn){.argv = (const char *[]){"name", "-c", "echo $0", NULL}, .file = "/bin/sh"};
	IS(output_of(&s, &w), "name\n", "file and argv[0] apart");
	w = spawn_run(&(struct spawn){.argv = (const char *[]){"sh", "-c", "exit 7", NULL}}, &e);
	OK(WIFEXITED(w) && WEXITSTATUS(w) == 7 && status_of_wait(w) == 7, "spawn_run");
}

static int refuse(void *arg)
{
	(void)arg;
	return EPERM;
}

static int mark(void *arg)
{
	return setenv("MARK", arg, 1) ? errno : 0;
}

static void surroundings(void)
{
	struct err e = ERR_INIT;
	struct sigaction ign = {.sa_handler = SIG_IGN}, dfl = {.sa_handler = SIG_DFL};
	sigset_t set, old;
	int p[2], q[2], w;

	sigaction(SIGINT, &ign, NULL);
	sigaction(SIGPIPE, &ign, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	/* 32 and 33 are glibc's own: whatever posix_spawn(3) starts, as make does, ignores them, and nobody can change that. */
	IS(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status | sed 's/0000000180000000/0/' | tr -d '0\\t\\n'", SPAWN_SAME),
		"SigBlk:SigIgn:", "no signal ignored or blocked");
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGINT, &dfl, NULL);
	sigaction(SIGPIPE, &dfl, NULL);

	char *t = shell("echo $$ $(ps -o pgid=,sid= -p $$)", SPAWN_SESSION);
	long a, b, c;
	OK(sscanf(t, "%ld %ld %ld", &a, &b, &c) == 3 && a == b && b == c, "its own session: %s", t);
	t = shell("echo $$ $(ps -o pgid=,sid= -p $$)", SPAWN_GROUP);
	OK(sscanf(t, "%ld %ld %ld", &a, &b, &c) == 3 && a == b && c == getsid(0), "its own group");

	/* Crossed numbers: the child's 5 is our 6 (say) and the other way round. */
	OK(pipe(p) == 0 && pipe(q) == 0, "pipes");
	io_write_all(p[1], "P", 1, NULL);
	io_write_all(q[1], "Q", 1, NULL);
	int five = fcntl(p[0], F_DUPFD, 20), six = fcntl(q[0], F_DUPFD, five + 1), out[2];   /* 20 up:
		ls sorts by text */
	OK(io_pipe(out, &e) == 0, "pipe");
	struct spawn_fd fds[] = {{0, SPAWN_NULL}, {1, out[1]}, {five, six}, {six, five}, {2, SPAWN_NULL}};
	char cmd[300], got[100] = "";
	snprintf(cmd, sizeof cmd, "head -c1 /proc/self/fd/%d; head -c1 /proc/self/fd/%d; i=0; "
		"while [ $i -lt 99 ]; do [ -e /proc/$$/fd/$i ] && printf '%%s ' $i; i=$((i+1)); done", five, six);
	struct spawn s = {.argv = (const char *[]){"sh", "-c", cmd, NULL}, .fds = fds, .nfds = 5};
	pid_t pid = spawn_start(&s, &e);
	close(out[1]);
	size_t n = 0;
	ssize_t r;
	while ((r = read(out[0], got + n, sizeof got - 1 - n)) > 0)
		n += (size_t)r;
	waitpid(pid, &w, 0);
	char want[100];
	snprintf(want, sizeof want, "QP0 1 2 %d %d ", five, six);
	IS(got, want, "crossed descriptors in place, no others");

	s = (struct spawn){.argv = (const char *[]){"true", NULL}, .before = refuse};
	OK(spawn_start(&s, &e) < 0 && e.sys == EPERM, "the hook can refuse: %s", e.text);
	err_clear(&e);
	char yes[] = "yes";
	s = (struct spawn){.argv = (const char *[]){"sh", "-c", "echo $MARK", NULL}, .before = mark, .arg = yes};
	IS(output_of(&s, &w), "yes\n", "the hook runs in the child");
	OK(!getenv("MARK"), "only there");
	struct spawn_limits l = {.nofile = 50, .no_core = true};
	s = (struct spawn){.argv = (const char *[]){"sh", "-c", "ulimit -n; ulimit -c", NULL}, .limits = &l};
	IS(output_of(&s, &w), "50\n0\n", "limits");
}

static void ending(void)
{
	struct err e = ERR_INIT;
	struct spawn s = {.argv = (const char *[]){"sleep", "60", NULL}, .group = SPAWN_GROUP};
	long long start = io_now_ms();

	int w = spawn_end(spawn_start(&s, &e), true, 5000);
	OK(WIFSIGNALED(w) && WTERMSIG(w) == SIGTERM && io_now_ms() - start < 3000, "TERM ends it");
	int p[2];
	OK(io_pipe(p, &e) == 0, "pipe");
	struct spawn_fd fds[] = {{1, p[1]}};
	s = (struct spawn){.argv = (const char *[]){"sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait; sleep 60",
		NULL},
		.group = SPAWN_GROUP, .fds = fds, .nfds = 1};
	pid_t pid = spawn_start(&s, &e);
	close(p[1]);
	char text[20] = "";
	OK(read(p[0], text, sizeof text - 1) > 0, "started");
	start = io_now_ms();
	w = spawn_end(pid, true, 100);
	OK(WIFSIGNALED(w) && WTERMSIG(w) == SIGKILL && io_now_ms() - start < 3000, "KILL ends what ignores TERM");
	OK(read(p[0], text, 1) == 0, "and the rest of its group");
	close(p[0]);
	IS(spawn_signal_name(SIGKILL), "SIGKILL", "signal names");
	OK(strlen(spawn_signal_name(SIGRTMIN + 2)) > 0 && strlen(spawn_signal_name(-1)) > 0, "never NULL");

	pid = fork();
	if (pid == 0) {
		s = (struct spawn){.argv = (const char *[]){"sleep", "60", NULL}, .death_signal = SIGKILL};
		pid_t inner = spawn_start(&s, &e);
		dprintf(1, "# %ld\n", (long)inner);
		FILE *f = fopen("inner", "w");
		if (f) {
			fprintf(f, "%ld", (long)inner);
			fclose(f);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	long inner = 0;
	FILE *f = fopen("inner", "r");
	if (!f || fscanf(f, "%ld", &inner) != 1)
		inner = 0;
	if (f)
		fclose(f);
	int i = 0;
	char state[64] = "";
	do {   /* an orphan's zombie may stay where nobody reaps */
		char name[64];
		snprintf(name, sizeof name, "/proc/%ld/stat", inner);
		struct buf b;
		buf_init(&b, 4096);
		if (io_read_file(AT_FDCWD, name, &b, NULL) < 0)
			strcpy(state, "gone");
		else
			snprintf(state, sizeof state, "%.1s", strrchr(b.p, ')') + 2);
		buf_free(&b);
		if (*state != 'g' && *state != 'Z')
			usleep(10000);
	} while (inner > 0 && *state != 'g' && *state != 'Z' && i++ < 300);
	OK(inner > 0 && (*state == 'g' || *state == 'Z'), "death_signal: it dies with its parent");
}

static void signals(void)
{
	struct err e = ERR_INIT;
	struct sigs s;
	pid_t from = 0;
	sigset_t now;

	OK(sig_open(&s, (const int[]){SIGUSR1, SIGTERM, 0}, &e) == 0, "sig_open");
	OK(sig_read(&s, NULL) == 0, "none waiting");
	kill(getpid(), SIGUSR1);
	OK(sig_read(&s, &from) == SIGUSR1 && from == getpid(), "one comes, and from whom");
	OK(sig_read(&s, NULL) == 0, "once");
	sig_close(&s);
	sigprocmask(SIG_BLOCK, NULL, &now);
	OK(!sigismember(&now, SIGUSR1), "the mask is as before");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char cmd[300];

	snprintf(dir, sizeof dir, "%s/spawn.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	starting();
	surroundings();
	ending();
	signals();
	int status = END();
	if (chdir("/") < 0)
		return 1;
	snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
	return system(cmd) ? 1 : status;
}

/* Locks: with flock and without. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/io.h"
#include "sys/lock.h"
#include "sys/spawn.h"
#include "tap.h"

static char dir[200], path[300], held[320];

/* A process that takes the lock, says so, and holds it until it is killed. */
static pid_t holder(int flags)
{
	int p[2];
	char c = 0;

	if (pipe(p) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		struct lock l;
		c = lock_take(&l, path, 0, flags, NULL) == 0 ? 'y' : 'n';
		io_write_all(p[1], &c, 1, NULL);
		for (;;)
			pause();
	}
	close(p[1]);
	if (read(p[0], &c, 1) != 1)
		c = 0;
	close(p[0]);
	OK(c == 'y', "another process takes it");
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void basics(int flags, const char *how)
{
	struct err e = ERR_INIT;
	struct lock l, m;
	char want[64];

	OK(lock_take(&l, path, 0, flags, &e) == 0, "%s: taken %s", how, e.text);
	OK(fcntl(l.fd, F_GETFD) & FD_CLOEXEC, "close-on-exec");
	OK(lock_take(&m, path, 0, flags, &e) < 0 && e.status == ST_TEMP, "not twice: %s", e.text);
	lock_release(&m);
	err_clear(&e);
	lock_release(&l);
	OK(lock_take(&l, path, 0, flags, &e) == 0, "again after release");
	lock_release(&l);
	lock_release(&l);

	pid_t pid = holder(flags);
	snprintf(want, sizeof want, "in use by process %ld", (long)pid);
	OK(lock_take(&l, path, 0, flags, &e) < 0 && strstr(e.text, want) && l.holder == pid, "%s", e.text);
	err_clear(&e);
	long long start = io_now_ms();
	OK(lock_take(&l, path, 150, flags, &e) < 0 && io_now_ms() - start >= 150 && io_now_ms() - start < 3000,
		"waits as long as told");
	err_clear(&e);
	end(pid);
	OK(lock_take(&l, path, 0, flags, &e) == 0, "free when its holder is killed %s", e.text);

	pid = fork();
	if (pid == 0) {
		struct lock mine;
		lock_forget(&l);
		_exit(lock_take(&mine, path, 10000, flags, NULL) == 0 ? (lock_release(&mine), 0) : 1);
	}
	poll(NULL, 0, 30);
	OK(waitpid(pid, NULL, WNOHANG) == 0, "a child that forgets does not release");
	lock_release(&l);
	int status;
	waitpid(pid, &status, 0);
	OK(status == 0, "who waits gets it");
}

/* CA06: a program started by the holder does not keep the lock. */
static void inherited(void)
{
	const char *argv[] = {"sleep", "60", NULL};
	struct spawn s = {.argv = argv};
	struct err e = ERR_INIT;
	struct lock l, m;

	OK(lock_take(&l, path, 0, 0, &e) == 0, "taken");
	pid_t child = spawn_start(&s, &e);
	close(l.fd);   /* as the kernel does at the holder's death */
	OK(child > 0 && lock_take(&m, path, 0, 0, &e) == 0, "free though a child lives %s", e.text);
	lock_release(&m);
	spawn_end(child, false, 0);
	l.fd = -1;
	lock_forget(&l);
}

static void stale(void)
{
	struct err e = ERR_INIT;
	struct lock l;
	char text[400], host[200] = "";

	gethostname(host, sizeof host - 1);
	pid_t pid = holder(LOCK_BY_FILE);
	/* The same pid, another start: the number was used again. */
	int fd = open(held, O_WRONLY | O_TRUNC | O_CLOEXEC);
	snprintf(text, sizeof text, "%ld 1 %s\n", (long)pid, host);
	io_write_all(fd, text, strlen(text), NULL);
	close(fd);
	OK(lock_take(&l, path, 0, LOCK_BY_FILE, &e) == 0, "a pid used again is not the holder %s", e.text);
	lock_release(&l);
	end(pid);
	fd = open(held, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	snprintf(text, sizeof text, "%ld 1 some.other.host\n", (long)pid);
	io_write_all(fd, text, strlen(text), NULL);
	close(fd);
	OK(lock_take(&l, path, 0, LOCK_BY_FILE, &e) < 0 && strstr(e.text, "some.other.host") && strstr(e.text, held),
		"another host's is never taken over: %s", e.text);
	err_clear(&e);
	unlink(held);
	OK(lock_take(&l, "/nonexistent/lock", 0, 0, &e) < 0 && e.status != ST_TEMP, "no directory: %s", e.text);
}

/* Many at once for one stale lock: each gets it in its turn, never two. */
static void crowd(int flags, const char *how)
{
	char counter[320];
	pid_t pids[8];
	int bad = 0, fd = open(held, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char host[200] = "", text[300];

	gethostname(host, sizeof host - 1);
	snprintf(text, sizeof text, "4194305 1 %s\n", host);
	io_write_all(fd, text, strlen(text), NULL);
	close(fd);
	snprintf(counter, sizeof counter, "%s/counter", dir);
	for (int i = 0; i < 8; i++)
		if ((pids[i] = fork()) == 0) {
			for (int k = 0; k < 5; k++) {
				struct lock l;
				if (lock_take(&l, path, 30000, flags, NULL) < 0)
					_exit(1);
				int mine = open(counter, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
				if (mine < 0)
					_exit(2);
				poll(NULL, 0, 1);
				unlink(counter);
				close(mine);
				lock_release(&l);
			}
			_exit(0);
		}
	for (int i = 0; i < 8; i++) {
		int status;
		waitpid(pids[i], &status, 0);
		bad += status != 0;
	}
	OK(!bad, "%s: eight at once, one at a time", how);
	unlink(held);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char cmd[300];

	snprintf(dir, sizeof dir, "%s/lock.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/lock", dir);
	snprintf(held, sizeof held, "%s/lock.held", dir);
	basics(0, "flock");
	basics(LOCK_BY_FILE, "by file");
	inherited();
	stale();
	crowd(0, "flock");
	crowd(LOCK_BY_FILE, "by file");
	int status = END();
	snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
	return system(cmd) ? 1 : status;
}

/* breaker.c - its rules at times of the test's own, its file, and fifty processes at once. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "llm/breaker.h"
#include "tap.h"

#define T0 1000000000

static struct breaker b;
static int64_t left;

static void fail_at(int64_t from, int n)
{
	for (int i = 0; i < n; i++)
		breaker_failed(&b, from + i);
}

static void rules(void)
{
	breaker_open(&b, "rules@h:1");
	OK(breaker_ask(&b, T0, &left) == BREAKER_CLOSED && access(b.path, F_OK) != 0, "closed at first, and no file is made");
	fail_at(T0, 4);
	OK(breaker_ask(&b, T0 + 10, &left) == BREAKER_CLOSED, "four failures: closed");
	OK(breaker_failed(&b, T0 + 20), "the fifth opens it, and says so");
	OK(breaker_ask(&b, T0 + 30, &left) == BREAKER_OPEN && left == BREAKER_OPEN_MS - 10, "open, and for how long");
	OK(breaker_ask(&b, T0 + 20 + BREAKER_OPEN_MS, &left) == BREAKER_PROBE, "two minutes later one may try");
	OK(breaker_failed(&b, T0 + 21 + BREAKER_OPEN_MS), "a probe that fails opens it again");
	OK(breaker_ask(&b, T0 + 22 + BREAKER_OPEN_MS, &left) == BREAKER_OPEN, "it is open");
	OK(breaker_ask(&b, T0 + 3 * BREAKER_OPEN_MS, &left) == BREAKER_PROBE, "later a probe");
	breaker_gave_up(&b);
	OK(breaker_ask(&b, T0 + 3 * BREAKER_OPEN_MS + 1, &left) == BREAKER_PROBE, "a probe that was given back is the next one's");
	breaker_worked(&b);
	OK(access(b.path, F_OK) != 0 && breaker_ask(&b, T0, &left) == BREAKER_CLOSED, "success closes: the file is gone");
	fail_at(T0, 4);
	OK(!breaker_failed(&b, T0 + BREAKER_WITHIN_MS + 5), "failures of more than a minute ago do not count");
	breaker_reset(&b);
	fail_at(T0, 5);
	OK(breaker_ask(&b, T0 - 3, &left) == BREAKER_OPEN, "who looked at the clock before it opened, and waited, has no probe");
	OK(breaker_ask(&b, T0 - 500000000, &left) == BREAKER_PROBE, "a time to come is of another boot: over");
	breaker_reset(&b);
	breaker_close(&b);
}

static void put(const char *text)
{
	FILE *f = fopen(b.path, "w");

	fputs(text, f);
	fclose(f);
}

static void files(void)
{
	struct breaker other;
	struct stat st;

	breaker_open(&b, "a/../b@h:1");
	fail_at(T0, 5);
	OK(stat(b.path, &st) == 0 && (st.st_mode & 07777) == 0600, "the file is private, whatever the name");
	OK(strstr(b.path, "/breaker/") == strrchr(b.path, '/') - 8, "and stays in its directory");
	breaker_open(&other, "a/../c@h:1");
	OK(breaker_ask(&other, T0, &left) == BREAKER_CLOSED, "another provider is another breaker");
	breaker_close(&other);
	put("");
	OK(breaker_ask(&b, T0, &left) == BREAKER_CLOSED, "an empty file is none");
	put("claws-breaker 1 o 99");
	OK(breaker_ask(&b, T0, &left) == BREAKER_CLOSED, "a cut one is none");
	fail_at(T0, 5);
	OK(breaker_ask(&b, T0 + 10, &left) == BREAKER_OPEN, "and is written over");
	breaker_reset(&b);
	mkdir(b.path, 0700);
	fail_at(T0, 5);
	OK(breaker_ask(&b, T0, &left) == BREAKER_CLOSED, "a directory in its place: calls go on");
	rmdir(b.path);
	mkfifo(b.path, 0600);
	fail_at(T0, 5);
	OK(breaker_ask(&b, T0, &left) == BREAKER_CLOSED, "a FIFO: calls go on");
	unlink(b.path);
	breaker_close(&b);
	setenv("CLAWS_HOME", "relative", 1);
	breaker_open(&b, "x");
	OK(!b.path && breaker_ask(&b, T0, &left) == BREAKER_CLOSED && !breaker_failed(&b, T0), "no place for it: calls go on");
	breaker_close(&b);
	unsetenv("CLAWS_HOME");
}

/* Fifty processes; the exit status is the number of those for which it was so. */
static int fifty(int (*what)(int64_t now), int64_t now)
{
	int sum = 0, status;
	pid_t pid[50];

	for (int i = 0; i < 50; i++)
		if ((pid[i] = fork()) == 0)
			_exit(what(now));
	for (int i = 0; i < 50; i++)
		sum += waitpid(pid[i], &status, 0) == pid[i] && WIFEXITED(status) ? WEXITSTATUS(status) : 100;
	return sum;
}

static int fails(int64_t now)
{
	return breaker_failed(&b, now);
}

static int probes(int64_t now)
{
	return breaker_ask(&b, now, &left) == BREAKER_PROBE;
}

/* A process that takes the probe, says so, and stays. */
static pid_t hold_probe(int64_t now)
{
	int fds[2];
	char c = 0;
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		c = probes(now) ? 'p' : 'n';
		if (write(fds[1], &c, 1) != 1)
			_exit(1);
		alarm(30);
		pause();
		_exit(1);
	}
	OK(read(fds[0], &c, 1) == 1 && c == 'p', "another process has the probe");
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static void at_once(void)
{
	pid_t probe;
	int status;

	breaker_open(&b, "many@h:1");
	OK(fifty(fails, T0) == 1, "fifty failures at once: one of them opens it");
	OK(breaker_ask(&b, T0 + 1, &left) == BREAKER_OPEN, "it is open");
	probe = hold_probe(T0 + BREAKER_OPEN_MS);
	OK(fifty(probes, T0 + BREAKER_OPEN_MS + 1) == 0, "one probe among all processes");
	kill(probe, SIGKILL);
	waitpid(probe, &status, 0);
	OK(breaker_ask(&b, T0 + BREAKER_OPEN_MS + 2, &left) == BREAKER_PROBE, "a probe that was killed is the next one's");
	breaker_worked(&b);
	OK(access(b.path, F_OK) != 0, "and closes it");
	breaker_close(&b);
}

int main(void)
{
	char home[] = "/tmp/breaker.XXXXXX";

	if (!mkdtemp(home))
		return 1;
	setenv("HOME", home, 1);
	unsetenv("CLAWS_HOME");
	unsetenv("XDG_STATE_HOME");
	setvbuf(stdout, NULL, _IOLBF, 0);    /* what was said is not said again by a child */
	rules();
	files();
	at_once();
	return END();
}

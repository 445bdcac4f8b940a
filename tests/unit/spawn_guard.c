/* guard.h by itself: what the owner sees, and what is left (nothing). */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/guard.h"
#include "sys/io.h"
#include "tap.h"

static struct guard g;
static struct guard_result res;

static int start(const char *command, int out, long grace)
{
	static const char *argv[] = {"sh", "-c", NULL, NULL};
	static struct spawn_fd fds[] = {{0, SPAWN_NULL}, {1, 0}, {2, SPAWN_NULL}};
	static struct spawn s = {.argv = argv, .fds = fds, .nfds = 3};
	struct err e = ERR_INIT;

	argv[2] = command;
	fds[1].parent = out < 0 ? SPAWN_NULL : out;
	return guard_start(&g, &s, grace, &e);
}

/* Polls until it is over; how many ms that took, or -1 after 10 s. */
static long over(void)
{
	long long start_ms = io_now_ms();

	while (io_now_ms() - start_ms < 10000) {
		poll(&(struct pollfd){.fd = g.fd, .events = POLLIN}, 1, 1000);
		if (guard_read(&g, &res))
			return (long)(io_now_ms() - start_ms);
	}
	return -1;
}

static bool comes_to_its_end(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char c[100];
	ssize_t n = 1;

	while (poll(&p, 1, 5000) > 0 && (n = read(fd, c, sizeof c)) > 0)
		;
	return n == 0;
}

static void ends(void)
{
	struct err e = ERR_INIT;

	OK(start("exit 3", -1, 1000) == 0 && over() >= 0 && WEXITSTATUS(res.wstatus) == 3, "an exit status");
	OK(!res.strays && !res.left && !res.lost && !res.err.status, "nothing else");
	guard_free(&g);
	OK(waitpid(-1, NULL, WNOHANG) < 0, "the guard is reaped");
	OK(start("kill -9 $$", -1, 1000) == 0 && over() >= 0 && WIFSIGNALED(res.wstatus) && WTERMSIG(res.wstatus) ==
		9, "a signal");
	guard_free(&g);
	struct spawn s = {.argv = (const char *[]){"no-such-program", NULL}};
	OK(guard_start(&g, &s, 0, &e) == 0 && over() >= 0 && strstr(res.err.text, "no-such-program"),
		"no program: %s", res.err.text);
	guard_free(&g);
	OK(start("trap 'exit 5' TERM; while :; do sleep 0.05; done", -1, 5000) == 0, "started");
	while (g.command == 0 && !guard_read(&g, &res))
		poll(&(struct pollfd){.fd = g.fd, .events = POLLIN}, 1, 1000);
	OK(g.command > 0 && getpgid(g.command) == g.command && getsid(g.command) == g.command, "a session of its own");
	OK(getsid(g.pid) != getsid(0) && getsid(g.pid) != g.command, "and the guard in another");
	poll(NULL, 0, 100);
	guard_stop(&g);
	guard_stop(&g);
	OK(over() >= 0 && WIFEXITED(res.wstatus) && WEXITSTATUS(res.wstatus) == 5, "it may end in its own way");
	guard_free(&g);
	OK(start("trap '' TERM; while :; do sleep 0.05; done", -1, 100) == 0, "started");
	poll(NULL, 0, 100);
	guard_stop(&g);
	long ms = over();
	OK(ms >= 0 && ms < 3000 && WTERMSIG(res.wstatus) == SIGKILL, "or is killed after the grace: %ld ms", ms);
	guard_free(&g);
}

static void strays(void)
{
	struct err e = ERR_INIT;
	int p[2];

	OK(io_pipe(p, &e) == 0 &&
		start("sleep 600 & setsid sleep 600 & (setsid setsid sleep 600 &) ; sleep 0.2; echo x", p[1], 1000) ==
			0,
		"three strays");
	close(p[1]);
	long ms = over();
	OK(ms >= 0 && ms < 4000 && res.strays == 3 && !res.left && WEXITSTATUS(res.wstatus) == 0, "%d ended in %ld ms",
		res.strays, ms);
	OK(comes_to_its_end(p[0]), "the pipe comes to its end");
	close(p[0]);
	guard_free(&g);
	/* Let go before it is over. */
	OK(io_pipe(p, &e) == 0 && start("trap '' TERM; setsid sleep 600 & sleep 600; sleep 600", p[1], 100) == 0,
		"started");
	close(p[1]);
	guard_free(&g);
	OK(comes_to_its_end(p[0]), "freed early: all ends by itself");
	close(p[0]);
}

/* The guard itself is killed by its command. */
static void lost(void)
{
	struct err e = ERR_INIT;
	int p[2];

	OK(io_pipe(p, &e) == 0 && start("sleep 600 & kill -9 $PPID; sleep 600", p[1], 1000) == 0, "started");
	close(p[1]);
	OK(over() >= 0 && res.lost, "lost is said");
	OK(comes_to_its_end(p[0]), "and its group is ended");
	close(p[0]);
	guard_free(&g);
}

/* A hundred processes in ten sessions, all deaf. */
static void many(void)
{
	struct err e = ERR_INIT;
	int p[2];

	OK(io_pipe(p, &e) == 0 &&
		start("for s in 1 2 3 4 5 6 7 8 9 10; do setsid sh -c 'trap \"\" TERM; for i in 1 2 3 4 5 6 7 8 9; do "
		"sleep 600 & done; echo ready; wait; sleep 600' & done; wait", p[1], 100) == 0, "a crowd");
	close(p[1]);
	size_t n = 0;
	char c[64];
	while (n < 60) {
		ssize_t r = read(p[0], c, sizeof c);
		if (r <= 0)
			break;
		n += (size_t)r;
	}
	guard_stop(&g);
	long ms = over();
	OK(ms >= 0 && ms < 4000 && !res.left && res.strays >= 100, "%d ended in %ld ms", res.strays, ms);
	OK(comes_to_its_end(p[0]), "all of them");
	close(p[0]);
	guard_free(&g);
}

/* Two guards of one owner: the second must not keep the first one's control pipe. */
static void two(void)
{
	struct err e = ERR_INIT;
	struct guard first;
	int p[2];

	OK(io_pipe(p, &e) == 0 && start("sleep 600", p[1], 100) == 0, "one");
	close(p[1]);
	first = g;
	OK(start("sleep 600", -1, 100) == 0, "two");
	while (g.command == 0 && !guard_read(&g, &res))
		poll(&(struct pollfd){.fd = g.fd, .events = POLLIN}, 1, 1000);
	close(first.control);   /* as when the owner dies, for this one only */
	first.control = -1;
	OK(comes_to_its_end(p[0]), "the first ends while the second runs");
	guard_free(&first);
	OK(g.command > 0 && kill(g.command, 0) == 0, "the second runs on");
	guard_stop(&g);
	OK(over() >= 0, "until it is told");
	guard_free(&g);
	close(p[0]);
}

int main(void)
{
	ends();
	strays();
	lost();
	many();
	two();
	return END();
}

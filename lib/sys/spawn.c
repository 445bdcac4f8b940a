#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"
#include "sys/limits.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4U
#endif
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

extern char **environ;

enum step { AT_FDS, AT_GROUP, AT_CWD, AT_LIMITS, AT_BEFORE, AT_EXEC };

struct failure {
	int number;
	enum step step;
};

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int spawn_find(const char *name, const char *path, struct buf *file, struct err *e)
{
	buf_clear(file);
	if (strchr(name, '/')) {
		buf_adds(file, name);
		return file->over ? err_set(e, ST_DATA, "path too long: '%.100s'", name) : 0;
	}
	for (const char *s = path ? path : DEFAULT_PATH; *name && *s;) {
		size_t n = strcspn(s, ":");
		if (n && *s == '/') {
			buf_clear(file);
			buf_add(file, s, n);
			buf_addc(file, '/');
			buf_adds(file, name);
			if (!file->over && is_program(file->p))
				return 0;
		}
		s += n + (s[n] == ':');
	}
	buf_clear(file);
	errno = ENOENT;
	return err_sys(e, "cannot run '%s'", name);
}

static const char *path_of(const char *const *env)
{
	if (!env)
		return getenv("PATH");
	for (; *env; env++)
		if (!strncmp(*env, "PATH=", 5))
			return *env + 5;
	return NULL;
}

/* Everything above 2 goes at exec; what is mapped is put in its place afterwards, by dup2, which clears the flag. */
static void cloexec_all(void)
{
	if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	long max = sysconf(_SC_OPEN_MAX);   /* before Linux 5.11 */
	for (int fd = 3; fd < (max < 0 || max > 65536 ? 65536 : max); fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* First out of the way, then into place: numbers of the two sides may overlap. */
static int place_fds(const struct spawn *s, int *report)
{
	int base = 10, null = -1, from[16];

	if (s->nfds > sizeof from / sizeof *from) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 0; i < s->nfds; i++)
		if (s->fds[i].child >= base)
			base = s->fds[i].child + 1;
	if ((*report = fcntl(*report, F_DUPFD_CLOEXEC, base)) < 0)
		return -1;
	for (size_t i = 0; i < s->nfds; i++) {
		int fd = s->fds[i].parent;
		if (fd == SPAWN_NULL && null < 0 && (null = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0)
			return -1;
		from[i] = fcntl(fd == SPAWN_NULL ? null : fd, F_DUPFD_CLOEXEC, base);
		if (from[i] < 0)
			return -1;
	}
	cloexec_all();
	for (size_t i = 0; i < s->nfds; i++)
		if (dup2(from[i], s->fds[i].child) < 0)
			return -1;
	return 0;
}

static void default_signals(void)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);   /* KILL, STOP and the C library's own refuse */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int leave_parent(const struct spawn *s, pid_t parent)
{
	if (s->group == SPAWN_SESSION && setsid() < 0)
		return -1;
	if (s->group == SPAWN_GROUP && setpgid(0, 0) < 0)
		return -1;
	if (s->death_signal) {
		if (prctl(PR_SET_PDEATHSIG, s->death_signal) < 0)
			return -1;
		if (getppid() != parent)   /* gone before we asked: prctl(2) */
			raise(s->death_signal);
	}
	return 0;
}

static void run_file(const char *file, const struct spawn *s)
{
	char *const *env = s->env ? (char *const *)s->env : environ;
	size_t n = 0;

	execve(file, (char *const *)s->argv, env);
	if (errno != ENOEXEC)
		return;
	while (s->argv[n])
		n++;
	const char **argv = xcalloc(n + 2, sizeof *argv);
	argv[0] = "sh";
	argv[1] = file;
	for (size_t i = 1; i < n; i++)
		argv[i + 1] = s->argv[i];
	execve("/bin/sh", (char *const *)argv, env);
	free(argv);
}

static _Noreturn void child(const struct spawn *s, const char *file, pid_t parent, int report)
{
	struct failure f = {0, AT_FDS};
	int r = place_fds(s, &report);

	if (r == 0) {
		f.step = AT_GROUP;
		r = leave_parent(s, parent);
	}
	default_signals();
	if (r == 0 && s->cwd) {
		f.step = AT_CWD;
		r = chdir(s->cwd);
	}
	if (r == 0 && s->limits) {
		f.step = AT_LIMITS;
		r = limits_apply(s->limits);
	}
	if (r == 0 && s->before) {
		f.step = AT_BEFORE;
		r = s->before(s->arg);
		if (r)
			errno = r;
	}
	if (r == 0) {
		f.step = AT_EXEC;
		run_file(file, s);
	}
	f.number = errno ? errno : EINVAL;
	if (report >= 0)
		io_write_all(report, &f, sizeof f, NULL);
	_exit(127);
}

static int explain(const struct spawn *s, const struct failure *f, struct err *e)
{
	const char *name = s->argv[0];

	errno = f->number;
	switch (f->step) {
	case AT_CWD: return err_sys(e, "cannot run '%s' in the directory '%s'", name, s->cwd);
	case AT_LIMITS: return err_sys(e, "cannot run '%s': setting its limits", name);
	case AT_BEFORE: return err_sys(e, "cannot run '%s': preparing its surroundings", name);
	case AT_FDS:
	case AT_GROUP: return err_sys(e, "cannot run '%s': its descriptors or session", name);
	case AT_EXEC: break;
	}
	return err_sys(e, "cannot run '%s'", name);
}

pid_t spawn_start(const struct spawn *s, struct err *e)
{
	const char *name = s->file ? s->file : s->argv[0];
	struct failure f;
	struct buf file;
	sigset_t all, before;
	int report[2], wstatus;
	pid_t pid, self = getpid();

	buf_init(&file, PATH_MAX);
	if (spawn_find(name, path_of(s->env), &file, e) < 0 || io_pipe(report, e) < 0) {
		buf_free(&file);
		return -1;
	}
	sigfillset(&all);   /* a handler of ours must not run in the child */
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		child(s, file.p, self, report[1]);
	int why = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	buf_free(&file);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		errno = why;
		err_sys(e, "cannot run '%s': no new process", name);
		if (e && why == EAGAIN)
			e->status = ST_TEMP;
		return -1;
	}
	if (s->group == SPAWN_GROUP)
		setpgid(pid, pid);   /* by whoever is first; EACCES after exec is fine */
	ssize_t n;
	while ((n = read(report[0], &f, sizeof f)) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (n != sizeof f)
		return pid;
	while (waitpid(pid, &wstatus, 0) < 0 && errno == EINTR)
		;
	return explain(s, &f, e);
}

static int wait_for(pid_t pid)
{
	int wstatus = 0;

	while (waitpid(pid, &wstatus, 0) < 0)
		if (errno != EINTR)
			return 0;
	return wstatus;
}

/* Whether it ended within the time; it stays to be waited for. */
static bool ends_within(pid_t pid, long ms)
{
	long long until = io_now_ms() + ms;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	for (;;) {
		siginfo_t info = {0};
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
			break;
		long long left = until - io_now_ms();
		if (info.si_pid == pid || left <= 0) {
			if (fd >= 0)
				close(fd);
			return info.si_pid == pid;
		}
		if (fd < 0 && left > 10)   /* before Linux 5.3 */
			left = 10;
		poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, (int)left);
	}
	if (fd >= 0)
		close(fd);
	return true;
}

int spawn_end(pid_t pid, bool group, long grace_ms)
{
	pid_t whom = group ? -pid : pid;

	kill(whom, SIGTERM);
	kill(whom, SIGCONT);   /* a stopped process does not hear TERM */
	if (!ends_within(pid, grace_ms) || group)
		kill(whom, SIGKILL);
	return wait_for(pid);
}

int spawn_run(const struct spawn *s, struct err *e)
{
	pid_t pid = spawn_start(s, e);
	return pid < 0 ? -1 : wait_for(pid);
}

const char *spawn_signal_name(int sig)
{
	static const struct {
		int sig;
		const char *name;
	} names[] = {
#define NAME(s) {s, #s}
		NAME(SIGHUP), NAME(SIGINT), NAME(SIGQUIT), NAME(SIGILL), NAME(SIGTRAP), NAME(SIGABRT), NAME(SIGBUS),
		NAME(SIGFPE), NAME(SIGKILL), NAME(SIGUSR1), NAME(SIGSEGV), NAME(SIGUSR2), NAME(SIGPIPE),
		NAME(SIGALRM), NAME(SIGTERM), NAME(SIGCHLD), NAME(SIGCONT), NAME(SIGSTOP), NAME(SIGTSTP),
		NAME(SIGTTIN), NAME(SIGTTOU), NAME(SIGURG), NAME(SIGXCPU), NAME(SIGXFSZ), NAME(SIGVTALRM),
		NAME(SIGPROF), NAME(SIGWINCH), NAME(SIGIO), NAME(SIGSYS),
#undef NAME
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].sig == sig)
			return names[i].name;
	return "a real-time signal";
}

#include "sys/sig.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

int sig_open(struct sigs *s, const int *list, struct err *e)
{
	sigset_t set;

	s->fd = -1;
	sigemptyset(&set);
	for (; *list; list++)
		sigaddset(&set, *list);
	if (sigprocmask(SIG_BLOCK, &set, &s->before) < 0)
		return err_sys(e, "cannot block signals");
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0) {
		err_sys(e, "cannot watch for signals");
		sigprocmask(SIG_SETMASK, &s->before, NULL);
		return -1;
	}
	return 0;
}

int sig_read(struct sigs *s, pid_t *from)
{
	struct signalfd_siginfo info;
	ssize_t n;

	do
		n = read(s->fd, &info, sizeof info);
	while (n < 0 && errno == EINTR);
	if (n != sizeof info)
		return 0;
	if (from)
		*from = (pid_t)info.ssi_pid;
	return (int)info.ssi_signo;
}

void sig_close(struct sigs *s)
{
	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

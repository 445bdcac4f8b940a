#include "base/prog.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/termsafe.h"

static const char *name = "claws";

/* A standard descriptor that is closed would be given to the next file opened: a log or a socket would then be read as
 * input, or get what is meant for stderr. /dev/null in the wrong direction keeps its place, and reads and writes of it
 * fail as they do on a closed one. open(2) takes the lowest number that is free. */
static void keep_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(ST_IO);
}

void prog_name(const char *n)
{
	name = n;
	keep_standard();
	/* At ulimit -f a write fails and can be undone, as on a full disk, and ends nobody in the middle of a record. */
	signal(SIGXFSZ, SIG_IGN);
}

const char *prog_get(void)
{
	return name;
}

__attribute__((format(printf, 1, 0)))
static void say(const char *fmt, va_list ap)
{
	struct buf text, line;
	ssize_t ignored;

	buf_init(&text, BUF_NOLIMIT);
	buf_init(&line, BUF_NOLIMIT);
	buf_vaddf(&text, fmt, ap);
	buf_addf(&line, "%s: ", name);
	term_safe(&line, text.p, text.len, TERM_ONE_LINE);
	buf_addc(&line, '\n');
	/* One write, so that lines of a pipeline's programs do not mix. */
	ignored = write(2, line.p, line.len);
	(void)ignored;
	buf_free(&text);
	buf_free(&line);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	exit(status);
}

void die_err(const struct err *e)
{
	die(e->status ? e->status : ST_BUG, "%s", e->text);
}

void finish(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		die(ST_IO, "write to standard output failed");
	exit(status);
}

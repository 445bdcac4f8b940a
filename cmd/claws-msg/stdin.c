/* stdin.c - reading stdin beside a prompt: to its end if it is data, never silently for ever. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "msg_cmd.h"
#include "sys/io.h"

#define SILENCE_MS 3000

enum stdin_kind stdin_kind(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0)
		return STDIN_NONE;
	if (S_ISREG(st.st_mode))
		return STDIN_FILE;
	if (S_ISFIFO(st.st_mode))
		return STDIN_PIPE;
	if (S_ISSOCK(st.st_mode))
		return STDIN_SOCKET;
	if (S_ISCHR(st.st_mode) && isatty(STDIN_FILENO))
		return STDIN_TERMINAL;
	return STDIN_NONE;                  /* /dev/null, other devices, a directory */
}

/* One read; 1 more may come, 0 end, -1 failed. */
static int read_some(struct buf *out, struct err *e)
{
	char *room = buf_room(out, (size_t)64 << 10);
	ssize_t n;

	if (!room)
		return err_set(e, ST_DATA, "stdin: more than %zu bytes: give the model a part of it", out->max - 65536);
	n = read(STDIN_FILENO, room, (size_t)64 << 10);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n < 0)
		return err_sys(e, "stdin");
	out->len += (size_t)n;
	buf_term(out);
	return n > 0;
}

int stdin_read(struct buf *out, long first_ms, struct err *e)
{
	struct pollfd p = {STDIN_FILENO, POLLIN, 0};
	long long last = io_now_ms(), begun = last;
	size_t before = out->len;
	bool said = false;

	for (;;) {
		long long now = io_now_ms(), wait = -1;
		bool first = out->len == before && first_ms >= 0;
		int n;

		if (!said)
			wait = last + SILENCE_MS - now;
		if (first && (wait < 0 || begun + first_ms - now < wait))
			wait = begun + first_ms - now;
		n = poll(&p, 1, said && !first ? -1 : wait > 0 ? (int)wait : 0);
		if (n < 0 && errno != EINTR)
			return err_sys(e, "stdin: poll");
		now = io_now_ms();
		if (n <= 0) {
			if (first && now >= begun + first_ms)
				return 0;
			if (!said && now >= last + SILENCE_MS) {
				warn("still waiting for stdin to end (-n: do not read it)");
				said = true;
			}
			continue;
		}
		n = read_some(out, e);
		if (n <= 0)
			return n < 0 ? -1 : 1;
		last = io_now_ms();
	}
}

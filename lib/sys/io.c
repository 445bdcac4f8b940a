#include "sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"

#define READ_PIECE ((size_t)64 << 10)

int io_read_all(int fd, struct buf *b, struct err *e)
{
	for (;;) {
		size_t room = b->max > b->len ? b->max - b->len : 0;
		char over;
		char *to = &over;
		size_t want = 1;

		if (room) {
			want = room < READ_PIECE ? room : READ_PIECE;
			to = buf_room(b, want);
		}
		ssize_t n = read(fd, to, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
			continue;
		}
		if (n < 0)
			return err_sys(e, "cannot read");
		if (n == 0) {
			buf_term(b);
			return 0;
		}
		if (!room) {
			b->over = true;
			return err_set(e, ST_DATA, "longer than the limit of %zu bytes", b->max);
		}
		b->len += (size_t)n;
		buf_term(b);
	}
}

int io_write_all(int fd, const void *p, size_t n, struct err *e)
{
	const char *s = p;

	while (n) {
		ssize_t w = write(fd, s, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
			continue;
		}
		if (w < 0)
			return err_sys(e, "cannot write");
		s += w;
		n -= (size_t)w;
	}
	return 0;
}

void io_random(void *p, size_t n)
{
	char *s = p;

	while (n) {
		ssize_t r = getrandom(s, n, 0);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			abort();
		s += r;
		n -= (size_t)r;
	}
}

int io_pipe(int fds[2], struct err *e)
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	return 0;
}

int io_nonblock(int fd, bool on, struct err *e)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) < 0)
		return err_sys(e, "cannot set a descriptor's blocking mode");
	return 0;
}

long long io_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void close_from_to(unsigned from, unsigned to)
{
	if (from > to || syscall(SYS_close_range, from, to, 0) == 0)
		return;
	/* ENOSYS before Linux 5.9. Descriptors above the limit cannot be opened, though they can be inherited. */
	long max = sysconf(_SC_OPEN_MAX);
	if (max < 0 || max > 65536)
		max = 65536;
	for (unsigned fd = from; fd <= to && fd < (unsigned)max; fd++)
		close((int)fd);
}

void io_close_others(const int *keep, size_t n)
{
	unsigned from = 3;

	for (;;) {
		unsigned next = ~0U;
		for (size_t i = 0; i < n; i++)
			if (keep[i] >= 0 && (unsigned)keep[i] >= from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next == ~0U)
			break;
		if (next > from)
			close_from_to(from, next - 1);
		from = next + 1;
	}
	close_from_to(from, ~0U);
}

#include "proto/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

void out_init(struct out *o, int fd)
{
	*o = (struct out){.fd = fd};
	buf_init(&o->buf, BUF_NOLIMIT);
}

void out_free(struct out *o)
{
	buf_free(&o->buf);
	o->sent = 0;
}

void out_close(struct out *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	o->closed = true;
	out_free(o);
}

void out_nonblock(struct out *o)
{
	int flags = fcntl(o->fd, F_GETFL);

	if (flags >= 0)
		fcntl(o->fd, F_SETFL, flags | O_NONBLOCK);
	o->nonblock = true;
}

size_t out_left(const struct out *o)
{
	return o->buf.len - o->sent;
}

/* All is out: start again at the front, and give a big buffer back. */
static void emptied(struct out *o)
{
	o->sent = 0;
	if (o->buf.cap > 16 * OUT_GATHER)
		buf_free(&o->buf);
	else
		buf_clear(&o->buf);
}

int out_flush(struct out *o, struct err *e)
{
	if (o->closed) {
		emptied(o);
		return 0;
	}
	while (o->sent < o->buf.len) {
		ssize_t n = write(o->fd, o->buf.p + o->sent, o->buf.len - o->sent);

		if (n >= 0) {
			o->sent += (size_t)n;
		} else if (errno == EPIPE) {
			o->closed = true;
			break;
		} else if (errno == EAGAIN) {
			struct pollfd p = {.fd = o->fd, .events = POLLOUT};

			if (o->nonblock)
				break;
			/* Somebody else made the descriptor non-blocking: wait here. */
			poll(&p, 1, -1);
		} else if (errno != EINTR) {
			o->closed = true;
			err_sys(e, "write standard output");
			emptied(o);
			return -1;
		}
	}
	if (o->closed || o->sent == o->buf.len) {
		emptied(o);
		return 0;
	}
	/* Long queues: do not keep what was sent for ever. */
	if (o->sent > (size_t)1 << 20) {
		buf_cut(&o->buf, o->sent);
		o->sent = 0;
	}
	return 1;
}

int out_line(struct out *o, const char *p, size_t n, struct err *e)
{
	if (o->closed)
		return 0;
	buf_add(&o->buf, p, n);
	buf_addc(&o->buf, '\n');
	if (!o->nonblock && out_left(o) >= OUT_GATHER)
		return out_flush(o, e);
	return 0;
}

#include "proto/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

#define READ_BYTES ((size_t)64 << 10)
#define KEEP_BYTES ((size_t)1 << 20) /* a larger buffer is given back once it is empty */

void lines_init(struct lines *in, int fd, size_t max)
{
	*in = (struct lines){.fd = fd, .max = max};
	/* A line may end right at the limit, with CR LF behind it and what the same read brought. */
	buf_init(&in->buf, max + 2 + 2 * READ_BYTES);
}

void lines_free(struct lines *in)
{
	buf_free(&in->buf);
}

/* Drop what was delivered, so that there is room. */
static void squeeze(struct lines *in)
{
	if (in->pos == in->buf.len && in->buf.cap > KEEP_BYTES)
		buf_free(&in->buf);
	else
		buf_cut(&in->buf, in->pos);
	in->seen -= in->pos < in->seen ? in->pos : in->seen;
	in->gone += in->pos;
	in->pos = 0;
}

int lines_fill(struct lines *in, struct err *e)
{
	char *to;
	ssize_t n;

	if (in->eof)
		return 1;
	if (in->pos)
		squeeze(in);
	to = buf_room(&in->buf, READ_BYTES);
	if (!to)
		return err_set(e, ST_BUG, "line buffer is full");
	n = read(in->fd, to, READ_BYTES);
	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		in->eof = true;
		return err_sys(e, "read standard input");
	}
	if (n == 0)
		in->eof = true;
	in->buf.len += (size_t)n;
	buf_term(&in->buf);
	return 1;
}

/* A line too long is thrown away as it comes; its number is told once its end is seen. */
static enum lines_got skip(struct lines *in, struct line *l)
{
	char *end = memchr(in->buf.p + in->pos, '\n', in->buf.len - in->pos);

	if (!end && !in->eof) {
		in->pos = in->seen = in->buf.len;
		return LINES_NEED;
	}
	in->pos = in->seen = end ? (size_t)(end - in->buf.p) + 1 : in->buf.len;
	in->skipping = false;
	*l = (struct line){.p = "", .no = ++in->no};
	return LINES_LONG;
}

enum lines_got lines_next(struct lines *in, struct line *l)
{
	char *start = in->buf.p + in->pos, *end;
	size_t len;

	if (in->skipping)
		return skip(in, l);
	if (in->seen < in->pos)
		in->seen = in->pos;
	end = memchr(in->buf.p + in->seen, '\n', in->buf.len - in->seen);
	if (!end) {
		in->seen = in->buf.len;
		if (in->buf.len - in->pos > in->max + 1) {
			in->skipping = true;
			return skip(in, l);
		}
		if (!in->eof)
			return LINES_NEED;
		if (in->pos == in->buf.len)
			return LINES_END;
	}
	len = end ? (size_t)(end - start) : in->buf.len - in->pos;
	in->pos += len + (end != NULL);
	in->seen = in->pos;
	if (end && len && start[len - 1] == '\r')
		len--;
	in->no++;
	*l = (struct line){.p = start, .len = len, .no = in->no, .cut = !end};
	return len > in->max ? LINES_LONG : LINES_LINE;
}

size_t lines_offset(const struct lines *in)
{
	return in->gone + in->pos;
}

bool lines_ready(const struct lines *in)
{
	size_t from = in->seen > in->pos ? in->seen : in->pos;

	return memchr(in->buf.p + from, '\n', in->buf.len - from) != NULL || (in->eof && in->pos < in->buf.len);
}

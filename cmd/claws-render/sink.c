/* sink.c - a descriptor with a buffer that knows whether the cursor stands at the start of a line. */
#include <string.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "render.h"
#include "sys/io.h"
#include "sys/term.h"

/* --color always is the user's own word and wins over NO_COLOR. */
static bool wants_color(const char *mode, int fd)
{
	return !strcmp(mode, "always") || (!strcmp(mode, "auto") && term_colour(fd));
}

void sink_init(struct sink *s, int fd, const char *color)
{
	memset(s, 0, sizeof *s);
	s->fd = fd;
	buf_init(&s->buf, BUF_NOLIMIT);
	s->tty = term_is(fd);
	s->color = wants_color(color, fd);
}

void sink_put(struct sink *s, const char *p, size_t n)
{
	if (!n)
		return;
	buf_add(&s->buf, p, n);
	s->midline = p[n - 1] != '\n';
	if (s->buf.len > (size_t)64 << 10)
		sink_flush(s);
}

/* Keeps the last characters given: what a joiner or variation selector at the start of the next piece belongs to. */
static void remember(struct sink *s, const char *p, size_t n)
{
	size_t at = utf8_cut(p, n), chars = 0;

	while (at > 0 && chars < 3 && n - at < sizeof s->before - 4) {
		at = utf8_cut(p, at - 1);
		chars++;
	}
	s->nbefore = n - at;
	memcpy(s->before, p + at, s->nbefore);
}

/* Pieces of a stream are cut anywhere between two characters; shown is what would be shown of the whole. */
void sink_text(struct sink *s, const char *p, size_t n)
{
	struct buf in, shown;
	size_t skip;

	if (!s->tty) {
		sink_put(s, p, n);
		return;
	}
	buf_init(&in, BUF_NOLIMIT);
	buf_init(&shown, BUF_NOLIMIT);
	buf_add(&in, s->before, s->nbefore);
	term_safe(&shown, in.p, in.len, 0);
	skip = shown.len;
	buf_clear(&shown);
	if (s->held_cr)
		buf_addc(&in, '\r');
	buf_add(&in, p, n);
	s->held_cr = n && p[n - 1] == '\r';    /* dropped if a newline follows */
	if (s->held_cr)
		buf_truncate(&in, in.len - 1);
	term_safe(&shown, in.p, in.len, 0);
	if (shown.len > skip)
		sink_put(s, shown.p + skip, shown.len - skip);
	remember(s, in.p, in.len);
	buf_free(&in);
	buf_free(&shown);
}

void sink_safe(struct sink *s, const char *p, size_t n, size_t max)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	term_safe(&b, p, n, TERM_ONE_LINE);
	if (max && b.len > max) {
		buf_truncate(&b, utf8_cut(b.p, max > 3 ? max - 3 : 0));
		buf_adds(&b, "...");
	}
	sink_put(s, b.p, b.len);
	buf_free(&b);
}

void sink_fresh(struct sink *s)
{
	s->held_cr = false;
	s->nbefore = 0;
	if (s->midline)
		sink_put(s, "\n", 1);
}

void sink_color(struct sink *s, const char *sgr)
{
	if (!s->color)
		return;
	buf_adds(&s->buf, "\033[");
	buf_adds(&s->buf, sgr ? sgr : "0");
	buf_adds(&s->buf, "m");
}

void sink_flush(struct sink *s)
{
	struct err e = ERR_INIT;

	if (!s->buf.len)
		return;
	if (io_write_all(s->fd, s->buf.p, s->buf.len, &e) < 0) {
		buf_clear(&s->buf);
		if (s->fd == STDERR_FILENO)
			return;             /* nobody hears; the answer still matters */
		die_err(&e);
	}
	buf_clear(&s->buf);
}

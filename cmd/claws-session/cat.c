/* cat.c - the conversation out of a log; in a ring, first the log as append found it, then what append feeds. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "proto/stage.h"
#include "session.h"
#include "sys/io.h"

#define COPY_BYTES ((size_t)64 << 10)

/* Messages and compactions make up the conversation. System prompts are made anew by claws-context. */
static bool wanted(const struct json *j)
{
	enum msg_kind kind = msg_kind(j);

	return kind == MSG_COMPACTION || kind == MSG_USER || kind == MSG_ASSISTANT || kind == MSG_TOOL ||
	       (kind == MSG_UNKNOWN && json_get(j, 0, "role") < 0);
}

static void name_long(struct out *out, unsigned long no)
{
	struct err e = ERR_INIT;
	struct buf b;
	struct jw w;

	buf_init(&b, 256);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "type", "error");
	jw_kstr(&w, "class", "input");
	jw_kstr(&w, "stage", "claws-session");
	jw_ki64(&w, "line", (int64_t)no);
	jw_kstr(&w, "message", "a line of the session's log was left out: it is longer than 64 MiB");
	jw_end(&w);
	if (out_line(out, b.p, b.len, &e) < 0)
		die_err(&e);
	buf_free(&b);
}

static void copy_log(struct out *out, int fd, off_t size)
{
	struct lines in;
	struct line l;
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	enum lines_got got;

	lines_init(&in, fd, LINE_MAX_BYTES);
	while ((got = lines_next(&in, &l)) != LINES_END) {
		if (got == LINES_NEED) {
			if (out_flush(out, &e) < 0 || lines_fill(&in, &e) < 0)
				die_err(&e);
			continue;
		}
		if ((off_t)lines_offset(&in) > size)
			break;
		if (got == LINES_LONG)
			name_long(out, l.no);
		/* A line that cannot be read goes on as it is: whoever reads it names it. */
		else if (l.len && (json_parse(&j, l.p, l.len, NULL) < 0 || wanted(&j)) &&
		    out_line(out, l.p, l.len, &e) < 0)
			die_err(&e);
	}
	json_free(&j);
	lines_free(&in);
	if (out_flush(out, &e) < 0)
		die_err(&e);
}

/* Reads up to and with the ring line, one byte at a time would do; lines gives the rest back. */
static off_t await_ring(struct lines *in, struct out *out)
{
	struct line l;
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	int64_t size = -1;

	while (size < 0) {
		enum lines_got got = lines_next(in, &l);

		if (got == LINES_END)
			break;
		if (got == LINES_NEED) {
			if (lines_fill(in, &e) < 0)
				die_err(&e);
		} else if (got == LINES_LINE && json_parse(&j, l.p, l.len, NULL) == 0) {
			if (msg_kind(&j) == MSG_RING)
				json_i64(&j, json_get(&j, 0, "size"), &size);
			if (out_line(out, l.p, l.len, &e) < 0)
				die_err(&e);
		}
	}
	json_free(&j);
	return size;
}

/* From here on the bytes do not matter to us: whatever a read brings is written. */
static void copy_feed(struct lines *in)
{
	struct err e = ERR_INIT;
	char *part = malloc(COPY_BYTES);
	ssize_t n;

	if (!part)
		die(ST_TEMP, "out of memory");
	if (in->buf.len > in->pos && io_write_all(1, in->buf.p + in->pos, in->buf.len - in->pos, &e) < 0)
		die_err(&e);
	while ((n = read(0, part, COPY_BYTES)) > 0)
		if (io_write_all(1, part, (size_t)n, &e) < 0)
			die_err(&e);
	free(part);
}

int do_cat(const struct conf *c, char **args)
{
	bool ring = getenv("CLAWS_RING") != NULL;
	struct lines in;
	struct out out;
	struct buf path;
	off_t size;
	int fd;

	(void)c;
	the_log(args, !ring, &path);
	out_init(&out, 1);
	lines_init(&in, 0, LINE_MAX_BYTES);
	size = ring ? await_ring(&in, &out) : (off_t)1 << 62;
	fd = size > 0 ? open(path.p, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
	if (size > 0 && fd < 0) {
		struct err e = ERR_INIT;

		err_sys(&e, "open the session's log %s", path.p);
		die_err(&e);
	}
	if (fd >= 0) {
		copy_log(&out, fd, size);
		close(fd);
	} else if (out_flush(&out, NULL) < 0) {
		die(ST_IO, "write to standard output failed");
	}
	if (ring && size >= 0)
		copy_feed(&in);
	lines_free(&in);
	out_free(&out);
	buf_free(&path);
	return ST_OK;
}

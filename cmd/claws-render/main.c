/* claws-render - show what a run does: the answer for a pipe, the whole story for a terminal, JSON for wrappers.
 *
 * It reads lines (claws-messages(5)) and is the end of the pipeline, so it passes nothing on but with --json. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "opt/opt.h"
#include "proto/lines.h"
#include "render.h"
#include "sys/atomic.h"
#include "sys/io.h"

#include <fcntl.h>

static const struct opt options[] = {
	{0, "output-format", "FORMAT", OPT_STR, offsetof(struct conf, format), "text (default), json or stream-json", 0, 0,
	 "text|json|stream-json"},
	{0, "json", NULL, OPT_FLAG, offsetof(struct conf, json), "the lines themselves, as they come", 0, 0, NULL},
	{'o', "output", "FILE", OPT_STR, offsetof(struct conf, out), "the answer to FILE too, once it is complete", 0, 0, NULL},
	{'q', "quiet", NULL, OPT_FLAG, offsetof(struct conf, quiet), "no tool lines, no notices", 0, 0, NULL},
	{0, "color", "WHEN", OPT_STR, offsetof(struct conf, color), "auto (default), always or never", 0, 0,
	 "auto|always|never"},
	{0, "partial", NULL, OPT_FLAG, offsetof(struct conf, partial), "text as it comes, also where only the answer is shown", 0,
	 0, NULL},
	{0, "thinking", NULL, OPT_FLAG, offsetof(struct conf, thinking), "show the model's reasoning on a terminal", 0, 0, NULL},
	{0, "done-fd", "N", OPT_LONG, offsetof(struct conf, done_fd), "write the status of each run to descriptor N", 0, 1024,
	 NULL},
	{0, NULL, NULL, 0, 0, NULL, 0, 0, NULL},
};

static const struct opt_spec spec = {
	"claws-render", "[OPTION...]", "Show a stream of claws-messages(5): the answer, and on a terminal the tools too.", options,
	NULL, "Reads the lines on stdin. Errors and notices go to stderr.", 0,
};

/* A device or a FIFO is written to, not replaced; what a link names is the file. */
static int write_answer(const char *name, const struct buf *b, struct err *e)
{
	struct stat st;
	char *file;
	int fd, r;

	if (stat(name, &st) == 0 && !S_ISREG(st.st_mode)) {
		fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		if (fd < 0)
			return err_sys(e, "cannot write '%s'", name);
		r = io_write_all(fd, b->p, b->len, e);
		close(fd);
		return r;
	}
	file = realpath(name, NULL);
	r = atomic_write(AT_FDCWD, file ? file : name, b->p, b->len, 0644, e);
	free(file);
	return r;
}

static void save_answer(const struct render *r)
{
	struct err e = ERR_INIT;
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	buf_add(&b, r->run.answer.p, r->run.answer.len);
	if (b.len && b.p[b.len - 1] != '\n')
		buf_addc(&b, '\n');
	if (write_answer(r->c.out, &b, &e) < 0)
		die(ST_IO, "%s", e.text);
	buf_free(&b);
}

static void tell_done(const struct render *r)
{
	struct err e = ERR_INIT;
	struct buf b;

	buf_init(&b, 64);
	buf_addf(&b, "%d\n", r->run.exit);
	if (io_write_all((int)r->c.done_fd, b.p, b.len, &e) < 0)
		die_err(&e);
	buf_free(&b);
}

static void flush_all(struct render *r)
{
	sink_flush(&r->out);
	sink_flush(&r->err);
}

static void take(struct render *r, const struct view *view, const struct seen *m)
{
	run_line(&r->run, m);
	view->line(r, m);
	if (m->j && m->kind == MSG_RUN_DONE) {
		flush_all(r);
		if (r->c.out && run_good(&r->run))
			save_answer(r);
		if (r->c.done_fd >= 0)
			tell_done(r);
	}
}

/* Lines that are not JSON are mended if that can be done, else named and left out: one bad line must not hide the rest. */
static void take_line(struct render *r, const struct view *view, struct json *j, struct buf *mended, const struct line *l)
{
	struct seen m = {MSG_UNKNOWN, l->p, l->len, NULL, false, l->cut};
	struct err e = ERR_INIT;

	if (l->len == 0 && view != &view_native)
		return;
	m.cr = !l->cut && l->p[l->len] == '\r';
	if (json_parse(j, l->p, l->len, &e) < 0) {
		buf_clear(mended);
		if (json_repair(mended, l->p, l->len) == 0 || json_parse(j, mended->p, mended->len, NULL) < 0) {
			if (l->len)
				say(r, "input: line %lu: %s", l->no, e.text);
			view->line(r, &m);
			return;
		}
	}
	if (json_type(j, 0) == JSON_OBJECT) {
		m.j = j;
		m.kind = msg_kind(j);
		if (msg_check(j, &e) < 0)
			say(r, "input: line %lu: %s", l->no, e.text);
	} else {
		say(r, "input: line %lu: not an object", l->no);
	}
	take(r, view, &m);
}

/* 0, or 74: the input could not be read to its end. */
static int read_all(struct render *r, const struct view *view)
{
	struct json j = JSON_INIT;
	struct lines in;
	struct buf mended;
	struct err e = ERR_INIT;
	struct line l;
	int status = ST_OK;

	lines_init(&in, STDIN_FILENO, LINE_MAX_BYTES);
	buf_init(&mended, BUF_NOLIMIT);
	for (;;) {
		enum lines_got got = lines_next(&in, &l);

		if (got == LINES_END)
			break;
		if (got == LINES_LINE) {
			take_line(r, view, &j, &mended, &l);
		} else if (got == LINES_LONG) {
			say(r, "input: line %lu: longer than %zu bytes, left out", l.no, (size_t)LINE_MAX_BYTES);
		} else {
			flush_all(r);
			if (lines_fill(&in, &e) < 0) {
				say(r, "io: %s", e.text);
				status = ST_IO;
			}
		}
	}
	json_free(&j);
	buf_free(&mended);
	lines_free(&in);
	return status;
}

static const struct view *choose(const struct conf *c)
{
	if (c->json)
		return &view_native;
	return !strcmp(c->format, "json") ? &view_json : !strcmp(c->format, "stream-json") ? &view_stream_json : &view_text;
}

int main(int argc, char **argv)
{
	struct render r = {.c = {.format = "text", .color = "auto", .done_fd = -1}};
	const struct view *view;
	int first, status;

	prog_name("claws-render");
	first = opt_parse(&spec, argc, argv, &r.c);
	if (first < argc)
		opt_usage(&spec, "unexpected operand '%s': the stream is read from stdin", argv[first]);
	if (r.c.json && strcmp(r.c.format, "text") != 0)
		opt_usage(&spec, "--json and --output-format %s exclude each other", r.c.format);
	if (r.c.done_fd >= 0 && fcntl((int)r.c.done_fd, F_GETFD) < 0)
		opt_usage(&spec, "--done-fd %ld: no such descriptor is open", r.c.done_fd);
	view = choose(&r.c);
	sink_init(&r.out, STDOUT_FILENO, r.c.color);
	sink_init(&r.err, STDERR_FILENO, r.c.color);
	run_init(&r.run);
	view->begin(&r);
	status = read_all(&r, view);
	run_end(&r.run);
	view->end(&r);
	flush_all(&r);
	if (r.c.out && !r.run.ring && run_good(&r.run))
		save_answer(&r);
	run_free(&r.run);
	buf_free(&r.out.buf);
	buf_free(&r.err.buf);
	finish(status);
}

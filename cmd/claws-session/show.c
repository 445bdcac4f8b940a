/* show.c - a session for a person: who said what, each call in a line, each result's start. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "proto/lines.h"
#include "proto/msg.h"
#include "session.h"
#include "sys/term.h"

#define RESULT_BYTES 2000   /* of a tool's result that are shown */

static void text_of(struct buf *out, const struct json *j, const char *key, size_t most)
{
	struct buf b;
	size_t n;

	buf_init(&b, BUF_NOLIMIT);
	json_str(j, json_get(j, 0, key), &b);
	n = b.len > most ? utf8_cut(b.p, most) : b.len;
	term_safe(out, b.p, n, 0);
	if (n && out->p[out->len - 1] != '\n')
		buf_addc(out, '\n');
	if (n < b.len)
		buf_addf(out, "[... %zu bytes more ...]\n", b.len - n);
	buf_free(&b);
}

static void one_line(struct buf *out, const struct json *j, int v)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	if (json_str(j, v, &b) < 0)
		json_compact(&b, j, v);
	term_safe(out, b.p, b.len > 400 ? utf8_cut(b.p, 400) : b.len, TERM_ONE_LINE);
	buf_free(&b);
}

static void calls(struct buf *out, const struct json *j)
{
	for (struct json_iter it = json_iter(j, json_get(j, 0, "tool_calls")); json_next(&it);) {
		buf_adds(out, "-> ");
		one_line(out, j, json_get(j, it.value, "name"));
		buf_addc(out, ' ');
		one_line(out, j, json_get(j, it.value, "input"));
		buf_addc(out, '\n');
	}
}

static void show(struct buf *out, const struct json *j)
{
	switch (msg_kind(j)) {
	case MSG_USER:
		buf_adds(out, "\n> user");
		if (json_get(j, 0, "origin") >= 0 && !json_eq(j, json_get(j, 0, "origin"), "user")) {
			buf_adds(out, " (");
			one_line(out, j, json_get(j, 0, "origin"));
			buf_addc(out, ')');
		}
		buf_addc(out, '\n');
		text_of(out, j, "content", BUF_NOLIMIT);
		break;
	case MSG_ASSISTANT:
		buf_adds(out, "\n> assistant");
		if (json_get(j, 0, "model") >= 0) {
			buf_adds(out, " (");
			one_line(out, j, json_get(j, 0, "model"));
			buf_addc(out, ')');
		}
		buf_addc(out, '\n');
		text_of(out, j, "content", BUF_NOLIMIT);
		calls(out, j);
		break;
	case MSG_TOOL:
		buf_adds(out, json_true(j, json_get(j, 0, "is_error")) ? "<- error: " : "<- ");
		text_of(out, j, "content", RESULT_BYTES);
		break;
	case MSG_COMPACTION:
		buf_adds(out, "\n> compaction: from here on the model sees a shorter conversation\n");
		break;
	default:
		break;
	}
}

int do_show(const struct conf *c, char **args)
{
	struct lines in;
	struct line l;
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	struct buf path, out;
	enum lines_got got;
	int fd;

	if (c->json)
		return do_cat(c, args);
	the_log(args, true, &path);
	fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		err_sys(&e, "open the session's log %s", path.p);
		die_err(&e);
	}
	lines_init(&in, fd, LINE_MAX_BYTES);
	buf_init(&out, BUF_NOLIMIT);
	while ((got = lines_next(&in, &l)) != LINES_END) {
		if (got == LINES_NEED && lines_fill(&in, &e) < 0)
			die_err(&e);
		if (got != LINES_LINE || !l.len)
			continue;
		if (json_parse(&j, l.p, l.len, NULL) == 0)
			show(&out, &j);
		else
			warn("%s: line %lu cannot be read", path.p, l.no);
		fwrite(out.p, 1, out.len, stdout);
		buf_clear(&out);
	}
	json_free(&j);
	lines_free(&in);
	buf_free(&out);
	buf_free(&path);
	close(fd);
	return ST_OK;
}

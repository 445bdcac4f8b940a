/* each.c - the lines of some files. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "each.h"

static void one_line(struct each *e, void (*line)(struct each *, void *), void *arg)
{
	struct err why = ERR_INIT;

	e->fault[0] = 0;
	if (json_parse(&e->json, e->line.p, e->line.len, &why) < 0)
		snprintf(e->fault, sizeof e->fault, "%s", why.text);
	else if (json_type(&e->json, 0) != JSON_OBJECT)
		snprintf(e->fault, sizeof e->fault, "not an object");
	line(e, arg);
}

static int one_file(struct each *e, int fd, void (*line)(struct each *, void *), void *arg)
{
	struct err why = ERR_INIT;
	struct lines in;

	lines_init(&in, fd, LINE_MAX_BYTES);
	for (enum lines_got got; (got = lines_next(&in, &e->line)) != LINES_END;) {
		if (got == LINES_LONG) {
			snprintf(e->fault, sizeof e->fault, "longer than %zu bytes", LINE_MAX_BYTES);
			e->line.p = "";
			e->line.len = 0;
			line(e, arg);
		} else if (got == LINES_LINE && e->line.len) {
			one_line(e, line, arg);
		} else if (got == LINES_NEED && lines_fill(&in, &why) < 0) {
			warn("%s: %s", e->file, why.text);
			lines_free(&in);
			return ST_IO;
		}
	}
	lines_free(&in);
	return ST_OK;
}

int each_line(int argc, char **argv, void (*line)(struct each *, void *), void (*end)(struct each *, void *), void *arg)
{
	static char dash[] = "-", *only_stdin[] = {dash};
	struct each e = {.json = JSON_INIT};
	int status = ST_OK;

	if (argc == 0)
		argc = 1, argv = only_stdin;
	for (int i = 0; i < argc; i++) {
		bool is_stdin = !strcmp(argv[i], "-");
		int fd = is_stdin ? STDIN_FILENO : open(argv[i], O_RDONLY | O_CLOEXEC);
		struct err why = ERR_INIT;

		e.file = is_stdin ? "stdin" : argv[i];
		if (fd < 0) {
			err_sys(&why, "%s", argv[i]);
			warn("%s", why.text);
			status = status_worse(status, why.status);
			continue;
		}
		status = status_worse(status, one_file(&e, fd, line, arg));
		if (end)
			end(&e, arg);
		if (!is_stdin)
			close(fd);
	}
	json_free(&e.json);
	return status;
}

#include "agent/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "json/jw.h"
#include "proto/lines.h"
#include "sys/io.h"

static int journal_open(const char *log, int flags, struct err *e)
{
	struct buf path;
	int fd = -1;

	buf_init(&path, 8192);
	if (session_side(log, "journal", &path, e) == 0) {
		struct stat st;
		/* The directory came with the session: a FIFO there must not be waited for. */
		fd = open(path.p, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
		if (fd < 0 && errno != ENOENT) {
			err_sys(e, "open the journal %s", path.p);
		} else if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
			close(fd);
			fd = -1;
			errno = EINVAL;
			err_sys(e, "open the journal %s: not a regular file", path.p);
		}
	}
	buf_free(&path);
	return fd;
}

/* One write and its sync: the record is there, or its line has no end and does not count. */
static int put(int fd, struct buf *line, struct err *e)
{
	int r;

	if (fd < 0)
		return -1;
	buf_addc(line, '\n');
	r = io_write_all(fd, line->p, line->len, e);
	if (r == 0 && fdatasync(fd) < 0 && errno != EINVAL && errno != ENOSYS)
		r = err_sys(e, "sync the journal");
	close(fd);
	return r;
}

int journal_begin(const char *log, const char *assistant, size_t len, struct err *e)
{
	struct buf line;
	int r;

	buf_init(&line, BUF_NOLIMIT);
	buf_add(&line, assistant, len);
	r = put(journal_open(log, O_WRONLY | O_CREAT | O_TRUNC, e), &line, e);
	buf_free(&line);
	return r;
}

int journal_call(const char *log, const char *id, struct err *e)
{
	struct buf line;
	struct jw w;
	int r;

	buf_init(&line, BUF_NOLIMIT);
	w = jw_begin(&line);
	jw_obj(&w);
	jw_kstr(&w, "type", "call");
	jw_kstr(&w, "id", id);
	jw_end(&w);
	r = put(journal_open(log, O_WRONLY | O_CREAT | O_APPEND, e), &line, e);
	buf_free(&line);
	return r;
}

int journal_clear(const char *log, struct err *e)
{
	int fd = journal_open(log, O_WRONLY | O_TRUNC, e);

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	close(fd);
	return 0;
}

int journal_read(const char *log, struct journal *jr, struct err *e)
{
	int fd = journal_open(log, O_RDONLY, e), r = 0;
	struct lines in;
	struct line line;
	struct json j = JSON_INIT;
	enum lines_got got;

	*jr = (struct journal){0};
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	lines_init(&in, fd, LINE_MAX_BYTES);
	while (r == 0 && (got = lines_next(&in, &line)) != LINES_END) {
		if (got == LINES_NEED) {
			r = lines_fill(&in, e) < 0 ? -1 : 0;
			continue;
		}
		if (got != LINES_LINE || line.cut)
			break;
		if (!jr->assistant) {
			jr->assistant = xstrndup(line.p, line.len);
			jr->len = line.len;
		} else if (json_parse(&j, line.p, line.len, NULL) == 0) {
			char *id = json_dup(&j, json_get(&j, 0, "id"));

			if (id) {
				jr->calls = xrealloc(jr->calls, jr->ncalls + 1, sizeof *jr->calls);
				jr->calls[jr->ncalls++] = id;
			}
		}
	}
	json_free(&j);
	lines_free(&in);
	close(fd);
	return r;
}

void journal_free(struct journal *jr)
{
	free(jr->assistant);
	for (size_t k = 0; k < jr->ncalls; k++)
		free(jr->calls[k]);
	free(jr->calls);
	*jr = (struct journal){0};
}

/* prompt.c - what a run begins with or is joined by: the driver's prompt file and the inbox. */
#include "append.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inbox.h"
#include "agent/session.h"
#include "sys/io.h"

/* One line of the prompt file or the inbox: role user and nothing else gets in there. */
static int take_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct append *a = arg;
	struct json j = JSON_INIT;
	struct msg m = {.line = line, .len = len, .json = &j};
	int r = 0;

	if (json_parse(&j, line, len, NULL) < 0 || msg_kind(&j) != MSG_USER || msg_check(&j, NULL) < 0) {
		stage_notice(&a->st, "a line of the inbox is no user message; it was left out");
	} else {
		m.kind = MSG_USER;
		r = keep_line(&a->keep, &m, e);
		if (r > 0)
			append_made(a, a->keep.line.p, a->keep.line.len);
	}
	json_free(&j);
	return r < 0 ? -1 : 0;
}

/* What is taken out of the inbox must be on disk before it is gone there. */
int append_take(void *arg, const char *line, size_t len, struct err *e)
{
	struct append *a = arg;

	return take_line(arg, line, len, e) < 0 ? -1 : log_sync(&a->keep.log, e);
}

int append_inbox(struct append *a, bool close_it)
{
	struct err e = ERR_INIT;
	int n = inbox_take(a->path, close_it, append_take, a, &e);

	if (n < 0)
		append_log_failed(a, &e);
	a->inbox_closed |= close_it && n == 0;
	return n;
}

bool append_inbox_waits(struct append *a)
{
	struct buf path;
	struct stat st;
	bool some;

	buf_init(&path, 8192);
	some = session_side(a->path, "inbox", &path, NULL) == 0 && stat(path.p, &st) == 0 && st.st_size > 0;
	buf_free(&path);
	return some;
}

bool append_prompt_waits(void)
{
	const char *path = getenv("CLAWS_PROMPT");

	return path && *path && access(path, R_OK) == 0;
}

/* What the person said, among the files and the piped data before it: the last line of the prompt is that. */
static char *title_of(const char *p, size_t len)
{
	struct json j = JSON_INIT;
	const char *from;
	char *title = NULL;

	while (len && p[len - 1] == '\n')
		len--;
	from = memrchr(p, '\n', len);
	from = from ? from + 1 : p;
	if (json_parse(&j, from, (size_t)(p + len - from), NULL) == 0 && msg_kind(&j) == MSG_USER)
		title = json_dup(&j, json_get(&j, 0, "content"));
	json_free(&j);
	return title;
}

/* The driver's prompt: a private file of user lines, removed once it is logged. 1 if there was one. */
int append_prompt(struct append *a)
{
	const char *path = getenv("CLAWS_PROMPT");
	struct err e = ERR_INIT;
	struct buf text;
	int n = 0;

	if (!append_prompt_waits())
		return 0;
	buf_init(&text, 4 * LINE_MAX_BYTES);
	if (io_read_file(AT_FDCWD, path, &text, &e) < 0)
		append_log_failed(a, &e);
	if (a->keep.log.fresh && !a->keep.title)
		a->keep.title = title_of(text.p, text.len);
	for (char *p = text.p, *end = text.p + text.len; p < end;) {
		char *lf = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((lf ? lf : end) - p);

		if (len && take_line(a, p, len, &e) < 0)
			append_log_failed(a, &e);
		n++;
		p += len + 1;
	}
	a->prompt = path;
	a->unsynced = true;
	buf_free(&text);
	return n > 0;
}

/* After what was fed has left: while the model works the disk may too. */
void append_settle(struct append *a)
{
	struct err e = ERR_INIT;

	if (!a->unsynced)
		return;
	a->unsynced = false;
	if ((a->prompt ? log_sync(&a->keep.log, &e) : keep_sync(&a->keep, &e)) < 0)
		append_log_failed(a, &e);
	if (a->prompt)
		unlink(a->prompt);
	a->prompt = NULL;
}

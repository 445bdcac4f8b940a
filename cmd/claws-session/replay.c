/* replay.c - open --replay: what a recording of `claws --record` says of the run is laid beside the new log, for the driver:
 *
 *   replay-context   system and tools lines, instead of claws-context and claws-tool --list
 *   replay-history   messages that were there before the run
 *   replay-prompt    the user's messages that the run began with
 *   replay-model     the model as it was named
 *   blobs/           images of these messages */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "llm/record.h"
#include "proto/msg.h"
#include "session.h"
#include "sys/atomic.h"
#include "sys/blob.h"
#include "sys/io.h"

struct parts {
	struct buf context, history, prompt;
};

static void add_line(struct buf *b, const char *line, size_t n)
{
	buf_add(b, line, n);
	buf_addc(b, '\n');
}

/* The user's last messages are the prompt, unless something comes after them. */
static void sort_line(struct parts *p, const struct json *j, const char *line, size_t n)
{
	switch (msg_kind(j)) {
	case MSG_SYSTEM: case MSG_TOOLS:
		add_line(&p->context, line, n);
		break;
	case MSG_USER:
		add_line(&p->prompt, line, n);
		break;
	case MSG_ASSISTANT: case MSG_TOOL:
		buf_add(&p->history, p->prompt.p, p->prompt.len);
		buf_clear(&p->prompt);
		add_line(&p->history, line, n);
		break;
	default:
		break;
	}
}

/* A recording may be a stranger's: a regular file of the directory itself. */
static void read_conversation(int dir, const char *in, struct buf *text)
{
	struct err e = ERR_INIT;
	struct stat st;
	char name[32];
	int fd;

	if (!record_conversation(dir, name))
		die(ST_NOINPUT, "--replay: there is no NNNN-conversation.ndjson in %s: claws --record makes one", in);
	fd = io_open_beneath(dir, name, O_RDONLY, 0, &e);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
		die(ST_DATA, "--replay: %s/%s is no regular file", in, name);
	if (fd < 0 || io_read_all(fd, text, &e) < 0) {
		err_wrap(&e, "--replay: %s/%s", in, name);
		die_err(&e);
	}
	close(fd);
}

static void put(int side, const char *name, const struct buf *b)
{
	struct err e = ERR_INIT;

	if (atomic_write(side, name, b->p ? b->p : "", b->len, 0600, &e) < 0)
		die_err(&e);
}

static void put_model(int side, const struct json *j)
{
	char *model = json_dup(j, json_get(j, 0, "model"));
	struct buf b;

	buf_init(&b, 4096);
	for (const char *p = model ? model : ""; *p; p++)
		if ((unsigned char)*p > ' ' && *p != 0x7f)
			buf_addc(&b, *p);
	buf_addc(&b, '\n');
	put(side, "replay-model", &b);
	buf_free(&b);
	free(model);
}

/* Those whose name is the digest of what is in them. */
static void copy_blobs(int dir, const char *log)
{
	int from = openat(dir, "blobs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), to;
	DIR *list = from < 0 ? NULL : fdopendir(from);
	struct err e = ERR_INIT;
	struct dirent *d;

	if (!list)
		return;
	if ((to = session_blobs(log, &e)) < 0)
		die_err(&e);
	while ((d = readdir(list))) {
		char name[BLOB_NAME + 8], made[BLOB_NAME];
		struct buf bytes;

		if (strncmp(d->d_name, "sha256-", 7) != 0 || strlen(d->d_name) >= BLOB_NAME)
			continue;
		snprintf(name, sizeof name, "sha256:%s", d->d_name + 7);
		buf_init(&bytes, (size_t)64 << 20);
		if (blob_get(dirfd(list), name, &bytes, &e) < 0 || blob_put(to, bytes.p, bytes.len, made, &e) < 0) {
			err_wrap(&e, "--replay: blobs/%s", d->d_name);
			die_err(&e);
		}
		buf_free(&bytes);
	}
	closedir(list);
	close(to);
}

static void lay_out(const char *in, const char *log, const struct buf *text)
{
	struct parts p;
	struct json j = JSON_INIT;
	struct buf path;
	struct err e = ERR_INIT;
	unsigned long no = 0;
	int side;

	buf_init(&path, 8192);
	if (session_side(log, "", &path, &e) < 0 || (side = open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		die(ST_IO, "open %s: %s", path.p, e.text[0] ? e.text : strerror(errno));
	buf_init(&p.context, BUF_NOLIMIT);
	buf_init(&p.history, BUF_NOLIMIT);
	buf_init(&p.prompt, BUF_NOLIMIT);
	for (const char *s = text->p, *end = text->p + text->len; s < end;) {
		const char *lf = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((lf ? lf : end) - s);

		no++;
		if (n && json_parse(&j, s, n, &e) < 0)
			die(ST_DATA, "--replay: the conversation in %s, line %lu: %s", in, no, e.text);
		if (no == 1)
			put_model(side, &j);
		else if (n)
			sort_line(&p, &j, s, n);
		s += n + 1;
	}
	put(side, "replay-context", &p.context);
	put(side, "replay-history", &p.history);
	put(side, "replay-prompt", &p.prompt);
	buf_free(&p.context);
	buf_free(&p.history);
	buf_free(&p.prompt);
	buf_free(&path);
	json_free(&j);
	close(side);
}

void replay_lay_out(const char *in, const char *log)
{
	int dir = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct buf text;

	if (dir < 0)
		die(errno == ENOENT || errno == ENOTDIR ? ST_NOINPUT : ST_IO, "--replay: open directory %s: %s", in, strerror(errno));
	buf_init(&text, RECORD_MAX);
	read_conversation(dir, in, &text);
	lay_out(in, log, &text);
	copy_blobs(dir, log);
	buf_free(&text);
	close(dir);
}

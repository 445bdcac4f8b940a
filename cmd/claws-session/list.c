/* list.c - what sessions there are. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "here.h"
#include "json/jw.h"
#include "proto/msg.h"
#include "session.h"
#include "sys/term.h"

#define TAIL_BYTES 65536   /* the last run_done is among the log's last lines */

void here_init(struct here *h)
{
	struct stat st;

	h->cwd = getcwd(NULL, 0);
	h->dir[0] = 0;
	if (stat(".", &st) == 0)
		snprintf(h->dir, sizeof h->dir, "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
}

bool here_is(const struct here *h, const struct log_head *head)
{
	struct stat st;

	if (head->cwd && h->cwd && !strcmp(head->cwd, h->cwd))
		return true;
	/* Same inode counts only if the old name is gone: inodes of removed directories are used again. */
	return head->dir && h->dir[0] && !strcmp(head->dir, h->dir) && head->cwd && stat(head->cwd, &st) < 0;
}

void here_free(struct here *h)
{
	free(h->cwd);
}

struct last_run {
	int64_t exit;          /* -1: none recorded */
	struct buf error;
};

static void read_tail(const char *path, off_t size, struct last_run *r)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct json j = JSON_INIT;
	char *part = malloc(TAIL_BYTES);
	off_t from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
	ssize_t n;

	r->exit = -1;
	buf_init(&r->error, 4096);
	n = fd >= 0 && part ? pread(fd, part, TAIL_BYTES, from) : 0;
	for (ssize_t end = n; end > 0;) {
		ssize_t start = end - 1;

		while (start > 0 && part[start - 1] != '\n')
			start--;
		if (json_parse(&j, part + start, (size_t)(end - start), NULL) == 0 && msg_kind(&j) == MSG_RUN_DONE) {
			json_i64(&j, json_get(&j, 0, "exit"), &r->exit);
			json_str(&j, json_get(&j, 0, "error"), &r->error);
			break;
		}
		end = start;
	}
	json_free(&j);
	free(part);
	if (fd >= 0)
		close(fd);
}

struct row {
	struct timespec changed;
	struct buf text;
};

struct listing {
	const struct conf *conf;
	struct here here;
	struct row *rows;
	size_t n;
};

static void row_json(struct buf *out, const char *id, const char *path, const struct log_head *h, const struct stat *st,
                     const struct last_run *r)
{
	struct jw w = jw_begin(out);

	jw_obj(&w);
	jw_kstr(&w, "id", id);
	jw_kstr(&w, "path", path);
	jw_kstr(&w, "cwd", h->cwd);
	jw_kstr(&w, "title", h->title);
	jw_kstr(&w, "starter", h->starter ? h->starter : "user");
	jw_ki64(&w, "created", h->ts);
	jw_ki64(&w, "changed", (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000);
	jw_ki64(&w, "bytes", (int64_t)st->st_size);
	if (r->exit >= 0)
		jw_ki64(&w, "exit", r->exit);
	if (r->error.len)
		jw_kstrn(&w, "error", r->error.p, r->error.len);
	jw_end(&w);
	buf_addc(out, '\n');
}

static void row_text(struct buf *out, bool all, const char *id, const struct log_head *h, const struct stat *st,
                     const struct last_run *r)
{
	char when[32];
	struct tm tm;

	localtime_r(&st->st_mtim.tv_sec, &tm);
	strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
	term_safe(out, id, strlen(id), TERM_ONE_LINE);
	buf_addf(out, "  %s  ", when);
	if (r->exit > 0) {
		buf_addf(out, "error %d: ", (int)r->exit);
		term_safe(out, r->error.len ? r->error.p : status_text((int)r->exit),
		          r->error.len ? r->error.len : strlen(status_text((int)r->exit)), TERM_ONE_LINE);
		buf_adds(out, "  ");
	}
	if (all && h->cwd) {
		term_safe(out, h->cwd, strlen(h->cwd), TERM_ONE_LINE);
		buf_adds(out, "  ");
	}
	if (h->title)
		term_safe(out, h->title, strlen(h->title), TERM_ONE_LINE);
	buf_addc(out, '\n');
}

static int row(void *arg, const char *id, const char *path)
{
	struct listing *l = arg;
	bool all = l->conf->all;
	struct log_head h;
	struct last_run r;
	struct stat st;
	struct row *new;

	if (stat(path, &st) < 0)
		return 0;
	if (log_head(path, &h, NULL) < 0 && !all)
		return 0;
	if (all || (here_is(&l->here, &h) && (!h.starter || !strcmp(h.starter, "user")))) {
		read_tail(path, st.st_size, &r);
		l->rows = xrealloc(l->rows, l->n + 1, sizeof *l->rows);
		new = &l->rows[l->n++];
		new->changed = st.st_mtim;
		buf_init(&new->text, BUF_NOLIMIT);
		if (l->conf->json)
			row_json(&new->text, id, path, &h, &st, &r);
		else
			row_text(&new->text, all, id, &h, &st, &r);
		buf_free(&r.error);
	}
	log_head_free(&h);
	return 0;
}

static int newest_first(const void *va, const void *vb)
{
	const struct timespec *a = &((const struct row *)va)->changed, *b = &((const struct row *)vb)->changed;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? 1 : -1;
	return (a->tv_nsec < b->tv_nsec) - (a->tv_nsec > b->tv_nsec);
}

int do_list(const struct conf *c, char **args)
{
	struct listing l = {.conf = c};
	struct err e = ERR_INIT;

	if (args[0])
		opt_usage(&spec, "list takes no operand '%s'", args[0]);
	here_init(&l.here);
	if (session_each(row, &l, &e) < 0)
		die_err(&e);
	if (l.n)
		qsort(l.rows, l.n, sizeof *l.rows, newest_first);
	for (size_t k = 0; k < l.n; k++) {
		fwrite(l.rows[k].text.p, 1, l.rows[k].text.len, stdout);
		buf_free(&l.rows[k].text);
	}
	free(l.rows);
	here_free(&l.here);
	return ST_OK;
}

#include "agent/instructions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/instructions_import.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/dirs.h"
#include "sys/io.h"

void instructions_free(struct instructions *in)
{
	for (size_t i = 0; i < in->n; i++) {
		free(in->v[i].path);
		buf_free(&in->v[i].text);
	}
	free(in->v);
	if (in->refused.p)
		buf_free(&in->refused);
	memset(in, 0, sizeof *in);
}

static void refuse(struct instructions *in, const char *path, const char *why)
{
	if (!in->refused.p)
		buf_init(&in->refused, 16 << 10);
	buf_addf(&in->refused, "%s: not read: %s\n", path, why);
}

bool instructions_root(const char *dir, struct buf *root)
{
	char path[PATH_MAX + 8];
	struct stat st;

	buf_clear(root);
	buf_adds(root, dir);
	for (size_t n = strlen(dir); n > 0 && n < PATH_MAX;) {
		memcpy(path, dir, n);
		memcpy(path + n, "/.git", 6);
		if (lstat(path, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))) {
			buf_truncate(root, n);
			return true;
		}
		while (n > 0 && dir[n - 1] != '/')
			n--;
		while (n > 1 && dir[n - 1] == '/')
			n--;
		if (n == 1) {   /* the root directory has been looked at only if dir is it */
			if (lstat("/.git", &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))) {
				buf_truncate(root, 1);
				return true;
			}
			break;
		}
	}
	return false;
}

/* Why this open file must not be believed; NULL: it may be read. */
static const char *unfit(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "not a regular file";
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "belongs to another user";
	if (st->st_mode & S_IWOTH)
		return "everybody may write to it";
	return NULL;
}

static bool have(const struct instructions *in, const struct stat *st)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->v[i].ino == (uint64_t)st->st_ino && in->v[i].dev == (uint64_t)st->st_dev)
			return true;
	return false;
}

/* Up to INSTRUCTIONS_MAX bytes; NULL, or why not. */
static const char *read_text(int fd, struct buf *out)
{
	struct buf raw;
	ssize_t n = 1;

	buf_init(&raw, INSTRUCTIONS_MAX);
	while (n > 0 && raw.len < INSTRUCTIONS_MAX) {
		char *p = buf_room(&raw, INSTRUCTIONS_MAX - raw.len);
		do
			n = read(fd, p, INSTRUCTIONS_MAX - raw.len);
		while (n < 0 && errno == EINTR);
		if (n > 0)
			raw.len += (size_t)n;
	}
	buf_term(&raw);
	const char *why = n < 0 ? strerror(errno) : memchr(raw.p, 0, raw.len) ? "not text" : NULL;
	if (!why)
		utf8_repair(out, raw.p, n > 0 ? utf8_cut(raw.p, raw.len) : raw.len);
	buf_free(&raw);
	return why;
}

int instructions_take(struct instructions *in, int fd, const char *shown, bool user, int depth)
{
	struct stat st;
	struct buf text;
	const char *why;

	if (fstat(fd, &st) < 0)
		why = strerror(errno);
	else
		why = unfit(&st);
	if (!why && have(in, &st))
		return 0;
	if (!why && in->n == INSTRUCTIONS_FILES)
		why = "too many files";
	buf_init(&text, INSTRUCTIONS_MAX * 4);
	if (!why)
		why = read_text(fd, &text);
	if (why) {
		refuse(in, shown, why);
		buf_free(&text);
		return -1;
	}
	in->v = xrealloc(in->v, in->n + 1, sizeof *in->v);
	in->v[in->n++] = (struct instruction){.path = xstrdup(shown), .user = user, .depth = depth, .text = text,
	                                      .size = (uint64_t)st.st_size, .dev = (uint64_t)st.st_dev,
	                                      .ino = (uint64_t)st.st_ino};
	return 1;
}

/* The file rel beneath root: 1 taken (its imports too), 0 not there or had already, -1 refused. */
int instructions_beneath(struct instructions *in, int root, const char *rel, const char *shown, bool user, int depth)
{
	struct err e = ERR_INIT;
	int fd = io_open_beneath(root, rel, O_RDONLY, 0, &e), got;

	if (fd < 0) {
		if (e.sys == ENOENT || e.sys == ENOTDIR || e.sys == ENAMETOOLONG)
			return 0;
		refuse(in, shown, e.sys == ELOOP ? "a symbolic link" : e.sys == EXDEV ? "leads out of the project" : strerror(e.sys));
		return -1;
	}
	got = instructions_take(in, fd, shown, user, depth);
	close(fd);
	if (got > 0)
		instructions_imports(in, in->n - 1, root, rel);
	return got;
}

static void user_file(struct instructions *in, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int got;

	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			refuse(in, path, strerror(errno));
		return;
	}
	got = instructions_take(in, fd, path, true, 0);
	close(fd);
	if (got <= 0)
		return;
	const char *base = strrchr(path, '/') + 1;
	char *dir = xstrndup(path, (size_t)(base - path));
	int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0) {
		instructions_imports(in, in->n - 1, root, base);
		close(root);
	}
	free(dir);
}

int instructions_user(struct instructions *in, struct err *e)
{
	const char *home = getenv("HOME");
	struct buf p;

	buf_init(&p, PATH_MAX);
	if (dirs_config_path(&p, "AGENTS.md", e) < 0) {
		buf_free(&p);
		return -1;
	}
	user_file(in, p.p);
	if (home && *home == '/') {
		buf_clear(&p);
		buf_addf(&p, "%s/.claude/CLAUDE.md", home);
		user_file(in, p.p);
	}
	buf_free(&p);
	return 0;
}

static void directory(struct instructions *in, int root, const char *rel)
{
	static const char *const names[] = {"AGENTS.override.md", "AGENTS.md", "CLAUDE.md"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		int n = snprintf(path, sizeof path, "%s%s%s", rel, *rel ? "/" : "", names[i]);
		if (n < 0 || (size_t)n >= sizeof path || instructions_beneath(in, root, path, path, false, 0) > 0)
			return;
	}
}

int instructions_project(struct instructions *in, const char *root, const char *cwd, struct err *e)
{
	size_t n = strlen(root);
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "%s", root);
	directory(in, fd, "");
	if (strncmp(cwd, root, n) == 0 && (cwd[n] == '/' || (n == 1 && cwd[1]))) {
		char *rel = xstrdup(cwd + n + (cwd[n] == '/'));
		for (char *p = rel; p; p++) {
			char *end = strchr(p, '/');
			if (end)
				*end = 0;
			if (*rel)
				directory(in, fd, rel);
			if (!end)
				break;
			*end = '/';
			p = end;
		}
		free(rel);
	}
	close(fd);
	return 0;
}

/* The user's own first, then what is nearest: that is what has to stay when there is too much. */
void instructions_budget(struct instructions *in)
{
	size_t left = INSTRUCTIONS_MAX;

	for (int pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < in->n; k++) {
			struct instruction *f = &in->v[pass ? in->n - 1 - k : k];
			if (f->user != (pass == 0))
				continue;
			if (f->text.len > left)
				buf_truncate(&f->text, utf8_cut(f->text.p, left));
			left -= f->text.len;
		}
}

#include "tools/fsguard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "tools/fslink.h"

#define LINKS_MAX 40          /* as the kernel's MAXSYMLINKS */
#define STEPS_MAX 8192
#define PROC_MAGIC 0x9fa0     /* statfs(2): PROC_SUPER_MAGIC */

/* A walk from "/": `done` is resolved and is where `dir` is ("" is the root); `rest` is still to go. */
struct walk {
	int dir;
	struct buf done, rest;
	int links, steps;
	void (*judge)(void *arg, const char *path);   /* told every spelling that turns up; may be NULL */
	void *arg;
	bool writing;
	char *git_dir;         /* the last directory on the way that is a git directory, or would become one */
};

static int again_from_root(struct walk *w)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	close(w->dir);
	w->dir = fd;
	buf_clear(&w->done);
	free(w->git_dir);
	w->git_dir = NULL;
	return 0;
}

static void judge(struct walk *w, const char *path)
{
	if (w->judge)
		w->judge(w->arg, path);
}

/* Would `dir`, once it has the entry `next`, be a directory that git takes for a repository (setup.c, is_git_directory)?
 * Then its config and hooks are run by a git command in it, so that all of it is as protected as .git. */
static bool looks_like_git(int dir, const char *next)
{
	static const char *const names[] = {"HEAD", "objects", "refs", "commondir"};
	bool has[4];
	for (int i = 0; i < 4; i++)
		has[i] = strcasecmp(next, names[i]) == 0 || faccessat(dir, names[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	return has[0] && ((has[1] && has[2]) || has[3]);
}

/* ".." is the parent of what is resolved, and is walked to again from the root, as is the target of a link. */
static int go_up(struct walk *w)
{
	char *slash = strrchr(w->done.p, '/');
	if (slash)
		buf_truncate(&w->done, (size_t)(slash - w->done.p));
	buf_addc(&w->done, '/');
	buf_insert(&w->rest, 0, w->done.p, w->done.len);
	return again_from_root(w);
}

static int follow(struct walk *w, int link, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof target - 1);
	if (n < 0)
		return -1;
	target[n] = '\0';
	if (++w->links > LINKS_MAX) {
		errno = ELOOP;
		return -1;
	}
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	buf_addf(&b, "%s/%s/%s", w->done.p, name, w->rest.p);
	judge(w, b.p);
	buf_clear(&b);
	buf_addf(&b, w->rest.len ? "%s/" : "%s", target);
	buf_insert(&w->rest, 0, b.p, b.len);
	if (target[0] != '/') {
		buf_clear(&b);
		buf_addf(&b, "%s/%s", w->done.p, w->rest.p);
		judge(w, b.p);
	} else {
		judge(w, w->rest.p);
	}
	buf_free(&b);
	return target[0] == '/' ? again_from_root(w) : 0;
}

/* Nothing called `name` here: the rest must be plain names, for they may have to be made. */
static int ends_missing(struct walk *w, const char *name, struct fs_at *at)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&b, name);
	for (char *p = w->rest.p; *p;) {
		size_t n = strcspn(p, "/");
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			buf_free(&b);
			errno = ENOENT;
			return -1;
		}
		if (n > 0 && !(n == 1 && p[0] == '.')) {
			buf_addc(&b, '/');
			buf_add(&b, p, n);
		}
		p += n + (p[n] == '/');
	}
	at->path = xasprintf("%s/%s", w->done.p, b.p);
	at->missing = buf_detach(&b);
	return 0;
}

/* One component. 1: the walk is over. */
static int step(struct walk *w, struct fs_at *at)
{
	size_t n = strcspn(w->rest.p, "/");
	char name[NAME_MAX + 1];
	if (n > NAME_MAX || ++w->steps > STEPS_MAX) {
		errno = n > NAME_MAX ? ENAMETOOLONG : ELOOP;
		return -1;
	}
	memcpy(name, w->rest.p, n);
	name[n] = '\0';
	bool more = w->rest.p[n] == '/';
	buf_cut(&w->rest, n + more);
	if (n == 0 || !strcmp(name, "."))
		return 0;
	if (!strcmp(name, ".."))
		return go_up(w);
	if (w->writing && looks_like_git(w->dir, name)) {
		free(w->git_dir);
		w->git_dir = xstrdup(w->done.p);
	}
	int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && ends_missing(w, name, at) == 0 ? 1 : -1;
	if (fstat(fd, &at->st) < 0) {
		close(fd);
		return -1;
	}
	if (S_ISLNK(at->st.st_mode)) {
		int r = follow(w, fd, name);
		close(fd);
		return r;
	}
	if (S_ISDIR(at->st.st_mode)) {
		close(w->dir);
		w->dir = fd;
		buf_addf(&w->done, "/%s", name);
		return 0;
	}
	if (more) {
		close(fd);
		errno = ENOTDIR;
		return -1;
	}
	at->fd = fd;
	at->name = xstrdup(name);
	at->path = xasprintf("%s/%s", w->done.p, name);
	return 1;
}

/* Fills at from the absolute path; 0 or -1 with errno. */
static int resolve(struct walk *w, const char *path, struct fs_at *at)
{
	int r = 0;
	memset(at, 0, sizeof *at);
	at->dir = at->fd = -1;
	buf_init(&w->done, BUF_NOLIMIT);
	buf_init(&w->rest, BUF_NOLIMIT);
	buf_adds(&w->rest, path);
	judge(w, path);
	w->dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->dir < 0)
		r = -1;
	while (r == 0 && w->rest.len > 0)
		r = step(w, at);
	if (r == 0) {                       /* it ended in a directory */
		at->fd = fcntl(w->dir, F_DUPFD_CLOEXEC, 3);
		if (at->fd < 0 || fstat(at->fd, &at->st) < 0)
			r = -1;
		at->path = xstrdup(w->done.len ? w->done.p : "/");
	}
	at->dir = w->dir;
	buf_free(&w->done);
	buf_free(&w->rest);
	return r < 0 ? -1 : 0;
}

/* Length of root if path lies in it, else 0. "/" counts 1. */
static size_t within(const char *path, const char *root)
{
	size_t n = strlen(root);
	while (n > 1 && root[n - 1] == '/')
		n--;
	if (n == 1)
		return 1;
	return strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0') ? n : 0;
}

struct roots {
	struct fsnames names;
	char **real;            /* resolved roots, NULL-terminated */
	char *blobs;            /* resolved, or NULL */
	const struct tool_ctx *c;
	enum fs_want want;
	const char *why;        /* what the names said against it; a refusal counts more than a protection */
	bool refused;
};

static char *real_dir(const char *path)
{
	struct walk w = {0};
	struct fs_at at;
	char *real = NULL;
	if (resolve(&w, path, &at) == 0 && at.fd >= 0)
		real = xstrdup(at.path);
	fs_close(&at);
	free(w.git_dir);
	return real;
}

static void roots_init(struct roots *r, const struct tool_ctx *c, enum fs_want want)
{
	size_t n = 0;
	memset(r, 0, sizeof *r);
	fsnames_init(&r->names);
	r->c = c;
	r->want = want;
	while (c->roots[n])
		n++;
	r->real = xcalloc(n + 1, sizeof *r->real);
	for (size_t i = 0, k = 0; i < n; i++)
		if ((r->real[k] = real_dir(c->roots[i])))
			k++;
	if (c->blob_path)
		r->blobs = real_dir(c->blob_path);
}

static void roots_free(struct roots *r)
{
	fsnames_free(&r->names);
	for (size_t i = 0; r->real[i]; i++)
		free(r->real[i]);
	free(r->real);
	free(r->blobs);
}

/* The longest root that holds path, resolved or as spelled. */
static size_t root_of(const struct roots *r, const char *path, bool spelled)
{
	size_t best = 0, n;
	for (size_t i = 0; r->real[i]; i++)
		if ((n = within(path, r->real[i])) > best)
			best = n;
	for (size_t i = 0; spelled && r->c->roots[i]; i++)
		if ((n = within(path, r->c->roots[i])) > best)
			best = n;
	return best;
}

static void judge_name(void *arg, const char *path)
{
	struct roots *r = arg;
	const char *why;
	if (r->refused)
		return;
	if ((why = fsname_refused(&r->names, path))) {
		r->refused = true;
		r->why = why;
	} else if (r->want == FS_WRITE && !r->why) {
		r->why = fsname_protected(&r->names, path, root_of(r, path, true));
	}
}

static void name_roots(const struct tool_ctx *c, struct buf *b)
{
	for (size_t i = 0; c->roots[i]; i++)
		buf_addf(b, "%s%s", i ? ", " : "", c->roots[i]);
}

static enum fs_verdict refuse(struct err *e, const char *path, const char *why)
{
	err_set(e, ST_FAILED, "%s: refused: %s", path, why);
	return FS_REFUSED;
}

/* What only the file itself tells: its type, its file system, its other names. NULL or why; *v FS_REFUSED or FS_PROTECTED. */
static const char *judge_file(struct roots *r, const struct fs_at *at, enum fs_verdict *v)
{
	struct statfs fs;
	*v = FS_REFUSED;
	if (!S_ISREG(at->st.st_mode))
		return S_ISFIFO(at->st.st_mode) ? "it is a FIFO" : S_ISSOCK(at->st.st_mode) ? "it is a socket" : "it is a device";
	if (fstatfs(at->dir, &fs) == 0 && fs.f_type == PROC_MAGIC && fsname_proc_secret(at->name))
		return "it shows a process's environment, memory or open files";
	if (at->st.st_nlink < 2)
		return NULL;
	struct fslinks links = {0};
	fslinks_load(&links, &r->names, (const char *const *)r->real);
	enum fslink found = fslinks_find(&links, &at->st);
	fslinks_free(&links);
	if (found == FSLINK_REFUSED)
		return "it is a hard link to a file with credentials";
	*v = FS_PROTECTED;
	if (r->want == FS_WRITE && found == FSLINK_PROTECTED)
		return "it is a hard link to a protected file";
	if (r->want == FS_WRITE && found == FSLINK_UNKNOWN)
		return "it has other names, and they are too many to be checked";
	return NULL;
}

static enum fs_verdict outside(const struct tool_ctx *c, const char *path, struct err *e)
{
	struct buf b;
	buf_init(&b, 600);
	name_roots(c, &b);
	err_set(e, ST_FAILED, "%s: outside the directories that tools may touch (%s); the user can add one with --add-dir DIR",
		path, b.p);
	buf_free(&b);
	return FS_OUTSIDE;
}

static enum fs_verdict verdict(struct roots *r, struct walk *w, struct fs_at *at, struct err *e)
{
	enum fs_verdict v;
	judge_name(r, at->path);
	if (r->refused)
		return refuse(e, at->path, r->why);
	at->root_len = root_of(r, at->path, false);
	const char *why = r->why;
	bool blob = r->want == FS_READ && r->blobs && within(at->path, r->blobs);
	if (at->root_len == 0 && !blob)
		return outside(r->c, at->path, e);
	if (at->name && at->fd >= 0) {
		const char *file = judge_file(r, at, &v);
		if (file && v == FS_REFUSED)
			return refuse(e, at->path, file);
		if (!why)
			why = file;
	}
	if (!why && r->want == FS_WRITE && w->git_dir && strlen(w->git_dir) + 1 >= at->root_len)
		why = "it lies in a git directory, and git runs what stands there";
	if (!why || r->want == FS_READ)
		return FS_OK;
	err_set(e, ST_FAILED, "%s: protected from writing: %s", at->path, why);
	return FS_PROTECTED;
}

static char *absolute(const struct tool_ctx *c, const char *path)
{
	const char *home = getenv("HOME");
	if (path[0] == '/')
		return xstrdup(path);
	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && home && home[0] == '/')
		return xasprintf("%s%s", home, path + 1);
	return xasprintf("%s/%s", c->cwd, path);
}

enum fs_verdict fs_look(const struct tool_ctx *c, const char *path, enum fs_want want, struct fs_at *at, struct err *e)
{
	enum fs_verdict v;
	memset(at, 0, sizeof *at);
	at->dir = at->fd = -1;
	if (!*path || strlen(path) >= PATH_MAX) {
		err_set(e, ST_FAILED, *path ? "the path is too long" : "the path is empty");
		return FS_REFUSED;
	}
	struct roots r;
	roots_init(&r, c, want);
	struct walk w = {.judge = judge_name, .arg = &r, .writing = want == FS_WRITE};
	char *abs = absolute(c, path);
	if (resolve(&w, abs, at) < 0) {
		int sys = errno;
		if (r.refused) {
			v = refuse(e, abs, r.why);
		} else if (root_of(&r, abs, true) == 0) {
			v = outside(c, abs, e);   /* nothing is told about what lies elsewhere */
		} else {
			errno = sys;
			err_sys(e, "%s", path);
			v = FS_REFUSED;
		}
	} else {
		v = verdict(&r, &w, at, e);
	}
	free(abs);
	free(w.git_dir);
	roots_free(&r);
	return v;
}

enum fs_verdict fs_check(const struct tool_ctx *c, const char *path, enum fs_want want, struct err *e)
{
	struct fs_at at;
	enum fs_verdict v = fs_look(c, path, want, &at, e);
	fs_close(&at);
	return v;
}

int fs_admit(const struct tool_ctx *c, const char *path, enum fs_want want, struct fs_at *at, struct err *e)
{
	enum fs_verdict v = fs_look(c, path, want, at, e);
	/* What was allowed is that one file: a link that has been turned meanwhile must not lead to its neighbour. */
	if (c->judged && at->path && strcmp(c->judged, at->path)) {
		err_clear(e);
		err_set(e, ST_FAILED, "%s: it led to %s when it was judged, and does no more; try again", path, c->judged);
		fs_close(at);
		return -1;
	}
	if (v == FS_OK || (v == FS_PROTECTED && c->protected_ok)) {
		err_clear(e);
		return 0;
	}
	fs_close(at);
	return -1;
}

void fs_close(struct fs_at *at)
{
	if (at->dir >= 0)
		close(at->dir);
	if (at->fd >= 0)
		close(at->fd);
	free(at->path);
	free(at->name);
	free(at->missing);
	memset(at, 0, sizeof *at);
	at->dir = at->fd = -1;
}

int fs_open(const struct fs_at *at, struct err *e)
{
	struct stat st;
	if (!at->name || at->fd < 0)
		return err_set(e, ST_FAILED, "%s: not a regular file", at->path);
	/* O_NONBLOCK: should a FIFO have taken the name meanwhile, opening it must not wait for a writer. */
	int fd = openat(at->dir, at->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "%s", at->path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_dev != at->st.st_dev || st.st_ino != at->st.st_ino) {
		close(fd);
		return err_set(e, ST_FAILED, "%s: was replaced while it was being opened; try again", at->path);
	}
	return fd;
}

int fs_make_parents(struct fs_at *at, struct err *e)
{
	if (!at->missing)
		return 0;
	char *p = at->missing, *slash;
	for (; (slash = strchr(p, '/')); p = slash + 1) {
		*slash = '\0';
		int made = mkdirat(at->dir, p, 0777);
		int fd = made == 0 || errno == EEXIST ? openat(at->dir, p, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (fd < 0)
			return err_sys(e, "%s: cannot make the directory '%s'", at->path, p);
		close(at->dir);
		at->dir = fd;
	}
	at->name = xstrdup(p);
	free(at->missing);
	at->missing = NULL;
	return 0;
}

const char *fs_short(const struct tool_ctx *c, const char *path)
{
	size_t n = within(path, c->cwd);
	if (n <= 1 || !path[n])
		return path;
	return path + n + 1;
}

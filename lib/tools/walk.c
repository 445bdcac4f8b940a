#include "tools/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sys/io.h"

struct name {
	char *s;
	enum walk_type type;
};

static enum walk_type type_of(int dir, const struct dirent *d)
{
	struct stat st;
	switch (d->d_type) {
	case DT_REG: return WALK_FILE;
	case DT_DIR: return WALK_DIR;
	case DT_LNK: return WALK_LINK;
	case DT_UNKNOWN: break;
	default: return WALK_OTHER;
	}
	if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return WALK_OTHER;
	return S_ISREG(st.st_mode) ? WALK_FILE : S_ISDIR(st.st_mode) ? WALK_DIR : S_ISLNK(st.st_mode) ? WALK_LINK : WALK_OTHER;
}

/* By bytes of the path: a directory stands where its "name/" does. */
static int compare(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	const unsigned char *s = (const unsigned char *)x->s, *t = (const unsigned char *)y->s;
	while (*s && *s == *t)
		s++, t++;
	int c = *s ? *s : x->type == WALK_DIR ? '/' : 0, d = *t ? *t : y->type == WALK_DIR ? '/' : 0;
	return c - d;
}

static size_t list(struct walk *w, DIR *d, struct name **out)
{
	size_t n = 0, cap = 0;
	*out = NULL;
	for (struct dirent *x; (x = readdir(d));) {
		if (!strcmp(x->d_name, ".") || !strcmp(x->d_name, ".."))
			continue;
		if (++w->entries > WALK_ENTRIES) {
			w->too_many = true;
			break;
		}
		if (n == cap)
			*out = xrealloc(*out, cap = cap ? cap * 2 : 64, sizeof **out);
		(*out)[n++] = (struct name){xstrdup(x->d_name), type_of(dirfd(d), x)};
	}
	if (n > 1)
		qsort(*out, n, sizeof **out, compare);
	return n;
}

static bool left_out(struct walk *w, const struct walk_entry *x, const struct ignore *ig)
{
	static const char *const always[] = {".git", ".hg", ".svn", ".jj", "node_modules"};
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		if (!strcmp(x->name, always[i]) && !(w->keep && globs_names(w->keep, x->name)))
			return w->skipped += !strcmp(x->name, "node_modules"), true;
	if (w->ignore && ignore_match(ig, x->path, x->type == WALK_DIR)) {
		if (w->ignored++ == 0)
			w->first_ignored = xstrdup(x->rel);
		return true;
	}
	if (fsname_refused(&w->names, x->path))
		return w->refused++, true;
	if (w->c && w->c->denied && w->c->denied(w->c->denied_arg, x->path))
		return w->denied++, true;
	return false;
}

/* File systems of the kernel's own, whose files have no end or side effects: magic numbers of statfs(2). */
static bool synthetic(int dir)
{
	struct statfs fs;
	static const long magic[] = {0x9fa0 /* proc */, 0x62656572 /* sysfs */, 0x64626720 /* debugfs */, 0x74726163 /* tracefs */,
		0x27e0eb /* cgroup */, 0x63677270 /* cgroup2 */, 0x1cd1 /* devpts */, 0xcafe4a11 /* bpf */,
		0x73636673 /* securityfs */, 0xf97cff8c /* selinux */, 0x62656570 /* configfs */};
	if (fstatfs(dir, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
		if ((unsigned long)fs.f_type == (unsigned long)magic[i])
			return true;
	return false;
}

static int walk_dir(struct walk *w, int fd, size_t depth, const struct ignore *up);

static int visit(struct walk *w, int dir, const struct name *n, size_t depth, const struct ignore *ig)
{
	size_t len = w->path.len;
	int r = 0;
	if (w->deadline && io_now_ms() > w->deadline)
		return w->late = true, 1;
	if (buf_addf(&w->path, "/%s", n->s) < 0) {
		buf_truncate(&w->path, len);
		return w->unreadable++, 0;
	}
	struct walk_entry x = {w->path.p, w->path.p + w->start_len + 1, depth, dir, n->s, n->type};
	if (!left_out(w, &x, ig)) {
		r = w->found(w->arg, &x);
		if (r == 0 && n->type == WALK_DIR) {
			int fd = depth >= WALK_DEPTH ? -1 :
				openat(dir, n->s, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
			if (fd < 0)
				w->unreadable++;
			else
				r = walk_dir(w, fd, depth + 1, ig);
		}
	}
	buf_truncate(&w->path, len);
	return r == 1;
}

/* The entries of fd, which is closed. */
static int walk_dir(struct walk *w, int fd, size_t depth, const struct ignore *up)
{
	struct name *names;
	DIR *d = synthetic(fd) ? NULL : fdopendir(fd);
	if (!d) {
		close(fd);
		w->unreadable++;
		return 0;
	}
	struct ignore *own = w->ignore ? ignore_load(up, fd, w->path.len ? w->path.p : "/") : NULL;
	size_t n = list(w, d, &names);
	int r = 0;
	for (size_t i = 0; i < n; i++) {
		if (r == 0)
			r = visit(w, fd, &names[i], depth, own ? own : up);
		free(names[i].s);
	}
	free(names);
	ignore_free(own);
	closedir(d);
	return r || w->too_many;
}

static bool has_git(const char *dir)
{
	char *p = xasprintf("%s/.git", dir);
	bool yes = access(p, F_OK) == 0;
	free(p);
	return yes;
}

/* Rules of the directories above the start: from the nearest with a .git, or the root, down. *all are to be freed. */
static struct ignore *from_above(const struct fs_at *at, struct ignore *all[WALK_DEPTH], size_t *n)
{
	struct ignore *ig = NULL;
	char *path = xstrdup(at->path);
	size_t len = strlen(path), top = at->root_len, i;
	*n = 0;
	if (top == 0 || (top == 1 && path[0] == '/') || has_git(path)) {
		free(path);
		return NULL;
	}
	for (i = len; i > top; i--)                 /* upwards: where to begin */
		if (path[i - 1] == '/') {
			char *dir = xstrndup(path, i - 1);
			bool stop = i - 1 <= top || has_git(dir);
			free(dir);
			if (stop)
				break;
		}
	for (i = i > top ? i - 1 : top; i < len && *n < WALK_DEPTH; i += 1 + strcspn(path + i + 1, "/")) {
		char *dir = xstrndup(path, i);
		int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
		struct ignore *more = fd < 0 ? NULL : ignore_load(ig, fd, dir);
		if (fd >= 0)
			close(fd);
		if (more)
			ig = all[(*n)++] = more;
		free(dir);
	}
	/* Is the start, or a directory on the way to it, left out? */
	for (i = top + 1; ig && i <= len; i++)
		if (path[i] == '/' || path[i] == '\0') {
			char *dir = xstrndup(path, i);
			if (ignore_match(ig, dir, true))
				ig = NULL;
			free(dir);
		}
	free(path);
	return ig;
}

int walk_tree(struct walk *w, const struct fs_at *at)
{
	struct ignore *above[WALK_DEPTH], *ig = NULL;
	size_t n = 0;
	int fd = openat(at->fd, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	fsnames_init(&w->names);
	buf_init(&w->path, PATH_MAX + NAME_MAX);
	w->begun = true;
	if (fd < 0) {
		w->unreadable++;
		return 0;
	}
	if (w->ignore)
		ig = from_above(at, above, &n);
	buf_adds(&w->path, strcmp(at->path, "/") ? at->path : "");
	w->start_len = w->path.len;
	int r = walk_dir(w, fd, 1, ig);
	while (n > 0)
		ignore_free(above[--n]);
	return r;
}

void walk_free(struct walk *w)
{
	if (w->begun) {
		fsnames_free(&w->names);
		buf_free(&w->path);
	}
	free(w->first_ignored);
	w->begun = false;
	w->first_ignored = NULL;
}

#include "tools/fslink.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xalloc.h"

#define DEPTH_MAX 8

static void add(struct fslinks *l, const struct stat *st, enum fslink what)
{
	if (l->n == FSLINKS_MAX) {
		l->cut = true;
		return;
	}
	if (l->n == l->cap)
		l->id = xrealloc(l->id, l->cap = l->cap ? l->cap * 2 : 64, sizeof *l->id);
	l->id[l->n++] = (struct fslink_id){st->st_dev, st->st_ino, what};
}

/* Files below the directory (closed here). Links are not followed: a link has no content to protect. */
static void add_dir(struct fslinks *l, int dir, enum fslink what, int depth)
{
	DIR *d = fdopendir(dir);
	if (!d) {
		close(dir);
		return;
	}
	for (struct dirent *x; !l->cut && (x = readdir(d));) {
		struct stat st;
		/* Git's objects never change and are many; clones share them by hard links, which is no danger. */
		if (!strcmp(x->d_name, ".") || !strcmp(x->d_name, "..") || !strcmp(x->d_name, "objects"))
			continue;
		if (fstatat(dirfd(d), x->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			int sub = openat(dirfd(d), x->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
			if (sub >= 0)
				add_dir(l, sub, what, depth + 1);
		} else if (S_ISREG(st.st_mode) && st.st_nlink > 1) {
			add(l, &st, what);
		}
	}
	closedir(d);
}

static void add_path(struct fslinks *l, const char *path, enum fslink what)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
		if (dir >= 0)
			add_dir(l, dir, what, 0);
	} else if (S_ISREG(st.st_mode) && st.st_nlink > 1) {
		add(l, &st, what);
	}
}

static int compare(const void *a, const void *b)
{
	const struct fslink_id *x = a, *y = b;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

void fslinks_load(struct fslinks *l, const struct fsnames *n, const char *const *roots)
{
	static const char *const system[] = {"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", NULL};
	static const char *const project[] = {".git", ".claws", ".claude", ".vscode", ".mcp.json", ".envrc", ".github",
		".husky", ".gitlab-ci.yml", ".circleci", ".devcontainer", NULL};
	struct buf p;
	bool refused;
	const char *rule;
	buf_init(&p, 8192);
	l->loaded = true;
	for (size_t i = 0; system[i]; i++)
		add_path(l, system[i], FSLINK_REFUSED);
	for (size_t i = 0; n->home_path && (rule = fsname_home_rule(i, &refused)); i++) {
		buf_clear(&p);
		buf_addf(&p, "%s/%s", n->home_path, rule);
		add_path(l, p.p, refused ? FSLINK_REFUSED : FSLINK_PROTECTED);
	}
	for (; *roots; roots++)
		for (size_t i = 0; project[i]; i++) {
			buf_clear(&p);
			buf_addf(&p, "%s/%s", *roots, project[i]);
			add_path(l, p.p, FSLINK_PROTECTED);
		}
	for (size_t i = 0; i < FSNAMES_OWN; i++)
		if (n->own_path[i])
			add_path(l, n->own_path[i], FSLINK_PROTECTED);
	buf_free(&p);
	if (l->n > 0)
		qsort(l->id, l->n, sizeof *l->id, compare);
}

enum fslink fslinks_find(const struct fslinks *l, const struct stat *st)
{
	struct fslink_id want = {st->st_dev, st->st_ino, FSLINK_NONE}, *x;
	if (l->n == 0 || !(x = bsearch(&want, l->id, l->n, sizeof want, compare)))
		return l->cut ? FSLINK_UNKNOWN : FSLINK_NONE;
	enum fslink what = x->what;
	/* One file under two protected names: the stricter counts. */
	for (struct fslink_id *y = x; y > l->id && compare(y - 1, &want) == 0;)
		what = (--y)->what == FSLINK_REFUSED ? FSLINK_REFUSED : what;
	for (struct fslink_id *y = x; y + 1 < l->id + l->n && compare(y + 1, &want) == 0;)
		what = (++y)->what == FSLINK_REFUSED ? FSLINK_REFUSED : what;
	return what;
}

void fslinks_free(struct fslinks *l)
{
	free(l->id);
	memset(l, 0, sizeof *l);
}

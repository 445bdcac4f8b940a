#include "agent/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/atomic.h"
#include "sys/dirs.h"
#include "sys/io.h"
#include "sys/lock.h"

enum { LOCK_WAIT_MS = 5000, FILE_MAX = 96 << 10 };

int memory_open(struct memory_store *s, const char *root, struct err *e)
{
	struct buf p;
	char hex[SHA256_HEX], sub[32 + SHA256_HEX];

	*s = (struct memory_store){0};
	buf_init(&p, PATH_MAX);
	if (dirs_data_path(&p, "memory", e) < 0)
		goto failed;
	s->user = xstrdup(p.p);
	sha256_hex(hex, root, strlen(root));
	snprintf(sub, sizeof sub, "memory/projects/%.16s", hex);
	if (dirs_data_path(&p, sub, e) < 0)
		goto failed;
	s->project = xstrdup(p.p);
	s->root = xstrdup(root);
	buf_free(&p);
	return 0;
failed:
	buf_free(&p);
	memory_close(s);
	return -1;
}

void memory_close(struct memory_store *s)
{
	free(s->user);
	free(s->project);
	free(s->root);
	*s = (struct memory_store){0};
}

static const char *dir_of(const struct memory_store *s, enum memory_scope scope)
{
	return scope == MEMORY_PROJECT ? s->project : s->user;
}

/* 0; ST_NOINPUT if it is not there. */
static int load(const char *dir, enum memory_scope scope, const char *slug, struct memory *m, struct err *e)
{
	char file[MEMORY_SLUG + 8];
	struct buf raw;
	struct stat st;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = -1;

	if (fd < 0)
		return err_sys(e, "%s", dir);
	buf_init(&raw, FILE_MAX);
	snprintf(file, sizeof file, "%s.md", slug);
	memory_init(m);
	m->scope = scope;
	if (io_read_file(fd, file, &raw, e) == 0 && memory_parse(m, raw.p, raw.len, e) == 0) {
		memory_set(&m->slug, slug);
		if (!*m->name)
			memory_set(&m->name, slug);
		if (fstatat(fd, file, &st, 0) == 0)
			m->changed = st.st_mtim;
		r = 0;
	}
	close(fd);
	buf_free(&raw);
	if (r < 0)
		memory_free(m);
	return r;
}

/* m is a stranger's, of the project: the user's own of that name, if there is one, takes its place. */
static void prefer_users(const struct memory_store *s, const char *slug, struct memory *m)
{
	struct memory own;

	if (load(s->user, MEMORY_USER, slug, &own, NULL) < 0)
		return;
	memory_free(m);
	*m = own;
}

int memory_load(const struct memory_store *s, enum memory_scope scope, const char *name, struct memory *m, struct err *e)
{
	static const enum memory_scope order[] = {MEMORY_PROJECT, MEMORY_USER};
	char slug[MEMORY_SLUG];
	struct err sub = ERR_INIT;

	memory_slug(name, slug);
	for (int i = 0; i < 2; i++) {
		if (!(scope & order[i]))
			continue;
		err_clear(&sub);
		if (load(dir_of(s, order[i]), order[i], slug, m, &sub) == 0) {
			if (scope == MEMORY_BOTH && !memory_is_users(m))
				prefer_users(s, slug, m);
			return 0;
		}
		if (sub.status != ST_NOINPUT) {
			*e = sub;
			return -1;
		}
	}
	return err_set(e, ST_NOINPUT, "no memory named '%s'; 'claws-memory list' shows all", name);
}

static int slug_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The slugs of a directory, sorted; 0 also when it is not there. */
static int slugs(const char *dir, char ***names, size_t *n, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *f;

	*names = NULL;
	*n = 0;
	if (!d)
		return errno == ENOENT ? 0 : err_sys(e, "%s", dir);
	while ((f = readdir(d)) != NULL && *n < MEMORY_FILES) {
		size_t len = strlen(f->d_name);
		char slug[MEMORY_SLUG];
		if (len < 4 || len - 3 >= MEMORY_SLUG || strcmp(f->d_name + len - 3, ".md") || f->d_name[0] == '.')
			continue;
		char *name = xstrndup(f->d_name, len - 3);
		/* Only what our own names make: the index, and files with odd names, are not memories. */
		memory_slug(name, slug);
		if (strcmp(slug, name)) {
			free(name);
			continue;
		}
		*names = xrealloc(*names, *n + 1, sizeof **names);
		(*names)[(*n)++] = name;
	}
	closedir(d);
	if (*n)
		qsort(*names, *n, sizeof **names, slug_order);
	return 0;
}

static int list_one(const struct memory_store *s, enum memory_scope scope, struct memory **v, size_t *n, struct err *e)
{
	char **names;
	size_t k;

	if (slugs(dir_of(s, scope), &names, &k, e) < 0)
		return -1;
	*v = xrealloc(*v, *n + k + 1, sizeof **v);
	for (size_t i = 0; i < k; i++) {
		struct err bad = ERR_INIT;
		if (load(dir_of(s, scope), scope, names[i], &(*v)[*n], &bad) == 0)
			++*n;
		free(names[i]);
	}
	free(names);
	return 0;
}

int memory_list(const struct memory_store *s, enum memory_scope scope, struct memory **v, size_t *n, struct err *e)
{
	*v = NULL;
	*n = 0;
	if ((scope & MEMORY_USER && list_one(s, MEMORY_USER, v, n, e) < 0) ||
	    (scope & MEMORY_PROJECT && list_one(s, MEMORY_PROJECT, v, n, e) < 0)) {
		memory_free_all(*v, *n);
		*v = NULL;
		*n = 0;
		return -1;
	}
	return 0;
}

static void add_line(struct buf *out, const struct memory *m, bool link)
{
	memory_one_line(out, m->name);
	if (link)
		buf_addf(out, "](%s.md)", m->slug);
	if (*m->type)
		buf_addf(out, " (%s)", m->type);
	if (!memory_is_users(m)) {
		buf_adds(out, " [from ");
		memory_one_line(out, m->origin);
		buf_addc(out, ']');
	}
	if (*m->description) {
		buf_adds(out, ": ");
		memory_one_line(out, m->description);
	}
}

/* MEMORY.md of a directory. Under its lock. */
static int write_index(const struct memory_store *s, enum memory_scope scope, int dir, struct err *e)
{
	struct memory *v = NULL;
	size_t n = 0;
	struct buf b;

	if (list_one(s, scope, &v, &n, e) < 0)
		return -1;
	buf_init(&b, BUF_NOLIMIT);
	if (scope == MEMORY_PROJECT) {
		buf_adds(&b, "# Memories of ");
		memory_one_line(&b, s->root);
		buf_adds(&b, "\n\n");
	} else {
		buf_adds(&b, "# Memories of the user\n\n");
	}
	for (size_t i = 0; i < n; i++) {
		buf_adds(&b, "- [");
		add_line(&b, &v[i], true);
		buf_addc(&b, '\n');
	}
	int r = atomic_write(dir, "MEMORY.md", b.p, b.len, 0600, e);
	buf_free(&b);
	memory_free_all(v, n);
	return r;
}

/* Opens and locks the directory, made if missing. */
static int begin(const struct memory_store *s, enum memory_scope scope, struct lock *l, struct err *e)
{
	const char *dir = dir_of(s, scope);

	if (io_mkdirs(dir, 0700, e) < 0)
		return -1;
	char *path = xasprintf("%s/.lock", dir);
	int fd = -1;
	if (lock_take(l, path, LOCK_WAIT_MS, 0, e) == 0) {
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			err_sys(e, "%s", dir);
			lock_release(l);
		}
	}
	free(path);
	return fd;
}

static int check(const struct memory *m, struct err *e)
{
	if (!*m->name || strlen(m->name) > 200)
		return err_set(e, ST_DATA, "a memory's name has 1 to 200 bytes");
	if (strlen(m->description) > 1000)
		return err_set(e, ST_DATA, "a memory's description has at most 1000 bytes");
	if (strlen(m->type) > 64 || strlen(m->origin) > 200)
		return err_set(e, ST_DATA, "type or origin is too long");
	if (m->text.len > MEMORY_TEXT || m->text.over)
		return err_set(e, ST_DATA, "a memory's text has at most %zu bytes", MEMORY_TEXT);
	if (strlen(m->text.p) != m->text.len)
		return err_set(e, ST_DATA, "the text holds a NUL byte");
	if (m->scope == MEMORY_USER && !memory_is_users(m))
		return err_set(e, ST_DENIED, "what comes from '%s' is kept for the project only: leave out --scope user", m->origin);
	return 0;
}

/* A stranger takes no name that the user has, in this scope or the other: it would be looked up in its place. */
static int is_taken(const struct memory_store *s, const struct memory *m, struct err *e)
{
	static const enum memory_scope both[] = {MEMORY_PROJECT, MEMORY_USER};
	struct memory old;
	bool users = false;

	for (int i = 0; i < 2 && !users && !memory_is_users(m); i++) {
		if (load(dir_of(s, both[i]), both[i], m->slug, &old, NULL) < 0)
			continue;
		users = memory_is_users(&old);
		memory_free(&old);
	}
	return users ? err_set(e, ST_DENIED, "'%s' is the user's own; what comes from '%s' does not replace it: take another name",
	                       m->name, m->origin) : 0;
}

/* What is there already under this slug: its date stays. */
static int replace(const struct memory_store *s, struct memory *m, const char *today, struct err *e)
{
	struct memory old;
	struct err sub = ERR_INIT;

	if (is_taken(s, m, e) < 0)
		return -1;
	memory_set(&m->created, today ? today : "");
	if (load(dir_of(s, m->scope), m->scope, m->slug, &old, &sub) < 0)
		return 0;
	if (*old.created) {
		memory_set(&m->created, old.created);
		memory_set(&m->updated, today && strcmp(today, old.created) ? today : "");
	}
	memory_free(&old);
	return 0;
}

int memory_save(const struct memory_store *s, struct memory *m, const char *today, struct err *e)
{
	char slug[MEMORY_SLUG], file[MEMORY_SLUG + 8];
	struct lock l;
	struct buf b;

	if (check(m, e) < 0)
		return -1;
	memory_slug(m->name, slug);
	memory_set(&m->slug, slug);
	int dir = begin(s, m->scope, &l, e);
	if (dir < 0)
		return -1;
	buf_init(&b, BUF_NOLIMIT);
	int r = replace(s, m, today, e);
	if (r == 0) {
		memory_print(m, &b);
		snprintf(file, sizeof file, "%s.md", slug);
		r = atomic_write(dir, file, b.p, b.len, 0600, e);
	}
	if (r == 0)
		r = write_index(s, m->scope, dir, e);
	buf_free(&b);
	close(dir);
	lock_release(&l);
	return r;
}

int memory_delete(const struct memory_store *s, const struct memory *m, struct err *e)
{
	char file[MEMORY_SLUG + 8];
	struct lock l;
	int dir = begin(s, m->scope, &l, e), r;

	if (dir < 0)
		return -1;
	snprintf(file, sizeof file, "%s.md", m->slug);
	r = unlinkat(dir, file, 0) < 0 ? err_sys(e, "%s/%s", dir_of(s, m->scope), file) : write_index(s, m->scope, dir, e);
	close(dir);
	lock_release(&l);
	return r;
}

int memory_index(const struct memory_store *s, enum memory_scope scope, size_t max, struct buf *out, struct err *e)
{
	enum { REST = 64 };   /* room for the last line */
	struct memory *v;
	size_t n, i, start = out->len;
	struct buf line;

	if (memory_list(s, scope, &v, &n, e) < 0)
		return -1;
	buf_init(&line, BUF_NOLIMIT);
	for (i = 0; i < n; i++) {
		buf_clear(&line);
		buf_adds(&line, "- ");
		add_line(&line, &v[i], false);
		if (line.len > 300) {
			buf_truncate(&line, utf8_cut(line.p, 297));
			buf_adds(&line, "...");
		}
		buf_addc(&line, '\n');
		if (out->len - start + line.len + REST > max)
			break;
		buf_add(out, line.p, line.len);
	}
	if (i < n)
		buf_addf(out, "- and %zu more: `claws-memory list`\n", n - i);
	buf_free(&line);
	memory_free_all(v, n);
	return 0;
}

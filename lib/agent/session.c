#include "agent/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/log.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define SUFFIX ".ndjson"

int session_dir(struct buf *path, struct err *e)
{
	return dirs_state(path, "sessions", e);
}

void session_new_id(char id[32])
{
	static const char alphabet[] = "abcdefghjkmnpqrstvwxyz0123456789";
	time_t now = time(NULL);
	unsigned char r[6];
	struct tm tm;
	size_t n;

	gmtime_r(&now, &tm);
	n = strftime(id, 32, "%Y%m%d-%H%M%S-", &tm);
	io_random(r, sizeof r);
	for (size_t k = 0; k < sizeof r; k++)
		id[n++] = alphabet[r[k] % 32];
	id[n] = 0;
}

/* An id comes from outside and becomes a file name: letters, digits, '-', '_', '.', and not hidden. */
bool session_id_ok(const char *id)
{
	size_t n = strlen(id);

	return n > 0 && n <= 128 && id[0] != '.' && id[0] != '-' &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

static bool is_log_name(const char *name)
{
	size_t n = strlen(name), k = strlen(SUFFIX);

	return n > k && name[0] != '.' && !strcmp(name + n - k, SUFFIX);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A FIFO there must hold nobody, a directory is no log. */
static bool is_file(int dir, const struct dirent *d)
{
	struct stat st;

	return d->d_type == DT_REG || (fstatat(dir, d->d_name, &st, 0) == 0 && S_ISREG(st.st_mode));
}

int session_each(session_fn *fn, void *arg, struct err *e)
{
	struct buf dir;
	char **names = NULL;
	size_t n = 0;
	struct dirent *d;
	DIR *list;
	int r = 0;

	buf_init(&dir, 4096);
	if (session_dir(&dir, e) < 0) {
		buf_free(&dir);
		return -1;
	}
	list = opendir(dir.p);
	if (!list) {
		err_sys(e, "read %s", dir.p);
		buf_free(&dir);
		return -1;
	}
	while ((d = readdir(list)))
		if (is_log_name(d->d_name) && is_file(dirfd(list), d)) {
			names = xrealloc(names, n + 1, sizeof *names);
			names[n++] = xstrdup(d->d_name);
		}
	closedir(list);
	if (n)   /* qsort(3) wants an array even of nothing */
		qsort(names, n, sizeof *names, by_name);
	for (size_t k = n; k-- > 0;) {   /* ids begin with the time: newest first */
		struct buf path;
		char *id = xstrndup(names[k], strlen(names[k]) - strlen(SUFFIX));

		buf_init(&path, 8192);
		buf_addf(&path, "%s/%s", dir.p, names[k]);
		if (!r)
			r = fn(arg, id, path.p);
		buf_free(&path);
		free(id);
		free(names[k]);
	}
	free(names);
	buf_free(&dir);
	return r < 0 ? -1 : 0;
}

struct search {
	const char *want;
	struct buf *path;
	struct buf others;    /* ids that fit, for the message */
	size_t prefix, title;
	bool by_title, exact;
};

static int look(void *arg, const char *id, const char *path)
{
	struct search *s = arg;
	bool fits = false;

	if (!s->by_title) {
		if (!strcmp(id, s->want)) {
			buf_clear(s->path);
			buf_adds(s->path, path);
			s->exact = true;
			return 1;
		}
		fits = !strncmp(id, s->want, strlen(s->want));
		s->prefix += fits;
	} else {
		struct log_head head;

		if (log_head(path, &head, NULL) == 0) {
			fits = head.title && !strcmp(head.title, s->want);
			log_head_free(&head);
		}
		s->title += fits;
	}
	if (fits) {
		buf_clear(s->path);
		buf_adds(s->path, path);
		buf_addf(&s->others, " %s", id);
	}
	return 0;
}

static int absolute(struct buf *path, const char *name, struct err *e)
{
	char *cwd;

	if (name[0] == '/') {
		buf_adds(path, name);
		return 0;
	}
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return err_sys(e, "find the current directory");
	buf_addf(path, "%s/%s", cwd, name);
	free(cwd);
	return 0;
}

int session_find(const char *name, struct buf *path, struct err *e)
{
	struct search s = {.want = name, .path = path};
	int r = -1;

	buf_clear(path);
	if (!*name)
		return err_set(e, ST_NOINPUT, "no session named");
	if (strchr(name, '/'))
		return absolute(path, name, e);
	buf_init(&s.others, 400);
	if (session_each(look, &s, e) < 0)
		goto out;
	if (!s.exact && !s.prefix) {
		s.by_title = true;
		if (session_each(look, &s, e) < 0)
			goto out;
	}
	if (s.exact || s.prefix == 1 || (!s.prefix && s.title == 1))
		r = 0;
	else if (s.prefix || s.title)
		err_set(e, ST_NOINPUT, "session '%s' is several: %s", name, s.others.p + 1);
	else
		err_set(e, ST_NOINPUT, "no session '%s'; claws session list shows what there is", name);
out:
	buf_free(&s.others);
	if (r < 0)
		buf_clear(path);
	return r;
}

int session_path(const char *id, struct buf *path, struct err *e)
{
	if (!session_id_ok(id))
		return err_set(e, ST_USAGE, "'%s' is no session id: letters, digits, '-', '_' and '.', at most 128", id);
	if (session_dir(path, e) < 0)
		return -1;
	buf_addf(path, "/%s%s", id, SUFFIX);
	return 0;
}

int session_side(const char *log, const char *name, struct buf *path, struct err *e)
{
	buf_clear(path);
	buf_addf(path, "%s.d", log);
	if (io_mkdirs(path->p, 0700, e) < 0)
		return -1;
	if (*name)
		buf_addf(path, "/%s", name);
	return 0;
}

int session_blobs(const char *log, struct err *e)
{
	struct buf path;
	int fd = -1;

	buf_init(&path, 8192);
	if (session_side(log, "blobs", &path, e) == 0 && io_mkdirs(path.p, 0700, e) == 0) {
		fd = open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			err_sys(e, "open %s", path.p);
	}
	buf_free(&path);
	return fd;
}

#include "sys/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/io.h"

#ifndef CLAWS_DATADIR
#define CLAWS_DATADIR "/usr/local/share/claws"
#endif

static const char *set(const char *name)
{
	const char *s = getenv(name);
	return s && *s ? s : NULL;
}

static int add_sub(struct buf *path, const char *sub, struct err *e)
{
	if (sub && *sub)
		buf_addf(path, "/%s", sub);
	if (path->over || path->len >= PATH_MAX)
		return err_set(e, ST_CONFIG, "path too long: '%.100s...'", path->p);
	return 0;
}

/* CLAWS_HOME/own, or -1 (error) or 0 (not set). */
static int by_claws_home(struct buf *path, const char *own, struct err *e)
{
	const char *home = set("CLAWS_HOME");

	buf_clear(path);
	if (!home)
		return 0;
	if (*home != '/')
		return err_set(e, ST_CONFIG, "CLAWS_HOME is '%s': it must be an absolute path", home);
	buf_addf(path, "%s/%s", home, own);
	return 1;
}

static int name_of(struct buf *path, const char *own, const char *xdg, const char *below_home, const char *sub,
	struct err *e)
{
	const char *dir = set(xdg), *home = set("HOME");
	int r = by_claws_home(path, own, e);

	if (r < 0)
		return -1;
	if (r == 0 && dir && *dir == '/')
		buf_addf(path, "%s/claws", dir);
	else if (r == 0 && home && *home == '/')
		buf_addf(path, "%s/%s/claws", home, below_home);
	else if (r == 0)
		return err_set(e, ST_CONFIG, "HOME is %s: set it, %s or CLAWS_HOME to an absolute path",
			home ? "not an absolute path" : "not set", xdg);
	return add_sub(path, sub, e);
}

static int make(struct buf *path, int named, struct err *e)
{
	return named < 0 ? -1 : io_mkdirs(path->p, 0700, e);
}

int dirs_config_path(struct buf *path, const char *sub, struct err *e)
{
	return name_of(path, "config", "XDG_CONFIG_HOME", ".config", sub, e);
}

int dirs_data_path(struct buf *path, const char *sub, struct err *e)
{
	return name_of(path, "data", "XDG_DATA_HOME", ".local/share", sub, e);
}

int dirs_state_path(struct buf *path, const char *sub, struct err *e)
{
	return name_of(path, "state", "XDG_STATE_HOME", ".local/state", sub, e);
}

int dirs_cache_path(struct buf *path, const char *sub, struct err *e)
{
	return name_of(path, "cache", "XDG_CACHE_HOME", ".cache", sub, e);
}

int dirs_config(struct buf *path, const char *sub, struct err *e)
{
	return make(path, dirs_config_path(path, sub, e), e);
}

int dirs_data(struct buf *path, const char *sub, struct err *e)
{
	return make(path, dirs_data_path(path, sub, e), e);
}

int dirs_state(struct buf *path, const char *sub, struct err *e)
{
	return make(path, dirs_state_path(path, sub, e), e);
}

int dirs_cache(struct buf *path, const char *sub, struct err *e)
{
	return make(path, dirs_cache_path(path, sub, e), e);
}

/* Sockets and private files lie here, perhaps below a directory that anybody can write to. */
static int check_private(const char *path, struct err *e)
{
	struct stat st;
	int r = -1, fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make the runtime directory '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return err_set(e, ST_CONFIG, "the runtime directory '%s' is a symlink or no directory: remove it, "
			"or set XDG_RUNTIME_DIR", path);
	if (fd < 0)
		return err_sys(e, "cannot open the runtime directory '%s'", path);
	if (fstat(fd, &st) < 0)
		err_sys(e, "cannot look at the runtime directory '%s'", path);
	else if (st.st_uid != geteuid())
		err_set(e, ST_CONFIG, "the runtime directory '%s' belongs to user %lu: set XDG_RUNTIME_DIR or TMPDIR",
			path, (unsigned long)st.st_uid);
	else if ((st.st_mode & 07777) != 0700 && fchmod(fd, 0700) < 0)
		err_sys(e, "cannot make the runtime directory '%s' private", path);
	else
		r = 0;
	close(fd);
	return r;
}

int dirs_runtime(struct buf *path, const char *sub, struct err *e)
{
	const char *run = set("XDG_RUNTIME_DIR"), *tmp = set("TMPDIR");
	int r = by_claws_home(path, "run", e);

	if (r < 0)
		return -1;
	if (r == 1 && io_mkdirs(set("CLAWS_HOME"), 0700, e) < 0)
		return -1;
	if (r == 0 && run && *run == '/')
		buf_addf(path, "%s/claws", run);
	else if (r == 0)
		buf_addf(path, "%s/claws-%lu", tmp && *tmp == '/' ? tmp : "/tmp", (unsigned long)geteuid());
	if (add_sub(path, NULL, e) < 0 || check_private(path->p, e) < 0)
		return -1;
	if (!sub || !*sub)
		return 0;
	return add_sub(path, sub, e) < 0 ? -1 : io_mkdirs(path->p, 0700, e);
}

int dirs_share(struct buf *path, const char *sub, struct err *e)
{
	static const char *const beside[] = {"../share/claws", "../../share/claws"};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n > 0) {
		self[n] = 0;
		char *slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
		for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
			buf_clear(path);
			buf_addf(path, "%s/%s", self, beside[i]);
			if (add_sub(path, sub, e) < 0)
				return -1;
			if (access(path->p, F_OK) == 0)
				return 0;
		}
	}
	buf_clear(path);
	buf_adds(path, CLAWS_DATADIR);
	if (add_sub(path, sub, e) < 0)
		return -1;
	if (access(path->p, F_OK) == 0)
		return 0;
	return err_set(e, ST_NOINPUT, "cannot find claws' own file '%s' beside the program or in %s: "
		"install claws again", sub ? sub : "", CLAWS_DATADIR);
}

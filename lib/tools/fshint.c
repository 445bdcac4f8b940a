#include "tools/fshint.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tools/norm.h"

#define NAMES_MAX 5000

static bool stem_equal(const char *a, const char *b)
{
	size_t n = strcspn(a, "."), m = strcspn(b, ".");
	return n == m && n > 2 && strncasecmp(a, b, n) == 0;
}

static bool looks_equal(const char *a, const char *b)
{
	struct norm x, y;
	norm_make(&x, a, strlen(a), NORM_LOOKS | NORM_FORM);
	norm_make(&y, b, strlen(b), NORM_LOOKS | NORM_FORM);
	bool same = strcasecmp(x.text.p, y.text.p) == 0;
	norm_free(&x);
	norm_free(&y);
	return same;
}

/* Puts the nearest name into found. */
static bool nearest(int dir, const char *name, char found[NAME_MAX + 1])
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	int best = 0, left = NAMES_MAX;
	for (struct dirent *x; best < 2 && left-- > 0 && (x = readdir(d));) {
		int rank = looks_equal(x->d_name, name) ? 2 : stem_equal(x->d_name, name) ? 1 : 0;
		if (rank > best) {
			best = rank;
			memcpy(found, x->d_name, strlen(x->d_name) + 1);
		}
	}
	closedir(d);
	return best > 0;
}

void fs_not_found(struct tool_result *r, const struct fs_at *at, const char *path)
{
	char found[NAME_MAX + 1];
	const char *slash = strchr(at->missing, '/');
	if (slash)
		tool_fail(r, "%s: no such file; there is no directory '%.*s' in %.*s", path, (int)(slash - at->missing),
			at->missing, (int)(strlen(at->path) - strlen(at->missing)), at->path);
	else if (nearest(at->dir, at->missing, found))
		tool_fail(r, "%s: no such file; did you mean '%s' in the same directory?", path, found);
	else
		tool_fail(r, "%s: no such file; Glob finds files by name", path);
}

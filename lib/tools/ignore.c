#include "tools/ignore.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "sys/io.h"
#include "tools/globmatch.h"

static void add_rule(struct ignore *ig, const char *s, size_t n)
{
	struct ignore_rule x = {0};
	if (n > 0 && s[n - 1] == '\r')
		n--;
	while (n > 0 && s[n - 1] == ' ' && !(n > 1 && s[n - 2] == '\\'))
		n--;
	if (n == 0 || s[0] == '#')
		return;
	if (s[0] == '!') {
		x.negated = true;
		s++, n--;
	}
	if (n > 0 && s[n - 1] == '/') {
		x.directory = true;
		n--;
	}
	x.anchored = memchr(s, '/', n) != NULL;
	if (n > 0 && s[0] == '/')
		s++, n--;
	if (n == 0)
		return;
	x.pattern = xstrndup(s, n);
	ig->rule = xrealloc(ig->rule, ig->n + 1, sizeof *ig->rule);
	ig->rule[ig->n++] = x;
}

static void load_file(struct ignore *ig, int dirfd, const char *name)
{
	struct stat st;
	struct buf b;
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	buf_init(&b, IGNORE_FILE);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && io_read_all(fd, &b, NULL) == 0) {
		const char *s = b.p, *end = b.p + b.len, *p;
		if (b.len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
			s += 3;
		for (; s < end; s = p + 1) {
			p = memchr(s, '\n', (size_t)(end - s));
			if (!p)
				p = end;
			add_rule(ig, s, (size_t)(p - s));
		}
	}
	buf_free(&b);
	close(fd);
}

struct ignore *ignore_load(const struct ignore *up, int dirfd, const char *dir)
{
	struct ignore *ig = xcalloc(1, sizeof *ig);
	load_file(ig, dirfd, ".gitignore");
	load_file(ig, dirfd, ".ignore");
	if (ig->n == 0) {
		free(ig);
		return NULL;
	}
	ig->up = up;
	ig->dir = xstrdup(strcmp(dir, "/") ? dir : "");
	return ig;
}

static bool rule_match(const struct ignore_rule *x, const char *rel, bool directory)
{
	if (x->directory && !directory)
		return false;
	const char *slash = strrchr(rel, '/');
	return glob_match(x->pattern, x->anchored || !slash ? rel : slash + 1);
}

bool ignore_match(const struct ignore *ig, const char *path, bool directory)
{
	for (; ig; ig = ig->up) {
		size_t n = strlen(ig->dir);
		if (strncmp(path, ig->dir, n) != 0 || path[n] != '/')
			continue;
		for (size_t i = ig->n; i-- > 0;)
			if (rule_match(&ig->rule[i], path + n + 1, directory))
				return !ig->rule[i].negated;
	}
	return false;
}

void ignore_free(struct ignore *ig)
{
	if (!ig)
		return;
	for (size_t i = 0; i < ig->n; i++)
		free(ig->rule[i].pattern);
	free(ig->rule);
	free(ig->dir);
	free(ig);
}

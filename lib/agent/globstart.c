#include "agent/globstart.h"

#include <string.h>

#include "base/xalloc.h"

size_t glob_literal_prefix(const char *s)
{
	size_t n = 0;

	for (;;) {
		size_t k = strcspn(s + n, "/");
		if (s[n + k] != '/' || strcspn(s + n, "*?[{\\") < k || !s[n + k + 1])
			return n;
		n += k + 1;
	}
}

char *glob_start(const char *path, const char *pattern, const char **rest)
{
	size_t n = glob_literal_prefix(pattern);

	if (!path || !*path)
		path = ".";
	*rest = pattern + n;
	if (pattern[0] == '/' || (pattern[0] == '~' && pattern[1] == '/'))
		return xasprintf("%.*s", n ? (int)n : 1, pattern);
	return n ? xasprintf("%s/%.*s", path, (int)n, pattern) : xstrdup(path);
}

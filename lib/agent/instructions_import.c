#include "agent/instructions_import.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { IMPORTS_PER_FILE = 32 };

int instructions_join(const char *from, const char *path, struct buf *out)
{
	const char *slash = strrchr(from, '/');

	buf_clear(out);
	if (*path == '/' || *path == '~')
		return -1;
	if (slash)
		buf_add(out, from, (size_t)(slash - from));
	while (*path) {
		size_t n = strcspn(path, "/");
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			if (!out->len)
				return -1;
			char *up = strrchr(out->p, '/');
			buf_truncate(out, up ? (size_t)(up - out->p) : 0);
		} else if (n && !(n == 1 && *path == '.')) {
			if (out->len)
				buf_addc(out, '/');
			buf_add(out, path, n);
		}
		path += n;
		path += strspn(path, "/");
	}
	return out->len ? 0 : -1;
}

/* Start and length of the next import's path from *at on, outside of code; false: no more. */
static bool next_import(const char *s, size_t *at, bool *fenced, size_t *start, size_t *len)
{
	for (size_t i = *at; s[i]; i++) {
		bool bol = i == 0 || s[i - 1] == '\n';
		if (bol) {
			size_t k = i + strspn(s + i, " ");
			if (k - i < 4 && (!strncmp(s + k, "```", 3) || !strncmp(s + k, "~~~", 3)))
				*fenced = !*fenced;
		}
		if (*fenced)
			continue;
		if (s[i] == '`') {   /* a code span ends at a run of as many backticks, within the paragraph */
			size_t run = strspn(s + i, "`"), k = i + run;
			while (s[k] && !(s[k] == '\n' && s[k + 1] == '\n')) {
				size_t r = strspn(s + k, "`");
				if (r == run)
					break;
				k += r ? r : 1;
			}
			i = (s[k] == '`' ? k : i) + run - 1;
			continue;
		}
		if (s[i] != '@' || !(bol || s[i - 1] == ' ' || s[i - 1] == '\t'))
			continue;
		size_t n = strcspn(s + i + 1, " \t\r\n");
		while (n > 0 && strchr(".,;:!?)]}\"'", s[i + n]))
			n--;
		*at = i + 1 + n;
		if (n > 0 && n < 1024 && (memchr(s + i + 1, '/', n) || memchr(s + i + 1, '.', n))) {
			*start = i + 1;
			*len = n;
			return true;
		}
		i += n;
	}
	return false;
}

static void import(struct instructions *in, const char *of, bool user, int depth, int root, const char *rel, const char *path)
{
	struct buf to;
	char *shown;

	buf_init(&to, PATH_MAX - 1);
	if (instructions_join(rel, path, &to) < 0) {
		if (!in->refused.p)
			buf_init(&in->refused, 16 << 10);
		buf_addf(&in->refused, "%s: @%s not read: not beneath %s\n", of, path, user ? "its directory" : "the project's root");
	} else {
		/* The user's files are shown absolute: their directory is what `of` has before rel. */
		size_t base = strlen(of) > strlen(rel) ? strlen(of) - strlen(rel) : 0;
		shown = user ? xasprintf("%.*s%s", (int)base, of, to.p) : xstrdup(to.p);
		instructions_beneath(in, root, to.p, shown, user, depth);
		free(shown);
	}
	buf_free(&to);
}

void instructions_imports(struct instructions *in, size_t of, int root, const char *rel)
{
	/* in->v moves while files are added; what is needed of this one is copied. */
	char *text = xstrdup(in->v[of].text.p), *path = xstrdup(in->v[of].path);
	bool user = in->v[of].user, fenced = false;
	int depth = in->v[of].depth + 1;
	size_t at = 0, start, len;

	for (int i = 0; i < IMPORTS_PER_FILE && depth <= INSTRUCTIONS_DEPTH && next_import(text, &at, &fenced, &start, &len); i++) {
		char *to = xstrndup(text + start, len);
		import(in, path, user, depth, root, rel, to);
		free(to);
	}
	free(text);
	free(path);
}

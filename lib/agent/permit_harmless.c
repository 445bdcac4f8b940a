#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/permit.h"
#include "base/xalloc.h"
#include "sys/env.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define HARMLESS_MAX ((size_t)64 << 10)

/* Words of plain characters, joined by one blank each. What a shell would look at twice (quotes, globs, expansions,
 * operators, assignments, a newline) makes it false: then the words are not what the shell would see. */
static bool plain_words(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == ' ' || *s == '\t') {
			if (out->len && out->p[out->len - 1] != ' ')
				buf_addc(out, ' ');
		} else if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
		           strchr("-_./,:@%+", *s)) {
			buf_addc(out, *s);
		} else {
			return false;
		}
	}
	while (out->len && out->p[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
	return out->len > 0 && !out->over;
}

int harmless_load(struct harmless *h, const char *file, struct err *e)
{
	struct buf b, line;
	int rc;

	*h = (struct harmless){0};
	buf_init(&b, HARMLESS_MAX);
	buf_init(&line, 1024);
	rc = io_read_file(AT_FDCWD, file, &b, e);
	for (char *s = b.p, *next; rc == 0 && s && *s; s = next) {
		next = s + strcspn(s, "\n");
		if (*next)
			*next++ = 0;
		buf_clear(&line);
		if (*s == '#' || !plain_words(&line, s))
			continue;
		h->v = xrealloc(h->v, h->n + 1, sizeof *h->v);
		h->v[h->n++] = xstrdup(line.p);
	}
	buf_free(&b);
	buf_free(&line);
	return rc;
}

void harmless_free(struct harmless *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i]);
	free(h->v);
	*h = (struct harmless){0};
}

static bool lies_in(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	return !strncmp(dir, path, n) && (path[n] == '/' || !path[n]);
}

/* The program that the name stands for must not be one that the workspace brings along. */
static bool from_outside(const struct permit *g, const char *name, char why[256])
{
	struct buf safe, file;
	char *real = NULL;
	bool good = true;

	buf_init(&safe, BUF_NOLIMIT);
	buf_init(&file, PATH_MAX);
	env_safe_path(&safe, g->path);
	if (spawn_find(name, safe.p, &file, NULL) < 0 || !(real = realpath(file.p, NULL))) {
		snprintf(why, 256, "'%s' is not on PATH", name);
		good = false;
	}
	for (size_t i = 0; good && g->roots && g->roots[i]; i++) {
		char *root = realpath(g->roots[i], NULL);
		if ((root && lies_in(root, real)) || lies_in(g->roots[i], file.p)) {
			snprintf(why, 256, "the program %.180s lies in the workspace", file.p);
			good = false;
		}
		free(root);
	}
	free(real);
	buf_free(&safe);
	buf_free(&file);
	return good;
}

bool permit_is_harmless(const struct permit *g, const char *command, char why[256])
{
	char dummy[256], name[64];
	struct buf words;
	bool listed = false, plain;

	if (!why)
		why = dummy;
	buf_init(&words, 1024);
	plain = plain_words(&words, command);
	if (!plain)
		snprintf(why, 256, "it is not one command of plain words");
	for (size_t i = 0; plain && !listed && i < g->harmless.n; i++)
		listed = !strcmp(words.p, g->harmless.v[i]);
	if (plain && !listed)
		snprintf(why, 256, "the command is not on the list of harmless ones");
	snprintf(name, sizeof name, "%.*s", (int)strcspn(words.p, " "), words.p);
	buf_free(&words);
	return listed && from_outside(g, name, why);
}

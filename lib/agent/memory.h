/* memory.h - memories: notes that outlive a session, one Markdown file each.
 *
 *   struct memory_store s; memory_open(&s, "/project/root", &e);
 *   memory_save(&s, &m, &e);  memory_load(&s, MEMORY_BOTH, "name", &m, &e);  memory_list(&s, MEMORY_BOTH, &v, &n, &e);
 *   memory_close(&s);
 *
 *   ~/.local/share/claws/memory/SLUG.md                       of the user: for every project
 *   ~/.local/share/claws/memory/projects/HASH/SLUG.md         of a project, by the hash of its root's path
 *   .../MEMORY.md                                             index of a directory, for people; rebuilt at each change
 *
 * A file is frontmatter (name, description, type, created, updated, origin) and text, to be read and mended with any editor. The
 * slug is made from the name and is the only thing that becomes a file name. Files are whole or absent; a directory changes under
 * its lock.
 *
 * origin: who said it; none means the user. What came from outside (a page, a file, a tool, an agent) is kept for the project only,
 * never for the user, and never replaces what the user said, nor takes a name that the user has in either scope.
 *
 * Errors: ST_NOINPUT no such memory; ST_DATA a bad field; ST_DENIED an origin that may not; ST_TEMP the directory is in use.
 * Limits: MEMORY_TEXT bytes a text, MEMORY_FILES files a directory. */
#ifndef AGENT_MEMORY_H
#define AGENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"

#define MEMORY_TEXT ((size_t)64 << 10)
#define MEMORY_FILES 2000
#define MEMORY_SLUG 64

enum memory_scope { MEMORY_USER = 1, MEMORY_PROJECT = 2, MEMORY_BOTH = 3 };

struct memory {                 /* strings are owned, never NULL after memory_init */
	enum memory_scope scope;
	char *slug, *name, *description, *type, *origin, *created, *updated;
	struct buf text;
	struct timespec changed; /* of the file */
	double rank;             /* memory_search */
};

struct memory_store {
	char *root;             /* of the project */
	char *user, *project;   /* directories, maybe not there */
};

int memory_open(struct memory_store *s, const char *root, struct err *e);
void memory_close(struct memory_store *s);

void memory_init(struct memory *m);
void memory_free(struct memory *m);
void memory_free_all(struct memory *v, size_t n);
void memory_set(char **field, const char *value);
bool memory_is_users(const struct memory *m);         /* origin is none or "user" */

/* Writes m into its scope (slug is set from its name; today is a date or NULL); `created` stays that of the one it replaces. */
int memory_save(const struct memory_store *s, struct memory *m, const char *today, struct err *e);
/* By name or slug; in both scopes the project's comes first, but a stranger's only if the user has none of that name. */
int memory_load(const struct memory_store *s, enum memory_scope scope, const char *name, struct memory *m, struct err *e);
int memory_delete(const struct memory_store *s, const struct memory *m, struct err *e);

/* All, by slug, the user's first. To be freed with memory_free_all. Files that are none are left out. */
int memory_list(const struct memory_store *s, enum memory_scope scope, struct memory **v, size_t *n, struct err *e);

/* Those that have a word of the query, best first; keeps at most max (the rest is freed). Returns how many. */
size_t memory_search(struct memory *v, size_t n, const char *query, size_t max);

/* For the system prompt: a line for each, at most max bytes, saying how many more there are. */
int memory_index(const struct memory_store *s, enum memory_scope scope, size_t max, struct buf *out, struct err *e);

/* memory_file.c: the format. */
void memory_slug(const char *name, char slug[MEMORY_SLUG]);
/* The text is without line ends at its end; memory_print writes one. */
int memory_parse(struct memory *m, const char *text, size_t len, struct err *e);
void memory_print(const struct memory *m, struct buf *out);
/* One line: no control characters, white space as single spaces. */
void memory_one_line(struct buf *out, const char *s);

#endif

/* What the verbs of claws-memory share. */
#ifndef CLAWS_MEMORY_H
#define CLAWS_MEMORY_H

#include <stdbool.h>

#include "agent/memory.h"

struct conf {
	const char *description, *type, *scope, *origin, *dir;
	long max;
	bool json, no_time;
};

/* Operands of the verb; the exit status. */
int do_save(const struct memory_store *s, const struct conf *c, char **args, int n);
int do_search(const struct memory_store *s, const struct conf *c, char **args, int n);
int do_list(const struct memory_store *s, const struct conf *c, char **args, int n);
int do_show(const struct memory_store *s, const struct conf *c, char **args, int n);
int do_delete(const struct memory_store *s, const struct conf *c, char **args, int n);

/* The scopes that --scope names; `none` if it was not given. */
enum memory_scope scope_of(const struct conf *c, enum memory_scope none);

#endif

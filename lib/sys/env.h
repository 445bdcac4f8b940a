/* env.h - environments for children.
 *
 *   struct env v; env_scrubbed(&v, environ, getenv("CLAWS_TOOL_ENV"));
 *   env_set(&v, "CLAWS_ARG_x", "1");
 *   spawn.env = env_vector(&v);
 *   env_free(&v);
 *
 * Strings are copied. A name set twice keeps its place. */
#ifndef SYS_ENV_H
#define SYS_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct env {
	char **v;      /* NULL-terminated */
	size_t n, cap;
};

void env_init(struct env *v);                            /* empty */
void env_copy(struct env *v, char *const *from);         /* as it is; malformed entries left out */
void env_free(struct env *v);
void env_set(struct env *v, const char *name, const char *value);
void env_unset(struct env *v, const char *name);
const char *env_get(const struct env *v, const char *name);
const char *const *env_vector(const struct env *v);

/* What a tool's child gets. Kept: HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM NO_COLOR TZ TMPDIR PWD
 * XDG_*, the variables by which tool chains find their files (CC CFLAGS GOPATH CARGO_HOME JAVA_HOME VIRTUAL_ENV
 * ...), CLAWS_* that are not the ring's, and the names in `pass` (separated by spaces or commas; may be NULL), which
 * only the user can give. PATH is made safe (env_safe_path). Set: PAGER, GIT_PAGER and MANPAGER cat,
 * GIT_TERMINAL_PROMPT=0, EDITOR, VISUAL, GIT_EDITOR and GIT_SEQUENCE_EDITOR a command that fails at once with a
 * hint, SSH_ASKPASS and SUDO_ASKPASS likewise none, DEBIAN_FRONTEND=noninteractive.
 * Never, not even by `pass`: LD_*, BASH_FUNC_*, BASH_ENV, ENV, SHELLOPTS, BASHOPTS, PS4, IFS, CLAWS_RING, CLAWS_PROMPT,
 * CLAWS_SESSION, CLAWS_STAGE_*. Never unless named in `pass`: names that look like secrets (env_is_secret). */
void env_scrubbed(struct env *v, char *const *from, const char *pass);

/* KEY, TOKEN, SECRET, PASSWORD, PASSWD, CREDENTIAL, ... as a word of the name, in any case. */
bool env_is_secret(const char *name);

/* PATH without empty and relative entries; the usual default if nothing is left. */
void env_safe_path(struct buf *out, const char *path);

#endif

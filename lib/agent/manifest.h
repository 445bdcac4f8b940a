/* manifest.h - the tools there are: claws-tool(1) FILES.
 *
 *   struct manifests m = MANIFESTS_INIT;
 *   manifests_load(&m, "/usr/share/claws/tools", "/home/u/.local/share/claws/tools", heard, arg);
 *   const struct manifest *t = manifests_find(&m, "Read");
 *   manifests_free(&m);
 *
 * A manifest is NAME.json: {name, description, input_schema, read_only, concurrent_safe, profiles, timeout_s, exec}. The ones
 * that come with claws have no exec, the user's have an argv whose first word is an absolute path. A broken file is left
 * out and `heard` is told which and where it is wrong; so is one that would take a built-in tool's name, in whatever case. Unknown
 * keys are left alone. Order: built-in ones by name, then the user's by name, so that the list, and with it the
 * provider's cache, changes at its end only. */
#ifndef AGENT_MANIFEST_H
#define AGENT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"
#include "json/jw.h"

#define MANIFEST_NAME_MAX 64
#define MANIFEST_SIZE_MAX ((size_t)256 << 10)
#define MANIFEST_MAX 1000               /* tools */
#define MANIFEST_TIMEOUT_S 120          /* where timeout_s is not given */

struct manifest {
	char *name, *file;
	bool builtin, read_only, concurrent_safe;
	long timeout_ms;
	char **exec;                    /* NULL-terminated; NULL for a built-in tool */
	char *text;                     /* what json lies on */
	struct json json;
	int description, schema;        /* values of json */
};

struct manifests {
	struct manifest **v;
	size_t n;
};

#define MANIFESTS_INIT {0, 0}

typedef void manifest_heard(void *arg, const char *text);

/* Either directory may be NULL or missing. */
void manifests_load(struct manifests *m, const char *builtin, const char *user, manifest_heard *heard, void *arg);
void manifests_free(struct manifests *m);
const struct manifest *manifests_find(const struct manifests *m, const char *name);

/* [A-Za-z][A-Za-z0-9_-]{0,63} */
bool manifest_name_ok(const char *name);

/* {name, description, input_schema}, as the model gets it. */
void manifest_offer(const struct manifest *t, struct jw *w);

/* The text of a new manifest. params: "file:string", "n:int?", "mode:string:what it is for"; types string, int, number,
 * bool; a ? makes it optional. exec[0] as given. ST_USAGE if a parameter is wrong. */
int manifest_write(struct buf *out, const char *name, const char *description, const char *const *params, size_t nparams,
                   const char *const *argv, size_t nargv, struct err *e);

#endif

/* fsguard.h - which files a tool may touch, and how it gets at them.
 *
 * For the gate:
 *   switch (fs_check(ctx, path, FS_WRITE, &e)) { case FS_PROTECTED: ask; case FS_REFUSED: refuse; ... }    // why: e.text
 * For a tool:
 *   struct fs_at at;
 *   if (fs_admit(ctx, path, FS_READ, &at, &e) < 0) ...     // verdict and "not allowed" in one; e.text is for the model
 *   int fd = fs_open(&at, &e);
 *   fs_close(&at);
 *
 * A path is walked from "/" one component at a time, each opened by descriptor without following, symlinks expanded by hand: so
 * the path that is judged is the one where the descriptors are, and nobody can put a link between check and use. The
 * descriptors stay in fs_at; what is opened, made or renamed afterwards goes through them, again without following.
 * Relative paths start at ctx->cwd, "~/" at HOME. A link inside a root may lead anywhere inside the roots.
 *
 * FS_OK         beneath a root; for reading also the blob directory (spilled output)
 * FS_OUTSIDE    elsewhere: refused by the tools, the text names the roots and --add-dir
 * FS_PROTECTED  for writing only: what runs later (.git, shell start-up files, CI ...) or claws' own; done only with
 *               ctx->protected_ok
 * FS_REFUSED    credentials, devices, FIFOs, process internals; also what cannot be resolved (loop, no permission)
 *
 * Every name on the way (the path as given, each link's text, the outcome) is judged by fsname.h; a file with several hard links is
 * compared with the protected files by inode. A path that does not exist is judged where it would be.
 * Mount points are taken as they are: only root makes them. */
#ifndef TOOLS_FSGUARD_H
#define TOOLS_FSGUARD_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "tools/fsname.h"
#include "tools/tool.h"

enum fs_want { FS_READ, FS_WRITE };
enum fs_verdict { FS_OK, FS_OUTSIDE, FS_PROTECTED, FS_REFUSED };

struct fs_at {
	int dir;            /* O_PATH: the deepest directory that exists on the way */
	int fd;             /* O_PATH: the file or directory itself, -1 if it does not exist */
	struct stat st;     /* of fd */
	char *path;         /* absolute and resolved */
	char *name;         /* in dir; NULL for a directory */
	char *missing;      /* the rest below dir, when fd is -1 */
	size_t root_len;    /* the first root_len bytes of path are the root it lies in */
};

enum fs_verdict fs_check(const struct tool_ctx *c, const char *path, enum fs_want want, struct err *e);

/* Walks and judges; *at is filled whatever the verdict (fs_close it). e says why not FS_OK. */
enum fs_verdict fs_look(const struct tool_ctx *c, const char *path, enum fs_want want, struct fs_at *at, struct err *e);

/* fs_look for tools: 0 when the tool may go on and the path leads to where the gate saw it lead (ctx->judged), else -1, e, and
 * *at closed. */
int fs_admit(const struct tool_ctx *c, const char *path, enum fs_want want, struct fs_at *at, struct err *e);
void fs_close(struct fs_at *at);

/* The file for reading: regular files only, the very one that was judged. A descriptor or -1. */
int fs_open(const struct fs_at *at, struct err *e);

/* Makes the missing directories (0777 & ~umask), so that afterwards at->dir is the parent and at->name the name in it. */
int fs_make_parents(struct fs_at *at, struct err *e);

/* path relative to ctx->cwd where it lies beneath, else as it is; points into path. */
const char *fs_short(const struct tool_ctx *c, const char *path);

#endif

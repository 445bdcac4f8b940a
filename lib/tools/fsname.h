/* fsname.h - what a path's name alone says: credentials, and files that run later.
 *
 *   struct fsnames n;
 *   fsnames_init(&n);
 *   const char *why = fsname_refused(&n, "/home/u/.ssh/id_rsa");       // NULL: nothing against it
 *   why = fsname_protected(&n, "/home/u/p/.git/config", strlen("/home/u/p"));
 *   fsnames_free(&n);
 *
 * Pure name rules, no file is looked at (fsguard.h does that, on resolved paths). Names are compared after folding: ASCII
 * and full-width letters without case, characters that file systems ignore dropped, trailing dots and blanks and NTFS
 * stream suffixes cut; so ".GIT", ".g\u200cit" and ".git." are ".git" (git's CVE-2014-9390 and its kin). */
#ifndef TOOLS_FSNAME_H
#define TOOLS_FSNAME_H

#include <stdbool.h>
#include <stddef.h>

#define FSNAMES_HOMES 2
#define FSNAMES_OWN 10

struct fsnames {
	char *home[FSNAMES_HOMES];    /* folded: $HOME as spelled and as resolved; NULL if unknown */
	char *own[FSNAMES_OWN];       /* folded: claws' own directories */
	char *home_path, *own_path[FSNAMES_OWN];   /* as spelled, for fslink.h */
	char *config[2];              /* folded: the configuration directory */
};

void fsnames_init(struct fsnames *n);
void fsnames_free(struct fsnames *n);

/* Never to be read or written by a tool: why, or NULL. path is absolute. A few names below ~/.ssh may be read;
 * writing those is what fsname_protected is asked about. */
const char *fsname_refused(const struct fsnames *n, const char *path);

/* Writing there makes something run later, or changes claws itself: why, or NULL. Rules for names anywhere look at what lies
 * beneath the first root_len bytes only: a workspace that itself lies below such a name stays usable. */
const char *fsname_protected(const struct fsnames *n, const char *path, size_t root_len);

/* The n-th rule for the home directory (its path below it, without wildcards) that refuses or protects, for fslink.h;
 * NULL at the end. */
const char *fsname_home_rule(size_t i, bool *refused);

/* The last component's name is one of a process's secrets (environ, mem ...): for procfs mounted elsewhere. */
bool fsname_proc_secret(const char *name);

#endif

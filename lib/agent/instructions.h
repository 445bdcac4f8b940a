/* instructions.h - what files tell the model: AGENTS.md and CLAUDE.md of the project and of the user.
 *
 *   struct instructions in = INSTRUCTIONS_INIT;
 *   instructions_root(cwd, &root);
 *   instructions_user(&in, &e);                  // ~/.config/claws/AGENTS.md, ~/.claude/CLAUDE.md
 *   instructions_project(&in, root.p, cwd, &e);  // each directory from root down to cwd
 *   instructions_budget(&in);                    // cuts them to INSTRUCTIONS_MAX together
 *   for (i = 0; i < in.n; i++) ... in.v[i] ...   // the order to show: general first, nearest last
 *   instructions_free(&in);
 *
 * A directory's file is the first of AGENTS.override.md, AGENTS.md, CLAUDE.md. A project is written by strangers: its files are
 * opened beneath its root without symlinks (io_open_beneath), must be regular, ours or root's, not writable for all, and text.
 * The user's own two files may be symlinks (people keep such files in a repository of theirs); the rest holds too.
 * `@path` in a file, at the start of a word and outside of code, imports that file: relative, beneath the same root,
 * at most INSTRUCTIONS_DEPTH deep, each file once; what does not exist is taken for plain text.
 *
 * Files that are refused are no errors: why stands in `refused`, one line each. Errors: memory and the directories
 * themselves. */
#ifndef AGENT_INSTRUCTIONS_H
#define AGENT_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define INSTRUCTIONS_MAX ((size_t)32 << 10)   /* bytes of all files together */
#define INSTRUCTIONS_DEPTH 5
#define INSTRUCTIONS_FILES 64

struct instruction {
	char *path;             /* as shown: relative to the project's root; the user's absolute */
	bool user;
	int depth;              /* 0: found; n: imported */
	struct buf text;        /* valid UTF-8 */
	uint64_t size;          /* of the file; more than text.len: cut */
	uint64_t dev, ino;
};

struct instructions {
	struct instruction *v;
	size_t n;
	struct buf refused;     /* lines */
};

#define INSTRUCTIONS_INIT {0, 0, {0, 0, 0, 0, 0}}

/* The nearest directory from dir up that holds .git, else dir itself. True if there was one. */
bool instructions_root(const char *dir, struct buf *root);

int instructions_user(struct instructions *in, struct err *e);
int instructions_project(struct instructions *in, const char *root, const char *cwd, struct err *e);
void instructions_budget(struct instructions *in);
void instructions_free(struct instructions *in);

/* What in a text looks as if it wanted to take over: a few words, or NULL. A hint for a person, never the defence. */
const char *instructions_suspect(const char *text);

#endif

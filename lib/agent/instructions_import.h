/* instructions_import.h - `@path` in an instruction file (a part of instructions.h). */
#ifndef AGENT_INSTRUCTIONS_IMPORT_H
#define AGENT_INSTRUCTIONS_IMPORT_H

#include "agent/instructions.h"

/* Takes the files that in->v[of], which lies at rel beneath root, imports. */
void instructions_imports(struct instructions *in, size_t of, int root, const char *rel);

/* Joins dir of `from` and `path` and resolves "." and ".."; -1: absolute, or out of the root. */
int instructions_join(const char *from, const char *path, struct buf *out);

/* 1 taken, 0 not there or had before, -1 refused. */
int instructions_beneath(struct instructions *in, int root, const char *rel, const char *shown, bool user, int depth);
int instructions_take(struct instructions *in, int fd, const char *shown, bool user, int depth);

#endif

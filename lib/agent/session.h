/* session.h - where a session lies: one log FILE and, beside it, a directory FILE.d with what belongs to it.
 *
 *   ~/.local/state/claws/sessions/ID.ndjson        the log, claws-messages(5), first line `session`
 *   ~/.local/state/claws/sessions/ID.ndjson.d/     blobs/ (sha256-HEX files), inbox, journal, lock
 *
 * In a ring CLAWS_SESSION names the log (absolute path). */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* NAME, a path (holds a '/') or a session's id, unique prefix of an id, or exact title -> path of the log.
 * -1: ST_NOINPUT none, or several (their ids are in the text). */
int session_find(const char *name, struct buf *path, struct err *e);

/* Where the session of an id lies or will lie. -1: ST_USAGE, not an id. */
int session_path(const char *id, struct buf *path, struct err *e);
bool session_id_ok(const char *id);

/* Calls fn for each session of the state directory, newest first, until it returns non-zero (then < 0 is an error). */
typedef int session_fn(void *arg, const char *id, const char *path);
int session_each(session_fn *fn, void *arg, struct err *e);

/* The state directory's sessions folder, made if missing. */
int session_dir(struct buf *path, struct err *e);

/* FILE.d/NAME; the directory is made (0700) if missing. */
int session_side(const char *log, const char *name, struct buf *path, struct err *e);

/* Descriptor of the blob directory (made if missing), or -1. */
int session_blobs(const char *log, struct err *e);

/* 32 bytes at least: YYYYMMDD-HHMMSS-xxxxxx, x random in [a-z0-9]. */
void session_new_id(char id[32]);

#endif

/* log.h - a session's log: appended to by one writer, never rewritten.
 *
 *   struct log l;
 *   if (log_open(&l, path, &e) < 0) ...       // lock taken, torn tail cut off, made if missing
 *   log_append(&l, line, len, &e);            // whole or not at all
 *   log_sync(&l, &e);
 *   log_close(&l);
 *
 * The lock is LOG.d/lock (lock.h); held by another: ST_TEMP, the text names its pid. A last line without its end (a crash, a
 * full disk) is moved to LOG.d/torn and cut off; l.torn says how many bytes. A write that fails half-way is cut off again
 * (ENOSPC), so that the next record does not fuse with it. The file is 0600. */
#ifndef AGENT_LOG_H
#define AGENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/lock.h"

struct log {
	int fd;
	char *path;
	struct lock lock;
	off_t size;        /* good bytes */
	size_t torn;       /* bytes cut off at open */
	bool fresh;        /* was empty: the session line is to be written */
	bool dirty;        /* appended since the last sync */
};

/* May the file be used as a log? Yes if it is missing, empty, or has a message or control line of claws-messages(5): else
 * it is somebody's file (-r ./notes), which must be neither appended to nor mended. ST_DATA. log_open looks, too. */
int log_check(const char *path, struct err *e);
int log_open(struct log *l, const char *path, struct err *e);
int log_append(struct log *l, const char *line, size_t len, struct err *e);   /* adds LF */
int log_sync(struct log *l, struct err *e);
void log_close(struct log *l);

/* What the first line says. Strings are to be freed by log_head_free; NULL where it says nothing. */
struct log_head {
	char *id, *cwd, *dir, *title, *starter;   /* dir: DEVICE:INODE of cwd */
	int64_t ts;
};
int log_head(const char *path, struct log_head *h, struct err *e);
void log_head_free(struct log_head *h);

#endif

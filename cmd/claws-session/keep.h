/* keep.h - what append knows of the log: ids, open calls, the last system prompt; and how a line gets into it. */
#ifndef KEEP_H
#define KEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/log.h"
#include "base/hash.h"
#include "base/set.h"
#include "proto/stage.h"

struct open_call {
	char *id, *name;
	bool done, failed;
};

struct keep {
	struct stage *st;
	struct log log;
	struct set ids;
	struct open_call *calls;       /* of the last assistant message */
	size_t ncalls;
	char system[SHA256_HEX];       /* of the last system line's content */
	char calls_hash[SHA256_HEX];   /* names and inputs of the last assistant's calls */
	bool sync_always, sync_never;
	const char *starter, *id;
	char *title;                   /* of a new session; NULL: the beginning of its first message */
	struct buf line;
};

/* Opens the log, reads it, and mends it: a torn end, a missing assistant line, calls without a result. Says so in notices. */
int keep_open(struct keep *k, struct stage *st, const char *path, struct err *e);
void keep_close(struct keep *k);

/* Logs a message or log line. 1: logged; k->line is the line as it stands there (an id added where it had none).
 * 0: its id is held already, or it is a system prompt like the last one. -1: the log could not be written. */
int keep_line(struct keep *k, const struct msg *m, struct err *e);

/* Error results for the calls that have none; each is handed to made() after it is logged. */
typedef void keep_fn(void *arg, const char *line, size_t len);
int keep_close_calls(struct keep *k, const char *why, keep_fn *made, void *arg, struct err *e);

size_t keep_open_calls(const struct keep *k);
bool keep_all_failed(const struct keep *k);    /* there were calls, and each result is an error */
const char *keep_call_name(const struct keep *k, const char *id);
int keep_sync(struct keep *k, struct err *e);  /* by the sync setting */

#endif

/* inbox.h - messages that wait for a session: LOG.d/inbox, NDJSON, under LOG.d/inbox.lock.
 *
 * Anybody may put a user message in (claws-session inbox); the session's append takes all out at once. While a run
 * takes messages LOG.d/inbox.open is there and the session's lock is held: what is put in then has joined the run; else it is
 * queued for the next one. The run closes the inbox under the same lock in which it saw it empty, so the answer is
 * true. A message is in the log, synced, before it is taken out, and its id keeps it from being logged twice. */
#ifndef AGENT_INBOX_H
#define AGENT_INBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* 1 joined, 0 queued, -1. line is a whole user line without LF. */
int inbox_put(const char *log, const char *line, size_t len, struct err *e);

int inbox_open(const char *log, struct err *e);    /* from now on: joined */

/* Calls take for each line, in order, then empties the inbox; when take fails nothing is taken out. With close, and
 * nothing there, the inbox is closed. Returns how many there were, or -1. */
typedef int inbox_fn(void *arg, const char *line, size_t len, struct err *e);
int inbox_take(const char *log, bool close, inbox_fn *take, void *arg, struct err *e);

#endif

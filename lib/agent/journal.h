/* journal.h - which calls may have run although the log does not say so.
 *
 * claws-tool writes here, and syncs, before a call runs that is not read-only; claws-session append reads it when it
 * opens a log. The file is LOG.d/journal, NDJSON: first the assistant line as it stands in the stream, then one line
 * {"type":"call","id":ID} for each call that was about to run. A new assistant message replaces the whole file: by then the
 * log holds every result of the one before (append logs them before it feeds the next turn). */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include <stddef.h>

#include "base/err.h"

/* Before the first such call of an assistant message. log is the session's log file. 0, -1 (ST_IO). */
int journal_begin(const char *log, const char *assistant, size_t len, struct err *e);
/* Before each such call, on disk when it returns. */
int journal_call(const char *log, const char *id, struct err *e);
int journal_clear(const char *log, struct err *e);

struct journal {
	char *assistant;      /* the line; NULL: no journal */
	size_t len;
	char **calls;         /* ids that were about to run */
	size_t ncalls;
};
int journal_read(const char *log, struct journal *j, struct err *e);   /* none at all is 0 with assistant NULL */
void journal_free(struct journal *j);

#endif

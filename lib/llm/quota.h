/* quota.h - what was spent, and budgets that it must stay within: shared by all processes of a user.
 *
 *   struct quota q;
 *   quota_open(&q, path);                                  // an account: PATH and PATH.sum
 *   q.limit[QUOTA_TOKENS] = 200000;                        // 0: no budget
 *   switch (quota_reserve(&q, input, &output, &hit, &e))   // amounts by unit; before the call
 *   case QUOTA_GO: ...; quota_settle(&q, line, spent, &e)  // after it: one line, and the reservation is gone
 *   case QUOTA_WAIT: ...ask again in a moment: other calls hold what is left, and may not use it...
 *   case QUOTA_FULL: ...hit says which budget...
 *   quota_close(&q);
 *
 * PATH is text: one line of JSON a call, appended whole under flock(2) of PATH; it is the truth. PATH.sum is rebuilt from
 * it where it is missing or no record: totals up to an offset of PATH, and the reservations of calls that run, each with
 * its process and that one's start time, so that the reservation of a process that is gone counts no more. A line that was
 * torn by a crash is ended by the next that appends, and not counted. Amounts are integers: tokens, and nanodollars.
 * Errors: ST_IO and the like where the files cannot be read or written. */
#ifndef LLM_QUOTA_H
#define LLM_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum quota_unit { QUOTA_TOKENS, QUOTA_USD, QUOTA_UNITS };

#define QUOTA_DOLLAR INT64_C(1000000000)
#define QUOTA_LEAST 256        /* tokens: no call gets less room for its answer */

struct quota {
	char *path;            /* NULL: no account */
	int64_t limit[QUOTA_UNITS];
	int64_t used[QUOTA_UNITS];   /* as last seen */
	bool held;             /* we have a reservation */
};

enum quota_say { QUOTA_ERROR = -1, QUOTA_GO, QUOTA_WAIT, QUOTA_FULL };

struct quota_hit { enum quota_unit unit; int64_t limit, used; };

/* "$5", "5usd", "5$" are dollars; "200k", "1.5m", "300" tokens. Nothing, zero, less and anything else: -1, ST_USAGE. */
int quota_parse(const char *text, enum quota_unit *unit, int64_t *amount, struct err *e);
/* "$1.83", "124k", "1.5m", "812". */
void quota_format(char *out, size_t n, enum quota_unit unit, int64_t amount);

void quota_open(struct quota *q, const char *path);
void quota_close(struct quota *q);                /* gives a reservation back */

/* input[u] is what the call costs at least; output[u], in and out, what its answer may cost: lowered to what is left. */
enum quota_say quota_reserve(struct quota *q, const int64_t *input, int64_t *output, struct quota_hit *hit, struct err *e);
/* line: a JSON object with "tokens" and "nanousd", without newline. warn[u]: 80 or 95 when this call went over that part of
 * the budget, else 0. */
int quota_settle(struct quota *q, const char *line, const int64_t *spent, int *warn, struct err *e);
void quota_release(struct quota *q);              /* no call was made */
int quota_read(struct quota *q, struct err *e);   /* q->used; no file is no spend */

/* Budgets that always hold: the user's file ~/.config/claws/quota, lines such as "day $20" or "session 200k $5". Zeros: none.
 * ST_CONFIG names file and line. */
enum quota_scope { QUOTA_SESSION, QUOTA_DAY, QUOTA_SCOPES };
const char *quota_scope_name(enum quota_scope s);
enum quota_scope quota_scope(const char *name);   /* QUOTA_SCOPES: none of them */
int quota_limits(int64_t limit[QUOTA_SCOPES][QUOTA_UNITS], struct err *e);
int quota_limits_write(int64_t limit[QUOTA_SCOPES][QUOTA_UNITS], struct err *e);

/* The account of a session, by its log: quota/session-HEX.ndjson in the state directory. */
int quota_session_path(struct buf *path, const char *log, struct err *e);

/* The account of the UTC day of t: quota/YYYY-MM-DD.ndjson in the state directory. */
int quota_day_path(struct buf *path, int64_t t, struct err *e);

#endif

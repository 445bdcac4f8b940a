/* append.h - the parts of `claws-session append`: append.c (lines), prompt.c (what a run is given), decide.c (what comes
 * next), ring.c (the loop in a ring). */
#ifndef APPEND_H
#define APPEND_H

#include "base/prog.h"
#include "base/status.h"
#include "keep.h"
#include "run.h"
#include "session.h"
#include "sys/sig.h"
#include "sys/watch.h"

#define FEED_FD 3   /* what is written there goes to the first stage of the ring */

struct append {
	const struct conf *conf;
	struct stage st;
	struct keep keep;
	struct run run;
	struct out feed;
	struct sigs sigs;
	struct watch inbox;
	struct buf request;        /* the compact_request of this turn */
	unsigned long runs;
	const char *path, *id;
	const char *prompt;        /* file to remove once its lines are on disk */
	bool inbox_closed;         /* nobody joins this run any more */
	bool unsynced;             /* the log is to be synced once the queues have left */
	long long give_up_at;      /* an interrupted turn did not end; 0: none */
	int status;                /* of the last run */
	bool over, hurry;          /* a person or the system wants the end */
};

/* append.c */
_Noreturn void append_log_failed(struct append *a, const struct err *e);   /* what is not logged must not be acted on */
void append_feed(struct append *a, const char *line, size_t len);
void append_made(void *a, const char *line, size_t len);                   /* a logged line: pass it on and feed it */
void append_close_calls(struct append *a, const char *why);
void append_handle(struct append *a, const struct msg *m);

/* prompt.c */
int append_take(void *a, const char *line, size_t len, struct err *e);     /* an inbox_fn */
int append_inbox(struct append *a, bool close_it);                         /* how many messages were taken */
bool append_inbox_waits(struct append *a);
bool append_prompt_waits(void);
int append_prompt(struct append *a);                                       /* 1: there was one */
void append_settle(struct append *a);                                      /* sync, once the queues have left */

/* decide.c */
void append_turn(struct append *a);                                        /* feed the next turn */
void append_start_run(struct append *a);
void append_end_run(struct append *a, int status, const char *limit, const char *why);
void append_decide(struct append *a);

/* ring.c */
int append_ring(struct append *a);

#endif

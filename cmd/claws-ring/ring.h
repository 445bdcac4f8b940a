/* ring.h - the stages of a pipeline that is bent into a ring. */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define FEED_FD 3   /* in the stage before the last: feeds the first stage's standard input */

struct stage {
	char ***commands;    /* argv vectors; all but the last run to their end first, with nothing on stdin */
	size_t ncommands;
	const char *name;    /* for messages and for --secret */
	pid_t pid;           /* 0 once it has ended */
	int status;          /* as waitpid(2) tells it */
	bool ended;          /* reaped, and not yet looked at */
};

struct ring {
	struct stage *stages;
	size_t n;
	const char *const *secrets;   /* patterns of environment variables for one stage only */
	size_t nsecrets;
	size_t secret_stage;          /* which, from 1; 0: the one named claws-stream or stream */
};

/* Cuts argv at '|' and ';' words. The vectors borrow from argv. -1: an empty command. */
int ring_cut(struct ring *r, char **argv, struct err *e);

void ring_free(struct ring *r);

/* Starts them all, joined by pipes. -1: none runs. */
int ring_start(struct ring *r, struct err *e);

/* The stage before the last. It starts with SIGUSR1, SIGUSR2, SIGTERM, SIGHUP and SIGPIPE blocked and waits for them
 * with signalfd(2), so that none is lost however early it comes. */
struct stage *ring_feeder(struct ring *r);

bool ring_gets_secrets(const struct ring *r, size_t k);

#endif

/* run.h - one run: from its prompt to run_done; what its turns cost, why it ends and with which status. */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/stage.h"

struct counters {
	int64_t input, cache_read, cache_write, output, reasoning;
	double cost;
	bool cost_unknown, any;
};

struct run {
	char id[24];
	int64_t turns;
	struct counters usage;
	struct buf denied;            /* JSON objects, comma-separated */
	int ndenied;
	char error_class[24];         /* of the last error event of this turn */
	int error_exit;               /* the exit status it stands for */
	struct buf error_text;
	enum stop stop;
	int context_exceeded, cut, same_failures;   /* in a row */
	char failed_calls[65];        /* hash of the last calls that all failed */
	bool active, turning;         /* a run is on; a model call is under way */
	int interrupt;                /* exit status an interrupt gives; 0: none */
};

void run_begin(struct run *r, struct stage *st, unsigned long number);
void run_free(struct run *r);

void run_started(struct run *r, struct stage *st, const char *session, int64_t max_turns, int64_t max_time_ms);   /* run_start */
void run_error(struct run *r, const struct json *j);                        /* an error event */
void run_denied(struct run *r, const struct json *j, const char *name);     /* a permission event that denies */
void run_usage(struct run *r, const struct json *turn_done);

/* The status of a run that ends with its last stop_reason and nothing else. */
int run_status(const struct run *r);

/* run_done; clears active. limit and why may be NULL. */
void run_done(struct run *r, struct stage *st, int exit_status, const char *limit, const char *why);

#endif

/* breaker.h - a circuit breaker for a provider that all processes of a user share: one that has failed five times within a
 * minute is not called for two minutes, and then by one of them alone, to see whether it is back.
 *
 *   struct breaker b;
 *   breaker_open(&b, "anthropic@api.anthropic.com:443");
 *   if (breaker_ask(&b, now, &left_ms) == BREAKER_OPEN) ...say so, call somebody else...
 *   else ...call...; then one of
 *   breaker_failed(&b, now);     // overloaded, a time limit, no connection, 5xx
 *   breaker_worked(&b);          // it answered, be it with "wrong key"
 *   breaker_gave_up(&b);         // nothing was learned: interrupted
 *   breaker_close(&b);
 *
 * States: CLOSED (no file, or up to four failures in it), OPEN, and PROBE: the 120 s are over and one process is trying.
 * A probe that does not end within 120 s, or whose process is gone, is taken over by the next that asks.
 *
 * The file is breaker/NAME in the state directory, one record of fixed size, written by one pwrite(2) under flock(2): a
 * process that is killed leaves the old record or the new one, and no lock. What is no record counts as none. Times are
 * CLOCK_BOOTTIME of breaker_now, which no setting of the clock moves; a time that is still to come (the machine was
 * started anew) counts as over. With a healthy provider there is no file, and all this costs one open(2) a call.
 *
 * Nothing here fails: where the file cannot be read or written, calls go on as if there were no breaker. */
#ifndef LLM_BREAKER_H
#define LLM_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_FAILURES 5
#define BREAKER_WITHIN_MS 60000
#define BREAKER_OPEN_MS 120000

struct breaker {
	char *path;           /* NULL: there is no place for it */
	bool recorded;        /* there was a file when it was asked */
};

enum breaker_say { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_PROBE };

int64_t breaker_now(void);

void breaker_open(struct breaker *b, const char *name);
enum breaker_say breaker_ask(struct breaker *b, int64_t now, int64_t *left_ms);
/* True: this failure has opened it. */
bool breaker_failed(struct breaker *b, int64_t now);
void breaker_worked(struct breaker *b);
void breaker_gave_up(struct breaker *b);
void breaker_reset(struct breaker *b);     /* forget all failures */
void breaker_close(struct breaker *b);     /* free; the file stays */

#endif

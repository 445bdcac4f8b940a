/* retry.h - whether to try again, and when. No clock of its own: times are CLOCK_MONOTONIC milliseconds of the caller.
 *
 *   struct retry r = {.max = 3, .deadline = now + total, .jitter = true};
 *   switch (retry_next(&r, asked, now, &wait)) ...
 *
 * The wait is what the server asked for (asked >= 0), else min(8, 0.5 * 2^n) s, shortened at random by up to a quarter,
 * as the providers' own clients do. A server that asks for more than RETRY_ASKED_MAX or more than is left until the
 * deadline is not waited for. */
#ifndef NET_RETRY_H
#define NET_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#define RETRY_ASKED_MAX 60000

struct retry {
	int max;            /* tries after the first */
	int done;           /* of them used */
	int64_t deadline;   /* nothing begins after it */
	bool jitter;
};

enum retry_say {
	RETRY_WAIT,         /* wait *wait_ms, then again; counted */
	RETRY_USED_UP,      /* max reached, or no time left */
	RETRY_TOO_LONG,     /* the server asks for too long a wait */
};

enum retry_say retry_next(struct retry *r, int64_t asked_ms, int64_t now_ms, int64_t *wait_ms);

#endif

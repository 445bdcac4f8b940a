#include "net/retry.h"

#include <sys/random.h>

/* 0..max, both included; max where the system has no random numbers yet. */
static int64_t retry_random(int64_t max)
{
	uint32_t r;

	if (max <= 0 || getrandom(&r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r)
		return max;
	return (int64_t)(r % (uint64_t)(max + 1));
}

enum retry_say retry_next(struct retry *r, int64_t asked_ms, int64_t now_ms, int64_t *wait_ms)
{
	int64_t wait;

	if (asked_ms > RETRY_ASKED_MAX || (asked_ms >= 0 && asked_ms >= r->deadline - now_ms))
		return RETRY_TOO_LONG;
	if (r->done >= r->max)
		return RETRY_USED_UP;
	if (asked_ms >= 0) {
		wait = asked_ms;
	} else {
		wait = r->done < 4 ? 500 << r->done : 8000;
		if (r->jitter)
			wait -= retry_random(wait / 4);
	}
	if (wait >= r->deadline - now_ms)
		return RETRY_USED_UP;
	r->done++;
	*wait_ms = wait;
	return RETRY_WAIT;
}

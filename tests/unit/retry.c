/* retry.c - waits: how long, how many, and not beyond the deadline. */
#include <limits.h>

#include "net/retry.h"
#include "llm/classify.h"
#include "tap.h"

int main(void)
{
	struct retry r = {.max = 6, .deadline = INT64_MAX / 2};
	int64_t want[] = {500, 1000, 2000, 4000, 8000, 8000}, wait = 0;

	for (int i = 0; i < 6; i++)
		OK(retry_next(&r, -1, 0, &wait) == RETRY_WAIT && wait == want[i], "wait %d is %ld ms", i + 1, (long)want[i]);
	OK(retry_next(&r, -1, 0, &wait) == RETRY_USED_UP, "used up");
	r = (struct retry){.max = 3, .deadline = 1000};
	OK(retry_next(&r, 50, 0, &wait) == RETRY_WAIT && wait == 50, "what the server asks for");
	OK(retry_next(&r, 0, 0, &wait) == RETRY_WAIT && wait == 0, "none is none");
	OK(retry_next(&r, 1000, 0, &wait) == RETRY_TOO_LONG, "not beyond the deadline");
	OK(retry_next(&r, RETRY_ASKED_MAX + 1, 0, &wait) == RETRY_TOO_LONG, "not more than a minute");
	OK(retry_next(&r, -1, 999, &wait) == RETRY_USED_UP && r.done == 2, "no wait of our own beyond it");
	r = (struct retry){.max = 1000, .deadline = INT64_MAX / 2, .jitter = true};
	int bad = 0;
	for (int i = 0; i < 1000; i++) {
		int64_t full = i < 4 ? 500 << i : 8000;
		bad += retry_next(&r, -1, 0, &wait) != RETRY_WAIT || wait > full || wait < full - full / 4;
	}
	OK(bad == 0, "chance shortens by a quarter at most");
	OK(retry_after_headers("1", "0", 0) == 1000, "Azure: the larger of the two");
	OK(retry_after_headers(NULL, "70.5", 0) == 71, "milliseconds");
	OK(retry_after_headers("0.05", NULL, 0) == 50, "fractions");
	OK(retry_after_headers("Thu, 01 Jan 1970 00:01:00 GMT", NULL, 30) == 30000, "a date");
	OK(retry_after_headers("Thu, 01 Jan 1970 00:01:00 GMT", NULL, 90) == 0, "a date that is over");
	OK(retry_after_headers("soon", NULL, 0) == -1, "neither");
	return END();
}

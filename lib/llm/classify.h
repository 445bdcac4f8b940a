/* classify.h - what kind of failure an error is: its class (claws-messages(5), error.class), whether trying again
 * can help, when, and the exit status of a program that gives up on it. One table (classify.c) holds the classes;
 * no state.
 *
 * Types and codes are the provider's own words and come first. Of a message only the beginning counts, without what it
 * quotes: an error may quote the prompt, and "the author hit the rate limit" in it says nothing. A limit that is reached,
 * a wrong key and the like are never read out of the middle of a message.
 *
 * Sources: the providers' error pages and their official clients' retry rules: x-should-retry decides; else 408,
 * 409, 429 and 5xx are tried again, but never a lack of money, a wrong key, a bad request or an overflow. */
#ifndef LLM_CLASSIFY_H
#define LLM_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

struct error_class {
	const char *name;     /* "rate_limit" */
	int status;           /* enum status */
	bool retry;           /* trying the same again may help */
	bool failover;        /* another provider or model may help */
	const char *advice;   /* what a person can do, in a few words; "" if nothing is to be said */
};

/* Never NULL: an unknown name is "unknown". */
const struct error_class *error_class(const char *name);
/* The table; NULL-named entry at the end. */
const struct error_class *error_classes(void);

/* The exit status of a program that gives up on an error: the class's, but 69 instead of 75 for a server that is broken (any
 * other 5xx than 529, and no word of overload in its code or type): trying again soon will not help. class is a name. */
int error_status(const char *class, int http, const char *code);

/* The class of what a provider said. status is HTTP's (or the body's), 0 if there was none; type, code, message may
 * be "". */
const char *classify(int status, const char *type, const char *code, const char *message);

/* retry-after (seconds, fractions allowed, or an HTTP date) and retry-after-ms, NULL where not sent; now in seconds
 * since 1970. Milliseconds, the larger of the two, or -1. */
int64_t retry_after_headers(const char *retry_after, const char *retry_after_ms, int64_t now);
/* A delay out of words: "48s", "1m2.5s", "20ms", "try again in 11.054s", "retry in 5 seconds". Milliseconds, or -1.
 * */
int64_t retry_after_text(const char *text);

/* The number of tokens that an overflow's text says would fit ("maximum context length is 8192 tokens"); 0 if it
 * does not. */
int64_t overflow_limit(const char *text);
/* The tokens that it says the prompt has ("requested 9000 tokens (8000 in the messages, 1000 in the completion)"); 0. */
int64_t overflow_prompt(const char *text);
/* Out of the refusal of a limit for the answer ("max_tokens: 200000 > 64000, which is the maximum"): the largest
 * number that is allowed and smaller than what was asked for; 0 if there is none. */
int64_t output_cap(const char *text, int64_t asked);

#endif

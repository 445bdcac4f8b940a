/* estimate.h - about how many tokens a line of the conversation takes, without a tokenizer.
 *
 * A token is counted for every three bytes of what is sent (content and calls, as JSON text), ESTIMATE_MESSAGE for each
 * message's frame, and ESTIMATE_IMAGE for each image. English prose has about four bytes a token, code and JSON
 * about three, Chinese three bytes a character and about one token: it errs to the safe side. What providers counted for earlier
 * requests corrects it (struct estimate): their usage over our number for the same conversation, within bounds, so that
 * a wrong report cannot mislead it far. Cost: no more than looking up a few members. */
#ifndef AGENT_ESTIMATE_H
#define AGENT_ESTIMATE_H

#include <stdint.h>

#include "json/json.h"

#define ESTIMATE_MESSAGE 8
#define ESTIMATE_IMAGE 1600

/* A parsed message, system or tools line. */
uint64_t estimate_line(const struct json *j);

struct estimate {
	double ratio;           /* tokens by the provider's count for one of ours; 1 until known */
};

#define ESTIMATE_INIT {1.0}

/* The assistant line j answered a request that we count as `ours` tokens. */
void estimate_learn(struct estimate *e, const struct json *j, uint64_t ours);
uint64_t estimate_real(const struct estimate *e, uint64_t ours);    /* ours -> provider's */
uint64_t estimate_ours(const struct estimate *e, uint64_t real);    /* and back */

#endif

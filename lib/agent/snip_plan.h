/* snip_plan.h - a held conversation made to fit: first old tool results are snipped, then the oldest messages are left
 * out, then everything big is snipped.
 *
 *   struct buf lines; buf_init(&lines, ...);
 *   if (snip_fit(&h, &want, &lines)) ...     // h is shorter now; lines holds the `compaction` lines that say how
 *
 * Each step is one compaction line, and snip_again, given that line at the same place of the same conversation, does the
 * same: so a session that is taken up again begins as short as it ended, while its log keeps everything. Messages are named
 * by their id, or "#N", counted from 1, where they have none or share it. A compaction line has, besides what
 * claws-messages(5) lists:
 *   limit  bytes that the snipped messages were cut to        kept  messages before `dropped` that stay
 *
 * The first prompt and the last one always stay; a call is never parted from its result; what was left out is stood for by
 * one user message. h must be settled (heal_settle) and stays so. */
#ifndef AGENT_SNIP_PLAN_H
#define AGENT_SNIP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/heal.h"
#include "base/buf.h"

struct snip_want {
	uint64_t target;     /* stop as soon as h->tokens is this or less */
	uint64_t most;       /* and cut hard only while it is more than this */
	/* h->tokens as the tokens that are written to the lines */
	uint64_t (*shown)(void *arg, uint64_t tokens);
	void *arg;
};

bool snip_fit(struct heal *h, const struct snip_want *want, struct buf *lines);
void snip_again(struct heal *h, const struct json *compaction);

#endif

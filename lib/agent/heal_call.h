/* heal_call.h - the calls of an assistant message and the results that belong to them (a part of heal.h). */
#ifndef AGENT_HEAL_CALL_H
#define AGENT_HEAL_CALL_H

#include "agent/heal.h"

/* The calls of an assistant line into g, each with an id of its own; true if its tool_calls must be replaced by h->calls.
 * mended is set if a call itself is not what it was, so that the provider's blocks no longer match it. */
bool heal_calls_take(struct heal *h, const struct json *j, struct heal_group *g, bool *mended);

/* The call that a result with this id belongs to, which no longer waits then; NULL if none waits for it. known: a call
 * came with that id before. */
struct heal_call *heal_call_find(struct heal *h, const char *id, bool *known);

/* Gives it the error result that says that there is none. */
void heal_call_close(struct heal *h, struct heal_call *c);

#endif

/* heal.h - the conversation as it is held: messages in order, each call with its result, legal for every provider.
 *
 *   struct heal h; heal_init(&h);
 *   heal_add(&h, &json);            // each user, assistant and tool line as it comes
 *   heal_settle(&h);                // before it is sent: what is still open gets closed
 *   for (g = 0; g < h.n; g++) ...   // h.g[g]->msg, then its calls' results, is the order to send
 *   heal_free(&h);
 *
 * A history may be damaged: cut by a kill, put together from parts, imported, or made by a provider with habits of its own.
 * Providers refuse a whole request for one such place, and then every later one too. The rules, which depend on nothing but
 * the lines and their order:
 *   - a result without a call that waits for it is dropped, also a second result of a call;
 *   - results stand directly after their assistant message, in the order of the calls, wherever they came; a call
 *     without one gets an error result when the conversation is settled;
 *   - an id stands for one call: an empty or repeated one is replaced, in its result too; a call's name has only
 *     [A-Za-z0-9_-], at most 64; its input is an object, or the string that could not be parsed;
 *   - assistant messages without text and calls, and user messages without text and images, are dropped; a pause (its
 *     blocks continue in the next turn) is kept;
 *   - the first message is a user's: one is put before an assistant's;
 *   - white space at the end of the last message is cut off if that is an assistant's.
 * What needs no change keeps its bytes. What was made here has neither id nor ts, so that the same history gives the same bytes.
 *
 * Ownership: lines are copied. Memory: the lines and about 100 bytes for each. Cost: linear. */
#ifndef AGENT_HEAL_H
#define AGENT_HEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/heal_map.h"
#include "base/buf.h"
#include "json/json.h"
#include "proto/msg.h"

struct held {                    /* one message line */
	char *line;              /* NULL: none */
	size_t len;
	uint64_t tokens;         /* estimate.h */
	size_t id_at, id_len;    /* where the line holds its id, as JSON text with quotes; 0: it has none */
};

struct heal_call {
	char *id;                /* as held */
	char *came;              /* as it came */
	struct held result;
	struct heal_call *next_same;   /* the next call of this message that came with the same id */
};

struct heal_group {              /* a user message, or an assistant message and its results */
	enum msg_kind kind;      /* MSG_USER, MSG_ASSISTANT */
	bool stub;               /* made here: stands for what is not there */
	unsigned long left_out;  /* stub: messages it stands for */
	struct held msg;
	struct heal_call *calls;
	size_t ncalls, open;     /* calls before `open` have their result */
};

struct heal_report {             /* what was mended since it was last cleared */
	unsigned long orphans, repeated, closed, ids, calls, empty, content, head, tail;
};

struct heal {
	struct heal_group **g;
	size_t n, cap, settled;  /* groups before `settled` have all their results */
	uint64_t tokens;         /* sum over all messages held */
	size_t messages;
	struct heal_report report;
	/* at work */
	struct heal_map ids;
	struct heal_group *assistant;   /* the last one */
	uint64_t stamp;
	struct json json;
	struct buf text, line, calls;
};

void heal_init(struct heal *h);
void heal_free(struct heal *h);
void heal_forget(struct heal *h);                          /* all messages; the ids stay used */
void heal_add(struct heal *h, const struct json *j);       /* lines of other kinds are ignored */
void heal_settle(struct heal *h);

/* What was mended, in words ("2 calls without a result closed, ..."), and clears the report. False: nothing. */
bool heal_told(struct heal *h, struct buf *words);

/* For those who change the conversation otherwise (snip.h). */
void held_set(struct heal *h, struct held *m, const char *line, size_t len);   /* copies; counts */
struct heal_group *heal_user(struct heal *h, const char *text);                /* a stub, not yet in h->g */
void heal_group_free(struct heal *h, struct heal_group *g);

#endif

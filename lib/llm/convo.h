/* convo.h - the conversation as it is sent: serialised once, kept from turn to turn, appended to.
 *
 *   struct convo c; convo_init(&c, wire, "anthropic/claude-x");  c.load = load_blob; c.load_arg = ...;
 *   convo_add(&c, &json, &e);              // each system, user, assistant, tool or tools line as it comes
 *   wire->body(&c, &options, &out, &e);    // the whole request; the convo is not changed by it
 *   convo_reset(&c);                       // a `reset` line: messages are forgotten, system and tools stay
 *
 * Up to the end of the last message the bytes of "messages" are the same in the next request (cache marks aside), so
 * providers' prompt caches hit. A message costs work once: when it is added.
 *
 * An assistant line's own blocks and reasoning are sent back only if their maker is c->maker; otherwise text and
 * calls are rebuilt from the neutral members. A tool result whose call is not waiting for one (unknown, or answered
 * before) is left out and counted in `dropped`: providers refuse the whole request for it.
 *
 * Errors: -1 with ST_DATA for a line that breaks claws-messages(5); an image that cannot be loaded or is none
 * becomes a text that says so. Limits: CONVO_MAX bytes of messages. */
#ifndef LLM_CONVO_H
#define LLM_CONVO_H

#include "base/set.h"
#include "llm/wire.h"

#define CONVO_MAX ((size_t)512 << 20)

enum { INPUT_IMAGE = 1, INPUT_PDF = 2, INPUT_TEXT_ONLY = 4 };

struct convo_call {            /* gemini, ollama: a call of the last assistant message */
	char *id, *name;
	char *own;                /* the id that the provider gave it, or NULL */
	size_t end;               /* where its result ends in messages; 0: there is none yet */
};

struct convo {
	const struct wire *wire;
	char *maker;              /* PROVIDER/MODEL that will answer */
	struct buf messages;      /* the serialised messages, joined by commas, without the brackets */
	struct buf system;        /* text; empty: none */
	struct buf tools;         /* serialised for this wire, joined by commas, without the brackets; empty: none */
	size_t nmessages;

	/* Appends the bytes of blob ref ("sha256:HEX"); 0, or -1 with e. NULL: images cannot be loaded. */
	int (*load)(void *arg, const char *ref, struct buf *bytes, struct err *e);
	void *load_arg;
	uint64_t quirks;          /* of provider and model: quirk.h. Set before the first line */
	unsigned inputs;          /* what the model takes beside text: INPUT_IMAGE | INPUT_PDF; 0 after convo_init means both */
	unsigned long dropped;    /* tool results left out */

	/* at work */
	struct buf pending;       /* openai-chat: images of tool results: a user message after the last result */
	struct buf final;         /* stands for the last message while it is the last: trailing space trimmed */
	bool has_final;
	size_t last_at;           /* where the last message begins in messages */
	size_t mark_at;           /* where a cache mark goes: before the closing brace of its last block; 0: nowhere */
	size_t mark_before;       /* the same of the user message before it */
	size_t results_at;        /* end of the tool results at the start of the last message */
	bool ids_kept;            /* openai-chat: the calls under way are of the maker, their ids stay as they came */
	bool no_thinking;         /* anthropic: the tool loop under way began without a thought: no more of them */
	struct convo_call *calls; /* gemini, ollama */
	size_t ncalls;
	enum { CONVO_NONE, CONVO_USER, CONVO_ASSISTANT, CONVO_TOOL } last;
	struct buf open;          /* ids of calls that wait for their result: each between NULs */
	struct set ids;           /* all call ids seen */
};

void convo_init(struct convo *c, const struct wire *wire, const char *maker);
void convo_free(struct convo *c);
void convo_reset(struct convo *c);
int convo_add(struct convo *c, const struct json *line, struct err *e);   /* other lines than the five: 0 */
void convo_forget_calls(struct convo *c);                                  /* c->calls: for the wires */
/* Was this call id used before in the conversation? For giving new calls ids of their own (answer_sink.rename). */
bool convo_has_id(const struct convo *c, const char *id);

#endif

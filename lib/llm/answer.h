/* answer.h - a model's answer, built from the bytes of its HTTP response.
 *
 *   struct answer a;
 *   answer_init(&a, wire, &sink, arg);
 *   answer_head(&a, status);                        // then answer_header for each header line
 *   answer_feed(&a, bytes, n);                      // as they come, at any cut; the sink hears of pieces
 *   answer_end(&a);                                 // once; or answer_cut (interrupted), or answer_fail
 * (connection lost)
 *   if (a.error.set) ... a.error.class, answer_retryable(&a); else a.content, a.calls, a.stop ...
 *   answer_free(&a);
 *
 * What came is decided by its content, not by the content type: server-sent events, JSON values in a row or AWS messages where the
 * wire has them, one JSON text (white space may come first), or an error page of any shape. Afterwards:
 * - content equals the joined pieces the sink got as text; thinking equals the joined pieces of thinking; unless
 *   `corrected`: the provider itself said another text in the end, which is the one kept;
 * - stop is always set: STOP_ERROR where error.set; STOP_TRUNCATED where the end came without the provider saying
 * that it is
 *   the end; STOP_TOOL_USE wherever a complete answer has calls and no other reason to stop;
 * - a call is to be run only if its `ok` is set and stop is STOP_TOOL_USE. ids are never empty and never twice in
 * an answer;
 * - blocks is a JSON array of the provider's own parts in order, byte for byte where they are opaque (signatures), or
 *   empty: there is nothing the provider wants to see again, or the answer is not complete.
 *
 * Ownership: everything belongs to the answer until answer_free. Texts are valid UTF-8 without NUL.
 * Limits: ANSWER_MAX bytes of content, thinking, all arguments and blocks each; ANSWER_CALLS calls; ANSWER_BODY
 * bytes of a body that is not a stream; ANSWER_VALUES_MOST values in one JSON text. Beyond: error of class protocol. */
#ifndef LLM_ANSWER_H
#define LLM_ANSWER_H

#include "llm/textcalls.h"
#include "llm/thinktags.h"
#include "llm/wire.h"
#include "net/eventstream.h"
#include "net/sse.h"
#include "net/values.h"

#define ANSWER_MAX ((size_t)64 << 20)
#define ANSWER_BODY ((size_t)64 << 20)
#define ANSWER_CALLS 1024
#define ANSWER_VALUES_MOST ((uint32_t)4 << 20)   /* JSON values of one event, or of a body: 64 MiB of tokens */

struct part;                  /* a block under way: private to answer.c and the wires */

struct answer {
	/* the message */
	struct buf content, thinking;
	struct call *calls;
	size_t ncalls;
	struct buf blocks;        /* "[...]" or empty */
	enum stop stop;
	struct buf stop_raw;      /* the provider's word */
	struct usage usage;
	struct buf model;         /* as the provider names what answered */
	struct buf id;            /* of the response */
	struct buf request_id;    /* from the headers */
	struct answer_error error;
	bool terminal;            /* the provider said that this is all */
	bool corrected;           /* openai-responses: a text as a whole was another than its pieces */
	bool heard;               /* the sink was told of something: a retry must say so */

	/* what the caller may set after answer_init */
	uint64_t quirks;          /* of provider and model: QUIRK_TEXT_CALLS, QUIRK_THINK_TAGS */
	const struct buf *tools;  /* offered, as convo.tools has them; borrowed. NULL: none, so no text is a call */

	/* the response's head */
	int status;
	int64_t header_retry_ms;  /* retry-after; -1 not sent */
	int should_retry;         /* x-should-retry: 1, 0, or -1 where it is not sent */

	/* at work */
	const struct wire *wire;
	struct answer_sink sink;
	void *arg;
	struct sse sse;
	struct json json;
	struct buf mended, body;
	size_t args_total;
	struct values values;
	struct eventstream aws;
	enum { ANSWER_START, ANSWER_SSE, ANSWER_VALUES, ANSWER_AWS, ANSWER_WHOLE } shape;
	bool ended;
	const char *event;        /* the name of the event under way: "" none; of AWS the :event-type or :exception-type */
	bool bad_event;           /* the last event was no JSON: fine only if the stream was cut there */
	struct buf held, joined;  /* an event whose text ends in half a character; the next with both halves */
	bool done;                /* "[DONE]" came */
	bool refused;             /* there was a refusal in words */
	struct part *parts;       /* anthropic: blocks in order; openai-chat: reasoning details */
	size_t nparts, capparts, capcalls;
	struct buf echo;          /* openai-chat: extra_content of the message, as JSON text */
	struct thinktags thinktags;
	struct textcalls textcalls;
	struct buf offered_text;  /* tools as one JSON text, parsed: when first asked for */
	struct json offered;
	int64_t prompt_tokens, tool_tokens;  /* gemini: as last said; 0: not yet */
	const char *thought_in;   /* openai-chat: the member that carried the thoughts; NULL none */
};

void answer_init(struct answer *a, const struct wire *wire, const struct answer_sink *sink, void *arg);
void answer_head(struct answer *a, int status);                       /* 0: not HTTP, success */
/* Picks retry-after, retry-after-ms, x-should-retry, request ids, x-amzn-errortype; ignores the rest. Name in any
 * case. */
void answer_header(struct answer *a, const char *name, const char *value);
int answer_feed(struct answer *a, const char *p, size_t n);           /* -1: hopeless (over a limit), hang up */
void answer_end(struct answer *a);                                    /* the end of the body has come */
void answer_cut(struct answer *a);                                    /* interrupted: STOP_INTERRUPTED, calls dropped */
/* The transport failed; class is "timeout", "connection" or the like. Counts as the end: what came is kept. If the
 * answer was complete by then it stands. */
void answer_fail(struct answer *a, const char *class, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void answer_free(struct answer *a);

/* May the request be sent again? Decided by x-should-retry, class and status (classify.h); truncated answers too. */
bool answer_retryable(const struct answer *a);

/* Writes the members of an assistant line (claws-messages(5)) into the object that is open in w: content, thinking,
 * tool_calls, blocks as {"maker":..,"list":[..]}, model, stop_reason, usage. maker is PROVIDER/MODEL. cost_usd < 0:
 * unknown. False, and nothing written, if there is neither content nor thinking nor a call nor a block: then there
 * is no such line. */
bool answer_write(const struct answer *a, struct jw *w, const char *maker, double cost_usd);
/* The value of "usage": counters the provider did not give are null. */
void usage_write(struct jw *w, const struct usage *u, double cost_usd);

/* For a person, one line: what failed, the provider's words without markup, and what to do. Nothing if there is no
 * error. */
void answer_words(const struct answer *a, struct buf *out);


#endif

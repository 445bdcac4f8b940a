/* request.h - what the wires share when they write requests. Private to lib/llm. */
#ifndef LLM_REQUEST_H
#define LLM_REQUEST_H

#include "llm/convo.h"

/* Hands a message to what its wire does with one of its kind. 0. */
typedef void request_adder(struct convo *c, const struct json *message);
int request_add(struct convo *c, const struct json *message, request_adder *user, request_adder *assistant, request_adder *tool);

/* The assistant message's own blocks, if c->maker made them: the value of "list"; else -1. */
int request_blocks(const struct convo *c, const struct json *j);

/* Length of s without the white space at its end. */
size_t request_trim(const char *s, size_t n);

/* The input of a call as one compact JSON object; what could not be parsed is {}: providers refuse a history with
 * less. */
void request_input(struct jw *w, const struct json *j, int input);

/* The id of a call, of letters, digits, '_' and '-' (Anthropic, Bedrock): ids of other makers may hold what is refused
 * there, as Kimi's functions.NAME:0. What such an id becomes ends in its digest: two that differ do not become one. */
void request_id(struct jw *w, const char *key, const struct json *j, int v);

/* The calls of an assistant line are kept in c->calls until the next one; which of them a tool line answers, or NULL. */
void request_note_calls(struct convo *c, const struct json *j);
struct convo_call *request_called(const struct convo *c, const struct json *j);
char *request_name(const struct json *j, int call);   /* of a call, to be freed; "unknown" if it has none */

/* A tool's input_schema as providers take it: an object at the top, without oneOf, anyOf, allOf there; under QUIRK_PLAIN_SCHEMA
 * in the words of schema_plain.h. */
void request_schema(struct jw *w, const struct json *j, int schema, uint64_t quirks);

/* Puts blocks (joined by commas) into the user message that is open, of a wire whose messages are {"role","content":[blocks]}, or
 * opens one. Results of tools come before everything else. The caller sets mark_at. */
void request_into_user(struct convo *c, const struct buf *blocks, bool result);

/* Writes "tools", if there are any and the model may have them. */
void request_tools(struct jw *w, const struct convo *c, const struct call_options *o);
/* The end of a body as most have it: tools, and messages with the system prompt as the first; closes the object. */
void request_rest(struct jw *w, const struct convo *c, const struct call_options *o);

/* Writes o->extra, the body's further members. */
int request_extra(struct jw *w, const struct call_options *o, struct err *e);   /* -1: o->extra is no JSON */

/* Opens a new message in c->messages and notes where; close it by hand. */
void request_message(struct convo *c);

/* Writes the messages: the key (the wire's word for them) and the array, `before` (or nothing) in front, marks set if wanted. */
void request_messages(struct jw *w, const char *key, const struct convo *c, const struct buf *before, const char *mark);

#endif

/* wires.h - the functions that the files of one wire share: answers in wire_X.c, requests in wire_X_request.c.
 * Private to lib/llm. */
#ifndef LLM_WIRES_H
#define LLM_WIRES_H

#include "llm/build.h"
#include "llm/convo.h"

void anthropic_event(struct answer *a, const struct json *j);
void anthropic_whole(struct answer *a, const struct json *j);
void anthropic_end(struct answer *a);
void anthropic_input(struct answer *a, struct jw *w, const char *args, size_t n);   /* of a call: an object, {} if it is none */
int anthropic_add(struct convo *c, const struct json *message, struct err *e);
int anthropic_tools(struct convo *c, const struct json *j, int tools, struct err *e);
int anthropic_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

void chat_event(struct answer *a, const struct json *j);
void chat_whole(struct answer *a, const struct json *j);
void chat_end(struct answer *a);
void chat_usage(struct usage *u, const struct json *j, int v);
void chat_calls(struct answer *a, const struct json *j, int list);        /* tool_calls of a delta or a message */
void chat_legacy_call(struct answer *a, const struct json *j, int v);     /* function_call */
void chat_details(struct answer *a, const struct json *j, int list, bool count);  /* count: as thinking */
void chat_blocks(struct answer *a);
int chat_add(struct convo *c, const struct json *message, struct err *e);
int chat_tools(struct convo *c, const struct json *j, int tools, struct err *e);
void chat_thinking(struct jw *w, const struct call_options *o);           /* --effort, --thinking */
int chat_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

void responses_event(struct answer *a, const struct json *j);
void responses_whole(struct answer *a, const struct json *j);
void responses_end(struct answer *a);
void responses_blocks(struct answer *a);
int responses_add(struct convo *c, const struct json *message, struct err *e);
int responses_tools(struct convo *c, const struct json *j, int tools, struct err *e);
int responses_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

void ollama_event(struct answer *a, const struct json *j);
void ollama_end(struct answer *a);
int ollama_add(struct convo *c, const struct json *message, struct err *e);
int ollama_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

void cohere_event(struct answer *a, const struct json *j);
void cohere_whole(struct answer *a, const struct json *j);
void cohere_end(struct answer *a);
int cohere_add(struct convo *c, const struct json *message, struct err *e);
int cohere_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

/* Claude behind others: in their envelope, with their words in the body. */
void invoke_event(struct answer *a, const struct json *j);
int invoke_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);
int vertex_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

void converse_event(struct answer *a, const struct json *j);
void converse_whole(struct answer *a, const struct json *j);
void converse_end(struct answer *a);
int converse_add(struct convo *c, const struct json *message, struct err *e);
int converse_tools(struct convo *c, const struct json *j, int tools, struct err *e);
int converse_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

void gemini_event(struct answer *a, const struct json *j);
void gemini_whole(struct answer *a, const struct json *j);
void gemini_end(struct answer *a);
int gemini_add(struct convo *c, const struct json *message, struct err *e);
int gemini_tools(struct convo *c, const struct json *j, int tools, struct err *e);
int gemini_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);

#endif

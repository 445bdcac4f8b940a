/* fake.h - a model server that says what a test tells it to say.
 *
 *   fake-llm [OPTION...]   listens on 127.0.0.1, prints the port as one line, serves until it is killed or its parent ends
 *
 * It speaks Anthropic Messages (POST .../messages) and OpenAI chat (POST .../chat/completions), streaming and whole, over
 * HTTP/1.1 with keep-alive; GET .../models lists one model, "fake". What it answers is decided so:
 *
 * 1. --script FILE: NDJSON, the answers in order, one a request; after the last one every request gets status 400.
 *      {"text":"hi"}                             a text
 *      {"text":"let me see","calls":[{"id":"c1","name":"Read","input":{"file_path":"a"}}]}
 *                                                calls; id may be left out; an input that is a string is sent raw
 *      {"thinking":"hm","signature":"c2ln"}      thinking, before the text
 *      {"stop":"max_tokens"}                     else end_turn, or tool_use when there are calls (Anthropic's words)
 *      {"usage":{"input":10,"output":5,"cache_read":3,"cache_write":2}}
 *      {"status":429,"headers":{"retry-after":"1"},"message":"slow down"}
 *                                                an error in the provider's shape; or "body": any JSON
 *      {"raw":"event: ping\n..."}                these bytes as the event stream
 *      {"fault":"cut:100"}                       as --fault, for this answer
 *      {"delay_ms":50,"chunk_delay_ms":5,"piece":8}
 *                                                before the head; between events; bytes of text in an event
 *      {"match":"needle","keep":true}            only for a request whose body has these bytes; keep: any number of times
 * 2. Else the last line of the last user message that begins with one of these words:
 *      hello                a short greeting
 *      say:TEXT             that text
 *      think:TEXT           thinking with a signature, then TEXT
 *      tools:N[:PATH]       N turns with one call of Read (PATH or README.md), then a text
 *      call:NAME:JSON       one call of NAME with exactly these arguments, then "done"
 *      long:DELTAS:SIZE     a text of DELTAS events of SIZE bytes
 *      slow[:MS[:WORDS]]    WORDS words (20), MS milliseconds apart (200)
 * 3. Else the text of --say.
 *
 * --fault KIND[:ARG][@TIMES] (repeatable; the first with turns left holds, without @TIMES for ever):
 *      status:N[:HEADER=VALUE,...]   an error answer            close    hang up without an answer
 *      cut:N  rst:N  stall:N         after N bytes of the body: hang up, reset, or say nothing more (and stay connected)
 *      error[:TYPE]                  an error event in mid-stream (overloaded_error)
 *      noend                         leave out all that says how it ended, but end the body properly
 *
 * --log FILE gets one JSON line a request, before it is answered: {"n":1,"conn":1,"method":"POST","path":..,"bytes":..,
 * "headers":{..},"body":<the JSON, or a string>}, and {"closed":N,"sent":BYTES} when the client hangs up in the middle of
 * answer N. --key KEY: other keys get 401. --delay MS, --chunk-delay MS: as in a script, for all. --write BYTES: cut the
 * bytes of an answer into writes of that size, at any place (default: one write an event). --port N. */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "json/json.h"
#include "json/jw.h"
#include "opt/opt.h"

enum fault_kind { FAULT_NONE, FAULT_STATUS, FAULT_CLOSE, FAULT_CUT, FAULT_RST, FAULT_STALL, FAULT_ERROR, FAULT_NOEND };

struct fault {
	enum fault_kind kind;
	long arg;            /* N */
	const char *text;    /* what follows the second colon, or TYPE; borrowed */
	long times;          /* turns left; -1 for ever */
};

struct tool_call {
	char *id, *name, *input;
};

struct answer {              /* what to say, in no provider's words; all strings owned */
	char *text, *thinking, *signature, *stop, *raw, *message, *body, *headers /* "name: value\r\n"... */;
	struct tool_call *calls;
	size_t n_calls;
	int status;
	long delay_ms, chunk_delay_ms, piece;
	long input, output, cache_read, cache_write;   /* -1: made up from the sizes */
	struct fault fault;
	char *fault_spec;
};

enum wire { WIRE_NONE, WIRE_ANTHROPIC, WIRE_OPENAI };

struct request {
	long n;                  /* counted from 1 */
	enum wire wire;
	bool stream, include_usage;
	const struct json *json; /* of the body */
	const char *body;
	size_t len;
};

enum reply_end { END_KEEP, END_CLOSE, END_RESET, END_STALL };

struct reply {               /* the bytes that go out, and when */
	struct buf bytes;
	struct segment { size_t end; long delay_ms; } *segments;   /* one write(2) each */
	size_t n_segments, cap;
	enum reply_end end;
	size_t payload;          /* bytes of body so far */
	long chunk_delay_ms;
	struct fault fault;
	bool over;               /* the fault has struck: nothing more is added */
};

/* script.c */
int script_load(const char *path);                                   /* dies on a bad script */
bool script_given(void);
void answer_choose(struct answer *a, const struct request *r, const char *say);
void answer_free(struct answer *a);
bool fault_parse(struct fault *f, const char *spec);

/* wire.c: the answer in a provider's words */
void wire_answer(struct reply *p, const struct request *r, const struct answer *a);
void wire_error(struct reply *p, enum wire wire, long n, int status, const char *headers, const char *message);
void wire_models(struct reply *p, long n);

/* reply.c: HTTP around it */
void reply_init(struct reply *p);
void reply_free(struct reply *p);
void reply_pause(struct reply *p, long ms);                          /* before what is added next */
void reply_whole(struct reply *p, int status, const char *headers, const char *body, size_t len);
void reply_stream(struct reply *p, const char *headers);
void reply_event(struct reply *p, const char *bytes, size_t len);
void reply_done(struct reply *p);
void reply_cut_writes(struct reply *p, size_t size);

#endif

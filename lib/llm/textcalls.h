/* textcalls.h - tool calls that a model writes into its text instead of calling: found and read.
 *
 *   struct textcalls t; textcalls_init(&t, &out);
 *   textcalls_feed(&t, s, n) ...; textcalls_end(&t, complete); textcalls_free(&t);
 *
 * An opener begins a call: <tool_call> <|tool_call|> <|tool_call> [TOOL_CALLS] <function=NAME>, DeepSeek's and Kimi's section
 * and call marks (textcalls_marks.c lists them). After it stand one or more of
 *   {"name": NAME, "arguments": {..}}     also "function", "args", "parameters"; a list of such
 *   call:NAME{..}  NAME{..}  NAME[ARGS]{..}  functions.NAME:0 MARK {..}  function MARK NAME ```json {..}```
 *   <function=NAME>{..}</function>  <function=NAME><parameter=KEY>VALUE</parameter>..</function>
 * where objects may have bare keys and <|"|> for quotes (Gemma).
 *
 * What is a call is decided safely, for its arguments are run: NAME must be a tool that was offered, its arguments one JSON
 * object, and the opener neither in a code fence, nor in a `code span`, nor in a line quoted by '>'. Everything else comes
 * out as the text it was; nothing is lost. Text before an opener goes on at once, but for what may still become one; from
 * an opener on all is held to the end, unless it becomes plain that no call follows it. An answer that is not complete
 * (complete is false) has no calls: all is text.
 *
 * Ownership: what `out` gets is valid during the call. Limits: TEXTCALLS_MAX bytes held, beyond it they are text; the work
 * of reading is linear, what is too tangled stays text. */
#ifndef LLM_TEXTCALLS_H
#define LLM_TEXTCALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define TEXTCALLS_MAX ((size_t)16 << 20)
#define TEXTCALLS_BACK 32000          /* bytes that textcalls_recover looks back */

struct textcalls_out {
	void (*text)(void *arg, const char *s, size_t n);
	/* One call: {"id": "..", "name": "..", "arguments": {..}}; id may be missing. */
	void (*call)(void *arg, const char *json, size_t n);
	bool (*offered)(void *arg, const char *name, size_t n);
	/* Is the parameter a string by the tool's schema, or not in it at all? */
	bool (*is_string)(void *arg, const char *tool, size_t n, const char *key, size_t nkey);
	void *arg;
};

struct textcalls {
	struct textcalls_out out;
	struct buf held;
	bool open;                    /* held begins with an opener */
	bool sure;                    /* a call may well follow: no more guessing */

	/* where the text stands that was let go */
	bool middle;                  /* not at the beginning of a line */
	bool quoted;                  /* the line begins with '>' */
	bool fresh;                   /* the fence was opened in this line */
	char fence, mark;             /* '`' or '~' where a fence is open; what the line begins with */
	int run, ticks;               /* how often; backticks in the line */
};

void textcalls_init(struct textcalls *t, const struct textcalls_out *out);
void textcalls_feed(struct textcalls *t, const char *s, size_t n);
void textcalls_end(struct textcalls *t, bool complete);
void textcalls_free(struct textcalls *t);

/* Arguments of a call of `name` that came without any: the last `to=NAME <|message|>{..}` or `call:NAME{..}` in the text's
 * last TEXTCALLS_BACK bytes. Appends the object; false: there is none. */
bool textcalls_recover(const char *text, size_t n, const char *name, struct buf *args);

#endif

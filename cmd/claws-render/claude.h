/* claude.h - the JSON shapes that wrappers around `claude -p` parse: --output-format json and stream-json.
 *
 * Facts from the types of @anthropic-ai/claude-agent-sdk: system/init, assistant, user, stream_event, result. Each function
 * appends one object without a line end. */
#ifndef RENDER_CLAUDE_H
#define RENDER_CLAUDE_H

#include "render.h"

struct shape {
	unsigned long n;     /* lines made so far: part of each line's uuid */
	bool no_time;        /* CLAWS_NO_TIME: durations are 0 */
};

void claude_result(struct buf *out, struct shape *s, const struct run *r);
void claude_init(struct buf *out, struct shape *s, const struct run *r);
void claude_assistant(struct buf *out, struct shape *s, const struct run *r, const struct json *j);
void claude_user(struct buf *out, struct shape *s, const struct run *r, const struct json *j);
void claude_retry(struct buf *out, struct shape *s, const struct run *r, const struct json *j);
void claude_compact(struct buf *out, struct shape *s, const struct run *r, const struct json *j);

/* One stream_event; event is its JSON text. */
void claude_event(struct buf *out, struct shape *s, const struct run *r, const char *event);

/* Our stop_reason in their words; their usage object from a line's "usage" (or -1: zeros). */
const char *claude_stop(const char *stop);
void claude_usage(struct jw *w, const struct json *j, int usage);

#endif

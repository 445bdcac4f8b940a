/* render.h - claws-render: the stream's last stage shows a person, or a program, what happened.
 *
 * main.c reads lines and hands each to run_line (run.c: what is known of the run) and then to the view that the user
 * chose (text.c, claude.c, native.c). A view writes through sinks (sink.c); only main.c decides about -o and --done-fd. */
#ifndef RENDER_H
#define RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "json/json.h"
#include "json/jw.h"
#include "proto/msg.h"

/* One line of input; tokens and bytes are valid until the next. j is NULL where the line could not be read as JSON. */
struct seen {
	enum msg_kind kind;
	const char *p;
	size_t len;
	const struct json *j;
	bool cr, cut;               /* a CR stood before the line end; there was no line end */
};

/* sink.c: a descriptor with a buffer that knows where the cursor is. */
struct sink {
	int fd;
	struct buf buf;
	bool tty, color, midline, held_cr;
	char before[20];            /* the end of the text shown last */
	size_t nbefore;
};

void sink_init(struct sink *s, int fd, const char *color);
void sink_put(struct sink *s, const char *p, size_t n);       /* as it is */
void sink_text(struct sink *s, const char *p, size_t n);      /* foreign text, line ends kept; shown safely on a terminal */
void sink_safe(struct sink *s, const char *p, size_t n, size_t max);  /* one line of foreign text, cut after max bytes; 0: not */
void sink_fresh(struct sink *s);                              /* to the start of a line */
void sink_color(struct sink *s, const char *sgr);             /* "1", "2", "31"; NULL: back to normal */
void sink_flush(struct sink *s);                              /* dies with 74 */

/* run.c: what is known of the run under way. */
struct totals {
	int64_t input, cache_read, cache_write, output, reasoning;
	double cost;
	bool cost_known, any;
};

struct call {                       /* a tool call of the last assistant message */
	char *id, *name, *input;    /* input: JSON text */
	bool denied, shown;
};

struct run {
	bool ring, over;            /* run_start seen; run_done seen */
	bool got_message;           /* the turn under way brought an assistant message */
	bool any_turn;
	struct buf answer;          /* text of the last assistant message, while it is the answer */
	char *run, *session, *cwd, *model, *mode;
	char stop[32], limit[32];
	int exit;
	int64_t turns, api_ms, begun_ms;
	struct totals usage;
	char *class, *message;      /* of the last error that was not about an input line */
	int64_t http_status, retry_after_ms;
	char *why;                  /* run_done.error */
	bool denial_told;           /* a permission event has told of one */
	struct buf denials;         /* objects for permission_denials, joined by commas */
	struct buf tools;           /* names of the offered tools: a JSON array */
	struct call *calls;
	size_t ncalls;
};

void run_init(struct run *r);
void run_free(struct run *r);
void run_line(struct run *r, const struct seen *m);
void run_end(struct run *r);                /* end of file: decides exit where no run_done did */
bool run_good(const struct run *r);         /* the answer is an answer: for -o */
struct call *run_call(struct run *r, const char *id);
int64_t clock_ms(void);

/* main.c's options */
struct conf {
	const char *format, *color, *out;
	bool json, quiet, partial, thinking;
	long done_fd;
};

struct render {
	struct conf c;
	struct sink out, err;
	struct run run;
	struct view_state *state;
};

struct view {
	void (*begin)(struct render *r);
	void (*line)(struct render *r, const struct seen *m);
	void (*end)(struct render *r);      /* end of file, after run_end */
};

extern const struct view view_text, view_native, view_json, view_stream_json;

/* say.c: one line on stderr, "claws: ..."; foreign parts are shown safely. */
void say(struct render *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void say_notices(struct render *r, const struct seen *m);     /* retry, notice, error, permission, compaction */
void say_done(struct render *r, const struct seen *m);        /* run_start: replaced stages; run_done: how it ended, if not well */
char *duration(int64_t ms);                                   /* "1.2 s", to be freed */

/* toolline.c: the one argument that tells what a call does. */
void tool_argument(struct buf *out, const char *input);

/* Strings out of a line: "" and 0 where it has none. Freed by the caller. */
char *text_of(const struct json *j, const char *key);
int64_t number_of(const struct json *j, const char *key);
bool is_true(const struct json *j, const char *key);

#endif

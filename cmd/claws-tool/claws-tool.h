/* claws-tool.h - the parts of claws-tool and what they share.
 *
 *   main.c      options; which of the ways of use
 *   filter.c    the stream: which calls are to run
 *   turn.c      the calls of one message: gate, order, parallelism, interruption
 *   call.c      one call: its arguments, its verdict, its result
 *   runner.c    the child process of one call, both sides
 *   external.c  in that child: a tool that is a program
 *   ask.c       the program that is asked for permission
 *   report.c    events and messages
 *   repeat.c    calls that fail again and again
 *   replay.c    --record and --replay: results kept and given again
 *   single.c    --call, --list, list
 *   add.c       the verbs add and remove */
#ifndef CLAWS_TOOL_H
#define CLAWS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/gate.h"
#include "agent/heal_map.h"
#include "base/hash.h"
#include "proto/stage.h"
#include "tools/tool.h"

#define CALLS_MAX 128             /* of one message */
#define PARALLEL_MAX 8
#define QUEUE_MAX ((size_t)64 << 20) /* bytes that may wait behind a turn_done; then their writer waits */
#define FRAME_MAX ((size_t)16 << 20)
#define ENDING_MS 2500            /* an interrupted tool has this long to hand over its result */
#define BACKSTOP_MS 10000         /* over its limit, a tool that does not end by itself is killed */

struct options {
	struct gate_options gate;
	const char *dir, *call, *record, *replay;
	long ask_timeout;
	bool list, people, add, remove, no_time;   /* people: list is for them */
};

enum stopped { GOING, STOP_INTERRUPT, STOP_EOF };

struct queued {                   /* a line that came while tools ran */
	char *line;
	size_t len;
	enum msg_kind kind;
};

struct repeat {
	char key[SHA256_HEX];
	int count;
	unsigned long turn;
};

struct host {                     /* what all calls share */
	struct gate gate;
	struct tool_ctx ctx;          /* for built-in tools and path verdicts */
	struct buf blob_path;
	struct stage *stage;          /* NULL: --call */
	const char *session;          /* the log, or NULL */
	long ask_timeout;
	unsigned long denied;
	struct recording *recording;  /* NULL: none */
	bool missed;                  /* a replay had no result for a call */
	enum stopped stopped;
	bool input_ended;
	/* the conversation */
	struct buf assistant;         /* the line that a turn_done may set going; empty: none */
	bool interrupted;             /* an interrupt came after it */
	struct heal_map answered;     /* ids with a result */
	struct queued *queue;
	size_t nqueue;
	size_t queue_bytes;
	/* repeated failures */
	struct repeat *repeats;
	size_t nrepeats;
	unsigned long turn;
};

struct runner {                   /* the child of one call, seen from here */
	pid_t pid;                    /* 0: not running */
	int fd;
	struct buf in;
	long long started, deadline;  /* io_now_ms; after the deadline it is killed */
	bool told;                    /* SIGTERM was sent */
	bool late;                    /* killed at its deadline */
};

struct call {
	char *id, *name;
	char *input;                  /* canonical JSON: judged, asked about, executed */
	struct json json;             /* its tokens */
	char hash[SHA256_HEX];
	char *bad_input;              /* why it cannot be executed, or NULL */
	const struct manifest *tool;  /* NULL: unknown */
	struct verdict verdict;
	struct runner run;
	bool done, reported, denied, started;
	struct buf *events;           /* its event lines, for a recording */
	struct buf text;
	bool is_error;
	char status[16], origin[64];
	char *change_path, *change_op, *change_before, *change_after;
};

/* main.c */
void host_notice(void *arg, const char *text);

/* filter.c */
int filter_run(struct host *h);
/* While tools run: what has been read already, and what one more read(2) brings. */
void filter_take(struct host *h);
void filter_fill(struct host *h);

/* turn.c */
void turn_run(struct host *h, struct call *calls, size_t n, const char *assistant, size_t len);

/* call.c */
void call_init(struct call *c, const struct host *h, const char *id, const char *name, const struct json *j, int input);
void call_free(struct call *c);
void call_finish(struct call *c, bool is_error, const char *status, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void call_denied(struct host *h, struct call *c, const char *by, const char *rule, const char *why, bool offer);
long call_limit_ms(const struct call *c);
tool_fn *builtin_find(const char *name);

/* runner.c */
int runner_start(struct host *h, struct call *c, struct err *e);
void runner_read(struct host *h, struct call *c);   /* after POLLIN; sets c->done when it is over */
void runner_stop(struct call *c);                   /* TERM, once; KILL is the deadline's */
void runner_overdue(struct call *c, long long now);

/* external.c */
void external_run(const struct manifest *t, const struct tool_ctx *c, const char *input, const struct json *j,
                  struct tool_result *r);

/* ask.c */
struct ask {
	pid_t pid;                    /* 0: nobody is being asked */
	int fd;
	struct buf answer;
	long long deadline;
	bool ended;                   /* end of file */
};
enum ask_result { ASK_WAITING, ASK_YES, ASK_NO, ASK_FAILED };
bool ask_possible(void);
int ask_start(struct ask *a, const struct host *h, const struct call *c, struct err *e);
/* Call after POLLIN on fd and every 100 ms; rule gets the rule that is to hold for the session, if there is one. */
enum ask_result ask_look(struct ask *a, const struct call *c, struct buf *rule, struct err *why);
void ask_stop(struct ask *a);

/* report.c */
void report_start(struct host *h, const struct call *c);
void report_output(struct host *h, const struct call *c, const char *stream, const char *text, size_t n);
void report_end(struct host *h, const struct call *c);
void report_request(struct host *h, const struct call *c);
void report_permission(struct host *h, const struct call *c, const char *decision, const char *by, const char *rule);
void report_message(struct host *h, const struct call *c);
void request_write(struct jw *w, const struct host *h, const struct call *c);   /* the keys of a permission_request */

/* replay.c */
struct recording *recording_open(const char *dir, bool replays);
void recording_close(struct recording *r);
bool recording_replays(const struct recording *r);
/* A line of the call, without its closing bracket; the message is its last. */
void recording_event(struct host *h, const struct call *c, const char *line, size_t len);
void recording_message(struct host *h, const struct call *c, const char *line, size_t len);
void recording_give(struct host *h, struct call *c);   /* instead of running it */

/* repeat.c */
bool repeat_refused(const struct host *h, const struct call *c);
void repeat_note(struct host *h, const struct call *c);
#define REPEAT_MAX 5

/* single.c */
int single_list(struct host *h);
int single_show(struct host *h);     /* the same tools for people, one a line */
int single_call(struct host *h, const char *name);

/* add.c */
int add_tool(int argc, char **argv);
int remove_tool(int argc, char **argv);

#endif

/* each_turn.h - claws-each-turn: a program that knows only end of file takes a stage's place in the ring.
 *
 * main.c is the loop over stdin, the program and the signals; stream.c, tool.c and compact.c are the three places it can take.
 * A place hears of input lines, of the program's lines, and of the program's end. */
#ifndef EACH_TURN_H
#define EACH_TURN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "proto/lines.h"
#include "proto/stage.h"

/* child.c: the program of one turn, in a process group of its own. */
struct child {
	pid_t pid;              /* 0: none runs */
	int in, out;            /* our ends of its stdin and stdout; -1: closed */
	struct buf feed;        /* what it is given; fed: so much of it was taken */
	size_t fed;
	struct lines lines;     /* what it prints */
	struct json json;
	struct buf mended;
};

struct each;

struct place {
	const char *option, *what;
	char letter;                                                     /* of the ids it makes */
	void (*line)(struct each *t, const struct msg *m);               /* an input line */
	void (*end)(struct each *t);                                     /* stdin has ended, not in a ring */
	void (*said)(struct each *t, const struct msg *m);               /* a line of the program */
	void (*done)(struct each *t, int status);                        /* it ended: exit status, 128+n for a signal */
	void (*cut)(struct each *t);                                     /* it was ended by an interrupt */
};

extern const struct place place_stream, place_tool, place_compact;

struct each {
	struct stage s;
	const struct place *place;
	char **argv;            /* the program */
	struct child c;
	struct buf held;        /* lines that wait for the program's end */
	int status;             /* of the last program that failed, outside a ring */

	struct buf system, tools, convo;     /* lines that the program is given, each with its line end */
	struct buf request;     /* compact: a compact_request */
	struct buf turn;        /* the turn or turn_done that is held */
	struct buf assistant;   /* tool: the last assistant message of this turn */
	struct buf made;        /* compact: the new conversation; stream: the text of the chunks */
	char **open;            /* tool: calls without a result; stream: unused */
	size_t nopen;
	char *stop;             /* stream: stop_reason of the message that came */
	unsigned long pending;  /* stream: turns that came while one was under way */
	bool said_error;
};

bool running(const struct each *t);
/* Starts the program on these lines; false (and an error event) if it cannot be started. */
bool start(struct each *t, struct buf *input);
void hold(struct each *t, const struct msg *m);              /* handled again when the program has ended */
void put(struct buf *b, const char *line, size_t len);       /* adds a line and its end */
bool has_line(const struct buf *b, const char *line, size_t len);
void pass_with_id(struct each *t, const struct msg *m);      /* as it is, an id put in where it has none */
void turn_done(struct each *t, const char *stop);
void input_line(struct each *t, const struct msg *m);

bool child_start(struct child *c, char **argv, struct err *e);
void child_write(struct child *c);                           /* what its stdin takes now */
bool child_read(struct child *c);                            /* one read; false: nothing now, or its end */
bool child_line(struct child *c, struct msg *m, const char **fault);   /* the next line; fault set: it is not usable */
int child_end(struct child *c, bool kill_it);                /* waits; exit status */

#endif

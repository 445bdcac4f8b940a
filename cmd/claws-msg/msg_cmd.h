/* msg_cmd.h - claws-msg: its options and verbs. One file a verb; each returns the program's exit status. */
#ifndef MSG_CMD_H
#define MSG_CMD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "opt/opt.h"

struct conf {
	bool strict, no_stdin, no_time;
	long stdin_wait, timeout;       /* milliseconds; -1: not given */
	const char *session, *output;
	struct opt_list files, images;
};

int cmd_check(const struct conf *c, int argc, char **argv);
int cmd_check_stage(const struct conf *c, int argc, char **argv);
int cmd_prompt(const struct conf *c, int argc, char **argv);
int cmd_norm(const struct conf *c, int argc, char **argv);
int cmd_schema(const struct conf *c, int argc, char **argv);
int cmd_table(const struct conf *c, int argc, char **argv);

/* stdin.c: what stdin is, and reading it by the rules of claws(1). */
enum stdin_kind {
	STDIN_NONE,      /* closed, /dev/null, or what cannot be read */
	STDIN_TERMINAL, STDIN_FILE, STDIN_PIPE, STDIN_SOCKET
};
enum stdin_kind stdin_kind(void);

/* Appends what comes until end of file. The first byte must come within first_ms (-1: whenever it likes), else nothing is
 * read and 0 returned. After 3 s without a byte one notice on stderr names -n. 1 read, 0 nothing came in time, -1 failed. */
int stdin_read(struct buf *out, long first_ms, struct err *e);

#endif

/* command.h - a program that a tool runs to its end: guarded, in a scrubbed environment, its output captured and heard,
 * within a time.
 *
 *   struct command *r = xcalloc(1, sizeof *r);                       // 64 KiB: not for the stack
 *   struct command_spec s = {.argv = argv, .env = vector, .in = SPAWN_NULL, .limit_ms = 30000};
 *   if (command_run(r, c, &s, &e) < 0) ...not started...
 *   else ...r->res.wstatus, r->timed_out, capture_text(&r->out.cap, ...)...
 *   command_free(r);
 *
 * It ends when the program has ended (its process group and what strayed from it end with it), when the time is over, or when
 * this process gets SIGTERM, SIGINT or SIGHUP: then the group is ended by the guard's rules (guard.h). What still holds
 * the pipes open is not waited for. limits.h's variables bound the program. c->output hears whole characters of both
 * streams, at most COMMAND_HEARD bytes of each; captures are bounded by c->output_max and spill to c->blobs. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sys/capture.h"
#include "sys/guard.h"
#include "sys/sig.h"
#include "tools/tool.h"

#define COMMAND_HEARD ((size_t)1 << 20)

struct command_spec {
	const char *const *argv;
	const char *const *env;
	int in;                    /* descriptor of its standard input, or SPAWN_NULL */
	long limit_ms;
	size_t err_max;            /* keep at most so much of stderr, and spill nothing; 0: like stdout */
};

struct command_stream {
	int fd;
	const char *name;
	struct capture cap;
	char carry[4];             /* the start of a character whose rest has not come */
	size_t ncarry, heard;
};

struct command {
	const struct tool_ctx *c;
	struct command_stream out, err;
	struct guard_result res;   /* res.err is filled where the program could not be run */
	bool timed_out, interrupted;
	struct guard guard;
	struct sigs sigs;
	char piece[65536];
};

int command_run(struct command *r, const struct tool_ctx *c, const struct command_spec *s, struct err *e);
void command_free(struct command *r);

#endif

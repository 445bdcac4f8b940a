/* session.h - the verbs of claws-session. Each gets what follows its name and returns an exit status. */
#ifndef CMD_SESSION_H
#define CMD_SESSION_H

#include "base/buf.h"
#include "opt/opt.h"

struct conf {
	bool json, all, interactive, no_stdin;
	const char *sync, *on_deny, *origin, *name, *id, *starter, *replay;
	long max_turns, max_time;
	bool last, ephemeral, all_of_it, quiet;   /* the last two: of diff */
};

extern const struct opt_spec spec;

int do_append(const struct conf *c, char **args);
int do_cat(const struct conf *c, char **args);
int do_inbox(const struct conf *c, char **args);
int do_list(const struct conf *c, char **args);
int do_show(const struct conf *c, char **args);
int do_open(const struct conf *c, char **args);
int do_diff(const struct conf *c, char **args);

/* replay.c: lays what the recording `in` says of its run beside the log. */
void replay_lay_out(const char *in, const char *log);

/* args[0] or CLAWS_SESSION, resolved; ends the program if there is none. exists: it must be there. */
void the_log(char **args, bool exists, struct buf *path);

#endif

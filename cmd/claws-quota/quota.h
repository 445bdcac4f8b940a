/* quota.h - the verbs of claws-quota. */
#ifndef CMD_QUOTA_H
#define CMD_QUOTA_H

#include <stdbool.h>

#include "opt/opt.h"

struct conf {
	bool json;
	long days;
	const char *session;
};

extern const struct opt_spec spec;

int do_show(const struct conf *c, char **args);    /* report.c */
int do_list(const struct conf *c, char **args);
int do_check(const struct conf *c, char **args);   /* limits.c */
int do_set(const struct conf *c, char **args);

#endif

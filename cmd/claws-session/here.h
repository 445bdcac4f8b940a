/* here.h - does a session belong to the current directory? By name, or by inode where it was renamed. */
#ifndef HERE_H
#define HERE_H

#include <stdbool.h>

#include "agent/log.h"

struct here {
	char *cwd;
	char dir[48];   /* DEVICE:INODE */
};

void here_init(struct here *h);
bool here_is(const struct here *h, const struct log_head *head);
void here_free(struct here *h);

#endif

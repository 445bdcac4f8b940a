/* kids.h - the direct children of this process, as the kernel knows them. For guard.c. */
#ifndef SYS_KIDS_H
#define SYS_KIDS_H

#include <sys/types.h>

/* Up to max pids, zombies (ended, not waited for) included; how many, or -1 where /proc cannot tell. Only for a
 * process of one thread. */
int kids_list(pid_t *pids, int max);

#endif

/* limits.h - resource limits of children, setrlimit(2).
 *
 * The user may set them for all tools by the environment: CLAWS_LIMIT_AS (bytes of address space), CLAWS_LIMIT_NPROC
 * (processes, of the user, as the kernel counts), CLAWS_LIMIT_CPU (seconds), CLAWS_LIMIT_FSIZE (bytes of a file),
 * CLAWS_LIMIT_NOFILE. Numbers may end in k, M, G (powers of 1024); unset or empty: as it is. */
#ifndef SYS_LIMITS_H
#define SYS_LIMITS_H

#include "base/err.h"
#include "sys/spawn.h"

/* 0, or -1 (ST_CONFIG) naming the variable that is no number. */
int limits_from_env(struct spawn_limits *l, struct err *e);

/* Of this process; never above a hard limit that is there. -1 with errno. */
int limits_apply(const struct spawn_limits *l);

#endif

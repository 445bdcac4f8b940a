/* sig.h - signals as a descriptor to poll.
 *
 *   struct sigs s;
 *   sig_open(&s, (const int[]){SIGINT, SIGTERM, SIGCHLD, 0}, &e);
 *   poll s.fd; while ((n = sig_read(&s, NULL)) > 0) ...
 *   sig_close(&s);
 *
 * The signals are blocked (signalfd(2) delivers only blocked ones) until sig_close, which restores the mask.
 * Children started by spawn.h have nothing blocked. No handler is installed. An ignored signal stays ignored: set
 * SIG_DFL first where the caller may have been started with SIGINT ignored and wants it nevertheless. */
#ifndef SYS_SIG_H
#define SYS_SIG_H

#include <signal.h>
#include <sys/types.h>

#include "base/err.h"

struct sigs {
	int fd;
	sigset_t before;
};

int sig_open(struct sigs *s, const int *list /* ends with 0 */, struct err *e);
int sig_read(struct sigs *s, pid_t *from);   /* the number, 0: none waiting. Never blocks */
void sig_close(struct sigs *s);

#endif

/* prog.h - what every program does with its own name, its messages and its end. Only cmd/ uses it.
 *
 * The name is the only state: set once at the start of main. Messages go to stderr as "claws-tool: text", one line,
 * through term_safe (base/termsafe.h), so that nothing foreign reaches the terminal unseen. */
#ifndef BASE_PROG_H
#define BASE_PROG_H

#include "base/err.h"

#define CLAWS_VERSION "0.1.0"

/* First of all in main (opt_parse does it too). name is kept by reference: "claws-stream". Standard descriptors that are
 * closed are reserved, so that no file opened later gets their number. */
void prog_name(const char *name);
const char *prog_get(void);

void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void die_err(const struct err *e);   /* prints e->text, exits with e->status */

/* Flushes stdout and exits with status, or with 74 and a word if stdout could not be written. */
_Noreturn void finish(int status);

#endif

/* status.h - the exit statuses (ST_OK, ST_USAGE, ST_IO ...) and how they rank.
 *
 * The numbers follow sysexits.h where it has one; the list is status.def. A status of 128 + n means that
 * a signal n ended the program (POSIX shells report it so). */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

enum status {
#define STATUS(name, number, text) ST_##name = number,
#include "base/status.def"
#undef STATUS
	ST_SIGNAL = 128
};

/* The more severe of two statuses: 128+n, 70, 74, 78, 77, 76, 75, 69, 66, 65, 4, 5, 6, 3, 1, 2, 0; an
 * unknown number ranks just above ST_FAILED. */
int status_worse(int a, int b);

/* What a status means, in a few words; never NULL. */
const char *status_text(int status);

/* waitpid(2) status to exit status: the exit code, or 128 + signal. */
int status_of_wait(int wstatus);

#endif

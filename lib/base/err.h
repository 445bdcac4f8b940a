/* err.h - how a library function tells its caller why it failed.
 *
 * 1. The caller owns a `struct err e = ERR_INIT;` and passes its address down.
 * 2. A function that fails fills it once (err_set, err_sys) and returns -1 (or NULL); callers on the way up may put
 *    context in front (err_wrap). The first error wins: err_set on a filled err changes nothing.
 * 3. Only cmd/ prints it (die in base/prog.h) and exits with e.status.
 *
 * Texts are lower case without a full stop: what failed, on what, why, and what to do next. Control characters in the
 * text are shown as \xNN by whoever prints it. Never put a secret into one. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	int status;      /* enum status: what a program that gives up exits with; 0 = no error */
	int sys;         /* errno where a system call failed, else 0 */
	char text[1024]; /* cut at 1023 bytes, always terminated */
};

#define ERR_INIT {0, 0, ""}

/* Fill e (may be NULL) and return -1. */
int err_set(struct err *e, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and the text of errno; status ST_IO, but ENOENT is ST_NOINPUT. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Put "context: " in front of a filled error. Returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void err_clear(struct err *e);

#endif

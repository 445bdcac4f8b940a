#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

int err_set(struct err *e, int status, const char *fmt, ...)
{
	va_list ap;

	if (!e || e->status)
		return -1;
	e->status = status;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int sys = errno;
	va_list ap;
	int n;

	if (!e || e->status)
		return -1;
	e->sys = sys;
	e->status = sys == ENOENT ? ST_NOINPUT : ST_IO;
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof e->text)
		snprintf(e->text + n, sizeof e->text - (size_t)n, ": %s", strerror(sys));
	errno = sys;
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char old[sizeof e->text];
	size_t at, left;
	va_list ap;
	int n;

	if (!e || !e->status)
		return -1;
	memcpy(old, e->text, sizeof old);
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	at = strlen(e->text);
	left = sizeof e->text - at;
	if (n >= 0 && left > 3)
		snprintf(e->text + at, left, ": %.*s", (int)(left - 3), old);
	return -1;
}

void err_clear(struct err *e)
{
	e->status = e->sys = 0;
	e->text[0] = 0;
}

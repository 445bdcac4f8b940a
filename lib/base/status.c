#include "base/status.h"

#include <stddef.h>
#include <sys/wait.h>

static const struct {
	int number;
	const char *text;
} ranked[] = {
#define STATUS(name, number, text) {number, text},
#include "base/status.def"
#undef STATUS
};

/* 0 is the most severe. */
static int rank(int status)
{
	const int n = (int)(sizeof ranked / sizeof *ranked);

	if (status >= ST_SIGNAL)
		return 0;
	for (int i = 0; i < n; i++)
		if (ranked[i].number == status)
			/* usage and ok stay last, so an unknown number goes before "failed" by taking its place */
			return 2 * i + 2;
	for (int i = 0; i < n; i++)
		if (ranked[i].number == ST_FAILED)
			return 2 * i + 1;
	return 1;
}

int status_worse(int a, int b)
{
	return rank(b) < rank(a) ? b : a;
}

const char *status_text(int status)
{
	if (status > ST_SIGNAL)
		return "ended by a signal";
	for (size_t i = 0; i < sizeof ranked / sizeof *ranked; i++)
		if (ranked[i].number == status)
			return ranked[i].text;
	return "unknown status";
}

int status_of_wait(int wstatus)
{
	if (WIFSIGNALED(wstatus))
		return ST_SIGNAL + WTERMSIG(wstatus);
	return WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : ST_BUG;
}

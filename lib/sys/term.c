#include "sys/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"

bool term_is(int fd)
{
	return isatty(fd) == 1;
}

int term_width(int fd)
{
	struct winsize ws;
	const char *columns = getenv("COLUMNS");
	long n = 0;

	if (ioctl(fd, TIOCGWINSZ, &ws) == 0)
		n = ws.ws_col;
	if (n <= 0 && columns)
		n = strtol(columns, NULL, 10);
	if (n <= 0 || n > 10000)
		n = 80;
	return n < 20 ? 20 : (int)n;
}

bool term_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no && *no)   /* no-color.org: set and not empty */
		return false;
	return term && *term && strcmp(term, "dumb") && term_is(fd);
}

size_t term_cells_of(const char *s, size_t n)
{
	size_t cells = 0;
	uint32_t cp, before = 0;

	while (n) {
		int len = utf8_decode(s, n, &cp), wide;
		if (!len) {
			cells++;
			cp = 0;
			len = 1;
		} else if ((wide = term_cells(cp)) > 0 && before != 0x200D) {
			cells += (size_t)wide;   /* what a joiner joins is one picture */
		}
		before = cp;
		s += len, n -= (size_t)len;
	}
	return cells;
}

/* tap.h - unit tests in C: OK(condition, "name"), IS(got, want) for strings, END() returned from main. */
#ifndef TAP_H
#define TAP_H
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int tap_n, tap_bad;

__attribute__((unused, format(printf, 4, 5)))
static void tap_ok(int good, const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printf("%sok %d - ", good ? "" : "not ", ++tap_n);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	if (!good) {
		tap_bad++;
		printf("# %s:%d\n", file, line);
	}
}
#define OK(cond, ...) tap_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)
#define IS(got, want, ...) do { const char *g_ = (got), *w_ = (want); \
	tap_ok(g_ && w_ && !strcmp(g_, w_), __FILE__, __LINE__, __VA_ARGS__); \
	if (!g_ || !w_ || strcmp(g_, w_)) printf("# got:  %s\n# want: %s\n", g_ ? g_ : "(null)", w_ ? w_ : "(null)"); } while (0)
#define END() (printf("1..%d\n", tap_n), tap_bad ? 1 : 0)
#endif

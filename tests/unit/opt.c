/* The option parser: what POSIX and GNU programs take, and the refusals. Misuse ends the process, so it is tried in a child. */
#include "opt/opt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

struct conf {
	bool quiet, all;
	const char *model, *format;
	long n, time, size;
	double temp;
	struct opt_list files;
};

static const struct opt options[] = {
	{'q', "quiet", NULL, OPT_FLAG, offsetof(struct conf, quiet), "quiet", 0, 0, NULL},
	{'a', NULL, NULL, OPT_FLAG, offsetof(struct conf, all), "all", 0, 0, NULL},
	{'m', "model", "M", OPT_STR, offsetof(struct conf, model), "model", 0, 0, NULL},
	{0, "format", "F", OPT_STR, offsetof(struct conf, format), "format", 0, 0, "text|json"},
	{'n', "number", "N", OPT_LONG, offsetof(struct conf, n), "number", 1, 9, NULL},
	{0, "time", "T", OPT_TIME, offsetof(struct conf, time), "time", 0, 0, NULL},
	{0, "size", "S", OPT_SIZE, offsetof(struct conf, size), "size", 0, 0, NULL},
	{0, "temp", "D", OPT_DOUBLE, offsetof(struct conf, temp), "temp", 0, 0, NULL},
	{'f', "file", "F", OPT_LIST, offsetof(struct conf, files), "file", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static struct opt_spec spec = {"prog", "[OPTION...]", "Test.", options, NULL, NULL, 0};

/* Parses words; returns the operands joined by blanks. */
static const char *operands(struct conf *c, const char *const *words, int n)
{
	static char joined[256];
	char *argv[16] = {(char *)(size_t)"prog"};
	int first;

	for (int i = 0; i < n; i++)
		argv[i + 1] = (char *)(size_t)words[i];
	memset(c, 0, sizeof *c);
	first = opt_parse(&spec, n + 1, argv, c);
	joined[0] = 0;
	for (int i = first; i <= n; i++)
		snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", i > first ? " " : "", argv[i]);
	return joined;
}

#define WORDS(...) (const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static int status_of(const char *const *words, int n)
{
	int status;
	pid_t pid;

	fflush(stdout);   /* the child must not print again what is buffered here */
	pid = fork();
	if (pid == 0) {
		struct conf c;

		if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
			_exit(99);
		operands(&c, words, n);
		_exit(50);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void good(void)
{
	struct conf c;

	IS(operands(&c, WORDS("-q", "x", "-a")), "x -a", "the first operand ends the options");
	OK(c.quiet && !c.all, "flags");
	IS(operands(&c, WORDS("-qam", "gpt", "--", "-q")), "-q", "-- ends the options");
	OK(c.quiet && c.all && !strcmp(c.model, "gpt"), "letters together, the value behind them");
	operands(&c, WORDS("-mgpt", "--number=3", "--time", "1.5s", "--size", "64k", "--temp=0.5"));
	OK(!strcmp(c.model, "gpt") && c.n == 3 && c.time == 1500 && c.size == 65536 && c.temp == 0.5, "values of each kind");
	operands(&c, WORDS("-f", "a", "--file=b", "-fc"));
	OK(c.files.n == 3 && !strcmp(c.files.v[2], "c"), "a list");
	IS(operands(&c, WORDS("-")), "-", "- is an operand");
	operands(&c, WORDS("--model="));
	OK(c.model && !*c.model, "an empty value");
	operands(&c, WORDS("--format", "json"));
	IS(c.format, "json", "one of the choices");
	spec.flags = OPT_MIXED;
	IS(operands(&c, WORDS("a", "-q", "b", "--", "-c")), "a b -c", "mixed: operands in their order");
	OK(c.quiet, "and the options between them");
	spec.flags = 0;
	OK(opt_time("90") == 90000 && opt_time("2h") == 7200000 && opt_time("5x") < 0 && opt_time("") < 0 && opt_time("-1") < 0,
	   "durations");
	OK(opt_size("1G") == 1 << 30 && opt_size("1Q") < 0, "sizes");
}

static void bad(void)
{
	OK(status_of(WORDS("--nope")) == 2, "an unknown long option");
	OK(status_of(WORDS("-z")) == 2, "an unknown letter");
	OK(status_of(WORDS("--quie")) == 2, "no abbreviations");
	OK(status_of(WORDS("--quiet=1")) == 2, "a flag takes no value");
	OK(status_of(WORDS("-m")) == 2 && status_of(WORDS("--model")) == 2, "a value is missing");
	OK(status_of(WORDS("-n", "0")) == 2 && status_of(WORDS("-n", "10")) == 2 && status_of(WORDS("-n", "3x")) == 2 &&
	       status_of(WORDS("-n", "99999999999999999999")) == 2, "numbers out of range");
	OK(status_of(WORDS("--format", "js")) == 2, "none of the choices");
	OK(status_of(WORDS("--temp", "nan")) == 2 && status_of(WORDS("--temp", "-1")) == 2, "no number of 0 or more");
	OK(status_of(WORDS("--help")) == 0 && status_of(WORDS("-qh")) == 0 && status_of(WORDS("--version")) == 0, "help, version");
	OK(status_of(WORDS("-q")) == 50, "a good use goes on");
}

int main(void)
{
	good();
	bad();
	return END();
}

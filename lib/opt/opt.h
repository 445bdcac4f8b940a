/* opt.h - one option table per program: parser, --help, and the dump from which completions are made and man pages are
 * checked.
 *
 *   static struct conf { const char *model; long n; bool quiet; } c;          // or a local struct
 *   static const struct opt options[] = {
 *       {'m', "model", "MODEL", OPT_STR, offsetof(struct conf, model), "the model to call"},
 *       {'q', "quiet", NULL, OPT_FLAG, offsetof(struct conf, quiet), "say nothing but the answer"},
 *       {0}};
 *   static const struct opt_spec spec = {"claws-stream", "[OPTION...]", "Call a model once.", options, NULL, "footer"};
 *   int first = opt_parse(&spec, argc, argv, &c);      // index of the first operand
 *
 * Syntax: POSIX guidelines and GNU long options: -x, -xVAL, -x VAL, -xy, --long, --long=VAL, --long VAL; `--` ends options; the
 * first operand ends them too unless spec.flags has OPT_MIXED; abbreviations are not accepted. -h, --help, --version
 * and --dump-options are added by itself. A wrong use prints two lines on stderr and exits 2; --help prints to stdout
 * and exits 0. The OPT_LIST values of a repeated option accumulate in a struct opt_list. */
#ifndef OPT_OPT_H
#define OPT_OPT_H

#include <stddef.h>

enum opt_kind {
	OPT_FLAG,   /* bool = true */
	OPT_STR,    /* const char * (into argv) */
	OPT_LONG,   /* long, decimal, checked against min and max (both 0: 0..LONG_MAX) */
	OPT_DOUBLE, /* double >= 0 */
	OPT_TIME,   /* long, milliseconds; "90", "1.5s", "500ms", "30m", "2h"; a bare number is seconds */
	OPT_SIZE,   /* long, bytes; "64k", "10M", "1G" */
	OPT_LIST,   /* struct opt_list */
};

struct opt_list {
	const char **v;   /* into argv; v itself is never freed (lives as long as the program) */
	size_t n;
};

struct opt {
	int letter;            /* 0: none */
	const char *name;      /* long name without dashes; NULL: none */
	const char *arg;       /* name of the argument in help; NULL for OPT_FLAG */
	enum opt_kind kind;
	size_t at;             /* offsetof in the program's struct */
	const char *help;      /* one line, lower case, no full stop */
	long min, max;         /* OPT_LONG */
	const char *choices;   /* "text|json": the only values of an OPT_STR; NULL: any */
};

struct opt_verb {
	const char *name, *args, *help;
};

enum { OPT_MIXED = 1 /* options may follow operands */ };

struct opt_spec {
	const char *prog;             /* "claws-session" */
	const char *args;             /* "[OPTION...] VERB [ARG...]" */
	const char *summary;          /* one sentence */
	const struct opt *options;    /* ends with an all-zero row */
	const struct opt_verb *verbs; /* NULL, or ends with an all-zero row */
	const char *footer;           /* more for --help: notes, examples; NULL */
	int flags;
};

/* Index of the first operand in argv (which is permuted with OPT_MIXED). Does not return on -h, --version, misuse. */
int opt_parse(const struct opt_spec *s, int argc, char **argv, void *conf);

/* Prints "PROG: text" and "try PROG --help" on stderr and exits 2. */
_Noreturn void opt_usage(const struct opt_spec *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The values as OPT_TIME and OPT_SIZE read them; -1 if s is not one. */
long opt_time(const char *s);
long opt_size(const char *s);

#endif

#include "opt/opt.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"

/* What every program has. */
static const struct opt common[] = {
	{'h', "help", NULL, OPT_FLAG, 0, "show this help", 0, 0, NULL},
	{0, "version", NULL, OPT_FLAG, 0, "show the version", 0, 0, NULL},
	{0, "dump-options", NULL, OPT_FLAG, 0, "show this table for programs", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static bool last(const struct opt *o)
{
	return !o->letter && !o->name;
}

void opt_usage(const struct opt_spec *s, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	prog_name(s->prog);
	buf_init(&b, 4096);
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	warn("%s", b.p);
	buf_free(&b);
	die(ST_USAGE, "try '%s --help'", s->prog);
}

/* Number and unit of s: multiplier by the unit's place in units; -1 if it is not such a value. */
static long scaled(const char *s, const char *const *units, const double *factors, double bare)
{
	char *end;
	double d, factor = bare;

	if (!(*s >= '0' && *s <= '9') && *s != '.')
		return -1;
	d = strtod(s, &end);
	if (end == s)
		return -1;
	if (*end) {
		int i = 0;

		while (units[i] && strcmp(units[i], end))
			i++;
		if (!units[i])
			return -1;
		factor = factors[i];
	}
	d *= factor;
	return d >= 0 && d < 9e15 ? (long)(d + 0.5) : -1;
}

long opt_time(const char *s)
{
	static const char *const units[] = {"ms", "s", "m", "h", "d", NULL};
	static const double factors[] = {1, 1000, 60000, 3600000, 86400000};

	return scaled(s, units, factors, 1000);
}

long opt_size(const char *s)
{
	static const char *const units[] = {"k", "K", "m", "M", "g", "G", NULL};
	static const double factors[] = {1024, 1024, 1048576, 1048576, 1073741824, 1073741824};

	return scaled(s, units, factors, 1);
}

/* Is s one of "a|b|c"? */
static bool chosen(const char *choices, const char *s)
{
	size_t n = strlen(s);

	for (const char *p = choices; *p;) {
		size_t k = strcspn(p, "|");

		if (k == n && !strncmp(p, s, n))
			return true;
		p += k + (p[k] == '|');
	}
	return false;
}

static void set_number(const struct opt_spec *s, const struct opt *o, const char *shown, const char *value, void *to)
{
	char *end;

	if (o->kind == OPT_DOUBLE) {
		double d = strtod(value, &end);

		if (end == value || *end || !(d >= 0))
			opt_usage(s, "%s: '%s' is not a number of 0 or more", shown, value);
		memcpy(to, &d, sizeof d);
	} else {
		long n, low = o->min, high = o->min || o->max ? o->max : LONG_MAX;

		errno = 0;
		n = o->kind == OPT_TIME ? opt_time(value) : o->kind == OPT_SIZE ? opt_size(value) : strtol(value, &end, 10);
		if (o->kind == OPT_LONG ? end == value || *end || errno || n < low || n > high : n < 0) {
			if (o->kind == OPT_TIME)
				opt_usage(s, "%s: '%s' is not a duration such as 90, 1.5s, 500ms, 30m or 2h", shown, value);
			if (o->kind == OPT_SIZE)
				opt_usage(s, "%s: '%s' is not a size such as 4096, 64k, 10M or 1G", shown, value);
			if (high == LONG_MAX)
				opt_usage(s, "%s: '%s' is not a whole number of %ld or more", shown, value, low);
			opt_usage(s, "%s: '%s' is not a whole number from %ld to %ld", shown, value, low, high);
		}
		memcpy(to, &n, sizeof n);
	}
}

static void set(const struct opt_spec *s, const struct opt *o, const char *shown, const char *value, void *conf)
{
	char *to = (char *)conf + o->at;
	struct opt_list *list;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)(void *)to = true;
		break;
	case OPT_STR:
		if (o->choices && !chosen(o->choices, value))
			opt_usage(s, "%s: '%s' is none of %s", shown, value, o->choices);
		memcpy(to, &value, sizeof value);
		break;
	case OPT_LIST:
		list = (struct opt_list *)(void *)to;
		list->v = xrealloc(list->v, list->n + 1, sizeof *list->v);
		list->v[list->n++] = value;
		break;
	default:
		set_number(s, o, shown, value, to);
	}
}

static void column(struct buf *b, size_t from, size_t to)
{
	do
		buf_addc(b, ' ');
	while (b->len - from < to);
}

static void help_row(struct buf *b, const struct opt *o)
{
	size_t from = b->len;

	buf_adds(b, "  ");
	if (o->letter)
		buf_addf(b, "-%c%s", o->letter, o->name ? ", " : "");
	else
		buf_adds(b, "    ");
	if (o->name)
		buf_addf(b, "--%s", o->name);
	if (o->arg)
		buf_addf(b, "%s%s", o->name ? "=" : " ", o->arg);
	column(b, from, 30);
	buf_adds(b, o->help);
	if (o->choices)
		buf_addf(b, " (%s)", o->choices);
	buf_addc(b, '\n');
}

static _Noreturn void help(const struct opt_spec *s)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	buf_addf(&b, "usage: %s %s\n\n%s\n", s->prog, s->args, s->summary);
	if (s->verbs) {
		buf_adds(&b, "\nverbs:\n");
		for (const struct opt_verb *v = s->verbs; v->name; v++) {
			size_t from = b.len;

			buf_addf(&b, "  %s %s", v->name, v->args);
			column(&b, from, 30);
			buf_addf(&b, "%s\n", v->help);
		}
	}
	buf_adds(&b, "\noptions:\n");
	for (const struct opt *o = s->options; !last(o); o++)
		help_row(&b, o);
	for (const struct opt *o = common; !last(o) && strcmp(o->name, "dump-options"); o++)
		help_row(&b, o);
	if (s->footer)
		buf_addf(&b, "\n%s\n", s->footer);
	fwrite(b.p, 1, b.len, stdout);
	finish(ST_OK);
}

/* One row a line, tab-separated: kind, letter or -, long name or -, argument or -, choices or -, help. */
static void dump_row(const struct opt *o)
{
	static const char *const kinds[] = {"flag", "string", "number", "number", "time", "size", "list"};
	char letter[2] = {o->letter ? (char)o->letter : '-', 0};

	printf("option\t%s\t%s\t%s\t%s\t%s\t%s\n", kinds[o->kind], letter, o->name ? o->name : "-", o->arg ? o->arg : "-",
	       o->choices ? o->choices : "-", o->help);
}

static _Noreturn void dump(const struct opt_spec *s)
{
	printf("program\t%s\t%s\t%s\n", s->prog, s->args, s->summary);
	for (const struct opt_verb *v = s->verbs; v && v->name; v++)
		printf("verb\t%s\t%s\t%s\n", v->name, *v->args ? v->args : "-", v->help);
	for (const struct opt *o = s->options; !last(o); o++)
		dump_row(o);
	dump_row(&common[0]);
	dump_row(&common[1]);
	finish(ST_OK);
}

static const struct opt *find(const struct opt *o, int letter, const char *name, size_t n)
{
	for (; !last(o); o++)
		if (name ? o->name && strlen(o->name) == n && !strncmp(o->name, name, n) : o->letter == letter)
			return o;
	return NULL;
}

static void common_option(const struct opt_spec *s, const struct opt *o)
{
	if (o == &common[0])
		help(s);
	if (o == &common[2])
		dump(s);
	printf("%s %s\n", s->prog, CLAWS_VERSION);
	finish(ST_OK);
}

/* argv[i] is "--name" or "--name=value"; returns the index of the last word used. */
static int long_option(const struct opt_spec *s, int argc, char **argv, int i, void *conf)
{
	const char *name = argv[i] + 2;
	size_t n = strcspn(name, "=");
	const struct opt *o = find(s->options, 0, name, n);
	const char *value = name[n] ? name + n + 1 : NULL;
	char shown[64];

	snprintf(shown, sizeof shown, "--%.*s", n < 60 ? (int)n : 60, name);
	if (!o) {
		o = find(common, 0, name, n);
		if (!o)
			opt_usage(s, "unknown option '%s'", shown);
		common_option(s, o);
	}
	if (o->kind == OPT_FLAG) {
		if (value)
			opt_usage(s, "%s takes no value", shown);
	} else if (!value) {
		if (++i >= argc)
			opt_usage(s, "%s needs a value: %s", shown, o->arg);
		value = argv[i];
	}
	set(s, o, shown, value, conf);
	return i;
}

/* argv[i] is "-x...": letters; returns the index of the last word used. */
static int letters(const struct opt_spec *s, int argc, char **argv, int i, void *conf)
{
	for (const char *p = argv[i] + 1; *p; p++) {
		const struct opt *o = find(s->options, (unsigned char)*p, NULL, 0);
		char shown[3] = {'-', *p, 0};

		if (!o) {
			o = find(common, (unsigned char)*p, NULL, 0);
			if (!o)
				opt_usage(s, "unknown option '%s'", shown);
			common_option(s, o);
		}
		if (o->kind == OPT_FLAG) {
			set(s, o, shown, NULL, conf);
			continue;
		}
		if (p[1]) {
			set(s, o, shown, p + 1, conf);
		} else {
			if (++i >= argc)
				opt_usage(s, "%s needs a value: %s", shown, o->arg);
			set(s, o, shown, argv[i], conf);
		}
		break;
	}
	return i;
}

int opt_parse(const struct opt_spec *s, int argc, char **argv, void *conf)
{
	char **operands = xcalloc((size_t)argc + 1, sizeof *operands);
	int n = 0, i;

	prog_name(s->prog);
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (!(s->flags & OPT_MIXED))
				break;
			operands[n++] = argv[i];
			continue;
		}
		i = argv[i][1] == '-' ? long_option(s, argc, argv, i, conf) : letters(s, argc, argv, i, conf);
	}
	/* Operands met on the way go right before the rest. */
	i -= n;
	memcpy(argv + i, operands, (size_t)n * sizeof *argv);
	free(operands);
	return i;
}

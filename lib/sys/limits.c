#include "sys/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/status.h"

static int number(const char *name, unsigned long long *out, struct err *e)
{
	const char *s = getenv(name);
	char *end;
	int shift = 0;

	*out = 0;
	if (!s || !*s)
		return 0;
	errno = 0;
	unsigned long long n = strtoull(s, &end, 10);
	if (*end) {
		const char *unit = strchr("kKmMgG", *end);
		shift = unit ? (int)((unit - "kKmMgG") / 2 + 1) * 10 : -1;
		end++;
	}
	if (*s < '0' || *s > '9' || errno || shift < 0 || *end || !n || n > ~0ULL >> (shift > 0 ? shift : 0))
		return err_set(e, ST_CONFIG, "%s is '%s': a number above 0 is expected, k, M or G may follow", name, s);
	*out = n << shift;
	return 0;
}

int limits_from_env(struct spawn_limits *l, struct err *e)
{
	*l = (struct spawn_limits){0};
	if (number("CLAWS_LIMIT_AS", &l->as, e) < 0 || number("CLAWS_LIMIT_NPROC", &l->nproc, e) < 0 ||
		number("CLAWS_LIMIT_CPU", &l->cpu_s, e) < 0 || number("CLAWS_LIMIT_FSIZE", &l->fsize, e) < 0 ||
		number("CLAWS_LIMIT_NOFILE", &l->nofile, e) < 0)
		return -1;
	return 0;
}

static int lower(int what, unsigned long long value, bool wanted)
{
	struct rlimit r;

	if (!wanted)
		return 0;
	if (getrlimit(what, &r) < 0)
		return -1;
	if (r.rlim_max == RLIM_INFINITY || value < r.rlim_max)
		r.rlim_max = value;
	r.rlim_cur = r.rlim_max;
	return setrlimit(what, &r);
}

int limits_apply(const struct spawn_limits *l)
{
	if (lower(RLIMIT_AS, l->as, l->as) < 0 || lower(RLIMIT_NPROC, l->nproc, l->nproc) < 0 ||
		lower(RLIMIT_CPU, l->cpu_s, l->cpu_s) < 0 || lower(RLIMIT_FSIZE, l->fsize, l->fsize) < 0 ||
		lower(RLIMIT_NOFILE, l->nofile, l->nofile) < 0 || lower(RLIMIT_CORE, 0, l->no_core) < 0)
		return -1;
	return 0;
}

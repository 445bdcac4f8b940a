/* limits.c - budgets: are they reached, and the ones that always hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "llm/quota.h"
#include "quota.h"

static void lower(int64_t *limit, const char *words, const char *where)
{
	char *copy = xstrdup(words), *save = NULL;
	struct err e = ERR_INIT;

	for (char *w = strtok_r(copy, " ,", &save); w; w = strtok_r(NULL, " ,", &save)) {
		enum quota_unit u;
		int64_t n;

		if (quota_parse(w, &u, &n, &e) < 0)
			die(ST_CONFIG, "%s: %s", where, e.text);
		if (!limit[u] || n < limit[u])
			limit[u] = n;
	}
	free(copy);
}

static bool reached(const char *path, const int64_t *limit, const char *scope)
{
	struct err e = ERR_INIT;
	struct quota q;
	bool yes = false;

	quota_open(&q, path);
	if (quota_read(&q, &e) < 0)
		die_err(&e);
	for (int u = 0; u < QUOTA_UNITS; u++) {
		char text[32], used[32];

		if (!limit[u])
			continue;
		quota_format(text, sizeof text, (enum quota_unit)u, limit[u]);
		quota_format(used, sizeof used, (enum quota_unit)u, q.used[u]);
		printf("%s: %s of %s%s%s\n", scope, used, text, u == QUOTA_USD ? "" : " tokens", q.used[u] >= limit[u] ? ", reached" : "");
		yes |= q.used[u] >= limit[u];
	}
	quota_close(&q);
	return yes;
}

int do_check(const struct conf *c, char **args)
{
	const char *of_day = getenv("CLAWS_BUDGET_DAY"), *of_session = getenv("CLAWS_BUDGET");
	const char *name = c->session ? c->session : getenv("CLAWS_SESSION"), *parent = getenv("CLAWS_QUOTA");
	int64_t limit[QUOTA_SCOPES][QUOTA_UNITS];
	struct err e = ERR_INIT;
	struct buf path, log;
	bool full;

	if (args[0])
		opt_usage(&spec, "check takes no operand '%s'", args[0]);
	if (quota_limits(limit, &e) < 0)
		die_err(&e);
	lower(limit[QUOTA_DAY], of_day ? of_day : "", "CLAWS_BUDGET_DAY");
	lower(limit[QUOTA_SESSION], of_session ? of_session : "", "CLAWS_BUDGET");
	buf_init(&path, 8192);
	buf_init(&log, 8192);
	if (quota_day_path(&path, (int64_t)time(NULL), &e) < 0)
		die_err(&e);
	full = reached(path.p, limit[QUOTA_DAY], "day");
	buf_clear(&path);
	if (parent && *parent) {
		full |= reached(parent, limit[QUOTA_SESSION], "session");
	} else if (name && *name) {
		if (session_find(name, &log, &e) < 0 || quota_session_path(&path, log.p, &e) < 0)
			die_err(&e);
		full |= reached(path.p, limit[QUOTA_SESSION], "session");
	}
	buf_free(&path);
	buf_free(&log);
	return full ? ST_LIMIT : ST_OK;
}

int do_set(const struct conf *c, char **args)
{
	int64_t limit[QUOTA_SCOPES][QUOTA_UNITS];
	struct err e = ERR_INIT;
	enum quota_scope scope = args[0] ? quota_scope(args[0]) : QUOTA_SCOPES;

	(void)c;
	if (scope == QUOTA_SCOPES || !args[1])
		opt_usage(&spec, "set takes day or session, and amounts or none");
	if (quota_limits(limit, &e) < 0)
		die_err(&e);
	for (int u = 0; u < QUOTA_UNITS; u++)
		limit[scope][u] = 0;
	if (strcmp(args[1], "none") != 0 || args[2])
		for (char **a = args + 1; *a; a++) {
			enum quota_unit u;
			int64_t n;

			if (quota_parse(*a, &u, &n, &e) < 0)
				opt_usage(&spec, "%s", e.text);
			limit[scope][u] = n;
		}
	if (quota_limits_write(limit, &e) < 0)
		die_err(&e);
	return ST_OK;
}

/* report.c - the accounts, for a person or as lines of JSON. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/termsafe.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "json/jw.h"
#include "llm/quota.h"
#include "proto/lines.h"
#include "quota.h"

struct spend {
	char *model;
	int64_t calls, input, cache_read, cache_write, output, tokens, nanousd;
	bool unknown;            /* some calls have no price */
};

struct account {
	struct spend *v, sum;
	size_t n;
	const char *session;     /* only its calls; NULL: all */
};

static void account_free(struct account *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i].model);
	free(a->v);
}

static struct spend *of_model(struct account *a, const char *model)
{
	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->v[i].model, model))
			return &a->v[i];
	a->v = xrealloc(a->v, a->n + 1, sizeof *a->v);
	a->v[a->n] = (struct spend){.model = xstrdup(model)};
	return &a->v[a->n++];
}

static int64_t count(const struct json *j, int v)
{
	int64_t n;

	return json_i64(j, v, &n) == 0 && n > 0 ? n : 0;
}

static void add(struct spend *s, const struct json *j)
{
	s->calls++;
	s->input += count(j, json_path(j, 0, "usage.input"));
	s->cache_read += count(j, json_path(j, 0, "usage.cache_read"));
	s->cache_write += count(j, json_path(j, 0, "usage.cache_write"));
	s->output += count(j, json_path(j, 0, "usage.output"));
	s->tokens += count(j, json_get(j, 0, "tokens"));
	s->nanousd += count(j, json_get(j, 0, "nanousd"));
	s->unknown |= json_true(j, json_get(j, 0, "price_unknown"));
}

static void take(struct account *a, const struct json *j)
{
	char *model = json_dup(j, json_get(j, 0, "model"));

	if (!a->session || json_eq(j, json_get(j, 0, "session"), a->session)) {
		add(of_model(a, model ? model : "?"), j);
		add(&a->sum, j);
	}
	free(model);
}

/* No file is no spend. A torn line is none. */
static void read_account(struct account *a, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	struct lines in;
	struct line l;
	enum lines_got got;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return;
	if (fd < 0)
		die(ST_IO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		die(ST_IO, "%s: not a regular file", path);
	lines_init(&in, fd, LINE_MAX_BYTES);
	while ((got = lines_next(&in, &l)) != LINES_END) {
		if (got == LINES_NEED && lines_fill(&in, &e) < 0)
			die(ST_IO, "%s: %s", path, e.text);
		if (got == LINES_LINE && json_parse(&j, l.p, l.len, NULL) == 0)
			take(a, &j);
	}
	lines_free(&in);
	json_free(&j);
	close(fd);
}

static void money(char out[32], const struct spend *s)
{
	if (s->nanousd == 0 && s->unknown)
		snprintf(out, 32, "unknown");
	else
		snprintf(out, 32, "$%" PRId64 ".%04" PRId64 "%s", s->nanousd / QUOTA_DOLLAR, s->nanousd % QUOTA_DOLLAR / 100000,
			s->unknown ? "+?" : "");
}

static void row(const char *name, const struct spend *s)
{
	char cost[32], number[5][32];
	const int64_t n[5] = {s->input, s->cache_read, s->cache_write, s->output, s->tokens};
	struct buf safe;

	for (int i = 0; i < 5; i++)
		quota_format(number[i], sizeof number[i], QUOTA_TOKENS, n[i]);
	money(cost, s);
	buf_init(&safe, BUF_NOLIMIT);
	term_safe(&safe, name, strlen(name), TERM_ONE_LINE);
	printf("%-36s %6" PRId64 " %8s %8s %8s %8s %8s %12s\n", safe.p, s->calls, number[0], number[1], number[2], number[3],
		number[4], cost);
	buf_free(&safe);
}

static void heading(const char *what)
{
	printf("%-36s %6s %8s %8s %8s %8s %8s %12s\n", what, "CALLS", "INPUT", "READ", "WRITE", "OUTPUT", "TOKENS", "COST");
}

static void json_row(const char *key, const char *name, const char *scope, const struct spend *s)
{
	struct buf out;
	struct jw w;

	buf_init(&out, BUF_NOLIMIT);
	w = jw_begin(&out);
	jw_obj(&w);
	jw_kstr(&w, "scope", scope);
	if (name)
		jw_kstr(&w, key, name);
	jw_ki64(&w, "calls", s->calls);
	jw_ki64(&w, "input", s->input);
	jw_ki64(&w, "cache_read", s->cache_read);
	jw_ki64(&w, "cache_write", s->cache_write);
	jw_ki64(&w, "output", s->output);
	jw_ki64(&w, "tokens", s->tokens);
	jw_key(&w, "cost_usd");
	if (s->nanousd == 0 && s->unknown)
		jw_null(&w);
	else
		jw_double(&w, (double)s->nanousd / (double)QUOTA_DOLLAR);
	jw_kbool(&w, "price_unknown", s->unknown);
	jw_end(&w);
	puts(out.p);
	buf_free(&out);
}

static void day_path(struct buf *path, int64_t t)
{
	struct err e = ERR_INIT;

	buf_init(path, 8192);
	if (quota_day_path(path, t, &e) < 0)
		die_err(&e);
}

static void day_name(char out[16], int64_t t)
{
	time_t at = (time_t)t;
	struct tm tm;

	gmtime_r(&at, &tm);
	strftime(out, 16, "%Y-%m-%d", &tm);
}

static void show(const struct conf *c, const char *title, const char *scope, const struct account *a)
{
	if (c->json) {
		for (size_t i = 0; i < a->n; i++)
			json_row("model", a->v[i].model, scope, &a->v[i]);
		json_row("model", NULL, scope, &a->sum);
		return;
	}
	heading(title);
	for (size_t i = 0; i < a->n; i++)
		row(a->v[i].model, &a->v[i]);
	if (a->n != 1)
		row("all", &a->sum);
}

static void show_limits(int64_t limit[QUOTA_SCOPES][QUOTA_UNITS], const struct account *day)
{
	for (int s = 0; s < QUOTA_SCOPES; s++)
		for (int u = 0; u < QUOTA_UNITS; u++) {
			char text[32], used[32];
			int64_t spent = u == QUOTA_USD ? day->sum.nanousd : day->sum.tokens;

			if (!limit[s][u])
				continue;
			quota_format(text, sizeof text, (enum quota_unit)u, limit[s][u]);
			quota_format(used, sizeof used, (enum quota_unit)u, spent);
			printf("budget of %s: %s%s", s == QUOTA_DAY ? "a day" : "a session", text, u == QUOTA_USD ? "" : " tokens");
			if (s == QUOTA_DAY)
				printf(", %s used, %d %%", used, (int)(100.0 * (double)spent / (double)limit[s][u]));
			putchar('\n');
		}
}

int do_show(const struct conf *c, char **args)
{
	struct account day = {0}, session = {0};
	int64_t limit[QUOTA_SCOPES][QUOTA_UNITS];
	const char *name = c->session ? c->session : getenv("CLAWS_SESSION");
	struct err e = ERR_INIT;
	struct buf path, log;
	char title[64], today[16];

	if (args[0])
		opt_usage(&spec, "show takes no operand '%s'", args[0]);
	if (quota_limits(limit, &e) < 0)
		die_err(&e);
	day_path(&path, (int64_t)time(NULL));
	day_name(today, (int64_t)time(NULL));
	read_account(&day, path.p);
	snprintf(title, sizeof title, "%s (UTC)", today);
	show(c, title, "day", &day);
	if (name && *name) {
		buf_init(&log, 8192);
		if (session_find(name, &log, &e) < 0)
			die_err(&e);
		session.session = log.p;
		read_account(&session, path.p);
		if (!c->json)
			putchar('\n');
		show(c, "this session, today", "session", &session);
		buf_free(&log);
	}
	if (!c->json)
		show_limits(limit, &day);
	account_free(&day);
	account_free(&session);
	buf_free(&path);
	return ST_OK;
}

int do_list(const struct conf *c, char **args)
{
	int64_t now = (int64_t)time(NULL);
	struct spend all = {0};

	if (args[0])
		opt_usage(&spec, "list takes no operand '%s'", args[0]);
	if (!c->json)
		heading("DAY (UTC)");
	for (long i = c->days - 1; i >= 0; i--) {
		struct account a = {0};
		struct buf path;
		char name[16];

		day_path(&path, now - i * 86400);
		day_name(name, now - i * 86400);
		read_account(&a, path.p);
		if (a.sum.calls && c->json)
			json_row("day", name, "day", &a.sum);
		else if (a.sum.calls)
			row(name, &a.sum);
		all.calls += a.sum.calls;
		all.input += a.sum.input;
		all.cache_read += a.sum.cache_read;
		all.cache_write += a.sum.cache_write;
		all.output += a.sum.output;
		all.tokens += a.sum.tokens;
		all.nanousd += a.sum.nanousd;
		all.unknown |= a.sum.unknown;
		account_free(&a);
		buf_free(&path);
	}
	if (!c->json)
		row("all", &all);
	return ST_OK;
}

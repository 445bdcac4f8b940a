/* quota.c - budgets: asked before every attempt, and what each cost is written down after it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "stream.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define ANSWER 4096            /* tokens: an answer whose limit nobody says */
#define IMAGE_BYTES 1024       /* a run of letters that long is no text */
#define IMAGE_TOKENS 1600

/* A list of budgets lowers limits: it never raises one. */
static int take(const char *text, int64_t *limit, struct err *e)
{
	char *copy = xstrdup(text), *save = NULL;
	int status = 0;

	for (char *one = strtok_r(copy, " ,", &save); one && status == 0; one = strtok_r(NULL, " ,", &save)) {
		enum quota_unit u;
		int64_t n;

		status = quota_parse(one, &u, &n, e);
		if (status == 0 && (!limit[u] || n < limit[u]))
			limit[u] = n;
	}
	free(copy);
	return status;
}

static int take_all(const struct opt_list *list, const char *variable, int64_t *limit, struct err *e)
{
	const char *env = getenv(variable);

	for (size_t i = 0; i < list->n; i++)
		if (take(list->v[i], limit, e) < 0)
			return -1;
	if (env && *env && take(env, limit, e) < 0) {
		e->status = ST_CONFIG;
		return err_wrap(e, "%s", variable);
	}
	return 0;
}

/* The session's account: CLAWS_QUOTA is that of the claws that this one works for. */
static int session_path(struct buf *path, bool *own, struct err *e)
{
	const char *parent = getenv("CLAWS_QUOTA"), *log = getenv("CLAWS_SESSION");
	char name[64];

	*own = false;
	if (parent && *parent == '/')
		return buf_adds(path, parent);
	if (parent && *parent)
		return err_set(e, ST_CONFIG, "CLAWS_QUOTA: \"%.200s\" is not an absolute path", parent);
	if (log && *log)
		return quota_session_path(path, log, e);
	*own = true;
	snprintf(name, sizeof name, "/quota-%ld.ndjson", (long)getpid());
	if (dirs_runtime(path, NULL, e) < 0)
		return -1;
	return buf_adds(path, name);
}

int quota_setup(struct stream *s, struct err *e)
{
	struct spend *q = &s->spend;
	int64_t limit[QUOTA_UNITS], standing[QUOTA_SCOPES][QUOTA_UNITS];
	struct buf path;
	int status = 0;

	if (quota_limits(standing, e) < 0)
		return -1;
	memcpy(limit, standing[QUOTA_SESSION], sizeof limit);
	memcpy(q->day_limit, standing[QUOTA_DAY], sizeof q->day_limit);
	if (take_all(&s->conf.budget, "CLAWS_BUDGET", limit, e) < 0 ||
	    take_all(&s->conf.budget_day, "CLAWS_BUDGET_DAY", q->day_limit, e) < 0)
		return -1;
	if (!limit[0] && !limit[1] && !getenv("CLAWS_QUOTA"))
		return 0;
	buf_init(&path, 4096);
	status = session_path(&path, &q->own, e);
	if (status == 0) {
		quota_open(&q->session, path.p);
		memcpy(q->session.limit, limit, sizeof limit);
	}
	buf_free(&path);
	return status;
}

void quota_end(struct stream *s)
{
	struct spend *q = &s->spend;

	quota_release(&q->session);
	if (q->own && q->session.path) {
		char sum[4200];

		snprintf(sum, sizeof sum, "%s.sum", q->session.path);
		unlink(sum);
		unlink(q->session.path);
	}
	quota_close(&q->session);
	quota_close(&q->day);
}

static bool limited(const struct quota *q)
{
	return q->path && (q->limit[0] || q->limit[1]);
}

/* The account of today: a call belongs to the day on which it began. */
static int open_day(struct stream *s, struct err *e)
{
	struct spend *q = &s->spend;
	struct buf path;
	int status;

	buf_init(&path, 4096);
	status = quota_day_path(&path, (int64_t)time(NULL), e);
	if (status == 0 && (!q->day.path || strcmp(q->day.path, path.p) != 0)) {
		quota_close(&q->day);
		quota_open(&q->day, path.p);
		memcpy(q->day.limit, q->day_limit, sizeof q->day_limit);
	}
	buf_free(&path);
	return status;
}

/* Tokens of the request, about: images and files in it, as base64, are no text. */
static int64_t request_tokens(const struct buf *b)
{
	int64_t text = 0, images = 0;
	size_t run = 0;

	for (size_t i = 0; i <= b->len; i++) {
		if (i < b->len && b->p[i] != '"' && b->p[i] != ' ' && b->p[i] != '\\') {
			run++;
			continue;
		}
		if (run >= IMAGE_BYTES && run % 4 == 0)
			images++;
		else
			text += (int64_t)run + 1;
		run = 0;
	}
	return text / 3 + images * IMAGE_TOKENS;
}

static int64_t nano_per_token(double dollars_per_million)
{
	return dollars_per_million > 0 ? (int64_t)ceil(dollars_per_million * 1000) : 0;
}

static int full(const char *scope, const struct quota_hit *hit, char *code, struct err *e)
{
	char limit[32], used[32];

	quota_format(limit, sizeof limit, hit->unit, hit->limit);
	quota_format(used, sizeof used, hit->unit, hit->used);
	snprintf(code, 32, "%s_%s", scope, hit->unit == QUOTA_USD ? "usd" : "tokens");
	return err_set(e, ST_LIMIT, "the %s's budget of %s%s is reached: %s used, and the next call would go over it; "
		"raise %s to go on", scope, limit, hit->unit == QUOTA_USD ? "" : " tokens", used,
		!strcmp(scope, "day") ? "--budget-day" : "--budget");
}

enum quota_say quota_before(struct stream *s, char *code, struct err *e)
{
	struct spend *q = &s->spend;
	struct quota *const account[] = {&q->day, &q->session};
	int64_t price = nano_per_token(s->p.price[PRICE_OUTPUT]), input[QUOTA_UNITS], output[QUOTA_UNITS], most;
	struct quota_hit hit = {0};

	*code = 0;
	if (open_day(s, e) < 0)
		return q->day_limit[0] || q->day_limit[1] ? QUOTA_ERROR : QUOTA_GO;
	if (!limited(&q->day) && !limited(&q->session))
		return QUOTA_GO;
	if ((q->day.limit[QUOTA_USD] || q->session.limit[QUOTA_USD]) && !s->p.local &&
	    (s->p.price[PRICE_INPUT] < 0 || s->p.price[PRICE_OUTPUT] < 0)) {
		err_set(e, ST_CONFIG, "the price of %s is not known, so a budget in dollars cannot hold: set its price in "
			"models.json, or give a budget in tokens (--budget 200k)", s->maker);
		return QUOTA_ERROR;
	}
	input[QUOTA_TOKENS] = request_tokens(&s->body);
	input[QUOTA_USD] = input[QUOTA_TOKENS] * nano_per_token(s->p.price[PRICE_INPUT]);
	most = s->options.max_tokens ? s->options.max_tokens : ANSWER;
	output[QUOTA_TOKENS] = most;
	output[QUOTA_USD] = most * price;
	for (size_t i = 0; i < 2; i++) {
		enum quota_say say = limited(account[i]) ? quota_reserve(account[i], input, output, &hit, e) : QUOTA_GO;

		if (say == QUOTA_GO)
			continue;
		quota_release(&q->day);
		if (say == QUOTA_FULL)
			full(i ? "session" : "day", &hit, code, e);
		return say;
	}
	q->room = output[QUOTA_TOKENS];
	if (price && output[QUOTA_USD] / price < q->room)
		q->room = output[QUOTA_USD] / price;
	q->room = q->room >= most ? 0 : q->room < QUOTA_LEAST ? QUOTA_LEAST : q->room;
	return QUOTA_GO;
}

static void settle(struct stream *s, struct quota *q, const char *scope, const char *line, const int64_t *spent)
{
	struct err e = ERR_INIT;
	int warn[QUOTA_UNITS];

	if (!q->path)
		return;
	if (quota_settle(q, line, spent, warn, &e) < 0) {
		if (!s->spend.told)
			stage_notice(&s->st, "what this call cost could not be written down: %s", e.text);
		s->spend.told = true;
		return;
	}
	for (int u = 0; u < QUOTA_UNITS; u++) {
		char used[32], limit[32];

		if (!warn[u])
			continue;
		quota_format(used, sizeof used, (enum quota_unit)u, q->used[u]);
		quota_format(limit, sizeof limit, (enum quota_unit)u, q->limit[u]);
		stage_notice(&s->st, "%d %% of the %s's budget are used: %s of %s", warn[u], scope, used, limit);
	}
}

#define COUNT_MAX INT64_C(100000000000000000)   /* a counter beyond that is nonsense; four of them still have a sum */

static int64_t said(int64_t n)
{
	return n < 0 ? 0 : n > COUNT_MAX ? COUNT_MAX : n;
}

void quota_after(struct stream *s)
{
	const struct usage *u = &s->answer.usage;
	int64_t spent[QUOTA_UNITS] = {said(u->input) + said(u->output) + said(u->cache_read) + said(u->cache_write), 0};
	bool guessed = spent[0] == 0 && s->answer.status >= 200 && s->answer.status < 300;
	struct usage about = *u;
	struct buf line;
	struct jw w;
	double cost;

	if (guessed) {
		about.input = request_tokens(&s->body);
		about.output = (int64_t)(s->answer.content.len + s->answer.thinking.len) / 3;
		spent[0] = about.input + about.output;
	}
	if (!spent[0]) {
		quota_release(&s->spend.day);
		quota_release(&s->spend.session);
		return;
	}
	cost = provider_cost(&s->p, &about);
	spent[QUOTA_USD] = cost > 0 ? llround(fmin(cost * (double)QUOTA_DOLLAR, (double)COUNT_MAX)) : 0;
	buf_init(&line, BUF_NOLIMIT);
	w = jw_begin(&line);
	jw_obj(&w);
	jw_ki64(&w, "ts", (int64_t)time(NULL));
	jw_kstr(&w, "model", s->maker);
	if (getenv("CLAWS_SESSION"))
		jw_kstr(&w, "session", getenv("CLAWS_SESSION"));
	jw_key(&w, "usage");
	usage_write(&w, &about, cost);
	jw_ki64(&w, "tokens", spent[QUOTA_TOKENS]);
	jw_ki64(&w, "nanousd", spent[QUOTA_USD]);
	if (cost < 0)
		jw_kbool(&w, "price_unknown", true);
	if (guessed)
		jw_kbool(&w, "estimated", true);
	jw_end(&w);
	settle(s, &s->spend.day, "day", line.p, spent);
	settle(s, &s->spend.session, "session", line.p, spent);
	buf_free(&line);
}

#include "agent/snip_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/snip.h"
#include "base/xalloc.h"
#include "json/jw.h"

enum { RECENT = 6, GROUPS_KEPT = 2 };   /* messages whose results stay whole; steps of the last turn that stay */

/* Every message in its order, and how it is named. */
struct places {
	struct held **m;
	enum msg_kind *kind;
	size_t *group;
	size_t n, groups;
	long prompt;            /* the group of the last prompt; -1: none */
	struct heal_map names;
};

static void place(struct places *p, struct held *m, enum msg_kind kind, size_t group)
{
	p->m[p->n] = m;
	p->kind[p->n] = kind;
	p->group[p->n++] = group;
	if (m->id_len) {
		struct heal_entry *e = heal_map_put(&p->names, m->line + m->id_at, m->id_len);
		e->at = e->at == -1 ? (int64_t)p->n - 1 : -2;
	}
}

static bool is_prompt(const struct heal_group *g)
{
	return g->kind == MSG_USER && !g->stub;
}

static long last_prompt(const struct heal *h)
{
	long i = (long)h->n - 1;

	while (i >= 0 && !is_prompt(h->g[i]))
		i--;
	return i;
}

static long first_prompt(const struct heal *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (is_prompt(h->g[i]))
			return (long)i;
	return -1;
}

static void places_init(struct places *p, const struct heal *h)
{
	memset(p, 0, sizeof *p);
	p->groups = h->n;
	p->prompt = last_prompt(h);
	heal_map_init(&p->names);
	p->m = xcalloc(h->messages + 1, sizeof *p->m);
	p->kind = xcalloc(h->messages + 1, sizeof *p->kind);
	p->group = xcalloc(h->messages + 1, sizeof *p->group);
	for (size_t g = 0; g < h->n; g++) {
		place(p, &h->g[g]->msg, h->g[g]->kind, g);
		for (size_t c = 0; c < h->g[g]->ncalls; c++)
			place(p, &h->g[g]->calls[c].result, MSG_TOOL, g);
	}
}

static void places_free(struct places *p)
{
	heal_map_free(&p->names);
	free(p->m);
	free(p->kind);
	free(p->group);
}

/* The name of the message at i, as a JSON string. */
static void name_add(struct buf *out, const struct places *p, size_t i)
{
	const struct held *m = p->m[i];
	const struct heal_entry *e = m->id_len ? heal_map_get(&p->names, m->line + m->id_at, m->id_len) : NULL;

	if (e && e->at == (int64_t)i)
		buf_add(out, m->line + m->id_at, m->id_len);
	else
		buf_addf(out, "\"#%zu\"", i + 1);
}

/* The message that the JSON string at v names; -1: none. */
static int64_t name_find(const struct places *p, const struct json *j, int v)
{
	size_t n;
	const char *raw = json_raw(j, v, &n);
	unsigned long k;
	char end;

	if (json_type(j, v) != JSON_STRING)
		return -1;
	const struct heal_entry *e = heal_map_get(&p->names, raw, n);
	if (e && e->at >= 0)
		return e->at;
	char text[32] = "";
	if (n < sizeof text)
		memcpy(text, raw, n);
	if (sscanf(text, "\"#%lu%c", &k, &end) == 2 && end == '"' && k >= 1 && k <= p->n)
		return (int64_t)k - 1;
	return -1;
}

static bool snip_held(struct heal *h, struct held *m, size_t limit)
{
	struct json j = JSON_INIT;
	struct buf out;
	bool done = false;

	buf_init(&out, BUF_NOLIMIT);
	if (json_parse(&j, m->line, m->len, NULL) == 0 && snip_line(&out, &j, limit)) {
		held_set(h, m, out.p, out.len);
		done = true;
	}
	buf_free(&out);
	json_free(&j);
	return done;
}

/* Leaves out the groups before `end` that are not in keep[], and puts the message that stands for them. */
static void leave_out(struct heal *h, size_t end, const bool *keep)
{
	struct heal_group **old = h->g;
	unsigned long count = 0;
	size_t n = 0, stub_at;
	char text[96];

	h->g = xcalloc(h->n + 1, sizeof *h->g);
	h->cap = h->n + 1;
	for (size_t i = 0; i < end; i++) {
		if (keep[i]) {
			h->g[n++] = old[i];
			if (n == 1)
				h->g[n++] = NULL;
			continue;
		}
		count += old[i]->stub ? old[i]->left_out : 1 + old[i]->ncalls;
		heal_group_free(h, old[i]);
	}
	if (n == 0)
		h->g[n++] = NULL;
	stub_at = h->g[0] ? 1 : 0;
	snprintf(text, sizeof text, "[%lu earlier messages were left out here to save room.]", count);
	h->g[stub_at] = heal_user(h, text);
	h->g[stub_at]->left_out = count;
	memcpy(h->g + n, old + end, (h->n - end) * sizeof *old);
	h->n = h->settled = n + h->n - end;
	free(old);
}

/* ---- the three steps ---- */

static void line_begin(struct buf *b, const struct snip_want *w, uint64_t before)
{
	buf_addf(b, "{\"type\":\"compaction\",\"before\":%llu", (unsigned long long)w->shown(w->arg, before));
}

static void line_end(struct buf *b, const struct snip_want *w, uint64_t after)
{
	buf_addf(b, ",\"after\":%llu}\n", (unsigned long long)w->shown(w->arg, after));
}

typedef bool choose_fn(const struct places *p, size_t i);

static bool old_result(const struct places *p, size_t i)
{
	return p->kind[i] == MSG_TOOL && i + RECENT < p->n;
}

static bool any(const struct places *p, size_t i)
{
	(void)p, (void)i;
	return true;
}

/* Not the prompt that is being answered, nor the step before this one. */
static bool not_at_work(const struct places *p, size_t i)
{
	return (long)p->group[i] != p->prompt && p->group[i] + 1 < p->groups;
}

static bool step_snip(struct heal *h, const struct snip_want *w, choose_fn *choose, size_t limit, struct buf *lines)
{
	struct places p;
	struct buf names;
	uint64_t before = h->tokens;

	buf_init(&names, BUF_NOLIMIT);
	places_init(&p, h);
	for (size_t i = 0; i < p.n; i++) {
		size_t at = names.len;
		if (!choose(&p, i))
			continue;
		/* The name first: snipping moves the id within the line. */
		buf_adds(&names, at ? "," : "");
		name_add(&names, &p, i);
		if (!snip_held(h, p.m[i], limit))
			buf_truncate(&names, at);
	}
	if (names.len) {
		line_begin(lines, w, before);
		buf_addf(lines, ",\"limit\":%zu,\"snipped\":[%s]", limit, names.p);
		line_end(lines, w, h->tokens);
	}
	bool some = names.len > 0;
	places_free(&p);
	buf_free(&names);
	return some;
}

static uint64_t group_tokens(const struct heal_group *g)
{
	uint64_t t = g->msg.tokens;

	for (size_t i = 0; i < g->ncalls; i++)
		t += g->calls[i].result.tokens;
	return t;
}

/* Where the kept tail begins: before a prompt if one such cut is enough, else before a step of the last turn. */
static size_t choose_cut(const struct heal *h, uint64_t target, long first, long last)
{
	uint64_t left = h->tokens;
	size_t best = 0;

	for (long i = 0; i < (long)h->n; i++) {
		bool prompt = is_prompt(h->g[i]) && i > first;
		bool step = i > last && h->g[i]->kind == MSG_ASSISTANT && (long)h->n - i >= GROUPS_KEPT;
		if (i > first + 1 && (prompt || step)) {
			best = (size_t)i;
			if (left <= target)
				break;
		}
		if (i != first && i != last)
			left -= group_tokens(h->g[i]);
	}
	return best;
}

/* Marks in keep[] (of h->n + 1) what stays before `end`; true if anything goes. */
static bool step_keep(const struct heal *h, size_t end, long first, long last, bool *keep)
{
	bool gone = false;

	for (size_t i = 0; i < end; i++) {
		keep[i] = (long)i == first || (long)i == last;
		gone |= !keep[i] && !h->g[i]->stub;
	}
	return gone;
}

static bool step_drop(struct heal *h, const struct snip_want *w, struct buf *lines)
{
	long first = first_prompt(h), last = last_prompt(h);
	size_t end = choose_cut(h, w->target, first, last);
	bool *keep = xcalloc(h->n + 1, sizeof *keep);

	if (!step_keep(h, end, first, last, keep)) {
		free(keep);
		return false;
	}
	uint64_t before = h->tokens;
	struct places p;
	places_init(&p, h);
	line_begin(lines, w, before);
	buf_adds(lines, ",\"kept\":[");
	size_t at = lines->len, dropped = 0;
	for (size_t i = 0; i < p.n; i++) {
		size_t g = p.group[i];
		if (g < end)
			dropped = i;
		if (g < end && keep[g] && p.kind[i] == MSG_USER) {
			buf_adds(lines, lines->len > at ? "," : "");
			name_add(lines, &p, i);
		}
	}
	buf_adds(lines, "],\"dropped\":");
	name_add(lines, &p, dropped);
	places_free(&p);
	leave_out(h, end, keep);
	line_end(lines, w, h->tokens);
	free(keep);
	return true;
}

/* The largest limit that brings the conversation down to target, by estimate; the smallest if none does. */
static size_t choose_limit(const struct heal *h, uint64_t target, choose_fn *choose, const size_t *limits, size_t n)
{
	struct places p;
	size_t i;

	places_init(&p, h);
	for (i = 0; i + 1 < n; i++) {
		uint64_t sum = 0, most = limits[i] / 4 + 30;   /* three quarters of the limit, three bytes a token */
		for (size_t k = 0; k < p.n; k++)
			sum += choose(&p, k) && p.m[k]->tokens > most ? most : p.m[k]->tokens;
		if (sum <= target)
			break;
	}
	places_free(&p);
	return i;
}

static bool step_hard(struct heal *h, const struct snip_want *w, struct buf *lines)
{
	static const size_t limits[] = {2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192,
	                                4096, 2000, 1000, 500, 200};
	enum { N = sizeof limits / sizeof *limits };
	static choose_fn *const choices[] = {not_at_work, any};
	bool some = false;

	for (int c = 0; c < 2 && h->tokens > w->most; c++)
		for (size_t i = choose_limit(h, w->most, choices[c], limits, N); i < N && h->tokens > w->most; i++)
			some |= step_snip(h, w, choices[c], limits[i], lines);
	return some;
}

bool snip_fit(struct heal *h, const struct snip_want *want, struct buf *lines)
{
	bool some = step_snip(h, want, old_result, SNIP_LIMIT, lines);

	if (h->tokens > want->target)
		some |= step_drop(h, want, lines);
	if (h->tokens > want->most)
		some |= step_hard(h, want, lines);
	return some;
}

/* ---- the same again, from the line ---- */

static void again_snip(struct heal *h, const struct json *j, const struct places *p)
{
	int64_t limit = SNIP_LIMIT, at;

	json_i64(j, json_get(j, 0, "limit"), &limit);
	if (limit < 4)
		limit = SNIP_LIMIT;
	for (struct json_iter it = json_iter(j, json_get(j, 0, "snipped")); json_next(&it);)
		if ((at = name_find(p, j, it.value)) >= 0)
			snip_held(h, p->m[at], (size_t)limit);
}

static void again_drop(struct heal *h, const struct json *j, const struct places *p)
{
	int64_t last = name_find(p, j, json_get(j, 0, "dropped")), at;

	if (last < 0)
		return;
	size_t end = p->group[last] + 1;
	bool *keep = xcalloc(h->n + 1, sizeof *keep);
	size_t kept = 0;
	for (struct json_iter it = json_iter(j, json_get(j, 0, "kept")); json_next(&it);)
		if ((at = name_find(p, j, it.value)) >= 0 && p->group[at] < end && p->kind[at] == MSG_USER &&
		    !keep[p->group[at]]) {
			keep[p->group[at]] = true;
			kept++;
		}
	if (kept < end)
		leave_out(h, end, keep);
	free(keep);
}

void snip_again(struct heal *h, const struct json *compaction)
{
	struct places p;

	places_init(&p, h);
	/* Names first, then changes: both find their messages in the conversation as it was. */
	if (json_type(compaction, json_get(compaction, 0, "snipped")) == JSON_ARRAY)
		again_snip(h, compaction, &p);
	if (json_type(compaction, json_get(compaction, 0, "dropped")) == JSON_STRING)
		again_drop(h, compaction, &p);
	places_free(&p);
}

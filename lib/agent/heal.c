#include "agent/heal.h"

#include <stdlib.h>
#include <string.h>

#include "agent/estimate.h"
#include "agent/heal_call.h"
#include "agent/heal_line.h"
#include "base/xalloc.h"
#include "json/jw.h"

static const char no_head[] = "[The conversation began before this point.]";

void heal_init(struct heal *h)
{
	memset(h, 0, sizeof *h);
	heal_map_init(&h->ids);
	buf_init(&h->text, BUF_NOLIMIT);
	buf_init(&h->line, BUF_NOLIMIT);
	buf_init(&h->calls, BUF_NOLIMIT);
}

void heal_free(struct heal *h)
{
	heal_forget(h);
	free(h->g);
	heal_map_free(&h->ids);
	json_free(&h->json);
	buf_free(&h->text);
	buf_free(&h->line);
	buf_free(&h->calls);
}

static void held_drop(struct heal *h, struct held *m)
{
	if (!m->line)
		return;
	h->tokens -= m->tokens;
	h->messages--;
	free(m->line);
	memset(m, 0, sizeof *m);
}

static void held_take(struct heal *h, struct held *m, char *line, size_t len, const struct json *j)
{
	size_t n;
	int id = json_get(j, 0, "id");
	const char *raw = json_raw(j, id, &n);

	held_drop(h, m);
	m->line = line;
	m->len = len;
	m->tokens = estimate_line(j);
	if (json_type(j, id) == JSON_STRING && n > 2) {
		m->id_at = (size_t)(raw - j->text);
		m->id_len = n;
	}
	h->tokens += m->tokens;
	h->messages++;
}

static char *copy(const char *p, size_t n)
{
	char *c = xmalloc(n + 1);

	memcpy(c, p, n);
	c[n] = 0;
	return c;
}

void held_set(struct heal *h, struct held *m, const char *line, size_t len)
{
	char *own = copy(line, len);

	json_parse(&h->json, own, len, NULL);
	held_take(h, m, own, len, &h->json);
}

/* As it came, or rewritten if there is something to replace. */
static void keep(struct heal *h, struct held *m, const struct json *j, const struct line_edit *ed)
{
	if (!ed->content && !ed->calls && !ed->call_id && !ed->no_blocks) {
		held_take(h, m, copy(j->text, j->len), j->len, j);
		return;
	}
	buf_clear(&h->line);
	line_rewrite(&h->line, j, ed);
	held_set(h, m, h->line.p, h->line.len);
}

static struct heal_group *push(struct heal *h, enum msg_kind kind)
{
	struct heal_group *g = xcalloc(1, sizeof *g);

	if (h->n == h->cap)
		h->g = xrealloc(h->g, h->cap = h->cap ? h->cap * 2 : 64, sizeof *h->g);
	h->g[h->n++] = g;
	g->kind = kind;
	return g;
}

void heal_group_free(struct heal *h, struct heal_group *g)
{
	for (size_t i = 0; i < g->ncalls; i++) {
		struct heal_entry *e = heal_map_get(&h->ids, g->calls[i].came, strlen(g->calls[i].came));
		if (e && e->open >= g->calls && e->open < g->calls + g->ncalls)
			e->open = e->last = NULL;
		held_drop(h, &g->calls[i].result);
		if (g->calls[i].id != g->calls[i].came)
			free(g->calls[i].id);
		free(g->calls[i].came);
	}
	if (h->assistant == g)
		h->assistant = NULL;
	held_drop(h, &g->msg);
	free(g->calls);
	free(g);
}

void heal_forget(struct heal *h)
{
	for (size_t i = 0; i < h->n; i++)
		heal_group_free(h, h->g[i]);
	h->n = h->settled = 0;
}

static bool has_calls(const struct json *j)
{
	int v = json_get(j, 0, "tool_calls");

	if (json_type(j, v) == JSON_ARRAY)
		for (struct json_iter it = json_iter(j, v); json_next(&it);)
			if (json_type(j, it.value) == JSON_OBJECT)
				return true;
	return false;
}

static bool is_pause(const struct json *j)
{
	return json_eq(j, json_get(j, 0, "stop_reason"), "pause") && json_count(j, json_get(j, 0, "blocks")) > 0;
}

static void add_assistant(struct heal *h, const struct json *j)
{
	struct line_edit ed = {0};
	bool text = line_has_text(j), mended = false;

	if (!text) {
		bool string = line_content(&h->text, j);
		if (!string && !line_blank(h->text.p, h->text.len)) {
			text = true;
			ed.content = h->text.p;
			ed.content_len = h->text.len;
		} else if (!has_calls(j) && !is_pause(j)) {
			h->report.empty++;
			return;
		} else if (!string || h->text.len) {
			ed.content = "";
		}
		h->report.content += ed.content != NULL;
	}
	struct heal_group *g = push(h, MSG_ASSISTANT);
	h->assistant = g;
	if (heal_calls_take(h, j, g, &mended)) {
		ed.calls = h->calls.p;
		ed.calls_len = h->calls.len;
		/* They hold the calls as they were. */
		ed.no_blocks = mended && json_get(j, 0, "blocks") >= 0;
	}
	keep(h, &g->msg, j, &ed);
}

static void add_user(struct heal *h, const struct json *j)
{
	struct line_edit ed = {0};

	if (!line_has_text(j)) {
		bool string = line_content(&h->text, j);
		if (line_blank(h->text.p, h->text.len) && !line_images(j)) {
			h->report.empty++;
			return;
		}
		if (!string) {
			ed.content = h->text.p;
			ed.content_len = h->text.len;
			h->report.content++;
		}
	}
	keep(h, &push(h, MSG_USER)->msg, j, &ed);
}

static void add_tool(struct heal *h, const struct json *j)
{
	char *id = json_dup(j, json_get(j, 0, "tool_call_id"));
	struct line_edit ed = {0};
	bool known;
	struct heal_call *c = heal_call_find(h, id ? id : "", &known);

	if (!c || c->result.line) {
		if (known)
			h->report.repeated++;
		else
			h->report.orphans++;
		free(id);
		return;
	}
	if (!id || strcmp(id, c->id))
		ed.call_id = c->id;
	if (json_type(j, json_get(j, 0, "content")) != JSON_STRING) {
		line_content(&h->text, j);
		ed.content = h->text.p;
		ed.content_len = h->text.len;
		h->report.content++;
	}
	keep(h, &c->result, j, &ed);
	free(id);
}

void heal_add(struct heal *h, const struct json *j)
{
	switch (msg_kind(j)) {
	case MSG_USER:
		add_user(h, j);
		break;
	case MSG_ASSISTANT:
		add_assistant(h, j);
		break;
	case MSG_TOOL:
		add_tool(h, j);
		break;
	default:
		break;
	}
}

struct heal_group *heal_user(struct heal *h, const char *text)
{
	struct heal_group *g = xcalloc(1, sizeof *g);

	g->kind = MSG_USER;
	g->stub = true;
	buf_clear(&h->line);
	struct jw w = jw_begin(&h->line);
	jw_obj(&w);
	jw_kstr(&w, "role", "user");
	jw_kstr(&w, "content", text);
	jw_kstr(&w, "origin", "claws");
	jw_end(&w);
	held_set(h, &g->msg, h->line.p, h->line.len);
	return g;
}

static void insert_head(struct heal *h)
{
	struct heal_group *g = heal_user(h, no_head);

	push(h, MSG_USER);
	free(h->g[h->n - 1]);
	memmove(h->g + 1, h->g, (h->n - 1) * sizeof *h->g);
	h->g[0] = g;
	h->report.head++;
}

static void trim_tail(struct heal *h, struct heal_group *g)
{
	struct line_edit ed = {.no_blocks = true};

	if (g->kind != MSG_ASSISTANT || g->ncalls)
		return;
	json_parse(&h->json, g->msg.line, g->msg.len, NULL);
	if (is_pause(&h->json))
		return;
	line_content(&h->text, &h->json);
	ed.content_len = line_trimmed(h->text.p, h->text.len);
	if (ed.content_len == h->text.len)
		return;
	ed.content = h->text.p;
	buf_clear(&h->line);
	line_rewrite(&h->line, &h->json, &ed);
	held_set(h, &g->msg, h->line.p, h->line.len);
	h->report.tail++;
}

void heal_settle(struct heal *h)
{
	for (; h->settled < h->n; h->settled++) {
		struct heal_group *g = h->g[h->settled];
		for (size_t i = g->open; i < g->ncalls; i++)
			if (!g->calls[i].result.line)
				heal_call_close(h, &g->calls[i]);
		g->open = g->ncalls;
		if (h->settled == h->n - 1)
			trim_tail(h, g);
	}
	if (h->n && h->g[0]->kind == MSG_ASSISTANT) {
		insert_head(h);
		h->settled++;
	}
}

bool heal_told(struct heal *h, struct buf *words)
{
	const struct heal_report *r = &h->report;
	const struct {
		unsigned long n;
		const char *one, *many;
	} said[] = {
	    {r->closed, "call without a result closed", "calls without a result closed"},
	    {r->orphans, "result without a call left out", "results without a call left out"},
	    {r->repeated, "second result of a call left out", "further results of calls left out"},
	    {r->ids, "call given an id of its own", "calls given ids of their own"},
	    {r->calls, "malformed call mended", "malformed calls mended"},
	    {r->empty, "empty message left out", "empty messages left out"},
	    {r->content, "message's content mended", "messages' contents mended"},
	    {r->head, "user message put first", "user messages put first"},
	    {r->tail, "last message trimmed", "last messages trimmed"},
	};
	size_t before = words->len;

	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		if (said[i].n)
			buf_addf(words, "%s%lu %s", words->len > before ? ", " : "", said[i].n, said[i].n == 1 ? said[i].one : said[i].many);
	memset(&h->report, 0, sizeof h->report);
	return words->len > before;
}

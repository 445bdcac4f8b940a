#include "claws-tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"
#include "sys/term.h"

static bool is_listed(const struct host *h, size_t i)
{
	return h->gate.offered[i] && !rules_whole(&h->gate.permit.rules, RULE_DENY, h->gate.tools.v[i]->name);
}

int single_list(struct host *h)
{
	struct buf b;
	struct jw w;

	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "type", "tools");
	jw_key(&w, "tools");
	jw_arr(&w);
	for (size_t i = 0; i < h->gate.tools.n; i++) {
		const struct manifest *t = h->gate.tools.v[i];
		if (is_listed(h, i))
			manifest_offer(t, &w);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(&b, '\n');
	fwrite(b.p, 1, b.len, stdout);
	buf_free(&b);
	return ST_OK;
}

/* The first sentence of a description, foreign text: the rest is for the model. */
static void add_summary(struct buf *b, const struct manifest *t)
{
	char *s = json_dup(&t->json, t->description);

	if (s) {
		size_t n = strcspn(s, "\n");
		const char *stop = strstr(s, ". ");
		term_safe(b, s, stop && (size_t)(stop - s) < n ? (size_t)(stop - s) + 1 : n, TERM_ONE_LINE);
	}
	free(s);
}

int single_show(struct host *h)
{
	struct buf b;
	int wide = 4;

	buf_init(&b, BUF_NOLIMIT);
	for (size_t i = 0; i < h->gate.tools.n; i++)
		if (is_listed(h, i) && (int)strlen(h->gate.tools.v[i]->name) > wide)
			wide = (int)strlen(h->gate.tools.v[i]->name);
	for (size_t i = 0; i < h->gate.tools.n; i++) {
		const struct manifest *t = h->gate.tools.v[i];
		if (!is_listed(h, i))
			continue;
		buf_addf(&b, "%-*s  %-8s  %-9s  ", wide, t->name, t->builtin ? "built-in" : "external", t->read_only ? "read-only" : "-");
		add_summary(&b, t);
		buf_addc(&b, '\n');
	}
	if (!b.len)
		warn("there is no tool");
	fwrite(b.p, 1, b.len, stdout);
	buf_free(&b);
	return ST_OK;
}

static void print_result(const struct call *c)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	if (term_is(1))
		term_safe(&b, c->text.p, c->text.len, 0);
	else
		buf_add(&b, c->text.p, c->text.len);
	if (b.len && b.p[b.len - 1] != '\n')
		buf_addc(&b, '\n');
	fwrite(b.p, 1, b.len, stdout);
	buf_free(&b);
}

/* Arguments from stdin; nothing at all is {}. */
static void read_input(struct buf *in, struct json *j)
{
	struct err e = ERR_INIT;

	if (io_read_all(0, in, &e) < 0)
		die_err(&e);
	if (!in->p[strspn(in->p, " \t\r\n")]) {
		buf_clear(in);
		buf_adds(in, "{}");
	}
	if (json_parse(j, in->p, in->len, &e) < 0)
		die(ST_DATA, "arguments on stdin: %s", e.text);
}

int single_call(struct host *h, const char *name)
{
	struct json j = JSON_INIT;
	struct call *c = xcalloc(1, sizeof *c);
	struct buf in;
	int status;

	buf_init(&in, LINE_MAX_BYTES);
	read_input(&in, &j);
	call_init(c, h, "call", name, &j, 0);
	turn_run(h, c, 1, NULL, 0);
	if (c->started)
		print_result(c);
	else if (!c->denied)
		warn("%s", c->text.p);
	status = c->denied ? ST_DENIED : c->is_error ? ST_FAILED : ST_OK;
	call_free(c);
	free(c);
	json_free(&j);
	buf_free(&in);
	return status;
}

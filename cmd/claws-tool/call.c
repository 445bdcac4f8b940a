#include "claws-tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/schema.h"
#include "base/prog.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "llm/record.h"

#define SHOWN_MAX 500

static const struct {
	const char *name;
	tool_fn *fn;
} builtins[] = {
	{"Read", tool_read}, {"Write", tool_write}, {"Edit", tool_edit},
	{"Bash", tool_bash}, {"Glob", tool_glob}, {"Grep", tool_grep},
};

tool_fn *builtin_find(const char *name)
{
	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
		if (!strcmp(builtins[i].name, name))
			return builtins[i].fn;
	return NULL;
}

/* A string is what claws-stream could not parse: shown to the model, so that it sees what it sent. */
static char *not_an_object(const struct json *j, int input)
{
	char *raw = json_dup(j, input), *why;
	enum json_type t = json_type(j, input);

	if (!raw)
		return xasprintf("arguments must be an object, not %s", t == JSON_NONE ? "nothing" : json_type_name(t));
	if (strlen(raw) > SHOWN_MAX)
		raw[utf8_cut(raw, SHOWN_MAX)] = 0;
	why = xasprintf("arguments must be an object; what came is none: %s", raw);
	free(raw);
	return why;
}

/* The names of what there is, for a model that made one up. */
static char *no_such_tool(const struct host *h, const char *name)
{
	struct buf b;
	int n = 0;

	buf_init(&b, 8192);
	buf_addf(&b, "there is no tool '%.100s'; the tools are", name);
	for (size_t i = 0; i < h->gate.tools.n && n < 50; i++)
		if (h->gate.offered[i])
			buf_addf(&b, "%s %s", n++ ? "," : "", h->gate.tools.v[i]->name);
	if (!n)
		buf_adds(&b, " none");
	return buf_detach(&b);
}

static void check_input(struct call *c, const struct host *h)
{
	struct buf why;

	c->tool = gate_tool(&h->gate, c->name);
	if (!c->tool) {
		c->bad_input = no_such_tool(h, c->name);
		return;
	}
	buf_init(&why, SCHEMA_WHY_MAX);
	buf_addf(&why, "the arguments of %s are wrong: ", c->name);
	if (schema_check(&c->tool->json, c->tool->schema, &c->json, 0, &why) < 0)
		c->bad_input = buf_detach(&why);
	buf_free(&why);
}

/* From here on the arguments are their canonical form alone: nobody can read them in another way than the gate did. */
void call_init(struct call *c, const struct host *h, const char *id, const char *name, const struct json *j, int input)
{
	struct buf b;
	struct err e = ERR_INIT;

	*c = (struct call){.id = xstrdup(id), .name = xstrdup(name), .json = JSON_INIT, .run = {.fd = -1}};
	buf_init(&c->text, BUF_NOLIMIT);
	c->events = xcalloc(1, sizeof *c->events);
	buf_init(c->events, RECORD_MAX);
	buf_adds(c->events, "");
	buf_init(&b, BUF_NOLIMIT);
	if (json_type(j, input) == JSON_OBJECT) {
		json_canon(&b, j, input);
	} else {
		c->bad_input = not_an_object(j, input);
		buf_adds(&b, "{}");
	}
	sha256_hex(c->hash, b.p, b.len);
	c->input = buf_detach(&b);
	if (json_parse(&c->json, c->input, strlen(c->input), &e) < 0)
		die(70, "canonical arguments cannot be read back: %s", e.text);
	if (!c->bad_input)
		check_input(c, h);
}

void call_free(struct call *c)
{
	free(c->id);
	free(c->name);
	json_free(&c->json);
	free(c->input);
	free(c->bad_input);
	verdict_free(&c->verdict);
	buf_free(&c->text);
	buf_free(c->events);
	free(c->events);
	free(c->change_path);
	free(c->change_op);
	free(c->change_before);
	free(c->change_after);
}

void call_finish(struct call *c, bool is_error, const char *status, const char *fmt, ...)
{
	va_list ap;

	buf_clear(&c->text);
	va_start(ap, fmt);
	buf_vaddf(&c->text, fmt, ap);
	va_end(ap);
	c->is_error = is_error;
	c->done = true;
	*c->origin = 0;
	snprintf(c->status, sizeof c->status, "%s", status);
}

/* As one word of a shell command, to be pasted. */
static void shell_word(struct buf *b, const char *s)
{
	buf_addc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, *s);
	}
	buf_addc(b, '\'');
}

/* offer: name the rule that would allow it. */
void call_denied(struct host *h, struct call *c, const char *by, const char *rule, const char *why, bool offer)
{
	struct buf b;

	buf_init(&b, (size_t)128 << 10);
	buf_addf(&b, "Denied: %s.", why);
	/* An ask rule goes before allow rules, so no rule could help there. */
	if (offer && c->verdict.exact && !strcmp(c->verdict.by, "mode")) {
		buf_adds(&b, " To allow it: --allowed-tools ");
		shell_word(&b, c->verdict.exact);
	} else if (offer && !strcmp(c->verdict.by, "rule")) {
		buf_addf(&b, " The rule %.200s asks for it; without that rule, or with CLAWS_ASK naming a program that answers, it may run.",
		         c->verdict.rule ? c->verdict.rule : "");
	} else if (offer && c->tool && c->tool->builtin && !strcmp(c->name, "Bash")) {
		buf_adds(&b, " No rule can name this line; to allow every command: --allowed-tools Bash");
	} else if (offer) {
		buf_adds(&b, " To allow it: --permission-mode accept-all");
	}
	if (b.over)
		buf_clear(&b), buf_addf(&b, "Denied: %.200s.", why);
	call_finish(c, true, "denied", "%s", b.p);
	c->denied = true;
	h->denied++;
	report_permission(h, c, "deny", by, rule);
	/* In a ring claws-render says it, from the event. */
	if (!h->stage || !h->stage->ring)
		warn("%s: %.*s", c->name, b.len > 900 ? 900 : (int)b.len, b.p);
	buf_free(&b);
}

/* How long it may take. A tool with an argument `timeout` (seconds) keeps that limit itself. */
long call_limit_ms(const struct call *c)
{
	int64_t own;
	long ms = c->tool->timeout_ms;

	if (c->tool->builtin && json_i64(&c->json, json_get(&c->json, 0, "timeout"), &own) == 0 && own > 0 && own < 86400 &&
	    own * 1000 > ms)
		ms = (long)own * 1000;
	return ms;
}

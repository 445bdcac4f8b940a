/* say.c - what is said on stderr: one line each, "claws: " before it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "render.h"

void say(struct render *r, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	buf_init(&b, BUF_NOLIMIT);
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (r->out.tty)
		sink_fresh(&r->out);        /* both may be the same screen */
	sink_flush(&r->out);
	sink_fresh(&r->err);
	sink_put(&r->err, "claws: ", 7);
	sink_safe(&r->err, b.p, b.len, 4000);
	sink_put(&r->err, "\n", 1);
	sink_flush(&r->err);
	buf_free(&b);
}

char *duration(int64_t ms)
{
	if (ms < 60000)
		return xasprintf("%lld.%lld s", (long long)ms / 1000, (long long)ms % 1000 / 100);
	return xasprintf("%lld min %lld s", (long long)ms / 60000, (long long)ms / 1000 % 60);
}

static void say_retry(struct render *r, const struct json *j)
{
	char *class = text_of(j, "class"), *why = text_of(j, "message"), *wait = duration(number_of(j, "wait_ms"));

	say(r, "attempt %lld failed (%s%s%s), next in %s", (long long)number_of(j, "attempt"), class, *why ? ": " : "", why,
	    wait);
	free(class);
	free(why);
	free(wait);
}

static void say_error(struct render *r, const struct json *j)
{
	char *class = text_of(j, "class"), *why = text_of(j, "message"), *stage = text_of(j, "stage");
	int64_t after = number_of(j, "retry_after_ms");

	if (!strcmp(class, "input") && *stage) {
		say(r, "%s: %s: %s", class, stage, why);
	} else if (after > 0) {
		char *wait = duration(after);

		say(r, "%s: %s (try again in %s)", class, why, wait);
		free(wait);
	} else {
		say(r, "%s: %s", class, why);
	}
	free(class);
	free(why);
	free(stage);
}

static void say_denied(struct render *r, const char *name, const char *input, const char *rule, const char *why)
{
	struct buf arg;

	buf_init(&arg, BUF_NOLIMIT);
	if (input)
		tool_argument(&arg, input);
	say(r, "denied: %s%s%s%s%s%s%s%s", name, arg.len ? " " : "", arg.p, *rule ? " (" : "", rule, *rule ? ")" : "",
	    *why ? ": " : "", why);
	buf_free(&arg);
}

static void say_permission(struct render *r, const struct json *j)
{
	char *id = text_of(j, "id"), *rule = text_of(j, "rule"), *by = text_of(j, "by"), *why = text_of(j, "why");
	struct call *c = run_call(&r->run, id);

	if (!strcmp(by, "mode") && *rule) {
		char *mode = xasprintf("mode %s", rule);

		free(rule);
		rule = mode;
	}
	if (json_eq(j, json_get(j, 0, "decision"), "deny"))
		say_denied(r, c ? c->name : id, c ? c->input : NULL, *rule ? rule : by, why);
	free(id);
	free(rule);
	free(by);
	free(why);
}

static void say_compaction(struct render *r, const struct json *j)
{
	int64_t before = number_of(j, "before"), after = number_of(j, "after");

	if (before > 0 && after > 0)
		say(r, "conversation shortened from about %lld to %lld tokens", (long long)before, (long long)after);
	else
		say(r, "conversation shortened");
}

void say_notices(struct render *r, const struct seen *m)
{
	char *s;

	if (!m->j)
		return;
	if (m->kind == MSG_ERROR)
		say_error(r, m->j);
	/* What was denied is no notice: who runs unattended needs the call and what would allow it. */
	if (r->c.quiet && m->kind != MSG_PERMISSION)
		return;
	switch (m->kind) {
	case MSG_RETRY: say_retry(r, m->j); break;
	case MSG_PERMISSION: say_permission(r, m->j); break;
	case MSG_COMPACTION: say_compaction(r, m->j); break;
	case MSG_NOTICE:
		s = text_of(m->j, "text");
		say(r, "%s", s);
		free(s);
		break;
	default: break;
	}
}

static void say_replaced(struct render *r, const struct json *j)
{
	struct buf names;
	bool gate = false;

	buf_init(&names, BUF_NOLIMIT);
	for (struct json_iter it = json_iter(j, json_get(j, 0, "replaced")); json_next(&it);) {
		gate |= json_eq(j, it.value, "tool");
		buf_adds(&names, names.len ? ", " : "");
		json_str(j, it.value, &names);
	}
	if (names.len)
		say(r, "replaced stages: %s%s", names.p, gate ? "; CLAWS_STAGE_TOOL decides what tools may do" : "");
	buf_free(&names);
}

/* One class word for a status that no error event explained. */
static const char *status_class(int status)
{
	switch (status) {
	case ST_DENIED: return "denied";
	case ST_LIMIT: return "limit";
	case ST_REFUSED: return "refused";
	case ST_SCHEMA: return "schema";
	default: return status > ST_SIGNAL ? "interrupted" : "error";
	}
}

/* The call of the line `denied` of a run_done, where no permission event told of it. */
static void say_denials(struct render *r, const struct json *j)
{
	for (struct json_iter it = json_iter(j, json_get(j, 0, "denied")); json_next(&it);) {
		char *name = json_dup(j, json_get(j, it.value, "name")), *rule = json_dup(j, json_get(j, it.value, "rule"));

		say_denied(r, name ? name : "a call", NULL, rule ? rule : "", "");
		free(name);
		free(rule);
	}
}

void say_done(struct render *r, const struct seen *m)
{
	const struct run *run = &r->run;
	const char *why = run->why ? run->why : "";

	if (m->kind == MSG_RUN_START) {
		say_replaced(r, m->j);
		return;
	}
	if (run->exit == ST_OK)
		return;
	if (run->exit == ST_DENIED && !run->denial_told) {
		say_denials(r, m->j);
		return;
	}
	if (run->exit == ST_DENIED)
		return;                     /* said when it happened */
	if (run->message && (!*why || strstr(why, run->message) || strstr(run->message, why)))
		return;                     /* the error event said it */
	if (*why)
		say(r, "%s: %s", status_class(run->exit), why);
	else if (*run->limit)
		say(r, "limit: %s reached", run->limit);
	else if (!strcmp(run->stop, "max_tokens"))
		say(r, "limit: the answer was cut at the model's output limit");
	else
		say(r, "%s: %s", status_class(run->exit), status_text(run->exit));
}

/* answer_write.c - an answer as an assistant line of claws-messages(5). */
#include "llm/answer.h"

static void counter(struct jw *w, const char *key, int64_t n, bool any)
{
	jw_key(w, key);
	if (n < 0 && !any)
		jw_null(w);
	else
		jw_i64(w, n < 0 ? 0 : n);
}

void usage_write(struct jw *w, const struct usage *u, double cost_usd)
{
	/* A provider that counts at all leaves out what is nothing; one that says nothing leaves us not knowing. */
	bool any = u->input >= 0 || u->output >= 0 || u->cache_read >= 0 || u->cache_write >= 0;

	jw_obj(w);
	counter(w, "input", u->input, any);
	counter(w, "cache_read", u->cache_read, any);
	counter(w, "cache_write", u->cache_write, any);
	counter(w, "output", u->output, any);
	counter(w, "reasoning", u->reasoning, any);
	jw_key(w, "cost_usd");
	if (cost_usd < 0)
		jw_null(w);
	else
		jw_double(w, cost_usd);
	jw_end(w);
}

static void compact(struct jw *w, const struct buf *text)
{
	struct json j = JSON_INIT;
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	if (json_parse(&j, text->p, text->len, NULL) == 0)
		json_compact(&b, &j, 0);
	else
		buf_adds(&b, "{}");
	jw_raw(w, b.p, b.len);
	buf_free(&b);
	json_free(&j);
}

static void calls(struct jw *w, const struct answer *a)
{
	jw_key(w, "tool_calls");
	jw_arr(w);
	for (size_t i = 0; i < a->ncalls; i++) {
		const struct call *c = &a->calls[i];
		jw_obj(w);
		jw_kstrn(w, "id", c->id.p, c->id.len);
		jw_kstrn(w, "name", c->name.p, c->name.len);
		jw_key(w, "input");
		if (c->ok)
			compact(w, &c->args);
		else
			jw_strn(w, c->args.p, c->args.len);
		if (c->extra.len > 0)
			jw_kraw(w, "extra_content", c->extra.p, c->extra.len);
		jw_end(w);
	}
	jw_end(w);
}

bool answer_write(const struct answer *a, struct jw *w, const char *maker, double cost_usd)
{
	if (a->content.len == 0 && a->thinking.len == 0 && a->ncalls == 0 && a->blocks.len == 0)
		return false;
	jw_kstrn(w, "content", a->content.p, a->content.len);
	if (a->thinking.len > 0)
		jw_kstrn(w, "thinking", a->thinking.p, a->thinking.len);
	if (a->ncalls > 0)
		calls(w, a);
	if (a->blocks.len > 0) {
		jw_key(w, "blocks");
		jw_obj(w);
		jw_kstr(w, "maker", maker);
		jw_kraw(w, "list", a->blocks.p, a->blocks.len);
		jw_end(w);
	}
	jw_kstr(w, "model", maker);
	jw_kstr(w, "stop_reason", stop_name(a->stop));
	jw_key(w, "usage");
	usage_write(w, &a->usage, cost_usd);
	return true;
}

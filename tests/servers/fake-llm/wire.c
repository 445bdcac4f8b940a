/* wire.c - an answer in the words of a provider: server-sent events, or one JSON object.
 *
 * Shapes as documented by the providers: Anthropic "Streaming messages", OpenAI "Chat completions: streaming". */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define MODEL "fake"

struct out {                 /* one event being made */
	struct reply *p;
	const struct request *r;
	const struct answer *a;
	struct buf b;
	struct jw w;
	int block;
};

static const char *error_type(int status)
{
	switch (status) {
	case 400: return "invalid_request_error";
	case 401: return "authentication_error";
	case 403: return "permission_error";
	case 404: return "not_found_error";
	case 413: return "request_too_large";
	case 429: return "rate_limit_error";
	case 529: return "overloaded_error";
	default: return "api_error";
	}
}

static void error_object(struct jw *w, enum wire wire, const char *type, const char *message)
{
	jw_obj(w);
	if (wire == WIRE_ANTHROPIC)
		jw_kstr(w, "type", "error");
	jw_key(w, "error");
	jw_obj(w);
	jw_kstr(w, "type", type);
	jw_kstr(w, "message", message);
	if (wire != WIRE_ANTHROPIC)
		jw_kstr(w, "code", NULL);
	jw_end(w);
	jw_end(w);
}

static char *head_of(long n, const char *more)
{
	char *s = NULL;
	if (asprintf(&s, "request-id: req_fake_%ld\r\n%s", n, more ? more : "") < 0)
		abort();
	return s;
}

void wire_error(struct reply *p, enum wire wire, long n, int status, const char *headers, const char *message)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	struct jw w = jw_begin(&b);
	error_object(&w, wire, error_type(status), message ? message : "fake-llm: as told");
	char *head = head_of(n, headers);
	reply_whole(p, status, head, b.p, b.len);
	free(head);
	buf_free(&b);
}

void wire_models(struct reply *p, long n)
{
	static const char list[] = "{\"object\":\"list\",\"data\":[{\"id\":\"fake\",\"object\":\"model\",\"type\":\"model\","
		"\"display_name\":\"fake\",\"created\":0,\"owned_by\":\"claws\"}],\"has_more\":false}";
	char *head = head_of(n, NULL);
	reply_whole(p, 200, head, list, sizeof list - 1);
	free(head);
}

static const char *stop_of(const struct answer *a)
{
	return a->stop ? a->stop : a->n_calls ? "tool_use" : "end_turn";
}

/* OpenAI's word for Anthropic's. */
static const char *finish_of(const struct answer *a)
{
	const char *s = stop_of(a);
	return !strcmp(s, "end_turn") || !strcmp(s, "stop_sequence") ? "stop" : !strcmp(s, "tool_use") ? "tool_calls" :
		!strcmp(s, "max_tokens") ? "length" : !strcmp(s, "refusal") ? "content_filter" : s;
}

static long input_of(const struct out *o)
{
	return o->a->input >= 0 ? o->a->input : (long)(o->r->len / 4);
}

static long output_of(const struct out *o)
{
	if (o->a->output >= 0)
		return o->a->output;
	return (long)((o->a->text ? strlen(o->a->text) : 0) + (o->a->thinking ? strlen(o->a->thinking) : 0)) / 4 +
		20 * (long)o->a->n_calls + 1;
}

/* --- events --- */

static struct jw *event(struct out *o, const char *type)
{
	buf_clear(&o->b);
	if (o->r->wire == WIRE_ANTHROPIC)
		buf_addf(&o->b, "event: %s\n", type);
	buf_adds(&o->b, "data: ");
	o->w = jw_begin(&o->b);
	jw_obj(&o->w);
	if (o->r->wire == WIRE_ANTHROPIC)
		jw_kstr(&o->w, "type", type);
	return &o->w;
}

static void send_event(struct out *o)
{
	jw_end(&o->w);
	buf_adds(&o->b, "\n\n");
	reply_event(o->p, o->b.p, o->b.len);
}

/* Calls say for each piece of s: `piece` bytes, whole characters. */
static void in_pieces(struct out *o, const char *s, size_t piece, void (*say)(struct out *, const char *, size_t))
{
	size_t len = strlen(s);
	for (size_t at = 0; at < len;) {
		size_t n = len - at > piece ? utf8_cut(s + at, piece) : len - at;
		if (!n)
			n = len - at;
		say(o, s + at, n);
		at += n;
		if (o->a->fault.kind == FAULT_ERROR && at * 2 >= len)
			return;
	}
}

static void mid_stream_error(struct out *o)
{
	char type[64] = "overloaded_error";
	if (o->a->fault.text)
		snprintf(type, sizeof type, "%.*s", (int)strcspn(o->a->fault.text, "@"), o->a->fault.text);
	buf_clear(&o->b);
	if (o->r->wire == WIRE_ANTHROPIC)
		buf_adds(&o->b, "event: error\n");
	buf_adds(&o->b, "data: ");
	o->w = jw_begin(&o->b);
	error_object(&o->w, o->r->wire, type, "Overloaded");
	buf_adds(&o->b, "\n\n");
	reply_event(o->p, o->b.p, o->b.len);
}

/* --- Anthropic --- */

static void a_usage(struct jw *w, const struct out *o, long output)
{
	jw_key(w, "usage");
	jw_obj(w);
	jw_ki64(w, "input_tokens", input_of(o));
	jw_ki64(w, "cache_creation_input_tokens", o->a->cache_write);
	jw_ki64(w, "cache_read_input_tokens", o->a->cache_read);
	jw_ki64(w, "output_tokens", output);
	jw_end(w);
}

static void a_message(struct jw *w, const struct out *o)
{
	char id[48];
	snprintf(id, sizeof id, "msg_fake_%ld", o->r->n);
	jw_kstr(w, "id", id);
	jw_kstr(w, "type", "message");
	jw_kstr(w, "role", "assistant");
	jw_kstr(w, "model", MODEL);
}

static struct jw *a_delta(struct out *o, const char *type)
{
	struct jw *w = event(o, "content_block_delta");
	jw_ki64(w, "index", o->block);
	jw_key(w, "delta");
	jw_obj(w);
	jw_kstr(w, "type", type);
	return w;
}

static void a_text(struct out *o, const char *s, size_t n)
{
	jw_kstrn(a_delta(o, "text_delta"), "text", s, n);
	jw_end(&o->w);
	send_event(o);
}

static void a_thinking(struct out *o, const char *s, size_t n)
{
	jw_kstrn(a_delta(o, "thinking_delta"), "thinking", s, n);
	jw_end(&o->w);
	send_event(o);
}

static void a_args(struct out *o, const char *s, size_t n)
{
	jw_kstrn(a_delta(o, "input_json_delta"), "partial_json", s, n);
	jw_end(&o->w);
	send_event(o);
}

static struct jw *a_start(struct out *o, const char *type)
{
	struct jw *w = event(o, "content_block_start");
	jw_ki64(w, "index", o->block);
	jw_key(w, "content_block");
	jw_obj(w);
	jw_kstr(w, "type", type);
	return w;
}

static void a_stop(struct out *o)
{
	jw_ki64(event(o, "content_block_stop"), "index", o->block++);
	send_event(o);
}

static void a_content(struct out *o, size_t piece)
{
	const struct answer *a = o->a;
	if (a->thinking) {
		jw_kstr(a_start(o, "thinking"), "thinking", "");
		jw_kstr(&o->w, "signature", "");
		jw_end(&o->w);
		send_event(o);
		in_pieces(o, a->thinking, piece, a_thinking);
		jw_kstr(a_delta(o, "signature_delta"), "signature", a->signature ? a->signature : "");
		jw_end(&o->w);
		send_event(o);
		a_stop(o);
	}
	if (a->text) {
		jw_kstr(a_start(o, "text"), "text", "");
		jw_end(&o->w);
		send_event(o);
		in_pieces(o, a->text, piece, a_text);
		if (a->fault.kind == FAULT_ERROR)
			return;
		a_stop(o);
	}
	for (size_t i = 0; i < a->n_calls; i++) {
		struct jw *w = a_start(o, "tool_use");
		jw_kstr(w, "id", a->calls[i].id);
		jw_kstr(w, "name", a->calls[i].name);
		jw_kraw(w, "input", "{}", 2);
		jw_end(w);
		send_event(o);
		a_args(o, "", 0);
		in_pieces(o, a->calls[i].input, piece, a_args);
		if (a->fault.kind != FAULT_NOEND)
			a_stop(o);
	}
}

static void a_stream(struct out *o, size_t piece)
{
	struct jw *w = event(o, "message_start");
	jw_key(w, "message");
	jw_obj(w);
	a_message(w, o);
	jw_kraw(w, "content", "[]", 2);
	jw_kstr(w, "stop_reason", NULL);
	jw_kstr(w, "stop_sequence", NULL);
	a_usage(w, o, 1);
	jw_end(w);
	send_event(o);
	a_content(o, piece);
	if (o->a->fault.kind == FAULT_ERROR)
		mid_stream_error(o);
	if (o->a->fault.kind == FAULT_ERROR || o->a->fault.kind == FAULT_NOEND)
		return;
	w = event(o, "message_delta");
	jw_key(w, "delta");
	jw_obj(w);
	jw_kstr(w, "stop_reason", stop_of(o->a));
	jw_kstr(w, "stop_sequence", NULL);
	jw_end(w);
	a_usage(w, o, output_of(o));
	send_event(o);
	event(o, "message_stop");
	send_event(o);
}

static void a_whole(struct out *o)
{
	const struct answer *a = o->a;
	struct jw *w = &o->w;
	jw_obj(w);
	a_message(w, o);
	jw_key(w, "content");
	jw_arr(w);
	if (a->thinking) {
		jw_obj(w);
		jw_kstr(w, "type", "thinking");
		jw_kstr(w, "thinking", a->thinking);
		jw_kstr(w, "signature", a->signature ? a->signature : "");
		jw_end(w);
	}
	if (a->text) {
		jw_obj(w);
		jw_kstr(w, "type", "text");
		jw_kstr(w, "text", a->text);
		jw_end(w);
	}
	for (size_t i = 0; i < a->n_calls; i++) {
		jw_obj(w);
		jw_kstr(w, "type", "tool_use");
		jw_kstr(w, "id", a->calls[i].id);
		jw_kstr(w, "name", a->calls[i].name);
		jw_kraw(w, "input", a->calls[i].input, strlen(a->calls[i].input));
		jw_end(w);
	}
	jw_end(w);
	jw_kstr(w, "stop_reason", stop_of(a));
	jw_kstr(w, "stop_sequence", NULL);
	a_usage(w, o, output_of(o));
	jw_end(w);
}

/* --- OpenAI chat --- */

static struct jw *o_head(struct out *o, const char *object)
{
	char id[48];
	snprintf(id, sizeof id, "chatcmpl-fake-%ld", o->r->n);
	jw_kstr(&o->w, "id", id);
	jw_kstr(&o->w, "object", object);
	jw_ki64(&o->w, "created", 1700000000);
	jw_kstr(&o->w, "model", MODEL);
	return &o->w;
}

static void o_usage(struct jw *w, const struct out *o)
{
	jw_key(w, "usage");
	jw_obj(w);
	jw_ki64(w, "prompt_tokens", input_of(o) + o->a->cache_read);   /* OpenAI counts the cached ones in */
	jw_ki64(w, "completion_tokens", output_of(o));
	jw_ki64(w, "total_tokens", input_of(o) + o->a->cache_read + output_of(o));
	jw_key(w, "prompt_tokens_details");
	jw_obj(w);
	jw_ki64(w, "cached_tokens", o->a->cache_read);
	jw_end(w);
	jw_end(w);
}

/* Opens a chunk up to and with the delta; o_send closes it. */
static struct jw *o_delta(struct out *o)
{
	event(o, "");
	struct jw *w = o_head(o, "chat.completion.chunk");
	jw_key(w, "choices");
	jw_arr(w);
	jw_obj(w);
	jw_ki64(w, "index", 0);
	jw_key(w, "delta");
	jw_obj(w);
	return w;
}

static void o_send(struct out *o, const char *finish)
{
	jw_end(&o->w);
	jw_kstr(&o->w, "finish_reason", finish);
	jw_end(&o->w);
	jw_end(&o->w);
	send_event(o);
}

static void o_text(struct out *o, const char *s, size_t n)
{
	jw_kstrn(o_delta(o), "content", s, n);
	o_send(o, NULL);
}

static void o_thinking(struct out *o, const char *s, size_t n)
{
	jw_kstrn(o_delta(o), "reasoning_content", s, n);
	o_send(o, NULL);
}

static void o_call(struct out *o, const struct tool_call *c, const char *args, size_t n)
{
	struct jw *w = o_delta(o);
	jw_key(w, "tool_calls");
	jw_arr(w);
	jw_obj(w);
	jw_ki64(w, "index", o->block);
	if (c) {
		jw_kstr(w, "id", c->id);
		jw_kstr(w, "type", "function");
	}
	jw_key(w, "function");
	jw_obj(w);
	if (c)
		jw_kstr(w, "name", c->name);
	jw_kstrn(w, "arguments", args, n);
	jw_end(w);
	jw_end(w);
	jw_end(w);
	o_send(o, NULL);
}

static void o_args(struct out *o, const char *s, size_t n)
{
	o_call(o, NULL, s, n);
}

static void o_stream(struct out *o, size_t piece)
{
	const struct answer *a = o->a;
	struct jw *w = o_delta(o);
	jw_kstr(w, "role", "assistant");
	jw_kstr(w, "content", "");
	o_send(o, NULL);
	if (a->thinking)
		in_pieces(o, a->thinking, piece, o_thinking);
	if (a->text)
		in_pieces(o, a->text, piece, o_text);
	if (a->fault.kind == FAULT_ERROR) {
		mid_stream_error(o);
		return;
	}
	for (; o->block < (int)a->n_calls; o->block++) {
		o_call(o, &a->calls[o->block], "", 0);
		in_pieces(o, a->calls[o->block].input, piece, o_args);
	}
	if (a->fault.kind == FAULT_NOEND)
		return;
	o_delta(o);
	o_send(o, finish_of(a));
	if (o->r->include_usage) {
		event(o, "");
		w = o_head(o, "chat.completion.chunk");
		jw_kraw(w, "choices", "[]", 2);
		o_usage(w, o);
		send_event(o);
	}
	reply_event(o->p, "data: [DONE]\n\n", 14);
}

static void o_whole(struct out *o)
{
	const struct answer *a = o->a;
	jw_obj(&o->w);
	struct jw *w = o_head(o, "chat.completion");
	jw_key(w, "choices");
	jw_arr(w);
	jw_obj(w);
	jw_ki64(w, "index", 0);
	jw_key(w, "message");
	jw_obj(w);
	jw_kstr(w, "role", "assistant");
	jw_kstr(w, "content", a->text);
	if (a->thinking)
		jw_kstr(w, "reasoning_content", a->thinking);
	if (a->n_calls) {
		jw_key(w, "tool_calls");
		jw_arr(w);
		for (size_t i = 0; i < a->n_calls; i++) {
			jw_obj(w);
			jw_kstr(w, "id", a->calls[i].id);
			jw_kstr(w, "type", "function");
			jw_key(w, "function");
			jw_obj(w);
			jw_kstr(w, "name", a->calls[i].name);
			jw_kstr(w, "arguments", a->calls[i].input);
			jw_end(w);
			jw_end(w);
		}
		jw_end(w);
	}
	jw_end(w);
	jw_kstr(w, "finish_reason", finish_of(a));
	jw_end(w);
	jw_end(w);
	o_usage(w, o);
	jw_end(w);
}

void wire_answer(struct reply *p, const struct request *r, const struct answer *a)
{
	struct out o = {.p = p, .r = r, .a = a};
	buf_init(&o.b, BUF_NOLIMIT);
	size_t piece = a->piece > 0 ? (size_t)a->piece : 16;
	char *head = head_of(r->n, a->headers);
	p->chunk_delay_ms = a->chunk_delay_ms;
	if (r->stream) {
		reply_stream(p, head);
		if (a->raw)
			reply_event(p, a->raw, strlen(a->raw));
		else if (r->wire == WIRE_ANTHROPIC)
			a_stream(&o, piece);
		else
			o_stream(&o, piece);
		reply_done(p);
	} else {
		o.w = jw_begin(&o.b);
		if (a->raw)
			buf_adds(&o.b, a->raw);
		else if (r->wire == WIRE_ANTHROPIC)
			a_whole(&o);
		else
			o_whole(&o);
		reply_whole(p, 200, head, o.b.p, o.b.len);
	}
	free(head);
	buf_free(&o.b);
}

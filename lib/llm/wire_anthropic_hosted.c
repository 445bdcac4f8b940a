/* wire_anthropic_hosted.c - Claude behind Bedrock's InvokeModel and Vertex AI: Anthropic's own bodies in another's envelope.
 *
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html: the model is in the
 * path, whether it streams too, and each event of the stream holds one of Anthropic's in base64.
 * https://docs.anthropic.com/en/api/claude-on-vertex-ai: the model is in the path; the stream is Anthropic's.
 *
 * InvokeModel takes a body in the form of each model's maker. Only Anthropic's is written here: for all others Converse
 * (wire_bedrock.c) is one form. */
#include <string.h>

#include "base/base64.h"
#include "base/status.h"
#include "llm/wires.h"

static void native(struct answer *a, const struct buf *text)
{
	struct json j = JSON_INIT;
	struct buf clean;

	buf_init(&clean, BUF_NOLIMIT);
	json_repair(&clean, text->p, text->len);
	if (json_parse(&j, clean.p, clean.len, NULL) < 0)
		build_fail(a, "protocol", "a chunk of the stream holds no JSON");
	else if (json_get(&j, 0, "type") < 0 && json_type(&j, json_get(&j, 0, "error")) <= JSON_NULL)
		build_fail(a, "protocol", "the model answers in its maker's own form: bedrock-converse is the wire that can be used with it");
	else
		anthropic_event(a, &j);
	json_free(&j);
	buf_free(&clean);
}

void invoke_event(struct answer *a, const struct json *j)
{
	int bytes = json_get(j, 0, "bytes");
	struct buf coded, text;

	if (json_type(j, bytes) != JSON_STRING) {      /* a gateway that has taken off the envelope */
		anthropic_event(a, j);
		return;
	}
	buf_init(&coded, BUF_NOLIMIT);
	buf_init(&text, BUF_NOLIMIT);
	json_str(j, bytes, &coded);
	if (base64_decode(&text, coded.p, coded.len) < 0)
		build_fail(a, "protocol", "a chunk of the stream is not base64");
	else
		native(a, &text);
	buf_free(&coded);
	buf_free(&text);
}

/* Anthropic's body, its "model" changed for the version that the host wants. */
static int hosted(const struct convo *c, const struct call_options *o, const char *version, struct buf *out, struct err *e)
{
	struct buf body, model;
	struct jw w;
	int r;

	buf_init(&body, BUF_NOLIMIT);
	buf_init(&model, BUF_NOLIMIT);
	w = jw_begin(&model);
	jw_obj(&w);
	jw_kstr(&w, "model", o->model);
	r = anthropic_body(c, o, &body, e);
	if (r == 0 && (body.len < model.len || memcmp(body.p, model.p, model.len) != 0))
		r = err_set(e, ST_BUG, "the request does not begin with the model");
	if (r == 0) {
		buf_addf(out, "{\"anthropic_version\":\"%s\"", version);
		if (buf_add(out, body.p + model.len, body.len - model.len) < 0)
			r = err_set(e, ST_DATA, "the request is too large");
	}
	buf_free(&body);
	buf_free(&model);
	return r;
}

int invoke_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	struct call_options still = *o;

	still.stream = false;
	return hosted(c, &still, "bedrock-2023-05-31", out, e);
}

int vertex_body(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e)
{
	return hosted(c, o, "vertex-2023-10-16", out, e);
}

/* play.c - calls that are shown, kept, or answered from what was kept. */
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "stream.h"

int play_body(struct stream *s, const struct call_options *o, struct buf *out, struct err *e)
{
	buf_clear(out);
	if (s->wire->body(&s->convo, o, out, e) < 0)
		return err_wrap(e, "request");
	return 0;
}

void play_dry(struct stream *s)
{
	struct buf line;
	struct jw w;
	struct err e = ERR_INIT;

	if (s->broken.status)
		die_err(&s->broken);
	if (play_body(s, &s->options, &s->body, &e) < 0)
		die_err(&e);
	buf_init(&line, BUF_NOLIMIT);
	w = jw_begin(&line);
	jw_obj(&w);
	jw_kstr(&w, "method", "POST");
	buf_clear(&s->canon);
	setup_mask(s, &s->canon, s->url.p, s->url.len);
	jw_kstrn(&w, "url", s->canon.p, s->canon.len);
	jw_key(&w, "headers");
	jw_obj(&w);
	for (size_t i = 0; i < s->nheader; i++) {
		const char *h = s->header[i];
		size_t n = strcspn(h, ":");

		buf_clear(&s->canon);
		buf_add(&s->canon, h, n);
		jw_key(&w, s->canon.p);
		buf_clear(&s->canon);
		if (i + 1 == s->auth)
			buf_adds(&s->canon, "***");
		else
			setup_mask(s, &s->canon, h + n + 2, strlen(h + n + 2));
		jw_strn(&w, s->canon.p, s->canon.len);
	}
	jw_end(&w);
	buf_clear(&s->canon);
	setup_mask(s, &s->canon, s->body.p, s->body.len);
	jw_kraw(&w, "body", s->canon.p, s->canon.len);
	jw_end(&w);
	stage_write(&s->st, line.p, line.len);
	buf_free(&line);
}

int play_canon(struct stream *s, struct err *e)
{
	struct buf body;
	int bad;

	/* without what this provider refused in this process: another process has not learned it yet; nor is the session the same */
	struct call_options o = s->wanted;

	o.session = NULL;
	buf_init(&body, BUF_NOLIMIT);
	buf_clear(&s->canon);
	bad = play_body(s, &o, &body, e) < 0 ||
		record_canon(&s->canon, &s->names, s->wire->name, s->path.len ? s->path.p : s->wire->path, body.p, body.len, e) < 0;
	buf_free(&body);
	return bad ? -1 : 0;
}

int play_answer(struct stream *s, struct err *e)
{
	bool order = s->conf.match && !strcmp(s->conf.match, "order");
	struct replay_answer r;
	unsigned number, position = 0;

	if (!s->first_position)
		s->first_position = s->assistants + 1;
	if (order)
		position = (unsigned)s->first_position + s->calls;
	if (replay_find(&s->replay, &s->canon, &s->names, position, &number, e) < 0 ||
	    replay_load(&s->replay, number, &r, e) < 0)
		return -1;
	answer_head(&s->answer, r.status);
	for (char **h = r.header; h && *h; h += 2)
		answer_header(&s->answer, h[0], h[1]);
	answer_feed(&s->answer, r.body, r.len);
	if (r.cut)
		answer_fail(&s->answer, s->answer.heard ? "truncated" : "connection", "%s", r.cut);
	else
		answer_end(&s->answer);
	replay_answer_free(&r);
	return 0;
}

void play_keep(struct stream *s, const char *cut)
{
	struct err e = ERR_INIT;

	if (!s->recording || recorder_commit(&s->recorder, &s->canon, cut, &e) == 0)
		return;
	emit_error(s, "io", 0, NULL, -1, e.text);
	s->status = status_worse(s->status, e.status);
}

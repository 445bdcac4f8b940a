/* native.c - --json: the lines themselves. */
#include <string.h>

#include "render.h"

static void begin(struct render *r)
{
	(void)r;
}

static void line(struct render *r, const struct seen *m)
{
	sink_put(&r->out, m->p, m->len);
	if (m->cr)
		sink_put(&r->out, "\r", 1);
	if (!m->cut)
		sink_put(&r->out, "\n", 1);
	if (m->j && m->kind == MSG_ERROR)
		say_notices(r, m);
	if (m->j && (m->kind == MSG_RUN_START || m->kind == MSG_RUN_DONE))
		say_done(r, m);
}

static void end(struct render *r)
{
	if (r->run.ring && !r->run.over)
		say(r, "error: the stream ended before the run did: a stage of the pipeline has died");
}

const struct view view_native = {begin, line, end};

/* A model that sends the same failing call turn after turn is told to stop, so that it cannot go on until the last limit. */
#include "claws-tool.h"

#include <string.h>

#include "base/xalloc.h"

/* The name and the canonical arguments: equal calls have equal keys. */
static void key_of(const struct call *c, char key[SHA256_HEX])
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	buf_add(&b, c->name, strlen(c->name) + 1);
	buf_adds(&b, c->hash);
	sha256_hex(key, b.p, b.len);
	buf_free(&b);
}

static struct repeat *find(const struct host *h, const char *key)
{
	for (size_t i = 0; i < h->nrepeats; i++)
		if (!strcmp(h->repeats[i].key, key))
			return &h->repeats[i];
	return NULL;
}

bool repeat_refused(const struct host *h, const struct call *c)
{
	char key[SHA256_HEX];
	const struct repeat *r;

	key_of(c, key);
	r = find(h, key);
	return r && r->count >= REPEAT_MAX && r->turn + 1 >= h->turn;
}

/* What was not seen in the turn before does not come "in a row". */
static void forget_old(struct host *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->nrepeats; i++)
		if (h->repeats[i].turn + 1 >= h->turn)
			h->repeats[n++] = h->repeats[i];
	h->nrepeats = n;
}

void repeat_note(struct host *h, const struct call *c)
{
	char key[SHA256_HEX];
	struct repeat *r;

	forget_old(h);
	key_of(c, key);
	r = find(h, key);
	if (!c->is_error) {
		if (r)
			*r = h->repeats[--h->nrepeats];
		return;
	}
	if (!r) {
		h->repeats = xrealloc(h->repeats, h->nrepeats + 1, sizeof *h->repeats);
		r = &h->repeats[h->nrepeats++];
		*r = (struct repeat){.count = 0};
		memcpy(r->key, key, sizeof key);
	} else if (r->turn == h->turn) {
		return;
	}
	r->count++;
	r->turn = h->turn;
}

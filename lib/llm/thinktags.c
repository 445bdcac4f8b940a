#include "llm/thinktags.h"

#include <string.h>

static const struct { const char *open, *close; } tags[] = {
	{ "<think>", "</think>" }, { "<thinking>", "</thinking>" }, { "<thought>", "</thought>" },
};

static bool space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool begins(const char *word, const char *s, size_t n)
{
	return n <= strlen(word) && memcmp(word, s, n) == 0;
}

static bool is(const char *word, const char *s, size_t n)
{
	return n == strlen(word) && memcmp(word, s, n) == 0;
}

static void say(struct thinktags *t, const struct thinktags_out *out)
{
	size_t n = t->n;

	t->n = 0;
	if (n > 0)
		(t->at == THINKTAGS_IN ? out->thought : out->text)(out->arg, t->held, n);
}

/* Before the first word: white space and what may become a tag are held. */
static void start(struct thinktags *t, char c, const struct thinktags_out *out)
{
	bool may = false, blank = space(c) && t->n == t->lead;

	t->held[t->n++] = c;
	if (blank)
		may = ++t->lead < THINKTAGS_HELD / 2;
	for (int i = 0; !blank && i < (int)(sizeof tags / sizeof *tags); i++) {
		if (is(tags[i].open, t->held + t->lead, t->n - t->lead)) {
			t->tag = i;
			t->n = 0;
			t->at = THINKTAGS_IN;
			return;
		}
		may |= begins(tags[i].open, t->held + t->lead, t->n - t->lead);
	}
	if (!may) {
		t->at = THINKTAGS_TEXT;
		say(t, out);
	}
}

/* How many bytes of a thought were used up to a '<' that may begin the closing tag, or to its end. */
static size_t inside(struct thinktags *t, const char *s, size_t n, const struct thinktags_out *out)
{
	const char *close = tags[t->tag].close;

	if (t->n == 0) {
		const char *at = memchr(s, '<', n);
		size_t plain = at ? (size_t)(at - s) : n;

		if (plain > 0) {
			out->thought(out->arg, s, plain);
			return plain;
		}
	}
	if (!begins(close, t->held, t->n) || close[t->n] != *s) {
		say(t, out);                     /* no tag of ours begins with anything that it holds inside */
		if (*s != '<') {
			out->thought(out->arg, s, 1);
			return 1;
		}
	}
	t->held[t->n++] = *s;
	if (is(close, t->held, t->n)) {
		t->n = 0;
		t->at = THINKTAGS_AFTER;
	}
	return 1;
}

void thinktags_feed(struct thinktags *t, const char *s, size_t n, const struct thinktags_out *out)
{
	while (n > 0) {
		size_t used = 1;

		switch (t->at) {
		case THINKTAGS_START:
			start(t, *s, out);
			break;
		case THINKTAGS_IN:
			used = inside(t, s, n, out);
			break;
		case THINKTAGS_AFTER:
			if (!space(*s)) {
				t->at = THINKTAGS_TEXT;
				used = 0;
			}
			break;
		default:
			out->text(out->arg, s, n);
			used = n;
			break;
		}
		s += used;
		n -= used;
	}
}

void thinktags_end(struct thinktags *t, const struct thinktags_out *out)
{
	say(t, out);
}

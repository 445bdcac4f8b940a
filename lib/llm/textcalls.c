#include "llm/textcalls.h"

#include <string.h>

#include "llm/textcalls_int.h"

#define MARK_MAX 64               /* longer than any mark */

void textcalls_init(struct textcalls *t, const struct textcalls_out *out)
{
	*t = (struct textcalls){.out = *out};
	buf_init(&t->held, TEXTCALLS_MAX);
}

void textcalls_free(struct textcalls *t)
{
	buf_free(&t->held);
}

/* Follows lines, code fences and code spans. An info string holds no backtick (CommonMark 4.5): what has one is a span. */
static void follow(struct textcalls *t, char c)
{
	if (c == '\n') {
		t->middle = t->quoted = t->fresh = false;
		t->run = t->ticks = 0;
	} else if (!t->middle && t->run == 0 && (c == ' ' || c == '\t')) {
		;
	} else if (!t->middle && (c == '`' || c == '~') && (t->run == 0 || c == t->mark)) {
		t->mark = c;
		t->ticks += c == '`';
		if (++t->run == 3 && (!t->fence || t->fence == c)) {
			t->fresh = !t->fence;
			t->fence = t->fence ? 0 : c;
			t->ticks = 0;
		}
		if (t->run > 3)
			t->ticks = 0;
	} else {
		t->quoted |= !t->middle && c == '>';
		t->middle = true;
		t->ticks += c == '`';
		if (c == '`' && t->fresh && t->fence == '`')
			t->fence = 0, t->fresh = false;
	}
}

static void let_go(struct textcalls *t, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		follow(t, s[i]);
	if (n > 0)
		t->out.text(t->out.arg, s, n);
}

static bool in_quotes(const struct textcalls *t)
{
	return t->fence || t->quoted || t->ticks % 2 == 1;
}

/* Lets text go up to the next opener that counts; what may become one stays. How many bytes went. *open: there is one. */
static size_t scan(struct textcalls *t, const char *p, size_t n, bool end, bool *open)
{
	size_t at = 0, gone = 0, len;
	bool may;

	*open = false;
	while (at < n) {
		const char *angle = memchr(p + at, '<', n - at), *square = memchr(p + at, '[', n - at);
		const char *next = !angle || (square && square < angle) ? square : angle;

		if (!next)
			break;
		at = (size_t)(next - p);
		enum mark m = mark_at(next, n - at < MARK_MAX ? n - at : MARK_MAX, &len, &may);
		bool opener = m == MARK_OPENER || m == MARK_FUNCTION;
		if (opener || (may && !end)) {
			let_go(t, p + gone, at - gone);
			gone = at;
			*open = opener && !in_quotes(t);
			if (*open || !opener)
				return gone;
		}
		at++;
	}
	let_go(t, p + gone, n - gone);
	return n;
}

/* Works off what is held, as far as it is decided before the end. */
static void work_off(struct textcalls *t)
{
	size_t at = 0;

	for (;;) {
		if (t->open) {
			if (t->sure || !textcalls_hopeless(&t->out, t->held.p + at, t->held.len - at, &t->sure))
				break;
			t->open = false;
			let_go(t, t->held.p + at++, 1);
		}
		at += scan(t, t->held.p + at, t->held.len - at, false, &t->open);
		t->sure = false;
		if (!t->open)
			break;
	}
	buf_cut(&t->held, at);
}

void textcalls_feed(struct textcalls *t, const char *s, size_t n)
{
	if (t->held.over) {
		t->out.text(t->out.arg, s, n);
		return;
	}
	if (!t->open && t->held.len == 0 && !memchr(s, '<', n) && !memchr(s, '[', n)) {
		let_go(t, s, n);
		return;
	}
	if (buf_add(&t->held, s, n) < 0) {
		t->out.text(t->out.arg, t->held.p, t->held.len);
		t->out.text(t->out.arg, s, n);
		buf_truncate(&t->held, 0);
		return;
	}
	if (!t->sure)
		work_off(t);
}

void textcalls_end(struct textcalls *t, bool complete)
{
	const char *p = t->held.p;
	size_t n = t->held.len, at = 0, work = 16 * n + 65536;
	bool open = t->open;

	while (at < n && complete) {
		size_t used = open && work > 0 ? textcalls_read(&t->out, p + at, n - at, &work) : 0;

		at += used;
		if (open && used == 0)
			let_go(t, p + at++, 1);
		if (used > 0)
			follow(t, '\n');         /* what comes after a call begins anew */
		at += scan(t, p + at, n - at, true, &open);
	}
	let_go(t, p + at, n - at);
	buf_clear(&t->held);
	t->open = t->sure = false;
}

static bool name_ends(const struct cursor *c)
{
	char k = c->at < c->n ? c->p[c->at] : 0;

	return !((k >= 'a' && k <= 'z') || (k >= 'A' && k <= 'Z') || (k >= '0' && k <= '9') || k == '_' || k == '-');
}

bool textcalls_recover(const char *text, size_t n, const char *name, struct buf *args)
{
	size_t from = n > TEXTCALLS_BACK ? n - TEXTCALLS_BACK : 0, work = (size_t)16 * TEXTCALLS_BACK;

	for (size_t at = n; at-- > from;) {
		struct cursor c = { text, n, at, work };
		bool to = skip(&c, "to="), message = false;
		size_t limit;

		if (!to && !skip(&c, "call:"))
			continue;
		skip(&c, "functions.");
		if (!skip(&c, name) || !name_ends(&c))
			continue;
		for (limit = c.at + 200; to && !message && c.at < n && c.at < limit;) {
			message = skip(&c, "<|message|>");
			c.at += !message;
		}
		skip_space(&c);
		if (to == message && c.at < n && text[c.at] == '{' && loose_value(&c, args))
			return true;
		work = c.work;
	}
	return false;
}

#include "net/sse.h"

#include <string.h>

static const char bom[3] = { '\xef', '\xbb', '\xbf' };

void sse_init(struct sse *s, sse_heard *heard, void *arg)
{
	memset(s, 0, sizeof *s);
	s->heard = heard;
	s->arg = arg;
	buf_init(&s->line, SSE_MAX + 64);
	buf_init(&s->data, SSE_MAX);
	buf_init(&s->name, 256);
}

void sse_free(struct sse *s)
{
	buf_free(&s->line);
	buf_free(&s->data);
	buf_free(&s->name);
}

static void dispatch(struct sse *s)
{
	if (s->some)
		s->heard(s->arg, s->name.p, s->data.p, s->data.len);
	buf_clear(&s->data);
	buf_clear(&s->name);
	s->some = false;
}

static bool is_field(const char *p, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(p, name, n) == 0;
}

/* Not in the standard: what gpustack and llama.cpp send in place of an event. */
static void error_field(struct sse *s, const char *v, size_t n)
{
	dispatch(s);
	if (buf_add(&s->data, v, n) < 0) {
		s->over = true;
		return;
	}
	s->some = true;
	buf_adds(&s->name, "error");
	dispatch(s);
}

static void line(struct sse *s, const char *p, size_t n)
{
	if (n == 0) {
		dispatch(s);
		return;
	}
	if (*p == ':') {
		s->comments++;
		return;
	}
	const char *colon = memchr(p, ':', n);
	size_t nname = colon ? (size_t)(colon - p) : n;
	const char *v = colon ? colon + 1 : p + n;
	size_t nv = (size_t)(p + n - v);
	if (nv > 0 && *v == ' ')
		v++, nv--;
	if (is_field(p, nname, "data")) {
		if ((s->some && buf_addc(&s->data, '\n') < 0) || buf_add(&s->data, v, nv) < 0)
			s->over = true;
		s->some = true;
	} else if (is_field(p, nname, "event")) {
		buf_clear(&s->name);
		buf_add(&s->name, v, nv);      /* an absurdly long name is no name */
	} else if (is_field(p, nname, "error") && nv > 0) {
		error_field(s, v, nv);
	}
}

/* Drops a BOM at the very start, also one that comes in pieces. */
static void skip_bom(struct sse *s, const char **p, size_t *n)
{
	while (*n > 0 && s->bom < 3) {
		if (**p != bom[s->bom]) {
			buf_add(&s->line, bom, s->bom);   /* it was none after all */
			s->bom = 4;
			return;
		}
		s->bom++;
		(*p)++, (*n)--;
	}
	if (s->bom == 3)
		s->bom = 4;
}

int sse_feed(struct sse *s, const char *p, size_t n)
{
	if (s->bom < 4)
		skip_bom(s, &p, &n);
	while (n > 0 && !s->over) {
		if (s->cr && *p == '\n')
			p++, n--;
		s->cr = false;
		if (n == 0)
			break;
		const char *lf = memchr(p, '\n', n);
		size_t len = lf ? (size_t)(lf - p) : n;
		const char *cr = memchr(p, '\r', len);
		if (cr)
			len = (size_t)(cr - p);
		if (len == n) {                       /* its end has not come */
			if (buf_add(&s->line, p, n) < 0)
				s->over = true;
			break;
		}
		if (s->line.len > 0) {
			if (buf_add(&s->line, p, len) < 0)
				s->over = true;
			else
				line(s, s->line.p, s->line.len);
			buf_clear(&s->line);
		} else {
			line(s, p, len);
		}
		s->cr = cr != NULL;
		p += len + 1;
		n -= len + 1;
	}
	return s->over ? -1 : 0;
}

void sse_end(struct sse *s)
{
	if (s->over)
		return;
	if (s->bom < 3)
		buf_add(&s->line, bom, s->bom);
	if (s->line.len > 0)
		line(s, s->line.p, s->line.len);
	buf_clear(&s->line);
	dispatch(s);
}

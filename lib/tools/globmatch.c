#include "tools/globmatch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

static uint32_t next(const char **s, const char *end)
{
	uint32_t c;
	int k = utf8_decode(*s, (size_t)(end - *s), &c);
	if (k == 0)
		c = 0x110000u + (unsigned char)**s, k = 1;       /* not UTF-8: a byte is a character of its own */
	*s += k;
	return c;
}

/* *p is after '['. 1 or 0 with *p after ']'; -1: no set, the '[' stands for itself. */
static int set(const char **p, const char *end, uint32_t c)
{
	const char *s = *p;
	bool not = s < end && (*s == '!' || *s == '^'), in = false, first = true;
	s += not;
	for (; s < end && (*s != ']' || first); first = false) {
		if (*s == '\\' && s + 1 < end)
			s++;
		uint32_t lo = next(&s, end), hi = lo;
		if (s + 1 < end && s[0] == '-' && s[1] != ']') {
			s++;
			hi = next(&s, end);
		}
		in |= lo <= c && c <= hi;
	}
	if (s >= end)
		return -1;
	*p = s + 1;
	return in != not;
}

/* One step of the pattern (not '*') against one character. */
static bool one(const char **p, const char *end, uint32_t c)
{
	if (**p == '?')
		return (*p)++, true;
	if (**p == '[') {
		const char *q = *p + 1;
		int k = set(&q, end, c);
		if (k >= 0)
			return *p = q, k;
	}
	if (**p == '\\' && *p + 1 < end)
		(*p)++;
	return next(p, end) == c;
}

static bool component(const char *p, const char *pend, const char *s, const char *send)
{
	const char *star = NULL, *from = NULL;
	for (;;) {
		if (p < pend && *p == '*') {
			star = ++p;
			from = s;
			continue;
		}
		if (s == send && p == pend)
			return true;
		if (s < send && p < pend) {
			const char *q = p, *t = s;
			uint32_t c = next(&t, send);
			if (one(&q, pend, c)) {
				p = q;
				s = t;
				continue;
			}
		}
		if (!star || from == send)
			return false;
		next(&from, send);
		p = star;
		s = from;
	}
}

static const char *end_of(const char *s)
{
	return s + strcspn(s, "/");
}

static const char *after(const char *s)
{
	s = end_of(s);
	return s + (*s == '/');
}

static bool is_double(const char *p)
{
	return p[0] == '*' && p[1] == '*' && (p[2] == '/' || p[2] == '\0');
}

bool glob_match(const char *p, const char *s)
{
	const char *star = NULL, *from = NULL;
	for (;;) {
		if (is_double(p)) {
			if (!p[2])
				return *s != '\0';
			star = p = after(p);
			from = s;
			continue;
		}
		if (!*s && !*p)
			return true;
		if (*s && *p && component(p, end_of(p), s, end_of(s))) {
			p = after(p);
			s = after(s);
			continue;
		}
		if (!star || !*from)
			return false;
		from = after(from);
		p = star;
		s = from;
	}
}

/* The first '{' with its '}' and at least one ',' between: bounds; false if there is none. */
static bool find_braces(const char *s, size_t *open, size_t *close)
{
	for (size_t i = 0; s[i]; i++) {
		if (s[i] == '\\' && s[i + 1]) {
			i++;
			continue;
		}
		if (s[i] != '{')
			continue;
		int depth = 0;
		bool comma = false;
		for (size_t k = i; s[k]; k++) {
			if (s[k] == '\\' && s[k + 1]) {
				k++;
				continue;
			}
			depth += (s[k] == '{') - (s[k] == '}');
			comma |= depth == 1 && s[k] == ',';
			if (depth == 0) {
				if (!comma)
					break;
				*open = i;
				*close = k;
				return true;
			}
		}
	}
	return false;
}

static int expand(struct globs *g, const char *s)
{
	size_t open, close;
	if (!find_braces(s, &open, &close)) {
		if (g->n == GLOBS_MAX)
			return -1;
		g->p = xrealloc(g->p, g->n + 1, sizeof *g->p);
		g->p[g->n++] = xstrdup(s);
		return 0;
	}
	int depth = 0, r = 0;
	for (size_t i = open + 1, from = i; i <= close && r == 0; i++) {
		if (s[i] == '\\' && i + 1 < close) {
			i++;
			continue;
		}
		depth += (s[i] == '{') - (s[i] == '}' && i < close);
		if ((s[i] == ',' && depth == 0) || i == close) {
			char *one_of = xasprintf("%.*s%.*s%s", (int)open, s, (int)(i - from), s + from, s + close + 1);
			r = expand(g, one_of);
			free(one_of);
			from = i + 1;
		}
	}
	return r;
}

int globs_init(struct globs *g, const char *pattern)
{
	*g = (struct globs){NULL, 0};
	while (pattern[0] == '.' && pattern[1] == '/')
		pattern += 2;
	if (strlen(pattern) < 4096 && expand(g, pattern) == 0)
		return 0;
	globs_free(g);
	return -1;
}

bool globs_match(const struct globs *g, const char *path)
{
	for (size_t i = 0; i < g->n; i++)
		if (glob_match(g->p[i], path))
			return true;
	return false;
}

void globs_free(struct globs *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->p[i]);
	free(g->p);
	*g = (struct globs){NULL, 0};
}

size_t globs_depth(const struct globs *g)
{
	size_t most = 0;
	for (size_t i = 0; i < g->n; i++) {
		size_t n = 0;
		for (const char *p = g->p[i]; *p; p = after(p), n++)
			if (is_double(p))
				return 0;
		most = n > most ? n : most;
	}
	return most;
}

bool globs_names(const struct globs *g, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < g->n; i++)
		for (const char *p = g->p[i]; *p; p = after(p))
			if ((size_t)(end_of(p) - p) == n && memcmp(p, name, n) == 0)
				return true;
	return false;
}

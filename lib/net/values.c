#include "net/values.h"

#include <string.h>

void values_init(struct values *v, values_heard *heard, void *arg)
{
	*v = (struct values){.heard = heard, .arg = arg};
	buf_init(&v->value, VALUES_MAX);
}

void values_free(struct values *v)
{
	buf_free(&v->value);
}

static void deliver(struct values *v)
{
	v->heard(v->arg, v->value.p, v->value.len);
	v->any = true;
	v->depth = 0;
	v->in_string = v->escaped = v->junk = false;
	buf_clear(&v->value);
}

/* How many of the bytes go on with what has begun; at the end of it, it is delivered. */
static size_t go_on(struct values *v, const char *p, size_t n)
{
	size_t i = 0;
	bool whole = false;

	while (i < n && !whole) {
		char c = p[i];

		if (v->junk) {
			whole = c == '\n' || c == '\r';
		} else if (v->escaped) {
			v->escaped = false;
		} else if (v->in_string) {
			v->in_string = c != '"';
			v->escaped = c == '\\';
		} else if (c == '"') {
			v->in_string = true;
		} else if (c == '{' || c == '[') {
			v->depth++;
		} else if (c == '}' || c == ']') {
			whole = --v->depth == 0;
		}
		i++;
	}
	if (buf_add(&v->value, p, i) < 0)
		v->over = true;
	else if (whole)
		deliver(v);
	return i;
}

int values_feed(struct values *v, const char *p, size_t n)
{
	while (n > 0 && !v->over) {
		size_t used = 1;

		if (v->depth > 0 || v->junk)
			used = go_on(v, p, n);
		else if (*p == '[' && !v->array && !v->any)
			v->array = true;
		else if (!strchr(" \t\r\n", *p) || *p == 0)
			if (!v->array || (*p != ',' && *p != ']')) {
				v->junk = *p != '{';
				used = go_on(v, p, n);
			}
		p += used;
		n -= used;
	}
	return v->over ? -1 : 0;
}

void values_end(struct values *v)
{
	if (v->value.len > 0 && !v->over)
		deliver(v);
}

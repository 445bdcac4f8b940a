/* parse.c - one pass over the text: grammar, UTF-8, escapes, duplicate keys; tokens are the result. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/token.h"

struct scan {
	struct json *j;
	const char *s;
	size_t n, i;
	uint32_t stack[JSON_DEPTH];   /* open containers */
	int depth;
};

static int fault(struct scan *p, enum json_fault f, size_t at)
{
	p->j->fault = f == JSON_SYNTAX && at >= p->n ? JSON_CUT : f;
	p->j->fault_at = at;
	return -1;
}

static uint32_t token(struct scan *p, enum json_type type, size_t start)
{
	struct json *j = p->j;

	if (j->n == j->cap) {
		j->cap = j->cap ? j->cap * 2 : 32;
		j->tok = xrealloc(j->tok, j->cap, sizeof *j->tok);
	}
	j->tok[j->n] = (struct json_token){.start = (uint32_t)start, .type = type};
	return j->n++;
}

static void blanks(struct scan *p)
{
	while (p->i < p->n && (p->s[p->i] == ' ' || p->s[p->i] == '\n' || p->s[p->i] == '\t' || p->s[p->i] == '\r'))
		p->i++;
}

static int hex4(const char *s)
{
	int v = 0;

	for (int k = 0; k < 4; k++) {
		char c = s[k];
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		        c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* At a backslash. */
static int escape(struct scan *p)
{
	int u, low;

	if (p->i + 1 >= p->n)
		return fault(p, JSON_CUT, p->n);
	if (p->s[p->i + 1] != 'u') {
		if (!p->s[p->i + 1] || !strchr("\"\\/bfnrt", p->s[p->i + 1]))
			return fault(p, JSON_SYNTAX, p->i + 1);
		p->i += 2;
		return 0;
	}
	if (p->i + 6 > p->n)
		return fault(p, JSON_CUT, p->n);
	u = hex4(p->s + p->i + 2);
	if (u < 0)
		return fault(p, JSON_SYNTAX, p->i + 2);
	if (u == 0)
		return fault(p, JSON_NUL, p->i);
	if (u >= 0xdc00 && u <= 0xdfff)
		return fault(p, JSON_SURROGATE, p->i);
	if (u >= 0xd800 && u <= 0xdbff) {
		if (p->i + 12 > p->n || p->s[p->i + 6] != '\\' || p->s[p->i + 7] != 'u')
			return fault(p, JSON_SURROGATE, p->i);
		low = hex4(p->s + p->i + 8);
		if (low < 0xdc00 || low > 0xdfff)
			return fault(p, JSON_SURROGATE, p->i);
		p->i += 6;
	}
	p->i += 6;
	return 0;
}

/* Bytes up to the next one that needs a look: quote, backslash, control, not ASCII. Eight at a time: the bit tricks
 * set the top bit of each byte that is below 0x20, or equal to the quote or the backslash (Hacker's Delight, 6-1). */
static size_t plain_run(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		uint64_t w, quote, slash, look;

		memcpy(&w, s + i, 8);
		quote = w ^ (ones * '"');
		slash = w ^ (ones * '\\');
		look = (((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | w) & tops;
		if (!look)
			continue;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		/* what borrows can set wrongly lies above the lowest bit, which is right */
		return i + (size_t)__builtin_ctzll(look) / 8;
#else
		break;
#endif
	}
	for (; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80)
			break;
	}
	return i;
}

/* At the opening quote; ends behind the closing one. */
static int string(struct scan *p, uint32_t *at)
{
	size_t start = p->i++;
	bool escaped = false;

	for (;;) {
		unsigned char c;
		int k;

		p->i += plain_run(p->s + p->i, p->n - p->i);
		if (p->i >= p->n)
			return fault(p, JSON_CUT, p->n);
		c = (unsigned char)p->s[p->i];
		if (c == '"')
			break;
		if (c == '\\') {
			escaped = true;
			if (escape(p) < 0)
				return -1;
		} else if (c < 0x20) {
			return fault(p, c ? JSON_CONTROL : JSON_NUL, p->i);
		} else {
			k = utf8_decode(p->s + p->i, p->n - p->i, NULL);
			if (!k)
				return fault(p, JSON_BAD_UTF8, p->i);
			p->i += (size_t)k;
		}
	}
	p->i++;
	*at = token(p, JSON_STRING, start);
	p->j->tok[*at].escaped = escaped;
	p->j->tok[*at].end = (uint32_t)p->i;
	p->j->tok[*at].next = *at + 1;
	return 0;
}

static bool digit(const struct scan *p)
{
	return p->i < p->n && p->s[p->i] >= '0' && p->s[p->i] <= '9';
}

static int digits(struct scan *p)
{
	if (!digit(p))
		return fault(p, JSON_SYNTAX, p->i);
	while (digit(p))
		p->i++;
	return 0;
}

static int number(struct scan *p)
{
	size_t start = p->i;
	uint32_t at;

	if (p->s[p->i] == '-')
		p->i++;
	if (p->i < p->n && p->s[p->i] == '0')
		p->i++;
	else if (digits(p) < 0)
		return -1;
	if (p->i < p->n && p->s[p->i] == '.') {
		p->i++;
		if (digits(p) < 0)
			return -1;
	}
	if (p->i < p->n && (p->s[p->i] == 'e' || p->s[p->i] == 'E')) {
		p->i++;
		if (p->i < p->n && (p->s[p->i] == '+' || p->s[p->i] == '-'))
			p->i++;
		if (digits(p) < 0)
			return -1;
	}
	at = token(p, JSON_NUMBER, start);
	p->j->tok[at].end = (uint32_t)p->i;
	p->j->tok[at].next = at + 1;
	return 0;
}

static int word(struct scan *p, const char *w, enum json_type type)
{
	size_t len = strlen(w), left = p->n - p->i;
	uint32_t at;

	if (memcmp(p->s + p->i, w, left < len ? left : len) != 0)
		return fault(p, JSON_SYNTAX, p->i);
	if (left < len)
		return fault(p, JSON_CUT, p->n);
	at = token(p, type, p->i);
	p->i += len;
	p->j->tok[at].end = (uint32_t)p->i;
	p->j->tok[at].next = at + 1;
	return 0;
}

/* Key of a member and its colon. */
static int key(struct scan *p)
{
	struct json_token *t;
	uint32_t at, hash = 2166136261u;   /* FNV-1a */
	struct buf plain;
	const char *s;
	size_t len;

	if (p->i >= p->n || p->s[p->i] != '"')
		return fault(p, JSON_SYNTAX, p->i);
	if (string(p, &at) < 0)
		return -1;
	t = &p->j->tok[at];
	s = p->s + t->start + 1;
	len = t->end - t->start - 2;
	buf_init(&plain, len);
	if (t->escaped) {
		json_decode(&plain, s, len);
		s = plain.p, len = plain.len;
	}
	for (size_t k = 0; k < len; k++)
		hash = (hash ^ (unsigned char)s[k]) * 16777619u;
	buf_free(&plain);
	t->next = hash;
	blanks(p);
	if (p->i >= p->n || p->s[p->i] != ':')
		return fault(p, JSON_SYNTAX, p->i);
	p->i++;
	blanks(p);
	return 0;
}

static bool same_key(const struct json *j, uint32_t a, uint32_t b)
{
	const struct json_token *x = &j->tok[a], *y = &j->tok[b];
	struct buf u, v;
	bool same;

	if (!x->escaped && !y->escaped)
		return x->end - x->start == y->end - y->start &&
		       !memcmp(j->text + x->start, j->text + y->start, x->end - x->start);
	buf_init(&u, BUF_NOLIMIT);
	buf_init(&v, BUF_NOLIMIT);
	json_decode(&u, j->text + x->start + 1, x->end - x->start - 2);
	json_decode(&v, j->text + y->start + 1, y->end - y->start - 2);
	same = u.len == v.len && !memcmp(u.p, v.p, u.len);
	buf_free(&u);
	buf_free(&v);
	return same;
}

struct hashed {
	uint32_t hash, at;
};

static int compare_keys(const struct json *j, uint32_t a, uint32_t b)
{
	const struct json_token *x = &j->tok[a], *y = &j->tok[b];
	size_t n = x->end - x->start - 2, m = y->end - y->start - 2;
	struct buf u, v;
	int diff;

	if (!x->escaped && !y->escaped) {
		diff = memcmp(j->text + x->start + 1, j->text + y->start + 1, n < m ? n : m);
		return diff ? diff : n < m ? -1 : n > m;
	}
	buf_init(&u, BUF_NOLIMIT);
	buf_init(&v, BUF_NOLIMIT);
	json_decode(&u, j->text + x->start + 1, n);
	json_decode(&v, j->text + y->start + 1, m);
	n = u.len < v.len ? u.len : v.len;
	diff = n ? memcmp(u.p, v.p, n) : 0;
	if (!diff)
		diff = u.len < v.len ? -1 : u.len > v.len;
	buf_free(&u);
	buf_free(&v);
	return diff;
}

/* Hashes that are equal are no chance in a hostile text: their keys are put in order, too, so that equal ones are neighbours
 * however many there are. */
static int by_hash(const void *a, const void *b, void *j)
{
	const struct hashed *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash ? 1 : compare_keys(j, x->at, y->at);
}

/* Index of a key that occurs twice in the object, or 0 (never a key). */
static uint32_t twice(const struct json *j, uint32_t object)
{
	uint32_t n = j->tok[object].count, k = 0, bad = 0;
	struct hashed few[16], *all = n <= 16 ? few : xmalloc(n * sizeof *all);

	for (uint32_t at = object + 1; k < n; at = j->tok[at + 1].next)
		all[k++] = (struct hashed){j->tok[at].next, at};
	if (n > 8)
		qsort_r(all, n, sizeof *all, by_hash, (void *)(uintptr_t)j);
	for (uint32_t a = 0; a < n && !bad; a++)
		for (uint32_t b = a + 1; b < n && !bad; b++) {
			if (all[a].hash == all[b].hash && same_key(j, all[a].at, all[b].at))
				bad = all[b].at > all[a].at ? all[b].at : all[a].at;
			if (n > 8)
				break;   /* sorted: what is equal is next */
		}
	if (all != few)
		free(all);
	return bad;
}

/* Close the innermost container at the bracket under the cursor. */
static int close_container(struct scan *p)
{
	uint32_t at = p->stack[--p->depth], bad;
	struct json_token *t = &p->j->tok[at];

	if (p->s[p->i] != (t->type == JSON_OBJECT ? '}' : ']'))
		return fault(p, JSON_SYNTAX, p->i);
	p->i++;
	t->end = (uint32_t)p->i;
	t->next = p->j->n;
	if (t->type == JSON_OBJECT && t->count > 1) {
		bad = twice(p->j, at);
		if (bad)
			return fault(p, JSON_DUPLICATE, p->j->tok[bad].start);
	}
	return 0;
}

/* A value begins at the cursor. Containers are only opened. */
static int value(struct scan *p)
{
	uint32_t at;
	char c;

	if (p->i >= p->n)
		return fault(p, JSON_CUT, p->n);
	c = p->s[p->i];
	switch (c) {
	case '"':
		return string(p, &at);
	case '{':
	case '[':
		if (p->depth == JSON_DEPTH)
			return fault(p, JSON_DEEP, p->i);
		p->stack[p->depth++] = token(p, c == '{' ? JSON_OBJECT : JSON_ARRAY, p->i);
		p->i++;
		return 0;
	case 't':
		return word(p, "true", JSON_BOOL);
	case 'f':
		return word(p, "false", JSON_BOOL);
	case 'n':
		return word(p, "null", JSON_NULL);
	default:
		if (c == '-' || (c >= '0' && c <= '9'))
			return number(p);
		return fault(p, JSON_SYNTAX, p->i);
	}
}

/* Between values of the innermost container: a comma and the next, or its end. */
static int next_or_close(struct scan *p, bool first)
{
	struct json_token *t = &p->j->tok[p->stack[p->depth - 1]];
	bool object = t->type == JSON_OBJECT;

	blanks(p);
	if (p->i >= p->n)
		return fault(p, JSON_CUT, p->n);
	if (p->s[p->i] == '}' || p->s[p->i] == ']')
		return close_container(p) < 0 ? -1 : 1;
	if (!first) {
		if (p->s[p->i] != ',')
			return fault(p, JSON_SYNTAX, p->i);
		p->i++;
		blanks(p);
	}
	if (t->count == (1u << 28) - 1 || (p->j->most && p->j->n >= p->j->most))
		return fault(p, JSON_LONG, p->i);
	t->count++;
	if (object && key(p) < 0)
		return -1;
	return value(p) < 0 ? -1 : 0;
}

static int whole(struct scan *p)
{
	int depth;
	bool first;

	blanks(p);
	if (value(p) < 0)
		return -1;
	first = true;
	while (p->depth) {
		int r;

		depth = p->depth;
		r = next_or_close(p, first);
		if (r < 0)
			return -1;
		/* A container that was just opened has no comma before its first value. */
		first = p->depth > depth;
	}
	blanks(p);
	if (p->i < p->n)
		return fault(p, JSON_SYNTAX, p->i);
	return 0;
}

static const char *why(enum json_fault f)
{
	switch (f) {
	case JSON_CUT: return "the text ends in the middle of a value";
	case JSON_BAD_UTF8: return "invalid UTF-8";
	case JSON_NUL: return "a NUL character";
	case JSON_SURROGATE: return "a lone surrogate escape";
	case JSON_CONTROL: return "a raw control character in a string";
	case JSON_DUPLICATE: return "a key twice in one object";
	case JSON_DEEP: return "nested too deep";
	case JSON_LONG: return "too long";
	default: return "not JSON";
	}
}

int json_parse(struct json *j, const char *text, size_t len, struct err *e)
{
	struct scan p = {.j = j, .s = text, .n = len};
	int r;

	j->text = text;
	j->len = len;
	j->n = 0;
	j->fault = JSON_FINE;
	j->fault_at = 0;
	r = len > JSON_MAX ? fault(&p, JSON_LONG, JSON_MAX) : whole(&p);
	if (r < 0) {
		j->n = 0;
		err_set(e, ST_DATA, "%s at byte %zu", why(j->fault), j->fault_at + 1);
	}
	return r;
}

void json_free(struct json *j)
{
	free(j->tok);
	*j = (struct json)JSON_INIT;
}

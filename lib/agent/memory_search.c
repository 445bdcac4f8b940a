#include "agent/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Lower case for the scripts that have it in two bytes of UTF-8 (Latin, Greek, Cyrillic), without a locale, which need not
 * be there. The length stays. */
static uint32_t lower(uint32_t c)
{
	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
		return c + 32;
	if (c >= 0x400 && c <= 0x40f)
		return c + 80;
	/* Latin Extended-A alternates, capital first; from 0139 to 0148 and 0179 to 017E the capital is odd. Dotted I is left. */
	if ((c >= 0x100 && c <= 0x12f) || (c >= 0x132 && c <= 0x137) || (c >= 0x14a && c <= 0x177))
		return c | 1;
	if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
		return c + (c & 1);
	return c;
}

static char *fold(const char *s)
{
	struct buf out;
	size_t n = strlen(s);

	buf_init(&out, BUF_NOLIMIT);
	for (size_t i = 0; i < n;) {
		uint32_t c;
		char u[4];
		int k = utf8_decode(s + i, n - i, &c);
		if (k <= 0) {
			buf_addc(&out, s[i++]);
			continue;
		}
		buf_add(&out, u, (size_t)utf8_encode(u, lower(c)));
		i += (size_t)k;
	}
	return buf_detach(&out);
}

static int occurrences(const char *text, const char *word, int most)
{
	int n = 0;

	for (size_t len = strlen(word); n < most && (text = strstr(text, word)) != NULL; text += len)
		n++;
	return n;
}

/* A word in the name counts most, then the description, then how often it is in the text, up to three times. Having all
 * words of the query counts more than anything else. */
static double rank(const struct memory *m, char *const *words, size_t n)
{
	char *name = fold(m->name), *description = fold(m->description), *text = fold(m->text.p);
	double r = 0;

	for (size_t i = 0; i < n; i++) {
		double w = 4.0 * (strstr(name, words[i]) != NULL) + 2.0 * (strstr(description, words[i]) != NULL) +
		           0.5 * occurrences(text, words[i], 3);
		if (w > 0)
			r += 10 + w;
	}
	free(name);
	free(description);
	free(text);
	return r;
}

static int better(const void *a, const void *b)
{
	const struct memory *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	if (memory_is_users(x) != memory_is_users(y))
		return memory_is_users(y) ? 1 : -1;
	if (x->changed.tv_sec != y->changed.tv_sec)
		return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
	return strcmp(x->slug, y->slug);
}

size_t memory_search(struct memory *v, size_t n, const char *query, size_t max)
{
	enum { WORDS = 32 };
	char *folded = fold(query), *words[WORDS], *save = NULL;
	size_t k = 0, kept = 0;

	for (char *w = strtok_r(folded, " \t\r\n", &save); w && k < WORDS; w = strtok_r(NULL, " \t\r\n", &save))
		words[k++] = w;
	for (size_t i = 0; i < n; i++)
		v[i].rank = rank(&v[i], words, k);
	if (n)
		qsort(v, n, sizeof *v, better);
	while (kept < n && kept < max && v[kept].rank > 0)
		kept++;
	for (size_t i = kept; i < n; i++)
		memory_free(&v[i]);
	free(folded);
	return kept;
}

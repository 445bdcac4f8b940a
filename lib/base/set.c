#include "base/set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* FNV-1a, 64 bits */
static uint64_t hash(const char *p, size_t n)
{
	uint64_t h = 14695981039346656037u;

	while (n--)
		h = (h ^ (unsigned char)*p++) * 1099511628211u;
	return h;
}

/* The slot where it is or would go. cap is a power of two and never full. */
static size_t slot_of(char *const *slot, size_t cap, const char *p, size_t n)
{
	size_t k = (size_t)hash(p, n) & (cap - 1);

	while (slot[k] && (strncmp(slot[k], p, n) || slot[k][n]))
		k = (k + 1) & (cap - 1);
	return k;
}

bool set_has(const struct set *s, const char *p, size_t n)
{
	return s->cap && s->slot[slot_of(s->slot, s->cap, p, n)];
}

static void grow(struct set *s)
{
	size_t cap = s->cap ? s->cap * 2 : 64;
	char **slot = xcalloc(cap, sizeof *slot);

	for (size_t k = 0; k < s->cap; k++)
		if (s->slot[k])
			slot[slot_of(slot, cap, s->slot[k], strlen(s->slot[k]))] = s->slot[k];
	free(s->slot);
	s->slot = slot;
	s->cap = cap;
}

bool set_add(struct set *s, const char *p, size_t n)
{
	size_t k;

	if (2 * s->n >= s->cap)
		grow(s);
	k = slot_of(s->slot, s->cap, p, n);
	if (s->slot[k])
		return false;
	s->slot[k] = xstrndup(p, n);
	s->n++;
	return true;
}

void set_free(struct set *s)
{
	for (size_t k = 0; k < s->cap; k++)
		free(s->slot[k]);
	free(s->slot);
	*s = (struct set)SET_INIT;
}

#include "agent/heal_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "sys/io.h"

static uint64_t hash_of(const struct heal_map *m, const char *key, size_t len)
{
	uint64_t h = m->seed;

	for (size_t i = 0; i < len; i++) {
		h ^= (unsigned char)key[i];
		h *= 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

void heal_map_init(struct heal_map *m)
{
	memset(m, 0, sizeof *m);
	io_random(&m->seed, sizeof m->seed);
}

void heal_map_free(struct heal_map *m)
{
	for (size_t i = 0; i < m->cap; i++)
		free(m->e[i].key);
	free(m->e);
	memset(m, 0, sizeof *m);
}

static struct heal_entry *slot(const struct heal_map *m, const char *key, size_t len, uint64_t hash)
{
	size_t i = hash & (m->cap - 1);

	while (m->e[i].key && (m->e[i].hash != hash || m->e[i].len != len || memcmp(m->e[i].key, key, len)))
		i = (i + 1) & (m->cap - 1);
	return &m->e[i];
}

struct heal_entry *heal_map_get(const struct heal_map *m, const char *key, size_t len)
{
	if (!m->cap)
		return NULL;
	struct heal_entry *e = slot(m, key, len, hash_of(m, key, len));
	return e->key ? e : NULL;
}

static void grow(struct heal_map *m)
{
	struct heal_map old = *m;

	m->cap = old.cap ? old.cap * 2 : 64;
	m->e = xcalloc(m->cap, sizeof *m->e);
	for (size_t i = 0; i < old.cap; i++)
		if (old.e[i].key)
			*slot(m, old.e[i].key, old.e[i].len, old.e[i].hash) = old.e[i];
	free(old.e);
}

struct heal_entry *heal_map_put(struct heal_map *m, const char *key, size_t len)
{
	if ((m->n + 1) * 3 > m->cap * 2)
		grow(m);
	uint64_t hash = hash_of(m, key, len);
	struct heal_entry *e = slot(m, key, len, hash);
	if (!e->key) {
		e->key = xmalloc(len + 1);
		memcpy(e->key, key, len);
		e->key[len] = 0;
		e->len = len;
		e->hash = hash;
		e->at = -1;
		m->n++;
	}
	return e;
}

/* heal_map.h - names of a conversation (ids of calls and messages) to what they stand for.
 *
 * A hash table with open addressing. Keys are bytes, copied. Entries never go, and pointers to them hold only
 * until the next heal_map_put. The hash has a random seed, so that ids from outside cannot be chosen to collide; nothing ever
 * depends on the order in the table. */
#ifndef AGENT_HEAL_MAP_H
#define AGENT_HEAL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heal_call;

struct heal_entry {
	char *key;                        /* NULL: free */
	size_t len;
	uint64_t hash;
	bool used;                        /* a held call bears this id */
	uint32_t count;                   /* suffixes given to it so far */
	uint64_t stamp;                   /* the assistant message that last used it */
	struct heal_call *open, *last;    /* its calls of that id: first without a result, last */
	int64_t at;                       /* position of a message; -1 none, -2 several */
};

struct heal_map {
	struct heal_entry *e;
	size_t n, cap;
	uint64_t seed;
};

void heal_map_init(struct heal_map *m);
void heal_map_free(struct heal_map *m);
struct heal_entry *heal_map_get(const struct heal_map *m, const char *key, size_t len);   /* NULL: not there */
struct heal_entry *heal_map_put(struct heal_map *m, const char *key, size_t len);         /* there or new */

#endif

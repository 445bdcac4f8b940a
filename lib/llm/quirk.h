/* quirk.h - what a provider wants otherwise: names in providers.json, bits in the program. quirk.def is the list.
 *
 *   uint64_t q = 0;
 *   if (!quirk_add(&q, "ids_9", 5)) ... no such quirk
 *   if (q & QUIRK_IDS_9) ... */
#ifndef LLM_QUIRK_H
#define LLM_QUIRK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
#define QUIRK(name, word, help) QUIRK_AT_##name,
#include "llm/quirk.def"
#undef QUIRK
	QUIRKS
};

#define QUIRK(name, word, help) static const uint64_t QUIRK_##name = (uint64_t)1 << QUIRK_AT_##name;
#include "llm/quirk.def"
#undef QUIRK

struct quirk {
	const char *name, *help;
};

/* The table, in the order of the bits; QUIRKS entries. */
const struct quirk *quirks(void);
/* Sets the bit of the quirk word[0..n); false: there is none of that name. */
bool quirk_add(uint64_t *set, const char *word, size_t n);

#endif

#include "llm/quirk.h"

#include <string.h>

static const struct quirk table[QUIRKS] = {
#define QUIRK(name, word, help) { word, help },
#include "llm/quirk.def"
#undef QUIRK
};

const struct quirk *quirks(void)
{
	return table;
}

bool quirk_add(uint64_t *set, const char *word, size_t n)
{
	for (size_t i = 0; i < QUIRKS; i++)
		if (strlen(table[i].name) == n && memcmp(table[i].name, word, n) == 0) {
			*set |= (uint64_t)1 << i;
			return true;
		}
	return false;
}

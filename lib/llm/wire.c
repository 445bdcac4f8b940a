#include "llm/wires.h"

#include <string.h>

static const struct wire wires[] = {
#define WIRE(word, ...) { .name = word, __VA_ARGS__ },
#include "llm/wire.def"
#undef WIRE
};

const char wire_choices[] =
#define WIRE(word, ...) "|" word
#include "llm/wire.def"
#undef WIRE
	;

const struct wire *wire_at(size_t i)
{
	return i < sizeof wires / sizeof *wires ? &wires[i] : NULL;
}

const struct wire *wire_find(const char *name)
{
	for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
		if (strcmp(wires[i].name, name) == 0)
			return &wires[i];
	return NULL;
}

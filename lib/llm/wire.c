#include "llm/wires.h"

#include <string.h>

static const struct wire wires[] = {
#define WIRE(word, ...) { .name = word, __VA_ARGS__ },
#include "llm/wire.def"
#undef WIRE
};

/* The same wire by the name that its API has for streams: one wire reads both. */
#define CONVERSE_STREAM "bedrock-converse-stream"
#define INVOKE_STREAM "bedrock-invoke-stream"

const char wire_choices[] =
#define WIRE(word, ...) "|" word
#include "llm/wire.def"
#undef WIRE
	"|" CONVERSE_STREAM "|" INVOKE_STREAM;

const struct wire *wire_at(size_t i)
{
	return i < sizeof wires / sizeof *wires ? &wires[i] : NULL;
}

const struct wire *wire_find(const char *name)
{
	if (strcmp(name, CONVERSE_STREAM) == 0)
		name = "bedrock-converse";
	else if (strcmp(name, INVOKE_STREAM) == 0)
		name = "bedrock-invoke";
	for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
		if (strcmp(wires[i].name, name) == 0)
			return &wires[i];
	return NULL;
}

#include "llm/wires.h"

#include <string.h>

static const struct wire wires[] = {
	{ .name = "anthropic", .path = "/v1/messages", .auth = "x-api-key",
	  .headers = "anthropic-version: 2023-06-01", .add = anthropic_add, .tools = anthropic_tools, .body = anthropic_body,
	  .event = anthropic_event, .whole = anthropic_whole, .end = anthropic_end },
	{ .name = "openai-chat", .path = "/chat/completions", .auth = "bearer", .add = chat_add, .tools = chat_tools, .body = chat_body,
	  .event = chat_event, .whole = chat_whole, .end = chat_end },
};

const struct wire *wire_find(const char *name)
{
	for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
		if (strcmp(wires[i].name, name) == 0)
			return &wires[i];
	return NULL;
}

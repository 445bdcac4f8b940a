#include "llm/wires.h"

#include <string.h>

static const struct wire wires[] = {
	{ "anthropic", "/v1/messages", anthropic_add, anthropic_tools, anthropic_body,
	  anthropic_event, anthropic_whole, anthropic_end },
	{ "openai-chat", "/chat/completions", chat_add, chat_tools, chat_body, chat_event, chat_whole, chat_end },
};

const struct wire *
wire_find(const char *name)
{
	for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
		if (strcmp(wires[i].name, name) == 0)
			return &wires[i];
	return NULL;
}

/* wire_openai_usage.c - token counts as OpenAI and its clones give them, made alike: input without cache, output
 * with reasoning. */
#include "llm/wires.h"

static int64_t count(const struct json *j, int v, const char *path)
{
	int64_t n = -1;
	build_count(&n, j, json_path(j, v, path));
	return n;
}

static int64_t first(int64_t x, int64_t y)
{
	return x >= 0 ? x : y;
}

void chat_usage(struct usage *u, const struct json *j, int v)
{
	int64_t prompt = count(j, v, "prompt_tokens"), completion = count(j, v, "completion_tokens");
	int64_t total = count(j, v, "total_tokens");
	int64_t read = first(count(j, v, "prompt_tokens_details.cached_tokens"),
	                     first(count(j, v, "prompt_cache_hit_tokens"), count(j, v, "cached_tokens")));
	int64_t write = count(j, v, "prompt_tokens_details.cache_write_tokens");
	int64_t reasoning = count(j, v, "completion_tokens_details.reasoning_tokens");
	int64_t miss = count(j, v, "prompt_cache_miss_tokens");     /* DeepSeek says it outright */
	if (prompt < 0 && completion < 0)
		return;
	u->cache_read = read;
	u->cache_write = write;
	u->reasoning = reasoning;
	u->input = prompt;
	if (miss >= 0)
		u->input = miss;
	else if (prompt >= 0)
		u->input = prompt - (read > 0 ? read : 0) - (write > 0 ? write : 0);
	if (prompt >= 0 && u->input < 0)
		u->input = 0;                        /* Grok on Azure counts more cached tokens than tokens */
	u->output = completion;
	/* xAI counts reasoning beside the completion; the sum tells */
	if (reasoning > 0 && completion >= 0 && prompt >= 0 && total == prompt + completion + reasoning)
		u->output = completion + reasoning;
}

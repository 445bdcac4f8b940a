/* effort.h - how hard a model shall think: one word for the user, many forms on the wire.
 *
 * --effort none|low|medium|high|max, or --thinking TOKENS for who counts. A provider's or model's row says by "thinking" how it is
 * asked for (enum thinking_style), and by "efforts" the provider's own words where they differ. A wire writes what the style asks
 * for; with STYLE_NONE it writes nothing. */
#ifndef LLM_EFFORT_H
#define LLM_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

enum effort { EFFORT_UNSAID, EFFORT_NONE, EFFORT_LOW, EFFORT_MEDIUM, EFFORT_HIGH, EFFORT_MAX, EFFORTS };

enum thinking_style {
	STYLE_NONE,             /* the model does not think, or nothing is said about it */
	STYLE_WIRE,             /* as the wire has it by itself */
	STYLE_BUDGET,           /* anthropic: thinking {enabled, budget_tokens} */
	STYLE_ADAPTIVE,         /* anthropic: thinking {adaptive} and output_config.effort */
	STYLE_EFFORT,           /* openai-chat: reasoning_effort */
	STYLE_REASONING,        /* openai-chat (OpenRouter): reasoning {effort} or {max_tokens} */
	STYLE_TYPE,             /* openai-chat: thinking {type: enabled|disabled} */
	STYLE_TYPE_EFFORT,      /* both of it (DeepSeek) */
	STYLE_ENABLE,           /* openai-chat (Qwen): enable_thinking, thinking_budget */
	STYLE_TEMPLATE,         /* openai-chat (vLLM, SGLang): chat_template_kwargs {enable_thinking} */
	STYLE_SPLIT,            /* openai-chat (MiniMax): reasoning_split */
	STYLE_LEVEL,            /* gemini 3: thinkingLevel; STYLE_WIRE is thinkingBudget */
	STYLES
};

/* The word's value; EFFORTS, STYLES: there is none. */
enum effort effort_find(const char *word);
const char *effort_name(enum effort e);                /* "" for EFFORT_UNSAID */
enum thinking_style style_find(const char *word);      /* "none", "wire", "budget" ... as in the list above */
const char *style_name(enum thinking_style s);

/* Tokens of thought for an effort: none 0, low 1024, medium 4096, high 16384, max 32768; -1 for EFFORT_UNSAID. */
int64_t effort_budget(enum effort e);
/* The effort that a budget amounts to: 0 none, up to 2048 low, 8192 medium, 24576 high, above it max; < 0 unsaid. */
enum effort effort_of_budget(int64_t tokens);

struct call_options;
/* What was asked for, by word or by number, whichever was said; the number wins where both were. */
enum effort effort_wanted(const struct call_options *o);
int64_t budget_wanted(const struct call_options *o);   /* -1 nothing said, 0 off */
/* The provider's word for the effort that is wanted; NULL: nothing is to be said. */
const char *effort_word(const struct call_options *o);

#endif

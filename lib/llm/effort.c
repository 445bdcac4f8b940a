#include "llm/effort.h"

#include <string.h>

#include "llm/wire.h"

static const char *const efforts[EFFORTS] = {
	[EFFORT_UNSAID] = "", [EFFORT_NONE] = "none", [EFFORT_LOW] = "low", [EFFORT_MEDIUM] = "medium", [EFFORT_HIGH] = "high",
	[EFFORT_MAX] = "max"};

static const char *const styles[STYLES] = {
	[STYLE_NONE] = "none", [STYLE_WIRE] = "wire", [STYLE_BUDGET] = "budget", [STYLE_ADAPTIVE] = "adaptive",
	[STYLE_EFFORT] = "effort", [STYLE_REASONING] = "reasoning", [STYLE_TYPE] = "type", [STYLE_TYPE_EFFORT] = "type_effort",
	[STYLE_ENABLE] = "enable", [STYLE_TEMPLATE] = "template", [STYLE_SPLIT] = "split", [STYLE_LEVEL] = "level"};

static int find(const char *const *names, int n, const char *word)
{
	int i = 0;

	while (i < n && (!*word || strcmp(names[i], word) != 0))
		i++;
	return i;
}

enum effort effort_find(const char *word)
{
	return (enum effort)find(efforts, EFFORTS, word);
}

const char *effort_name(enum effort e)
{
	return efforts[e];
}

enum thinking_style style_find(const char *word)
{
	return (enum thinking_style)find(styles, STYLES, word);
}

const char *style_name(enum thinking_style s)
{
	return styles[s];
}

int64_t effort_budget(enum effort e)
{
	static const int64_t tokens[EFFORTS] = {
		[EFFORT_UNSAID] = -1, [EFFORT_NONE] = 0, [EFFORT_LOW] = 1024, [EFFORT_MEDIUM] = 4096, [EFFORT_HIGH] = 16384,
		[EFFORT_MAX] = 32768};

	return tokens[e];
}

enum effort effort_of_budget(int64_t tokens)
{
	return tokens < 0 ? EFFORT_UNSAID : tokens == 0 ? EFFORT_NONE : tokens <= 2048 ? EFFORT_LOW :
		tokens <= 8192 ? EFFORT_MEDIUM : tokens <= 24576 ? EFFORT_HIGH : EFFORT_MAX;
}

enum effort effort_wanted(const struct call_options *o)
{
	return o->thinking >= 0 ? effort_of_budget(o->thinking) : o->effort;
}

int64_t budget_wanted(const struct call_options *o)
{
	return o->thinking >= 0 ? o->thinking : effort_budget(o->effort);
}

const char *effort_word(const struct call_options *o)
{
	enum effort e = effort_wanted(o);
	const char *own = o->effort_words ? o->effort_words[e] : NULL;

	if (e == EFFORT_UNSAID)
		return NULL;
	return !own ? efforts[e] : *own ? own : NULL;
}

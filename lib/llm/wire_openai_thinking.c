/* wire_openai_thinking.c - the many ways in which providers of Chat Completions are asked to think, or not to.
 *
 * OpenAI: https://platform.openai.com/docs/guides/reasoning ; OpenRouter: https://openrouter.ai/docs/use-cases/reasoning-tokens ;
 * DeepSeek: https://api-docs.deepseek.com/zh-cn/guides/thinking_mode.md ; Qwen:
 * https://www.alibabacloud.com/help/en/model-studio/deep-thinking ; the others by their own pages. */
#include "llm/request.h"
#include "llm/wires.h"

static void type(struct jw *w, bool on)
{
	jw_key(w, "thinking");
	jw_obj(w);
	jw_kstr(w, "type", on ? "enabled" : "disabled");
	jw_end(w);
}

/* A number stays a number where one can be given. */
static void reasoning(struct jw *w, const struct call_options *o, const char *word)
{
	jw_key(w, "reasoning");
	jw_obj(w);
	if (o->thinking > 0)
		jw_ki64(w, "max_tokens", o->thinking);
	else
		jw_kstr(w, "effort", word);
	jw_end(w);
}

static void enable(struct jw *w, const struct call_options *o, bool on)
{
	jw_kbool(w, "enable_thinking", on);
	if (on)
		jw_ki64(w, "thinking_budget", budget_wanted(o));
}

void chat_thinking(struct jw *w, const struct call_options *o)
{
	const char *word = effort_word(o);
	bool on = effort_wanted(o) != EFFORT_NONE;

	if (!word)
		return;
	switch (o->style) {
	case STYLE_WIRE:
	case STYLE_EFFORT:
		jw_kstr(w, "reasoning_effort", word);
		break;
	case STYLE_REASONING:
		reasoning(w, o, word);
		break;
	case STYLE_TYPE:
		type(w, on);
		break;
	case STYLE_TYPE_EFFORT:
		type(w, on);
		if (on)
			jw_kstr(w, "reasoning_effort", word);
		break;
	case STYLE_ENABLE:
		enable(w, o, on);
		break;
	case STYLE_TEMPLATE:
		jw_key(w, "chat_template_kwargs");
		jw_obj(w);
		jw_kbool(w, "enable_thinking", on);
		jw_end(w);
		break;
	case STYLE_SPLIT:
		jw_kbool(w, "reasoning_split", on);
		break;
	case STYLE_NONE:
	case STYLE_BUDGET:
	case STYLE_ADAPTIVE:
	case STYLE_LEVEL:
	case STYLES:
		break;
	}
}

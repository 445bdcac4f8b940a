/* figures.c - the numbers that providers put into the words of a refusal: windows, prompts, limits. */
#include <ctype.h>
#include <string.h>

#include "llm/classify.h"

/* Three digits and no fourth: the comma before them is one of a number, not of a list such as [1,65537). */
static bool thousands(const char *s)
{
	return strspn(s, "0123456789") == 3;
}

/* Reads digits with commas between them, as in 1,048,576. *end is behind them. */
static int64_t number(const char *s, const char **end)
{
	int64_t n = 0;

	for (; isdigit((unsigned char)*s) || (*s == ',' && n > 0 && thousands(s + 1)); s++)
		if (*s != ',' && n < INT64_MAX / 100)
			n = n * 10 + (*s - '0');
	if (end)
		*end = s;
	return n;
}

/* The number right behind the first of these phrases that has one. */
static int64_t number_after(const char *text, const char *const *phrases)
{
	for (; *phrases; phrases++) {
		const char *at = strcasestr(text, *phrases);
		int64_t n = at ? number(at + strlen(*phrases), NULL) : 0;

		if (n > 0)
			return n;
	}
	return 0;
}

/* The number right before one of them. */
static int64_t number_before(const char *text, const char *const *phrases)
{
	for (; *phrases; phrases++) {
		const char *at = strcasestr(text, *phrases), *from = at;

		while (from && from > text && (isdigit((unsigned char)from[-1]) || from[-1] == ','))
			from--;
		while (from && *from == ',')
			from++;
		if (from && from < at)
			return number(from, NULL);
	}
	return 0;
}

int64_t overflow_limit(const char *text)
{
	static const char *const before[] = { "maximum context length is ", "maximum context length of ",
		"context window of ", "context length of ", "context length is only ", "context size (", "tokens allowed (",
		"limit of ", "maximum prompt length is ", "maximum of ", "limit for this model is ", "tpm): limit ", NULL };
	int64_t n = number_after(text, before);
	const char *sum;

	/* Anthropic: "prompt is too long: 210000 tokens > 200000 maximum", "exceed context limit: 190000 + 20000 > 200000" */
	sum = n ? NULL : strcasestr(text, "context limit: ");
	if (sum && (sum = strstr(sum, "> ")))
		n = number(sum + 2, NULL);
	return n ? n : number_after(text, (const char *const[]){ "tokens > ", NULL });
}

int64_t overflow_prompt(const char *text)
{
	static const char *const before[] = { "prompt contains at least ", "prompt contains ", "context limit: ",
		"prompt is too long: ", "input token count (", "tokens. your prompt has ", "request has ", NULL };
	static const char *const behind[] = { " in the messages", " in your prompt", " of text input", " input tokens",
		" in the prompt", NULL };
	int64_t n = number_after(text, before);

	return n ? n : number_before(text, behind);
}

int64_t output_cap(const char *text, int64_t asked)
{
	int64_t best = 0;

	for (const char *s = text; *s;) {
		bool inside = s > text && (isalnum((unsigned char)s[-1]) || strchr("-._", s[-1]));
		const char *end = s + 1;

		if (isdigit((unsigned char)*s)) {
			int64_t n = number(s, &end);

			if (*end == ')' && s > text && s[-1] == ',')
				n--;                     /* "[1,65537)": a half-open range */
			/* a number inside a name is none: gpt-4, claude-3-5 */
			if (!inside && n < asked && n > best && !(end[0] == '-' || end[0] == '_'))
				best = n;
		}
		s = end;
	}
	return best >= 16 ? best : 0;
}

#include "agent/instructions.h"

#include <regex.h>
#include <stddef.h>

/* The kinds that CheetahClaws looks for. A text can say the same in a thousand ways; this catches the copied ones. */
#define WORDS "[ \t]+(all[ \t]+)?(the[ \t]+|your[ \t]+|any[ \t]+)?"
#define BEFORE "(previous|prior|earlier|above)"
#define SECRETS "(key|token|secret|credential|id_rsa)"

static const struct {
	const char *pattern, *says;
} suspects[] = {
	{"ignore" WORDS BEFORE "[ \t]+(instruction|prompt|rule|message)", "tells to ignore earlier instructions"},
	{"disregard" WORDS "(" BEFORE "|instruction)", "tells to disregard what came before"},
	{"system[ \t]+prompt[ \t]+(override|overwrite|replace)|"
	 "(override|overwrite|replace)[ \t]+(the|your)[ \t]+system[ \t]+prompt", "wants to replace the system prompt"},
	{"(^|[.!?\n][ \t]*|from now on,?[ \t]+)you[ \t]+are[ \t]+now[ \t]", "gives a new role"},
	{"(^|\n)[ \t#>*-]*new[ \t]+instructions?[ \t]*:", "announces new instructions"},
	{"(curl|wget)[^\n]*\\$\\{?[a-z_]*(key|token|secret|password)", "sends a secret to a server"},
	{"(cat|echo|print|printenv|export)[^\n]*\\$\\{?[a-z_]*(anthropic|openai|api_?key|secret|token)", "prints a secret"},
	{"base64[^\n]*" SECRETS "|" SECRETS "[^\n]*[|][ \t]*base64", "encodes a secret"},
};

const char *instructions_suspect(const char *text)
{
	for (size_t i = 0; i < sizeof suspects / sizeof *suspects; i++) {
		regex_t re;
		if (regcomp(&re, suspects[i].pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
			continue;
		int hit = regexec(&re, text, 0, NULL, 0) == 0;
		regfree(&re);
		if (hit)
			return suspects[i].says;
	}
	return NULL;
}

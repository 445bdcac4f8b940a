/* arg.h - a tool's arguments, with an answer to the model when one is missing or wrong.
 *
 *   char *path = arg_str(j, input, "file_path", "Read", r);
 *   long limit;
 *   if (!path || arg_int(j, input, "limit", -1, 0, LONG_MAX, &limit, r) < 0) ...   // r is filled
 *   free(path);
 *
 * null counts as absent. A number in a string ("10") and a truth in a string ("true") are taken: models write them so. */
#ifndef TOOLS_ARG_H
#define TOOLS_ARG_H

#include <stdbool.h>

#include "json/json.h"
#include "tools/tool.h"

/* Required string, to be freed; NULL after tool_fail. arg_text takes an empty one too, arg_str does not. */
char *arg_str(const struct json *j, int input, const char *name, const char *tool, struct tool_result *r);
char *arg_text(const struct json *j, int input, const char *name, const char *tool, struct tool_result *r);

/* Optional: *out is NULL (string) or `absent` if it is not there. 0, or -1 after tool_fail. */
int arg_opt(const struct json *j, int input, const char *name, char **out, struct tool_result *r);
int arg_int(const struct json *j, int input, const char *name, long absent, long min, long max, long *out,
	struct tool_result *r);
int arg_bool(const struct json *j, int input, const char *name, bool *out, struct tool_result *r);

#endif

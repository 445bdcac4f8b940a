#include "tools/arg.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int find(const struct json *j, int input, const char *name)
{
	int v = json_get(j, input, name);
	return json_type(j, v) == JSON_NULL ? -1 : v;
}

char *arg_text(const struct json *j, int input, const char *name, const char *tool, struct tool_result *r)
{
	int v = find(j, input, name);
	if (v < 0)
		tool_fail(r, "%s needs the argument '%s'", tool, name);
	else if (json_type(j, v) != JSON_STRING)
		tool_fail(r, "the argument '%s' must be a string, not %s", name, json_type_name(json_type(j, v)));
	return json_dup(j, v);
}

char *arg_str(const struct json *j, int input, const char *name, const char *tool, struct tool_result *r)
{
	char *s = arg_text(j, input, name, tool, r);
	if (s && !*s) {
		tool_fail(r, "%s needs the argument '%s': it is empty", tool, name);
		free(s);
		return NULL;
	}
	return s;
}

int arg_opt(const struct json *j, int input, const char *name, char **out, struct tool_result *r)
{
	int v = find(j, input, name);
	*out = NULL;
	if (v < 0)
		return 0;
	*out = json_dup(j, v);
	if (*out && **out)
		return 0;
	if (*out) {                       /* "" is how some models leave an option out */
		free(*out);
		*out = NULL;
		return 0;
	}
	tool_fail(r, "the argument '%s' must be a string, not %s", name, json_type_name(json_type(j, v)));
	return -1;
}

static bool number(const struct json *j, int v, int64_t *out)
{
	if (json_type(j, v) == JSON_NUMBER)
		return json_i64(j, v, out) == 0;
	char *s = json_dup(j, v), *end = NULL;
	errno = 0;
	bool good = s && *s && (*out = strtoll(s, &end, 10), *end == '\0') && errno == 0;
	free(s);
	return good;
}

int arg_int(const struct json *j, int input, const char *name, long absent, long min, long max, long *out,
	struct tool_result *r)
{
	int v = find(j, input, name);
	int64_t n;
	*out = absent;
	if (v < 0 || json_eq(j, v, ""))
		return 0;
	if (!number(j, v, &n) || n < min || n > max) {
		tool_fail(r, "the argument '%s' must be a whole number from %ld%s", name, min, max < 1000000000 ? "" : " up");
		return -1;
	}
	*out = (long)n;
	return 0;
}

int arg_bool(const struct json *j, int input, const char *name, bool *out, struct tool_result *r)
{
	int v = find(j, input, name);
	*out = false;
	if (v < 0 || json_eq(j, v, "false") || json_eq(j, v, "False") || json_eq(j, v, ""))
		return 0;
	if (json_type(j, v) == JSON_BOOL || json_eq(j, v, "true") || json_eq(j, v, "True")) {
		*out = json_type(j, v) == JSON_STRING || json_true(j, v);
		return 0;
	}
	tool_fail(r, "the argument '%s' must be true or false", name);
	return -1;
}

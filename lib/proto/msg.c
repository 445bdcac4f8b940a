#include "proto/msg.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static const struct msg_line lines[MSG_KINDS] = {
	[MSG_UNKNOWN] = {"", CLASS_EVENT, ""},
#define LINE(id, name, class, doc) [MSG_##id] = {name, class, doc},
#define FIELD(id, name, type, need, doc)
#include "proto/msg.def"
#undef LINE
#undef FIELD
};

static const struct msg_field fields[] = {
#define LINE(id, name, class, doc)
#define FIELD(id, name, type, need, doc) {MSG_##id, name, type, need, doc},
#include "proto/msg.def"
#undef LINE
#undef FIELD
};

const struct msg_line *msg_lines(void)
{
	return lines;
}

const struct msg_field *msg_fields(size_t *n)
{
	*n = sizeof fields / sizeof *fields;
	return fields;
}

const char *msg_type_name(enum msg_type t)
{
	static const char *const names[] = {"string", "integer", "number or null", "boolean", "object", "array", "any value"};

	return names[t];
}

enum msg_kind msg_kind(const struct json *j)
{
	static const unsigned char length[MSG_KINDS] = {
		[MSG_UNKNOWN] = 0,
#define LINE(id, name, class, doc) [MSG_##id] = sizeof(name) - 1,
#define FIELD(id, name, type, need, doc)
#include "proto/msg.def"
#undef LINE
#undef FIELD
	};
	int role = json_get(j, 0, "role"), v = role >= 0 ? role : json_get(j, 0, "type");
	const char *raw;
	size_t n;

	/* Every line of a run comes by here: compare what is written first, decode only if that does not decide. */
	if (json_type(j, v) != JSON_STRING)
		return MSG_UNKNOWN;
	raw = json_raw(j, v, &n);
	raw++, n -= 2;
	for (int k = 1; k < MSG_KINDS; k++) {
		if ((lines[k].class == CLASS_MESSAGE) != (role >= 0))
			continue;
		if (n == length[k] ? !memcmp(raw, lines[k].name, n) : n > length[k] && json_eq(j, v, lines[k].name))
			return (enum msg_kind)k;
	}
	return MSG_UNKNOWN;
}

static bool has_type(const struct json *j, int v, enum msg_type t)
{
	enum json_type is = json_type(j, v);
	int64_t n;

	switch (t) {
	case T_STRING: return is == JSON_STRING;
	case T_INT: return json_i64(j, v, &n) == 0;
	case T_NUMBER: return is == JSON_NUMBER || is == JSON_NULL;
	case T_BOOL: return is == JSON_BOOL;
	case T_OBJECT: return is == JSON_OBJECT;
	case T_ARRAY: return is == JSON_ARRAY;
	case T_ANY: return is != JSON_NONE;
	}
	return false;
}

static int check_calls(const struct json *j, struct err *e)
{
	int calls = json_get(j, 0, "tool_calls"), k = 0;

	for (struct json_iter it = json_iter(j, calls); json_next(&it); k++) {
		enum json_type input = json_type(j, json_get(j, it.value, "input"));

		if (json_type(j, it.value) != JSON_OBJECT)
			return err_set(e, ST_DATA, "assistant: tool_calls[%d]: expected object", k);
		if (json_type(j, json_get(j, it.value, "id")) != JSON_STRING)
			return err_set(e, ST_DATA, "assistant: tool_calls[%d].id: expected string", k);
		if (json_type(j, json_get(j, it.value, "name")) != JSON_STRING)
			return err_set(e, ST_DATA, "assistant: tool_calls[%d].name: expected string", k);
		if (input != JSON_OBJECT && input != JSON_STRING)
			return err_set(e, ST_DATA, "assistant: tool_calls[%d].input: expected object", k);
	}
	return 0;
}

static int check_images(const struct json *j, const char *name, struct err *e)
{
	int k = 0;

	for (struct json_iter it = json_iter(j, json_get(j, 0, "images")); json_next(&it); k++)
		if (json_type(j, json_get(j, it.value, "media_type")) != JSON_STRING ||
		    json_type(j, json_get(j, it.value, "blob")) != JSON_STRING)
			return err_set(e, ST_DATA, "%s: images[%d]: expected {media_type, blob}", name, k);
	return 0;
}

int msg_check(const struct json *j, struct err *e)
{
	enum msg_kind kind = msg_kind(j);

	if (json_type(j, 0) != JSON_OBJECT)
		return err_set(e, ST_DATA, "expected an object, not %s", json_type_name(json_type(j, 0)));
	if (kind == MSG_UNKNOWN) {
		if (json_get(j, 0, "role") >= 0)
			return err_set(e, ST_DATA, "role: expected system, user, assistant or tool");
		if (json_type(j, json_get(j, 0, "type")) != JSON_STRING)
			return err_set(e, ST_DATA, "neither role nor type");
		return 0;
	}
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		int v;

		if (fields[i].kind != kind)
			continue;
		v = json_get(j, 0, fields[i].name);
		if (v < 0 && fields[i].need == REQUIRED)
			return err_set(e, ST_DATA, "%s: %s: missing", lines[kind].name, fields[i].name);
		if (v >= 0 && !has_type(j, v, fields[i].type))
			return err_set(e, ST_DATA, "%s: %s: expected %s, not %s", lines[kind].name, fields[i].name,
			               msg_type_name(fields[i].type), json_type_name(json_type(j, v)));
	}
	if (kind == MSG_ASSISTANT && check_calls(j, e) < 0)
		return -1;
	if ((kind == MSG_ASSISTANT || kind == MSG_TURN_DONE) && json_get(j, 0, "stop_reason") >= 0) {
		char *stop = json_dup(j, json_get(j, 0, "stop_reason"));
		bool known = stop && stop_parse(stop) != STOP_NONE;

		if (!known)
			err_set(e, ST_DATA, "%s: stop_reason: unknown value '%.60s'", lines[kind].name, stop ? stop : "");
		free(stop);
		if (!known)
			return -1;
	}
	return check_images(j, lines[kind].name, e);
}

static const struct {
	const char *name;
	int status;
} stops[] = {
#define STOP(id, name, status) {name, status},
#include "proto/stop.def"
#undef STOP
};

const char *stop_name(enum stop s)
{
	return s > STOP_NONE && s < STOP_COUNT ? stops[s].name : "";
}

enum stop stop_parse(const char *name)
{
	for (int i = 0; i < STOP_COUNT; i++)
		if (!strcmp(stops[i].name, name))
			return (enum stop)i;
	return STOP_NONE;
}

int stop_status(enum stop s)
{
	return s > STOP_NONE && s < STOP_COUNT ? stops[s].status : ST_FAILED;
}

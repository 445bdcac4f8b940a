/* msg.h - the lines that claws programs exchange: claws-messages(5).
 *
 * msg.def is the one list of them; from it come this enum, the names, the checker, the JSON schema and the man page's tables
 * (claws-msg schema, claws-msg table). */
#ifndef PROTO_MSG_H
#define PROTO_MSG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/status.h"
#include "json/json.h"

enum msg_kind {
	MSG_UNKNOWN,      /* an object with a type that this version does not know: passed on */
#define LINE(id, name, class, doc) MSG_##id,
#define FIELD(id, name, type, need, doc)
#include "proto/msg.def"
#undef LINE
#undef FIELD
	MSG_KINDS
};

/* message: has role; durable, goes to the model. control: drives the ring. event: may be dropped. log: in session logs only. */
enum msg_class { CLASS_MESSAGE, CLASS_CONTROL, CLASS_EVENT, CLASS_LOG };

enum msg_need { OPTIONAL, REQUIRED };

enum msg_type { T_STRING, T_INT, T_NUMBER /* or null */, T_BOOL, T_OBJECT, T_ARRAY, T_ANY };

struct msg_field {
	enum msg_kind kind;
	const char *name;
	enum msg_type type;
	enum msg_need need;
	const char *doc;
};

struct msg_line {
	const char *name;     /* value of role or type */
	enum msg_class class;
	const char *doc;
};

const struct msg_line *msg_lines(void);            /* MSG_KINDS entries, by kind; [MSG_UNKNOWN].name is "" */
const struct msg_field *msg_fields(size_t *n);
const char *msg_type_name(enum msg_type t);

/* The kind of a parsed line; MSG_UNKNOWN for an unknown type or an object with neither role nor type. */
enum msg_kind msg_kind(const struct json *j);

/* Does it obey claws-messages(5)? 0, or -1 with what is wrong ("tool: tool_call_id: missing"). Unknown keys and types are fine. */
int msg_check(const struct json *j, struct err *e);

/* stop_reason of a message or turn_done. */
enum stop {
#define STOP(id, name, status) STOP_##id,
#include "proto/stop.def"
#undef STOP
	STOP_COUNT, STOP_NONE = -1
};
const char *stop_name(enum stop s);
enum stop stop_parse(const char *name);                 /* STOP_NONE if unknown */
int stop_status(enum stop s);                           /* exit status of a run that ends with it (enum status) */

#endif

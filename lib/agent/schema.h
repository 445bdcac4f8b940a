/* schema.h - does a value fit a JSON schema? The part of JSON Schema that tools use for their arguments.
 *
 *   struct buf why; buf_init(&why, SCHEMA_WHY_MAX);
 *   if (schema_check(&sj, schema, &j, input, &why) < 0) ...why.p: "/lines/0: expected integer, got string"...
 *
 * Keywords: type (a name or a list of names), enum, const, properties, required, additionalProperties (false or a schema),
 * items (one schema), minItems, maxItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength
 * (characters, not bytes). Other keywords are ignored, as JSON Schema wants it. Places are JSON pointers (RFC 6901); the
 * root, which RFC 6901 writes as an empty string, is called "the arguments".
 *
 * Both parsed texts stay the caller's. Limits: the first SCHEMA_FAULTS faults are named. */
#ifndef AGENT_SCHEMA_H
#define AGENT_SCHEMA_H

#include "base/buf.h"
#include "json/json.h"

#define SCHEMA_FAULTS 5
#define SCHEMA_WHY_MAX ((size_t)4096)

/* 0 if value v of j fits schema s of sj; else -1, and what is wrong is appended to why, joined by "; ". */
int schema_check(const struct json *sj, int s, const struct json *j, int v, struct buf *why);

#endif

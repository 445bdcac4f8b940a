/* schema_plain.h - a tool's JSON Schema in the few words that every provider takes. Private to lib/llm.
 *
 *   schema_plain(&out, &j, schema);        // appends one JSON object
 *
 * Google (native and by its OpenAI-compatible endpoint) and some gateways refuse the whole request for a keyword they do not
 * know. What they take is an allow-list, the subset of OpenAPI 3.0 in https://ai.google.dev/api/caching#Schema : type, nullable,
 * description, enum of strings, properties, required, items, anyOf, minimum, maximum, {min,max}{Items,Length}, and of format
 * what belongs to a type. The rest is written in these words where that is equal, else said in the description or left out:
 *
 * - $ref within the schema is put in place; one that leads back into itself ends there as an object without further detail;
 *   allOf is joined; a type list is nullable, or anyOf; const and anyOf of const are enum;
 * - enum and const that are no strings become a sentence of the description: the type stays what it was;
 * - the top is an object, without anyOf: the properties of its branches are joined, none of them required by that.
 *
 * Always legal, whatever comes in (no schema at all is an object without properties). Property names and their order stay; equal
 * input gives equal bytes. Limits: SCHEMA_LEVELS of nesting, SCHEMA_NODES schemas and SCHEMA_BYTES; what lies beyond
 * is given by its type alone. The text of one description or enum is never cut. */
#ifndef LLM_SCHEMA_PLAIN_H
#define LLM_SCHEMA_PLAIN_H

#include "json/json.h"

#define SCHEMA_LEVELS 20
#define SCHEMA_NODES 4096
#define SCHEMA_BYTES ((size_t)256 << 10)

/* Returns the number of properties at the top. */
size_t schema_plain(struct buf *out, const struct json *j, int schema);

#endif

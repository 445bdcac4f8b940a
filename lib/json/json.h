/* json.h - reading JSON: a text and the tokens that lie on it.
 *
 * json_parse checks a whole text once (RFC 8259, strict) and notes where each value begins and ends. Nothing is copied or
 * converted: numbers keep all their digits, strings are decoded when asked for, any value can be handed on byte
 * for byte (json_raw). One parse of a reused struct allocates nothing.
 *
 *   struct json j = JSON_INIT;
 *   if (json_parse(&j, text, len, &e) < 0) ...          // text is borrowed and must outlive j's use
 *   int v = json_get(&j, 0, "usage");                   // 0 is the root; a value is an index; -1 is "not there"
 *   json_i64(&j, json_get(&j, v, "input"), &n);         // every function takes -1 and says "not there"
 *   json_free(&j);
 *
 * Refused, with byte offset and reason: anything RFC 8259 refuses; invalid UTF-8; a raw or escaped NUL; a lone surrogate
 * escape; a key twice in one object (two readers would see two values); nesting deeper than JSON_DEPTH; a text
 * over JSON_MAX bytes, or of more values than the caller allows. json_repair
 * mends what can be mended beforehand. Keys are compared as decoded, with case. */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define JSON_DEPTH 512
#define JSON_MAX (1u << 30)

enum json_type { JSON_NONE, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

enum json_fault {          /* why json_parse refused; in json.fault */
	JSON_FINE, JSON_SYNTAX, JSON_CUT /* valid so far, but the text ends */, JSON_BAD_UTF8, JSON_NUL, JSON_SURROGATE,
	JSON_CONTROL /* raw control character in a string */, JSON_DUPLICATE, JSON_DEEP, JSON_LONG
};

struct json_token;

struct json {
	const char *text;
	size_t len;
	struct json_token *tok;
	uint32_t n, cap;
	enum json_fault fault;
	size_t fault_at;       /* byte offset */
	uint32_t most;         /* the caller's: values and keys that a text may have (16 bytes each), else JSON_LONG; 0: any number */
};

#define JSON_INIT {0, 0, 0, 0, 0, JSON_FINE, 0, 0}

/* 0, or -1 with e (ST_DATA; may be NULL), fault and fault_at set. White space around the value is allowed. */
int json_parse(struct json *j, const char *text, size_t len, struct err *e);
void json_free(struct json *j);

enum json_type json_type(const struct json *j, int v);
const char *json_type_name(enum json_type t);

int json_get(const struct json *j, int object, const char *key);
/* Keys and indexes joined by dots: "choices.0.delta.content". */
int json_path(const struct json *j, int v, const char *path);
int json_count(const struct json *j, int v);   /* elements or members; 0 for others */

/* for (struct json_iter it = json_iter(&j, v); json_next(&it);) it.key (-1 in arrays), it.value */
struct json_iter {
	const struct json *j;
	int key, value;
	uint32_t at, end;
	bool object;
};
struct json_iter json_iter(const struct json *j, int v);
bool json_next(struct json_iter *it);

/* The value's own bytes (borrowed from the text, not terminated); NULL and 0 for -1. */
const char *json_raw(const struct json *j, int v, size_t *len);

/* Strings, decoded. */
int json_str(const struct json *j, int v, struct buf *out);      /* appends; -1 if not a string (or out full) */
char *json_dup(const struct json *j, int v);                     /* to be freed; NULL if not a string */
bool json_eq(const struct json *j, int v, const char *s);        /* is the string s */
size_t json_strlen(const struct json *j, int v);                 /* decoded length; 0 if not a string */

/* Numbers. json_i64: exact integers only ("1", "-7", "1e3" and "1.0" too); -1 if there is none or it does not fit. */
int json_i64(const struct json *j, int v, int64_t *out);
int json_double(const struct json *j, int v, double *out);
bool json_true(const struct json *j, int v);                     /* is the literal true */

/* Appends text with what is mendable mended: invalid UTF-8, lone surrogate escapes, NUL raw or escaped -> U+FFFD; raw
 * control characters in strings -> their escapes. Works on any bytes; syntax is not looked at. Returns the number of
 * repairs. */
size_t json_repair(struct buf *out, const char *text, size_t len);

/* Appends the value in one canonical form: no white space, keys sorted by bytes, strings with the fewest escapes,
 * numbers as written. Equal values give equal bytes. */
int json_canon(struct buf *out, const struct json *j, int v);

/* Appends the value without white space, keys in their order. */
int json_compact(struct buf *out, const struct json *j, int v);

#endif

/* jw.h - writing JSON: a stream of values into a buffer.
 *
 *   struct jw w = jw_begin(&b);
 *   jw_obj(&w); jw_kstr(&w, "type", "error"); jw_ki64(&w, "line", 7); jw_end(&w);
 *
 * Commas, escapes and UTF-8 repair (U+FFFD) are the writer's business. Integers keep 64 bits. jw_raw takes JSON text as it
 * is (a slice from json_raw, say): the caller vouches for it. Escaped are only '"', '\\' and control characters
 * (U+0000-001F, U+007F), so equal values give equal bytes. A full buffer shows in b->over. */
#ifndef JSON_JW_H
#define JSON_JW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define JW_DEPTH 64 /* deeper is a bug of the caller: abort */

struct jw {
	struct buf *b;
	int depth;
	bool after_key;
	unsigned char close[JW_DEPTH], some[JW_DEPTH];
};

struct jw jw_begin(struct buf *b);
void jw_obj(struct jw *w);
void jw_arr(struct jw *w);
void jw_end(struct jw *w);              /* closes the innermost object or array */
void jw_key(struct jw *w, const char *key);
void jw_strn(struct jw *w, const char *s, size_t n);
void jw_str(struct jw *w, const char *s);   /* NULL is null */
void jw_i64(struct jw *w, int64_t n);
void jw_double(struct jw *w, double d);     /* shortest form that reads back the same; not finite: null */
void jw_bool(struct jw *w, bool b);
void jw_null(struct jw *w);
void jw_raw(struct jw *w, const char *json, size_t n);

/* Key and value at once. */
void jw_kstr(struct jw *w, const char *key, const char *s);
void jw_kstrn(struct jw *w, const char *key, const char *s, size_t n);
void jw_ki64(struct jw *w, const char *key, int64_t n);
void jw_kbool(struct jw *w, const char *key, bool b);
void jw_kraw(struct jw *w, const char *key, const char *json, size_t n);

/* Appends s as the inside of a JSON string (no quotes). */
void jw_escape(struct buf *b, const char *s, size_t n);

#endif

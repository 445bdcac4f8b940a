/* build.h - what the wires use to build an answer, piece by piece. Private to lib/llm; programs see answer.h.
 *
 * Values are read straight out of the parsed event (j, v) into where they belong; -1 and values of another type add
 * nothing. */
#ifndef LLM_BUILD_H
#define LLM_BUILD_H

#include "llm/answer.h"

enum part_kind { PART_TEXT, PART_THINKING, PART_CALL, PART_OTHER };

/* A block of an answer under way. */
struct part {
	enum part_kind kind;
	int64_t index;
	int call;                 /* PART_CALL: which; else -1 */
	struct buf raw;           /* the block as it began, JSON text */
	struct buf text;          /* what deltas add to its text, thinking, data or input */
	struct buf sig;           /* signature */
	struct buf cites;         /* citations, joined by commas */
	bool done;                /* openai-responses: raw is the item as a whole */
};

/* Text that holds thoughts or calls by the quirks of the model is taken apart (build_text.c). */
void build_text(struct answer *a, const struct json *j, int v);
void build_text_init(struct answer *a);
void build_text_end(struct answer *a);      /* after the wire's end: what was held comes out */
void build_text_free(struct answer *a);
void build_think(struct answer *a, const struct json *j, int v);

/* A new call; returns its index, or -1 beyond the limit. id and name may be -1. */
int build_call(struct answer *a, int64_t index, const struct json *j, int id, int name);
void build_name(struct answer *a, int call, const struct json *j, int name);   /* came later */
/* A string is a piece of JSON text, any other value the whole, right or wrong; null is nothing. */
void build_args(struct answer *a, int call, const struct json *j, int v);

struct part *build_part(struct answer *a, enum part_kind kind, int64_t index);
void part_free(struct part *p);

/* v: the value of "error", or a whole error body; body its text. Fills a->error, the first one wins. in_stream: the
 * HTTP status says nothing about it. */
void build_error(struct answer *a, const struct json *j, int v, bool in_stream);
void build_error_text(struct answer *a, const char *text, size_t n);          /* an error in no known shape */
/* An exception of an AWS event stream: its name, and its data as JSON or words. */
void build_exception(struct answer *a, const char *name, const char *data, size_t len);
void build_fail(struct answer *a, const char *class, const char *what);       /* our own finding: "protocol" */
void build_classify(struct answer *a);

/* Reads string (or number, as written) v into b, replacing it; false and unchanged if it is none or empty. */
bool build_str(struct buf *b, const struct json *j, int v);
void build_count(int64_t *n, const struct json *j, int v);                     /* replaces *n if v is an integer >= 0 */

#endif

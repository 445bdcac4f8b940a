/* textcalls_int.h - what the files of textcalls share. */
#ifndef LLM_TEXTCALLS_INT_H
#define LLM_TEXTCALLS_INT_H

#include "llm/textcalls.h"

/* Text that is read: at is where; work is what may still be spent. */
struct cursor {
	const char *p;
	size_t n, at;
	size_t work;
};

enum mark { MARK_NONE, MARK_OPENER, MARK_FUNCTION /* an opener that is part of the call */, MARK_CLOSER, MARK_BETWEEN };

/* The mark that p begins with, its length in *len. *may: none yet, but it may become one (or a longer one). */
enum mark mark_at(const char *p, size_t n, size_t *len, bool *may);

bool skip(struct cursor *c, const char *word);      /* is it there? then go past it */
void skip_space(struct cursor *c);
/* A JSON value as models write it: bare keys, quotes as <|"|>, raw line ends in strings. Appends JSON. */
bool loose_value(struct cursor *c, struct buf *out);

/* Reads the calls after the opener that p begins with. How many bytes they take, closers included; 0: none. */
size_t textcalls_read(const struct textcalls_out *out, const char *p, size_t n, size_t *work);
/* No call can follow this opener whatever comes. *sure: nothing more is to be asked. */
bool textcalls_hopeless(const struct textcalls_out *out, const char *p, size_t n, bool *sure);

#endif

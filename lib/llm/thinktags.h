/* thinktags.h - thoughts that a model writes into its text, between <think> and </think>: told apart from what it says.
 *
 * Only at the very beginning of the text (white space may come before): what stands between the tags is a thought, the white
 * space after the closing tag is dropped, and from there on all is text, even a tag. <thinking> is the same. Without the
 * closing tag all is a thought. Pieces may be cut anywhere; held back is only what may still become a tag.
 *
 *   struct thinktags t = {0};
 *   thinktags_feed(&t, s, n, &out); ...; thinktags_end(&t, &out);
 *
 * Ownership: pieces that `out` gets are valid during the call. It keeps THINKTAGS_HELD bytes at the most; with more white
 * space than half of that in front a tag is text. */
#ifndef LLM_THINKTAGS_H
#define LLM_THINKTAGS_H

#include <stdbool.h>
#include <stddef.h>

#define THINKTAGS_HELD 32

struct thinktags_out {
	void (*text)(void *arg, const char *s, size_t n);
	void (*thought)(void *arg, const char *s, size_t n);
	void *arg;
};

struct thinktags {
	enum { THINKTAGS_START, THINKTAGS_IN, THINKTAGS_AFTER, THINKTAGS_TEXT } at;
	int tag;                         /* which one opened */
	char held[THINKTAGS_HELD];       /* what may become a tag */
	size_t n, lead;                  /* bytes held; how many of them are the white space in front */
};

void thinktags_feed(struct thinktags *t, const char *s, size_t n, const struct thinktags_out *out);
void thinktags_end(struct thinktags *t, const struct thinktags_out *out);

#endif

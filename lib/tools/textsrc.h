/* textsrc.h - a file as a stream of text, in constant memory.
 *
 *   struct textsrc s;
 *   textsrc_init(&s, fd);                    // the descriptor stays the caller's
 *   while (textsrc_more(&s) > 0) { s.p[0..s.n) ...; textsrc_take(&s, k); }
 *   textsrc_free(&s);
 *
 * UTF-16 with a byte order mark is converted to UTF-8 (a lone surrogate becomes U+FFFD), a UTF-8 byte order mark is left out;
 * everything else comes as it is. pos counts the bytes that were taken, after conversion. */
#ifndef TOOLS_TEXTSRC_H
#define TOOLS_TEXTSRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define TEXTSRC_BLOCK 65536

enum textsrc_form { TEXTSRC_BYTES, TEXTSRC_UTF8_BOM, TEXTSRC_UTF16LE, TEXTSRC_UTF16BE };

struct textsrc {
	const char *p;           /* what is there */
	size_t n;
	uint64_t pos;
	enum textsrc_form form;  /* known after the first textsrc_more */
	bool end;
	struct err err;

	int fd;
	char *block;
	size_t block_len;        /* bytes in block: for UTF-16 the raw ones that are left over */
	struct buf text;         /* converted */
	bool begun;
};

void textsrc_init(struct textsrc *s, int fd);
void textsrc_free(struct textsrc *s);

/* 1: p and n hold at least one byte; 0: the end; -1: s->err. */
int textsrc_more(struct textsrc *s);
void textsrc_take(struct textsrc *s, size_t n);

/* What kind of file starts with these bytes, if it is one that is not text: "a PNG image", ...; NULL otherwise. *image. */
const char *textsrc_magic(const char *p, size_t n, bool *image);

#endif

/* stage.h - a filter of the pipeline: lines in on stdin, lines out on stdout.
 *
 *   struct stage s; stage_init(&s, "claws-compact");
 *   struct msg m;
 *   while (stage_read(&s, &m) > 0)
 *       if (m.kind == MSG_USER) ...; else stage_pass(&s, &m);
 *   return stage_end(&s);
 *
 * stage_read flushes the output before it blocks. Programs with several descriptors call stage_next (never blocks) and, when it
 * says 0, flush, poll s.in.fd with their others, and stage_fill.
 *
 * Bad input lines never reach the caller and never end the stream: an `error` event with class input and the line
 * number goes out. Mended (and delivered, with a notice of the kind) are: invalid UTF-8, lone surrogates, NUL, raw control
 * characters. Left out are: what is not JSON, not an object, has a key twice, is too deep or too long, or is a last line cut
 * in the middle; s.bad counts those. Blank lines are skipped. Output fails: the program ends with 74. */
#ifndef PROTO_STAGE_H
#define PROTO_STAGE_H

#include <stdbool.h>

#include "proto/lines.h"
#include "proto/msg.h"
#include "proto/out.h"
#include "json/jw.h"

struct stage {
	const char *name;
	struct lines in;
	struct out out;
	struct json json;
	struct buf mended, made;
	struct jw jw;
	bool ring;               /* CLAWS_RING is set, or a ring line was seen */
	bool eof;
	bool no_time;            /* CLAWS_NO_TIME: ids are counters, no ts */
	unsigned long bad;       /* lines left out */
	char letter;             /* of the ids this program makes */
	unsigned long id_count;  /* under no_time: the highest of our letter seen or made */
};

struct msg {
	enum msg_kind kind;
	const char *line;        /* mended where it had to be; no line end; valid until the next read */
	size_t len;
	const struct json *json; /* its tokens; valid as long */
	unsigned long no;
};

void stage_init(struct stage *s, const char *name, char id_letter);
int stage_read(struct stage *s, struct msg *m);      /* 1, or 0 at end of file */
int stage_next(struct stage *s, struct msg *m);      /* 1, or 0: no whole line buffered (s->eof: and none will come) */
void stage_fill(struct stage *s);                    /* one read(2) */
bool stage_ready(const struct stage *s);             /* a whole line is buffered */
void stage_flush(struct stage *s);

void stage_pass(struct stage *s, const struct msg *m);              /* byte for byte (as mended) */
void stage_write(struct stage *s, const char *line, size_t len);

/* Make a line: stage_begin opens the object with "type" (or "role") set; add keys; stage_emit sends it. Not nested. */
struct jw *stage_begin(struct stage *s, enum msg_kind kind);
void stage_emit(struct stage *s);

/* A fresh id: under no_time LETTER and the next number (continued from those seen in passing messages), else LETTER and
 * 16 random letters and digits. */
void stage_id(struct stage *s, char id[24]);
int64_t stage_now_ms(void);                          /* since 1970 */
void stage_kts(struct stage *s, struct jw *w);       /* "ts": now, unless no_time */

void stage_notice(struct stage *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void stage_error(struct stage *s, const char *class, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Flushes and frees; returns ST_OK, or ST_DATA if lines were left out and this is not a ring. */
int stage_end(struct stage *s);

#endif

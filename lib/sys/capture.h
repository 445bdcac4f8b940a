/* capture.h - the output of a command, bounded: its head and its tail, and all of it in a spill file.
 *
 *   struct capture c;
 *   capture_init(&c, 32000, blobdir, CAPTURE_SPILL);     // blobdir -1: no spill file
 *   capture_add(&c, p, n); ...                            // cost: linear; memory: at most max
 *   capture_end(&c);
 *   capture_text(&c, 32000, "/path/of/blobdir", &out);
 *   capture_free(&c);
 *
 * The first two thirds of max bytes and the last third are held. Once more than max came, all of it goes to a blob
 * (blob.h) as well, up to the cap. When that cannot be written (full disk) capture goes on in memory and `note` says
 * why and where. capture_add never fails. */
#ifndef SYS_CAPTURE_H
#define SYS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/blob.h"

#define CAPTURE_SPILL ((uint64_t)64 << 20)

struct capture {
	size_t max, head_max, tail_max;
	struct buf head;
	char *tail;                /* a ring of tail_max bytes */
	size_t tail_at, tail_len;
	uint64_t total;
	int blobdir;
	uint64_t cap;
	struct blob blob;
	bool spilling, ended;
	char name[BLOB_NAME];      /* of the spill, after capture_end; "" if none */
	struct err note;           /* note.status != 0: why there is no spill file */
};

void capture_init(struct capture *c, size_t max, int blobdir, uint64_t cap);
void capture_add(struct capture *c, const char *p, size_t n);
void capture_end(struct capture *c);
void capture_free(struct capture *c);

/* Appends the text: valid UTF-8 (invalid bytes and NUL become U+FFFD) of at most limit bytes (limit <= max), plus, when
 * something had to go, a line in the middle that says how many bytes were left out and where all of it is
 * (dir/sha256-...; dir may be NULL). Cut at line ends where one is near, never inside a character.
 * After capture_end. When limit < total and there is no spill yet, one is made. */
void capture_text(struct capture *c, size_t limit, const char *dir, struct buf *out);

/* How long the text is without a limit; more than max when something was dropped. */
size_t capture_size(const struct capture *c);

/* Appends s as valid UTF-8: what is invalid, and NUL, becomes U+FFFD. */
void capture_valid(struct buf *out, const char *s, size_t n);

#endif

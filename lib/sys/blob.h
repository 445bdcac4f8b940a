/* blob.h - content by its hash: what a session keeps beside its log.
 *
 * A blob's name in lines is "sha256:HEX" (64 lower-case digits); its file in the blob directory is sha256-HEX, mode
 * 0600, written to a temporary file and renamed. The same content twice is one file; an existing one is left alone.
 * Only such names are accepted: a blob is never a path.
 *
 *   char name[BLOB_NAME];
 *   blob_put(dirfd, data, len, name, &e);
 *
 *   struct blob b;                                       // a stream, kept up to a cap
 *   blob_begin(&b, dirfd, 64 << 20, &e); blob_add(&b, p, n, &e); ...  blob_end(&b, name, &e);
 *
 * 0, or -1 with e. blob_put is on disk when it returns; a stream is not synced unless b.sync is set after begin. */
#ifndef SYS_BLOB_H
#define SYS_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "sys/atomic.h"

#define BLOB_NAME 72             /* "sha256:" + 64 + NUL */

struct blob {
	struct atomic a;
	struct sha256 hash;
	uint64_t total, kept, cap;   /* bytes given, bytes in the file, its limit */
	bool open, sync;
};

int blob_put(int dirfd, const void *data, size_t len, char name[BLOB_NAME], struct err *e);

/* What exceeds cap is counted in total but not kept. add after a failure does nothing and fails again. */
int blob_begin(struct blob *b, int dirfd, uint64_t cap, struct err *e);
int blob_add(struct blob *b, const void *p, size_t n, struct err *e);
int blob_end(struct blob *b, char name[BLOB_NAME], struct err *e);   /* ends it, also when it fails */
void blob_abort(struct blob *b);                                     /* also of one not begun, if zeroed */

/* Appends the content to out (its max is the limit). A bad name is ST_DATA, as is content that does not match its
 * hash, a symlink, or what is not a regular file; ST_NOINPUT when there is none. */
int blob_get(int dirfd, const char *name, struct buf *out, struct err *e);

bool blob_name_ok(const char *name);

/* "sha256:HEX" -> "sha256-HEX", the file's name. -1 for a bad name. */
int blob_file(const char *name, char file[BLOB_NAME]);

#endif

/* hash.h - SHA-256 (FIPS 180-4), for blobs, approvals and recordings. Not for passwords. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t len;
	unsigned char block[64];
	size_t fill;
};

#define SHA256_HEX 65 /* 64 digits and NUL */

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, unsigned char out[32]);

/* All at once, as 64 lower-case hex digits. */
void sha256_hex(char out[SHA256_HEX], const void *p, size_t n);

#endif

/* utf8.h - UTF-8 (RFC 3629): no surrogates, nothing above U+10FFFF, shortest form only. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Length in bytes (1-4) of the valid character at s[0..n), its code point in *cp (may be NULL); 0 if invalid or cut. */
int utf8_decode(const char *s, size_t n, uint32_t *cp);

/* Writes 1-4 bytes to out and returns how many. A surrogate or a number above U+10FFFF becomes U+FFFD. */
int utf8_encode(char out[4], uint32_t cp);

/* Bytes of s that are valid from its start: n if all of it is. */
size_t utf8_valid_prefix(const char *s, size_t n);

/* Appends s; every maximal invalid part becomes one U+FFFD. Returns how many were replaced. */
size_t utf8_repair(struct buf *out, const char *s, size_t n);

/* The largest m <= n that does not cut a character of s in two. */
size_t utf8_cut(const char *s, size_t n);

#endif

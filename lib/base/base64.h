/* base64.h - RFC 4648 section 4, the usual alphabet with padding.
 *
 * base64_decode is strict, as section 3.5 and 3.3 allow: padding must be there, no white space or other foreign
 * characters, no bits left over. -1 and nothing added for anything else, or where out is full. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#include "base/buf.h"

int base64_encode(struct buf *out, const void *p, size_t n);
int base64_decode(struct buf *out, const char *p, size_t n);

#endif

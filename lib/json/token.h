/* token.h - how json.c's tokens are stored; only lib/json includes it. */
#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

#include <stdint.h>

#include "json/json.h"

/* A value, or a member's key (which its value follows). Containers are followed by what they contain. */
struct json_token {
	uint32_t start, end;   /* bytes [start, end) of the text, quotes included */
	uint32_t next;         /* index after this value and all in it; of a key: hash of the decoded key */
	unsigned type : 3;     /* enum json_type */
	unsigned escaped : 1;  /* a string that holds a backslash */
	unsigned count : 28;   /* elements, members */
};

/* Appends the string between the quotes, decoded. The text has been checked. */
int json_decode(struct buf *out, const char *s, size_t n);

#endif

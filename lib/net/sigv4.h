/* sigv4.h - requests to AWS signed with Signature Version 4.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 *
 *   struct sigv4 k = {.access = ..., .secret = ..., .token = NULL, .region = "us-east-1", .service = "bedrock"};
 *   struct sigv4_request r = {.method = "POST", .host = "bedrock-runtime...:8443", .path = "/model/a%3A0/converse", ...};
 *   sigv4_sign(&authorization, &k, &r, time(NULL), date);
 *   ...send the headers content-type: TYPE, x-amz-date: DATE, x-amz-security-token: TOKEN, authorization: AUTHORIZATION...
 *
 * Signed are host, content-type (where one is given), x-amz-date and x-amz-security-token (where there is a token), and
 * the body. The path is encoded once more for the signature, as every service but S3 wants it: a model's name has a colon,
 * which is %3A in the request and %253A in what is signed. That is why libcurl's CURLOPT_AWS_SIGV4 is not used: 7.88.1
 * signs the path as it is sent. No "." or ".." and no "//" in a path: they would have to be resolved before.
 *
 * A signature holds for a few minutes: make one for each attempt. Ownership: all borrowed during the call. */
#ifndef NET_SIGV4_H
#define NET_SIGV4_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"

struct sigv4 {
	const char *access, *secret;
	const char *token;            /* of a session; NULL: none */
	const char *region, *service;
};

struct sigv4_request {
	const char *method;
	const char *host;             /* as in the header host: with the port where it is not the scheme's own */
	const char *path;             /* as sent, without the query; "": "/" */
	const char *query;            /* without '?', as sent; "" */
	const char *type;             /* content-type; NULL: none */
	const void *body;
	size_t len;
};

#define SIGV4_DATE 17             /* "20150830T123600Z" and NUL */

/* Appends the value of the header authorization, and writes that of x-amz-date. */
void sigv4_sign(struct buf *out, const struct sigv4 *k, const struct sigv4_request *r, time_t now, char date[SIGV4_DATE]);

/* RFC 2104 with SHA-256. */
void hmac_sha256(unsigned char out[32], const void *key, size_t nkey, const void *p, size_t n);

#endif

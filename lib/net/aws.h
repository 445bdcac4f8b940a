/* aws.h - credentials and region of AWS, where its own tools look for them.
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
 *
 *   struct aws_keys k;
 *   if (aws_keys_load(&k, &e) < 0) ...
 *   if (k.access) ... k.access, k.secret, k.token (may be NULL), k.from
 *   aws_keys_free(&k);
 *   char *region = aws_region();                     // NULL: nobody says; to be freed
 *
 * Keys: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else those of the profile AWS_PROFILE ("default") in
 * AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) or AWS_CONFIG_FILE (~/.aws/config). A profile that is named in the
 * environment goes before keys that are there. Region: AWS_REGION, AWS_DEFAULT_REGION, the profile's. Not known: sso,
 * role_arn, credential_process and the metadata of machines in the cloud; `aws configure export-credentials` has keys of
 * all these.
 *
 * No keys at all are no error. Errors: ST_CONFIG for half of a pair, a named profile without keys, a key that cannot be sent.
 * Ownership: strings belong to the struct; aws_keys_free wipes them. */
#ifndef NET_AWS_H
#define NET_AWS_H

#include "base/err.h"

struct aws_keys {
	char *access, *secret, *token;
	char *from;                   /* "AWS_ACCESS_KEY_ID", or the file's name */
};

int aws_keys_load(struct aws_keys *k, struct err *e);
void aws_keys_free(struct aws_keys *k);
char *aws_region(void);

/* The region that a host's name of AWS says ("bedrock-runtime.eu-west-1.amazonaws.com"); to be freed; NULL: none. */
char *aws_region_of(const char *host);

#endif

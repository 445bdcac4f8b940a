/* auth.c - requests to AWS: who signs them, and the signature. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "net/aws.h"
#include "net/sigv4.h"
#include "stream.h"

#define SERVICE "bedrock"

struct auth_aws {
	struct aws_keys keys;
	char *region, *host;
};

void auth_region(void)
{
	char *region = getenv("AWS_REGION") ? NULL : aws_region();

	if (region)
		setenv("AWS_REGION", region, 1);
	free(region);
}

static bool bearer(const struct stream *s)
{
	for (char **k = s->p.key_env; k && *k; k++)
		if (getenv(*k) && *getenv(*k))
			return true;
	return s->p.key_file || s->p.key_command;
}

/* As libcurl would write it; it is sent as signed, so that both are the same. */
static char *host_of(const struct url *u)
{
	const char *open = strchr(u->host, ':') ? "[" : "", *close = *open ? "]" : "";

	return u->port == (u->tls ? 443 : 80) ? xasprintf("%s%s%s", open, u->host, close)
	                                      : xasprintf("%s%s%s:%d", open, u->host, close, u->port);
}

int auth_aws(struct stream *s, struct err *e)
{
	const char *general = getenv("CLAWS_API_KEY");
	struct aws_keys k;

	if (strcmp(*s->p.auth ? s->p.auth : s->wire->auth, "sigv4") || bearer(s))
		return 0;
	if (aws_keys_load(&k, e) < 0)
		return s->replaying || s->conf.explain ? 0 : -1;
	if (!k.access) {
		if ((general && *general) || s->p.key_optional || s->conf.dry_run || s->conf.explain || s->replaying)
			return 0;
		return err_set(e, ST_CONFIG, "no credentials for %s: set %s, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or put "
			"keys into ~/.aws/credentials (of any other source: aws configure export-credentials)", s->p.name,
			s->p.key_env[0] ? s->p.key_env[0] : "AWS_BEARER_TOKEN_BEDROCK");
	}
	s->aws = xcalloc(1, sizeof *s->aws);
	s->aws->keys = k;
	s->aws->region = aws_region_of(s->target.host);
	if (!s->aws->region)
		s->aws->region = aws_region();
	if (!s->aws->region)
		s->aws->region = xstrdup("us-east-1");
	if (s->aws->region[strspn(s->aws->region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")]) {
		err_set(e, ST_CONFIG, "the region is '%.100s': expected a name such as us-east-1; AWS_REGION, AWS_DEFAULT_REGION "
			"or the profile in ~/.aws/config says it", s->aws->region);
		auth_free(s);
		return -1;
	}
	s->aws->host = host_of(&s->target);
	/* The secret itself is never sent, so nobody can send it back; the token is, and AWS quotes it in its refusals. */
	s->key = xstrdup(k.token ? k.token : k.secret);
	return 1;
}

static void put(struct stream *s, size_t at, char *line)
{
	if (at < s->nheader) {
		explicit_bzero(s->header[at], strlen(s->header[at]));
		free(s->header[at]);
	} else {
		s->nheader = at + 1;
	}
	s->header[at] = line;
}

void auth_header(struct stream *s)
{
	if (s->nheader + 4 > HEADERS)
		die(ST_BUG, "too many headers");
	put(s, s->nheader, xasprintf("host: %s", s->aws->host));
	put(s, s->nheader, xstrdup("authorization: AWS4-HMAC-SHA256"));
	s->auth = s->nheader;
}

void auth_sign(struct stream *s)
{
	const struct auth_aws *a = s->aws;
	struct sigv4 k;
	struct sigv4_request r;
	char date[SIGV4_DATE], *path, *query;
	struct buf line;

	if (!a)
		return;
	k = (struct sigv4){a->keys.access, a->keys.secret, a->keys.token, a->region, SERVICE};
	path = xstrndup(s->url.p + s->target.path, s->target.query - s->target.path);
	query = xstrdup(s->url.p[s->target.query] ? s->url.p + s->target.query + 1 : "");
	r = (struct sigv4_request){.method = "POST", .host = a->host, .path = path, .query = query,
		.type = "application/json", .body = s->body.p, .len = s->body.len};
	buf_init(&line, BUF_NOLIMIT);
	buf_adds(&line, "authorization: ");
	sigv4_sign(&line, &k, &r, time(NULL), date);
	put(s, s->auth - 1, buf_detach(&line));
	put(s, s->auth, xasprintf("x-amz-date: %s", date));
	if (a->keys.token)
		put(s, s->auth + 1, xasprintf("x-amz-security-token: %s", a->keys.token));
	buf_free(&line);
	free(path);
	free(query);
}

void auth_free(struct stream *s)
{
	if (!s->aws)
		return;
	aws_keys_free(&s->aws->keys);
	free(s->aws->region);
	free(s->aws->host);
	free(s->aws);
	s->aws = NULL;
}

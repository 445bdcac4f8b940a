#include "net/sigv4.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

void hmac_sha256(unsigned char out[32], const void *key, size_t nkey, const void *p, size_t n)
{
	unsigned char block[64] = {0}, inner[64], outer[64];
	struct sha256 s;

	if (nkey > sizeof block) {
		sha256_init(&s);
		sha256_add(&s, key, nkey);
		sha256_end(&s, block);
	} else {
		memcpy(block, key, nkey);
	}
	for (size_t i = 0; i < sizeof block; i++) {
		inner[i] = block[i] ^ 0x36;
		outer[i] = block[i] ^ 0x5c;
	}
	sha256_init(&s);
	sha256_add(&s, inner, sizeof inner);
	sha256_add(&s, p, n);
	sha256_end(&s, out);
	sha256_init(&s);
	sha256_add(&s, outer, sizeof outer);
	sha256_add(&s, out, 32);
	sha256_end(&s, out);
	explicit_bzero(block, sizeof block);
	explicit_bzero(inner, sizeof inner);
	explicit_bzero(outer, sizeof outer);
	explicit_bzero(&s, sizeof s);
}

/* RFC 3986 unreserved characters stay, and the slashes of a path. */
static void encode_path(struct buf *out, const char *path)
{
	if (!*path)
		path = "/";
	for (; *path; path++) {
		if (isalnum((unsigned char)*path) || strchr("-._~/", *path))
			buf_addc(out, *path);
		else
			buf_addf(out, "%%%02X", (unsigned char)*path);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Parameters in order, each with its '='. They are encoded already. */
static void sort_query(struct buf *out, const char *query)
{
	char *all = xstrdup(query), *rest = all, *word;
	char **list = NULL;
	size_t n = 0;

	while ((word = strsep(&rest, "&"))) {
		if (!*word)
			continue;
		list = xrealloc(list, n + 1, sizeof *list);
		list[n++] = word;
	}
	if (n)
		qsort(list, n, sizeof *list, by_text);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s%s", i ? "&" : "", list[i], strchr(list[i], '=') ? "" : "=");
	free(list);
	free(all);
}

static void canonical(struct buf *out, const char *names, const struct sigv4 *k, const struct sigv4_request *r, const char *date)
{
	char digest[SHA256_HEX];

	buf_addf(out, "%s\n", r->method);
	encode_path(out, r->path);
	buf_addc(out, '\n');
	sort_query(out, r->query);
	buf_addc(out, '\n');
	if (r->type)
		buf_addf(out, "content-type:%s\n", r->type);
	buf_addf(out, "host:%s\nx-amz-date:%s\n", r->host, date);
	if (k->token)
		buf_addf(out, "x-amz-security-token:%s\n", k->token);
	sha256_hex(digest, r->body, r->len);
	buf_addf(out, "\n%s\n%s", names, digest);
}

static void sign(unsigned char out[32], const struct sigv4 *k, const char *date, const char *text)
{
	char *first = xasprintf("AWS4%s", k->secret);
	char day[9];
	const char *const steps[] = {day, k->region, k->service, "aws4_request", text};
	unsigned char key[32];

	snprintf(day, sizeof day, "%.8s", date);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		if (i == 0)
			hmac_sha256(out, first, strlen(first), steps[i], strlen(steps[i]));
		else
			hmac_sha256(out, key, sizeof key, steps[i], strlen(steps[i]));
		memcpy(key, out, sizeof key);
	}
	explicit_bzero(key, sizeof key);
	explicit_bzero(first, strlen(first));
	free(first);
}

void sigv4_sign(struct buf *out, const struct sigv4 *k, const struct sigv4_request *r, time_t now, char date[SIGV4_DATE])
{
	char names[80], digest[SHA256_HEX];
	unsigned char signature[32];
	struct buf text, scope, request;
	struct tm tm;

	buf_init(&text, BUF_NOLIMIT);
	buf_init(&scope, BUF_NOLIMIT);
	buf_init(&request, BUF_NOLIMIT);
	gmtime_r(&now, &tm);
	strftime(date, SIGV4_DATE, "%Y%m%dT%H%M%SZ", &tm);
	snprintf(names, sizeof names, "%shost;x-amz-date%s", r->type ? "content-type;" : "", k->token ? ";x-amz-security-token" : "");
	canonical(&request, names, k, r, date);
	sha256_hex(digest, request.p, request.len);
	buf_addf(&scope, "%.8s/%s/%s/aws4_request", date, k->region, k->service);
	buf_addf(&text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", date, scope.p, digest);
	sign(signature, k, date, text.p);
	buf_addf(out, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=", k->access, scope.p, names);
	buf_addhex(out, signature, sizeof signature);
	explicit_bzero(request.p, request.len);   /* the token is in it */
	buf_free(&text);
	buf_free(&scope);
	buf_free(&request);
}

/* url.h - what must be known of a URL before a secret is sent there.
 *
 *   struct url u;
 *   if (url_parse("https://api.example.com/v1", &u, &e) < 0) ...
 *   if (!u.tls && !url_loopback(&u)) ...                      // plain http to another machine
 *   url_join(&out, "https://api.example.com/v1", "/chat/completions", &e);
 *
 * Accepted is less than RFC 3986 allows, so that no other parser can read such a text as another host: http or https, a
 * name of letters, digits, '.', '-', '_' or an address, a port, a path, a query. No user name, no fragment, no white
 * space, control character or backslash.
 * http+unix://%2Frun%2Fx.sock/v1 is the path /v1 on the server behind a unix socket: the socket's absolute path, percent-encoded,
 * stands for the host, which is then "localhost".
 * Errors: ST_CONFIG, without the text of the query (it may hold a secret). */
#ifndef NET_URL_H
#define NET_URL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct url {
	bool tls;
	char host[256];   /* lower case; IPv6 without brackets */
	char socket[104]; /* absolute path of a unix socket; "": TCP. Shorter than sun_path, unix(7) */
	int port;         /* the scheme's where none is given */
	size_t path;      /* where the path (or the query, or the end) begins in the text */
	size_t query;     /* where '?' is, or the end */
};

int url_parse(const char *s, struct url *u, struct err *e);

/* This machine: a unix socket, "localhost", or a loopback address in its usual spelling. */
bool url_loopback(const struct url *u);

/* base with path added before its query. A base that ends in the path's first part ("/v1") or in the whole path does
 * not get it twice. */
int url_join(struct buf *out, const char *base, const char *path, struct err *e);

#endif

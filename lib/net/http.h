/* http.h - one HTTP request at a time over a kept connection, inside the caller's own poll loop. libcurl stays behind it.
 *
 *   struct http h;
 *   if (http_init(&h, 0, &e) < 0) ...
 *   http_start(&h, &request, &e);
 *   while (http_busy(&h))
 *       http_wait(&h, fds, n, timeout_ms, &e);  // sleeps until the network or fds have something; calls the sink
 *   if (h.failed) ... h.class, h.text
 *   http_free(&h);
 *
 * Kept from request to request: the connection (HTTP/2 where the server offers it by ALPN), the name's address, the TLS session.
 * http_stop ends a request early. A kept connection that the server had closed meanwhile is replaced and the request sent
 * once more, unless a line of an answer had come. Redirects are not followed (a key would go along), only http and https are
 * spoken, no cookie, no .netrc. http+unix://%2Fsocket/path goes over a unix socket. Proxies come from the environment as curl(1)
 * has it, but never for this machine itself.
 *
 * persist_ms > 0: requests go through the keeper (keeper.h), which keeps connections for all runs of this user; it is
 * started if it is not there and ends when it was idle for that long. Whatever is wrong with it, the request is then made from
 * here, without a word. libcurl is loaded when the first request is made from here; by http_init if persist_ms is 0.
 *
 * Times: connect_ms for the connection, first_ms from start (or the last byte that left) to the first byte of the
 * answer, idle_ms from byte to byte. 0: no limit. A limit on the whole is the caller's.
 *
 * Failures are told in h.class, claws-messages(5) error.class: "timeout", "connection", "config" (certificate, proxy,
 * protocol), "protocol". Texts name the host, never the rest of the URL. Ownership: what a request points to must live until it
 * ends; headers are copied. */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct http_sink {
	void (*head)(void *arg, int status);                               /* of the final answer, not of 1xx */
	void (*header)(void *arg, const char *name, const char *value);   /* trimmed; name in lower case */
	/* decoded; -1: hang up. 1: nothing of it was taken, come again after transfer_resume (transfer.h; not through http_start) */
	int (*body)(void *arg, const char *p, size_t n);
};

struct http_request {
	const char *url;
	const char *body;             /* to POST; NULL: a GET */
	size_t len;
	const char *const *headers;   /* "name: value", NULL-terminated */
	long connect_ms, first_ms, idle_ms;
	bool no_proxy;
	const char *ca_file;          /* certificates to trust instead of the system's; NULL: the system's */
	const struct http_sink *sink;
	void *arg;
};

struct http {
	void *net, *direct, *kept;        /* struct transfers, struct transfer, struct keeper_call; NULL: none yet */
	long persist_ms;
	bool active, failed;
	struct http_request request;      /* under way */
	char **headers;                   /* its copy of the headers */
	const char *class;
	char text[700];
};

int http_init(struct http *h, long persist_ms, struct err *e);
void http_free(struct http *h);
int http_start(struct http *h, const struct http_request *r, struct err *e);
bool http_busy(const struct http *h);
void http_stop(struct http *h);
void http_touch(struct http *h);      /* the caller was busy elsewhere: silence counts from now */

/* Waits at most timeout_ms (-1: no limit) for the network or fds, whose revents are then as poll(2) sets them, and
 * handles what the network brought. Also without a request: then only fds and the time count. */
int http_wait(struct http *h, struct pollfd *fds, size_t n, long timeout_ms, struct err *e);

#endif

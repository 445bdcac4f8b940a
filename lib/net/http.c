#include "net/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "sys/io.h"

#define HTTP_FDS 8   /* descriptors of the caller */

static void http_fail(struct http *h, const char *class, const char *what, const char *why)
{
	h->failed = true;
	h->class = class;
	snprintf(h->text, sizeof h->text, "%s%s%s", what, *why ? ": " : "", why);
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct http *h = arg;

	n *= size;
	h->got_byte = true;
	h->since = io_now_ms();
	if (h->sink->body(h->arg, p, n) < 0) {
		h->hung_up = true;
		return 0;
	}
	return n;
}

/* One line of a head; libcurl gives it with its line end and not terminated. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct http *h = arg;
	char line[8192], *value;
	size_t len = n * size;

	h->got_byte = true;
	h->since = io_now_ms();
	while (len && isspace((unsigned char)p[len - 1]))
		len--;
	if (len == 0 || len >= sizeof line)
		return n * size;
	memcpy(line, p, len);
	line[len] = 0;
	if (!strncmp(line, "HTTP/", 5)) {
		value = strchr(line, ' ');
		h->status = value ? (int)strtol(value, NULL, 10) : 0;
		if (h->status >= 200)
			h->sink->head(h->arg, h->status);
		return n * size;
	}
	value = strchr(line, ':');
	if (h->status < 200 || !value)
		return n * size;
	*value++ = 0;
	for (char *c = line; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	while (*value == ' ' || *value == '\t')
		value++;
	h->sink->header(h->arg, line, value);
	return n * size;
}

int http_init(struct http *h, struct err *e)
{
	memset(h, 0, sizeof *h);
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return err_set(e, ST_UNAVAILABLE, "libcurl does not start");
	h->multi = curl_multi_init();
	h->easy = curl_easy_init();
	if (!h->multi || !h->easy) {
		http_free(h);
		return err_set(e, ST_TEMP, "no memory for libcurl");
	}
	return 0;
}

void http_free(struct http *h)
{
	http_stop(h);
	if (h->easy)
		curl_easy_cleanup(h->easy);
	if (h->multi)
		curl_multi_cleanup(h->multi);
	h->easy = h->multi = NULL;
	curl_global_cleanup();
}

bool http_busy(const struct http *h)
{
	return h->active;
}

void http_stop(struct http *h)
{
	if (h->active)
		curl_multi_remove_handle(h->multi, h->easy);
	h->active = false;
	if (h->headers)
		curl_slist_free_all(h->headers);
	h->headers = NULL;
}

void http_touch(struct http *h)
{
	h->since = io_now_ms();
}

static int http_headers(struct http *h, const struct http_request *r, struct err *e)
{
	struct curl_slist *list = NULL, *more;

	/* "Expect:" alone: do not wait for a 100-continue before a long body */
	for (size_t i = 0; i == 0 || r->headers[i - 1]; i++) {
		more = curl_slist_append(list, i == 0 ? "Expect:" : r->headers[i - 1]);
		if (!more) {
			curl_slist_free_all(list);
			return err_set(e, ST_TEMP, "no memory for the request's headers");
		}
		list = more;
	}
	h->headers = list;
	return 0;
}

static CURLcode http_options(struct http *h, const struct http_request *r)
{
	CURL *c = h->easy;
	CURLcode bad = CURLE_OK;
#define SET(option, value) (bad = bad ? bad : curl_easy_setopt(c, option, value))
	curl_easy_reset(c);   /* keeps connections, addresses and TLS sessions */
	SET(CURLOPT_URL, r->url);
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_POSTFIELDS, r->body);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->len);
	SET(CURLOPT_HTTPHEADER, h->headers);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
#if CURL_AT_LEAST_VERSION(7, 85, 0)
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
	SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	SET(CURLOPT_ACCEPT_ENCODING, "gzip");
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, r->connect_ms > 0 ? r->connect_ms : (long)INT_MAX);   /* 0: libcurl's own 300 s */
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, h);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, h);
	SET(CURLOPT_ERRORBUFFER, h->curl_text);
	if (r->ca_file)
		SET(CURLOPT_CAINFO, r->ca_file);
	if (r->no_proxy)
		SET(CURLOPT_PROXY, "");
#if CURL_AT_LEAST_VERSION(7, 87, 0)
	SET(CURLOPT_QUICK_EXIT, 1L);   /* a request that is stopped does not wait for the name's answer */
#endif
#undef SET
	/* A wish: an attempt that got no connection (no such name) has left its buffer in the handle, and while it is there
	 * libcurl answers with CURLE_BAD_FUNCTION_ARGUMENT. The buffer has the size from then. */
	curl_easy_setopt(c, CURLOPT_BUFFERSIZE, 65536L);
	return bad;
}

int http_start(struct http *h, const struct http_request *r, struct err *e)
{
	CURLcode bad;

	http_stop(h);
	h->failed = h->got_byte = h->hung_up = false;
	h->class = NULL;
	h->text[0] = h->curl_text[0] = 0;
	h->sink = r->sink;
	h->arg = r->arg;
	h->first_ms = r->first_ms;
	h->idle_ms = r->idle_ms;
	h->since = io_now_ms();
	h->sent = 0;
	if (http_headers(h, r, e) < 0)
		return -1;
	bad = http_options(h, r);
	if (bad)
		return err_set(e, ST_CONFIG, "libcurl refuses the request: %s", curl_easy_strerror(bad));
	if (curl_multi_add_handle(h->multi, h->easy))
		return err_set(e, ST_TEMP, "libcurl does not take the request");
	h->active = h->fresh = true;
	return 0;
}

/* Why the transfer failed, in the words and the class that a caller acts on. */
static void http_explain(struct http *h, CURLcode code)
{
	const char *why = h->curl_text[0] ? h->curl_text : curl_easy_strerror(code);

	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		http_fail(h, "timeout", "no connection in time", why);
		break;
	case CURLE_PEER_FAILED_VERIFICATION: case CURLE_SSL_CACERT_BADFILE: case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_CERTPROBLEM:
		http_fail(h, "config", "the server cannot be trusted", why);
		break;
	case CURLE_URL_MALFORMAT: case CURLE_UNSUPPORTED_PROTOCOL: case CURLE_COULDNT_RESOLVE_PROXY:
		http_fail(h, "config", "the address or the proxy cannot be used", why);
		break;
	case CURLE_BAD_CONTENT_ENCODING: case CURLE_WEIRD_SERVER_REPLY:
		http_fail(h, "protocol", "not an answer in HTTP", why);
		break;
	case CURLE_OUT_OF_MEMORY:
		http_fail(h, "internal", "no memory", why);
		break;
	default:
		http_fail(h, "connection", h->got_byte ? "connection lost" : "connection failed", why);
	}
}

/* Has the server been silent for too long? Milliseconds left, or -1 without a limit. */
static long http_patience(struct http *h, long long now)
{
	long limit = h->got_byte ? h->idle_ms : h->first_ms;
	long long left;
	curl_off_t sent = 0;

	if (!h->active || limit <= 0)
		return -1;
	left = h->since + limit - now;
	if (left > 0 || h->got_byte)
		return left > 0 ? (long)left : 0;
	/* a long request on a slow line is not the server's silence */
	curl_easy_getinfo(h->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	if (sent <= h->sent)
		return 0;
	h->sent = sent;
	h->since = now;
	return limit;
}

static void http_finish(struct http *h, CURLcode code)
{
	if (code && !h->hung_up)
		http_explain(h, code);
	http_stop(h);
}

static int http_perform(struct http *h, struct err *e)
{
	CURLMsg *m;
	int running, left;
	CURLMcode bad = curl_multi_perform(h->multi, &running);

	if (bad)
		return err_set(e, ST_BUG, "libcurl: %s", curl_multi_strerror(bad));
	while ((m = curl_multi_info_read(h->multi, &left)))
		if (m->msg == CURLMSG_DONE && h->active)
			http_finish(h, m->data.result);
	return 0;
}

int http_wait(struct http *h, struct pollfd *fds, size_t n, long timeout_ms, struct err *e)
{
	struct curl_waitfd extra[HTTP_FDS];
	long left = http_patience(h, io_now_ms());
	int happened = 0;
	char why[64];

	if (n > HTTP_FDS)
		return err_set(e, ST_BUG, "http_wait: too many descriptors");
	for (size_t i = 0; i < n; i++) {
		extra[i].fd = fds[i].fd;
		extra[i].events = (short)((fds[i].events & POLLIN ? CURL_WAIT_POLLIN : 0) |
			(fds[i].events & POLLOUT ? CURL_WAIT_POLLOUT : 0));
		extra[i].revents = 0;
		fds[i].revents = 0;
	}
	if (left >= 0 && (timeout_ms < 0 || left < timeout_ms))
		timeout_ms = left;
	if (timeout_ms < 0)
		timeout_ms = 60 * 60 * 1000;   /* curl_multi_poll has no "for ever"; the caller's loop comes again */
	if (h->fresh)
		timeout_ms = 0;   /* nothing to wait for before libcurl has opened the connection */
	h->fresh = false;
	if (timeout_ms > 0 && curl_multi_poll(h->multi, extra, (unsigned)n, (int)timeout_ms, &happened))
		return err_set(e, ST_BUG, "libcurl cannot wait");
	for (size_t i = 0; i < n && happened > 0; i++)
		if (extra[i].revents) {   /* libcurl hides POLLERR and POLLHUP: ask again */
			while (poll(fds, (nfds_t)n, 0) < 0 && errno == EINTR)
				;
			break;
		}
	if (!h->active)
		return 0;
	if (http_perform(h, e) < 0)
		return -1;
	if (h->active && http_patience(h, io_now_ms()) == 0) {
		snprintf(why, sizeof why, "nothing came for %ld s", (h->got_byte ? h->idle_ms : h->first_ms) / 1000);
		http_fail(h, "timeout", h->got_byte ? "the answer stalled" : "no answer", why);
		http_stop(h);
	}
	return 0;
}

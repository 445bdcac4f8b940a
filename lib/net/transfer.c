#include "net/transfer.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "net/libcurl.h"
#include "net/url.h"
#include "sys/io.h"

#define HEAD_MAX ((size_t)256 << 10)   /* of all lines of the head, interim answers and trailers included */

struct transfers {
	struct libcurl curl;
	CURLM *multi;
	struct transfer *active;
	struct curl_waitfd *extra;
	size_t room;
	bool fresh;   /* a transfer was begun: libcurl has to open its connection before there is something to wait for */
};

static void fail(struct transfer *t, const char *class, const char *what, const char *why)
{
	t->failed = true;
	t->class = class;
	snprintf(t->text, sizeof t->text, "%s%s%s%s%.512s", what, *t->where ? " at " : "", t->where, *why ? ": " : "", why);
}

/* ---- what comes ---- */

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	int said;

	n *= size;
	t->got_byte = true;
	t->since = io_now_ms();
	said = t->sink->body(t->arg, p, n);
	if (said > 0) {
		t->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	if (said < 0) {
		t->hung_up = true;
		return 0;
	}
	return n;
}

/* One line of a head; libcurl gives it with its line end and not terminated. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	char line[8192], *value;
	size_t len = n * size;

	t->got_byte = true;
	t->since = io_now_ms();
	t->head += len;
	if (t->head > HEAD_MAX) {
		fail(t, "protocol", "not an answer in HTTP", "its head has no end");
		return 0;
	}
	while (len && isspace((unsigned char)p[len - 1]))
		len--;
	if (len == 0 || len >= sizeof line)
		return n * size;
	memcpy(line, p, len);
	line[len] = 0;
	if (!strncmp(line, "HTTP/", 5)) {
		value = strchr(line, ' ');
		t->status = value ? (int)strtol(value, NULL, 10) : 0;
		if (t->status >= 200)
			t->sink->head(t->arg, t->status);
		return n * size;
	}
	value = strchr(line, ':');
	if (t->status < 200 || !value)
		return n * size;
	*value++ = 0;
	for (char *c = line; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	while (*value == ' ' || *value == '\t')
		value++;
	t->sink->header(t->arg, line, value);
	return n * size;
}

/* ---- begin and end ---- */

struct transfers *transfers_open(struct err *e)
{
	struct transfers *m = xcalloc(1, sizeof *m);

	if (libcurl_load(&m->curl, e) < 0) {
		free(m);
		return NULL;
	}
	m->multi = m->curl.multi_init();
	if (!m->multi) {
		transfers_close(m);
		err_set(e, ST_TEMP, "no memory for libcurl");
		return NULL;
	}
	return m;
}

void transfers_close(struct transfers *m)
{
	if (!m)
		return;
	if (m->multi)
		m->curl.multi_cleanup(m->multi);
	libcurl_unload(&m->curl);
	free(m->extra);
	free(m);
}

void transfer_stop(struct transfer *t)
{
	struct curl_slist *list = t->headers;

	if (t->active) {
		struct transfer **p = &t->net->active;

		while (*p != t)
			p = &(*p)->next;
		*p = t->next;
		t->net->curl.multi_remove_handle(t->net->multi, t->easy);
	}
	t->active = t->paused = false;
	for (struct curl_slist *l = list; l; l = l->next)
		explicit_bzero(l->data, strlen(l->data));   /* the key */
	if (list)
		t->net->curl.slist_free_all(list);
	t->headers = NULL;
}

void transfer_free(struct transfer *t)
{
	transfer_stop(t);
	if (t->easy)
		t->net->curl.easy_cleanup(t->easy);
	t->easy = NULL;
}

void transfer_touch(struct transfer *t)
{
	t->since = io_now_ms();
}

void transfer_resume(struct transfer *t)
{
	if (!t->active || !t->paused)
		return;
	t->paused = false;
	t->since = io_now_ms();
	t->net->curl.easy_pause(t->easy, CURLPAUSE_CONT);   /* may call the sink at once */
}

static int set_headers(struct transfer *t, const struct http_request *r, struct err *e)
{
	struct curl_slist *list = NULL, *more;

	/* "Expect:" alone: do not wait for a 100-continue before a long body */
	for (size_t i = 0; i == 0 || r->headers[i - 1]; i++) {
		more = t->net->curl.slist_append(list, i == 0 ? "Expect:" : r->headers[i - 1]);
		if (!more) {
			if (list)
				t->net->curl.slist_free_all(list);
			return err_set(e, ST_TEMP, "no memory for the request's headers");
		}
		list = more;
	}
	t->headers = list;
	return 0;
}

#define SET(option, value) (bad = bad ? bad : c->easy_setopt(t->easy, option, value))

static CURLcode set_target(struct transfer *t, const struct http_request *r)
{
	const struct libcurl *c = &t->net->curl;
	CURLcode bad = CURLE_OK;
	struct url u;
	char *url;

	if (url_parse(r->url, &u, NULL) < 0)
		memset(&u, 0, sizeof u);   /* libcurl says what is wrong with it, when it comes to that */
	snprintf(t->where, sizeof t->where, "%s", u.socket);
	if (*u.socket) {
		url = xasprintf("http://localhost%s%s", r->url[u.path] == '/' ? "" : "/", r->url + u.path);
		SET(CURLOPT_URL, url);
		SET(CURLOPT_UNIX_SOCKET_PATH, u.socket);
		free(url);
	} else {
		SET(CURLOPT_URL, r->url);
	}
	if (r->no_proxy || url_loopback(&u))
		SET(CURLOPT_PROXY, "");
	if (r->body) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, r->body);
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->len);
	}
	if (r->ca_file) {
		SET(CURLOPT_CAINFO, r->ca_file);
		SET(CURLOPT_PROXY_CAINFO, r->ca_file);
	}
	return bad;
}

static CURLcode set_options(struct transfer *t, const struct http_request *r)
{
	const struct libcurl *c = &t->net->curl;
	CURLcode bad;

	c->easy_reset(t->easy);   /* keeps connections, addresses and TLS sessions */
	bad = set_target(t, r);
	SET(CURLOPT_PRIVATE, (void *)t);
	SET(CURLOPT_HTTPHEADER, t->headers);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	/* Not CURLOPT_PIPEWAIT: libcurl 7.88 wakes one of those that wait for the first answer of a server, the others when an
	 * answer is over. So the first ones of many at once have connections of their own, and later ones share. */
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
	SET(CURLOPT_WRITEDATA, (void *)t);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, (void *)t);
	SET(CURLOPT_ERRORBUFFER, t->curl_text);
#if CURL_AT_LEAST_VERSION(7, 87, 0)
	SET(CURLOPT_QUICK_EXIT, 1L);   /* a request that is stopped does not wait for the name's answer */
#endif
	/* A wish: an attempt that got no connection (no such name) has left its buffer in the handle, and while it is there
	 * libcurl answers with CURLE_BAD_FUNCTION_ARGUMENT. The buffer has the size from then. */
	c->easy_setopt(t->easy, CURLOPT_BUFFERSIZE, 65536L);
	return bad;
}

int transfer_start(struct transfer *t, struct transfers *m, const struct http_request *r, struct err *e)
{
	CURLcode bad;

	transfer_stop(t);
	t->net = m;
	if (!t->easy)
		t->easy = m->curl.easy_init();
	if (!t->easy)
		return err_set(e, ST_TEMP, "no memory for libcurl");
	t->failed = t->got_byte = t->hung_up = t->again = false;
	t->class = NULL;
	t->text[0] = t->curl_text[0] = 0;
	t->status = 0;
	t->head = 0;
	t->sink = r->sink;
	t->arg = r->arg;
	t->first_ms = r->first_ms;
	t->idle_ms = r->idle_ms;
	t->since = io_now_ms();
	t->sent = 0;
	t->alive = 0;
	if (set_headers(t, r, e) < 0)
		return -1;
	bad = set_options(t, r);
	if (bad)
		return err_set(e, ST_CONFIG, "libcurl refuses the request: %s", m->curl.easy_strerror(bad));
	if (m->curl.multi_add_handle(m->multi, t->easy))
		return err_set(e, ST_TEMP, "libcurl does not take the request");
	t->next = m->active;
	m->active = t;
	t->active = m->fresh = true;
	return 0;
}

/* ---- ends ---- */

/* Why the transfer failed, in the words and the class that a caller acts on. */
static void explain(struct transfer *t, CURLcode code)
{
	const char *why = t->curl_text[0] ? t->curl_text : t->net->curl.easy_strerror(code);
	char text[512];
	long connect = 0;

	t->net->curl.easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &connect);
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		fail(t, "timeout", "no connection in time", why);
		break;
	case CURLE_SSL_CACERT_BADFILE:
		snprintf(text, sizeof text, "%.300s; CURL_CA_BUNDLE or SSL_CERT_FILE names it: correct or unset it", why);
		fail(t, "config", "the certificates to trust cannot be read", text);
		break;
	case CURLE_PEER_FAILED_VERIFICATION: case CURLE_SSL_ISSUER_ERROR: case CURLE_SSL_CERTPROBLEM:
		snprintf(text, sizeof text, "%.300s; if it is the right one (a company's proxy, a server of your own), "
			"put the certificate of its authority into a file and set CURL_CA_BUNDLE=FILE", why);
		fail(t, "config", "the server cannot be trusted", text);
		break;
	case CURLE_URL_MALFORMAT: case CURLE_UNSUPPORTED_PROTOCOL: case CURLE_COULDNT_RESOLVE_PROXY:
		fail(t, "config", "the address or the proxy cannot be used", why);
		break;
	case CURLE_BAD_CONTENT_ENCODING: case CURLE_WEIRD_SERVER_REPLY:
		fail(t, "protocol", "not an answer in HTTP", why);
		break;
	case CURLE_OUT_OF_MEMORY:
		if (t->status) {   /* so libcurl says, too, that a line is longer than it takes */
			fail(t, "protocol", "not an answer in HTTP", "a line of its head is too long, or there is no memory");
			break;
		}
		fail(t, "internal", "no memory", why);
		break;
	case CURLE_PROXY:
		fail(t, "connection", "the proxy makes no connection", why);
		break;
	default:
		if (connect == 407)
			fail(t, "config", "the proxy wants a name and password",
				"HTTP 407; give them in the proxy's address: https_proxy=http://NAME:PASSWORD@HOST:PORT");
		else if (connect >= 400)
			fail(t, "connection", "the proxy makes no connection", why);
		else
			fail(t, "connection", t->got_byte ? "connection lost" : "connection failed", why);
	}
}

/* A kept connection that the server has closed is no failure of the request. libcurl sees most of these itself; not, for one, a
 * connection of HTTP/2 that ends in the moment of the request. */
static bool stale(struct transfer *t, CURLcode code)
{
	const struct libcurl *c = &t->net->curl;
	long made = 1;

	if (t->got_byte || t->again)
		return false;
	switch (code) {
	case CURLE_SEND_ERROR: case CURLE_RECV_ERROR: case CURLE_GOT_NOTHING: case CURLE_HTTP2: case CURLE_HTTP2_STREAM:
		break;
	default:
		return false;
	}
	if (c->easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &made) || made > 0)
		return false;
	c->multi_remove_handle(t->net->multi, t->easy);
	c->easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L);
	t->again = true;
	t->curl_text[0] = 0;
	t->since = io_now_ms();
	t->sent = 0;
	if (c->multi_add_handle(t->net->multi, t->easy)) {
		fail(t, "internal", "libcurl does not take the request again", "");
		return false;
	}
	t->net->fresh = true;
	return true;
}

/* Has the server been silent for too long? Milliseconds left, or -1 without a limit. */
static long patience(struct transfer *t, long long now)
{
	long limit = t->got_byte ? t->idle_ms : t->first_ms;
	long long left;
	curl_off_t sent = 0;

	if (t->paused || limit <= 0)
		return -1;
	left = t->since + limit - now;
	if (left > 0 || t->got_byte)
		return left > 0 ? (long)left : 0;
	/* a long request on a slow line is not the server's silence */
	t->net->curl.easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	if (sent <= t->sent)
		return 0;
	t->sent = sent;
	t->since = now;
	t->alive++;
	return limit;
}

static int perform(struct transfers *m, struct err *e)
{
	CURLMsg *msg;
	int running, left;
	CURLMcode bad = m->curl.multi_perform(m->multi, &running);

	if (bad)
		return err_set(e, ST_BUG, "libcurl: %s", m->curl.multi_strerror(bad));
	while ((msg = m->curl.multi_info_read(m->multi, &left))) {
		CURLcode code = msg->data.result;
		struct transfer *t = NULL;

		if (msg->msg != CURLMSG_DONE || m->curl.easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &t) || !t || !t->active)
			continue;
		if (code && !t->hung_up && stale(t, code))
			continue;
		if (code && !t->hung_up && !t->failed)
			explain(t, code);
		transfer_stop(t);
	}
	return 0;
}

static void impatience(struct transfers *m)
{
	struct transfer *t, *next;
	char why[64];

	for (t = m->active; t; t = next) {
		next = t->next;
		if (patience(t, io_now_ms()) != 0)
			continue;
		snprintf(why, sizeof why, "nothing came for %ld s", (t->got_byte ? t->idle_ms : t->first_ms) / 1000);
		fail(t, "timeout", t->got_byte ? "the answer stalled" : "no answer", why);
		transfer_stop(t);
	}
}

static long shortest(struct transfers *m, long timeout_ms)
{
	for (struct transfer *t = m->active; t; t = t->next) {
		long left = patience(t, io_now_ms());

		if (left >= 0 && (timeout_ms < 0 || left < timeout_ms))
			timeout_ms = left;
	}
	if (timeout_ms < 0)
		timeout_ms = 60 * 60 * 1000;   /* curl_multi_poll has no "for ever"; the caller's loop comes again */
	if (m->fresh)
		timeout_ms = 0;
	m->fresh = false;
	return timeout_ms;
}

int transfers_wait(struct transfers *m, struct pollfd *fds, size_t n, long timeout_ms, struct err *e)
{
	int happened = 0;

	if (n > m->room) {
		m->extra = xrealloc(m->extra, n, sizeof *m->extra);
		m->room = n;
	}
	for (size_t i = 0; i < n; i++) {
		m->extra[i].fd = fds[i].fd;
		m->extra[i].events = (short)((fds[i].events & POLLIN ? CURL_WAIT_POLLIN : 0) |
			(fds[i].events & POLLOUT ? CURL_WAIT_POLLOUT : 0));
		m->extra[i].revents = 0;
		fds[i].revents = 0;
	}
	timeout_ms = shortest(m, timeout_ms);
	if (timeout_ms > 0 && m->curl.multi_poll(m->multi, m->extra, (unsigned)n, (int)timeout_ms, &happened))
		return err_set(e, ST_BUG, "libcurl cannot wait");
	for (size_t i = 0; i < n && happened > 0; i++)
		if (m->extra[i].revents) {   /* libcurl hides POLLERR and POLLHUP: ask again */
			while (poll(fds, (nfds_t)n, 0) < 0 && errno == EINTR)
				;
			break;
		}
	if (!m->active)
		return 0;
	if (perform(m, e) < 0)
		return -1;
	impatience(m);
	return 0;
}

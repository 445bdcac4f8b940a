#include "net/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "net/keeper.h"
#include "net/transfer.h"

#define HTTP_FDS 8   /* descriptors of the caller */

static int load(struct http *h, struct err *e)
{
	if (!h->net)
		h->net = transfers_open(e);
	if (!h->direct)
		h->direct = xcalloc(1, sizeof(struct transfer));
	return h->net ? 0 : -1;
}

int http_init(struct http *h, long persist_ms, struct err *e)
{
	memset(h, 0, sizeof *h);
	h->persist_ms = persist_ms;
	if (persist_ms <= 0 && load(h, e) < 0) {
		http_free(h);
		return -1;
	}
	return 0;
}

void http_free(struct http *h)
{
	http_stop(h);
	if (h->direct)
		transfer_free(h->direct);
	free(h->direct);
	transfers_close(h->net);
	h->direct = h->net = NULL;
}

bool http_busy(const struct http *h)
{
	return h->active;
}

void http_stop(struct http *h)
{
	if (h->kept)
		keeper_call_free(h->kept);
	h->kept = NULL;
	if (h->direct)
		transfer_stop(h->direct);
	for (char **p = h->headers; p && *p; p++) {
		explicit_bzero(*p, strlen(*p));   /* the key */
		free(*p);
	}
	free(h->headers);
	h->headers = NULL;
	h->active = false;
}

void http_touch(struct http *h)
{
	if (h->kept)
		keeper_call_touch(h->kept);
	else if (h->direct)
		transfer_touch(h->direct);
}

static void copy_headers(struct http *h, const char *const *headers)
{
	size_t n = 0;

	while (headers[n])
		n++;
	h->headers = xcalloc(n + 1, sizeof *h->headers);
	for (size_t i = 0; i < n; i++)
		h->headers[i] = xstrdup(headers[i]);
	h->request.headers = (const char *const *)h->headers;
}

static int start_direct(struct http *h, struct err *e)
{
	if (load(h, e) < 0 || transfer_start(h->direct, h->net, &h->request, e) < 0) {
		http_stop(h);
		return -1;
	}
	return 0;
}

int http_start(struct http *h, const struct http_request *r, struct err *e)
{
	http_stop(h);
	h->failed = false;
	h->class = NULL;
	h->text[0] = 0;
	h->request = *r;
	copy_headers(h, r->headers);
	h->active = true;
	if (h->persist_ms > 0)
		h->kept = keeper_call_start(&h->request, h->persist_ms);
	return h->kept ? 0 : start_direct(h, e);
}

static void over(struct http *h, bool failed, const char *class, const char *text)
{
	h->failed = failed;
	h->class = class;
	if (failed)
		snprintf(h->text, sizeof h->text, "%s", text);
	http_stop(h);
}

static int wait_kept(struct http *h, struct pollfd *fds, size_t n, long timeout_ms, struct err *e)
{
	struct pollfd all[HTTP_FDS + 1];
	struct keeper_call *k = h->kept;
	long left = keeper_call_poll(k, &all[n]);

	memcpy(all, fds, n * sizeof *fds);
	if (left >= 0 && (timeout_ms < 0 || left < timeout_ms))
		timeout_ms = left;
	if (poll(all, n + 1, (int)timeout_ms) < 0)   /* interrupted: as if nothing had happened */
		for (size_t i = 0; i <= n; i++)
			all[i].revents = 0;
	memcpy(fds, all, n * sizeof *fds);
	switch (keeper_call_go_on(k, all[n].revents)) {
	case KEEPER_GOES_ON:
		break;
	case KEEPER_USELESS:
		keeper_call_free(k);
		h->kept = NULL;
		return start_direct(h, e);
	case KEEPER_OVER:
		over(h, k->failed, k->class, k->text);
		break;
	}
	return 0;
}

int http_wait(struct http *h, struct pollfd *fds, size_t n, long timeout_ms, struct err *e)
{
	const struct transfer *t = h->direct;

	if (n > HTTP_FDS)
		return err_set(e, ST_BUG, "http_wait: too many descriptors");
	if (h->kept)
		return wait_kept(h, fds, n, timeout_ms, e);
	if (!h->net) {
		if (poll(fds, n, (int)timeout_ms) < 0)   /* interrupted: as if nothing had happened */
			for (size_t i = 0; i < n; i++)
				fds[i].revents = 0;
		return 0;
	}
	if (transfers_wait(h->net, fds, n, timeout_ms, e) < 0)
		return -1;
	if (h->active && !t->active)
		over(h, t->failed, t->class, t->text);
	return 0;
}

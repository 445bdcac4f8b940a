/* transfer.h - requests over libcurl, any number at once, inside the caller's poll loop. http.h is for one at a time.
 *
 *   struct transfers *m = transfers_open(&e);
 *   struct transfer t = {0};
 *   transfer_start(&t, m, &request, &e);
 *   while (t.active)
 *       transfers_wait(m, fds, n, timeout_ms, &e);   // sleeps, calls the sinks, ends what has ended
 *   if (t.failed) ... t.class, t.text
 *   transfer_free(&t);
 *   transfers_close(m);
 *
 * What is kept and what is refused is told in http.h. A struct transfer must stay where it is while it is active. transfer_start
 * may be called again for the next request. sink->body may say 1: then nothing more comes until transfer_resume. */
#ifndef NET_TRANSFER_H
#define NET_TRANSFER_H

#include "net/http.h"

struct transfers;

struct transfer {
	struct transfers *net;
	struct transfer *next;            /* of those that are active */
	void *easy, *headers;             /* CURL, curl_slist */
	bool active, failed, got_byte, hung_up, paused;
	bool again;                       /* sent once more, over a new connection */
	int status;                       /* of the head under way */
	size_t head;                      /* bytes of the head so far */
	const struct http_sink *sink;
	void *arg;
	long first_ms, idle_ms;
	long long since;                  /* last sign of life */
	long long sent;                   /* bytes of the body that had left by then */
	unsigned long alive;              /* how often bytes that left put the limit off */
	const char *class;
	char where[128];                  /* the unix socket; "": none */
	char text[700];
	char curl_text[256];              /* CURL_ERROR_SIZE */
};

struct transfers *transfers_open(struct err *e);
void transfers_close(struct transfers *m);      /* all its transfers must be freed */
int transfers_wait(struct transfers *m, struct pollfd *fds, size_t n, long timeout_ms, struct err *e);

int transfer_start(struct transfer *t, struct transfers *m, const struct http_request *r, struct err *e);
void transfer_stop(struct transfer *t);
void transfer_free(struct transfer *t);
void transfer_touch(struct transfer *t);
void transfer_resume(struct transfer *t);

#endif

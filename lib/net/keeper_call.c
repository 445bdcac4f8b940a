#include "net/keeper.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sys/io.h"

#define GREET_MS 2000      /* a keeper that does not even greet is none */
#define SLACK_MS 5000      /* the limits are the keeper's to watch; this much later we do not believe in it any more */
#define PIECE 65536
#define PIECES 16          /* a turn, so that the caller's other descriptors get theirs */

/* The request as frames. False: the keeper cannot make it. */
static bool put_request(struct keeper_call *k, const struct http_request *r, long persist_ms)
{
	size_t room = 1024 + strlen(r->url) + r->len;
	char times[128], file[PATH_MAX];

	if (r->len > KEEPER_MAX || (r->ca_file && !realpath(r->ca_file, file)))   /* the keeper is in another directory */
		return false;
	for (const char *const *h = r->headers; *h; h++)
		room += KEEPER_FRAME + strlen(*h);
	if (r->ca_file)
		room += sizeof file;
	buf_room(&k->out, room);   /* at once: growing would leave copies of the key behind */
	keeper_put(&k->out, 'u', r->url, strlen(r->url));
	for (const char *const *h = r->headers; *h; h++)
		keeper_put(&k->out, 'h', *h, strlen(*h));
	if (r->ca_file)
		keeper_put(&k->out, 'c', file, strlen(file));
	if (r->body)
		keeper_put(&k->out, 'b', r->body, r->len);
	snprintf(times, sizeof times, "%ld %ld %ld %ld %d", r->connect_ms, r->first_ms, r->idle_ms, persist_ms, r->no_proxy);
	keeper_put(&k->out, 'o', times, strlen(times));
	keeper_put(&k->out, 'g', "", 0);
	return true;
}

struct keeper_call *keeper_call_start(const struct http_request *r, long persist_ms)
{
	struct keeper_call *k = xcalloc(1, sizeof *k);
	struct buf path;

	buf_init(&path, PATH_MAX);
	buf_init(&k->out, BUF_NOLIMIT);
	buf_init(&k->in, KEEPER_MAX + KEEPER_FRAME);
	k->fd = -1;
	if (keeper_path(&path, NULL) == 0 && put_request(k, r, persist_ms)) {
		k->fd = keeper_connect(path.p);
		if (k->fd < 0 && (errno == ENOENT || errno == ECONNREFUSED))
			k->fd = keeper_start(path.p, persist_ms), k->restarted = true;
	}
	k->path = buf_detach(&path);
	k->persist_ms = persist_ms;
	k->sink = r->sink;
	k->arg = r->arg;
	k->first_ms = r->first_ms > 0 ? r->first_ms + (r->connect_ms > 0 ? r->connect_ms : 0) : 0;
	k->idle_ms = r->idle_ms;
	k->since = io_now_ms();
	if (k->fd < 0) {
		keeper_call_free(k);
		return NULL;
	}
	return k;
}

void keeper_call_free(struct keeper_call *k)
{
	if (k->fd >= 0)
		close(k->fd);
	keeper_wipe(&k->out);
	buf_free(&k->in);
	free(k->path);
	free(k);
}

void keeper_call_touch(struct keeper_call *k)
{
	k->since = io_now_ms();
}

long keeper_call_poll(const struct keeper_call *k, struct pollfd *p)
{
	long limit = !k->greeted ? GREET_MS : k->got_byte ? k->idle_ms : k->first_ms;
	long long left;

	*p = (struct pollfd){.fd = k->fd, .events = (short)(POLLIN | (k->sent < k->out.len ? POLLOUT : 0))};
	if (limit <= 0)
		return -1;
	left = k->since + limit + (k->greeted ? SLACK_MS : 0) - io_now_ms();
	return left > 0 ? (long)left : 0;
}

static enum keeper_step fail(struct keeper_call *k, const char *class, const char *text)
{
	k->failed = true;
	k->class = class;
	snprintf(k->text, sizeof k->text, "%s", text);
	return KEEPER_OVER;
}

/* It has gone. One that ended, being idle, in the moment when we came is replaced. */
static enum keeper_step gone(struct keeper_call *k)
{
	if (k->got_byte)
		return fail(k, "connection", "connection lost: claws-keeper has ended");
	if (k->greeted || k->restarted)
		return KEEPER_USELESS;
	close(k->fd);
	k->fd = keeper_start(k->path, k->persist_ms);
	k->restarted = true;
	k->sent = 0;
	k->since = io_now_ms();
	buf_clear(&k->in);
	return k->fd < 0 ? KEEPER_USELESS : KEEPER_GOES_ON;
}

/* The class as a text that lives for ever; an unknown one can only come of a keeper of another version. */
static const char *class_of(const char *name)
{
	static const char *const classes[] = {"timeout", "connection", "config", "protocol", "internal", NULL};

	for (const char *const *c = classes; *c; c++)
		if (!strcmp(*c, name))
			return *c;
	return "connection";
}

static enum keeper_step take(struct keeper_call *k, const struct keeper_frame *f)
{
	char line[8300];
	size_t n = f->len < sizeof line ? f->len : sizeof line - 1, name;

	k->since = io_now_ms();
	if (f->type == 'D') {
		k->got_byte = true;
		return k->sink->body(k->arg, f->p, f->len) < 0 ? KEEPER_OVER : KEEPER_GOES_ON;
	}
	memcpy(line, f->p, n);
	line[n] = 0;
	name = strlen(line) + (strlen(line) < n);   /* where the second part begins; an empty one if there is none */
	switch (f->type) {
	case 'V':
		k->greeted = true;
		break;
	case 'H':
		k->got_byte = true;
		k->sink->head(k->arg, (int)strtol(line, NULL, 10));
		break;
	case 'N':
		k->sink->header(k->arg, line, line + name);
		break;
	case 'E':
		return KEEPER_OVER;
	case 'F':
		return fail(k, class_of(line), line + name);
	case 'U':
		return KEEPER_USELESS;
	}
	return KEEPER_GOES_ON;
}

static enum keeper_step take_all(struct keeper_call *k)
{
	enum keeper_step step = KEEPER_GOES_ON;
	struct keeper_frame f;
	size_t at = 0;
	int there = 0;

	while (step == KEEPER_GOES_ON && (there = keeper_next(&k->in, &at, &f)) > 0)
		step = take(k, &f);
	buf_cut(&k->in, at);
	return there < 0 ? gone(k) : step;
}

static enum keeper_step receive(struct keeper_call *k)
{
	for (int i = 0; i < PIECES; i++) {
		char *p = buf_room(&k->in, PIECE);
		ssize_t n = p ? read(k->fd, p, PIECE) : 0;
		enum keeper_step step;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0)
			return gone(k);
		k->in.len += (size_t)n;
		buf_term(&k->in);
		step = take_all(k);
		if (step != KEEPER_GOES_ON)
			return step;
		if (n < PIECE)
			break;
	}
	return KEEPER_GOES_ON;
}

static bool send_on(struct keeper_call *k)
{
	while (k->sent < k->out.len) {
		ssize_t n = send(k->fd, k->out.p + k->sent, k->out.len - k->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		k->sent += (size_t)n;
	}
	return true;
}

enum keeper_step keeper_call_go_on(struct keeper_call *k, int revents)
{
	struct pollfd p;

	if (!send_on(k) && !(revents & POLLIN))
		return gone(k);
	if (revents & (POLLIN | POLLHUP | POLLERR))
		return receive(k);
	if (keeper_call_poll(k, &p) == 0) {
		if (!k->greeted)
			return KEEPER_USELESS;
		return fail(k, "timeout", k->got_byte ? "the answer stalled: nothing comes from claws-keeper"
		                                      : "no answer: nothing comes from claws-keeper");
	}
	return KEEPER_GOES_ON;
}

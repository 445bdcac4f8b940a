/* client.c - one client: its request comes in, is made, and the answer goes back at the speed at which it is read. */
#include "keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sys/io.h"

#define PIECE 65536

struct client *client_new(struct server *s, int fd)
{
	struct client *c = xcalloc(1, sizeof *c);

	c->server = s;
	c->fd = fd;
	buf_init(&c->in, KEEPER_MAX + KEEPER_FRAME);
	buf_init(&c->out, BUF_NOLIMIT);
	keeper_put(&c->out, 'V', KEEPER_PROTOCOL, 1);
	return c;
}

static void wipe(char **s)
{
	if (*s)
		explicit_bzero(*s, strlen(*s));
	free(*s);
	*s = NULL;
}

/* Nothing of a request stays once it is over: only its connection. */
static void forget(struct client *c)
{
	for (size_t i = 0; i < c->nheaders; i++)
		wipe(&c->headers[i]);
	c->nheaders = 0;
	wipe(&c->url);
	wipe(&c->ca_file);
	if (c->body)
		explicit_bzero(c->body, c->len);
	free(c->body);
	c->body = NULL;
}

void client_free(struct client *c)
{
	transfer_free(&c->transfer);
	forget(c);
	close(c->fd);
	keeper_wipe(&c->in);
	keeper_wipe(&c->out);
	free(c);
}

/* ---- what goes back ---- */

static void on_head(void *arg, int status)
{
	struct client *c = arg;
	char text[16];

	snprintf(text, sizeof text, "%d", status);
	keeper_put(&c->out, 'H', text, strlen(text));
}

static void on_header(void *arg, const char *name, const char *value)
{
	struct client *c = arg;
	char *both = xasprintf("%s%c%s", name, 0, value);

	keeper_put(&c->out, 'N', both, strlen(name) + 1 + strlen(value));
	free(both);
}

static int on_body(void *arg, const char *p, size_t n)
{
	struct client *c = arg;

	if (c->out.len - c->sent > OUT_MUCH)
		return 1;
	keeper_put(&c->out, 'D', p, n);
	return 0;
}

static const struct http_sink sink = {.head = on_head, .header = on_header, .body = on_body};

static void say_end(struct client *c)
{
	const struct transfer *t = &c->transfer;
	struct buf b;

	if (!t->failed) {
		keeper_put(&c->out, 'E', "", 0);
	} else {
		buf_init(&b, 2048);
		buf_adds(&b, t->class);
		buf_addc(&b, 0);
		buf_adds(&b, t->text);
		keeper_put(&c->out, 'F', b.p, b.len);
		buf_free(&b);
	}
	c->going = false;
	c->over = true;
	c->server->served++;
	forget(c);
}

static void say_status(struct client *c)
{
	const struct server *s = c->server;
	size_t going = 0;
	char text[128];

	for (const struct client *o = s->clients; o; o = o->next)
		going += o->going;
	snprintf(text, sizeof text, "%ld %lu %zu %ld", (long)getpid(), s->served, going, s->persist_ms);
	keeper_put(&c->out, 'S', text, strlen(text));
	c->over = true;
}

static void flush(struct client *c)
{
	while (c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.p + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			c->gone = true;
			return;
		}
		c->sent += (size_t)n;
	}
	if (c->sent == c->out.len) {
		buf_clear(&c->out);
		c->sent = 0;
		c->gone = c->gone || c->over;
	} else if (c->sent > OUT_MUCH) {
		buf_cut(&c->out, c->sent);
		c->sent = 0;
	}
}

/* ---- what comes ---- */

static void begin(struct client *c)
{
	struct http_request r = {.url = c->url, .body = c->body, .len = c->len, .headers = (const char *const *)c->headers,
		.connect_ms = c->connect_ms, .first_ms = c->first_ms, .idle_ms = c->idle_ms, .no_proxy = c->no_proxy,
		.ca_file = c->ca_file, .sink = &sink, .arg = c};
	struct err e = ERR_INIT;

	if (!c->server->net || !c->url ||
	    transfer_start(&c->transfer, c->server->net, &r, &e) < 0) {
		keeper_put(&c->out, 'U', "", 0);   /* who asks tries by itself, and has the words for what is wrong */
		c->over = true;
		return;
	}
	c->asked = c->going = true;
}

static void set(char **where, const struct keeper_frame *f)
{
	wipe(where);
	*where = xstrndup(f->p, f->len);
}

static bool set_options(struct client *c, const struct keeper_frame *f)
{
	char text[128];
	int no_proxy = 0;

	snprintf(text, sizeof text, "%.*s", (int)(f->len < 100 ? f->len : 100), f->p);
	if (sscanf(text, "%ld %ld %ld %ld %d", &c->connect_ms, &c->first_ms, &c->idle_ms, &c->server->persist_ms, &no_proxy) != 5)
		return false;
	c->no_proxy = no_proxy;
	return true;
}

/* False: that is no client of ours. */
static bool take(struct client *c, const struct keeper_frame *f)
{
	if (c->going || c->over)
		return false;
	switch (f->type) {
	case 'u':
		set(&c->url, f);
		return true;
	case 'h':
		if (c->nheaders == HEADERS_MAX)
			return false;
		set(&c->headers[c->nheaders++], f);
		return true;
	case 'c':
		set(&c->ca_file, f);
		return true;
	case 'b':
		free(c->body);
		c->body = xmalloc(f->len + 1);
		memcpy(c->body, f->p, f->len);
		c->len = f->len;
		return true;
	case 'o':
		return set_options(c, f);
	case 'g':
		begin(c);
		return true;
	case 's':
		say_status(c);
		return true;
	case 'q':
		c->server->ending = true;
		c->over = true;
		return true;
	default:
		return false;
	}
}

static void receive(struct client *c)
{
	char *p = buf_room(&c->in, PIECE);
	ssize_t n = p ? read(c->fd, p, PIECE) : 0;
	struct keeper_frame f;
	int there = 0;
	size_t at = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		c->gone = true;
		return;
	}
	c->in.len += (size_t)n;
	buf_term(&c->in);
	while (!c->gone && (there = keeper_next(&c->in, &at, &f)) > 0)
		c->gone = !take(c, &f);
	if (there < 0)
		c->gone = true;
	if (at == c->in.len)
		explicit_bzero(c->in.p, c->in.len);
	buf_cut(&c->in, at);
}

short client_events(const struct client *c)
{
	return (short)(POLLIN | (c->sent < c->out.len ? POLLOUT : 0));
}

void client_go_on(struct client *c, int revents)
{
	struct transfer *t = &c->transfer;

	if (revents & (POLLIN | POLLHUP | POLLERR))
		receive(c);
	if (c->going && t->alive != c->alive) {
		c->alive = t->alive;
		keeper_put(&c->out, 'P', "", 0);
	}
	if (c->going && !t->active)
		say_end(c);
	if (!c->gone)
		flush(c);
	if (!c->gone && t->paused && c->out.len - c->sent < OUT_MUCH / 2) {
		transfer_resume(t);
		flush(c);
	}
}

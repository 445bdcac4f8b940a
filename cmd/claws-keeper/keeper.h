/* keeper.h - what the parts of claws-keeper share. lib/net/keeper.h has the frames.
 *
 *   main.c     options, what the process may have, going away from who started it
 *   serve.c    the socket, the clients, the loop and its end
 *   client.c   one client: its request, what goes back to it
 *   control.c  --status and --stop */
#ifndef CLAWS_KEEPER_H
#define CLAWS_KEEPER_H

#include "net/keeper.h"
#include "net/transfer.h"
#include "sys/lock.h"

#define OUT_MUCH ((size_t)256 << 10)   /* unread by a client beyond which its transfer waits */
#define HEADERS_MAX 64

struct server {
	const char *path;               /* of the socket */
	int listener;                   /* -1: nobody new is let in */
	unsigned long long dev, ino;    /* of the socket's file */
	struct lock lock;
	struct transfers *net;
	struct client *clients;
	size_t nclients;
	bool full;                      /* no descriptor was left for a client */
	bool ending;                    /* ends when the last client has gone */
	long persist_ms;
	long long idle_since;
	unsigned long served;
};

struct client {
	struct client *next;
	struct server *server;
	int fd;
	bool asked, going, over, gone;    /* it made a request; that is under way; is answered; can be freed */
	struct buf in, out;
	size_t sent;
	char *url, *ca_file, *body;
	size_t len;
	char *headers[HEADERS_MAX + 1];
	size_t nheaders;
	long connect_ms, first_ms, idle_ms;
	bool no_proxy;
	struct transfer transfer;
	unsigned long alive;
};

/* serve.c */
int serve_open(struct server *s, const char *path);   /* 0; -1: another one does it already; dies otherwise */
void serve(struct server *s);

/* client.c */
struct client *client_new(struct server *s, int fd);
void client_free(struct client *c);
short client_events(const struct client *c);
void client_go_on(struct client *c, int revents);

/* control.c */
int control_status(void);
int control_stop(void);

#endif

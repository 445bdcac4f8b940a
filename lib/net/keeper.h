/* keeper.h - what claws-keeper(1) and those who use it have in common, and the client's side of it.
 *
 *   struct keeper_call *k = keeper_call_start(&request, 60000);     // NULL: there is none and none can be started
 *   for (;;) {
 *       struct pollfd p; long left = keeper_call_poll(k, &p);       // poll p for at most left ms (-1: no limit)
 *       switch (keeper_call_go_on(k, p.revents)) ...                // calls the sink
 *   }
 *   keeper_call_free(k);                                            // also in the middle: the request is then cancelled
 *
 * The socket is keeper-HASH in the runtime directory (dirs.h). HASH is over the number of this protocol and those variables of the
 * environment that decide about proxies and trust, so that requests of other ones never share a connection. Both sides look at the
 * other's user (SO_PEERCRED) before a byte is believed or sent. A connection to the socket is one request.
 *
 * A frame is one letter, four bytes of length in the machine's order, and so many bytes.
 *   to the keeper     u URL   h header   c CA file   b body (none: a GET)
 *                     o "CONNECT FIRST IDLE PERSIST NO_PROXY" in decimal   g go; that is all of it       s status?   q end
 *   from the keeper   V greeting, the first   H status   N name NUL value   D body   P the request still leaves
 *                     E over   F class NUL text: failed   U no libcurl here   S text, the status
 *
 * Ownership: what the request points to lives until keeper_call_free. Errors: KEEPER_USELESS is said only while nothing of an
 * answer has come; later the keeper's death is a failure of class "connection". */
#ifndef NET_KEEPER_H
#define NET_KEEPER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/http.h"

#define KEEPER_FRAME 5                         /* bytes before a frame's content */
#define KEEPER_MAX ((size_t)1 << 30)           /* of a frame */
#define KEEPER_PREFIX "keeper-"
#define KEEPER_PROTOCOL "1"
#define KEEPER_HASH 16                         /* hex digits */

/* keeper.c: for both sides */
struct keeper_frame {
	char type;
	const char *p;   /* into the buffer */
	size_t len;
};

int keeper_path(struct buf *path, struct err *e);         /* the socket's; makes and checks the directory */
bool keeper_variable(const char *name);                   /* may a keeper have this variable? */
bool keeper_peer(int fd, pid_t *pid);                     /* is the other side this user? */
int keeper_connect(const char *path);                     /* a checked, non-blocking connection; -1: none, errno */
void keeper_put(struct buf *b, char type, const void *p, size_t n);
int keeper_next(const struct buf *b, size_t *at, struct keeper_frame *f);   /* 1: one is there; -1: none can be */
void keeper_wipe(struct buf *b);                          /* buf_free, and nothing of it stays in memory */

/* keeper_start.c: starts one, unless another one has; as keeper_connect */
int keeper_start(const char *path, long persist_ms);

/* keeper_call.c: one request */
enum keeper_step { KEEPER_GOES_ON, KEEPER_OVER, KEEPER_USELESS };

struct keeper_call {
	int fd;
	struct buf out, in;
	size_t sent;
	const struct http_sink *sink;
	void *arg;
	char *path;
	long persist_ms;
	bool greeted, got_byte, failed, restarted;
	long first_ms, idle_ms;
	long long since;
	const char *class;
	char text[700];
};

struct keeper_call *keeper_call_start(const struct http_request *r, long persist_ms);
long keeper_call_poll(const struct keeper_call *k, struct pollfd *p);
enum keeper_step keeper_call_go_on(struct keeper_call *k, int revents);
void keeper_call_touch(struct keeper_call *k);
void keeper_call_free(struct keeper_call *k);

#endif

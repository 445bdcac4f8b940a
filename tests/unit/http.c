/* One handle through attempts that fail at different points: whatever an attempt ended with, the next one is whole. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/http.h"
#include "sys/io.h"
#include "tap.h"

enum names { NAMES_NONE, NAMES_SLOW, NAMES_HERE };
static _Atomic int names;

/* In place of the C library's, for libcurl too: no name is known, or each is this machine. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **res)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

	if (!strstr(node, ".invalid") || names == NAMES_HERE) {
		*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
		return real("127.0.0.1", service, hints, res);
	}
	if (names == NAMES_SLOW)
		sleep(3);
	return EAI_NONAME;
}

static int answered;
static char body[64];
static size_t nbody;

static void on_head(void *arg, int status)
{
	(void)arg;
	answered = status;
}

static void on_header(void *arg, const char *name, const char *value)
{
	(void)arg, (void)name, (void)value;
}

static int on_body(void *arg, const char *p, size_t n)
{
	(void)arg;
	if (nbody + n < sizeof body)
		memcpy(body + nbody, p, n), nbody += n;
	return 0;
}

static const struct http_sink sink = {on_head, on_header, on_body};
static const char *const headers[] = {"content-type: text/plain", NULL};
static struct http h;

static int begin(const char *host, int port, const char *path, struct err *e)
{
	static char url[256];
	struct http_request r = {.url = url, .body = "x", .len = 1, .headers = headers, .connect_ms = 5000,
		.first_ms = 5000, .idle_ms = 5000, .no_proxy = true, .sink = &sink};

	snprintf(url, sizeof url, "http://%s:%d%s", host, port, path);
	answered = 0;
	nbody = 0;
	memset(body, 0, sizeof body);
	return http_start(&h, &r, e);
}

/* What became of one request: "200 ok", or the class of the failure. */
static const char *call(const char *host, int port, const char *path)
{
	static char text[128];
	struct err e = ERR_INIT;

	if (begin(host, port, path, &e) < 0)
		return snprintf(text, sizeof text, "not begun: %.90s", e.text), text;
	while (http_busy(&h))
		if (http_wait(&h, NULL, 0, -1, &e) < 0)
			return snprintf(text, sizeof text, "no wait: %.90s", e.text), text;
	if (h.failed)
		return h.class;
	snprintf(text, sizeof text, "%d %s", answered, body);
	return text;
}

/* Begins a request, and gives it up after `ms` or once it has been answered. */
static long long give_up(const char *host, int port, const char *path, int ms)
{
	struct err e = ERR_INIT;
	long long begun = io_now_ms(), at;

	if (begin(host, port, path, &e) < 0)
		return 1000000;
	while (http_busy(&h) && !nbody && io_now_ms() < begun + ms)
		if (http_wait(&h, NULL, 0, ms, &e) < 0)
			return 1000000;
	at = io_now_ms();
	http_stop(&h);
	return io_now_ms() - at;
}

/* Answers what comes; /stall: the first half, and then nothing; /drop: nothing, but an end; /stale: so, unless it is the first
 * request of its connection; /half: a part first. Ends with its process group. */
static void serve(int s)
{
	char in[4096];

	setpgid(0, 0);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int c = accept(s, NULL, NULL);
		ssize_t n;
		size_t have = 0, requests = 0;

		if (c < 0 || fork() > 0) {
			close(c);
			continue;
		}
		while ( (n = read(c, in + have, sizeof in - 1 - have)) > 0) {
			const char *end;
			bool stall;

			in[have += (size_t)n] = 0;
			end = strstr(in, "\r\n\r\n");
			if (!end || !end[4])
				continue;
			requests++;
			if (strstr(in, "/half") && requests > 1 && write(c, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nh", 39))
				_exit(0);
			if (strstr(in, "/drop") || (strstr(in, "/stale") && requests > 1))
				_exit(0);
			stall = strstr(in, "/stall") != NULL;
			dprintf(c, "HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\nok", stall ? 4 : 2);
			have = 0;
		}
		_exit(0);
	}
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int s = socket(AF_INET, SOCK_STREAM, 0), dead, port, nobody;
	struct err e = ERR_INIT;
	pid_t server;

	dead = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(dead, (struct sockaddr *)&a, len) || getsockname(dead, (struct sockaddr *)&a, &len))
		return 1;
	nobody = ntohs(a.sin_port);   /* bound, nobody listens */
	a.sin_port = 0;
	if (bind(s, (struct sockaddr *)&a, len) || listen(s, 5) || getsockname(s, (struct sockaddr *)&a, &len))
		return 1;
	port = ntohs(a.sin_port);
	server = fork();
	if (server == 0)
		serve(s);
	setpgid(server, server);
	close(s);
	if (http_init(&h, 0, &e) < 0)
		return 1;

	names = NAMES_NONE;
	for (int i = 1; i <= 3; i++)
		IS(call("a.invalid", port, "/"), "connection", "no such name, attempt %d", i);
	names = NAMES_HERE;
	IS(call("a.invalid", port, "/"), "200 ok", "the name is known again");
	IS(call("a.invalid", port, "/"), "200 ok", "and again");
	names = NAMES_SLOW;
	OK(give_up("b.invalid", port, "/", 50) < 1500, "giving up while the name is asked for does not wait for it");
	names = NAMES_NONE;
	IS(call("c.invalid", port, "/"), "connection", "then no such name");
	names = NAMES_HERE;
	IS(call("b.invalid", port, "/"), "200 ok", "then it is known");
	OK(give_up("b.invalid", port, "/stall", 5000) < 1500, "giving up in the middle of an answer");
	IS(call("b.invalid", port, "/"), "200 ok", "the next one is whole");
	for (int i = 1; i <= 2; i++)
		IS(call("d.invalid", nobody, "/"), "connection", "refused, attempt %d", i);
	IS(call("d.invalid", port, "/"), "200 ok", "then somebody listens");
	IS(call("e.invalid:1", port, "/"), "config", "no address at all");
	names = NAMES_NONE;
	IS(call("e.invalid", port, "/"), "connection", "no such name after that");
	names = NAMES_HERE;
	IS(call("e.invalid", port, "/"), "200 ok", "and a good one");
	IS(call("f.invalid", port, "/"), "200 ok", "a connection is made");
	for (int i = 1; i <= 3; i++)
		IS(call("f.invalid", port, "/stale"), "200 ok", "the server closes the kept connection: once more over a new one, %d", i);
	IS(call("f.invalid", port, "/half"), "connection", "but not where something had come");
	IS(call("f.invalid", port, "/"), "200 ok", "a connection is made");
	IS(call("f.invalid", port, "/drop"), "connection", "nor for ever");
	http_free(&h);
	kill(-server, SIGKILL);
	waitpid(server, NULL, 0);
	close(dead);
	return END();
}

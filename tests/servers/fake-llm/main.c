/* main.c - sockets, HTTP requests, and the loop of fake-llm. What it does is told in fake.h. */
#include "fake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"

static struct conf {
	long port, delay, chunk_delay, write;
	const char *script, *log, *say, *key;
	struct opt_list faults;
} conf = {.say = "This is the fake model speaking."};

static const struct opt options[] = {
	{0, "script", "FILE", OPT_STR, offsetof(struct conf, script), "NDJSON, the answers to give, in order", 0, 0, NULL},
	{0, "log", "FILE", OPT_STR, offsetof(struct conf, log), "append one JSON line a request", 0, 0, NULL},
	{0, "fault", "KIND", OPT_LIST, offsetof(struct conf, faults), "an answer that goes wrong, see fake.h", 0, 0, NULL},
	{0, "say", "TEXT", OPT_STR, offsetof(struct conf, say), "answer when nothing else says what", 0, 0, NULL},
	{0, "key", "KEY", OPT_STR, offsetof(struct conf, key), "refuse other keys", 0, 0, NULL},
	{0, "delay", "MS", OPT_LONG, offsetof(struct conf, delay), "wait before each answer", 0, 0, NULL},
	{0, "chunk-delay", "MS", OPT_LONG, offsetof(struct conf, chunk_delay), "wait before each event", 0, 0, NULL},
	{0, "write", "BYTES", OPT_LONG, offsetof(struct conf, write), "write so many bytes at a time", 0, 0, NULL},
	{0, "port", "N", OPT_LONG, offsetof(struct conf, port), "listen there, not on a free port", 0, 65535, NULL},
	{0}};
static const struct opt_spec spec = {"fake-llm", "[OPTION...]", "A scripted model server.", options, NULL, NULL, 0};

struct conn {
	int fd;
	long id, request;        /* number of the request being answered */
	struct buf in;
	struct reply reply;
	size_t segment, sent;
	int64_t due;             /* not before this time, ms */
	bool replying, close_after, stalled;
};

static struct conn *conns;
static size_t n_conns;
static long conn_count, request_count;
static struct fault faults[32];
static size_t n_faults;
static int log_fd = -1;

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- requests --- */

/* Value of a header in head (lines ending in CRLF), or NULL. */
static char *header(const char *head, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = strstr(head, "\r\n"); p; p = strstr(p, "\r\n")) {
		p += 2;
		if (!strncasecmp(p, name, n) && p[n] == ':') {
			p += n + 1;
			p += strspn(p, " \t");
			return xstrndup(p, strcspn(p, "\r\n"));
		}
	}
	return NULL;
}

static void log_line(struct buf *b)
{
	buf_addc(b, '\n');
	if (log_fd >= 0 && write(log_fd, b->p, b->len) != (ssize_t)b->len)
		die(ST_IO, "log %s: cannot be written", conf.log);
}

static void log_request(const struct conn *c, const char *head, const char *method, const char *path, const char *body,
	size_t len)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	struct jw w = jw_begin(&b);
	jw_obj(&w);
	jw_ki64(&w, "n", request_count);
	jw_ki64(&w, "conn", c->id);
	jw_kstr(&w, "method", method);
	jw_kstr(&w, "path", path);
	jw_ki64(&w, "bytes", (int64_t)len);
	jw_key(&w, "headers");
	jw_obj(&w);
	for (const char *p = strstr(head, "\r\n"); p && p[2]; p = strstr(p, "\r\n")) {
		p += 2;
		char name[128];
		size_t n = strcspn(p, ":\r"), i = 0;
		for (; i < n && i < sizeof name - 1; i++)
			name[i] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
		name[i] = 0;
		if (p[n] != ':')
			break;
		p += n + 1;
		p += strspn(p, " ");
		jw_kstrn(&w, name, p, strcspn(p, "\r"));
	}
	jw_end(&w);
	struct json j = JSON_INIT;
	if (len && json_parse(&j, body, len, NULL) == 0) {
		struct buf one;   /* a line of the log is one line */
		buf_init(&one, BUF_NOLIMIT);
		json_compact(&one, &j, 0);
		jw_kraw(&w, "body", one.p, one.len);
		buf_free(&one);
	} else {
		jw_kstrn(&w, "body", body, len);
	}
	json_free(&j);
	jw_end(&w);
	log_line(&b);
	buf_free(&b);
}

static struct fault next_fault(void)
{
	for (size_t i = 0; i < n_faults; i++)
		if (faults[i].times) {
			if (faults[i].times > 0)
				faults[i].times--;
			return faults[i];
		}
	return (struct fault){FAULT_NONE, 0, NULL, 0};
}

/* "retry-after=1,x=2@3" as header lines. */
static char *fault_headers(const char *text)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	for (const char *p = text ? text : ""; *p && *p != '@';) {
		size_t n = strcspn(p, ",@"), eq = strcspn(p, "=");
		if (eq < n)
			buf_addf(&b, "%.*s: %.*s\r\n", (int)eq, p, (int)(n - eq - 1), p + eq + 1);
		p += n;
		p += *p == ',';
	}
	return buf_detach(&b);
}

static bool key_is_right(const char *head)
{
	if (!conf.key)
		return true;
	char *a = header(head, "x-api-key"), *b = header(head, "authorization");
	bool right = (a && !strcmp(a, conf.key)) || (b && !strncmp(b, "Bearer ", 7) && !strcmp(b + 7, conf.key));
	free(a);
	free(b);
	return right;
}

static void answer_model(struct conn *c, struct request *r)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	r->json = &j;
	if (json_parse(&j, r->body, r->len, &e) < 0) {
		wire_error(&c->reply, r->wire, r->n, 400, NULL, e.text);
		json_free(&j);
		return;
	}
	r->stream = json_true(&j, json_get(&j, 0, "stream"));
	r->include_usage = json_true(&j, json_path(&j, 0, "stream_options.include_usage"));
	struct answer a = {.delay_ms = conf.delay, .chunk_delay_ms = conf.chunk_delay};
	struct fault f = next_fault();
	if (f.kind != FAULT_STATUS && f.kind != FAULT_CLOSE)   /* those do not use up an answer of the script */
		answer_choose(&a, r, conf.say);
	if (f.kind == FAULT_NONE)
		f = a.fault;
	a.fault = c->reply.fault = f;
	reply_pause(&c->reply, a.delay_ms);
	if (f.kind == FAULT_CLOSE) {
		c->reply.end = END_CLOSE;
	} else if (f.kind == FAULT_STATUS) {
		char *h = fault_headers(f.text);
		wire_error(&c->reply, r->wire, r->n, (int)f.arg, h, a.message);
		free(h);
	} else if (a.status != 200 && a.body) {
		reply_whole(&c->reply, a.status, a.headers, a.body, strlen(a.body));
	} else if (a.status != 200) {
		wire_error(&c->reply, r->wire, r->n, a.status, a.headers, a.message);
	} else {
		wire_answer(&c->reply, r, &a);
	}
	answer_free(&a);
	json_free(&j);
}

static bool ends_with(const char *s, const char *end)
{
	size_t a = strcspn(s, "?"), b = strlen(end);
	return a >= b && !strncmp(s + a - b, end, b);
}

static void answer_request(struct conn *c, const char *head, const char *body, size_t len)
{
	char method[16] = "", path[1024] = "";
	sscanf(head, "%15s %1023s", method, path);
	c->request = ++request_count;
	log_request(c, head, method, path, body, len);
	reply_init(&c->reply);
	struct request r = {.n = request_count, .body = body, .len = len};
	r.wire = ends_with(path, "/messages") ? WIRE_ANTHROPIC :
		ends_with(path, "/chat/completions") ? WIRE_OPENAI : WIRE_NONE;
	if (!key_is_right(head))
		wire_error(&c->reply, r.wire, r.n, 401, NULL, "invalid x-api-key");
	else if (r.wire != WIRE_NONE && !strcmp(method, "POST"))
		answer_model(c, &r);
	else if (ends_with(path, "/models") && !strcmp(method, "GET"))
		wire_models(&c->reply, r.n);
	else
		wire_error(&c->reply, WIRE_OPENAI, r.n, 404, NULL, "no such path here");
	if (conf.write)
		reply_cut_writes(&c->reply, (size_t)conf.write);
	char *h = header(head, "connection");
	c->close_after = h && !strcasecmp(h, "close");
	free(h);
	c->replying = true;
	c->segment = c->sent = 0;
	c->due = now_ms() + (c->reply.n_segments ? c->reply.segments[0].delay_ms : 0);
}

/* Is a whole request there? Answers it and takes it from the input. */
static void take_request(struct conn *c)
{
	char *end = strstr(c->in.p, "\r\n\r\n");
	if (c->replying || c->stalled || !end)
		return;
	size_t head_len = (size_t)(end - c->in.p) + 4;
	char *head = xstrndup(c->in.p, head_len - 2), *v = header(head, "content-length");
	size_t len = v ? (size_t)atol(v) : 0;
	free(v);
	if (c->in.len >= head_len + len) {
		answer_request(c, head, c->in.p + head_len, len);
		buf_cut(&c->in, head_len + len);
	} else if ((v = header(head, "expect"))) {
		if (c->in.len == head_len && write(c->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25) != 25)
			warn("100 Continue: not sent");
		free(v);
	}
	free(head);
}

/* --- connections --- */

static void hang_up(struct conn *c)
{
	close(c->fd);
	c->fd = -1;
	buf_free(&c->in);
	if (c->replying)
		reply_free(&c->reply);
}

static void client_left(struct conn *c)
{
	if (c->replying || c->stalled) {
		struct buf b;
		buf_init(&b, BUF_NOLIMIT);
		buf_addf(&b, "{\"closed\":%ld,\"sent\":%zu}", c->request, c->sent);
		log_line(&b);
		buf_free(&b);
	}
	hang_up(c);
}

static void reply_over(struct conn *c)
{
	enum reply_end end = c->reply.end;
	reply_free(&c->reply);
	c->replying = false;
	if (end == END_RESET) {
		struct linger l = {1, 0};
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
	}
	if (end == END_STALL)
		c->stalled = true;
	else if (end != END_KEEP || c->close_after)
		hang_up(c);
	else
		take_request(c);
}

/* Sends what is due, at most 256 pieces, so that others get their turn. */
static void send_some(struct conn *c)
{
	for (int i = 0; i < 256 && c->fd >= 0 && c->replying && c->due <= now_ms(); i++) {
		if (c->segment == c->reply.n_segments) {
			reply_over(c);
			return;
		}
		size_t n = c->reply.segments[c->segment].end - c->sent;
		ssize_t r = n ? send(c->fd, c->reply.bytes.p + c->sent, n, MSG_NOSIGNAL) : 0;
		if (r < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (r < 0) {
			client_left(c);
			return;
		}
		c->sent += (size_t)r;
		if ((size_t)r == n && ++c->segment < c->reply.n_segments && c->reply.segments[c->segment].delay_ms)
			c->due = now_ms() + c->reply.segments[c->segment].delay_ms;
	}
}

static void receive(struct conn *c)
{
	char *p = buf_room(&c->in, 65536);
	ssize_t n = p ? read(c->fd, p, 65536) : 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_left(c);
		return;
	}
	c->in.len += (size_t)n;
	buf_term(&c->in);
	take_request(c);
}

static bool greet(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), one = 1;
	if (fd < 0)
		return false;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	conns = xrealloc(conns, n_conns + 1, sizeof *conns);
	conns[n_conns] = (struct conn){.fd = fd, .id = ++conn_count};
	buf_init(&conns[n_conns++].in, BUF_NOLIMIT);
	return true;
}

static int listen_on(long port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t len = sizeof a;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 4096) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		die(ST_UNAVAILABLE, "port %ld: %s", port, strerror(errno));
	printf("%d\n", ntohs(a.sin_port));
	if (fclose(stdout) != 0)   /* whoever reads it sees the end */
		die(ST_IO, "stdout: %s", strerror(errno));
	return fd;
}

static void serve_once(int listener)
{
	struct pollfd *p = xcalloc(n_conns + 1, sizeof *p);
	int64_t now = now_ms();
	int wait = -1;
	p[0] = (struct pollfd){listener, POLLIN, 0};
	for (size_t i = 0; i < n_conns; i++) {
		struct conn *c = &conns[i];
		bool due = c->replying && c->due <= now;
		p[i + 1] = (struct pollfd){c->fd, (short)(POLLIN | (due ? POLLOUT : 0)), 0};
		if (c->replying && !due && (wait < 0 || c->due - now < wait))
			wait = (int)(c->due - now);
	}
	size_t n = n_conns;
	if (poll(p, n + 1, wait) < 0 && errno != EINTR)
		die(ST_IO, "poll: %s", strerror(errno));
	for (size_t i = 0; i < n; i++) {
		if (p[i + 1].revents & (POLLIN | POLLHUP | POLLERR))
			receive(&conns[i]);
		if (conns[i].fd >= 0)
			send_some(&conns[i]);
	}
	while ((p[0].revents & POLLIN) && greet(listener))
		;
	size_t left = 0;
	for (size_t i = 0; i < n_conns; i++)
		if (conns[i].fd >= 0)
			conns[left++] = conns[i];
	n_conns = left;
	free(p);
}

int main(int argc, char **argv)
{
	prog_name("fake-llm");
	prctl(PR_SET_PDEATHSIG, SIGTERM);   /* a test that is killed leaves no server behind */
	signal(SIGPIPE, SIG_IGN);
	if (opt_parse(&spec, argc, argv, &conf) < argc)
		opt_usage(&spec, "no operands are expected");
	for (size_t i = 0; i < conf.faults.n; i++)
		if (n_faults == sizeof faults / sizeof *faults || !fault_parse(&faults[n_faults++], conf.faults.v[i]))
			opt_usage(&spec, "unknown fault: %s", conf.faults.v[i]);
	if (conf.script)
		script_load(conf.script);
	if (conf.log && (log_fd = open(conf.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0)
		die(ST_IO, "log %s: %s", conf.log, strerror(errno));
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	int listener = listen_on(conf.port);
	for (;;)
		serve_once(listener);
}

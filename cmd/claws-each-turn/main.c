/* claws-each-turn - run a program once per turn, in the place of a stage of the ring.
 *
 * The ring's stages live as long as the ring; a program that reads to end of file and answers would never answer there. This
 * one gives it, for each turn, a stdin that ends, and keeps the ring's rules for it (claws-messages(5)). Outside a ring end of
 * file is the turn, so the program is run once. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "each_turn.h"
#include "opt/opt.h"
#include "sys/sig.h"

struct conf {
	bool stream, tool, compact;
};

static const struct opt options[] = {
	{0, "stream", NULL, OPT_FLAG, offsetof(struct conf, stream), "CMD stands for claws-stream (default): conversation in, answer out",
	 0, 0, NULL},
	{0, "tool", NULL, OPT_FLAG, offsetof(struct conf, tool), "CMD stands for claws-tool: calls in, tool messages out", 0, 0,
	 NULL},
	{0, "compact", NULL, OPT_FLAG, offsetof(struct conf, compact),
	 "CMD stands for claws-compact: conversation in, shorter one out", 0, 0, NULL},
	{0, NULL, NULL, 0, 0, NULL, 0, 0, NULL},
};

static const struct opt_spec spec = {
	"claws-each-turn", "[--stream | --tool | --compact] CMD [ARG...]",
	"Run a program that knows only end of file once per turn of a ring.", options, NULL, NULL, 0,
};

bool running(const struct each *t)
{
	return t->c.pid > 0;
}

void put(struct buf *b, const char *line, size_t len)
{
	buf_add(b, line, len);
	buf_addc(b, '\n');
}

bool has_line(const struct buf *b, const char *line, size_t len)
{
	const char *p = b->p, *end = b->p + b->len;

	while ((p = memmem(p, (size_t)(end - p), line, len))) {
		if ((p == b->p || p[-1] == '\n') && p[len] == '\n')
			return true;
		p++;
	}
	return false;
}

void hold(struct each *t, const struct msg *m)
{
	put(&t->held, m->line, m->len);
}

bool start(struct each *t, struct buf *input)
{
	struct err e = ERR_INIT;

	buf_clear(&t->c.feed);
	buf_add(&t->c.feed, input->p, input->len);
	t->said_error = false;
	if (child_start(&t->c, t->argv, &e)) {
		child_write(&t->c);
		return true;
	}
	stage_error(&t->s, "config", "%s", e.text);
	t->status = e.status;
	return false;
}

void pass_with_id(struct each *t, const struct msg *m)
{
	size_t at = strspn(m->line, " \t\r\n") + 1;     /* behind the brace */
	struct buf b;
	char id[24];

	if (json_get(m->json, 0, "id") >= 0) {
		stage_pass(&t->s, m);
		return;
	}
	stage_id(&t->s, id);
	buf_init(&b, BUF_NOLIMIT);
	buf_add(&b, m->line, at);
	buf_addf(&b, "\"id\":\"%s\",", id);
	buf_add(&b, m->line + at, m->len - at);
	stage_write(&t->s, b.p, b.len);
	buf_free(&b);
}

void turn_done(struct each *t, const char *stop)
{
	struct jw *w = stage_begin(&t->s, MSG_TURN_DONE);

	jw_kstr(w, "stop_reason", stop);
	stage_emit(&t->s);
}

void input_line(struct each *t, const struct msg *m)
{
	if (m->kind == MSG_INTERRUPT) {
		stage_pass(&t->s, m);
		if (running(t)) {
			child_end(&t->c, true);
			t->place->cut(t);
		}
		for (; t->pending; t->pending--)
			turn_done(t, "interrupted");
		return;
	}
	t->place->line(t, m);
}

/* Lines kept aside are parsed again: the stage's tokens are those of the line it read last. */
static void replay_held(struct each *t)
{
	struct json j = JSON_INIT;
	struct buf b = t->held;
	size_t at = 0;

	buf_init(&t->held, BUF_NOLIMIT);        /* some may have to wait again */
	while (at < b.len) {
		const char *p = b.p + at, *lf = memchr(p, '\n', b.len - at);
		struct msg m = {.line = p, .len = (size_t)(lf - p), .json = &j};

		at += m.len + 1;
		if (json_parse(&j, p, m.len, NULL) < 0)
			continue;       /* cannot be: it was parsed before */
		m.kind = msg_kind(&j);
		input_line(t, &m);
	}
	json_free(&j);
	buf_free(&b);
}

/* Whole lines of the program. */
static void hear(struct each *t)
{
	const char *fault;
	struct msg m;

	while (child_line(&t->c, &m, &fault)) {
		if (fault)
			stage_error(&t->s, "input", "%s: line %lu of its output was left out: %s", t->argv[0], m.no, fault);
		else
			t->place->said(t, &m);
	}
}

/* The program has ended. What it printed is in the pipe; what it left running may keep that open and does not count. */
static void ended(struct each *t)
{
	int status;

	while (child_read(&t->c))
		hear(t);
	t->c.lines.eof = true;
	hear(t);
	status = child_end(&t->c, false);
	if (status != ST_OK)
		t->status = status;
	t->place->done(t, status);
	replay_held(t);
}

static void take_input(struct each *t)
{
	struct msg m;

	while (stage_next(&t->s, &m))
		input_line(t, &m);
}

/* End of file is the turn, outside a ring; in one it is the end of everything. True: nothing is left to do. */
static bool input_over(struct each *t, bool *turned)
{
	if (t->s.ring) {
		if (running(t))
			child_end(&t->c, true);
		return true;
	}
	if (!*turned) {
		*turned = true;
		t->place->end(t);
	}
	return !running(t);
}

static void signalled(struct each *t, int fd)
{
	struct sigs s = {.fd = fd};
	int n;

	while ((n = sig_read(&s, NULL)) > 0) {
		if (n != SIGTERM)
			continue;
		if (running(t))
			child_end(&t->c, true);
		stage_flush(&t->s);
		_exit(ST_SIGNAL + SIGTERM);
	}
}

/* Has it ended? It stays a zombie until child_end, so that its group's number is not given away before. */
static bool child_gone(const struct child *c)
{
	siginfo_t info = {0};

	return c->pid > 0 && waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid;
}

static void wait_for_something(struct each *t, int sigfd)
{
	struct pollfd p[4] = {
		{sigfd, POLLIN, 0},
		{t->s.eof ? -1 : t->s.in.fd, POLLIN, 0},
		{running(t) && !t->c.lines.eof ? t->c.out : -1, POLLIN, 0},
		{running(t) ? t->c.in : -1, POLLOUT, 0},
	};

	stage_flush(&t->s);
	if (t->s.out.closed) {          /* nobody reads any more */
		if (running(t))
			child_end(&t->c, true);
		_exit(ST_OK);
	}
	if (poll(p, 4, -1) < 0)
		return;
	if (p[0].revents)
		signalled(t, sigfd);
	if (p[1].revents)
		stage_fill(&t->s);
	if (p[2].revents)
		child_read(&t->c);
	if (p[3].revents)
		child_write(&t->c);
}

static void loop(struct each *t, int sigfd)
{
	bool turned = false;

	for (;;) {
		take_input(t);
		if (running(t))
			hear(t);
		if (child_gone(&t->c)) {
			ended(t);
			continue;
		}
		if (t->s.eof && input_over(t, &turned))
			return;
		wait_for_something(t, sigfd);
	}
}

static void all_bufs(struct each *t, void (*f)(struct buf *))
{
	struct buf *all[] = {&t->c.feed, &t->held, &t->system, &t->tools, &t->convo, &t->request, &t->turn, &t->assistant,
	                     &t->made};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		f(all[i]);
}

static void unlimited(struct buf *b)
{
	buf_init(b, BUF_NOLIMIT);
}

static void each_init(struct each *t, const struct place *place, char **argv)
{
	memset(t, 0, sizeof *t);
	all_bufs(t, unlimited);
	t->c.in = t->c.out = -1;
	t->place = place;
	t->argv = argv;
	stage_init(&t->s, "claws-each-turn", place->letter);
}

int main(int argc, char **argv)
{
	struct conf c = {0};
	struct each t;
	struct sigs sigs;
	struct err e = ERR_INIT;
	int first, status;

	prog_name("claws-each-turn");
	first = opt_parse(&spec, argc, argv, &c);
	if (c.stream + c.tool + c.compact > 1)
		opt_usage(&spec, "only one of --stream, --tool and --compact can be");
	if (first >= argc)
		opt_usage(&spec, "the program is missing");
	each_init(&t, c.tool ? &place_tool : c.compact ? &place_compact : &place_stream, argv + first);
	signal(SIGPIPE, SIG_IGN);       /* the program need not read all it is given */
	if (sig_open(&sigs, (const int[]){SIGCHLD, SIGTERM, 0}, &e) < 0)
		die_err(&e);
	loop(&t, sigs.fd);
	status = stage_end(&t.s);
	all_bufs(&t, buf_free);
	for (size_t i = 0; i < t.nopen; i++)
		free(t.open[i]);
	free(t.open);
	free(t.stop);
	sig_close(&sigs);
	finish(t.s.ring ? status : status_worse(status, t.status));
}

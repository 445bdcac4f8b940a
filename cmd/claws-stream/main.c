/* claws-stream - call a model once: claws-stream(1). */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "opt/opt.h"
#include "stream.h"
#include "sys/io.h"

#define OUT_MUCH ((size_t)4 << 20)   /* unread output beyond which the network waits too */

#define AT(member) offsetof(struct conf, member)
static const struct opt options[] = {
	{'m', "model", "PROVIDER/MODEL", OPT_STR, AT(model), "the model to call", 0, 0, NULL},
	{0, "provider", "NAME", OPT_STR, AT(provider), "the provider to call, whatever the model's name says", 0, 0, NULL},
	{0, "wire", "NAME", OPT_STR, AT(wire), "the format to speak, instead of the provider's", 0, 0, WIRE_NAMES},
	{0, "base-url", "URL", OPT_STR, AT(base_url), "where the provider is", 0, 0, NULL},
	{0, "max-tokens", "N", OPT_LONG, AT(max_tokens), "the most tokens to answer with", 1, 100000000, NULL},
	{0, "temperature", "T", OPT_DOUBLE, AT(temperature), "the sampling temperature", 0, 0, NULL},
	{0, "thinking", "TOKENS|off", OPT_STR, AT(thinking), "the budget for reasoning, or none", 0, 0, NULL},
	{0, "effort", "LEVEL", OPT_STR, AT(effort), "how hard the model shall think", 0, 0, "none|low|medium|high|max"},
	{0, "timeout", "TIME", OPT_TIME, AT(timeout), "end the call, retries included, after this time (600)", 0, 0, NULL},
	{0, "connect-timeout", "TIME", OPT_TIME, AT(connect), "wait this long for a connection (10)", 0, 0, NULL},
	{0, "first-byte-timeout", "TIME", OPT_TIME, AT(first_byte), "wait this long for the first byte (120)", 0, 0, NULL},
	{0, "idle-timeout", "TIME", OPT_TIME, AT(idle), "wait this long for the next byte (180)", 0, 0, NULL},
	{0, "retries", "N", OPT_LONG, AT(retries), "try again this often (3)", 0, 100, NULL},
	{0, "fallback-model", "PROVIDER/MODEL", OPT_LIST, AT(fallback), "call this model where the other cannot be had", 0, 0, NULL},
	{0, "budget", "AMOUNT", OPT_LIST, AT(budget), "the most that the session may cost: $5, 200k", 0, 0, NULL},
	{0, "budget-day", "AMOUNT", OPT_LIST, AT(budget_day), "the most that a day may cost, all sessions together", 0, 0, NULL},
	{0, "no-breaker", NULL, OPT_FLAG, AT(no_breaker), "call a provider that was failing a moment ago, too", 0, 0, NULL},
	{0, "reset-breaker", NULL, OPT_FLAG, AT(reset_breaker), "forget that it was failing", 0, 0, NULL},
	{0, "no-stream", NULL, OPT_FLAG, AT(no_stream), "ask for the answer in one piece", 0, 0, NULL},
	{0, "dry-run", NULL, OPT_FLAG, AT(dry_run), "print the request as JSON and send nothing", 0, 0, NULL},
	{0, "explain", NULL, OPT_FLAG, AT(explain), "print which rules and rows choose what, and send nothing", 0, 0, NULL},
	{0, "record", "DIR", OPT_STR, AT(record), "keep each call in DIR", 0, 0, NULL},
	{0, "replay", "DIR", OPT_STR, AT(replay), "answer each call from DIR", 0, 0, NULL},
	{0, "match", "HOW", OPT_STR, AT(match), "how a replay finds its answer (request)", 0, 0, "request|order"},
	{0, "no-time", NULL, OPT_FLAG, AT(no_time), "no times, and ids that are counters", 0, 0, NULL},
	{0, NULL, NULL, OPT_FLAG, 0, NULL, 0, 0, NULL}};

static const struct opt_spec spec = {
	"claws-stream", "[OPTION...] <CONVERSATION", "Call a model once: messages in, its answer out, as lines of JSON.",
	options, NULL, "The key comes from the environment: ANTHROPIC_API_KEY and the like, or CLAWS_API_KEY.", 0};

/* Nobody reads: end as SIGPIPE ends a filter, also where it is ignored. */
static _Noreturn void reader_gone(void)
{
	raise(SIGPIPE);
	_exit(ST_SIGNAL + SIGPIPE);
}

static void flush(struct stream *s)
{
	stage_flush(&s->st);
	if (s->st.out.closed)
		reader_gone();
}

static long wait_time(const struct stream *s)
{
	long long left;

	if (s->phase == PHASE_IDLE)
		return -1;
	left = (s->phase == PHASE_WAITING ? s->wait_until : (long long)s->retry.deadline) - io_now_ms();
	return left < 0 ? 0 : left > 3600000 ? 3600000 : (long)left;
}

/* Sleeps until input, the network, the reader or the clock has something; handles input and reader. */
static void wait_for(struct stream *s)
{
	struct pollfd fds[2] = {
		{.fd = 1, .events = (short)(out_left(&s->st.out) ? POLLOUT : 0)},
		{.fd = 0, .events = POLLIN}};
	nfds_t n = s->st.eof ? 1 : 2;
	struct err e = ERR_INIT;

	if (s->phase != PHASE_RUNNING || out_left(&s->st.out) > OUT_MUCH) {
		if (poll(fds, n, (int)wait_time(s)) < 0)
			return;
		if (s->phase == PHASE_RUNNING)
			http_touch(&s->http);
	} else if (http_wait(&s->http, fds, n, wait_time(s), &e) < 0) {
		die_err(&e);
	}
	if (fds[0].revents & (POLLERR | POLLHUP | POLLNVAL))
		reader_gone();
	if (n == 2 && fds[1].revents)
		stage_fill(&s->st);
}

static void go_on(struct stream *s)
{
	if (s->phase == PHASE_RUNNING && !http_busy(&s->http))
		call_arrived(s);
	else if (s->phase == PHASE_RUNNING && io_now_ms() >= s->retry.deadline)
		call_out_of_time(s);
	else if (s->phase == PHASE_WAITING && io_now_ms() >= s->wait_until)
		call_again(s);
	while (s->phase == PHASE_IDLE && s->queued) {
		s->queued--;
		call_start(s);
	}
}

static void loop(struct stream *s)
{
	bool called = false;
	struct msg m;

	for (;;) {
		while (stage_next(&s->st, &m))
			input_line(s, &m);
		if (s->st.eof && s->conf.dry_run) {
			play_dry(s);
			return;
		}
		if (s->st.eof && s->st.ring) {
			if (s->phase != PHASE_IDLE)
				call_cut(s);
			return;
		}
		if (s->st.eof && !called) {
			called = true;
			call_start(s);
		}
		if (s->st.eof && s->phase == PHASE_IDLE)
			return;
		flush(s);
		wait_for(s);
		emit_pieces(s);
		go_on(s);
	}
}

/* A pipe of our own may be made non-blocking: then a slow reader does not keep us from reading. */
void unblock(struct stream *s)
{
	struct stat st;

	if (s->st.ring && !s->st.out.nonblock && fstat(1, &st) == 0 && S_ISFIFO(st.st_mode))
		out_nonblock(&s->st.out);
}

int main(int argc, char **argv)
{
	struct stream s = {.conf = {.temperature = -1, .timeout = 600000, .connect = 10000, .first_byte = 120000,
		.idle = 180000, .retries = 3}, .blobs = -1};
	int status;

	prog_name("claws-stream");
	if (opt_parse(&spec, argc, argv, &s.conf) < argc)
		opt_usage(&spec, "no operand is expected: the conversation comes on standard input");
	if (s.conf.record && s.conf.replay)
		opt_usage(&spec, "--record and --replay exclude each other");
	if (s.conf.no_time)
		setenv("CLAWS_NO_TIME", "1", 1);
	stage_init(&s.st, "claws-stream", 'a');
	buf_init(&s.body, BUF_NOLIMIT);
	buf_init(&s.canon, BUF_NOLIMIT);
	buf_init(&s.piece, BUF_NOLIMIT);
	if (setup(&s, &s.broken) == 0)
		quota_setup(&s, &s.broken);
	if (s.broken.status == ST_USAGE)
		opt_usage(&spec, "%s", s.broken.text);
	if (s.conf.explain) {
		if (s.broken.status)
			die_err(&s.broken);
		explain(&s);
		finish(ST_OK);
	}
	chain_begin(&s);
	unblock(&s);
	loop(&s);
	s.st.out.nonblock = false;
	status = s.st.ring ? ST_OK : s.status;
	status = status_worse(status, stage_end(&s.st));
	quota_end(&s);
	chain_free(&s);
	buf_free(&s.body);
	buf_free(&s.canon);
	buf_free(&s.piece);
	setup_free(&s);
#ifdef __SANITIZE_ADDRESS__
	prctl(PR_SET_DUMPABLE, 1L, 0L, 0L, 0L);   /* the leak check traces the process */
#endif
	return status;
}

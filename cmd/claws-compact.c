/* claws-compact - makes any conversation one that every provider takes and that fits the model's window.
 *
 * The messages are held (heal.h). Outside a ring end of file is the turn: the whole conversation goes out. In a ring `turn`
 * is held back until what is new has gone out before it, or, where the whole has become too long, `reset` and all of it,
 * shorter (snip_plan.h). All other lines pass at once. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/estimate.h"
#include "agent/heal.h"
#include "agent/snip_plan.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "opt/opt.h"
#include "proto/stage.h"
#include "sys/io.h"
#include "sys/spawn.h"

enum { WINDOW_DEFAULT = 128000, SHORT = 6000 /* tokens */, PERCENT_AT = 80, PERCENT_TO = 50 };

struct conf {
	long window;
	bool count;
};

static const struct opt options[] = {
	{'w', "window", "TOKENS", OPT_LONG, offsetof(struct conf, window),
	"size of the model's context window; 0: no limit (default: CLAWS_WINDOW, else the model's, else 128000)", 0, LONG_MAX, NULL},
	{'c', "count", NULL, OPT_FLAG, offsetof(struct conf, count),
	 "print the conversation's size and the limits instead", 0, 0, NULL},
	{0}};

static const struct opt_spec spec = {
	"claws-compact", "[OPTION...] < LINES", "Mend a conversation and make it fit the model's window.", options, NULL, NULL, 0};

struct compact {
	struct stage s;
	struct heal h;
	struct estimate est;
	uint64_t window;               /* tokens; 0: no limit */
	const char *window_from;       /* "option", "CLAWS_WINDOW", "model", "default", "provider" */
	bool asked;                    /* claws-models was asked for the model's window */
	uint64_t system, tools;        /* our count of those lines */
	size_t passed;                 /* groups that have gone out */
	bool head;                     /* nothing of the conversation has come yet: system lines count */
	bool started;                  /* in a ring: the first turn has gone out */
	bool again;                    /* all of it has to go out anew */
	bool forced;                   /* a compact_request waits for the turn */
	bool counting;                 /* --count */
	bool told;                     /* that it cannot be made shorter */
	int64_t limit;                 /* of the request; 0: not said */
};

static void window_init(struct compact *c, const struct conf *conf)
{
	const char *s = getenv("CLAWS_WINDOW");
	char *end;

	c->window = WINDOW_DEFAULT;
	c->window_from = "default";
	if (conf->window >= 0) {
		c->window = (uint64_t)conf->window;
		c->window_from = "option";
	} else if (s && *s) {
		errno = 0;
		long n = strtol(s, &end, 10);
		if (errno || *end || end == s || n < 0)
			die(ST_CONFIG, "CLAWS_WINDOW is '%s': give a number of tokens, or 0 for no limit", s);
		c->window = (uint64_t)n;
		c->window_from = "CLAWS_WINDOW";
	}
}

/* Tokens that the next request takes, as the provider will count them. */
static uint64_t all_tokens(const struct compact *c)
{
	return estimate_real(&c->est, c->system + c->tools + c->h.tokens);
}

static uint64_t shown(void *arg, uint64_t conversation)
{
	struct compact *c = arg;

	return estimate_real(&c->est, c->system + c->tools + conversation);
}

/* What is left for the conversation when the whole request is to take `all` tokens: at least a sixteenth of the window,
 * should the system prompt and the tools alone be too long. */
static uint64_t room(const struct compact *c, uint64_t all, uint64_t window)
{
	uint64_t ours = estimate_ours(&c->est, all), fixed = c->system + c->tools;
	uint64_t least = estimate_ours(&c->est, window / 16);

	return ours > fixed + least ? ours - fixed : least;
}

static void write_group(struct compact *c, const struct heal_group *g)
{
	stage_write(&c->s, g->msg.line, g->msg.len);
	for (size_t i = 0; i < g->ncalls; i++)
		stage_write(&c->s, g->calls[i].result.line, g->calls[i].result.len);
}

static void tell_healed(struct compact *c)
{
	struct buf words;

	buf_init(&words, 4096);
	if (heal_told(&c->h, &words))
		stage_notice(&c->s, "conversation mended: %s", words.p);
	buf_free(&words);
}

/* The window of the model, as claws-models(1) knows it or asks the server for it. Asked only when the conversation is no longer
 * a short one: till then every window is large enough, and most runs end before. */
static void learn_window(struct compact *c, uint64_t now)
{
	if (c->asked || now <= SHORT || strcmp(c->window_from, "default") != 0)
		return;

	char dir[PATH_MAX], text[64];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
	int fd[2];

	c->asked = true;
	if (n <= 0 || pipe2(fd, O_CLOEXEC) < 0)
		return;
	dir[n] = 0;
	dir[strrchr(dir, '/') - dir] = 0;
	char *program = xasprintf("%s/claws-models", dir);
	const char *argv[] = {program, "--window", NULL};
	struct spawn_fd map[] = {{0, SPAWN_NULL}, {1, fd[1]}, {2, SPAWN_NULL}};
	struct spawn sp = {.argv = argv, .fds = map, .nfds = 3};
	pid_t pid = spawn_start(&sp, NULL);
	struct buf out;

	close(fd[1]);
	buf_init(&out, sizeof text);
	if (pid > 0) {
		io_read_all(fd[0], &out, NULL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(fd[0]);
	if (out.len && isdigit((unsigned char)*out.p) && strtoull(out.p, NULL, 10) > 0) {
		c->window = strtoull(out.p, NULL, 10);
		c->window_from = "model";
	}
	buf_free(&out);
	free(program);
}

/* Makes it shorter if it is too long, or asked to; the compaction lines go to `lines`. True if it is shorter now. */
static bool fit(struct compact *c, struct buf *lines)
{
	uint64_t now = all_tokens(c), window, to;

	learn_window(c, now);
	window = c->window;
	if (c->forced && c->limit > 0 && (!window || (uint64_t)c->limit < window)) {
		window = c->window = (uint64_t)c->limit;
		c->window_from = "provider";
	}
	if (!c->forced && (!window || now <= window / 100 * PERCENT_AT))
		return false;
	if (!window)
		window = now;
	to = window / 100 * PERCENT_TO;
	/* The provider found it too long although we did not: what we count is not what it counts. */
	if (c->forced && to > now / 2)
		to = now / 2;
	uint64_t at = c->forced ? to : window / 100 * PERCENT_AT, before = c->h.tokens;
	struct snip_want want = {room(c, to, window), room(c, at, window), shown, c};
	bool some = snip_fit(&c->h, &want, lines) && c->h.tokens < before;

	if (some) {
		stage_notice(&c->s, "conversation made shorter: about %" PRIu64 " tokens, now about %" PRIu64
		             "; the window has %" PRIu64 " (%s)", now, all_tokens(c), window, c->window_from);
		c->told = false;
	}
	if (all_tokens(c) > window && !c->told) {
		stage_notice(&c->s, "conversation too long: about %" PRIu64 " tokens, the window has %" PRIu64
		             " (%s), and nothing can be made shorter", all_tokens(c), window, c->window_from);
		c->told = true;
	}
	return some;
}

/* Everything that is new goes out, or everything. */
static void turn(struct compact *c)
{
	struct buf lines;

	buf_init(&lines, BUF_NOLIMIT);
	heal_settle(&c->h);
	tell_healed(c);
	if (fit(c, &lines) || c->again) {
		if (c->s.ring) {
			stage_begin(&c->s, MSG_RESET);
			stage_emit(&c->s);
		}
		c->passed = 0;
	}
	while (c->passed < c->h.n)
		write_group(c, c->h.g[c->passed++]);
	if (lines.len)
		stage_write(&c->s, lines.p, lines.len - 1);
	buf_free(&lines);
	c->forced = c->again = c->head = false;
	c->limit = 0;
}

static void count(struct compact *c)
{
	heal_settle(&c->h);
	learn_window(c, all_tokens(c));
	struct jw *w = &c->s.jw;
	buf_clear(&c->s.made);
	*w = jw_begin(&c->s.made);
	jw_obj(w);
	jw_ki64(w, "messages", (int64_t)c->h.messages);
	jw_ki64(w, "tokens", (int64_t)all_tokens(c));
	jw_ki64(w, "window", (int64_t)c->window);
	jw_kstr(w, "window_from", c->window_from);
	jw_ki64(w, "compact_at", (int64_t)(c->window / 100 * PERCENT_AT));
	stage_emit(&c->s);
}

static void message(struct compact *c, const struct msg *m)
{
	c->head = false;
	if (m->kind == MSG_ASSISTANT)
		estimate_learn(&c->est, m->json, c->system + c->tools + c->h.tokens);
	heal_add(&c->h, m->json);
}

/* A system line within the log is what some earlier ring had; it must not become the one of this. */
static bool fixed_line(struct compact *c, const struct msg *m)
{
	if (m->kind == MSG_SYSTEM && !c->head && !c->started)
		return false;
	uint64_t t = estimate_line(m->json);
	if (m->kind == MSG_SYSTEM)
		c->system = t;
	else
		c->tools = t;
	return true;
}

/* From the log: the conversation was made shorter at this point. What comes later, in a ring, is our own. */
static void compaction(struct compact *c, const struct msg *m)
{
	if (c->started)
		return;
	heal_settle(&c->h);
	snip_again(&c->h, m->json);
}

/* True if the line is to be passed on. */
static bool take(struct compact *c, const struct msg *m)
{
	int64_t limit;

	switch (m->kind) {
	case MSG_USER:
	case MSG_ASSISTANT:
	case MSG_TOOL:
		message(c, m);
		return false;
	case MSG_SYSTEM:
	case MSG_TOOLS:
		return fixed_line(c, m);
	case MSG_SESSION:
	case MSG_RING:
		c->head = false;
		return true;
	case MSG_COMPACTION:
		compaction(c, m);
		return false;
	case MSG_COMPACT_REQUEST:
		c->forced = true;
		if (json_i64(m->json, json_get(m->json, 0, "limit"), &limit) == 0 && limit > 0)
			c->limit = limit;
		return false;
	case MSG_RESET:
		heal_forget(&c->h);
		c->again = c->started;
		return false;
	case MSG_TURN:
		if (c->s.ring && !c->counting) {
			turn(c);
			c->started = true;
		}
		return true;
	default:
		return true;
	}
}

int main(int argc, char **argv)
{
	static struct compact c;
	struct conf conf = {.window = -1};
	struct msg m;

	prog_name("claws-compact");
	if (opt_parse(&spec, argc, argv, &conf) < argc)
		opt_usage(&spec, "operands are not taken; the conversation comes on stdin");
	stage_init(&c.s, "claws-compact", 'c');
	window_init(&c, &conf);
	heal_init(&c.h);
	c.est = (struct estimate)ESTIMATE_INIT;
	c.head = true;
	c.counting = conf.count;
	while (stage_read(&c.s, &m))
		if (take(&c, &m) && !conf.count)
			stage_pass(&c.s, &m);
	if (conf.count)
		count(&c);
	else if (!c.s.ring)
		turn(&c);
	heal_free(&c.h);
	return stage_end(&c.s);
}

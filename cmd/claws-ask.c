/* claws-ask: asks at the terminal whether a tool call may run. A permission_request on stdin, a permission on stdout. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "json/jw.h"
#include "opt/opt.h"
#include "proto/lines.h"
#include "sys/dirs.h"
#include "sys/io.h"
#include "sys/lock.h"
#include "sys/sig.h"
#include "sys/term.h"

#define SHORT_LINES 24        /* of a value that is not a command; v shows all */
#define DEAF_MS 250           /* keys this soon after the question were meant for something else */

static const struct opt options[] = {
	{0, NULL, NULL, 0, 0, NULL, 0, 0, NULL},
};

static const struct opt_spec spec = {
	.prog = "claws-ask",
	.args = "",
	.summary = "Ask at the terminal for permission: a permission_request on stdin, a permission on stdout.",
	.options = options,
	.footer = "claws-tool runs it when CLAWS_ASK names no other program. Exit status 1: nobody could be asked.\n",
};

struct ask {
	int tty;
	struct sigs sigs;
	struct termios before;
	bool raw;
	struct lock lock;
	struct buf line;          /* the question */
	struct json j;
};

/* ---- what is shown ---- */

/* Foreign text as a block: every row of the screen begins with our mark, however long its lines are, so that nothing
 * in it can look like the question. */
static void add_block(struct buf *out, const char *s, size_t n, size_t max_lines, int width)
{
	struct buf safe;
	size_t lines = 0, room = (size_t)(width > 12 ? width - 6 : 6), used = 0, at = 0;

	buf_init(&safe, BUF_NOLIMIT);
	term_safe(&safe, s, n, 0);
	while (safe.len && safe.p[safe.len - 1] == '\n')
		buf_truncate(&safe, safe.len - 1);
	buf_adds(out, "  | ");
	while (at < safe.len && lines < max_lines) {
		uint32_t cp = 0;
		int len = utf8_decode(safe.p + at, safe.len - at, &cp), cells;
		if (len < 1)
			len = 1;
		cells = cp == '\t' ? 4 : cp == '\n' ? 0 : term_cells(cp);
		if (cp == '\n' || used + (size_t)(cells > 0 ? cells : 0) > room) {
			buf_adds(out, "\n  | ");
			used = 0;
			lines++;
		}
		if (cp == '\t')
			buf_adds(out, "    ");
		else if (cp != '\n')
			buf_add(out, safe.p + at, (size_t)len);
		used += cp == '\n' ? 0 : (size_t)(cells > 0 ? cells : 0);
		at += (size_t)len;
	}
	buf_addc(out, '\n');
	if (at < safe.len)
		buf_addf(out, "  (%zu more bytes; v shows all)\n", safe.len - at);
	buf_free(&safe);
}

/* A label and foreign text on one row; as a block below the label if it is longer than that. */
static void add_row(struct buf *out, const struct ask *a, const char *label, const char *key, int width)
{
	char *s = json_dup(&a->j, json_get(&a->j, 0, key));
	struct buf safe;

	buf_init(&safe, BUF_NOLIMIT);
	if (s)
		term_safe(&safe, s, strlen(s), TERM_ONE_LINE);
	buf_addf(out, "  %s: ", label);
	if (strlen(label) + 4 + term_cells_of(safe.p, safe.len) < (size_t)width) {
		buf_add(out, safe.p, safe.len);
		buf_addc(out, '\n');
	} else {
		buf_addc(out, '\n');
		add_block(out, safe.p, safe.len, SIZE_MAX, width);
	}
	buf_free(&safe);
	free(s);
}

static void add_word(struct buf *out, const struct ask *a, const char *key)
{
	char *s = json_dup(&a->j, json_get(&a->j, 0, key));

	if (s)
		term_safe(out, s, strlen(s), TERM_ONE_LINE);
	free(s);
}

/* A command is shown whole, always; of other long arguments the beginning. */
static void add_input(struct buf *out, const struct ask *a, bool all, int width)
{
	const struct json *j = &a->j;
	bool bash = json_eq(j, json_get(j, 0, "name"), "Bash");

	for (struct json_iter it = json_iter(j, json_get(j, 0, "input")); json_next(&it);) {
		size_t n;
		const char *raw = json_raw(j, it.value, &n);
		char *key = json_dup(j, it.key), *s = json_dup(j, it.value);
		bool command = bash && !strcmp(key, "command");
		if (!command) {
			buf_adds(out, "  ");
			term_safe(out, key, strlen(key), TERM_ONE_LINE);
			buf_adds(out, ":\n");
		}
		add_block(out, s ? s : raw, s ? strlen(s) : n, all || command ? SIZE_MAX : SHORT_LINES, width);
		free(key);
		free(s);
	}
}

/* What does not fit on the screen has scrolled away: fifty blank lines must not hide what stands above them. */
static void add_size(struct buf *out, int tty)
{
	struct winsize ws;
	size_t rows = 1, screen = ioctl(tty, TIOCGWINSZ, &ws) == 0 && ws.ws_row ? ws.ws_row : 24;

	for (size_t i = 0; i < out->len; i++)
		rows += out->p[i] == '\n';
	if (rows >= screen)
		buf_addf(out, "  (this question has %zu rows: scroll up to read its beginning)\n", rows + 1);
}

static void show(const struct ask *a, bool all)
{
	struct buf b;
	int width = term_width(a->tty);

	buf_init(&b, BUF_NOLIMIT);
	buf_adds(&b, "\nclaws asks: run ");
	add_word(&b, a, "name");
	buf_adds(&b, "?\n");
	add_row(&b, a, "in", "cwd", width);
	add_input(&b, a, all, width);
	add_row(&b, a, "because", "reason", width);
	if (json_get(&a->j, 0, "rule") >= 0)
		add_row(&b, a, "a allows from now on, in this session", "rule", width);
	add_size(&b, a->tty);
	buf_adds(&b, json_get(&a->j, 0, "rule") >= 0 ? "y yes, n no, a always, v view all, ? help [no] " :
	         "y yes, n no, v view all, ? help [no] ");
	io_write_all(a->tty, b.p, b.len, NULL);
	buf_free(&b);
}

static void say(const struct ask *a, const char *s)
{
	io_write_all(a->tty, s, strlen(s), NULL);
}

/* ---- the terminal ---- */

static void restore(struct ask *a)
{
	if (!a->raw)
		return;
	/* Keys that came with the answer were not meant for the next reader either. */
	tcsetattr(a->tty, TCSAFLUSH, &a->before);
	a->raw = false;
}

_Noreturn static void give_up(struct ask *a, const char *why)
{
	if (a->raw)
		say(a, "\n");
	restore(a);
	lock_release(&a->lock);
	die(ST_FAILED, "%s", why);
}

/* The asker no longer reads: it was interrupted, or has no time left. */
static bool asker_gone(void)
{
	struct pollfd p = {.fd = 1};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP | POLLNVAL));
}

/* One question at a time on one terminal, whichever claws asks. /dev/tty is the same file for all terminals, so the
 * lock is named after the device behind it. */
static void take_lock(struct ask *a)
{
	struct err e = ERR_INIT;
	struct buf path;
	unsigned int dev = 0;

	buf_init(&path, PATH_MAX);
	if (dirs_runtime(&path, NULL, &e) < 0)
		die_err(&e);
	ioctl(a->tty, TIOCGDEV, &dev);
	buf_addf(&path, "/ask-%x", dev);
	while (lock_take(&a->lock, path.p, 200, 0, &e) < 0) {
		if (e.status != ST_TEMP)
			die_err(&e);
		err_clear(&e);
		if (asker_gone() || sig_read(&a->sigs, NULL) > 0)
			exit(ST_FAILED);
	}
	buf_free(&path);
}

static void open_terminal(struct ask *a)
{
	struct termios t;

	a->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (a->tty < 0)
		die(ST_FAILED, "there is no terminal to ask at: %s", strerror(errno));
	take_lock(a);
	if (tcgetpgrp(a->tty) != getpgrp())
		give_up(a, "cannot ask: this job is in the background");
	if (tcgetattr(a->tty, &a->before) < 0)
		give_up(a, "cannot ask: the terminal has no settings");
	t = a->before;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	t.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (tcsetattr(a->tty, TCSAFLUSH, &t) < 0)
		give_up(a, "cannot ask: the terminal cannot be set");
	a->raw = true;
}

/* Waits; true if a key can be read. Gives up when told to, or when nobody wants the answer. */
static bool wait_key(struct ask *a, long ms)
{
	long long until = io_now_ms() + ms;

	for (;;) {
		long long left = until - io_now_ms();
		struct pollfd p[] = {{.fd = a->tty, .events = POLLIN}, {.fd = a->sigs.fd, .events = POLLIN}, {.fd = 1}};

		if (ms >= 0 && left <= 0)
			return false;
		if (poll(p, 3, ms < 0 ? -1 : (int)left) < 0 && errno != EINTR)
			give_up(a, "cannot wait for a key");
		if (p[2].revents & (POLLERR | POLLNVAL))
			give_up(a, "the question was withdrawn");
		if (p[1].revents)
			give_up(a, "the question was broken off");
		if (p[0].revents)
			return true;
	}
}

/* What was typed before the question could be read is not an answer to it. */
static void deaf(struct ask *a)
{
	long long until = io_now_ms() + DEAF_MS;

	tcflush(a->tty, TCIFLUSH);
	while (io_now_ms() < until) {
		if (wait_key(a, (long)(until - io_now_ms())))
			tcflush(a->tty, TCIFLUSH);
	}
	tcflush(a->tty, TCIFLUSH);
}

/* One key. Several at once are a paste, or an arrow key: none of them counts. 0: the terminal is gone. */
static int key(struct ask *a)
{
	char k[64];

	for (;;) {
		ssize_t n;
		wait_key(a, -1);
		n = read(a->tty, k, sizeof k);
		if (n == 1)
			return (unsigned char)k[0];
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			return 0;
		if (n > 1)
			tcflush(a->tty, TCIFLUSH);
	}
}

enum answer { NO, YES, ALWAYS };

static enum answer question(struct ask *a)
{
	bool rule = json_get(&a->j, 0, "rule") >= 0;

	show(a, false);
	deaf(a);
	for (;;) {
		switch (key(a)) {
		case 'y': case 'Y':
			say(a, "yes\n");
			return YES;
		case 'a': case 'A':
			if (!rule)
				break;
			say(a, "always\n");
			return ALWAYS;
		case 'v': case 'V':
			show(a, true);
			deaf(a);
			break;
		case '?': case 'h':
			say(a, "\n  y  run it, this once\n"
			       "  a  run it, and whatever the rule above matches until the session ends\n"
			       "  n, Enter, Escape, Ctrl-C, Ctrl-D  do not run it\n"
			       "  v  show the arguments whole\n");
			show(a, false);
			deaf(a);
			break;
		case 'n': case 'N': case 'q': case '\r': case '\n': case 0: case 3: case 4: case 27:
			say(a, "no\n");
			return NO;
		default:
			break;
		}
	}
}

/* ---- question and answer ---- */

static void read_question(struct ask *a)
{
	struct err e = ERR_INIT;
	struct lines in;
	struct line l;
	enum lines_got got;

	lines_init(&in, 0, LINE_MAX_BYTES);
	while ((got = lines_next(&in, &l)) == LINES_NEED)
		if (lines_fill(&in, &e) < 0)
			die_err(&e);
	if (got != LINES_LINE)
		die(ST_DATA, "expected a permission_request on stdin");
	buf_add(&a->line, l.p, l.len);
	lines_free(&in);
	if (json_parse(&a->j, a->line.p, a->line.len, &e) < 0)
		die(ST_DATA, "the question on stdin: %s", e.text);
	if (!json_eq(&a->j, json_get(&a->j, 0, "type"), "permission_request"))
		die(ST_DATA, "the question on stdin is no permission_request");
}

/* The answer bears the hash; it must be that of what was shown. */
static void check_hash(const struct ask *a)
{
	char hex[SHA256_HEX];
	struct buf canon;

	buf_init(&canon, BUF_NOLIMIT);
	json_canon(&canon, &a->j, json_get(&a->j, 0, "input"));
	sha256_hex(hex, canon.p, canon.len);
	if (!json_eq(&a->j, json_get(&a->j, 0, "hash"), hex))
		die(ST_DATA, "the question's hash is not that of its input");
	buf_free(&canon);
}

static void copy_key(struct jw *w, const struct ask *a, const char *name)
{
	size_t n;
	const char *raw = json_raw(&a->j, json_get(&a->j, 0, name), &n);

	if (raw)
		jw_kraw(w, name, raw, n);
}

static void answer(const struct ask *a, enum answer what)
{
	struct buf b;
	struct jw w;

	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "type", "permission");
	copy_key(&w, a, "id");
	jw_kstr(&w, "decision", what == NO ? "deny" : "allow");
	jw_kstr(&w, "by", "user");
	if (what == ALWAYS)
		copy_key(&w, a, "rule");
	copy_key(&w, a, "hash");
	jw_end(&w);
	puts(b.p);
	buf_free(&b);
}

int main(int argc, char **argv)
{
	struct ask a = {.tty = -1, .lock = {.fd = -1}, .j = JSON_INIT};
	struct err e = ERR_INIT;
	enum answer what;

	prog_name("claws-ask");
	if (opt_parse(&spec, argc, argv, &a) < argc)
		opt_usage(&spec, "no operand expected; the question comes on stdin");
	buf_init(&a.line, LINE_MAX_BYTES);
	read_question(&a);
	check_hash(&a);
	if (sig_open(&a.sigs, (const int[]){SIGTERM, SIGHUP, SIGINT, SIGQUIT, 0}, &e) < 0)
		die_err(&e);
	open_terminal(&a);
	what = question(&a);
	restore(&a);
	lock_release(&a.lock);
	answer(&a, what);
	sig_close(&a.sigs);
	json_free(&a.j);
	buf_free(&a.line);
	finish(ST_OK);
}

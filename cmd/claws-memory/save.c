#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "memory.h"
#include "sys/io.h"

/* The text: the operands joined by blanks, else stdin. */
static void take_text(struct memory *m, char **words, int n)
{
	struct err e = ERR_INIT;
	struct buf raw;

	buf_init(&raw, MEMORY_TEXT);
	for (int i = 0; i < n; i++) {
		if (i)
			buf_addc(&raw, ' ');
		buf_adds(&raw, words[i]);
	}
	if (raw.over)
		die(ST_DATA, "a memory's text has at most %zu bytes", MEMORY_TEXT);
	if (!n && isatty(STDIN_FILENO))
		die(ST_USAGE, "no text: give it as an operand or on stdin");
	if (!n && io_read_all(STDIN_FILENO, &raw, &e) < 0)
		die_err(&e);
	buf_clear(&m->text);
	utf8_repair(&m->text, raw.p, raw.len);
	buf_free(&raw);
	size_t k = m->text.len;
	while (k && strchr(" \t\r\n", m->text.p[k - 1]))
		k--;
	buf_truncate(&m->text, k);
	if (!k)
		die(ST_DATA, "the text is empty: nothing saved");
}

/* The first line of the text, if no description was given. */
static void take_description(struct memory *m, const char *given)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	if (given) {
		memory_one_line(&b, given);
	} else {
		struct buf first;
		buf_init(&first, BUF_NOLIMIT);
		const char *s = m->text.p + strspn(m->text.p, "#> \t\r\n");
		buf_add(&first, s, strcspn(s, "\n"));
		memory_one_line(&b, first.p);
		buf_free(&first);
		if (b.len > 120) {
			buf_truncate(&b, utf8_cut(b.p, 117));
			buf_adds(&b, "...");
		}
	}
	memory_set(&m->description, b.p);
	buf_free(&b);
}

int do_save(const struct memory_store *s, const struct conf *c, char **args, int n)
{
	struct err e = ERR_INIT;
	struct memory m;
	struct buf name;
	char date[16] = "";
	time_t now = time(NULL);
	struct tm tm;

	memory_init(&m);
	buf_init(&name, BUF_NOLIMIT);
	utf8_repair(&name, args[0], strlen(args[0]));
	struct buf line;
	buf_init(&line, BUF_NOLIMIT);
	memory_one_line(&line, name.p);
	memory_set(&m.name, line.p);
	if (c->origin)
		memory_set(&m.origin, c->origin);
	m.scope = scope_of(c, memory_is_users(&m) ? MEMORY_USER : MEMORY_PROJECT);
	if (m.scope == MEMORY_BOTH)
		die(ST_USAGE, "save: --scope is user or project");
	memory_set(&m.type, c->type ? c->type : m.scope == MEMORY_PROJECT ? "project" : "user");
	take_text(&m, args + 1, n - 1);
	take_description(&m, c->description);
	if (!c->no_time && localtime_r(&now, &tm))
		strftime(date, sizeof date, "%Y-%m-%d", &tm);
	if (memory_save(s, &m, *date ? date : NULL, &e) < 0)
		die_err(&e);
	buf_free(&name);
	buf_free(&line);
	memory_free(&m);
	return ST_OK;
}

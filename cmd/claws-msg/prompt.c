/* prompt.c - claws-msg prompt: files, stdin and words become user messages. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "llm/media.h"
#include "msg_cmd.h"
#include "proto/stage.h"
#include "sys/blob.h"
#include "sys/io.h"

#define TEXT_MAX ((size_t)16 << 20)     /* of one message: escaped it may take six times that, and a line has 64 MiB */
#define IMAGE_MAX ((size_t)5 << 20)     /* what Anthropic's API takes for one image; the others take more */
#define IMAGE_SIDE 8000                 /* pixels, likewise */
#define DOCUMENT_MAX ((size_t)24 << 20) /* 32 MiB of base64, the most of a request */
#define FILE_MAX ((size_t)32 << 20)     /* beyond it a file is not read at all */

struct prompt {
	const struct conf *c;
	struct stage *s;
	struct buf images;      /* JSON objects, joined by commas: images and documents */
	struct buf notes;       /* text for those that are none */
	int blobs;              /* the session's blob directory; -1 not open */
	bool stdin_done;
	size_t made;
};

/* Text that JSON can carry: UTF-8 without NUL. What was replaced is told. */
static void clean(struct buf *out, const struct buf *in, const char *what)
{
	size_t bad = utf8_repair(out, in->p, in->len), nul = 0;

	for (char *p; (p = memchr(out->p, 0, out->len)) != NULL; nul++) {
		size_t at = (size_t)(p - out->p);

		buf_insert(out, at, "\357\277\275", 3);
		memmove(out->p + at + 3, out->p + at + 4, out->len - at - 4);
		buf_truncate(out, out->len - 1);
	}
	if (bad || nul)
		warn("%s: not UTF-8 text: %zu bytes or sequences replaced by U+FFFD", what, bad + nul);
}

static void message(struct prompt *p, const char *text, size_t n, const char *origin, const char *name)
{
	struct jw *w = stage_begin(p->s, MSG_USER);
	char id[24];

	jw_kstrn(w, "content", text, n);
	jw_kstr(w, "origin", origin);
	if (name)
		jw_kstr(w, "name", name);
	if (p->images.len && !strcmp(origin, "user")) {
		jw_key(w, "images");
		jw_arr(w);
		jw_raw(w, p->images.p, p->images.len);
		jw_end(w);
	}
	stage_id(p->s, id);
	jw_kstr(w, "id", id);
	stage_kts(p->s, w);
	stage_emit(p->s);
	p->made++;
}

static void emit_text(struct prompt *p, const struct buf *raw, const char *what, const char *origin, const char *name)
{
	struct buf text;

	buf_init(&text, 4 * TEXT_MAX);
	clean(&text, raw, what);
	message(p, text.p, text.len, origin, name);
	buf_free(&text);
}

static void read_stdin(struct prompt *p, struct buf *b, long first_ms, bool needed)
{
	struct err e = ERR_INIT;
	int got;

	p->stdin_done = true;
	got = stdin_read(b, first_ms, &e);
	if (got < 0)
		die_err(&e);
	if (!got && needed)
		die(ST_NOINPUT, "stdin: no prompt came in time");
	if (!got && stdin_kind() != STDIN_SOCKET)
		warn("stdin: nothing came in time, going on without it");
}

static void note(struct prompt *p, const char *option, const char *path, const char *what, const char *why)
{
	warn("%s %s: %s; the model is told so", option, path, why);
	buf_addf(&p->notes, "%s[%s %s could not be used: %s]", p->notes.len ? "\n" : "", what, path, why);
}

/* Why no provider would take it; NULL: nothing is wrong. */
static const char *unusable(const struct media *m, size_t n)
{
	if (media_document(m))
		return n > DOCUMENT_MAX ? "larger than 24 MB" : NULL;
	if (n > IMAGE_MAX)
		return "larger than 5 MB";
	return m->width > IMAGE_SIDE || m->height > IMAGE_SIDE ? "more than 8000 pixels a side" : NULL;
}

/* Puts an image or a document beside the log and into the last message. */
static void attach(struct prompt *p, const char *option, const char *path, const struct buf *b)
{
	struct err e = ERR_INIT;
	struct media m;
	struct jw w;
	const char *why;
	char name[BLOB_NAME];

	if (!p->c->session)
		die(ST_USAGE, "%s %s needs --session LOG: images and documents are kept beside the session's log", option, path);
	if (media_look(&m, (const unsigned char *)b->p, b->len, &why))
		why = unusable(&m, b->len);
	if (why) {
		note(p, option, path, media_document(&m) ? "document" : "image", why);
		return;
	}
	if (p->blobs < 0 && (p->blobs = session_blobs(p->c->session, &e)) < 0)
		die_err(&e);
	if (blob_put(p->blobs, b->p, b->len, name, &e) < 0)
		die_err(&e);
	if (p->images.len)
		buf_addc(&p->images, ',');
	w = jw_begin(&p->images);
	jw_obj(&w);
	jw_kstr(&w, "media_type", m.type);
	jw_kstr(&w, "blob", name);
	jw_kstr(&w, "name", path);
	jw_end(&w);
}

static void add_file(struct prompt *p, const char *path)
{
	struct err e = ERR_INIT;
	struct media m;
	struct buf b;
	const char *why;

	buf_init(&b, strcmp(path, "-") ? FILE_MAX : TEXT_MAX);
	if (!strcmp(path, "-")) {
		if (stdin_kind() == STDIN_NONE || p->stdin_done)
			die(ST_NOINPUT, "-f -: stdin is %s", p->stdin_done ? "read already" : "closed or empty");
		read_stdin(p, &b, p->c->stdin_wait, true);
		emit_text(p, &b, "stdin", "stdin", NULL);
	} else {
		if (io_read_file(AT_FDCWD, path, &b, &e) < 0)
			die(e.status == ST_DATA ? ST_DATA : ST_NOINPUT, "-f: %s", e.text);
		media_look(&m, (const unsigned char *)b.p, b.len, &why);
		if (m.type && !media_document(&m))
			die(ST_DATA, "-f %s: is an image: give it with -i", path);
		if (m.type)
			attach(p, "-f", path, &b);
		else if (b.len > TEXT_MAX)
			die(ST_DATA, "-f %s: the text is longer than %zu bytes", path, TEXT_MAX);
		else
			emit_text(p, &b, path, "file", path);
	}
	buf_free(&b);
}

static void add_image(struct prompt *p, const char *path)
{
	struct err e = ERR_INIT;
	struct buf b;

	if (!p->c->session)
		die(ST_USAGE, "-i needs --session LOG: images are kept beside the session's log");
	buf_init(&b, FILE_MAX);
	if (io_read_file(AT_FDCWD, path, &b, &e) == 0)
		attach(p, "-i", path, &b);
	else if (e.status == ST_DATA)
		note(p, "-i", path, "image", "larger than 5 MB");
	else
		die(ST_NOINPUT, "-i: %s", e.text);
	buf_free(&b);
}

/* The words as one text. */
static void add_words(struct buf *words, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		buf_adds(words, i ? " " : "");
		buf_adds(words, argv[i]);
	}
}

static bool blank(const struct buf *b)
{
	return strspn(b->p, " \t\r\n") == b->len;
}

/* stdin beside a prompt: data for it. Without one: the prompt itself. */
static void add_stdin(struct prompt *p, struct buf *in)
{
	enum stdin_kind kind = stdin_kind();
	long wait = p->c->stdin_wait;

	if (p->c->no_stdin || p->stdin_done || kind == STDIN_NONE || kind == STDIN_TERMINAL)
		return;
	if (kind == STDIN_SOCKET && (wait < 0 || wait > 1000))
		wait = 1000;            /* daemons and editors hand theirs down and never close it */
	read_stdin(p, in, wait, false);
}

static void last_message(struct prompt *p, struct buf *text)
{
	if (p->notes.len) {
		if (!blank(text))
			buf_adds(text, "\n\n");
		else
			buf_clear(text);
		buf_add(text, p->notes.p, p->notes.len);
	} else if (blank(text)) {
		buf_clear(text);
	}
	while (text->len && text->p[text->len - 1] == '\n')
		buf_truncate(text, text->len - 1);
	if (text->len || p->images.len)
		emit_text(p, text, "prompt", "user", NULL);
}

/* Under --no-time ids are counters: they go on where the session's log and its waiting messages stand. */
static void count_on(struct stage *s, const char *path)
{
	struct json j = JSON_INIT;
	struct lines in;
	struct line l;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	lines_init(&in, fd, LINE_MAX_BYTES);
	for (enum lines_got got; (got = lines_next(&in, &l)) != LINES_END;) {
		if (got == LINES_NEED && lines_fill(&in, NULL) <= 0 && !in.eof)
			break;
		if (got == LINES_LINE && json_parse(&j, l.p, l.len, NULL) == 0) {
			char *id = json_dup(&j, json_get(&j, 0, "id")), *end;
			unsigned long n = id && *id == s->letter ? strtoul(id + 1, &end, 10) : 0;

			if (n && !*end && n > s->id_count)
				s->id_count = n;
			free(id);
		}
	}
	json_free(&j);
	lines_free(&in);
	close(fd);
}

/* Standard output to a file of 0600, whatever the umask. */
static void to_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || fchmod(fd, 0600) < 0 || dup2(fd, 1) < 0)
		die(ST_IO, "cannot write to '%s': %s", path, strerror(errno));
	close(fd);
}

static void begin(struct prompt *p, struct stage *s, const struct conf *c)
{
	struct buf inbox;

	*p = (struct prompt){.c = c, .s = s, .blobs = -1};
	if (c->output)
		to_file(c->output);
	buf_init(&p->images, BUF_NOLIMIT);
	buf_init(&p->notes, BUF_NOLIMIT);
	stage_init(s, "claws-msg", 'u');
	s->no_time |= c->no_time;
	if (!s->no_time || !c->session)
		return;
	buf_init(&inbox, 8192);
	count_on(s, c->session);
	if (session_side(c->session, "inbox", &inbox, NULL) == 0)
		count_on(s, inbox.p);
	buf_free(&inbox);
}

int cmd_prompt(const struct conf *c, int argc, char **argv)
{
	struct prompt p;
	struct stage s;
	struct buf in, words;

	begin(&p, &s, c);
	buf_init(&in, TEXT_MAX);
	buf_init(&words, TEXT_MAX);
	for (size_t i = 0; i < c->files.n; i++)
		add_file(&p, c->files.v[i]);
	if (argc == 1 && !strcmp(argv[0], "-")) {
		if (c->no_stdin)
			die(ST_USAGE, "-n and the prompt '-' exclude each other");
		if (p.stdin_done || stdin_kind() == STDIN_NONE)
			die(ST_NOINPUT, "prompt '-': stdin is %s", p.stdin_done ? "read already by -f -" : "closed or /dev/null");
		read_stdin(&p, &words, c->stdin_wait, true);
	} else {
		add_words(&words, argc, argv);
		add_stdin(&p, &in);
	}
	for (size_t i = 0; i < c->images.n; i++)
		add_image(&p, c->images.v[i]);
	if (p.blobs >= 0)
		close(p.blobs);
	if (words.over)
		die(ST_DATA, "the prompt is longer than %zu bytes: give it with -f FILE", TEXT_MAX);
	if (blank(&words) && !blank(&in)) {
		last_message(&p, &in);
	} else {
		if (!blank(&in))
			emit_text(&p, &in, "stdin", "stdin", NULL);
		last_message(&p, &words);
	}
	if (!p.made)
		die(ST_NOINPUT, "no prompt: give words, '-' to read it from stdin, or -f FILE");
	buf_free(&in);
	buf_free(&words);
	buf_free(&p.images);
	buf_free(&p.notes);
	return stage_end(&s);
}

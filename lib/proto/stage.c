#include "proto/stage.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/prog.h"
#include "base/status.h"

void stage_init(struct stage *s, const char *name, char id_letter)
{
	const char *no_time = getenv("CLAWS_NO_TIME");

	*s = (struct stage){.name = name, .letter = id_letter};
	lines_init(&s->in, 0, LINE_MAX_BYTES);
	out_init(&s->out, 1);
	buf_init(&s->mended, BUF_NOLIMIT);
	buf_init(&s->made, BUF_NOLIMIT);
	s->ring = getenv("CLAWS_RING") != NULL;
	s->no_time = no_time && *no_time && strcmp(no_time, "0");
}

void stage_flush(struct stage *s)
{
	struct err e = ERR_INIT;

	if (out_flush(&s->out, &e) < 0)
		die_err(&e);
}

void stage_write(struct stage *s, const char *line, size_t len)
{
	struct err e = ERR_INIT;

	if (out_line(&s->out, line, len, &e) < 0)
		die_err(&e);
}

void stage_pass(struct stage *s, const struct msg *m)
{
	stage_write(s, m->line, m->len);
}

struct jw *stage_begin(struct stage *s, enum msg_kind kind)
{
	const struct msg_line *l = &msg_lines()[kind];

	buf_clear(&s->made);
	s->jw = jw_begin(&s->made);
	jw_obj(&s->jw);
	jw_kstr(&s->jw, l->class == CLASS_MESSAGE ? "role" : "type", l->name);
	return &s->jw;
}

void stage_emit(struct stage *s)
{
	jw_end(&s->jw);
	stage_write(s, s->made.p, s->made.len);
}

int64_t stage_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void stage_kts(struct stage *s, struct jw *w)
{
	if (!s->no_time)
		jw_ki64(w, "ts", stage_now_ms());
}

void stage_id(struct stage *s, char id[24])
{
	static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";   /* 32: no i, l, o, u */
	unsigned char r[16];

	id[0] = s->letter;
	if (s->no_time) {
		unsigned long n = ++s->id_count;
		char digits[21];
		int k = 0, at = 1;

		do
			digits[k++] = (char)('0' + n % 10);
		while (n /= 10);
		while (k)
			id[at++] = digits[--k];
		id[at] = 0;
		return;
	}
	if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
		die(ST_IO, "no random numbers from the kernel");
	for (int i = 0; i < 16; i++)
		id[i + 1] = alphabet[r[i] % 32];
	id[17] = 0;
}

/* Under no_time: the counter goes on where the conversation stands. */
static void see_id(struct stage *s, const struct json *j)
{
	int v = json_get(j, 0, "id");
	const char *raw;
	char *end;
	size_t len;
	unsigned long n;

	if (json_type(j, v) != JSON_STRING)
		return;
	raw = json_raw(j, v, &len);
	if (len < 4 || len > 22 || raw[1] != s->letter)
		return;
	n = strtoul(raw + 2, &end, 10);
	if (*end == '"' && n > s->id_count)
		s->id_count = n;
}

__attribute__((format(printf, 4, 0)))
static void formatted(struct stage *s, struct jw *w, const char *key, const char *fmt, va_list ap)
{
	struct buf b;

	(void)s;
	buf_init(&b, 8192);
	if (buf_vaddf(&b, fmt, ap) < 0)
		buf_adds(&b, "(a text too long to show)");
	jw_kstrn(w, key, b.p, b.len);
	buf_free(&b);
}

void stage_notice(struct stage *s, const char *fmt, ...)
{
	struct jw *w = stage_begin(s, MSG_NOTICE);
	va_list ap;

	va_start(ap, fmt);
	formatted(s, w, "text", fmt, ap);
	va_end(ap);
	stage_emit(s);
}

void stage_error(struct stage *s, const char *class, const char *fmt, ...)
{
	struct jw *w = stage_begin(s, MSG_ERROR);
	va_list ap;

	jw_kstr(w, "class", class);
	jw_kstr(w, "stage", s->name);
	va_start(ap, fmt);
	formatted(s, w, "message", fmt, ap);
	va_end(ap);
	stage_emit(s);
}

static void bad_line(struct stage *s, unsigned long no, const char *why, bool mended)
{
	struct jw *w = stage_begin(s, MSG_ERROR);

	jw_kstr(w, "class", "input");
	jw_kstr(w, "stage", s->name);
	jw_ki64(w, "line", (int64_t)no);
	jw_key(w, "message");
	{
		struct buf b;

		buf_init(&b, 2048);
		buf_addf(&b, "input line %lu %s: %s", no, mended ? "was mended" : "was left out", why);
		jw_strn(w, b.p, b.len);
		buf_free(&b);
	}
	stage_emit(s);
	if (!mended)
		s->bad++;
}

/* Is there one sensible meaning that json_repair can restore? */
static bool mendable(enum json_fault f)
{
	return f == JSON_BAD_UTF8 || f == JSON_NUL || f == JSON_SURROGATE || f == JSON_CONTROL;
}

static bool blank(const struct line *l)
{
	for (size_t i = 0; i < l->len; i++)
		if (l->p[i] != ' ' && l->p[i] != '\t' && l->p[i] != '\r')
			return false;
	return true;
}

/* Parse the line, mended if need be: true if there is a message to deliver. */
static bool take(struct stage *s, const struct line *l, struct msg *m)
{
	struct err e = ERR_INIT;
	const char *text = l->p;
	size_t len = l->len;

	if (json_parse(&s->json, text, len, &e) < 0) {
		struct err again = ERR_INIT;

		if (!mendable(s->json.fault)) {
			bad_line(s, l->no, l->cut && s->json.fault == JSON_CUT ? "it is cut: the input ends in its middle" : e.text,
			         false);
			return false;
		}
		buf_clear(&s->mended);
		json_repair(&s->mended, text, len);
		text = s->mended.p, len = s->mended.len;
		if (json_parse(&s->json, text, len, &again) < 0) {
			bad_line(s, l->no, again.text, false);
			return false;
		}
		bad_line(s, l->no, e.text, true);
	}
	if (json_type(&s->json, 0) != JSON_OBJECT) {
		bad_line(s, l->no, "not a JSON object", false);
		return false;
	}
	*m = (struct msg){.kind = msg_kind(&s->json), .line = text, .len = len, .json = &s->json, .no = l->no};
	if (m->kind == MSG_RING)
		s->ring = true;
	if (s->no_time && m->kind != MSG_UNKNOWN)
		see_id(s, &s->json);
	return true;
}

int stage_next(struct stage *s, struct msg *m)
{
	struct line l;

	for (;;) {
		switch (lines_next(&s->in, &l)) {
		case LINES_NEED:
			return 0;
		case LINES_END:
			s->eof = true;
			return 0;
		case LINES_LONG:
			bad_line(s, l.no, "it is longer than 64 MiB", false);
			break;
		case LINES_LINE:
			if (!blank(&l) && take(s, &l, m))
				return 1;
			break;
		}
	}
}

void stage_fill(struct stage *s)
{
	struct err e = ERR_INIT;

	if (lines_fill(&s->in, &e) < 0)
		die_err(&e);
}

bool stage_ready(const struct stage *s)
{
	return lines_ready(&s->in);
}

int stage_read(struct stage *s, struct msg *m)
{
	while (!stage_next(s, m)) {
		if (s->eof)
			return 0;
		stage_flush(s);
		stage_fill(s);
	}
	return 1;
}

int stage_end(struct stage *s)
{
	int status = s->bad && !s->ring ? ST_DATA : ST_OK;

	stage_flush(s);
	lines_free(&s->in);
	out_free(&s->out);
	buf_free(&s->mended);
	buf_free(&s->made);
	json_free(&s->json);
	return status;
}

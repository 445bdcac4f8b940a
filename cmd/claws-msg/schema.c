/* schema.c - claws-msg schema and table: msg.def in other people's words. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "json/jw.h"
#include "msg_cmd.h"
#include "proto/msg.h"

static void type_schema(struct jw *w, enum msg_type t)
{
	static const char *const names[] = {"string", "integer", NULL, "boolean", "object", "array", NULL};

	if (names[t]) {
		jw_kstr(w, "type", names[t]);
	} else if (t == T_NUMBER) {
		jw_key(w, "type");
		jw_arr(w);
		jw_str(w, "number");
		jw_str(w, "null");
		jw_end(w);
	}
}

static void line_schema(struct jw *w, enum msg_kind k)
{
	const struct msg_line *l = &msg_lines()[k];
	const char *tag = l->class == CLASS_MESSAGE ? "role" : "type";
	size_t n;
	const struct msg_field *f = msg_fields(&n);

	jw_obj(w);
	jw_kstr(w, "title", l->name);
	jw_kstr(w, "description", l->doc);
	jw_kstr(w, "type", "object");
	jw_key(w, "properties");
	jw_obj(w);
	jw_key(w, tag);
	jw_obj(w);
	jw_kstr(w, "const", l->name);
	jw_end(w);
	for (size_t i = 0; i < n; i++) {
		if (f[i].kind != k)
			continue;
		jw_key(w, f[i].name);
		jw_obj(w);
		type_schema(w, f[i].type);
		jw_kstr(w, "description", f[i].doc);
		jw_end(w);
	}
	jw_end(w);
	jw_key(w, "required");
	jw_arr(w);
	jw_str(w, tag);
	for (size_t i = 0; i < n; i++)
		if (f[i].kind == k && f[i].need == REQUIRED)
			jw_str(w, f[i].name);
	jw_end(w);
	jw_end(w);
}

/* A type that is not in the list is legal: the line belongs to somebody else. */
static void other_schema(struct jw *w)
{
	jw_obj(w);
	jw_kstr(w, "title", "other");
	jw_kstr(w, "description", "A line of a type that this version does not know: it is passed on.");
	jw_kstr(w, "type", "object");
	jw_kraw(w, "required", "[\"type\"]", 8);
	jw_key(w, "not");
	jw_obj(w);
	jw_kraw(w, "required", "[\"role\"]", 8);
	jw_end(w);
	jw_key(w, "properties");
	jw_obj(w);
	jw_key(w, "type");
	jw_obj(w);
	jw_kstr(w, "type", "string");
	jw_key(w, "not");
	jw_obj(w);
	jw_key(w, "enum");
	jw_arr(w);
	for (int k = 1; k < MSG_KINDS; k++)
		if (msg_lines()[k].class != CLASS_MESSAGE)
			jw_str(w, msg_lines()[k].name);
	for (int i = 0; i < 5; i++)
		jw_end(w);
}

int cmd_schema(const struct conf *c, int argc, char **argv)
{
	struct buf b;
	struct jw w;

	(void)c, (void)argc, (void)argv;
	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	jw_kstr(&w, "title", "claws-messages(5)");
	jw_key(&w, "oneOf");
	jw_arr(&w);
	for (int k = 1; k < MSG_KINDS; k++)
		line_schema(&w, (enum msg_kind)k);
	other_schema(&w);
	jw_end(&w);
	jw_end(&w);
	puts(b.p);
	buf_free(&b);
	return ST_OK;
}

/* Text in roff lines: a backslash would begin an escape, a leading dot or quote a request; mdoc(7) wants each sentence on a
 * line of its own. */
static void roff(const char *s)
{
	for (const char *start = s; *s; s++) {
		if (s == start && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		if (*s == '\\') {
			fputs("\\e", stdout);
		} else if (*s == ' ' && s > start && s[-1] == '.' && s[1] >= 'A' && s[1] <= 'Z') {
			putchar('\n');
			start = s + 1;
		} else {
			putchar(*s);
		}
	}
	putchar('\n');
}

static void line_table(enum msg_kind k)
{
	const struct msg_line *l = &msg_lines()[k];
	size_t n;
	const struct msg_field *f = msg_fields(&n);

	printf(".It Sy %s\n", l->name);
	roff(l->doc);
	for (size_t i = 0, some = 0; i <= n; i++) {
		if (i < n && f[i].kind != k)
			continue;
		if (i == n) {
			if (some)
				puts(".El");
			break;
		}
		if (!some++)
			puts(".Bl -tag -width Ds -compact");
		printf(".It Cm %s Pq %s%s\n", f[i].name, msg_type_name(f[i].type), f[i].need == REQUIRED ? ", required" : "");
		roff(f[i].doc);
	}
}

int cmd_table(const struct conf *c, int argc, char **argv)
{
	static const struct {
		enum msg_class class;
		const char *title;
	} parts[] = {{CLASS_MESSAGE, "Messages"}, {CLASS_CONTROL, "Control lines"}, {CLASS_EVENT, "Events"},
	             {CLASS_LOG, "In logs only"}};

	(void)c, (void)argc, (void)argv;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		printf(".Ss %s\n.Bl -tag -width Ds\n", parts[i].title);
		for (int k = 1; k < MSG_KINDS; k++)
			if (msg_lines()[k].class == parts[i].class)
				line_table((enum msg_kind)k);
		puts(".El");
	}
	return ST_OK;
}

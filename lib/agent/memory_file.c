#include "agent/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "json/jw.h"

void memory_init(struct memory *m)
{
	char **fields[] = {&m->slug, &m->name, &m->description, &m->type, &m->origin, &m->created, &m->updated};

	memset(m, 0, sizeof *m);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		*fields[i] = xstrdup("");
	buf_init(&m->text, MEMORY_TEXT + 8192);
}

void memory_free(struct memory *m)
{
	char *fields[] = {m->slug, m->name, m->description, m->type, m->origin, m->created, m->updated};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		free(fields[i]);
	buf_free(&m->text);
}

void memory_free_all(struct memory *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		memory_free(&v[i]);
	free(v);
}

void memory_set(char **field, const char *value)
{
	char *old = *field;

	*field = xstrdup(value);
	free(old);
}

bool memory_is_users(const struct memory *m)
{
	return !*m->origin || !strcmp(m->origin, "user");
}

void memory_one_line(struct buf *out, const char *s)
{
	bool space = false;
	size_t start = out->len;

	for (; *s; s++) {
		if ((unsigned char)*s <= ' ' || *s == 0x7f) {
			space = out->len > start;
			continue;
		}
		if (space)
			buf_addc(out, ' ');
		space = false;
		buf_addc(out, *s);
	}
}

static char slug_char(char c, bool first)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c + 32);
	if (c == ' ')
		return '_';
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (c == '-' && !first) ? c : 0;
}

/* Letters, digits, _ and - stay, in lower case; blanks become _. Where anything else was dropped a hash of the name tells "C"
 * from "C++" and makes a slug for names in other scripts. A slug is its own slug. */
void memory_slug(const char *name, char slug[MEMORY_SLUG])
{
	enum { HASH = 8, MOST = MEMORY_SLUG - HASH - 2 };
	size_t n = 0, len = strlen(name);
	bool lost = len >= MEMORY_SLUG || !len;

	for (size_t i = 0; i < len; i++) {
		char c = slug_char(name[i], n == 0);
		if (!c || n >= MEMORY_SLUG - 1)
			lost = true;
		else
			slug[n++] = c;
	}
	slug[n] = 0;
	/* memory.md would be the index where file names have no case. */
	if (lost || !strcmp(slug, "memory")) {
		char hex[SHA256_HEX];
		sha256_hex(hex, name, len);
		n = n > MOST ? MOST : n;
		slug[n] = n ? '_' : 'm';
		memcpy(slug + n + 1, hex, HASH);
		slug[n + 1 + HASH] = 0;
	}
}

/* A value of the frontmatter: "..." with JSON's escapes (a subset of YAML's), '...', or plain. To be freed. */
static char *value_of(const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == '\t'))
		s++, n--;
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
		n--;
	if (n >= 2 && *s == '"') {
		struct json j = JSON_INIT;
		char *v = json_parse(&j, s, n, NULL) == 0 ? json_dup(&j, 0) : NULL;
		json_free(&j);
		if (v)
			return v;
	}
	if (n >= 2 && *s == '\'' && s[n - 1] == '\'') {
		char *v = xmalloc(n);
		size_t k = 0;
		for (size_t i = 1; i < n - 1; i++) {
			v[k++] = s[i];
			if (s[i] == '\'' && s[i + 1] == '\'' && i + 1 < n - 1)
				i++;
		}
		v[k] = 0;
		return v;
	}
	return xstrndup(s, n);
}

static void field(struct memory *m, const char *line, size_t n)
{
	const struct {
		const char *key;
		char **at;
	} fields[] = {{"name", &m->name}, {"description", &m->description}, {"type", &m->type}, {"origin", &m->origin},
	              {"created", &m->created}, {"updated", &m->updated}};
	const char *colon = memchr(line, ':', n);

	if (!colon)
		return;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (strlen(fields[i].key) == (size_t)(colon - line) && !strncmp(line, fields[i].key, (size_t)(colon - line))) {
			free(*fields[i].at);
			*fields[i].at = value_of(colon + 1, n - (size_t)(colon + 1 - line));
		}
}

int memory_parse(struct memory *m, const char *text, size_t len, struct err *e)
{
	struct buf b;
	const char *p, *end;
	bool closed = false;

	buf_init(&b, BUF_NOLIMIT);
	utf8_repair(&b, text, len);
	if (strlen(b.p) != b.len) {
		buf_free(&b);
		return err_set(e, ST_DATA, "not a text: it holds a NUL byte");
	}
	p = b.p;
	if (!strncmp(p, "---\n", 4) || !strncmp(p, "---\r\n", 5)) {
		for (p = strchr(p, '\n') + 1; *p && !closed; p = *end ? end + 1 : end) {
			end = strchrnul(p, '\n');
			size_t n = (size_t)(end - p);
			closed = n >= 3 && !strncmp(p, "---", 3) && strspn(p + 3, " \t\r") == n - 3;
			if (!closed)
				field(m, p, n);
		}
		if (!closed) {
			buf_free(&b);
			return err_set(e, ST_DATA, "the frontmatter has no end: a line --- is missing");
		}
		if (*p == '\n')
			p++;
	}
	buf_clear(&m->text);
	int r = buf_adds(&m->text, p);
	while (m->text.len && m->text.p[m->text.len - 1] == '\n')
		buf_truncate(&m->text, m->text.len - 1);
	buf_free(&b);
	return r == 0 ? 0 : err_set(e, ST_DATA, "longer than %zu bytes", MEMORY_TEXT);
}

/* Plain where YAML reads it as the same string, else quoted. */
static void add_field(struct buf *out, const char *key, const char *value)
{
	struct buf line;

	if (!*value)
		return;
	buf_init(&line, BUF_NOLIMIT);
	memory_one_line(&line, value);
	bool plain = strchr("-?:,[]{}#&*!|>'\"%@` ", line.p[0]) == NULL && !strstr(line.p, ": ") && !strstr(line.p, " #") &&
	             line.len && line.p[line.len - 1] != ':' && strcspn(line.p, "\\") == line.len;
	buf_addf(out, "%s: ", key);
	if (plain) {
		buf_add(out, line.p, line.len);
	} else {
		buf_addc(out, '"');
		jw_escape(out, line.p, line.len);
		buf_addc(out, '"');
	}
	buf_addc(out, '\n');
	buf_free(&line);
}

void memory_print(const struct memory *m, struct buf *out)
{
	buf_adds(out, "---\n");
	add_field(out, "name", m->name);
	add_field(out, "description", m->description);
	add_field(out, "type", m->type);
	add_field(out, "created", m->created);
	add_field(out, "updated", m->updated);
	if (!memory_is_users(m))
		add_field(out, "origin", m->origin);
	buf_adds(out, "---\n\n");
	buf_add(out, m->text.p, m->text.len);
	if (m->text.len && m->text.p[m->text.len - 1] != '\n')
		buf_addc(out, '\n');
}

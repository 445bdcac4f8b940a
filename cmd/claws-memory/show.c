#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "json/jw.h"
#include "memory.h"
#include "sys/term.h"

/* A text that may be anybody's: as it is into a pipe, made visible on a terminal. */
static void put(const struct buf *b, int flags)
{
	struct buf safe;

	if (!term_is(STDOUT_FILENO)) {
		fwrite(b->p, 1, b->len, stdout);
		return;
	}
	buf_init(&safe, BUF_NOLIMIT);
	term_safe(&safe, b->p, b->len, flags);
	fwrite(safe.p, 1, safe.len, stdout);
	buf_free(&safe);
}

static void put_json(const struct memory *m, bool text)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	struct jw w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "id", m->slug);
	jw_kstr(&w, "name", m->name);
	jw_kstr(&w, "description", m->description);
	jw_kstr(&w, "type", m->type);
	jw_kstr(&w, "scope", m->scope == MEMORY_PROJECT ? "project" : "user");
	jw_kstr(&w, "origin", memory_is_users(m) ? "user" : m->origin);
	if (*m->created)
		jw_kstr(&w, "created", m->created);
	if (*m->updated)
		jw_kstr(&w, "updated", m->updated);
	if (text)
		jw_kstrn(&w, "content", m->text.p, m->text.len);
	jw_end(&w);
	puts(b.p);
	buf_free(&b);
}

static void put_line(const struct memory *m)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	memory_one_line(&b, m->name);
	buf_addf(&b, " (%s%s%s", m->scope == MEMORY_PROJECT ? "project" : "user", *m->type ? ", " : "", m->type);
	if (!memory_is_users(m)) {
		buf_adds(&b, ", from ");
		memory_one_line(&b, m->origin);
	}
	buf_adds(&b, ")");
	if (*m->description) {
		buf_adds(&b, ": ");
		memory_one_line(&b, m->description);
	}
	put(&b, TERM_ONE_LINE);
	putchar('\n');
	buf_free(&b);
}

static void print_all(const struct conf *c, struct memory *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c->json)
			put_json(&v[i], false);
		else
			put_line(&v[i]);
	memory_free_all(v, n);
}

int do_list(const struct memory_store *s, const struct conf *c, char **args, int n)
{
	struct err e = ERR_INIT;
	struct memory *v;
	size_t k;

	(void)args, (void)n;
	if (memory_list(s, scope_of(c, MEMORY_BOTH), &v, &k, &e) < 0)
		die_err(&e);
	print_all(c, v, k);
	return ST_OK;
}

int do_search(const struct memory_store *s, const struct conf *c, char **args, int n)
{
	struct err e = ERR_INIT;
	struct memory *v;
	struct buf query;
	size_t k;

	buf_init(&query, BUF_NOLIMIT);
	for (int i = 0; i < n; i++) {
		buf_adds(&query, args[i]);
		buf_addc(&query, ' ');
	}
	if (memory_list(s, scope_of(c, MEMORY_BOTH), &v, &k, &e) < 0)
		die_err(&e);
	k = memory_search(v, k, query.p, (size_t)c->max);
	print_all(c, v, k);
	buf_free(&query);
	return k ? ST_OK : ST_FAILED;
}

/* The text alone does not say whose words it is. */
static void say_whose(const struct memory_store *s, const struct memory *m, bool both)
{
	struct err none = ERR_INIT;
	struct memory other;

	if (!memory_is_users(m))
		warn("'%s' is from %s, not from the user", m->slug, m->origin);
	if (!both || m->scope != MEMORY_USER || memory_load(s, MEMORY_PROJECT, m->slug, &other, &none) < 0)
		return;
	if (!memory_is_users(&other))
		warn("'%s' is the user's; another of that name is from %s: --scope project shows it", m->slug, other.origin);
	memory_free(&other);
}

int do_show(const struct memory_store *s, const struct conf *c, char **args, int n)
{
	int status = ST_OK;

	for (int i = 0; i < n; i++) {
		struct err e = ERR_INIT;
		struct memory m;
		if (memory_load(s, scope_of(c, MEMORY_BOTH), args[i], &m, &e) < 0) {
			warn("%s", e.text);
			status = status_worse(status, e.status);
			continue;
		}
		if (c->json) {
			put_json(&m, true);
		} else {
			put(&m.text, 0);
			if (m.text.len && m.text.p[m.text.len - 1] != '\n')
				putchar('\n');
			say_whose(s, &m, scope_of(c, MEMORY_BOTH) == MEMORY_BOTH);
		}
		memory_free(&m);
	}
	return status;
}

static int delete_one(const struct memory_store *s, enum memory_scope scope, const char *name, struct err *e)
{
	struct memory m;
	int r;

	if (memory_load(s, scope, name, &m, e) < 0)
		return -1;
	r = memory_delete(s, &m, e);
	memory_free(&m);
	return r;
}

static bool is_there(const struct memory_store *s, enum memory_scope scope, const char *name)
{
	struct err none = ERR_INIT;
	struct memory m;

	if (memory_load(s, scope, name, &m, &none) < 0)
		return false;
	memory_free(&m);
	return true;
}

/* Two of one name: which one is meant cannot be guessed where the other choice is lost. */
static int delete_named(const struct memory_store *s, const struct conf *c, const char *name, struct err *e)
{
	enum memory_scope scope = scope_of(c, MEMORY_BOTH);
	bool two = scope == MEMORY_BOTH && is_there(s, MEMORY_USER, name) && is_there(s, MEMORY_PROJECT, name);

	if (!two)
		return delete_one(s, scope, name, e);
	if (!c->scope)
		return err_set(e, ST_USAGE, "'%s' is there for the user and for the project: say --scope user, project or all", name);
	return delete_one(s, MEMORY_PROJECT, name, e) < 0 ? -1 : delete_one(s, MEMORY_USER, name, e);
}

int do_delete(const struct memory_store *s, const struct conf *c, char **args, int n)
{
	int status = ST_OK;

	for (int i = 0; i < n; i++) {
		struct err e = ERR_INIT;
		if (delete_named(s, c, args[i], &e) < 0) {
			warn("%s", e.text);
			status = status_worse(status, e.status);
		}
	}
	return status;
}

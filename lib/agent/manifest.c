#include "agent/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"

bool manifest_name_ok(const char *name)
{
	size_t n = 0;

	for (; name[n]; n++) {
		char c = name[n];
		bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
		if (!letter && (!n || !((c >= '0' && c <= '9') || c == '_' || c == '-')))
			return false;
	}
	return n > 0 && n <= MANIFEST_NAME_MAX;
}

static void manifest_free(struct manifest *t)
{
	for (char **a = t->exec; a && *a; a++)
		free(*a);
	free(t->exec);
	free(t->name);
	free(t->file);
	json_free(&t->json);
	free(t->text);
	free(t);
}

void manifests_free(struct manifests *m)
{
	for (size_t i = 0; i < m->n; i++)
		manifest_free(m->v[i]);
	free(m->v);
	*m = (struct manifests)MANIFESTS_INIT;
}

const struct manifest *manifests_find(const struct manifests *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->v[i]->name, name))
			return m->v[i];
	return NULL;
}

static int take_exec(struct manifest *t, int v, struct err *e)
{
	const struct json *j = &t->json;
	size_t n = 0;

	if (json_type(j, v) != JSON_ARRAY || json_count(j, v) < 1)
		return err_set(e, ST_DATA, "exec: expected a list of strings, the program first");
	t->exec = xcalloc((size_t)json_count(j, v) + 1, sizeof *t->exec);
	for (struct json_iter it = json_iter(j, v); json_next(&it); n++)
		if (!(t->exec[n] = json_dup(j, it.value)))
			return err_set(e, ST_DATA, "exec: expected only strings");
	/* A name or a relative path would be another program in another directory. */
	if (t->exec[0][0] != '/')
		return err_set(e, ST_DATA, "exec: '%s' is not an absolute path", t->exec[0]);
	return 0;
}

static int take_flag(const struct json *j, const char *key, bool *out, struct err *e)
{
	int v = json_get(j, 0, key);

	if (v >= 0 && json_type(j, v) != JSON_BOOL)
		return err_set(e, ST_DATA, "%s: expected true or false", key);
	*out = json_true(j, v);
	return 0;
}

/* Providers want an object at the top of the arguments. */
static int take_schema(struct manifest *t, struct err *e)
{
	const struct json *j = &t->json;

	t->schema = json_get(j, 0, "input_schema");
	if (json_type(j, t->schema) != JSON_OBJECT)
		return err_set(e, ST_DATA, "input_schema: expected an object");
	if (!json_eq(j, json_get(j, t->schema, "type"), "object"))
		return err_set(e, ST_DATA, "input_schema: its type must be \"object\"");
	return 0;
}

static int take(struct manifest *t, const char *stem, bool builtin, struct err *e)
{
	const struct json *j = &t->json;
	int exec, v;
	int64_t secs = MANIFEST_TIMEOUT_S;

	if (json_type(j, 0) != JSON_OBJECT)
		return err_set(e, ST_DATA, "expected an object");
	if (!json_eq(j, json_get(j, 0, "name"), stem))
		return err_set(e, ST_DATA, "name: expected \"%s\", as the file is called", stem);
	t->description = json_get(j, 0, "description");
	if (json_type(j, t->description) != JSON_STRING)
		return err_set(e, ST_DATA, "description: expected a string");
	if (take_schema(t, e) < 0 || take_flag(j, "read_only", &t->read_only, e) < 0 ||
	    take_flag(j, "concurrent_safe", &t->concurrent_safe, e) < 0)
		return -1;
	v = json_get(j, 0, "timeout_s");
	if (v >= 0 && (json_i64(j, v, &secs) < 0 || secs < 1 || secs > 86400))
		return err_set(e, ST_DATA, "timeout_s: expected a number of seconds from 1 to 86400");
	t->timeout_ms = (long)secs * 1000;
	exec = json_get(j, 0, "exec");
	if (builtin && exec >= 0)
		return err_set(e, ST_DATA, "exec: a built-in tool has none");
	if (!builtin && exec < 0)
		return err_set(e, ST_DATA, "exec: missing; expected a list of strings, the program first");
	t->builtin = builtin;
	return builtin ? 0 : take_exec(t, exec, e);
}

static int at_line(const char *text, size_t at)
{
	int line = 1;

	for (size_t i = 0; i < at && text[i]; i++)
		line += text[i] == '\n';
	return line;
}

static bool taken(const struct manifests *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i]->builtin && !strcasecmp(m->v[i]->name, name))
			return true;
	return false;
}

static struct manifest *read_one(const struct manifests *m, const char *dir, const char *file, bool builtin, struct err *e)
{
	struct manifest *t = xcalloc(1, sizeof *t);
	struct buf b;
	size_t stem = strlen(file) - strlen(".json");

	buf_init(&b, MANIFEST_SIZE_MAX);
	t->file = xasprintf("%s/%s", dir, file);
	t->name = xstrndup(file, stem);
	if (!builtin && taken(m, t->name)) {
		err_set(e, ST_DATA, "%s: the name of a built-in tool cannot be taken", t->file);
		goto fail;
	}
	if (io_read_file(AT_FDCWD, t->file, &b, e) < 0)
		goto fail;
	t->text = buf_detach(&b);
	t->json = (struct json)JSON_INIT;
	if (!manifest_name_ok(t->name)) {
		err_set(e, ST_DATA, "%s: a tool's name is a letter and up to 63 letters, digits, _ and -", t->file);
	} else if (json_parse(&t->json, t->text, strlen(t->text), e) < 0) {
		err_wrap(e, "%s:%d", t->file, at_line(t->text, t->json.fault_at));
	} else if (take(t, t->name, builtin, e) < 0) {
		err_wrap(e, "%s", t->file);
	} else {
		buf_free(&b);
		return t;
	}
fail:
	buf_free(&b);
	manifest_free(t);
	return NULL;
}

static int is_manifest(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".json");
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void load_dir(struct manifests *m, const char *dir, bool builtin, manifest_heard *heard, void *arg)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, is_manifest, by_bytes);
	char text[1200];

	if (n < 0 && errno != ENOENT) {
		snprintf(text, sizeof text, "tools in %s: %s", dir, strerror(errno));
		heard(arg, text);
	}
	for (int i = 0; i < n; i++) {
		struct err e = ERR_INIT;
		struct manifest *t = NULL;
		if (m->n >= MANIFEST_MAX)
			err_set(&e, ST_DATA, "%s/%s: more than %d tools", dir, names[i]->d_name, MANIFEST_MAX);
		else
			t = read_one(m, dir, names[i]->d_name, builtin, &e);
		if (t) {
			m->v = xrealloc(m->v, m->n + 1, sizeof *m->v);
			m->v[m->n++] = t;
		} else {
			snprintf(text, sizeof text, "%s; this tool is left out", e.text);
			heard(arg, text);
		}
		free(names[i]);
	}
	free(names);
}

void manifests_load(struct manifests *m, const char *builtin, const char *user, manifest_heard *heard, void *arg)
{
	if (builtin)
		load_dir(m, builtin, true, heard, arg);
	if (user)
		load_dir(m, user, false, heard, arg);
}

void manifest_offer(const struct manifest *t, struct jw *w)
{
	struct buf b;
	size_t n;
	const char *raw = json_raw(&t->json, t->description, &n);

	buf_init(&b, BUF_NOLIMIT);
	jw_obj(w);
	jw_kstr(w, "name", t->name);
	jw_kraw(w, "description", raw, n);
	json_compact(&b, &t->json, t->schema);
	jw_kraw(w, "input_schema", b.p, b.len);
	jw_end(w);
	buf_free(&b);
}

#include "claws-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/atomic.h"
#include "sys/dirs.h"
#include "sys/spawn.h"

/* A tool may not make tools: what it made would be asked about under a name that says nothing. */
static void not_inside(void)
{
	if (getenv("CLAWS_DEPTH") || getenv("CLAWS_PARENT_MODE"))
		die(ST_DENIED, "tools are not added or removed from inside a tool");
}

static void ignore(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static bool is_builtin(const char *name)
{
	struct manifests m = MANIFESTS_INIT;
	struct buf dir;
	bool found = false;

	buf_init(&dir, PATH_MAX);
	if (dirs_share(&dir, "tools", NULL) == 0)
		manifests_load(&m, dir.p, NULL, ignore, NULL);
	for (size_t i = 0; i < m.n; i++)
		found = found || !strcasecmp(m.v[i]->name, name);
	manifests_free(&m);
	buf_free(&dir);
	return found;
}

static void check_name(const char *name)
{
	if (!manifest_name_ok(name))
		die(ST_USAGE, "'%s': a tool's name is a letter and up to 63 letters, digits, _ and -", name);
	if (is_builtin(name))
		die(ST_USAGE, "'%s' is the name of a built-in tool and cannot be taken", name);
}

/* The program, absolute: the tool is the same one wherever it is called. */
static char *absolute(const char *program)
{
	struct err e = ERR_INIT;
	struct buf file;
	char *real;

	buf_init(&file, PATH_MAX);
	if (spawn_find(program, getenv("PATH"), &file, &e) < 0)
		die_err(&e);
	real = realpath(file.p, NULL);
	if (!real || access(real, X_OK) < 0) {
		err_sys(&e, "%s", program);
		die_err(&e);
	}
	buf_free(&file);
	return real;
}

static void manifest_path(struct buf *path, const char *name, bool make)
{
	struct err e = ERR_INIT;

	if ((make ? dirs_data(path, "tools", &e) : dirs_data_path(path, "tools", &e)) < 0)
		die_err(&e);
	buf_addf(path, "/%s.json", name);
}

int add_tool(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct buf text, path;
	int dashes = 0;

	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	if (dashes < 2 || dashes + 1 >= argc)
		die(ST_USAGE, "usage: claws-tool add NAME DESCRIPTION [PARAM:TYPE[?]...] -- COMMAND [ARG...]");
	not_inside();
	check_name(argv[0]);
	for (int i = 0; i < argc; i++)
		if (utf8_valid_prefix(argv[i], strlen(argv[i])) != strlen(argv[i]))
			die(ST_USAGE, "'%s' is not valid UTF-8", argv[i]);
	argv[dashes + 1] = absolute(argv[dashes + 1]);
	buf_init(&text, MANIFEST_SIZE_MAX);
	buf_init(&path, PATH_MAX);
	if (manifest_write(&text, argv[0], argv[1], (const char *const *)argv + 2, (size_t)dashes - 2,
	                   (const char *const *)argv + dashes + 1, (size_t)(argc - dashes - 1), &e) < 0)
		die_err(&e);
	manifest_path(&path, argv[0], true);
	if (access(path.p, F_OK) == 0)
		die(ST_FAILED, "%s exists; claws-tool remove %s removes it", path.p, argv[0]);
	if (atomic_write(AT_FDCWD, path.p, text.p, text.len, 0600, &e) < 0)
		die_err(&e);
	puts(path.p);
	free(argv[dashes + 1]);
	buf_free(&text);
	buf_free(&path);
	return ST_OK;
}

int remove_tool(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct buf path;

	if (argc != 1)
		die(ST_USAGE, "usage: claws-tool remove NAME");
	not_inside();
	if (!manifest_name_ok(argv[0]))
		die(ST_USAGE, "'%s' cannot be the name of a tool", argv[0]);
	if (is_builtin(argv[0]))
		die(ST_USAGE, "%s is built in and cannot be removed; --tools or --disallowed-tools leaves it out", argv[0]);
	buf_init(&path, PATH_MAX);
	manifest_path(&path, argv[0], false);
	if (unlink(path.p) < 0) {
		if (errno == ENOENT)
			die(ST_NOINPUT, "there is no tool '%s' of your own; 'claws-tool list' shows all", argv[0]);
		err_sys(&e, "%s", path.p);
		die_err(&e);
	}
	buf_free(&path);
	return ST_OK;
}

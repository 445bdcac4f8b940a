/* tool_test.h - what the tests of the file tools share: a workspace of their own, a call, files. */
#ifndef TOOL_TEST_H
#define TOOL_TEST_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "json/jw.h"
#include "sys/blob.h"
#include "sys/io.h"
#include "tap.h"
#include "tools/fsguard.h"
#include "tools/tool.h"

static char top[PATH_MAX], ws[PATH_MAX + 8];   /* everything; the workspace, where we are */
static const char *roots[4];
static struct tool_ctx ctx;
static struct tool_result res;

static int rm_one(const char *p, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(p);
}

static void leave(void)
{
	tool_result_free(&res);
	if (chdir("/") == 0)
		nftw(top, rm_one, 20, FTW_DEPTH | FTW_PHYS);
}

/* top/home is HOME, top/ws the workspace, top/blobs the blob directory, top/out lies outside. */
__attribute__((unused))
static void enter(void)
{
	char b[PATH_MAX + 16], real[PATH_MAX];
	const char *tmp = getenv("TMPDIR");
	snprintf(top, sizeof top, "%s/claws-tool.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(top) || !realpath(top, real))
		exit(99);
	strcpy(top, real);
	static const char *const dirs[] = {"home", "ws", "blobs", "out"};
	for (int i = 0; i < 4; i++) {
		snprintf(b, sizeof b, "%s/%s", top, dirs[i]);
		if (mkdir(b, 0700) < 0)
			exit(99);
	}
	static const char *const unset[] = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAWS_HOME",
		"XDG_RUNTIME_DIR"};
	for (int i = 0; i < 6; i++)
		unsetenv(unset[i]);
	snprintf(b, sizeof b, "%s/home", top);
	setenv("HOME", b, 1);
	snprintf(ws, sizeof ws, "%s/ws", top);
	static char blobs[PATH_MAX + 8];
	snprintf(blobs, sizeof blobs, "%s/blobs", top);
	umask(022);
	if (chdir(ws) < 0)
		exit(99);
	roots[0] = ws;
	ctx = (struct tool_ctx){.cwd = ws, .roots = roots, .blobs = open(blobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.blob_path = blobs, .timeout_ms = 60000, .output_max = TOOL_OUTPUT_MAX};
	tool_result_init(&res);
	atexit(leave);
}

/* The result's text; every one must be UTF-8 without NUL. */
__attribute__((unused))
static const char *call(tool_fn *tool, const char *json)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;
	tool_result_free(&res);
	tool_result_init(&res);
	if (json_parse(&j, json, strlen(json), &e) < 0) {
		printf("Bail out! bad test: %s: %s\n", json, e.text);
		exit(99);
	}
	tool(&ctx, &j, 0, &res);
	json_free(&j);
	if (utf8_valid_prefix(res.text.p, res.text.len) != res.text.len || strlen(res.text.p) != res.text.len)
		OK(0, "a result is UTF-8 without NUL: %s", json);
	return res.text.p;
}

/* call with string arguments: name, value, ..., NULL. A value that begins with '\1' is JSON as it is. */
__attribute__((unused))
static const char *callv(tool_fn *tool, ...)
{
	struct buf b;
	va_list ap;
	buf_init(&b, BUF_NOLIMIT);
	struct jw w = jw_begin(&b);
	va_start(ap, tool);
	jw_obj(&w);
	for (const char *name; (name = va_arg(ap, const char *));) {
		const char *value = va_arg(ap, const char *);
		if (*value == '\1')
			jw_kraw(&w, name, value + 1, strlen(value + 1));
		else
			jw_kstr(&w, name, value);
	}
	jw_end(&w);
	va_end(ap);
	const char *r = call(tool, b.p);
	buf_free(&b);
	return r;
}

__attribute__((unused))
static void put(const char *path, const char *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || io_write_all(fd, data, n, NULL) < 0) {
		perror(path);
		exit(99);
	}
	close(fd);
}
#define PUTS(path, s) put(path, s, sizeof s - 1)

__attribute__((unused))
static void ln_s(const char *target, const char *name)
{
	if (symlink(target, name) < 0) {
		perror(name);
		exit(99);
	}
}

__attribute__((unused))
static void stretch(const char *path, off_t n)
{
	if (truncate(path, n) < 0) {
		perror(path);
		exit(99);
	}
}

/* Content of a file, in a buffer of its own that lives until the next call. */
__attribute__((unused))
static const char *get(const char *path)
{
	static struct buf b;
	if (b.p)
		buf_free(&b);
	buf_init(&b, BUF_NOLIMIT);
	return io_read_file(AT_FDCWD, path, &b, NULL) == 0 ? b.p : "(unreadable)";
}

__attribute__((unused))
static bool has(const char *s, const char *what)
{
	if (strstr(s, what))
		return true;
	printf("# not in: %.300s\n", s);
	return false;
}
#endif

/* tool.h - a built-in tool: arguments in, result out.
 *
 * Each tool is one file with one function; its name, description and schema are data (share/claws/tools/NAME.json). The
 * caller (claws-tool) has parsed and checked the arguments against the schema and asked the gate; a tool checks
 * what only it can know. Tools run in a child process of their own, one per call, so they may block, and their memory goes
 * with them; they report through struct tool_result and never print.
 *
 * A wrong use is not an error of the program: it is a result with is_error whose text tells the model what to do next. */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"

#define TOOL_OUTPUT_MAX ((size_t)32000)   /* bytes of a result that reach the model (CheetahClaws: max_tool_output) */

struct tool_ctx {
	const char *cwd;           /* absolute; where relative paths start */
	const char *const *roots;  /* directories the tool may touch, absolute, NULL-terminated; [0] is cwd's project */
	int blobs;                 /* descriptor of the session's blob directory, or -1 */
	const char *blob_path;     /* its path, for messages; NULL if none */
	long timeout_ms;           /* limit of this call */
	size_t output_max;         /* TOOL_OUTPUT_MAX */
	bool protected_ok;         /* the gate allowed a write where fsguard.h says FS_PROTECTED */
	const char *judged;        /* resolved path that the gate judged; a path that leads elsewhere is refused. NULL: none */
	/* Is this file denied by a rule? What a search comes by is left out then. May be NULL. */
	bool (*denied)(void *denied_arg, const char *path);
	void *denied_arg;
	/* Heard while it runs; may be NULL. stream is "stdout" or "stderr". */
	void (*output)(void *arg, const char *stream, const char *text, size_t n);
	void *arg;
};

struct file_change {           /* one file that the tool changed; all NULL: none */
	char *path;                /* absolute */
	const char *op;            /* "add", "update", "delete" */
	char *before, *after;      /* blob names "sha256:HEX" or NULL */
};

struct tool_result {
	struct buf text;           /* UTF-8, at most a little over output_max */
	bool is_error;
	const char *status;        /* "ok", "error", "timeout", "interrupted": tool_end's status */
	const char *origin;        /* "file", ... : whose words the text is; NULL: claws' own */
	struct file_change change;
};

typedef void tool_fn(const struct tool_ctx *c, const struct json *j, int input, struct tool_result *r);

tool_fn tool_read, tool_write, tool_edit, tool_bash, tool_glob, tool_grep;

void tool_result_init(struct tool_result *r);
void tool_result_free(struct tool_result *r);
/* is_error and a text; returns nothing so that "return tool_fail(...)" reads well in a void function. */
void tool_fail(struct tool_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

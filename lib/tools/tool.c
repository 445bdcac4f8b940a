#include "tools/tool.h"

#include <stdarg.h>
#include <stdlib.h>

void tool_result_init(struct tool_result *r)
{
	*r = (struct tool_result){.status = "ok"};
	buf_init(&r->text, BUF_NOLIMIT);
}

void tool_result_free(struct tool_result *r)
{
	buf_free(&r->text);
	free(r->change.path);
	free(r->change.before);
	free(r->change.after);
	r->change = (struct file_change){0};
}

void tool_fail(struct tool_result *r, const char *fmt, ...)
{
	va_list ap;

	buf_clear(&r->text);
	va_start(ap, fmt);
	buf_vaddf(&r->text, fmt, ap);
	va_end(ap);
	r->is_error = true;
	r->status = "error";
	r->origin = NULL;
}

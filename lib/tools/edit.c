#include <stdlib.h>
#include <string.h>

#include "tools/arg.h"
#include "tools/editmatch.h"
#include "tools/fshint.h"
#include "tools/save.h"
#include "tools/tool.h"

#define EDIT_MAX ((size_t)16 << 20)
#define EDITS_MAX 200

struct edit {
	char *old, *new_text;
	bool all;
};

static int take(const struct json *j, int v, struct edit *x, struct tool_result *r)
{
	if (!(x->old = arg_text(j, v, "old_string", "Edit", r)) || !(x->new_text = arg_text(j, v, "new_string", "Edit", r)))
		return -1;
	return arg_bool(j, v, "replace_all", &x->all, r);
}

/* One edit from the arguments themselves, or the list `edits`. The number of them, or -1 after tool_fail. */
static int take_all(const struct json *j, int input, struct edit **list, struct tool_result *r)
{
	int edits = json_get(j, input, "edits"), n = 0;
	bool some = json_type(j, edits) == JSON_ARRAY;
	*list = calloc(EDITS_MAX, sizeof **list);
	if (!*list) {
		tool_fail(r, "out of memory");
		return -1;
	}
	if (!some || json_count(j, edits) == 0)
		return take(j, input, *list, r) < 0 ? -1 : 1;
	if (json_get(j, input, "old_string") >= 0) {
		tool_fail(r, "give either old_string and new_string, or edits, not both");
		return -1;
	}
	if (json_count(j, edits) > EDITS_MAX) {
		tool_fail(r, "at most %d edits in one call", EDITS_MAX);
		return -1;
	}
	for (struct json_iter it = json_iter(j, edits); json_next(&it); n++)
		if (take(j, it.value, *list + n, r) < 0)
			return -1;
	return n;
}

/* Applies all of them to text, in order. The number that failed, each named in why. */
static int apply(struct buf *text, const struct edit *x, int n, struct buf *note, struct buf *why)
{
	int failed = 0;
	for (int i = 0; i < n; i++) {
		struct edit_done d = {0, NULL};
		struct buf one;
		int k = -1;
		buf_init(&one, BUF_NOLIMIT);
		if (!*x[i].old && text->len > 0)
			buf_adds(&one, "old_string is empty, which is only for a new or an empty file");
		else if (!*x[i].old)
			k = buf_adds(text, x[i].new_text);
		else if (strcmp(x[i].old, x[i].new_text) == 0)
			buf_adds(&one, "old_string and new_string are the same: nothing to change");
		else
			k = edit_apply(text, x[i].old, x[i].new_text, x[i].all, &d, &one);
		if (k < 0) {
			failed++;
			if (n > 1)
				buf_addf(why, "edit %d: ", i + 1);
			buf_addf(why, "%s\n", one.p);
		} else if (d.how) {
			buf_addf(note, "[no exact match: found disregarding %s]\n", d.how);
		} else if (x[i].all && d.count > 1) {
			buf_addf(note, "[%zu replacements]\n", d.count);
		}
		buf_free(&one);
	}
	return failed;
}

static bool utf16(const struct buf *b)
{
	return b->len >= 2 && (memcmp(b->p, "\xff\xfe", 2) == 0 || memcmp(b->p, "\xfe\xff", 2) == 0);
}

static void edit_file(const struct tool_ctx *c, struct save *s, const struct edit *x, int n, struct tool_result *r)
{
	struct buf text, note, why;
	if (utf16(&s->old)) {
		tool_fail(r, "%s is UTF-16, which Edit cannot change; convert it to UTF-8 first", s->path);
		return;
	}
	buf_init(&text, BUF_NOLIMIT);
	buf_init(&note, BUF_NOLIMIT);
	buf_init(&why, BUF_NOLIMIT);
	buf_add(&text, s->old.p, s->old.len);
	int failed = apply(&text, x, n, &note, &why);
	if (failed > 0) {
		if (why.len > 0)
			buf_truncate(&why, why.len - 1);
		tool_fail(r, "%s: %s%s", s->path, why.p, n > 1 ? "\nNone of the edits was made: correct these and send all again" : "");
	} else if (s->exists && text.len == s->old.len && memcmp(text.p, s->old.p, text.len) == 0) {
		buf_addf(&r->text, "No changes in %s", s->path);
	} else if (save_store(s, c, text.p, text.len, r) == 0) {
		buf_addf(&r->text, s->exists ? "Changes applied to %s:\n" : "Created %s:\n", s->path);
		buf_add(&r->text, note.p, note.len);
		save_diff(s, c, text.p, text.len, 2000, r);
	}
	buf_free(&text);
	buf_free(&note);
	buf_free(&why);
}

void tool_edit(const struct tool_ctx *c, const struct json *j, int input, struct tool_result *r)
{
	struct save s;
	struct edit *list = NULL;
	char *path = arg_str(j, input, "file_path", "Edit", r);
	int n = path ? take_all(j, input, &list, r) : -1;
	if (n > 0 && save_load(&s, c, path, EDIT_MAX, r) == 0) {
		if (s.exists || !*list[0].old)
			edit_file(c, &s, list, n, r);
		else
			fs_not_found(r, &s.at, path);
		save_free(&s);
	}
	for (int i = 0; list && i < EDITS_MAX; i++) {
		free(list[i].old);
		free(list[i].new_text);
	}
	free(list);
	free(path);
}

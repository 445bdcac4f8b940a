#include "keep.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/journal.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/io.h"

#define MAY_HAVE_RUN \
	"interrupted: this call was started, but its run ended before a result was recorded. It may have run, wholly or in " \
	"part. Look at what it did before doing it again."
#define NOT_RUN "interrupted: the run ended before this call was started. It was not run."

static void forget_calls(struct keep *k)
{
	for (size_t i = 0; i < k->ncalls; i++) {
		free(k->calls[i].id);
		free(k->calls[i].name);
	}
	free(k->calls);
	k->calls = NULL;
	k->ncalls = 0;
}

static void learn_calls(struct keep *k, const struct json *j)
{
	int calls = json_get(j, 0, "tool_calls");
	struct buf all;

	forget_calls(k);
	if (!json_count(j, calls))
		return;
	buf_init(&all, BUF_NOLIMIT);
	for (struct json_iter it = json_iter(j, calls); json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id")), *name = json_dup(j, json_get(j, it.value, "name"));

		json_canon(&all, j, json_get(j, it.value, "name"));
		json_canon(&all, j, json_get(j, it.value, "input"));
		if (!id) {
			free(name);
			continue;
		}
		k->calls = xrealloc(k->calls, k->ncalls + 1, sizeof *k->calls);
		k->calls[k->ncalls++] = (struct open_call){.id = id, .name = name ? name : xstrdup("")};
	}
	sha256_hex(k->calls_hash, all.p, all.len);
	buf_free(&all);
}

static void learn_result(struct keep *k, const struct json *j)
{
	int id = json_get(j, 0, "tool_call_id");

	for (size_t i = 0; i < k->ncalls; i++)
		if (!k->calls[i].done && json_eq(j, id, k->calls[i].id)) {
			k->calls[i].done = true;
			k->calls[i].failed = json_true(j, json_get(j, 0, "is_error"));
			return;
		}
}

static void system_hash(const struct json *j, char hash[SHA256_HEX])
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	json_str(j, json_get(j, 0, "content"), &b);
	sha256_hex(hash, b.p, b.len);
	buf_free(&b);
}

/* The id's text without quotes, as written; NULL if it has none. */
static const char *id_of(const struct json *j, size_t *len)
{
	int v = json_get(j, 0, "id");
	const char *raw;

	if (json_type(j, v) != JSON_STRING)
		return NULL;
	raw = json_raw(j, v, len);
	*len -= 2;
	return *len ? raw + 1 : NULL;
}

static void learn(struct keep *k, enum msg_kind kind, const struct json *j)
{
	size_t len;
	const char *id = id_of(j, &len);

	if (id && msg_lines()[kind].class == CLASS_MESSAGE)
		set_add(&k->ids, id, len);
	if (kind == MSG_ASSISTANT)
		learn_calls(k, j);
	else if (kind == MSG_TOOL)
		learn_result(k, j);
	else if (kind == MSG_USER)
		forget_calls(k);
	else if (kind == MSG_SYSTEM)
		system_hash(j, k->system);
}

/* Under --no-time the ids go on from those that are there. */
static void continue_ids(struct stage *st, const struct json *j)
{
	size_t len;
	const char *id = id_of(j, &len);
	unsigned long n;

	if (!st->no_time || !id || id[0] != st->letter)
		return;
	n = strtoul(id + 1, NULL, 10);
	if (n > st->id_count)
		st->id_count = n;
}

/* A line as whoever reads the log takes it: what is mendable is mended. */
static bool parse_mended(struct json *j, const struct line *l, struct buf *mended)
{
	if (json_parse(j, l->p, l->len, NULL) < 0) {
		buf_clear(mended);
		json_repair(mended, l->p, l->len);
		if (json_parse(j, mended->p, mended->len, NULL) < 0)
			return false;
	}
	return json_type(j, 0) == JSON_OBJECT;
}

static int read_log(struct keep *k, struct err *e)
{
	struct lines in;
	struct line l;
	struct buf mended;
	struct json j = JSON_INIT;
	unsigned long bad = 0, first_bad = 0;
	int r = 0;

	if (lseek(k->log.fd, 0, SEEK_SET) < 0)
		return err_sys(e, "read the session's log");
	lines_init(&in, k->log.fd, LINE_MAX_BYTES);
	buf_init(&mended, BUF_NOLIMIT);
	while (r == 0) {
		enum lines_got got = lines_next(&in, &l);

		if (got == LINES_END)
			break;
		if (got == LINES_NEED) {
			r = lines_fill(&in, e) < 0 ? -1 : 0;
			continue;
		}
		if (got == LINES_LINE && parse_mended(&j, &l, &mended)) {
			learn(k, msg_kind(&j), &j);
			continue_ids(k->st, &j);
		} else if (l.len || got == LINES_LONG) {
			first_bad = bad++ ? first_bad : l.no;
		}
	}
	if (bad)
		stage_notice(k->st, "%s: %lu lines cannot be read (first: line %lu); they are left out", k->log.path, bad, first_bad);
	json_free(&j);
	buf_free(&mended);
	lines_free(&in);
	return r;
}

/* The first line, made when the first message comes: its start is the title. */
static int write_head(struct keep *k, const struct json *first, struct err *e)
{
	const char *base = strrchr(k->log.path, '/') + 1;
	struct buf b, title;
	struct jw w;
	char *cwd = getcwd(NULL, 0);
	struct stat st;
	size_t n = strlen(base), cut;
	int r;

	if (n > 7 && !strcmp(base + n - 7, ".ndjson"))
		n -= 7;
	buf_init(&b, BUF_NOLIMIT);
	buf_init(&title, BUF_NOLIMIT);
	if (k->title)
		buf_adds(&title, k->title);
	else
		json_str(first, json_get(first, 0, "content"), &title);
	cut = strcspn(title.p, "\r\n");
	buf_truncate(&title, cut > 72 ? utf8_cut(title.p, 72) : cut);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "type", "session");
	jw_ki64(&w, "v", 1);
	jw_kstrn(&w, "id", base, n);
	jw_kstr(&w, "cwd", cwd ? cwd : "/");
	if (stat(".", &st) == 0) {
		char dir[48];

		/* So that the session is found again after the directory was renamed. */
		snprintf(dir, sizeof dir, "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
		jw_kstr(&w, "dir", dir);
	}
	stage_kts(k->st, &w);
	jw_kstr(&w, "starter", k->starter ? k->starter : "user");
	if (msg_kind(first) == MSG_USER)
		jw_kstrn(&w, "title", title.p, title.len);
	jw_end(&w);
	r = log_append(&k->log, b.p, b.len, e);
	if (r == 0)
		k->log.fresh = false;
	free(cwd);
	buf_free(&b);
	buf_free(&title);
	return r;
}

int keep_line(struct keep *k, const struct msg *m, struct err *e)
{
	size_t len;
	const char *id = id_of(m->json, &len);
	bool message = msg_lines()[m->kind].class == CLASS_MESSAGE;

	if (message && id && set_has(&k->ids, id, len))
		return 0;
	if (m->kind == MSG_SYSTEM) {
		char hash[SHA256_HEX];

		system_hash(m->json, hash);
		if (!strcmp(hash, k->system))
			return 0;
	}
	if (k->log.fresh && m->kind != MSG_SESSION && write_head(k, m->json, e) < 0)
		return -1;
	buf_clear(&k->line);
	buf_add(&k->line, m->line, m->len);
	if (message && !id) {
		/* An object's text begins with '{' after blanks at most; an empty string id is replaced by adding ours too. */
		char made[24];
		struct buf member;
		const char *open = memchr(k->line.p, '{', k->line.len);

		if (json_get(m->json, 0, "id") >= 0)
			return err_set(e, ST_DATA, "input line %lu: the id of a message must be a string that is not empty", m->no);
		stage_id(k->st, made);
		buf_init(&member, 64);
		buf_addf(&member, "\"id\":\"%s\"%s", made, json_count(m->json, 0) ? "," : "");
		buf_insert(&k->line, (size_t)(open - k->line.p) + 1, member.p, member.len);
		set_add(&k->ids, made, strlen(made));
		buf_free(&member);
	}
	/* Nobody could read it back. */
	if (k->line.len > LINE_MAX_BYTES)
		return err_set(e, ST_DATA, "input line %lu was left out: with its id it is longer than 64 MiB", m->no);
	if (log_append(&k->log, k->line.p, k->line.len, e) < 0)
		return -1;
	learn(k, m->kind, m->json);
	if (k->sync_always && log_sync(&k->log, e) < 0)
		return -1;
	return 1;
}

int keep_close_calls(struct keep *k, const char *why, keep_fn *made, void *arg, struct err *e)
{
	int n = 0;

	for (size_t i = 0; i < k->ncalls; i++) {
		struct jw *w;
		char id[24];

		if (k->calls[i].done)
			continue;
		stage_id(k->st, id);
		w = stage_begin(k->st, MSG_TOOL);
		jw_kstr(w, "id", id);
		stage_kts(k->st, w);
		jw_kstr(w, "tool_call_id", k->calls[i].id);
		jw_kstr(w, "name", k->calls[i].name);
		jw_kstr(w, "content", why);
		jw_kbool(w, "is_error", true);
		jw_kstr(w, "origin", "claws");
		jw_end(w);
		if (log_append(&k->log, k->st->made.p, k->st->made.len, e) < 0)
			return -1;
		set_add(&k->ids, id, strlen(id));
		k->calls[i].done = k->calls[i].failed = true;
		if (made)
			made(arg, k->st->made.p, k->st->made.len);
		n++;
	}
	return n;
}

size_t keep_open_calls(const struct keep *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->ncalls; i++)
		n += !k->calls[i].done;
	return n;
}

bool keep_all_failed(const struct keep *k)
{
	for (size_t i = 0; i < k->ncalls; i++)
		if (!k->calls[i].failed)
			return false;
	return k->ncalls > 0;
}

const char *keep_call_name(const struct keep *k, const char *id)
{
	for (size_t i = 0; i < k->ncalls; i++)
		if (!strcmp(k->calls[i].id, id))
			return k->calls[i].name;
	return "";
}

/* The journal's assistant line, if the log does not have it: a crash came between. */
static int take_journal_line(struct keep *k, const struct journal *jr, struct err *e)
{
	struct json j = JSON_INIT;
	size_t len;
	int r = 0;

	if (jr->assistant && json_parse(&j, jr->assistant, jr->len, NULL) == 0 && msg_kind(&j) == MSG_ASSISTANT) {
		const char *id = id_of(&j, &len);

		if (id && !set_has(&k->ids, id, len)) {
			r = log_append(&k->log, jr->assistant, jr->len, e);
			learn(k, MSG_ASSISTANT, &j);
			stage_notice(k->st, "the last answer was not in the log; it was taken from the journal");
		}
	}
	json_free(&j);
	return r;
}

/* Calls without a result when the log is opened: those in the journal were started. */
static int close_old_calls(struct keep *k, struct err *e)
{
	struct journal jr;
	size_t open = 0;
	int r;

	if (journal_read(k->log.path, &jr, e) < 0)
		return -1;
	r = take_journal_line(k, &jr, e);
	for (size_t i = 0; r == 0 && i < k->ncalls; i++) {
		bool started = false;
		struct open_call one = k->calls[i], *all = k->calls;
		size_t n = k->ncalls;

		if (one.done)
			continue;
		for (size_t c = 0; c < jr.ncalls; c++)
			started |= !strcmp(jr.calls[c], one.id);
		/* Close this one alone, with its own reason. */
		k->calls = all + i, k->ncalls = 1;
		if (keep_close_calls(k, started ? MAY_HAVE_RUN : NOT_RUN, NULL, NULL, e) < 0)
			r = -1;
		k->calls = all, k->ncalls = n;
		open++;
	}
	if (open && r == 0)
		stage_notice(k->st, "%zu tool calls of the last run have no result; they are marked as interrupted", open);
	journal_free(&jr);
	if (r == 0)
		r = log_sync(&k->log, e);
	return r == 0 ? journal_clear(k->log.path, e) : r;
}

int keep_open(struct keep *k, struct stage *st, const char *path, struct err *e)
{
	*k = (struct keep){.st = st, .starter = getenv("CLAWS_STARTER")};
	buf_init(&k->line, BUF_NOLIMIT);
	if (log_open(&k->log, path, e) < 0)
		return -1;
	if (k->log.torn)
		stage_notice(st, "%s: a torn last line of %zu bytes was cut off (kept in %s.d/torn)", path, k->log.torn, path);
	if (read_log(k, e) < 0)
		return -1;
	return close_old_calls(k, e);
}

void keep_close(struct keep *k)
{
	forget_calls(k);
	free(k->title);
	set_free(&k->ids);
	buf_free(&k->line);
	log_close(&k->log);
}

int keep_sync(struct keep *k, struct err *e)
{
	return k->sync_never ? 0 : log_sync(&k->log, e);
}

/* script.c - which answer a request gets: from the script, from a word in the prompt, or the standing text. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"

struct entry {
	struct json json;
	char *line;
	bool used;
};

static struct entry *entries;
static size_t n_entries;
static bool given;

bool script_given(void)
{
	return given;
}

int script_load(const char *path)
{
	FILE *f = fopen(path, "re");
	if (!f)
		die(ST_NOINPUT, "script %s: cannot be opened", path);
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	for (int no = 1; (len = getline(&line, &cap, f)) > 0; no++) {
		if (line[strspn(line, " \t\r\n")] == 0 || *line == '#')
			continue;
		entries = xrealloc(entries, n_entries + 1, sizeof *entries);
		struct entry *e = &entries[n_entries++];
		*e = (struct entry){JSON_INIT, xstrndup(line, (size_t)len), false};
		struct err err = ERR_INIT;
		if (json_parse(&e->json, e->line, (size_t)len, &err) < 0)
			die(ST_DATA, "script %s:%d: %s", path, no, err.text);
	}
	free(line);
	fclose(f);
	given = true;
	return 0;
}

bool fault_parse(struct fault *f, const char *spec)
{
	static const struct { const char *name; enum fault_kind kind; bool number; } kinds[] = {
		{"status", FAULT_STATUS, true}, {"close", FAULT_CLOSE, false}, {"cut", FAULT_CUT, true}, {"rst", FAULT_RST, true},
		{"stall", FAULT_STALL, true}, {"error", FAULT_ERROR, false}, {"noend", FAULT_NOEND, false}};
	*f = (struct fault){FAULT_NONE, 0, NULL, -1};
	size_t n = strcspn(spec, ":@");
	const char *at = strrchr(spec, '@');
	if (at)
		f->times = atol(at + 1);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (n == strlen(kinds[i].name) && !strncmp(spec, kinds[i].name, n)) {
			f->kind = kinds[i].kind;
			if (spec[n] != ':')
				return !kinds[i].number;
			char *end = NULL;
			f->text = spec + n + 1;
			if (kinds[i].number) {
				f->arg = strtol(f->text, &end, 10);
				f->text = *end == ':' ? end + 1 : NULL;
			}
			return true;
		}
	return false;
}

static void add_call(struct answer *a, const char *id, const char *name, const char *input, long request)
{
	a->calls = xrealloc(a->calls, a->n_calls + 1, sizeof *a->calls);
	struct tool_call *c = &a->calls[a->n_calls++];
	c->id = id ? xstrdup(id) : xasprintf("toolu_fake_%ld_%zu", request, a->n_calls);
	c->name = xstrdup(name);
	c->input = xstrdup(input);
}

void answer_free(struct answer *a)
{
	char *all[] = {a->text, a->thinking, a->signature, a->stop, a->raw, a->message, a->body, a->headers, a->fault_spec};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	for (size_t i = 0; i < a->n_calls; i++) {
		free(a->calls[i].id);
		free(a->calls[i].name);
		free(a->calls[i].input);
	}
	free(a->calls);
}

static long number(const struct json *j, int v, const char *key, long otherwise)
{
	int64_t n;
	return json_i64(j, json_get(j, v, key), &n) < 0 ? otherwise : (long)n;
}

static char *raw_or_string(const struct json *j, int v)
{
	size_t n;
	const char *p = json_raw(j, v, &n);
	return json_type(j, v) == JSON_STRING ? json_dup(j, v) : p ? xstrndup(p, n) : NULL;
}

static void calls_of(struct answer *a, const struct json *j, const struct request *r)
{
	for (struct json_iter it = json_iter(j, json_get(j, 0, "calls")); json_next(&it);) {
		char *id = json_dup(j, json_get(j, it.value, "id"));
		char *name = json_dup(j, json_get(j, it.value, "name"));
		char *input = raw_or_string(j, json_get(j, it.value, "input"));
		add_call(a, id, name ? name : "", input ? input : "{}", r->n);
		free(id);
		free(name);
		free(input);
	}
}

static void from_entry(struct answer *a, const struct json *j, const struct request *r)
{
	a->text = json_dup(j, json_get(j, 0, "text"));
	a->thinking = json_dup(j, json_get(j, 0, "thinking"));
	a->signature = json_dup(j, json_get(j, 0, "signature"));
	a->stop = json_dup(j, json_get(j, 0, "stop"));
	a->raw = json_dup(j, json_get(j, 0, "raw"));
	a->message = json_dup(j, json_get(j, 0, "message"));
	a->body = raw_or_string(j, json_get(j, 0, "body"));
	a->status = (int)number(j, 0, "status", 200);
	a->delay_ms = number(j, 0, "delay_ms", a->delay_ms);
	a->chunk_delay_ms = number(j, 0, "chunk_delay_ms", a->chunk_delay_ms);
	a->piece = number(j, 0, "piece", a->piece);
	int usage = json_get(j, 0, "usage");
	a->input = number(j, usage, "input", -1);
	a->output = number(j, usage, "output", -1);
	a->cache_read = number(j, usage, "cache_read", 0);
	a->cache_write = number(j, usage, "cache_write", 0);
	calls_of(a, j, r);
	struct buf headers;
	buf_init(&headers, BUF_NOLIMIT);
	for (struct json_iter it = json_iter(j, json_get(j, 0, "headers")); json_next(&it);) {
		json_str(j, it.key, &headers);
		buf_adds(&headers, ": ");
		json_str(j, it.value, &headers);
		buf_adds(&headers, "\r\n");
	}
	a->headers = buf_detach(&headers);
	a->fault_spec = json_dup(j, json_get(j, 0, "fault"));
	if (a->fault_spec && !fault_parse(&a->fault, a->fault_spec))
		die(ST_DATA, "script: unknown fault %s", a->fault_spec);
}

static struct entry *next_entry(const struct request *r)
{
	for (size_t i = 0; i < n_entries; i++) {
		struct entry *e = &entries[i];
		char *match = json_dup(&e->json, json_get(&e->json, 0, "match"));
		bool fits = !e->used && (!match || memmem(r->body, r->len, match, strlen(match)));
		free(match);
		if (fits) {
			e->used = !json_true(&e->json, json_get(&e->json, 0, "keep"));
			return e;
		}
	}
	return NULL;
}

/* What the prompt asks for: its last line with a word of ours, and how many results of tools came since. */
struct wish {
	struct buf line;
	long results;
};

static bool has_word(const char *line)
{
	static const char *const words[] = {"hello", "say:", "think:", "tools:", "call:", "long:", "slow"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strncmp(line, words[i], strlen(words[i])))
			return true;
	return false;
}

static void look_at_text(struct wish *w, const struct json *j, int v, bool beside_result)
{
	struct buf text;
	buf_init(&text, BUF_NOLIMIT);
	json_str(j, v, &text);
	const char *found = NULL;
	for (char *save = NULL, *line = strtok_r(text.p, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save))
		if (has_word(line))
			found = line;
	if (found || !beside_result) {   /* a remark beside a result is not a new prompt */
		buf_clear(&w->line);
		buf_adds(&w->line, found ? found : "");
		w->results = 0;
	}
	buf_free(&text);
}

static void look_at_message(struct wish *w, const struct json *j, int m)
{
	if (json_eq(j, json_get(j, m, "role"), "tool"))
		w->results++;
	if (!json_eq(j, json_get(j, m, "role"), "user"))
		return;
	int content = json_get(j, m, "content");
	if (json_type(j, content) == JSON_STRING)
		look_at_text(w, j, content, false);
	bool result = false;
	for (struct json_iter it = json_iter(j, content); json_type(j, content) == JSON_ARRAY && json_next(&it);) {
		if (json_eq(j, json_get(j, it.value, "type"), "tool_result")) {
			w->results++;
			result = true;
		} else if (json_eq(j, json_get(j, it.value, "type"), "text")) {
			look_at_text(w, j, json_get(j, it.value, "text"), result);
		}
	}
}

static char *filler(long n)
{
	static const char words[] = "the quick brown fox jumps over the lazy dog and ";
	char *s = xmalloc((size_t)n + 1);
	for (long i = 0; i < n; i++)
		s[i] = words[i % (long)(sizeof words - 1)];
	s[n] = 0;
	return s;
}

static void grant(struct answer *a, const struct wish *w, const struct request *r, const char *say)
{
	const char *s = w->line.p, *colon = strchr(s, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	long first = colon ? atol(colon + 1) : 0;
	if (!strncmp(s, "hello", 5)) {
		a->text = xstrdup("Hello! How can I help you today?");
	} else if (!strncmp(s, "say:", 4)) {
		a->text = xstrdup(s + 4);
	} else if (!strncmp(s, "think:", 6)) {
		a->thinking = xstrdup("Let me think about that for a moment.");
		a->signature = xstrdup("ZmFrZSBzaWduYXR1cmU=");
		a->text = xstrdup(s + 6);
	} else if (!strncmp(s, "tools:", 6) && w->results < first) {
		struct buf input;
		buf_init(&input, BUF_NOLIMIT);
		struct jw jw = jw_begin(&input);
		jw_obj(&jw);
		jw_kstr(&jw, "file_path", second ? second + 1 : "README.md");
		jw_end(&jw);
		add_call(a, NULL, "Read", input.p, r->n);
		buf_free(&input);
	} else if (!strncmp(s, "tools:", 6)) {
		a->text = xasprintf("Read it %ld times.", first);
	} else if (!strncmp(s, "call:", 5) && second && !w->results) {
		char *name = xstrndup(s + 5, (size_t)(second - s - 5));
		add_call(a, NULL, name, second + 1, r->n);
		free(name);
	} else if (!strncmp(s, "call:", 5)) {
		a->text = xstrdup("done");
	} else if (!strncmp(s, "long:", 5)) {
		a->piece = second ? atol(second + 1) : 50;
		a->text = filler(first * a->piece);
	} else if (!strncmp(s, "slow", 4)) {
		a->chunk_delay_ms = colon ? first : 200;
		a->piece = 5;
		a->text = filler((second ? atol(second + 1) : 20) * 5);
	} else {
		a->text = xstrdup(say);
	}
}

void answer_choose(struct answer *a, const struct request *r, const char *say)
{
	a->status = 200;
	a->input = a->output = -1;
	if (script_given()) {
		struct entry *e = next_entry(r);
		if (e) {
			from_entry(a, &e->json, r);
		} else {
			a->status = 400;
			a->message = xstrdup("fake-llm: the script has no answer for this request");
		}
		return;
	}
	struct wish w = {.results = 0};
	buf_init(&w.line, BUF_NOLIMIT);
	for (struct json_iter it = json_iter(r->json, json_get(r->json, 0, "messages")); json_next(&it);)
		look_at_message(&w, r->json, it.value);
	grant(a, &w, r, say);
	buf_free(&w.line);
}

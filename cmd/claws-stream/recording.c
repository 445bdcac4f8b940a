/* recording.c - NNNN-conversation.ndjson of a recording: the conversation at the first call of a process, and before it one line
 * that says how the model was asked. With it a replay needs neither the rows of the provider nor the options of that time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "stream.h"
#include "sys/atomic.h"
#include "sys/blob.h"
#include "sys/io.h"

extern char **environ;

static void write_prices(struct jw *w, const char *key, const double *price)
{
	jw_key(w, key);
	jw_arr(w);
	for (int i = 0; i < PRICES; i++) {
		if (price[i] < 0)
			jw_null(w);
		else
			jw_double(w, price[i]);
	}
	jw_end(w);
}

static void write_names(struct jw *w, const struct provider *p)
{
	jw_key(w, "quirks");
	jw_arr(w);
	for (int i = 0; i < QUIRKS; i++)
		if (p->quirks >> i & 1)
			jw_str(w, quirks()[i].name);
	jw_end(w);
	jw_key(w, "efforts");
	jw_obj(w);
	for (int i = EFFORT_NONE; i < EFFORTS; i++)
		if (p->effort_words[i])
			jw_kstr(w, effort_name((enum effort)i), p->effort_words[i]);
	jw_end(w);
}

static void write_head(const struct stream *s, struct jw *w)
{
	const struct call_options *o = &s->wanted;
	const char *model = s->conf.model ? s->conf.model : getenv("CLAWS_MODEL");

	jw_obj(w);
	jw_kstr(w, "type", "recording");
	jw_ki64(w, "v", 1);
	jw_kstr(w, "claws", CLAWS_VERSION);
	jw_kstr(w, "model", model && *model ? model : s->maker);
	jw_kstr(w, "maker", s->maker);
	jw_kstr(w, "wire", s->wire->name);
	jw_kstr(w, "path", s->path.len ? s->path.p : s->wire->path);
	jw_kstr(w, "cwd", s->cwd);
	jw_kstr(w, "home", s->names.home);
	jw_ki64(w, "max_tokens", o->max_tokens);
	jw_key(w, "temperature");
	jw_double(w, o->temperature);
	jw_ki64(w, "thinking", o->thinking);
	jw_kstr(w, "effort", effort_name(o->effort));
	jw_kstr(w, "style", style_name(o->style));
	jw_kbool(w, "stream", o->stream);
	jw_kbool(w, "cache", o->cache);
	jw_ki64(w, "context", o->context);
	jw_ki64(w, "inputs", s->p.inputs);
	write_names(w, &s->p);
	if (o->extra)
		jw_kstr(w, "extra", o->extra);
	write_prices(w, "price", s->p.price);
	write_prices(w, "price_above", s->p.above);
	jw_ki64(w, "above_tokens", s->p.above_tokens);
	jw_end(w);
}

void recording_begin(struct stream *s)
{
	struct buf text, *out = &s->recorder.first;
	struct jw w;

	recording_mask(s);
	if (!s->recording || s->forgot || s->recorder.begun)
		return;
	s->recorder.begun = true;
	buf_init(&text, BUF_NOLIMIT);
	w = jw_begin(&text);
	write_head(s, &w);
	buf_addc(&text, '\n');
	buf_add(&text, s->fixed.p, s->fixed.len);
	buf_add(&text, s->kept.p, s->kept.len);
	buf_clear(out);
	setup_mask(s, out, text.p, text.len);
	buf_free(&text);
}

static void read_prices(const struct json *j, int list, double *price)
{
	int i = 0;

	for (int k = 0; k < PRICES; k++)
		price[k] = -1;
	if (json_type(j, list) == JSON_ARRAY)
		for (struct json_iter it = json_iter(j, list); i < PRICES && json_next(&it); i++)
			if (json_double(j, it.value, &price[i]) < 0)
				price[i] = -1;
}

static int64_t whole_number(const struct json *j, const char *key, int64_t otherwise)
{
	int64_t n;

	return json_i64(j, json_get(j, 0, key), &n) == 0 ? n : otherwise;
}

static char *text_of(const struct json *j, const char *key)
{
	char *s = json_dup(j, json_get(j, 0, key));

	return s ? s : xstrdup("");
}

static void read_names(const struct json *j, struct provider *p)
{
	int list = json_get(j, 0, "quirks"), words = json_get(j, 0, "efforts");

	if (json_type(j, list) == JSON_ARRAY)
		for (struct json_iter it = json_iter(j, list); json_next(&it);) {
			char *word = json_dup(j, it.value);

			if (word)
				quirk_add(&p->quirks, word, strlen(word));
			free(word);
		}
	for (int i = EFFORT_NONE; i < EFFORTS; i++)
		p->effort_words[i] = json_dup(j, json_get(j, words, effort_name((enum effort)i)));
}

/* What the row of the provider said then. */
static void read_provider(const struct json *j, struct provider *p)
{
	char *maker = text_of(j, "maker"), *style = text_of(j, "style"), *slash = strchr(maker, '/');
	enum thinking_style known = style_find(style);

	p->name = slash ? xstrndup(maker, (size_t)(slash - maker)) : xstrdup(maker);
	p->model = xstrdup(slash ? slash + 1 : "");
	p->title = xstrdup("");
	p->kind = xstrdup("");
	p->wire = text_of(j, "wire");
	p->base_url = xstrdup("");
	p->auth = xstrdup("");
	p->key_prefix = xstrdup("");
	p->key_env = xcalloc(1, sizeof *p->key_env);
	p->headers = xcalloc(1, sizeof *p->headers);
	p->cascade = xcalloc(1, sizeof *p->cascade);
	p->key_optional = true;
	p->cache = json_true(j, json_get(j, 0, "cache")) ? CACHE_MARKS : CACHE_NONE;
	p->style = known == STYLES ? STYLE_NONE : known;
	p->context = whole_number(j, "context", 0);
	p->inputs = (unsigned)whole_number(j, "inputs", 0);
	p->extra = json_dup(j, json_get(j, 0, "extra"));
	read_prices(j, json_get(j, 0, "price"), p->price);
	read_prices(j, json_get(j, 0, "price_above"), p->above);
	p->above_tokens = whole_number(j, "above_tokens", 0);
	read_names(j, p);
	free(maker);
	free(style);
}

/* What the options said then, where nothing is said now. */
static void read_options(struct stream *s, const struct json *j)
{
	char *effort = text_of(j, "effort");
	enum effort known = effort_find(effort);
	double t;

	/* of this model alone: a fallback has a limit of its own */
	s->p.max_tokens = s->p.max_output = whole_number(j, "max_tokens", 0);
	if (s->conf.temperature < 0 && json_double(j, json_get(j, 0, "temperature"), &t) == 0 && isfinite(t))
		s->conf.temperature = t;
	if (!s->conf.thinking && !s->conf.effort) {
		s->thinking = (long)whole_number(j, "thinking", -1);
		s->effort = known == EFFORTS ? EFFORT_UNSAID : known;
	}
	s->conf.no_stream |= !json_true(j, json_get(j, 0, "stream"));
	free(effort);
}

int recording_read(struct stream *s, struct err *e)
{
	const char *model = s->conf.model ? s->conf.model : getenv("CLAWS_MODEL");
	struct json *j = &s->replay.head_json;
	char *then;
	bool other;

	if (s->replay.head.len == 0)
		return 0;
	then = text_of(j, "model");
	other = s->conf.wire || s->conf.base_url || s->conf.provider || (model && *model && strcmp(model, then) != 0);
	free(then);
	s->names.then_cwd = s->replay.cwd;
	s->names.then_home = s->replay.home;
	if (other)
		return 0;
	read_provider(j, &s->p);
	s->wire = wire_find(s->p.wire);
	if (!s->wire)
		return err_set(e, ST_DATA, "--replay: the recording is of wire '%s', which is not known here", s->p.wire);
	s->maker = xasprintf("%s/%s", s->p.name, s->p.model);
	read_options(s, j);
	then = text_of(j, "path");
	buf_adds(&s->path, then);
	free(then);
	return 1;
}

void recording_blob(struct stream *s, const struct buf *bytes)
{
	char name[BLOB_NAME];
	struct err e = ERR_INIT;
	int dir;

	if (mkdirat(s->recorder.dir, "blobs", 0700) < 0 && errno != EEXIST)
		return warn("--record: make directory blobs: %s", strerror(errno));
	dir = openat(s->recorder.dir, "blobs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || blob_put(dir, bytes->p, bytes->len, name, &e) < 0)
		warn("--record: an image cannot be kept: %s", dir < 0 ? strerror(errno) : e.text);
	if (dir >= 0)
		close(dir);
}

/* ---- what must not be kept: claws-tool has no key, and cannot know ---- */

static const char tail[] = "-tool.json";

static bool secret_variable(const char *var, size_t n)
{
	static const char *const ends[] = {"_API_KEY", "_TOKEN", "_SECRET", "_SECRET_KEY", "_SECRET_ACCESS_KEY", "_PASSWORD"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t m = strlen(ends[i]);

		if (n > m && !memcmp(var + n - m, ends[i], m))
			return true;
	}
	return false;
}

void recording_secrets(struct stream *s)
{
	for (char **v = environ; *v; v++) {
		size_t len = strcspn(*v, "=");

		if (secret_variable(*v, len) && strlen(*v + len + 1) >= SECRET_LEAST)
			secrets_add(&s->secrets, *v + len + 1);
	}
}

static void mask_file(const struct stream *s, const char *name)
{
	struct buf text, before;
	struct err e = ERR_INIT;

	buf_init(&text, RECORD_MAX);
	buf_init(&before, RECORD_MAX);
	if (io_read_file(s->recorder.dir, name, &text, &e) == 0) {
		buf_add(&before, text.p, text.len);
		buf_clear(&text);
		setup_mask(s, &text, before.p, before.len);
		if ((text.len != before.len || memcmp(text.p, before.p, text.len)) &&
		    atomic_write(s->recorder.dir, name, text.p, text.len, 0600, &e) < 0)
			warn("--record: %s", e.text);
	}
	buf_free(&text);
	buf_free(&before);
}

void recording_mask(struct stream *s)
{
	int fd = s->recording ? openat(s->recorder.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	unsigned masked = s->recorder.masked;
	struct dirent *d;

	if (!list && fd >= 0)
		close(fd);
	while (list && (d = readdir(list))) {
		unsigned n = record_number(d->d_name, tail);

		if (n <= s->recorder.masked)
			continue;
		mask_file(s, d->d_name);
		masked = n > masked ? n : masked;
	}
	s->recorder.masked = masked;
	if (list)
		closedir(list);
}

#include "llm/window.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "json/jw.h"
#include "sys/atomic.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define WINDOW_FILE_MAX ((size_t)8 << 20)
#define WINDOW_AGE_S (24 * 3600)

/* FNV-1a over the URL without slashes at its end: a name for its file. The URL itself, but for its query, is in the file. */
static void file_name(char name[40], const char *base, size_t n)
{
	uint64_t h = 14695981039346656037u;
	struct buf b;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)base[i]) * 1099511628211u;
	for (const char *q = base + strcspn(base, "?"); *q; q++)
		h = (h ^ (unsigned char)*q) * 1099511628211u;
	buf_init(&b, 40);
	buf_addf(&b, "windows/%016llx.json", (unsigned long long)h);
	memcpy(name, b.p, b.len + 1);
	buf_free(&b);
}

static size_t base_length(const char *base)
{
	size_t n = strcspn(base, "?");   /* what follows may be a key, and is not kept */

	while (n && base[n - 1] == '/')
		n--;
	return n;
}

int64_t window_of_entry(const struct json *j, int entry)
{
	static const char *const names[] = {
		"max_model_len", "context_window", "context_length", "max_context_length", "loaded_context_length", "meta.n_ctx"};
	int64_t n;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_i64(j, json_path(j, entry, names[i]), &n) == 0 && n > 0)
			return n;
	return 0;
}

static int64_t look(const struct json *j, const char *base, size_t len, const char *model)
{
	struct buf b;
	bool same;
	int64_t n;

	buf_init(&b, 8192);
	same = json_str(j, json_get(j, 0, "base_url"), &b) == 0 && b.len == len && memcmp(b.p, base, len) == 0;
	buf_free(&b);
	if (!same)
		return -1;
	if (json_i64(j, json_get(j, json_get(j, 0, "models"), model), &n) == 0 && n > 0)
		return n;
	return json_i64(j, json_get(j, 0, "smallest"), &n) == 0 && n > 0 ? n : 0;
}

int64_t window_known(const char *base_url, const char *model)
{
	size_t len = base_length(base_url);
	struct json j = JSON_INIT;
	struct buf path, text;
	char name[40];
	struct stat st;
	int64_t n = -1;

	file_name(name, base_url, len);
	buf_init(&path, PATH_MAX);
	buf_init(&text, WINDOW_FILE_MAX);
	if (dirs_cache_path(&path, name, NULL) == 0 && stat(path.p, &st) == 0) {
		time_t now = time(NULL);

		if (st.st_mtime <= now + 60 && now - st.st_mtime < WINDOW_AGE_S &&
		    io_read_file(AT_FDCWD, path.p, &text, NULL) == 0 && json_parse(&j, text.p, text.len, NULL) == 0)
			n = look(&j, base_url, len, model);
	}
	json_free(&j);
	buf_free(&path);
	buf_free(&text);
	return n;
}

static void write_models(struct buf *out, const char *base, size_t len, const struct json *j, int list)
{
	struct jw w = jw_begin(out);
	int64_t smallest = 0;

	jw_obj(&w);
	jw_kstrn(&w, "base_url", base, len);
	jw_key(&w, "models");
	jw_obj(&w);
	for (struct json_iter it = json_iter(j, list); json_next(&it);) {
		int64_t n = window_of_entry(j, it.value);
		char *id = json_dup(j, json_get(j, it.value, "id"));

		if (id && n > 0) {
			jw_ki64(&w, id, n);
			smallest = !smallest || n < smallest ? n : smallest;
		}
		free(id);
	}
	jw_end(&w);
	jw_ki64(&w, "smallest", smallest);
	jw_end(&w);
	buf_addc(out, '\n');
}

int window_keep(const char *base_url, const char *answer, size_t n, struct err *e)
{
	size_t len = base_length(base_url);
	struct json j = JSON_INIT;
	struct buf path, out;
	char name[40];
	int list = -1, bad;

	file_name(name, base_url, len);
	if (json_parse(&j, answer, n, NULL) == 0)
		list = json_type(&j, 0) == JSON_ARRAY ? 0 : json_get(&j, 0, "data");
	buf_init(&path, PATH_MAX);
	buf_init(&out, WINDOW_FILE_MAX);
	write_models(&out, base_url, len, &j, list);
	bad = dirs_cache(&path, "windows", e) < 0 || dirs_cache_path(&path, name, e) < 0 ||
		atomic_write(AT_FDCWD, path.p, out.p, out.len, 0600, e) < 0;
	json_free(&j);
	buf_free(&path);
	buf_free(&out);
	return bad ? -1 : 0;
}

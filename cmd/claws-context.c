/* claws-context - prints the system prompt as one `system` line.
 *
 * It is put together from prompts/ (dirs_share), what is stable about where we are, and the instruction files. Nothing in it
 * changes by itself, neither clock nor git status, so that providers' prompt caches hold from run to run. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/instructions.h"
#include "agent/memory.h"
#include "base/hash.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/jw.h"
#include "opt/opt.h"
#include "proto/msg.h"
#include "sys/dirs.h"
#include "sys/io.h"

enum { PROMPT_MAX = 4 << 20, MEMORY_MAX = 4096 };

struct conf {
	const char *system, *append, *dir, *model, *mode;
	bool no_project, bare, no_time;
};

static const struct opt options[] = {
	{'s', "system", "TEXT|@FILE", OPT_STR, offsetof(struct conf, system), "use this instead of the base prompt", 0, 0, NULL},
	{0, "append-system-prompt", "TEXT", OPT_STR, offsetof(struct conf, append), "add this at the end", 0, 0, NULL},
	{'m', "model", "MODEL", OPT_STR, offsetof(struct conf, model), "the model it is for (default: CLAWS_MODEL)", 0, 0, NULL},
	{0, "mode", "MODE", OPT_STR, offsetof(struct conf, mode), "permission mode; plan adds a word about it", 0, 0, NULL},
	{'C', "directory", "DIR", OPT_STR, offsetof(struct conf, dir), "as if started in DIR", 0, 0, NULL},
	{0, "no-project", NULL, OPT_FLAG, offsetof(struct conf, no_project), "leave out the project's files and memories", 0, 0, NULL},
	{0, "bare", NULL, OPT_FLAG, offsetof(struct conf, bare), "a few sentences and the directory, nothing else", 0, 0, NULL},
	{0, "no-time", NULL, OPT_FLAG, offsetof(struct conf, no_time),
	 "the same input gives the same bytes, in any session", 0, 0, NULL},
	{0}};

static const struct opt_spec spec = {"claws-context", "[OPTION...]", "Print the system prompt for this directory as a line.",
				options, NULL, NULL, 0};

struct context {
	struct conf conf;
	struct buf text;      /* the prompt */
	char *cwd;
	struct buf root;
	bool git;
};

/* What is appended starts after an empty line. */
static void paragraph(struct buf *b)
{
	while (b->len && b->p[b->len - 1] == '\n')
		buf_truncate(b, b->len - 1);
	if (b->len)
		buf_adds(b, "\n\n");
}

static void add_file(struct buf *b, int dir, const char *path)
{
	struct err e = ERR_INIT;
	struct buf raw;

	buf_init(&raw, PROMPT_MAX);
	if (io_read_file(dir, path, &raw, &e) < 0)
		die_err(&e);
	utf8_repair(b, raw.p, raw.len);
	buf_free(&raw);
}

static void add_prompt(struct buf *b, const char *name)
{
	struct err e = ERR_INIT;
	struct buf path;

	buf_init(&path, PATH_MAX);
	if (dirs_share(&path, name, &e) < 0)
		die_err(&e);
	add_file(b, AT_FDCWD, path.p);
	buf_free(&path);
}

/* The family decides, not the provider: the same model is sold by many. */
static const char *overlay(const char *model)
{
	static const struct {
		const char *word, *file;
	} families[] = {
	    {"claude", "prompts/overlays/claude.md"},
	    {"gemini", "prompts/overlays/gemini.md"},
	    {"qwen", "prompts/overlays/qwen.md"},
	    {"qwq", "prompts/overlays/qwen.md"},
	    {"gpt-5", "prompts/overlays/openai-reasoning.md"},
	};
	const char *slash = model ? strrchr(model, '/') : NULL, *name = slash ? slash + 1 : model;

	if (!name)
		return NULL;
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (strcasestr(name, families[i].word))
			return families[i].file;
	/* o1, o3-mini, o4-mini */
	if ((name[0] == 'o' || name[0] == 'O') && name[1] >= '1' && name[1] <= '9' && (!name[2] || name[2] == '-'))
		return "prompts/overlays/openai-reasoning.md";
	return NULL;
}

static void add_base(struct context *c)
{
	const char *s = c->conf.system;

	if (s && *s == '@')
		add_file(&c->text, AT_FDCWD, s + 1);
	else if (s)
		utf8_repair(&c->text, s, strlen(s));
	else
		add_prompt(&c->text, c->conf.bare ? "prompts/base/bare.md" : "prompts/base/default.md");
	const char *more = c->conf.bare || s ? NULL : overlay(c->conf.model);
	if (more) {
		paragraph(&c->text);
		add_prompt(&c->text, more);
	}
	if (c->conf.mode && !strcmp(c->conf.mode, "plan")) {
		paragraph(&c->text);
		add_prompt(&c->text, "prompts/fragments/plan.md");
	}
}

/* A path on one line, whatever it holds. */
static void add_path(struct buf *b, const char *path)
{
	jw_escape(b, path, strlen(path));
}

static void add_environment(struct context *c)
{
	struct utsname u;

	paragraph(&c->text);
	buf_adds(&c->text, "# Environment\n- Working directory: ");
	add_path(&c->text, c->cwd);
	if (uname(&u) == 0)
		buf_addf(&c->text, "\n- Platform: %s %s", u.sysname, u.machine);
	buf_adds(&c->text, "\n- Git repository: ");
	if (c->git)
		add_path(&c->text, c->root.p);
	else
		buf_adds(&c->text, "none");
	buf_addc(&c->text, '\n');
}

static void add_memory(struct context *c)
{
	struct memory_store store;
	struct err e = ERR_INIT;
	struct buf index;

	buf_init(&index, MEMORY_MAX * 2);
	if (memory_open(&store, c->root.p, &e) < 0)
		die_err(&e);
	if (memory_index(&store, c->conf.no_project ? MEMORY_USER : MEMORY_BOTH, MEMORY_MAX, &index, &e) < 0) {
		warn("memories left out: %s", e.text);
	} else if (index.len) {
		paragraph(&c->text);
		add_prompt(&c->text, "prompts/fragments/memory.md");
		buf_add(&c->text, index.p, index.len);
	}
	memory_close(&store);
	buf_free(&index);
}

/* The id of the marks around foreign text. Made from the text itself, and the session: nobody can write a text that contains
 * the hash of itself, so no text can hold its own end mark; and the next turn of the session sends the same bytes, which a
 * random number would not let the provider's cache find again. */
static void mark_id(const struct context *c, const struct instructions *in, char id[17])
{
	const char *session = c->conf.no_time ? NULL : getenv("CLAWS_SESSION");
	struct buf all;
	char hex[SHA256_HEX];

	buf_init(&all, BUF_NOLIMIT);
	buf_addf(&all, "%s%c", session ? session : "", 0);
	for (size_t i = 0; i < in->n; i++) {
		buf_addf(&all, "%s%c%zu%c", in->v[i].path, 0, in->v[i].text.len, 0);
		buf_add(&all, in->v[i].text.p, in->v[i].text.len);
	}
	sha256_hex(hex, all.p, all.len);
	memcpy(id, hex, 16);
	id[16] = 0;
	buf_free(&all);
}

static void add_with_id(struct buf *out, const char *text, const char *id)
{
	const char *at;

	for (; (at = strstr(text, "{{id}}")) != NULL; text = at + 6) {
		buf_add(out, text, (size_t)(at - text));
		buf_adds(out, id);
	}
	buf_adds(out, text);
}

static void warn_lines(char *lines)
{
	for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = 0;
		warn("%s", line);
	}
}

static void add_instruction(struct buf *b, const struct instruction *f, const char *id)
{
	const char *odd = instructions_suspect(f->text.p);

	if (odd && !f->user)
		warn("%s: %s; it is passed on as data, look at it", f->path, odd);
	buf_adds(b, "\n<file path=\"");
	add_path(b, f->path);
	buf_addf(b, "\" from=\"%s\" id=\"%s\">\n", f->user ? "user" : "project", id);
	buf_add(b, f->text.p, f->text.len);
	if (f->text.len && f->text.p[f->text.len - 1] != '\n')
		buf_addc(b, '\n');
	if (f->size > f->text.len)
		buf_addf(b, "[cut here: the file has %llu bytes; %zu are read of all instruction files together]\n",
		         (unsigned long long)f->size, INSTRUCTIONS_MAX);
	buf_addf(b, "</file id=\"%s\">\n", id);
}

static void add_instructions(struct context *c)
{
	struct instructions in = INSTRUCTIONS_INIT;
	struct err e = ERR_INIT;
	struct buf intro;
	char id[17];

	if (instructions_user(&in, &e) < 0)
		die_err(&e);
	if (!c->conf.no_project && instructions_project(&in, c->root.p, c->cwd, &e) < 0)
		die_err(&e);
	if (in.refused.p)
		warn_lines(in.refused.p);
	instructions_budget(&in);
	if (in.n) {
		mark_id(c, &in, id);
		buf_init(&intro, PROMPT_MAX);
		add_prompt(&intro, "prompts/fragments/instructions.md");
		paragraph(&c->text);
		add_with_id(&c->text, intro.p, id);
		buf_free(&intro);
		for (size_t i = 0; i < in.n; i++)
			add_instruction(&c->text, &in.v[i], id);
	}
	instructions_free(&in);
}

static void from_environment(struct conf *conf)
{
	static const char *const names[] = {"CLAWS_SYSTEM", "CLAWS_APPEND_SYSTEM", "CLAWS_MODEL", "CLAWS_MODE"};
	const char **const at[] = {&conf->system, &conf->append, &conf->model, &conf->mode};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *v = getenv(names[i]);
		if (!*at[i] && v && *v)
			*at[i] = v;
	}
	const char *off = getenv("CLAWS_NO_PROJECT"), *no_time = getenv("CLAWS_NO_TIME");
	conf->no_project |= off && *off && strcmp(off, "0");
	conf->no_time |= no_time && *no_time && strcmp(no_time, "0");
}

static void print(const struct context *c)
{
	struct err e = ERR_INIT;
	struct buf line;

	buf_init(&line, BUF_NOLIMIT);
	struct jw w = jw_begin(&line);
	jw_obj(&w);
	jw_kstr(&w, "role", msg_lines()[MSG_SYSTEM].name);
	jw_kstrn(&w, "content", c->text.p, c->text.len);
	jw_end(&w);
	buf_addc(&line, '\n');
	if (io_write_all(STDOUT_FILENO, line.p, line.len, &e) < 0)
		die_err(&e);
	buf_free(&line);
}

int main(int argc, char **argv)
{
	struct context c = {.git = false};

	prog_name("claws-context");
	if (opt_parse(&spec, argc, argv, &c.conf) < argc)
		opt_usage(&spec, "operands are not taken");
	from_environment(&c.conf);
	buf_init(&c.text, BUF_NOLIMIT);
	buf_init(&c.root, PATH_MAX);
	/* Before the change of directory: a FILE is meant from where the user stands. */
	add_base(&c);
	if (c.conf.dir && chdir(c.conf.dir) < 0)
		die(errno == ENOENT ? ST_NOINPUT : ST_IO, "%s: %s", c.conf.dir, strerror(errno));
	c.cwd = getcwd(NULL, 0);
	if (!c.cwd)
		die(ST_IO, "the working directory: %s", strerror(errno));
	c.git = instructions_root(c.cwd, &c.root);
	add_environment(&c);
	if (!c.conf.bare) {
		add_memory(&c);
		add_instructions(&c);
	}
	if (c.conf.append) {
		paragraph(&c.text);
		utf8_repair(&c.text, c.conf.append, strlen(c.conf.append));
	}
	while (c.text.len && c.text.p[c.text.len - 1] == '\n')
		buf_truncate(&c.text, c.text.len - 1);
	print(&c);
	free(c.cwd);
	buf_free(&c.text);
	buf_free(&c.root);
	return ST_OK;
}

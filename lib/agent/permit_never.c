/* The commands that are refused in every mode. They are found in what a shell's lexer makes of the line, roughly: quotes
 * removed, every operator, substitution and group taken as the start of another command, wrappers looked through. Who wants
 * to get round it can (variables, encodings): it is there for the accident, the sandbox and the person for the rest. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agent/permit.h"
#include "base/xalloc.h"

#define WORDS 256
#define NESTING 4

struct words {
	char *v[WORDS];
	size_t n;
};

static const char *judge_line(const char *s, int depth);

static bool one_of(const char *s, const char *list)
{
	size_t n = strlen(s);

	for (const char *p = list; *p; p += strcspn(p, " "), p += *p == ' ')
		if (strcspn(p, " ") == n && !memcmp(p, s, n))
			return true;
	return false;
}

static const char *base_name(const char *s)
{
	const char *slash = strrchr(s, '/');

	return slash ? slash + 1 : s;
}

/* The whole system, a system directory or the whole home, with or without all that is in it. */
static bool is_everything(const char *word)
{
	char s[64];
	size_t n = strlen(word);

	if (n >= sizeof s)
		return false;
	memcpy(s, word, n + 1);
	for (;;) {
		n = strlen(s);
		if (n > 1 && (s[n - 1] == '/' || (s[n - 1] == '*' && s[n - 2] == '/')))
			s[n - 1] = 0;
		else if (n > 1 && s[n - 1] == '.' && s[n - 2] == '/')
			s[n - 1] = 0;
		else
			break;
	}
	while (s[0] == '/' && s[1] == '/')
		memmove(s, s + 1, strlen(s));
	return one_of(s, "/ ~ $HOME ${HOME} /.. /bin /boot /dev /etc /home /lib /lib64 /proc /root /sbin /sys /usr /var");
}

static bool is_disk(const char *path)
{
	static const char *const disks[] = {"sd", "hd", "nvme", "vd", "mmcblk", "xvd", "disk", "mapper/", "dm-", "md"};

	if (strncmp(path, "/dev/", 5))
		return false;
	for (size_t i = 0; i < sizeof disks / sizeof *disks; i++)
		if (!strncmp(path + 5, disks[i], strlen(disks[i])))
			return true;
	return false;
}

static bool has_flag(char **v, size_t n, char letter, char other, const char *name)
{
	for (size_t i = 1; i < n; i++) {
		if (!strcmp(v[i], "--"))
			return false;
		if (!strcmp(v[i], name))
			return true;
		if (v[i][0] == '-' && v[i][1] != '-' && (strchr(v[i], letter) || (other && strchr(v[i], other))))
			return true;
	}
	return false;
}

static bool any_word(char **v, size_t n, bool (*is)(const char *))
{
	for (size_t i = 1; i < n; i++)
		if (is(v[i]))
			return true;
	return false;
}

static bool writes_disk(const char *word)
{
	return !strncmp(word, "of=", 3) && is_disk(word + 3);
}

/* One command with its words. */
static const char *judge_words(char **v, size_t n, int depth)
{
	const char *name = base_name(v[0]), *hit;

	if (one_of(name, "rm") && has_flag(v, n, 'r', 'R', "--recursive") && any_word(v, n, is_everything))
		return "rm -rf /";
	if (one_of(name, "rm") && has_flag(v, n, '\1', 0, "--no-preserve-root"))
		return "rm --no-preserve-root";
	if (!strncmp(name, "mkfs", 4) && (!name[4] || name[4] == '.'))
		return "mkfs";
	if (one_of(name, "dd") && any_word(v, n, writes_disk))
		return "dd of=/dev/DISK";
	if (one_of(name, "tee shred wipefs sfdisk blkdiscard") && any_word(v, n, is_disk))
		return "writing to a disk device";
	if (one_of(name, "chmod chown chgrp") && has_flag(v, n, 'R', 0, "--recursive") && any_word(v, n, is_everything))
		return one_of(name, "chmod") ? "chmod -R /" : "chown -R /";
	if (one_of(name, "sh bash dash zsh ksh ash fish eval"))
		for (size_t i = 1; depth < NESTING && i < n; i++)
			if ((hit = judge_line(v[i], depth + 1)))
				return hit;
	return NULL;
}

/* Behind a wrapper or a keyword any word may be the command: its own options are not known here. */
static const char *judge_command(struct words *w, int depth)
{
	const char *hit = NULL;
	size_t i = 0;
	bool wrapped = false;

	while (i < w->n && !hit) {
		const char *name = base_name(w->v[i]);
		bool assignment = strchr(w->v[i], '=') && (isalpha((unsigned char)w->v[i][0]) || w->v[i][0] == '_');
		if (one_of(name, "sudo doas env nice nohup command time exec builtin timeout ionice setsid stdbuf xargs busybox chroot "
		                 "unshare if then else elif while until do ! {"))
			wrapped = true;
		else if (!assignment || wrapped)
			hit = judge_words(w->v + i, w->n - i, depth);
		if (!wrapped && !assignment)
			break;
		i++;
	}
	for (i = 0; i < w->n; i++)
		free(w->v[i]);
	w->n = 0;
	return hit;
}

struct lexer {
	const char *s;
	struct buf word;
	bool any;                  /* a word has begun, if only by quotes */
	bool redirect;             /* the next word is the target of > */
	struct words words;
};

/* Ends the word; true if it was a redirection to a disk. */
static bool end_word(struct lexer *l)
{
	bool disk = false;

	if (!l->any)
		return false;
	if (l->redirect)
		disk = is_disk(l->word.p);
	else if (l->words.n < WORDS)
		l->words.v[l->words.n++] = xstrdup(l->word.p);
	l->redirect = l->any = false;
	buf_clear(&l->word);
	return disk;
}

/* What stands between quotes; substitutions inside "..." end it, as their inside is a command of its own. */
static void quoted(struct lexer *l, char quote)
{
	l->any = true;
	for (; *l->s && *l->s != quote; l->s++) {
		if (quote == '"' && (*l->s == '`' || (l->s[0] == '$' && l->s[1] == '(')))
			return;
		if (quote == '"' && *l->s == '\\' && l->s[1])
			l->s++;
		buf_addc(&l->word, *l->s);
	}
	if (*l->s)
		l->s++;
}

static const char *judge_line(const char *s, int depth)
{
	struct lexer l = {.s = s};
	const char *hit = NULL;

	buf_init(&l.word, BUF_NOLIMIT);
	while (*l.s && !hit) {
		char c = *l.s++;
		if (c == '\\' && *l.s) {
			if (*l.s != '\n') {
				l.any = true;
				buf_addc(&l.word, *l.s);
			}
			l.s++;
		} else if (c == '\'' || c == '"') {
			quoted(&l, c);
		} else if (c == ' ' || c == '\t' || c == '>' || c == '<') {
			if (end_word(&l))
				hit = "writing to a disk device";
			l.redirect = l.redirect || c == '>';
		} else if (strchr(";&|\n()`", c) || (c == '$' && *l.s == '(')) {
			if (end_word(&l))
				hit = "writing to a disk device";
			if (l.words.n && !hit)
				hit = judge_command(&l.words, depth);
		} else {
			l.any = true;
			buf_addc(&l.word, c);
		}
	}
	if (!hit && end_word(&l))
		hit = "writing to a disk device";
	if (!hit && l.words.n)
		hit = judge_command(&l.words, depth);
	for (size_t i = 0; i < l.words.n; i++)
		free(l.words.v[i]);
	buf_free(&l.word);
	return hit;
}

static bool is_fork_bomb(const char *s)
{
	static const char bomb[] = ":(){:|:&};:";
	size_t at = 0;

	for (; *s; s++) {
		if (isspace((unsigned char)*s))
			continue;
		at = *s == bomb[at] ? at + 1 : *s == bomb[0];
		if (!bomb[at])
			return true;
	}
	return false;
}

const char *permit_never(const char *command)
{
	return is_fork_bomb(command) ? "fork bomb" : judge_line(command, 0);
}

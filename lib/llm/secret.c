#include "llm/secret.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/xalloc.h"

/* Is the word in the name, and does it end there? "key" is in "x-api-key" and "MYKEY", not in "keyboard" or "monkeys". */
static bool has_word(const char *name, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++)
		if (strncasecmp(name + i, word, len) == 0 && (i + len == n || !isalpha((unsigned char)name[i + len])))
			return true;
	return false;
}

bool secret_name(const char *name, size_t n)
{
	static const char *const words[] = {"key", "token", "secret", "password", "passwd", "auth", "authorization", "credential",
		"credentials", "cookie", "sig", "signature", NULL};

	for (const char *const *w = words; *w; w++)
		if (has_word(name, n, *w))
			return true;
	return false;
}

static void add(struct secrets *s, const char *p, size_t n)
{
	for (size_t i = 0; i < s->n; i++)
		if (strlen(s->v[i]) == n && !memcmp(s->v[i], p, n))
			return;
	s->v = xrealloc(s->v, s->n + 2, sizeof *s->v);
	s->v[s->n++] = xstrndup(p, n);
	s->v[s->n] = NULL;
}

void secrets_add(struct secrets *s, const char *secret)
{
	if (secret && *secret)
		add(s, secret, strlen(secret));
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* Also as the server reads it, with its %XX decoded: so it would be said aloud. */
static void add_decoded(struct secrets *s, const char *p, size_t n)
{
	char *text = xstrndup(p, n), *to = text;

	for (size_t i = 0; i < n; i++) {
		bool coded = p[i] == '%' && i + 2 < n && digit(p[i + 1]) >= 0 && digit(p[i + 2]) >= 0;

		*to++ = coded ? (char)(digit(p[i + 1]) * 16 + digit(p[i + 2])) : p[i];
		i += coded ? 2 : 0;
	}
	*to = 0;
	if (strlen(text) >= SECRET_LEAST)
		add(s, text, strlen(text));
	explicit_bzero(text, n);
	free(text);
}

void secrets_of_url(struct secrets *s, const char *url)
{
	const char *p = strchr(url, '?');

	while (p && *p) {
		size_t n = strcspn(++p, "&"), name = strcspn(p, "=&");

		if (n > name + SECRET_LEAST && secret_name(p, name)) {
			add(s, p + name + 1, n - name - 1);
			add_decoded(s, p + name + 1, n - name - 1);
		}
		p += n;
	}
}

void secrets_of_header(struct secrets *s, const char *line)
{
	size_t name = strcspn(line, ":");
	const char *value = line + name + (line[name] == ':'), *scheme;

	if (!secret_name(line, name))
		return;
	value += strspn(value, " \t");
	if (strlen(value) >= SECRET_LEAST)
		secrets_add(s, value);
	scheme = strchr(value, ' ');
	if (scheme && strlen(scheme + 1) >= SECRET_LEAST)
		secrets_add(s, scheme + 1);
}

const char *const *secrets_list(const struct secrets *s)
{
	static const char *const none[] = {NULL};

	return s->v ? s->v : none;
}

void secrets_free(struct secrets *s)
{
	for (size_t i = 0; i < s->n; i++) {
		explicit_bzero((char *)(uintptr_t)s->v[i], strlen(s->v[i]));
		free((char *)(uintptr_t)s->v[i]);
	}
	free(s->v);
	*s = (struct secrets)SECRETS_INIT;
}

#include "sys/env.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/xalloc.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* git runs these through a shell (git-var(1)), so they can say why they fail. */
#define NO_EDITOR "echo 'no editor in a tool call: use git commit -m, --no-edit or GIT_EDITOR=true' >&2; false"

void env_init(struct env *v)
{
	*v = (struct env){xcalloc(1, sizeof(char *)), 0, 0};
}

void env_free(struct env *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->v[i]);
	free(v->v);
	*v = (struct env){NULL, 0, 0};
}

static size_t find(const struct env *v, const char *name, size_t len)
{
	size_t i = 0;

	while (i < v->n && (strncmp(v->v[i], name, len) || v->v[i][len] != '='))
		i++;
	return i;
}

void env_set(struct env *v, const char *name, const char *value)
{
	size_t i = find(v, name, strlen(name));
	char *entry = xasprintf("%s=%s", name, value);

	if (i < v->n) {
		free(v->v[i]);
		v->v[i] = entry;
		return;
	}
	if (v->n + 1 >= v->cap) {
		v->cap = v->cap ? v->cap * 2 : 64;
		v->v = xrealloc(v->v, v->cap, sizeof *v->v);
	}
	v->v[v->n++] = entry;
	v->v[v->n] = NULL;
}

void env_unset(struct env *v, const char *name)
{
	size_t i = find(v, name, strlen(name));

	if (i == v->n)
		return;
	free(v->v[i]);
	memmove(v->v + i, v->v + i + 1, (v->n - i) * sizeof *v->v);
	v->n--;
}

const char *env_get(const struct env *v, const char *name)
{
	size_t n = strlen(name), i = find(v, name, n);
	return i < v->n ? v->v[i] + n + 1 : NULL;
}

const char *const *env_vector(const struct env *v)
{
	return (const char *const *)v->v;
}

void env_copy(struct env *v, char *const *from)
{
	env_init(v);
	for (; *from; from++) {
		const char *eq = strchr(*from, '=');
		if (!eq || eq == *from)
			continue;
		char *name = xstrndup(*from, (size_t)(eq - *from));
		if (!env_get(v, name))   /* of a name twice, getenv(3) takes the first */
			env_set(v, name, eq + 1);
		free(name);
	}
}

/* A pattern is a name, or a prefix and '*'. */
static bool listed(const char *name, const char *const *list)
{
	for (; *list; list++) {
		size_t n = strlen(*list);
		if ((*list)[n - 1] == '*' ? !strncmp(name, *list, n - 1) : !strcmp(name, *list))
			return true;
	}
	return false;
}

bool env_is_secret(const char *name)
{
	/* Whole words between underscores, and the endings that are written in one ("APIKEY", "PGPASSWORD"). */
	static const char *const words[] = {"KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASS", "PASSWD",
		"PASSWORD", "PASSPHRASE", "PWD", "CREDENTIAL", "CREDENTIALS", "CREDS", "AUTH", "COOKIE", "PRIVATE",
		"PAT",
		"DSN", NULL};
	static const char *const parts[] = {"APIKEY", "ACCESSKEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL",
		"AUTHTOKEN", NULL};

	if (!strcmp(name, "PWD") || !strcmp(name, "OLDPWD"))
		return false;
	for (const char *const *p = parts; *p; p++)
		if (strcasestr(name, *p))
			return true;
	for (const char *s = name; *s;) {
		size_t n = strcspn(s, "_");
		for (const char *const *w = words; *w; w++)
			if (strlen(*w) == n && !strncasecmp(s, *w, n))
				return true;
		s += n + (s[n] == '_');
	}
	return false;
}

void env_safe_path(struct buf *out, const char *path)
{
	size_t start = out->len;

	for (const char *s = path ? path : ""; *s;) {
		size_t n = strcspn(s, ":");
		if (n && *s == '/') {
			if (out->len > start)
				buf_addc(out, ':');
			buf_add(out, s, n);
		}
		s += n + (s[n] == ':');
	}
	if (out->len == start)
		buf_adds(out, DEFAULT_PATH);
}

static bool in_words(const char *name, const char *words)
{
	size_t len = strlen(name);

	for (const char *s = words ? words : ""; *s;) {
		size_t n = strcspn(s, " ,\t\n");
		if (n == len && !strncmp(s, name, n))
			return true;
		s += n + (s[n] != 0);
	}
	return false;
}

static bool may_pass(const char *name, const char *pass)
{
	/* What changes the meaning of the command itself, or ties it to our ring. */
	static const char *const never[] = {"LD_*", "GLIBC_TUNABLES", "BASH_FUNC_*", "BASH_ENV", "ENV", "SHELLOPTS",
		"BASHOPTS", "PS4", "IFS", "CLAWS_RING*", "CLAWS_PROMPT*", "CLAWS_SESSION*", "CLAWS_STAGE_*", NULL};
	static const char *const usual[] = {"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM",
		"COLORTERM", "NO_COLOR", "TZ", "TMPDIR", "PWD", "XDG_*", "CLAWS_*", "SOURCE_DATE_EPOCH",
		"CC", "CXX", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "CPATH",
		"LIBRARY_PATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "ACLOCAL_PATH", "CMAKE_PREFIX_PATH", "MANPATH",
		"INFOPATH", "GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "CARGO_HOME",
		"RUSTUP_HOME", "JAVA_HOME", "MAVEN_HOME", "GRADLE_HOME", "ANDROID_HOME", "VIRTUAL_ENV", "CONDA_PREFIX",
		"CONDA_DEFAULT_ENV", "PYENV_ROOT", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL",
		"RBENV_ROOT", "GEM_HOME", "GEM_PATH", "OPAM_SWITCH_PREFIX", "GHCUP_INSTALL_BASE_PREFIX", "PERL5LIB",
		"DOTNET_ROOT", "NIX_PATH", "NIX_PROFILES", "NIX_SSL_CERT_FILE", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"CURL_CA_BUNDLE", "CI", NULL};

	if (listed(name, never))
		return false;
	if (in_words(name, pass))
		return true;
	return listed(name, usual) && !env_is_secret(name);
}

void env_scrubbed(struct env *v, char *const *from, const char *pass)
{
	static const char *const fixed[][2] = {
		{"PAGER", "cat"}, {"GIT_PAGER", "cat"}, {"MANPAGER", "cat"}, {"SYSTEMD_PAGER", "cat"},
		{"GIT_TERMINAL_PROMPT", "0"}, {"GIT_EDITOR", NO_EDITOR}, {"GIT_SEQUENCE_EDITOR", NO_EDITOR},
		/* Not every program runs these by a shell; false is one in both readings. */
		{"EDITOR", "false"}, {"VISUAL", "false"},
		{"SSH_ASKPASS_REQUIRE", "never"}, {"DEBIAN_FRONTEND", "noninteractive"},
	};
	struct env all;
	struct buf path;

	env_copy(&all, from);
	env_init(v);
	buf_init(&path, BUF_NOLIMIT);
	env_safe_path(&path, env_get(&all, "PATH"));
	env_set(v, "PATH", path.p);
	buf_free(&path);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		env_set(v, fixed[i][0], fixed[i][1]);
	for (size_t i = 0; i < all.n; i++) {
		char *eq = strchr(all.v[i], '=');
		*eq = 0;
		if (strcmp(all.v[i], "PATH") && may_pass(all.v[i], pass))
			env_set(v, all.v[i], eq + 1);
		*eq = '=';
	}
	env_free(&all);
}

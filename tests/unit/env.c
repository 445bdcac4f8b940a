/* Environments of children. */
#include <stdlib.h>

#include "sys/env.h"
#include "tap.h"

static void basics(void)
{
	char *from[] = {(char *)"A=1", (char *)"bad", (char *)"=x", (char *)"B=", (char *)"A=2", NULL};
	struct env v;

	env_copy(&v, from);
	OK(v.n == 2 && !v.v[2], "malformed and repeated entries are left out");
	IS(env_get(&v, "A"), "1", "the first counts");
	IS(env_get(&v, "B"), "", "an empty value");
	OK(!env_get(&v, "bad") && !env_get(&v, ""), "none");
	env_set(&v, "A", "3");
	IS(env_vector(&v)[0], "A=3", "set again, in its place");
	char name[16];
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "N%d", i);
		env_set(&v, name, name);
	}
	OK(v.n == 202 && !env_vector(&v)[202], "200 more");
	env_unset(&v, "A");
	env_unset(&v, "none");
	OK(v.n == 201 && !env_get(&v, "A") && !strcmp(env_get(&v, "N199"), "N199"), "unset");
	env_free(&v);
}

static void scrub(void)
{
	static const char *const gone[] = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN",
		"AWS_SECRET_ACCESS_KEY",
		"DB_PASSWORD", "PGPASSWORD", "MY_SECRET", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV",
		"BASH_FUNC_ls%%", "PS4",
		"IFS", "SHELLOPTS", "CLAWS_RING", "CLAWS_PROMPT", "CLAWS_SESSION", "CLAWS_STAGE_TOOL",
		"CLAWS_API_KEY", "SSH_AUTH_SOCK",
		"SSH_ASKPASS", "DISPLAY", "PYTHONSTARTUP", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "NODE_OPTIONS",
		"PERL5OPT",
		"LC_SECRET", "XDG_TOKEN", "MAKEFLAGS", "http_proxy"};
	static const char *const kept[] = {"HOME", "USER", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR",
		"XDG_CONFIG_HOME", "CLAWS_HOME",
		"CLAWS_DEPTH", "GOPATH", "VIRTUAL_ENV", "CC"};
	char *from[80];
	size_t n = 0;
	struct env v;

	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		if (asprintf(&from[n++], "%s=value", gone[i]) < 0)
			return;
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (asprintf(&from[n++], "%s=value", kept[i]) < 0)
			return;
	from[n++] = strdup("PATH=.:/bin::bin:/usr/bin:");
	from[n++] = strdup("EDITOR=vi");
	from[n] = NULL;
	env_scrubbed(&v, from, NULL);
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		OK(!env_get(&v, gone[i]), "%s does not pass", gone[i]);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		IS(env_get(&v, kept[i]), "value", "%s passes", kept[i]);
	IS(env_get(&v, "PATH"), "/bin:/usr/bin", "PATH is safe");
	IS(env_get(&v, "EDITOR"), "false", "an editor fails");
	IS(env_get(&v, "PAGER"), "cat", "a pager does not wait");
	IS(env_get(&v, "GIT_TERMINAL_PROMPT"), "0", "git does not ask");
	env_free(&v);
	env_scrubbed(&v, from, "GITHUB_TOKEN, SSH_AUTH_SOCK LD_PRELOAD,CLAWS_RING EDITOR PATH");
	OK(env_get(&v, "GITHUB_TOKEN") && env_get(&v, "SSH_AUTH_SOCK"), "what the user names passes");
	OK(!env_get(&v, "LD_PRELOAD") && !env_get(&v, "CLAWS_RING"), "but not what must never");
	OK(!env_get(&v, "DB_PASSWORD") && !strcmp(env_get(&v, "EDITOR"), "vi"), "nor anything else");
	IS(env_get(&v, "PATH"), "/bin:/usr/bin", "PATH stays safe");
	env_free(&v);
	while (n)
		free(from[--n]);
}

static void names(void)
{
	static const char *const secret[] = {"API_KEY", "x_token", "Token", "MYAPIKEY", "AWS_ACCESS_KEY_ID",
		"NPM_AUTH", "DB_PASS",
		"CREDENTIALS", "client_secret"};
	static const char *const plain[] = {"KEYBOARD", "MONKEY", "TOKENIZERS_PARALLELISM", "PWD", "OLDPWD", "HOME",
		"AUTHOR",
		"COMPASS", "PATH", ""};
	struct buf b;

	for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
		OK(env_is_secret(secret[i]), "%s is a secret", secret[i]);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		OK(!env_is_secret(plain[i]), "'%s' is none", plain[i]);
	buf_init(&b, 100);
	env_safe_path(&b, "::.:bin");
	OK(b.len && b.p[0] == '/', "a PATH of nothing is the usual one: %s", b.p);
	buf_clear(&b);
	env_safe_path(&b, NULL);
	OK(b.len && b.p[0] == '/', "so is none");
	buf_free(&b);
}

int main(void)
{
	basics();
	scrub();
	names();
	return END();
}

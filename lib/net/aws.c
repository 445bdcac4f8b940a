#include "net/aws.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "sys/io.h"

#define FILE_MAX ((size_t)1 << 20)

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

static char *strip(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = 0;
	return s;
}

/* The file that `variable` names, or ~/.aws/`name`; NULL: there is no home. */
static char *file_of(const char *variable, const char *name)
{
	const char *home = env("HOME"), *v = env(variable);

	if (v && v[0] == '~' && v[1] == '/' && home)
		return xasprintf("%s%s", home, v + 1);
	return v ? xstrdup(v) : home ? xasprintf("%s/.aws/%s", home, name) : NULL;
}

/* "[NAME]"; in the config file "[profile NAME]", but for "[default]". */
static bool is_section(char *line, const char *profile, bool config)
{
	char *end = strchr(line, ']'), *name = strip(line + 1);

	if (!end)
		return false;
	*end = 0;
	name = strip(name);
	if (config && !strncmp(name, "profile", 7) && isspace((unsigned char)name[7]))
		return !strcmp(strip(name + 7), profile);
	return (!config || !strcmp(profile, "default")) && !strcmp(name, profile);
}

/* The value of a key of the profile, in a text that is changed by it; an indented line goes on with what is above. */
static char *find(char *text, const char *profile, bool config, const char *key)
{
	bool here = false;
	char *line, *found = NULL;

	while ((line = strsep(&text, "\n"))) {
		char *eq = strchr(line, '=');

		if (*line == '[')
			here = is_section(line, profile, config);
		if (!here || !eq || isspace((unsigned char)*line) || strchr("#;[", *line))
			continue;
		*eq = 0;
		if (!strcasecmp(strip(line), key)) {
			free(found);
			found = xstrdup(strip(eq + 1));
		}
	}
	if (found && !*found) {
		free(found);
		found = NULL;
	}
	return found;
}

static const char *profile_name(void)
{
	const char *v = env("AWS_PROFILE");

	return v ? v : "default";
}

/* What the profile says of each of n keys; NULL where nothing. The text is wiped: it holds all the profiles' secrets. */
static void of_profile(char *path, bool config, const char *const *key, char **value, size_t n)
{
	struct buf text;

	buf_init(&text, FILE_MAX);
	if (path && io_read_file(AT_FDCWD, path, &text, NULL) == 0)
		for (size_t i = 0; i < n; i++) {
			char *copy = xstrndup(text.p, text.len);

			value[i] = find(copy, profile_name(), config, key[i]);
			explicit_bzero(copy, text.len);
			free(copy);
		}
	explicit_bzero(text.p, text.len);
	buf_free(&text);
}

static int checked(const struct aws_keys *k, struct err *e)
{
	const char *const all[] = {k->access, k->secret, k->token};

	if (!k->access != !k->secret)
		return err_set(e, ST_CONFIG, "%s: of access key and secret access key only one is there", k->from);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (const char *c = all[i]; c && *c; c++)
			if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
				return err_set(e, ST_CONFIG, "%s: a key there holds white space or other characters that no key has", k->from);
	return 0;
}

static char *from_env(const char *name)
{
	const char *v = env(name);
	char *copy = v ? xstrdup(v) : NULL, *bare = copy ? xstrdup(strip(copy)) : NULL;

	if (copy)
		explicit_bzero(copy, strlen(copy));
	free(copy);
	return bare;
}

int aws_keys_load(struct aws_keys *k, struct err *e)
{
	static const char *const names[] = {"aws_access_key_id", "aws_secret_access_key", "aws_session_token"};
	static const char *const files[][2] = {{"AWS_SHARED_CREDENTIALS_FILE", "credentials"}, {"AWS_CONFIG_FILE", "config"}};
	bool named = env("AWS_PROFILE") != NULL;

	*k = (struct aws_keys){0};
	if (!named && (env("AWS_ACCESS_KEY_ID") || env("AWS_SECRET_ACCESS_KEY"))) {
		k->access = from_env("AWS_ACCESS_KEY_ID");
		k->secret = from_env("AWS_SECRET_ACCESS_KEY");
		k->token = from_env("AWS_SESSION_TOKEN");
		k->from = xstrdup("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY");
	}
	for (size_t i = 0; i < 2 && !k->from; i++) {
		char *path = file_of(files[i][0], files[i][1]), *value[3] = {0};

		of_profile(path, i == 1, names, value, 3);
		if (value[0] || value[1])
			*k = (struct aws_keys){value[0], value[1], value[2], xasprintf("%s, profile %s", path, profile_name())};
		else
			free(value[2]);
		free(path);
	}
	if (named && !k->from)
		return err_set(e, ST_CONFIG, "AWS_PROFILE: the profile '%s' has no access key in ~/.aws; if it has another source, "
			"put what 'aws configure export-credentials --profile %s --format env' prints into the environment and "
			"unset AWS_PROFILE", profile_name(), profile_name());
	if (checked(k, e) < 0) {
		aws_keys_free(k);
		return -1;
	}
	return 0;
}

void aws_keys_free(struct aws_keys *k)
{
	char *const all[] = {k->access, k->secret, k->token};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (all[i])
			explicit_bzero(all[i], strlen(all[i]));
		free(all[i]);
	}
	free(k->from);
	*k = (struct aws_keys){0};
}

char *aws_region(void)
{
	static const char *const key[] = {"region"};
	const char *v = env("AWS_REGION");
	char *path, *region = NULL;

	if (!v)
		v = env("AWS_DEFAULT_REGION");
	if (v)
		return xstrdup(v);
	path = file_of("AWS_CONFIG_FILE", "config");
	of_profile(path, true, key, &region, 1);
	free(path);
	return region;
}

char *aws_region_of(const char *host)
{
	static const char *const ends[] = {".amazonaws.com", ".amazonaws.com.cn", ".api.aws"};
	size_t n = strlen(host);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t len = strlen(ends[i]), from;

		if (n <= len || strcmp(host + n - len, ends[i]))
			continue;
		n -= len;
		if (n > 5 && !memcmp(host + n - 5, ".vpce", 5))
			n -= 5;
		for (from = n; from > 0 && host[from - 1] != '.';)
			from--;
		return from > 0 ? xstrndup(host + from, n - from) : NULL;
	}
	return NULL;
}

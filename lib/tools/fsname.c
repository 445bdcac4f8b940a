#include "tools/fsname.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "sys/dirs.h"

/* "~/x" lies in a home directory, "/x" is absolute, anything else is a component (or several) at any place. What lies beneath
 * a match matches. A '*' at the end of a component stands for any rest. The first match decides. */
struct rule {
	const char *pattern, *why;   /* why NULL: allowed */
};

static const char credential[] = "it holds credentials";
static const struct rule refused[] = {
	{"~/.ssh/config", NULL}, {"~/.ssh/known_hosts", NULL}, {"~/.ssh/known_hosts.old", NULL},
	{"~/.ssh/authorized_keys", NULL},
	{"~/.ssh", credential}, {"~/.aws", credential}, {"~/.gnupg", credential}, {"~/.kube", credential},
	{"~/.docker", credential}, {"~/.azure", credential}, {"~/.netrc", credential}, {"~/_netrc", credential},
	{"~/.pgpass", credential}, {"~/.my.cnf", credential}, {"~/.mylogin.cnf", credential},
	{"~/.git-credentials", credential}, {"~/.config/git/credentials", credential}, {"~/.config/gcloud", credential},
	{"~/.config/gh/hosts.yml", credential}, {"~/.config/hub", credential}, {"~/.config/glab-cli", credential},
	{"~/.config/op", credential}, {"~/.config/rclone", credential}, {"~/.config/containers/auth.json", credential},
	{"~/.config/doctl", credential}, {"~/.config/heroku", credential}, {"~/.config/sops", credential},
	{"~/.config/age", credential}, {"~/.pypirc", credential}, {"~/.gem/credentials", credential},
	{"~/.cargo/credentials", credential}, {"~/.cargo/credentials.toml", credential},
	{"~/.terraform.d/credentials.tfrc.json", credential}, {"~/.vault-token", credential},
	{"~/.password-store", credential}, {"~/.local/share/keyrings", credential},
	{"~/.local/share/kwalletd", credential}, {"~/.local/share/password-store", credential},
	{"~/.mozilla", "it holds a browser's sessions"}, {"~/.thunderbird", "it holds a mail program's sessions"},
	{"~/.config/google-chrome", "it holds a browser's sessions"},
	{"~/.config/chromium", "it holds a browser's sessions"},
	{"/etc/shadow", credential}, {"/etc/shadow-", credential}, {"/etc/gshadow", credential},
	{"/etc/gshadow-", credential}, {"/etc/sudoers", credential}, {"/etc/sudoers.d", credential},
	{"/etc/security/opasswd", credential}, {"/etc/krb5.keytab", credential}, {"/etc/ssl/private", credential},
	{"/etc/wireguard", credential}, {"/etc/NetworkManager/system-connections", credential},
	{"/dev/shm", NULL}, {"/dev", "it is a device"},
};

static const char shell[] = "a shell or login runs it", git[] = "git runs what stands there",
	ci[] = "a CI service runs it", agent[] = "it steers an agent or an editor",
	later[] = "a program runs it later", boot[] = "the system runs or trusts it";
static const struct rule protected[] = {
	{".git", git}, {"git~1", git}, {".gitmodules", git}, {".gitconfig", git}, {".githooks", git}, {".husky", git},
	{".config/git", git}, {".pre-commit-config.yaml", git}, {".lefthook.yml", git}, {"lefthook.yml", git},
	{".hg", later}, {".svn", later}, {".jj", later},
	{".claws", agent}, {".claude", agent}, {".mcp.json", agent}, {".vscode", agent}, {".idea", agent},
	{".cursor", agent}, {".codex", agent}, {".gemini", agent}, {".devcontainer", agent}, {".devcontainer.json", agent},
	{".envrc", "direnv runs it"}, {".direnv", "direnv runs it"}, {".autoenv*", "a shell runs it"},
	{"mise.toml", later}, {".mise.toml", later}, {".tool-versions", later},
	{".bashrc", shell}, {".bash_*", shell}, {".profile", shell}, {".zshrc", shell}, {".zshenv", shell},
	{".zprofile", shell}, {".zlogin", shell}, {".zlogout", shell}, {".kshrc", shell}, {".mkshrc", shell},
	{".shrc", shell}, {".shinit", shell}, {".cshrc", shell}, {".tcshrc", shell}, {".login", shell},
	{".logout", shell}, {".inputrc", shell}, {".config/fish", shell}, {".config/nushell", shell},
	{".config/powershell", shell}, {".xprofile", shell}, {".xinitrc", shell}, {".xsession*", shell},
	{".pam_environment", shell}, {".config/environment.d", shell}, {".config/autostart", shell},
	{".config/systemd", shell}, {".local/share/systemd", shell}, {".local/share/applications", shell},
	{".config/plasma-workspace", shell}, {".config/i3", shell}, {".config/sway", shell}, {".config/hypr", shell},
	{".local/bin", "it is on PATH"}, {"~/bin", "it is on PATH"}, {".config/nvim", later}, {".vimrc", later},
	{".vim", later}, {".exrc", later}, {".nvimrc", later}, {".emacs", later}, {".emacs.d", later},
	{".dir-locals.el", later}, {".gdbinit", later}, {".lldbinit", later}, {".tmux.conf", later},
	{".screenrc", later}, {".config/tmux", later}, {".npmrc", later}, {".yarnrc*", later}, {".pnpmfile.cjs", later},
	{".pythonstartup", later}, {".curlrc", later}, {".wgetrc", later}, {".cargo/config*", later},
	{"crontab", "cron runs it"}, {".ssh", "ssh obeys it"}, {"~/.pki", boot},
	{".github/workflows", ci}, {".github/actions", ci}, {".gitea/workflows", ci}, {".forgejo/workflows", ci},
	{".gitlab-ci.yml", ci}, {".gitlab-ci.yaml", ci}, {".gitlab/ci", ci}, {".travis.yml", ci}, {".circleci", ci},
	{".buildkite", ci}, {".drone.yml", ci}, {".woodpecker*", ci}, {".appveyor.yml", ci}, {"appveyor.yml", ci},
	{"azure-pipelines.yml", ci}, {"azure-pipelines.yaml", ci}, {"bitbucket-pipelines.yml", ci}, {"jenkinsfile", ci},
	{".cirrus.yml", ci}, {".semaphore", ci}, {".builds", ci}, {".build.yml", ci}, {"cloudbuild.yaml", ci},
	{"/etc/cron*", "cron runs it"}, {"/etc/anacrontab", "cron runs it"}, {"/var/spool/cron", "cron runs it"},
	{"/var/spool/at", "at runs it"}, {"/etc/profile*", shell}, {"/etc/bash*", shell}, {"/etc/zsh*", shell},
	{"/etc/environment*", shell}, {"/etc/xdg", shell}, {"/etc/systemd", boot}, {"/etc/init*", boot},
	{"/etc/rc*", boot}, {"/etc/ld.so*", boot}, {"/etc/pam*", boot}, {"/etc/ssh", boot}, {"/etc/ssl", boot},
	{"/etc/passwd*", boot}, {"/etc/group*", boot}, {"/etc/hosts", boot}, {"/etc/claws", "it is claws' own"},
	{"/etc/udev", boot}, {"/etc/modprobe.d", boot}, {"/etc/apt", boot}, {"/etc/gitconfig", git},
	{"/lib", boot}, {"/lib64", boot}, {"/bin", boot}, {"/sbin", boot}, {"/usr", boot}, {"/boot", boot},
	{"/proc", boot}, {"/sys", boot},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool ignorable(uint32_t c)
{
	return c == 0xAD || c == 0x34F || c == 0x61C || (c >= 0x180B && c <= 0x180E) || (c >= 0x200B && c <= 0x200F) ||
		(c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || (c >= 0xFE00 && c <= 0xFE0F) ||
		c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

static uint32_t fold_char(uint32_t c)
{
	if (c >= 0xFF01 && c <= 0xFF5E)
		c -= 0xFEE0;                 /* full width to ASCII */
	if (c >= 'A' && c <= 'Z')
		return c + 32;
	switch (c) {
	case 0x212A: return 'k';             /* Kelvin sign and long s: the only others whose case folds to ASCII */
	case 0x17F: return 's';
	case 0x130: case 0x131: return 'i';
	}
	return c;
}

static void fold_component(struct buf *out, const char *s, size_t n)
{
	size_t start = out->len;
	bool dots = (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.');
	for (size_t i = 0; i < n;) {
		uint32_t c;
		int k = utf8_decode(s + i, n - i, &c);
		if (k == 0) {
			buf_addc(out, s[i++]);
			continue;
		}
		i += (size_t)k;
		if (ignorable(c))
			continue;
		c = fold_char(c);
		if (c == ':' && out->len > start)
			break;               /* an NTFS stream: ".git::$INDEX_ALLOCATION" */
		char u[4];
		buf_add(out, u, (size_t)utf8_encode(u, c));
	}
	while (!dots && out->len > start && strchr(". ", out->p[out->len - 1]))
		buf_truncate(out, out->len - 1);
}

/* The folded path, without empty and "." components. */
static char *fold(const char *path)
{
	struct buf b;
	buf_init(&b, BUF_NOLIMIT);
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");
		if (n > 0 && !(n == 1 && *p == '.')) {
			buf_addc(&b, '/');
			fold_component(&b, p, n);
		}
		p += n + (p[n] == '/');
	}
	return buf_detach(&b);
}

static void add_own(struct fsnames *n, size_t *k, const char *path)
{
	char real[PATH_MAX];
	if (*k + 2 > FSNAMES_OWN)
		return;
	n->own_path[*k] = xstrdup(path);
	n->own[(*k)++] = fold(path);
	if (realpath(path, real) && strcmp(real, path)) {
		n->own_path[*k] = xstrdup(real);
		n->own[(*k)++] = fold(real);
	}
}

static void set_own(struct fsnames *n, size_t *k, int (*name)(struct buf *, const char *, struct err *))
{
	struct buf b;
	buf_init(&b, PATH_MAX);
	if (name(&b, NULL, NULL) == 0 && b.len > 1)
		add_own(n, k, b.p);
	buf_free(&b);
}

/* The runtime directory as dirs.h names it; dirs_runtime itself would make it. */
static void set_runtime(struct fsnames *n, size_t *k)
{
	const char *x = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR"), *own = getenv("CLAWS_HOME");
	char *p = own && *own == '/' ? xasprintf("%s/run", own) : x && *x == '/' ? xasprintf("%s/claws", x) :
		xasprintf("%s/claws-%u", tmp && *tmp == '/' ? tmp : "/tmp", (unsigned)getuid());
	add_own(n, k, p);
	free(p);
}

void fsnames_init(struct fsnames *n)
{
	memset(n, 0, sizeof *n);
	const char *home = getenv("HOME");
	if (home && home[0] == '/' && home[1]) {
		char real[PATH_MAX];
		n->home_path = xstrdup(home);
		n->home[0] = fold(home);
		if (realpath(home, real) && strcmp(real, home))
			n->home[1] = fold(real);
	}
	size_t k = 0;
	set_own(n, &k, dirs_config_path);
	if (k > 0)
		n->config[0] = xstrdup(n->own[0]);
	if (k > 1)
		n->config[1] = xstrdup(n->own[1]);
	set_own(n, &k, dirs_data_path);
	set_own(n, &k, dirs_state_path);
	set_own(n, &k, dirs_cache_path);
	set_runtime(n, &k);
}

void fsnames_free(struct fsnames *n)
{
	for (size_t i = 0; i < FSNAMES_HOMES; i++)
		free(n->home[i]);
	for (size_t i = 0; i < FSNAMES_OWN; i++) {
		free(n->own[i]);
		free(n->own_path[i]);
	}
	free(n->home_path);
	free(n->config[0]);
	free(n->config[1]);
	memset(n, 0, sizeof *n);
}

/* p starts with a '/' or at its end: do the components after it start with those of pattern? */
static bool at(const char *p, const char *pattern)
{
	for (;;) {
		if (*p != '/')
			return false;
		p++;
		size_t n = strcspn(p, "/"), m = strcspn(pattern, "/");
		bool star = m > 0 && pattern[m - 1] == '*';
		if (star ? n < m - 1 || strncasecmp(p, pattern, m - 1) : n != m || strncasecmp(p, pattern, m))
			return false;
		if (!pattern[m])
			return true;
		p += n;
		pattern += m + 1;
	}
}

/* What follows dir in path ("" or "/..."), or NULL if path does not lie there. */
static const char *beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0') ? path + n : NULL;
}

static bool at_home(const struct fsnames *n, const char *path, const char *pattern)
{
	const char *p;
	for (size_t i = 0; i < FSNAMES_HOMES; i++)
		if (n->home[i] && (p = beneath(path, n->home[i])) && at(p, pattern))
			return true;
	if ((p = beneath(path, "/root")) && at(p, pattern))
		return true;
	if ((p = beneath(path, "/home")) && *p) {
		p += 1 + strcspn(p + 1, "/");
		return at(p, pattern);
	}
	return false;
}

static bool anywhere(const char *path, const char *pattern)
{
	for (const char *p = path; (p = strchr(p, '/')); p++)
		if (at(p, pattern))
			return true;
	return false;
}

static const struct rule *find(const struct fsnames *n, const struct rule *r, size_t count, const char *path,
	const char *tail)
{
	for (size_t i = 0; i < count; i++) {
		const char *p = r[i].pattern;
		if (p[0] == '~' ? at_home(n, path, p + 2) : p[0] == '/' ? at(path, p + 1) : anywhere(tail, p))
			return &r[i];
	}
	return NULL;
}

bool fsname_proc_secret(const char *name)
{
	static const char *const secret[] = {"environ", "mem", "fd", "fdinfo", "root", "cwd", "maps", "smaps",
		"smaps_rollup", "numa_maps", "map_files", "auxv", "pagemap", "stack", "syscall", "exe"};
	size_t n = strcspn(name, "/");
	for (size_t i = 0; i < COUNT(secret); i++)
		if (strlen(secret[i]) == n && strncasecmp(name, secret[i], n) == 0)
			return true;
	return false;
}

static const char *proc_refused(const char *path)
{
	const char *p = beneath(path, "/proc");
	if (!p || !*p)
		return NULL;
	if (at(p, "kcore") || at(p, "kmem") || at(p, "keys") || at(p, "kallsyms") || at(p, "sysrq-trigger"))
		return "it is the kernel's memory";
	for (p = strchr(p + 1, '/'); p; p = strchr(p + 1, '/'))
		if (fsname_proc_secret(p + 1))
			return "it shows a process's environment, memory or open files";
	return NULL;
}

const char *fsname_refused(const struct fsnames *n, const char *path)
{
	char *f = fold(path);
	const char *why = proc_refused(f), *p;
	if (!why) {
		const struct rule *r = find(n, refused, COUNT(refused), f, f);
		why = r ? r->why : NULL;
	}
	for (size_t i = 0; i < 2 && !why; i++)
		if (n->config[i] && (p = beneath(f, n->config[i])) && (strstr(p, "key") || strstr(p, "secret") ||
				strstr(p, "credential") || strstr(p, "token") || strstr(p, "auth")))
			why = "it holds claws' own credentials";
	free(f);
	return why;
}

const char *fsname_protected(const struct fsnames *n, const char *path, size_t root_len)
{
	size_t len = strlen(path);
	char *f = fold(path), *tail = fold(path + (root_len < len ? root_len : len));
	char *rootname = xstrndup(path, root_len < len ? root_len : len), *root = fold(rootname);
	const char *why = NULL;
	for (size_t i = 0; i < COUNT(protected) && !why; i++)
		if (find(n, &protected[i], 1, f, tail) && !find(n, &protected[i], 1, root, ""))
			why = protected[i].why;
	for (size_t i = 0; i < FSNAMES_OWN && !why; i++)
		if (n->own[i] && beneath(f, n->own[i]))
			why = "it is claws' own configuration, data or state";
	free(f);
	free(tail);
	free(root);
	free(rootname);
	return why;
}

const char *fsname_home_rule(size_t i, bool *is_refused)
{
	size_t k = 0;
	for (size_t j = 0; j < COUNT(refused); j++)
		if (refused[j].pattern[0] == '~' && refused[j].why && k++ == i)
			return *is_refused = true, refused[j].pattern + 2;
	for (size_t j = 0; j < COUNT(protected); j++) {
		const char *p = protected[j].pattern;
		if (p[0] == '/' || strchr(p, '*') || p[0] != '.')
			continue;
		if (k++ == i)
			return *is_refused = false, p;
	}
	return NULL;
}

#include "net/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/status.h"
#include "sys/dirs.h"

/* What libcurl and the libraries below it read to find the way to a server and to trust it. */
static const char *const decisive[] = {
	"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "CURL_CA_BUNDLE",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES", "SSLKEYLOGFILE", "RES_OPTIONS", "LOCALDOMAIN",
	"HOSTALIASES", NULL};

/* Where it runs and how it speaks; nothing of it reaches a server. */
static const char *const plain[] = {
	"HOME", "PATH", "TMPDIR", "XDG_RUNTIME_DIR", "CLAWS_HOME", "LANG", "LC_ALL", "TZ", "ASAN_OPTIONS", "UBSAN_OPTIONS",
	"LSAN_OPTIONS", NULL};

bool keeper_variable(const char *name)
{
	for (const char *const *v = decisive; *v; v++)
		if (!strcmp(*v, name))
			return true;
	for (const char *const *v = plain; *v; v++)
		if (!strcmp(*v, name))
			return true;
	return false;
}

int keeper_path(struct buf *path, struct err *e)
{
	unsigned char hash[32];
	struct sha256 s;

	if (dirs_runtime(path, NULL, e) < 0)
		return -1;
	sha256_init(&s);
	sha256_add(&s, KEEPER_PROTOCOL, sizeof KEEPER_PROTOCOL);
	for (const char *const *v = decisive; *v; v++) {
		const char *value = getenv(*v);

		if (!value)
			continue;
		sha256_add(&s, *v, strlen(*v) + 1);
		sha256_add(&s, value, strlen(value) + 1);
	}
	sha256_end(&s, hash);
	buf_adds(path, "/" KEEPER_PREFIX);
	buf_addhex(path, hash, KEEPER_HASH / 2);
	if (path->over || path->len >= sizeof ((struct sockaddr_un *)0)->sun_path)
		return err_set(e, ST_CONFIG, "the socket's path is too long: %.200s; set XDG_RUNTIME_DIR to a shorter one", path->p);
	return 0;
}

bool keeper_peer(int fd, pid_t *pid)
{
	struct ucred c;
	socklen_t n = sizeof c;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) < 0 || c.uid != geteuid())
		return false;
	if (pid)
		*pid = c.pid;
	return true;
}

int keeper_connect(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, sys;

	memcpy(a.sun_path, path, strlen(path) + 1);   /* keeper_path saw to it that it fits */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) {
		if (keeper_peer(fd, NULL))
			return fd;
		errno = EPERM;
	}
	sys = errno;
	close(fd);
	errno = sys;
	return -1;
}

void keeper_put(struct buf *b, char type, const void *p, size_t n)
{
	uint32_t len = (uint32_t)n;

	buf_addc(b, type);
	buf_add(b, &len, sizeof len);
	buf_add(b, p, n);
}

int keeper_next(const struct buf *b, size_t *at, struct keeper_frame *f)
{
	uint32_t len;

	if (b->len - *at < KEEPER_FRAME)
		return 0;
	memcpy(&len, b->p + *at + 1, sizeof len);
	if (len > KEEPER_MAX)
		return -1;
	if (b->len - *at - KEEPER_FRAME < len)
		return 0;
	*f = (struct keeper_frame){b->p[*at], b->p + *at + KEEPER_FRAME, len};
	*at += KEEPER_FRAME + len;
	return 1;
}

void keeper_wipe(struct buf *b)
{
	if (b->cap)
		explicit_bzero(b->p, b->cap);
	buf_free(b);
}

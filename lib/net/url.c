#include "net/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/status.h"

static int url_bad(struct err *e, const char *why)
{
	return err_set(e, ST_CONFIG, "not a usable URL: %s; expected https://HOST[:PORT][/PATH]", why);
}

/* Copies the host that begins at s, lower case; returns its length in the text, 0 if it is none. */
static size_t url_host(const char *s, struct url *u)
{
	size_t n, skip = 0;
	struct in6_addr a6;

	if (*s == '[') {
		const char *end = strchr(s, ']');
		if (!end || (n = (size_t)(end - s - 1)) == 0 || n >= sizeof u->host)
			return 0;
		skip = 2;
		s++;
	} else {
		n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
		if (n == 0 || n >= sizeof u->host)
			return 0;
	}
	for (size_t i = 0; i < n; i++)
		u->host[i] = (char)tolower((unsigned char)s[i]);
	u->host[n] = 0;
	if (skip && inet_pton(AF_INET6, u->host, &a6) != 1)
		return 0;
	return n + skip;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The path of a unix socket in place of a host; returns its length in the text, 0 if it is none. */
static size_t url_socket(const char *s, struct url *u)
{
	size_t i = 0, n = 0;

	while (s[i] && s[i] != '/' && s[i] != '?') {
		int c = (unsigned char)s[i];

		if (c == '%') {
			if (hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
				return 0;
			c = hex(s[i + 1]) << 4 | hex(s[i + 2]);
			i += 2;
		}
		i++;
		if (c < ' ' || c == 0x7f || n == sizeof u->socket - 1)
			return 0;
		u->socket[n++] = (char)c;
	}
	u->socket[n] = 0;
	memcpy(u->host, "localhost", sizeof "localhost");
	return *u->socket == '/' ? i : 0;
}

int url_parse(const char *s, struct url *u, struct err *e)
{
	size_t n, scheme = 7;
	const char *p;

	memset(u, 0, sizeof *u);
	if (!strncasecmp(s, "https://", 8))
		u->tls = true, scheme = 8;
	else if (!strncasecmp(s, "http+unix://", 12))
		scheme = 12;
	else if (strncasecmp(s, "http://", 7))
		return url_bad(e, "it does not begin with http://, https:// or http+unix://");
	for (p = s; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == '\\' || *p == '#')
			return url_bad(e, "white space, a control character, '\\' or '#' in it");
	p = s + scheme;
	n = strcspn(p, "/?");
	if (memchr(p, '@', n))
		return url_bad(e, "a user name in it; keys belong in the environment");
	n = scheme == 12 ? url_socket(p, u) : url_host(p, u);
	if (n == 0)
		return url_bad(e, scheme == 12 ? "no absolute path of a socket, '/' written as %2F, shorter than 104 bytes" :
			"no valid host name");
	p += n;
	u->port = u->tls ? 443 : 80;
	if (*p == ':') {
		n = strspn(++p, "0123456789");
		if (n == 0 || n > 5)
			return url_bad(e, "no valid port");
		u->port = 0;
		for (size_t i = 0; i < n; i++)
			u->port = u->port * 10 + (p[i] - '0');
		p += n;
		if (u->port < 1 || u->port > 65535)
			return url_bad(e, "no valid port");
	}
	if (*p && *p != '/' && *p != '?')
		return url_bad(e, "no valid host name");
	u->path = (size_t)(p - s);
	u->query = u->path + strcspn(p, "?");
	return 0;
}

bool url_loopback(const struct url *u)
{
	struct in_addr a4;
	struct in6_addr a6;

	if (*u->socket || !strcmp(u->host, "localhost"))
		return true;
	/* inet_pton knows only the usual four decimal numbers, so no odd spelling passes */
	if (inet_pton(AF_INET, u->host, &a4) == 1)
		return ntohl(a4.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, u->host, &a6) == 1 && IN6_IS_ADDR_LOOPBACK(&a6);
}

static bool ends_with(const char *s, size_t n, const char *end, size_t m)
{
	return n >= m && !memcmp(s + n - m, end, m);
}

int url_join(struct buf *out, const char *base, const char *path, struct err *e)
{
	struct url u;
	size_t end, plen = strlen(path), first;

	if (url_parse(base, &u, e) < 0)
		return -1;
	end = u.query;
	while (end > u.path && base[end - 1] == '/')
		end--;
	if (ends_with(base + u.path, end - u.path, path, plen)) {
		plen = 0;
	} else {
		first = 1 + strcspn(path + 1, "/");
		if (first < plen && ends_with(base + u.path, end - u.path, path, first)) {
			path += first;
			plen -= first;
		}
	}
	buf_add(out, base, end);
	buf_add(out, path, plen);
	if (base[u.query] == '?' && memchr(path, '?', plen)) {     /* Gemini's ?alt=sse */
		buf_addc(out, '&');
		u.query++;
	}
	buf_adds(out, base + u.query);
	return out->over ? url_bad(e, "it is too long") : 0;
}

/* URLs that may carry a key, and waits between attempts. */
#include "base/status.h"
#include "net/retry.h"
#include "net/url.h"
#include "tap.h"

static void urls(void)
{
	static const char *const good[] = {
		"https://api.example.com", "https://api.example.com:8443/v1?api-version=2", "http://localhost/", "HTTP://LOCALHOST",
		"http://[::1]:80/x", "http://a_b-c.d", "http+unix://%2Frun%2Fx.sock", "HTTP+UNIX://%2frun%2fx.sock/v1?a=b"};
	static const char *const bad[] = {
		"", "example.com", "ftp://example.com", "https://", "https:///x", "https://user@example.com", "https://a:b@c",
		"https://exa mple.com", "https://example.com/\n", "https://example.com\\@evil.com", "https://example.com#x",
		"https://example.com:0", "https://example.com:99999", "https://example.com:", "https://example.com:8x",
		"https://[::1", "https://[nonsense]/", "https://ex%61mple.com", "https://ex\303\244mple.com", "file:///etc/passwd",
		"https://[::1]evil.com/", "http+unix:///run/x.sock", "http+unix://run%2Fx", "http+unix://%2Frun%2", "http+unix://%2Fx%00y",
		"http+unix://%2Fx%0ay", "http+unix://%2Fx@y/", "http+unix://"};
	static const struct { const char *url; bool here; } hosts[] = {
		{"http://localhost:1/", true}, {"http://LocalHost", true}, {"http://127.0.0.1", true}, {"http://127.9.9.9", true},
		{"http://[::1]/", true}, {"http://[0:0:0:0:0:0:0:1]/", true}, {"http+unix://%2Fx/v1", true},
		{"http://localhost.example.com", false}, {"http://127.0.0.1.example.com", false}, {"http://127.1", false},
		{"http://0177.0.0.1", false}, {"http://0x7f.0.0.1", false}, {"http://2130706433", false}, {"http://0.0.0.0", false},
		{"http://[::ffff:127.0.0.1]", false}, {"http://128.0.0.1", false}, {"http://[::]", false},
		{"http://1.127.0.0", false}};
	struct url u;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		OK(url_parse(good[i], &u, NULL) == 0, "good: %s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;

		OK(url_parse(bad[i], &u, &e) < 0 && e.status == ST_CONFIG, "bad: %zu", i);
	}
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
		OK(url_parse(hosts[i].url, &u, NULL) == 0 && url_loopback(&u) == hosts[i].here, "%s is %shere", hosts[i].url,
			hosts[i].here ? "" : "not ");
	OK(url_parse("https://h:8443/v1?q", &u, NULL) == 0 && u.tls && u.port == 8443 && u.path == 14 &&
		u.query == 17, "parts");
}

static void joins(void)
{
	static const struct { const char *base, *path, *want; } v[] = {
		{"https://h", "/v1/messages", "https://h/v1/messages"},
		{"https://h/", "/v1/messages", "https://h/v1/messages"},
		{"https://h/v1", "/v1/messages", "https://h/v1/messages"},
		{"https://h/v1/", "/v1/messages", "https://h/v1/messages"},
		{"https://h/v1/messages", "/v1/messages", "https://h/v1/messages"},
		{"https://h/v1", "/chat/completions", "https://h/v1/chat/completions"},
		{"https://h/v1/chat/completions", "/chat/completions", "https://h/v1/chat/completions"},
		{"https://h/x?api-version=1", "/chat/completions", "https://h/x/chat/completions?api-version=1"},
		{"https://h/v1beta", "/v1beta/m:go?alt=sse", "https://h/v1beta/m:go?alt=sse"},
		{"https://h/x?key=1", "/m:go?alt=sse", "https://h/x/m:go?alt=sse&key=1"},
		{"http+unix://%2Fx/v1", "/v1/messages", "http+unix://%2Fx/v1/messages"},
		{"http+unix://%2Fx", "/v1/messages", "http+unix://%2Fx/v1/messages"},
		{"http://127.0.0.1:1//", "/a/b", "http://127.0.0.1:1/a/b"}};
	struct buf b;

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		buf_init(&b, 200);
		OK(url_join(&b, v[i].base, v[i].path, NULL) == 0, "joined");
		IS(b.p, v[i].want, "%s and %s", v[i].base, v[i].path);
		buf_free(&b);
	}
	buf_init(&b, 10);
	OK(url_join(&b, "https://h", "/v1/messages", NULL) < 0, "too long");
	buf_free(&b);
}

static void waits(void)
{
	struct retry r = {.max = 6, .deadline = 1000000};
	int64_t wait, sum = 0, want[] = {500, 1000, 2000, 4000, 8000, 8000};

	for (int i = 0; i < 6; i++)
		OK(retry_next(&r, -1, 0, &wait) == RETRY_WAIT && wait == want[i], "wait %d", i);
	OK(retry_next(&r, -1, 0, &wait) == RETRY_USED_UP, "no more than max");
	r = (struct retry){.max = 1000, .deadline = 1000000, .jitter = true};
	for (int i = 0; i < 200; i++) {
		r.done = 4;
		if (retry_next(&r, -1, 0, &wait) != RETRY_WAIT || wait < 6000 || wait > 8000)
			sum = -1000000;
		sum += wait;
	}
	OK(sum > 200 * 6000 && sum < 200 * 8000, "chance shortens by up to a quarter");
	r = (struct retry){.max = 3, .deadline = 1000000};
	OK(retry_next(&r, 60000, 0, &wait) == RETRY_WAIT && wait == 60000, "asked for 60 s");
	OK(retry_next(&r, 60001, 0, &wait) == RETRY_TOO_LONG, "asked for more");
	OK(retry_next(&r, 0, 0, &wait) == RETRY_WAIT && wait == 0, "asked for none");
	OK(retry_next(&r, 5000, 996000, &wait) == RETRY_TOO_LONG, "asked for more than is left");
	OK(r.done == 2, "only waits count");
	OK(retry_next(&r, -1, 999900, &wait) == RETRY_USED_UP, "no time for a wait of our own");
}

int main(void)
{
	urls();
	joins();
	waits();
	return END();
}

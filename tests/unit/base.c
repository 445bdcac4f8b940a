/* base: buffers with their limit, UTF-8, SHA-256, the set, errors and the rank of statuses. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/set.h"
#include "base/status.h"
#include "base/utf8.h"
#include "tap.h"

static void buffers(void)
{
	struct buf b;
	char *p;

	buf_init(&b, 8);
	OK(b.p && !*b.p && buf_add(&b, "", 0) == 0, "an empty buffer is an empty string");
	OK(buf_adds(&b, "12345678") == 0 && !b.over, "up to the limit");
	OK(buf_addc(&b, '9') < 0 && b.over && b.len == 8, "not beyond, and it is remembered");
	buf_clear(&b);
	OK(!b.over && b.len == 0 && !*b.p, "cleared");
	OK(buf_addf(&b, "%s-%d", "ab", 7) == 0 && buf_addf(&b, "%s", "too long") < 0, "formatted, within the limit");
	buf_clear(&b);
	buf_adds(&b, "abcdef");
	buf_cut(&b, 2);
	IS(b.p, "cdef", "cut at the front");
	buf_insert(&b, 2, "XY", 2);
	IS(b.p, "cdXYef", "inserted");
	buf_truncate(&b, 3);
	IS(b.p, "cdX", "cut at the end");
	p = buf_detach(&b);
	OK(!strcmp(p, "cdX") && b.len == 0, "detached");
	free(p);
	p = buf_detach(&b);
	OK(p && !*p, "detaching nothing gives an empty string");
	free(p);
	buf_addhex(&b, (const unsigned char *)"\x00\xff\x1a", 3);
	IS(b.p, "00ff1a", "hex");
	buf_free(&b);
}

static void repaired(const char *text, size_t n, const char *want, size_t repairs)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	OK(utf8_repair(&b, text, n) == repairs, "%zu repairs", repairs);
	IS(b.p, want, "repaired");
	buf_free(&b);
}

static void characters(void)
{
	uint32_t cp;
	char c[4];
	int bad = 0;

	for (uint32_t u = 1; u <= 0x10ffff; u++) {
		int n;

		if (u >= 0xd800 && u <= 0xdfff)
			continue;
		n = utf8_encode(c, u);
		bad += utf8_decode(c, (size_t)n, &cp) != n || cp != u || utf8_valid_prefix(c, (size_t)n) != (size_t)n;
		bad += n > 1 && utf8_decode(c, (size_t)n - 1, &cp) != 0;
	}
	OK(!bad, "every character there and back, none of them cut");
	OK(utf8_encode(c, 0xd800) == 3 && !memcmp(c, "\xef\xbf\xbd", 3), "a surrogate becomes U+FFFD");
	OK(!utf8_decode("\xc0\xaf", 2, &cp) && !utf8_decode("\xe0\x80\xaf", 3, &cp) && !utf8_decode("\xf4\x90\x80\x80", 4, &cp),
	   "overlong and too large are invalid");
	repaired("a\xff" "b", 3, "a\xef\xbf\xbd" "b", 1);
	repaired("\xe4\xb8", 2, "\xef\xbf\xbd", 1);
	repaired("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3);
	OK(utf8_cut("a\xc3\xa9", 2) == 1 && utf8_cut("a\xc3\xa9", 3) == 3 && utf8_cut("\xf0\x9f\x98", 3) == 0, "cut between");
}

static void digests(void)
{
	char hex[SHA256_HEX];
	struct sha256 s;
	unsigned char out[32];
	char million[1000];

	/* FIPS 180-4 examples */
	sha256_hex(hex, "", 0);
	IS(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "of nothing");
	sha256_hex(hex, "abc", 3);
	IS(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "of abc");
	memset(million, 'a', sizeof million);
	sha256_init(&s);
	for (int i = 0; i < 1000; i++)
		sha256_add(&s, million, sizeof million);
	sha256_end(&s, out);
	OK(out[0] == 0xcd && out[1] == 0xc7 && out[2] == 0x6e && out[31] == 0xd0, "of a million a");
}

static void sets(void)
{
	struct set s = SET_INIT;
	char key[16];
	int bad = 0;

	for (int i = 0; i < 5000; i++)
		bad += !set_add(&s, key, (size_t)snprintf(key, sizeof key, "k%d", i));
	for (int i = 0; i < 5000; i++)
		bad += set_add(&s, key, (size_t)snprintf(key, sizeof key, "k%d", i)) || !set_has(&s, key, strlen(key));
	OK(!bad && s.n == 5000, "5000 strings, each once");
	OK(!set_has(&s, "k5000", 5) && !set_has(&s, "k1x", 3) && set_has(&s, "k1x", 2), "by length, not by NUL");
	set_free(&s);
	OK(!set_has(&s, "k1", 2), "freed is empty");
}

static void errors(void)
{
	struct err e = ERR_INIT;

	errno = ENOENT;
	OK(err_sys(&e, "open '%s'", "x") == -1 && e.status == ST_NOINPUT && e.sys == ENOENT, "a system error");
	IS(e.text, "open 'x': No such file or directory", "its text");
	err_set(&e, ST_BUG, "second");
	OK(e.status == ST_NOINPUT, "the first wins");
	err_wrap(&e, "read %d", 7);
	IS(e.text, "read 7: open 'x': No such file or directory", "context in front");
	for (int i = 0; i < 50; i++)
		err_wrap(&e, "%0100d", i);
	OK(strlen(e.text) < sizeof e.text, "never longer than it may be");
	OK(err_set(NULL, ST_BUG, "x") == -1, "nobody asked");
}

static void ranks(void)
{
	static const int order[] = {130, 70, 74, 78, 77, 76, 75, 69, 66, 65, 4, 5, 6, 3, 99, 1, 2, 0};
	int bad = 0;

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		for (size_t k = i; k < sizeof order / sizeof *order; k++)
			bad += status_worse(order[i], order[k]) != order[i] || status_worse(order[k], order[i]) != order[i];
	OK(!bad, "the order of the statuses");
	OK(status_worse(130, 143) == 130, "of two signals the first");
}

int main(void)
{
	buffers();
	characters();
	digests();
	sets();
	errors();
	ranks();
	return END();
}

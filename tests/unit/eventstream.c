/* AWS event stream framing. The message of the first test is from the documentation's test vectors; the others are put
 * together here. */
#include <stdlib.h>

#include "base/base64.h"
#include "net/eventstream.h"
#include "tap.h"

static struct buf got, bytes;

static void heard(void *arg, enum eventstream_kind kind, const char *name, char *data, size_t len)
{
	(void)arg;
	buf_addf(&got, "[%s%s|", kind == EVENTSTREAM_EVENT ? "" : kind == EVENTSTREAM_EXCEPTION ? "!" : "!!", name);
	buf_add(&got, data, len);
	buf_addc(&got, ']');
}

static const char *messages(const char *p, size_t n, size_t step)
{
	struct eventstream s;
	buf_clear(&got);
	eventstream_init(&s, heard, NULL);
	for (size_t at = 0; at < n; at += step)
		eventstream_feed(&s, p + at, n - at < step ? n - at : step);
	if (s.why)
		buf_addf(&got, "(%s)", s.why);
	eventstream_free(&s);
	return got.p;
}

static void big(struct buf *b, uint32_t v, int width)
{
	while (width-- > 0)
		buf_addc(b, (char)(v >> 8 * width & 255));
}

/* head: headers as bytes */
static void message(const char *head, size_t nhead, const char *data, size_t n)
{
	struct buf m;
	buf_init(&m, BUF_NOLIMIT);
	big(&m, (uint32_t)(16 + nhead + n), 4);
	big(&m, (uint32_t)nhead, 4);
	big(&m, eventstream_crc(m.p, 8), 4);
	buf_add(&m, head, nhead);
	buf_add(&m, data, n);
	big(&m, eventstream_crc(m.p, m.len), 4);
	buf_add(&bytes, m.p, m.len);
	buf_free(&m);
}

static void text_header(struct buf *h, const char *name, const char *value)
{
	buf_addc(h, (char)strlen(name));
	buf_adds(h, name);
	buf_addc(h, 7);
	big(h, (uint32_t)strlen(value), 2);
	buf_adds(h, value);
}

static void say(const char *type, const char *key, const char *name, const char *data)
{
	struct buf h;
	buf_init(&h, BUF_NOLIMIT);
	text_header(&h, key, name);
	text_header(&h, ":content-type", "application/json");
	text_header(&h, ":message-type", type);
	if (strcmp(type, "error") == 0)
		text_header(&h, ":error-message", "too bad");
	message(h.p, h.len, data, strlen(data));
	buf_free(&h);
}

static void cuts(const char *want, const char *name)
{
	IS(messages(bytes.p, bytes.len, bytes.len ? bytes.len : 1), want, "%s", name);
	for (size_t step = 1; step < 18; step += 3)
		IS(messages(bytes.p, bytes.len, step), want, "%s, %zu at a time", name, step);
	buf_clear(&bytes);
}

static void framing(void)
{
	IS(messages("", 0, 1), "", "no bytes, no message");
	message("", 0, "", 0);
	cuts("[|]", "a message of nothing");
	/* the two messages of the SDKs' own tests: empty, and {'foo':'bar'} without headers */
	buf_add(&bytes, "\0\0\0\x10\0\0\0\0\x05\xc2\x48\xeb\x7d\x98\xc8\xff", 16);
	cuts("[|]", "the empty message of the SDKs' tests");
	buf_add(&bytes, "\0\0\0\x1d\0\0\0\0\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36", 29);
	cuts("[|{'foo':'bar'}]", "their message without headers");
	say("event", ":event-type", "chunk", "{}");
	say("event", ":event-type", "metadata", "{\"a\":1}");
	say("exception", ":exception-type", "throttlingException", "{\"message\":\"slow\"}");
	say("error", ":error-code", "Broken", "ignored");
	cuts("[chunk|{}][metadata|{\"a\":1}][!throttlingException|{\"message\":\"slow\"}][!!Broken|too bad]", "four messages");
}

static void headers(void)
{
	static const char all[] = "\1a\0" "\1b\1" "\1c\2x" "\1d\3xx" "\1e\4xxxx" "\1f\5xxxxxxxx" "\1g\6\0\2xx" "\1h\7\0\3abc"
		"\1i\10xxxxxxxx" "\1j\11xxxxxxxxxxxxxxxx" "\13:event-type\7\0\2ev";
	message(all, sizeof all - 1, "x", 1);
	cuts("[ev|x]", "headers of all types are read over");
	message("\13:event-type\4\0\0\0\1", 17, "x", 1);
	cuts("[|x]", "a name that is a number is none");
	message("\1a\12x", 4, "x", 1);
	cuts("(a header of a message has an unknown type)", "an unknown type");
	message("\1a\7\0\11xx", 7, "xxxxxxxxx", 9);
	cuts("(a header of a message is cut off)", "a value longer than the headers");
	message("\11a\7\0\1x", 6, "xxxxxxxxx", 9);
	cuts("(a header of a message is cut off)", "a name longer than the headers");
	message("\1a\7\0", 4, "xxxxxxxxx", 9);
	cuts("(a header of a message is cut off)", "a length cut in two");
}

static void broken(void)
{
	say("event", ":event-type", "one", "1");
	size_t first = bytes.len;
	say("event", ":event-type", "two", "2");
	struct buf copy;
	buf_init(&copy, BUF_NOLIMIT);
	buf_add(&copy, bytes.p, bytes.len);
	int wrong = 0;
	for (size_t i = 0; i < copy.len; i++) {
		copy.p[i] ^= 1;
		const char *g = messages(copy.p, copy.len, 7);
		wrong += i < first ? g[0] != '(' : strncmp(g, "[one|1](", 8) != 0;
		copy.p[i] ^= 1;
	}
	OK(wrong == 0, "a bit that is wrong anywhere is found, and nothing of its message delivered (%d)", wrong);
	wrong = 0;
	for (size_t n = 0; n < copy.len; n++)
		wrong += strcmp(messages(copy.p, n, 5), n < first ? "" : "[one|1]") != 0;
	OK(wrong == 0, "a message that is cut anywhere is not delivered, and no error (%d)", wrong);
	buf_free(&copy);
	buf_clear(&bytes);
	big(&bytes, 15, 4), big(&bytes, 0, 4), big(&bytes, eventstream_crc(bytes.p, 8), 4);
	cuts("(the lengths of a message are wrong)", "a length below the least");
	big(&bytes, 20, 4), big(&bytes, 5, 4), big(&bytes, eventstream_crc(bytes.p, 8), 4);
	cuts("(the lengths of a message are wrong)", "headers longer than their message");
	big(&bytes, EVENTSTREAM_MAX + 1, 4), big(&bytes, 0, 4), big(&bytes, eventstream_crc(bytes.p, 8), 4);
	cuts("(a message is too long)", "a message over the limit");
	big(&bytes, 1 << 20, 4), big(&bytes, EVENTSTREAM_HEADERS + 1, 4), big(&bytes, eventstream_crc(bytes.p, 8), 4);
	cuts("(a message is too long)", "headers over the limit");
}

static const char *decoded(const char *text)
{
	buf_clear(&got);
	return base64_decode(&got, text, strlen(text)) < 0 ? "no" : got.p;
}

static void base64(void)
{
	/* RFC 4648 section 10 */
	static const char *const pairs[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
	static const char *const none[] = {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "====", "=Zg=", "Zg==Zg==", "Zm9v\n",
	   "Z-_v", "Z g="};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		IS(decoded(pairs[i][1]), pairs[i][0], "base64: %s", pairs[i][1]);
		buf_clear(&got);
		base64_encode(&got, pairs[i][0], strlen(pairs[i][0]));
		IS(got.p, pairs[i][1], "base64 of %s", pairs[i][0]);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		IS(decoded(none[i]), "no", "no base64: %zu", i);
		OK(got.len == 0, "and nothing is added");
	}
	char every[256];
	for (int i = 0; i < 256; i++)
		every[i] = (char)i;
	buf_clear(&bytes);
	base64_encode(&bytes, every, sizeof every);
	buf_clear(&got);
	OK(base64_decode(&got, bytes.p, bytes.len) == 0 && got.len == 256 && !memcmp(got.p, every, 256), "all bytes,"
	   " there and back");
}

int main(void)
{
	buf_init(&got, BUF_NOLIMIT);
	buf_init(&bytes, BUF_NOLIMIT);
	OK(eventstream_crc("123456789", 9) == 0xcbf43926, "the check value of CRC-32");
	framing();
	headers();
	broken();
	base64();
	buf_free(&got);
	buf_free(&bytes);
	return END();
}

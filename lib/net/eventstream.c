#include "net/eventstream.h"

#include <string.h>

enum { PRELUDE = 12, CRC = 4 };

/* Half a byte a step (RFC 1952 section 8 has the polynomial): small, and fast enough for text as models write it. */
uint32_t eventstream_crc(const void *bytes, size_t n)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	const unsigned char *p = bytes;
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static uint32_t number(const char *at, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)at;
	uint32_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

void eventstream_init(struct eventstream *s, eventstream_heard *heard, void *arg)
{
	*s = (struct eventstream){.heard = heard, .arg = arg, .need = PRELUDE};
	buf_init(&s->message, EVENTSTREAM_MAX);
	buf_init(&s->name, EVENTSTREAM_HEADERS);
	buf_init(&s->words, EVENTSTREAM_HEADERS);
}

void eventstream_free(struct eventstream *s)
{
	buf_free(&s->message);
	buf_free(&s->name);
	buf_free(&s->words);
}

static int bad(struct eventstream *s, const char *why)
{
	s->why = why;
	return -1;
}

/* Bytes of a value of a type before its contents, and of the contents where they are not said there; -1: no such type. */
static int value_size(unsigned type)
{
	static const signed char size[] = {0, 0, 1, 2, 4, 8, -2, -2, 8, 16};   /* -2: two bytes of length, then so many */

	return type < sizeof size ? size[type] : -1;
}

static bool is(const char *p, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(p, word, n) == 0;
}

static void header(struct eventstream *s, const char *name, size_t n, const char *value, size_t len)
{
	if (is(name, n, ":message-type")) {
		s->kind = is(value, len, "exception") ? EVENTSTREAM_EXCEPTION :
			is(value, len, "error") ? EVENTSTREAM_ERROR : EVENTSTREAM_EVENT;
	} else if (is(name, n, ":event-type") || is(name, n, ":exception-type") || is(name, n, ":error-code")) {
		buf_clear(&s->name);
		buf_add(&s->name, value, len);
	} else if (is(name, n, ":error-message")) {
		buf_clear(&s->words);
		buf_add(&s->words, value, len);
	}
}

static int headers(struct eventstream *s, const char *p, size_t n)
{
	while (n > 0) {
		size_t name = (unsigned char)*p, len;
		const char *at = p + 1 + name;
		unsigned type;
		int size;

		if (n < name + 2)
			return bad(s, "a header of a message is cut off");
		type = (unsigned char)*at++;
		size = value_size(type);
		n -= name + 2;
		if (size == -1)
			return bad(s, "a header of a message has an unknown type");
		len = (size_t)(size < 0 ? 2 : size);
		if (n >= len && size == -2) {
			len = number(at, 2);
			at += 2;
			n -= 2;
		}
		if (n < len)
			return bad(s, "a header of a message is cut off");
		if (type == 7)
			header(s, p + 1, name, at, len);
		p = at + len;
		n -= len;
	}
	return 0;
}

static int prelude(struct eventstream *s)
{
	size_t total = number(s->message.p, 4), head = number(s->message.p + 4, 4);

	if (number(s->message.p + 8, 4) != eventstream_crc(s->message.p, 8))
		return bad(s, "the checksum of a message's head is wrong");
	if (total > EVENTSTREAM_MAX || head > EVENTSTREAM_HEADERS)
		return bad(s, "a message is too long");
	if (total < PRELUDE + CRC || head > total - PRELUDE - CRC)
		return bad(s, "the lengths of a message are wrong");
	s->need = total;
	return 0;
}

static int deliver(struct eventstream *s)
{
	struct buf *m = &s->message;
	size_t head = number(m->p + 4, 4), end = m->len - CRC;

	if (number(m->p + end, CRC) != eventstream_crc(m->p, end))
		return bad(s, "the checksum of a message is wrong");
	s->kind = EVENTSTREAM_EVENT;
	buf_clear(&s->name);
	buf_clear(&s->words);
	if (headers(s, m->p + PRELUDE, head) < 0)
		return -1;
	buf_truncate(m, end);
	if (s->kind == EVENTSTREAM_ERROR)
		s->heard(s->arg, s->kind, s->name.p, s->words.p, s->words.len);
	else
		s->heard(s->arg, s->kind, s->name.p, m->p + PRELUDE + head, end - PRELUDE - head);
	buf_clear(m);
	s->need = PRELUDE;
	return 0;
}

int eventstream_feed(struct eventstream *s, const char *p, size_t n)
{
	while (n > 0 && !s->why) {
		size_t take = s->need - s->message.len;

		if (take > n)
			take = n;
		buf_add(&s->message, p, take);
		p += take;
		n -= take;
		if (s->message.len < s->need)
			break;
		if (s->need == PRELUDE)
			prelude(s);
		else
			deliver(s);
	}
	return s->why ? -1 : 0;
}

#include "llm/media.h"

#include <string.h>

static bool begins(const unsigned char *p, size_t n, const char *magic, size_t m)
{
	return n >= m && memcmp(p, magic, m) == 0;
}

static unsigned long be(const unsigned char *p, int bytes)
{
	unsigned long x = 0;

	for (int i = 0; i < bytes; i++)
		x = x << 8 | p[i];
	return x;
}

static unsigned long le(const unsigned char *p, int bytes)
{
	unsigned long x = 0;

	while (bytes > 0)
		x = x << 8 | p[--bytes];
	return x;
}

/* Every chunk whole, the last one IEND. */
static bool png(struct media *m, const unsigned char *p, size_t n)
{
	size_t at = 8;

	if (n < 33 || memcmp(p + 12, "IHDR", 4) != 0)
		return false;
	m->width = be(p + 16, 4);
	m->height = be(p + 20, 4);
	while (n - at >= 12) {
		unsigned long len = be(p + at, 4);

		if (len > n - at - 12)
			return false;
		if (!memcmp(p + at + 4, "IEND", 4))
			return true;
		at += 12 + len;
	}
	return false;
}

/* Segments up to the frame header, SOF0 to SOF15 without DHT, JPG and DAC. EOI somewhere behind: cameras append data of
 * their own after it. */
static bool jpeg(struct media *m, const unsigned char *p, size_t n)
{
	for (size_t at = 2; at + 9 <= n && p[at] == 0xff;) {
		unsigned char mark = p[at + 1];

		if (mark == 0xff) {          /* fill */
			at++;
			continue;
		}
		if (mark >= 0xc0 && mark <= 0xcf && mark != 0xc4 && mark != 0xc8 && mark != 0xcc) {
			m->height = be(p + at + 5, 2);
			m->width = be(p + at + 7, 2);
			break;
		}
		if (mark == 0xda || mark == 0xd9)
			break;
		at += 2 + be(p + at + 2, 2);
	}
	for (size_t i = n; i >= 4; i--)
		if (p[i - 2] == 0xff && p[i - 1] == 0xd9)
			return true;
	return false;
}

static bool gif(struct media *m, const unsigned char *p, size_t n)
{
	if (n >= 10) {
		m->width = le(p + 6, 2);
		m->height = le(p + 8, 2);
	}
	while (n > 13 && p[n - 1] == 0)     /* padding after the trailer is common */
		n--;
	return n > 13 && p[n - 1] == 0x3b;
}

/* VP8: 14 bits after the start code; VP8L: 14 bits less one after its signature; VP8X: 24 bits less one. */
static bool webp(struct media *m, const unsigned char *p, size_t n)
{
	if (n < 20 || le(p + 4, 4) > n - 8)
		return false;
	if (n >= 30 && !memcmp(p + 12, "VP8 ", 4)) {
		m->width = le(p + 26, 2) & 0x3fff;
		m->height = le(p + 28, 2) & 0x3fff;
	} else if (n >= 25 && !memcmp(p + 12, "VP8L", 4)) {
		unsigned long bits = le(p + 21, 4);

		m->width = (bits & 0x3fff) + 1;
		m->height = (bits >> 14 & 0x3fff) + 1;
	} else if (n >= 30 && !memcmp(p + 12, "VP8X", 4)) {
		m->width = le(p + 24, 3) + 1;
		m->height = le(p + 27, 3) + 1;
	}
	return true;
}

/* "/Type /Page", not "/Pages". Those in compressed object streams are not seen. */
static unsigned long pdf_pages(const unsigned char *p, size_t n)
{
	const unsigned char *end = p + n;
	unsigned long pages = 0;

	while ((p = memmem(p, (size_t)(end - p), "/Type", 5)) != NULL) {
		p += 5;
		while (p < end && memchr(" \t\r\n", *p, 4))
			p++;
		if (end - p > 5 && !memcmp(p, "/Page", 5) && p[5] != 's')
			pages++;
	}
	return pages;
}

/* The header may stand behind other bytes and the end mark before some: readers look at the first and last 1024. */
static bool pdf(struct media *m, const unsigned char *p, size_t n)
{
	size_t tail = n < 1024 ? n : 1024;

	if (!memmem(p + n - tail, tail, "%%EOF", 5))
		return false;
	m->pages = pdf_pages(p, n);
	return true;
}

bool media_look(struct media *m, const unsigned char *p, size_t n, const char **why)
{
	bool whole = false;

	*m = (struct media){0};
	*why = NULL;
	if (begins(p, n, "\x89PNG\r\n\x1a\n", 8))
		m->type = "image/png", whole = png(m, p, n);
	else if (begins(p, n, "\xff\xd8\xff", 3))
		m->type = "image/jpeg", whole = jpeg(m, p, n);
	else if (begins(p, n, "GIF87a", 6) || begins(p, n, "GIF89a", 6))
		m->type = "image/gif", whole = gif(m, p, n);
	else if (begins(p, n, "RIFF", 4) && n >= 12 && !memcmp(p + 8, "WEBP", 4))
		m->type = "image/webp", whole = webp(m, p, n);
	else if (begins(p, n, "%PDF-", 5))
		m->type = "application/pdf", whole = pdf(m, p, n);
	if (m->type && !whole)
		*why = media_document(m) ? "the document is cut off" : "the image is cut off";
	else if (!m->type)
		*why = n ? "not a PNG, JPEG, GIF or WebP image" : "the file is empty";
	return whole;
}

bool media_document(const struct media *m)
{
	return m->type && !strcmp(m->type, "application/pdf");
}

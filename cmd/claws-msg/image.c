/* image.c - what kind of image some bytes are; the name of a file says nothing (a provider refuses what is labelled wrongly,
 * and with it the whole request).
 *
 * PNG: W3C PNG third edition, 5.2 signature, 11.2.1 IHDR first, IEND last. JPEG: ITU-T T.81 B.1.1.3, SOI ... EOI. GIF: GIF89a
 * specification, header and trailer 0x3B. WebP: RFC 9649, RIFF with its length. */
#include <string.h>

#include "msg_cmd.h"

static unsigned long be32(const unsigned char *p)
{
	return (unsigned long)p[0] << 24 | (unsigned long)p[1] << 16 | (unsigned long)p[2] << 8 | p[3];
}

static unsigned long le32(const unsigned char *p)
{
	return (unsigned long)p[3] << 24 | (unsigned long)p[2] << 16 | (unsigned long)p[1] << 8 | p[0];
}

/* Every chunk whole, the last one IEND. */
static bool png_whole(const unsigned char *p, size_t n)
{
	size_t at = 8;

	if (n < 33 || memcmp(p + 12, "IHDR", 4) != 0)
		return false;
	while (n - at >= 12) {
		unsigned long len = be32(p + at);

		if (len > n - at - 12)
			return false;
		if (!memcmp(p + at + 4, "IEND", 4))
			return true;
		at += 12 + len;
	}
	return false;
}

/* EOI somewhere behind the last scan: cameras append data of their own after it. */
static bool jpeg_whole(const unsigned char *p, size_t n)
{
	for (size_t i = n; i >= 4; i--)
		if (p[i - 2] == 0xff && p[i - 1] == 0xd9)
			return true;
	return false;
}

static bool gif_whole(const unsigned char *p, size_t n)
{
	while (n > 13 && p[n - 1] == 0)     /* padding after the trailer is common */
		n--;
	return n > 13 && p[n - 1] == 0x3b;
}

const char *image_type(const unsigned char *p, size_t n, const char **why)
{
	const char *type = NULL;
	bool whole = false;

	if (n >= 8 && !memcmp(p, "\x89PNG\r\n\x1a\n", 8))
		type = "image/png", whole = png_whole(p, n);
	else if (n >= 3 && !memcmp(p, "\xff\xd8\xff", 3))
		type = "image/jpeg", whole = jpeg_whole(p, n);
	else if (n >= 6 && (!memcmp(p, "GIF87a", 6) || !memcmp(p, "GIF89a", 6)))
		type = "image/gif", whole = gif_whole(p, n);
	else if (n >= 12 && !memcmp(p, "RIFF", 4) && !memcmp(p + 8, "WEBP", 4))
		type = "image/webp", whole = n >= 20 && le32(p + 4) <= n - 8;
	if (type && whole)
		return type;
	*why = type ? "the image is cut off" : n ? "not a PNG, JPEG, GIF or WebP image" : "the file is empty";
	return NULL;
}

#include "llm/image.h"

#include <stdlib.h>
#include <string.h>

static bool begins(const unsigned char *p, size_t n, const char *magic, size_t m)
{
	return n >= m && memcmp(p, magic, m) == 0;
}

const char *image_type(const unsigned char *p, size_t n, const char **why)
{
	*why = "the image is cut off";
	if (begins(p, n, "\x89PNG\r\n\x1a\n", 8))
		return memmem(p + n - (n < 64 ? n : 64), n < 64 ? n : 64, "IEND", 4) ? "image/png" : NULL;
	if (begins(p, n, "\xff\xd8\xff", 3)) {
		size_t tail = n < 4096 ? n : 4096;   /* cameras append things of their own */
		return memmem(p + n - tail, tail, "\xff\xd9", 2) ? "image/jpeg" : NULL;
	}
	if (begins(p, n, "GIF87a", 6) || begins(p, n, "GIF89a", 6))
		return memchr(p + n - (n < 64 ? n : 64), ';', n < 64 ? n : 64) ? "image/gif" : NULL;
	if (begins(p, n, "RIFF", 4) && n >= 12 && memcmp(p + 8, "WEBP", 4) == 0) {
		size_t size = (size_t)p[4] | (size_t)p[5] << 8 | (size_t)p[6] << 16 | (size_t)p[7] << 24;
		return size + 8 <= n ? "image/webp" : NULL;
	}
	*why = "it is not a PNG, JPEG, GIF or WebP image";
	return NULL;
}

/* RFC 4648 section 4 */
static void base64(struct buf *out, const unsigned char *p, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *o = buf_room(out, (n + 2) / 3 * 4);
	if (!o)
		return;
	for (size_t i = 0; i < n; i += 3) {
		unsigned x = (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
		*o++ = digits[x >> 18];
		*o++ = digits[x >> 12 & 63];
		*o++ = i + 1 < n ? digits[x >> 6 & 63] : '=';
		*o++ = i + 2 < n ? digits[x & 63] : '=';
	}
	out->len += (n + 2) / 3 * 4;
	buf_term(out);
}

void image_load(struct image *im, const struct convo *c, const struct json *j, int image, size_t max)
{
	struct err e = ERR_INIT;
	struct buf bytes;
	const char *why = NULL;
	char *blob = json_dup(j, json_get(j, image, "blob"));
	im->media_type = NULL;
	buf_init(&im->text, BUF_NOLIMIT);
	buf_init(&bytes, (size_t)64 << 20);
	if (!blob)
		why = "it has no blob";
	else if (!c->load)
		why = "there is no session to take it from";
	else if (c->load(c->load_arg, blob, &bytes, &e) < 0)
		why = e.text[0] ? e.text : "it cannot be read";
	else if (bytes.over || bytes.len > max)
		why = "it is too big for the provider";
	else
		im->media_type = image_type((const unsigned char *)bytes.p, bytes.len, &why);
	if (im->media_type)
		base64(&im->text, (const unsigned char *)bytes.p, bytes.len);
	else
		buf_addf(&im->text, "[image left out: %s]", why);
	buf_free(&bytes);
	free(blob);
}

void image_free(struct image *im)
{
	buf_free(&im->text);
}

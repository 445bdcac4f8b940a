#include "tools/textsrc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/xalloc.h"

void textsrc_init(struct textsrc *s, int fd)
{
	memset(s, 0, sizeof *s);
	s->fd = fd;
	s->block = xmalloc(TEXTSRC_BLOCK);
	buf_init(&s->text, BUF_NOLIMIT);
}

void textsrc_free(struct textsrc *s)
{
	free(s->block);
	buf_free(&s->text);
}

/* Reads into what is free of the block: bytes, 0 at the end, -1. */
static ssize_t fill(struct textsrc *s)
{
	ssize_t k;
	do
		k = read(s->fd, s->block + s->block_len, TEXTSRC_BLOCK - s->block_len);
	while (k < 0 && errno == EINTR);
	if (k < 0)
		err_sys(&s->err, "cannot read the file");
	else
		s->block_len += (size_t)k;
	return k;
}

static uint32_t unit(const struct textsrc *s, size_t i)
{
	unsigned char a = (unsigned char)s->block[i], b = (unsigned char)s->block[i + 1];
	return s->form == TEXTSRC_UTF16LE ? a | (uint32_t)b << 8 : b | (uint32_t)a << 8;
}

/* Converts the whole units in the block; a high surrogate at its end waits for the next, unless this is the end. */
static void convert(struct textsrc *s, bool last)
{
	size_t i = 0;
	buf_clear(&s->text);
	while (i + 2 <= s->block_len) {
		uint32_t c = unit(s, i);
		char u[4];
		if (c >= 0xD800 && c <= 0xDBFF) {
			if (i + 4 > s->block_len && !last)
				break;
			uint32_t d = i + 4 <= s->block_len ? unit(s, i + 2) : 0;
			if (d >= 0xDC00 && d <= 0xDFFF) {
				c = 0x10000 + ((c - 0xD800) << 10) + (d - 0xDC00);
				i += 2;
			}
		}
		buf_add(&s->text, u, (size_t)utf8_encode(u, c));
		i += 2;
	}
	if (last && i < s->block_len) {              /* half a unit */
		buf_adds(&s->text, "\xEF\xBF\xBD");
		i = s->block_len;
	}
	memmove(s->block, s->block + i, s->block_len - i);
	s->block_len -= i;
	s->p = s->text.p;
	s->n = s->text.len;
}

static int begin(struct textsrc *s)
{
	ssize_t k = 1;
	s->begun = true;
	while (s->block_len < 4096 && (k = fill(s)) > 0)
		;
	if (k < 0)
		return -1;
	const unsigned char *b = (const unsigned char *)s->block;
	size_t n = s->block_len, skip = 0;
	if (n >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF)
		s->form = TEXTSRC_UTF8_BOM, skip = 3;
	else if (n >= 2 && b[0] == 0xFF && b[1] == 0xFE && !(n >= 4 && !b[2] && !b[3]))   /* not UTF-32 */
		s->form = TEXTSRC_UTF16LE, skip = 2;
	else if (n >= 2 && b[0] == 0xFE && b[1] == 0xFF)
		s->form = TEXTSRC_UTF16BE, skip = 2;
	memmove(s->block, s->block + skip, n - skip);
	s->block_len -= skip;
	if (s->form == TEXTSRC_UTF16LE || s->form == TEXTSRC_UTF16BE) {
		convert(s, false);
	} else {
		s->p = s->block;
		s->n = s->block_len;
	}
	return 0;
}

int textsrc_more(struct textsrc *s)
{
	if (!s->begun && begin(s) < 0)
		return -1;
	while (s->n == 0 && !s->end) {
		bool wide = s->form == TEXTSRC_UTF16LE || s->form == TEXTSRC_UTF16BE;
		if (!wide)
			s->block_len = 0;
		ssize_t k = fill(s);
		if (k < 0)
			return -1;
		s->end = k == 0;
		if (wide) {
			convert(s, s->end);
		} else {
			s->p = s->block;
			s->n = s->block_len;
		}
	}
	return s->n > 0;
}

void textsrc_take(struct textsrc *s, size_t n)
{
	s->p += n;
	s->n -= n;
	s->pos += n;
}

const char *textsrc_magic(const char *p, size_t n, bool *image)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *what;
		bool image;
	} magic[] = {
		{"\x89PNG\r\n\x1a\n", 8, "a PNG image", true}, {"\xff\xd8\xff", 3, "a JPEG image", true},
		{"GIF87a", 6, "a GIF image", true}, {"GIF89a", 6, "a GIF image", true},
		{"%PDF-", 5, "a PDF document", false}, {"\x7f" "ELF", 4, "an ELF program or library", false},
		{"PK\x03\x04", 4, "a ZIP archive (or an office document, a JAR ...)", false},
		{"\x1f\x8b", 2, "gzip data", false}, {"BZh", 3, "bzip2 data", false},
		{"\xfd" "7zXZ", 6, "xz data", false}, {"\x28\xb5\x2f\xfd", 4, "zstd data", false},
		{"7z\xbc\xaf", 4, "a 7-Zip archive", false}, {"SQLite format 3", 16, "an SQLite database", false},
		{"\0asm", 4, "a WebAssembly module", false}, {"\xca\xfe\xba\xbe", 4, "a Java class or Mach-O file", false},
		{"OggS", 4, "Ogg audio or video", false}, {"ID3", 3, "MP3 audio", false}, {"fLaC", 4, "FLAC audio", false},
		{"wOF2", 4, "a font", false}, {"!<arch>\n", 8, "a library archive", false},
	};
	*image = false;
	for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
		if (n >= magic[i].n && memcmp(p, magic[i].bytes, magic[i].n) == 0) {
			/* Three letters alone may begin a text. */
			if (magic[i].n <= 3 && !memchr(p, '\0', n < 512 ? n : 512) && utf8_valid_prefix(p, n) + 4 > n)
				continue;
			*image = magic[i].image;
			return magic[i].what;
		}
	if (n >= 12 && memcmp(p, "RIFF", 4) == 0 && memcmp(p + 8, "WEBP", 4) == 0) {
		*image = true;
		return "a WebP image";
	}
	return NULL;
}

/* What images and documents are, by their bytes. */
#include "llm/media.h"
#include "tap.h"

static struct media m;
static const char *why;

static bool look(const char *p, size_t n)
{
	return media_look(&m, (const unsigned char *)p, n, &why);
}
#define LOOK(s) look(s, sizeof (s) - 1)

#define PNG "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\0\0\0\1\0\10\2\0\0\0abcd"
#define END_CHUNK "\0\0\0\0IEND\xae\x42\x60\x82"
#define JPEG "\xff\xd8\xff\xe0\0\4xx\xff\xff\xc2\0\x0b\10\1\0\2\0\1\1\x11\0\xff\xda"

int main(void)
{
	OK(LOOK(PNG END_CHUNK) && m.width == 512 && m.height == 256, "PNG: 512 x 256");
	IS(m.type, "image/png", "PNG");
	OK(!LOOK(PNG), "PNG without its end");
	IS(why, "the image is cut off", "is cut off");
	IS(m.type, "image/png", "but one");
	OK(!LOOK(PNG "\0\0\x10\0IDATshort" END_CHUNK), "PNG with a chunk longer than the file");
	OK(!LOOK("\x89PNG\r\n\x1a\n....IEND...."), "PNG without its header");

	OK(LOOK(JPEG "data\xff\xd9") && m.width == 512 && m.height == 256, "JPEG, progressive, fill bytes: 512 x 256");
	OK(LOOK(JPEG "data\xff\xd9 camera's own") && m.width == 512, "JPEG with more behind its end");
	OK(!LOOK(JPEG "data"), "JPEG without its end");
	OK(LOOK("\xff\xd8\xff\xe0\xff\xff\xff\xd9") && m.width == 0, "JPEG whose segment points beyond the file");

	OK(LOOK("GIF89a\1\0\2\0\0\0\0,\0;") && m.width == 1 && m.height == 2, "GIF: 1 x 2");
	OK(LOOK("GIF87a\1\0\2\0\0\0\0,\0;\0\0"), "GIF with padding");
	OK(!LOOK("GIF89a\1\0\2\0\0\0\0,\0"), "GIF without its trailer");
	OK(!LOOK("GIF89a"), "GIF of six bytes");

	OK(LOOK("RIFF\x16\0\0\0WEBPVP8 \n\0\0\0\x30\1\0\x9d\1\x2a\x10\0\x20\x40") && m.width == 16 && m.height == 32,
	   "WebP, lossy: 16 x 32, without the bits for scaling");
	OK(LOOK("RIFF\x11\0\0\0WEBPVP8L\5\0\0\0\x2f\x0f\xc0\7\0") && m.width == 16 && m.height == 32, "WebP, lossless");
	OK(LOOK("RIFF\x16\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0\x3f\x1f\0\1\0\0") && m.width == 8000 && m.height == 2,
		"WebP, extended");
	OK(!LOOK("RIFF\xff\0\0\0WEBPVP8 \n\0\0\0"), "WebP that is cut off");

	OK(LOOK("%PDF-1.4\n<</Type /Pages/Count 2>><</Type/Page>><</Type\n/Page/X 1>>\n%%EOF\n") && m.pages == 2,
		"PDF: 2 pages");
	OK(media_document(&m), "a document");
	OK(!LOOK("%PDF-1.4\n<</Type/Page>>"), "PDF without its end");
	IS(why, "the document is cut off", "is cut off");
	OK(!LOOK("hello") && !m.type && !media_document(&m), "text");
	IS(why, "not a PNG, JPEG, GIF or WebP image", "is none");
	OK(!look("", 0), "nothing");
	IS(why, "the file is empty", "is empty");
	return END();
}

/* media.h - what kind of image or document some bytes are, and whether all of it is there.
 *
 *   struct media m;
 *   const char *why;
 *   if (!media_look(&m, bytes, n, &why)) ... `why` says what is wrong; m.type is set if the kind could be told
 *   else ... m.type, m.width, m.height, m.pages ...
 *
 * The bytes decide, not the name: a provider refuses what is labelled wrongly or cut off, and with it the whole
 * conversation from then on. PNG: W3C PNG third edition, 5.2 signature, 11.2.1 IHDR first, IEND last. JPEG: ITU-T T.81
 * B.1.1.3, SOI ... EOI, B.2.2 the frame header. GIF: GIF89a specification, 18 logical screen descriptor, trailer 0x3B. WebP:
 * RFC 9649, RIFF with its length. PDF: ISO 32000-1, 7.5.2 header, 7.5.5 trailer. */
#ifndef LLM_MEDIA_H
#define LLM_MEDIA_H

#include <stdbool.h>
#include <stddef.h>

struct media {
	const char *type;              /* "image/png", "application/pdf"; NULL: none that is known */
	unsigned long width, height;   /* of an image; 0 not told */
	unsigned long pages;           /* of a PDF, those that can be counted without unpacking it; 0 unknown */
};

/* true: whole. false with the reason in *why ("the image is cut off"): a constant text. */
bool media_look(struct media *m, const unsigned char *p, size_t n, const char **why);
/* Is it a document, not an image? */
bool media_document(const struct media *m);

#endif

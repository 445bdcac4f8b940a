/* image.h - images and documents on their way into a request: looked at, checked, base64.
 *
 *   struct image im;
 *   image_load(&im, c, j, element, MAX_BYTES);
 *   if (im.media_type) ... an image, or a document if im.document; im.text is its base64
 *   else ... im.text is a note that stands for it
 *   image_free(&im);
 *
 * The bytes decide what it is (media.h), not the name or the media type that came with it; what is neither, or cut, or
 * too big, or what the model cannot see (c->inputs), would make the provider refuse the whole conversation from then on, so
 * it becomes a note instead. */
#ifndef LLM_IMAGE_H
#define LLM_IMAGE_H

#include "llm/convo.h"
#include "llm/media.h"

struct image {
	const char *media_type;   /* NULL: there is none; `text` says why */
	struct buf text;          /* base64, or the note */
	struct buf name;          /* of the file, as the user wrote it; may be empty */
	bool document;            /* a PDF */
	struct media media;       /* size and pages */
};

/* image: an element of a message's "images". max: bytes of an image that the provider takes; a document may have
 * IMAGE_DOCUMENT. Free with image_free. */
void image_load(struct image *im, const struct convo *c, const struct json *j, int image, size_t max);
/* It cannot be sent for another reason: it becomes a note. */
void image_refuse(struct image *im, const char *why);
void image_free(struct image *im);

#define IMAGE_DOCUMENT ((size_t)24 << 20)    /* 32 MiB of base64: the most that the providers take as one request */

#endif

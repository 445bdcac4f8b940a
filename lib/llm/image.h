/* image.h - images on their way into a request: looked at, checked, base64.
 *
 * The bytes decide what an image is, not the name or the media type that came with it; what is no image, or cut, or
 * too big, would make the provider refuse the whole conversation from then on, so it becomes a note instead. */
#ifndef LLM_IMAGE_H
#define LLM_IMAGE_H

#include "llm/convo.h"

struct image {
	const char *media_type;   /* NULL: there is no image; `text` says why */
	struct buf text;          /* base64, or the note */
};

/* image: an element of a message's "images". max: bytes the provider takes. Free with image_free. */
void image_load(struct image *im, const struct convo *c, const struct json *j, int image, size_t max);
void image_free(struct image *im);

/* "image/png" and the like, or NULL with the reason in *why. */
const char *image_type(const unsigned char *p, size_t n, const char **why);

#endif

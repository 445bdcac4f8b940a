#include "llm/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"

/* Also where the bytes cannot be had: then the line's media type tells. */
static bool is_document(const struct image *im, const struct json *j, int image)
{
	return im->media.type ? media_document(&im->media) : json_eq(j, json_get(j, image, "media_type"), "application/pdf");
}

void image_refuse(struct image *im, const char *why)
{
	im->media_type = NULL;
	buf_clear(&im->text);
	buf_addf(&im->text, "[%s%s%s left out: %s]", im->document ? "document" : "image", im->name.len ? " " : "",
	         im->name.len ? im->name.p : "", why);
}

/* The model takes none of its kind. inputs 0: nothing is known, all is taken. */
static bool unseen(struct image *im, const struct convo *c)
{
	if (!c->inputs || (c->inputs & (im->document ? INPUT_PDF : INPUT_IMAGE)))
		return false;
	im->media_type = NULL;
	buf_clear(&im->text);
	buf_addf(&im->text, "[%s%s%s left out: %s takes no %s]", im->document ? "document" : "image", im->name.len ? " " : "",
	         im->name.len ? im->name.p : "", c->maker, im->document ? "documents" : "images");
	return true;
}

void image_load(struct image *im, const struct convo *c, const struct json *j, int image, size_t max)
{
	struct err e = ERR_INIT;
	struct buf bytes;
	const char *why = NULL;
	char *blob = json_dup(j, json_get(j, image, "blob"));
	*im = (struct image){0};
	buf_init(&im->text, BUF_NOLIMIT);
	buf_init(&im->name, BUF_NOLIMIT);
	buf_init(&bytes, (size_t)64 << 20);
	json_str(j, json_get(j, image, "name"), &im->name);
	im->document = is_document(im, j, image);
	if (!blob)
		why = "it has no blob";
	else if (!c->load)
		why = "there is no session to take it from";
	else if (c->load(c->load_arg, blob, &bytes, &e) < 0)
		why = e.text[0] ? e.text : "it cannot be read";
	else if (bytes.over)
		why = "it is too big for the provider";
	else if (media_look(&im->media, (const unsigned char *)bytes.p, bytes.len, &why))
		im->media_type = im->media.type;
	im->document = is_document(im, j, image);
	if (im->media_type && bytes.len > (im->document ? IMAGE_DOCUMENT : max))
		why = "it is too big for the provider";
	if (why)
		image_refuse(im, why);
	else if (!unseen(im, c))
		base64_encode(&im->text, bytes.p, bytes.len);
	buf_free(&bytes);
	free(blob);
}

void image_free(struct image *im)
{
	buf_free(&im->text);
	buf_free(&im->name);
}

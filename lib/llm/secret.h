/* secret.h - what must not be shown, beside the key itself: what rows and addresses carry that looks like one.
 *
 *   struct secrets s = SECRETS_INIT;
 *   secrets_add(&s, key);  secrets_of_url(&s, url);  secrets_of_header(&s, "x-token: abc");
 *   record_mask_all(&out, text, len, NULL, secrets_list(&s));
 *   secrets_free(&s);
 *
 * Strings are copied, and wiped at the end. Of less than SECRET_LEAST bytes nothing is taken from URLs and headers: it would be
 * found in words. */
#ifndef LLM_SECRET_H
#define LLM_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#define SECRET_LEAST 8

struct secrets {
	const char **v;       /* NULL-terminated; NULL while there are none */
	size_t n;
};

#define SECRETS_INIT {NULL, 0}

/* Does a variable, a header or a parameter of that name hold a secret? By words such as key, token, password, in any case. */
bool secret_name(const char *name, size_t n);

void secrets_add(struct secrets *s, const char *secret);        /* NULL, "" and what is there already are left out */
void secrets_of_url(struct secrets *s, const char *url);        /* values of its query whose names are those of secrets */
void secrets_of_header(struct secrets *s, const char *line);    /* "name: value": all of it, and what follows a scheme */
const char *const *secrets_list(const struct secrets *s);       /* NULL-terminated, never NULL; until the next is added */
void secrets_free(struct secrets *s);

#endif

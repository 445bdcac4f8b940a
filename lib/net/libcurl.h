/* libcurl.h - libcurl, loaded when it is needed.
 *
 *   struct libcurl c;
 *   if (libcurl_load(&c, &e) < 0) ...
 *   CURL *easy = c.easy_init();
 *   libcurl_unload(&c);
 *
 * Loading it costs 15 to 20 ms of CPU, more than all else that a short program does; a call that goes through the keeper, a replay
 * and a dry run need none of it. So it is loaded by dlopen(3); the header is that of the build, and its types are used. Once loaded
 * it stays mapped until the process ends: libraries below it have handlers that run at exit.
 * Errors: ST_UNAVAILABLE where it is missing, too old (before 7.66) or does not start. */
#ifndef NET_LIBCURL_H
#define NET_LIBCURL_H

#include <curl/curl.h>

#include "base/err.h"

#define LIBCURL_EACH(F) \
	F(global_init) F(global_cleanup) F(easy_init) F(easy_cleanup) F(easy_reset) F(easy_setopt) F(easy_getinfo) F(easy_pause) \
	F(easy_strerror) F(multi_init) F(multi_cleanup) F(multi_add_handle) F(multi_remove_handle) F(multi_perform) F(multi_poll) \
	F(multi_info_read) F(multi_strerror) F(slist_append) F(slist_free_all)

struct libcurl {
#define LIBCURL_MEMBER(name) __typeof__(curl_##name) *name;
	LIBCURL_EACH(LIBCURL_MEMBER)
#undef LIBCURL_MEMBER
};

int libcurl_load(struct libcurl *c, struct err *e);
void libcurl_unload(struct libcurl *c);

#endif

#include "net/libcurl.h"

#include <dlfcn.h>
#include <string.h>

#include "base/status.h"

int libcurl_load(struct libcurl *c, struct err *e)
{
	const struct { const char *name; void *at; } each[] = {
#define LIBCURL_ROW(name) {"curl_" #name, &c->name},
		LIBCURL_EACH(LIBCURL_ROW)
#undef LIBCURL_ROW
	};
	void *lib = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *f;

	if (!lib)
		return err_set(e, ST_UNAVAILABLE, "libcurl cannot be loaded: %s; install it (Debian: libcurl4)", dlerror());
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		f = dlsym(lib, each[i].name);
		if (!f) {
			dlclose(lib);
			return err_set(e, ST_UNAVAILABLE, "libcurl has no %s: 7.66 or later is needed", each[i].name);
		}
		memcpy(each[i].at, &f, sizeof f);   /* ISO C has no conversion of these; POSIX says that it holds */
	}
	dlclose(lib);   /* RTLD_NODELETE: it stays */
	if (c->global_init(CURL_GLOBAL_DEFAULT))
		return err_set(e, ST_UNAVAILABLE, "libcurl does not start");
	return 0;
}

void libcurl_unload(struct libcurl *c)
{
	c->global_cleanup();
}

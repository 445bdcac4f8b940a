/* The manifest that `claws tool add` makes. */
#include <stdlib.h>
#include <string.h>

#include "agent/manifest.h"
#include "base/status.h"
#include "base/xalloc.h"

struct param {
	char *name, *type, *about;
	bool optional;
};

static const char *schema_type(const char *s)
{
	static const char *const types[][2] = {
		{"string", "string"}, {"str", "string"}, {"int", "integer"}, {"integer", "integer"}, {"number", "number"},
		{"bool", "boolean"}, {"boolean", "boolean"},
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(types[i][0], s))
			return types[i][1];
	return NULL;
}

/* The name also becomes part of a variable's name, CLAWS_ARG_name. */
static bool param_name_ok(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++) {
		bool letter = (s[n] >= 'A' && s[n] <= 'Z') || (s[n] >= 'a' && s[n] <= 'z') || s[n] == '_';
		if (!letter && (!n || s[n] < '0' || s[n] > '9'))
			return false;
	}
	return n > 0 && n <= MANIFEST_NAME_MAX;
}

/* NAME:TYPE[?][:ABOUT] */
static int param_parse(struct param *p, const char *s, struct err *e)
{
	size_t n = strcspn(s, ":"), tn;
	const char *type = s + n + (s[n] == ':');

	tn = strcspn(type, ":");
	p->name = xstrndup(s, n);
	p->optional = tn && type[tn - 1] == '?';
	p->type = xstrndup(type, p->optional ? tn - 1 : tn);
	p->about = type[tn] ? xstrdup(type + tn + 1) : NULL;
	if (!param_name_ok(p->name))
		return err_set(e, ST_USAGE, "parameter '%s': expected NAME:TYPE, the name of letters, digits and _", s);
	if (!schema_type(p->type))
		return err_set(e, ST_USAGE, "parameter '%s': expected string, int, number or bool after the colon, with a ? behind it "
		               "if it may be left out", s);
	return 0;
}

static void write_schema(struct jw *w, const struct param *p, size_t n)
{
	jw_obj(w);
	jw_kstr(w, "type", "object");
	jw_key(w, "properties");
	jw_obj(w);
	for (size_t i = 0; i < n; i++) {
		jw_key(w, p[i].name);
		jw_obj(w);
		jw_kstr(w, "type", schema_type(p[i].type));
		if (p[i].about)
			jw_kstr(w, "description", p[i].about);
		jw_end(w);
	}
	jw_end(w);
	jw_key(w, "required");
	jw_arr(w);
	for (size_t i = 0; i < n; i++)
		if (!p[i].optional)
			jw_str(w, p[i].name);
	jw_end(w);
	jw_kbool(w, "additionalProperties", false);
	jw_end(w);
}

int manifest_write(struct buf *out, const char *name, const char *description, const char *const *params, size_t nparams,
                   const char *const *argv, size_t nargv, struct err *e)
{
	struct param *p = xcalloc(nparams + 1, sizeof *p);
	struct jw w = jw_begin(out);
	int rc = 0;

	for (size_t i = 0; i < nparams && rc == 0; i++) {
		rc = param_parse(&p[i], params[i], e);
		for (size_t k = 0; k < i && rc == 0; k++)
			if (!strcmp(p[k].name, p[i].name))
				rc = err_set(e, ST_USAGE, "parameter '%s' is there twice", p[i].name);
	}
	if (rc == 0) {
		jw_obj(&w);
		jw_kstr(&w, "name", name);
		jw_kstr(&w, "description", description);
		jw_key(&w, "input_schema");
		write_schema(&w, p, nparams);
		jw_kbool(&w, "read_only", false);
		jw_kbool(&w, "concurrent_safe", false);
		jw_ki64(&w, "timeout_s", MANIFEST_TIMEOUT_S);
		jw_key(&w, "exec");
		jw_arr(&w);
		for (size_t i = 0; i < nargv; i++)
			jw_str(&w, argv[i]);
		jw_end(&w);
		jw_end(&w);
		buf_addc(out, '\n');
		if (out->over)
			rc = err_set(e, ST_USAGE, "the manifest would be too long");
	}
	for (size_t i = 0; i < nparams; i++) {
		free(p[i].name);
		free(p[i].type);
		free(p[i].about);
	}
	free(p);
	return rc;
}

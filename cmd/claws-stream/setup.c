/* setup.c - which provider, at which address, with which key. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/prog.h"
#include "base/status.h"
#include "base/xalloc.h"
#include "opt/opt.h"
#include "stream.h"

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

#define THINKING_MAX 100000000L   /* as --max-tokens */

/* What the table of options cannot say of their values. All wrong usage, whatever else is missing. */
static int check_options(struct stream *s, struct err *e)
{
	const struct { const char *name, *value; } words[] = {
		{"--base-url", s->conf.base_url}, {"--record", s->conf.record}, {"--replay", s->conf.replay}};
	const char *t = s->conf.thinking;
	struct url u;
	char *end;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i].value && !*words[i].value)
			return err_set(e, ST_USAGE, "%s: it is empty", words[i].name);
	if (s->conf.base_url && url_parse(s->conf.base_url, &u, e) < 0) {
		err_wrap(e, "--base-url");
		e->status = ST_USAGE;
		return -1;
	}
	if (!isfinite(s->conf.temperature))
		return err_set(e, ST_USAGE, "--temperature: expected a number such as 0.7");
	s->effort = s->conf.effort ? effort_find(s->conf.effort) : EFFORT_UNSAID;
	s->thinking = -1;
	if (t && !strcmp(t, "off")) {
		s->thinking = 0;
	} else if (t) {
		errno = 0;
		s->thinking = strtol(t, &end, 10);
		if (!isdigit((unsigned char)*t) || *end || errno || s->thinking > THINKING_MAX)
			return err_set(e, ST_USAGE, "--thinking: '%s' is neither a number of tokens up to %ld nor off",
				t, THINKING_MAX);
	}
	return 0;
}

/* What the command line says goes before the environment, a number before a word. */
static int find_effort(struct stream *s, struct err *e)
{
	const char *word = env("CLAWS_EFFORT");

	if (s->conf.effort || s->conf.thinking || !word)
		return 0;
	s->effort = effort_find(word);
	return s->effort < EFFORTS ? 0 :
		err_set(e, ST_CONFIG, "CLAWS_EFFORT: '%s' is none of none, low, medium, high, max", word);
}

static int find_provider(struct stream *s, struct err *e)
{
	const char *model = s->conf.model ? s->conf.model : env("CLAWS_MODEL");
	struct provider_want want = {.provider = s->conf.provider ? s->conf.provider : env("CLAWS_PROVIDER"),
		.base_url = s->conf.base_url, .explain = s->conf.explain};
	const char *wire;
	struct catalog c;
	char *by_key = NULL;
	int bad;

	auth_region();
	if (catalog_open(&c, e) < 0)
		return -1;
	if (!model || !*model)
		model = by_key = provider_default(&c);
	want.name = model;
	bad = model ? provider_find(&c, &want, &s->p, e)
	            : err_set(e, ST_CONFIG, "no model: give -m PROVIDER/MODEL, set CLAWS_MODEL, or set a provider's key such as "
	                                    "ANTHROPIC_API_KEY or OPENAI_API_KEY");
	free(by_key);
	catalog_close(&c);
	if (bad)
		return -1;
	wire = s->p.wire;
	if (s->conf.wire && strcmp(s->conf.wire, wire) != 0) {
		wire = s->conf.wire;   /* the row's paths are those of its own wire */
		free(s->p.path);
		free(s->p.path_stream);
		s->p.path = s->p.path_stream = NULL;
	}
	s->wire = wire_find(wire);
	if (!s->wire)
		return err_set(e, ST_CONFIG, "wire '%s' is not known; one of %s is needed", wire, WIRE_NAMES);
	s->maker = xasprintf("%s/%s", s->p.name, s->p.model);
	s->conf.no_stream |= (s->p.quirks & QUIRK_NO_STREAM) != 0;
	return 0;
}

/* {model} in a path is the model's name as one segment of it (RFC 3986, section 3.3). */
static void fill_path(struct buf *out, const char *path, const char *model)
{
	const char *at = strstr(path, "{model}");

	buf_add(out, path, at ? (size_t)(at - path) : strlen(path));
	if (!at)
		return;
	for (const char *p = model; *p; p++) {
		if (isalnum((unsigned char)*p) || strchr("-._~", *p))
			buf_addc(out, *p);
		else
			buf_addf(out, "%%%02X", (unsigned char)*p);
	}
	fill_path(out, at + 7, model);
}

static const char *choose_path(const struct stream *s)
{
	if (!s->conf.no_stream && s->p.path_stream)
		return s->p.path_stream;
	if (s->p.path)
		return s->p.path;
	return !s->conf.no_stream && s->wire->path_stream ? s->wire->path_stream : s->wire->path;
}

/* Servers that speak Ollama's own wire as well as OpenAI's have the one beside the other's /v1. */
static char *base_for(const char *base, const char *path)
{
	size_t n = strlen(base);

	while (n && base[n - 1] == '/')
		n--;
	if (strncmp(path, "/api/", 5) == 0 && n > 3 && strncmp(base + n - 3, "/v1", 3) == 0)
		n -= 3;
	return xstrndup(base, n);
}

static int find_url(struct stream *s, struct err *e)
{
	char *base;
	int bad;

	if (!*s->p.base_url && s->replaying)
		return 0;
	if (!*s->p.base_url && s->p.missing && strcmp(s->p.name, "custom") != 0)
		return err_set(e, ST_CONFIG, "the address of provider %s needs %s: set it, or give --base-url", s->p.name, s->p.missing);
	if (!*s->p.base_url)
		return err_set(e, ST_CONFIG, "provider %s has no address: give --base-url or set CLAWS_BASE_URL", s->p.name);
	fill_path(&s->path, choose_path(s), s->p.model);
	if (s->p.query)
		buf_addf(&s->path, "%c%s", strchr(s->path.p, '?') ? '&' : '?', s->p.query);
	base = base_for(s->p.base_url, s->path.p);
	bad = url_join(&s->url, base, s->path.p, e) < 0 || url_parse(s->url.p, &s->target, e) < 0;
	free(base);
	return bad ? err_wrap(e, "base URL of %s", s->p.name) : 0;
}

/* Members of "extra" that hold keys go into the body. */
static void secrets_of_extra(struct secrets *list, const char *extra)
{
	char *text = xasprintf("{%s}", extra);
	struct json j = JSON_INIT;

	if (json_parse(&j, text, strlen(text), NULL) == 0)
		for (struct json_iter it = json_iter(&j, 0); json_next(&it);) {
			char *name = json_dup(&j, it.key), *value = json_dup(&j, it.value);

			if (name && value && strlen(value) >= SECRET_LEAST && secret_name(name, strlen(name)))
				secrets_add(list, value);
			free(name);
			free(value);
		}
	json_free(&j);
	free(text);
}

/* What the request carries beside the key that is to be seen by nobody else. Returns how much that is. */
static size_t find_secrets(struct stream *s)
{
	struct secrets own = SECRETS_INIT;
	size_t n;

	for (size_t i = 0; i < s->p.secrets.n; i++)
		secrets_add(&own, s->p.secrets.v[i]);
	if (s->url.len)
		secrets_of_url(&own, s->url.p);
	for (char **h = s->p.headers; h && *h; h++)
		secrets_of_header(&own, *h);
	if (s->p.extra)
		secrets_of_extra(&own, s->p.extra);
	for (size_t i = 0; i < own.n; i++)
		secrets_add(&s->secrets, own.v[i]);
	n = own.n;
	secrets_free(&own);
	secrets_add(&s->secrets, s->key);
	return n;
}

/* CLAWS_API_KEY is for one provider: a fallback of another one needs its own. */
static bool others_key(struct stream *s)
{
	if (!s->key_from || strcmp(s->key_from, "CLAWS_API_KEY"))
		return false;
	if (!s->general_for)
		s->general_for = xstrdup(s->p.name);
	return strcmp(s->general_for, s->p.name) != 0;
}

static void drop_key(struct stream *s)
{
	if (s->key)
		explicit_bzero(s->key, strlen(s->key));
	free(s->key);
	free(s->key_from);
	s->key = s->key_from = NULL;
}

static int no_key(const struct stream *s, const char *of, struct err *e)
{
	const char *name = s->p.key_env[0] ? s->p.key_env[0] : "its key";

	if (of)
		return err_set(e, ST_CONFIG, "no key for %s: set %s; the one in CLAWS_API_KEY is of %s and is not sent to another",
			s->p.name, name, of);
	return err_set(e, ST_CONFIG, "no key for %s: set %s or CLAWS_API_KEY", s->p.name, name);
}

static int find_key(struct stream *s, struct err *e)
{
	bool wanted = !s->conf.dry_run && !s->replaying && !s->conf.explain;
	int aws = auth_aws(s, e);
	const char *of = s->p.general_of;
	size_t more;

	if ((aws < 0 && wanted) || (aws <= 0 && provider_key(&s->p, wanted, &s->key, &s->key_from, e) < 0))
		return -1;
	if (aws > 0)
		s->key_from = xstrdup("AWS_SECRET_ACCESS_KEY");
	if (others_key(s)) {
		drop_key(s);
		of = s->general_for;
	}
	more = find_secrets(s);
	if (!s->key && !s->p.key_optional && wanted)
		return no_key(s, of, e);
	if (!s->key && !more)
		return 0;
	/* nobody else of this user may read it out of this process */
	prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (!s->target.tls && !url_loopback(&s->target) && s->url.len && !s->replaying)
		return err_set(e, ST_CONFIG, "the key in %s is not sent to %s: plain http goes to this machine only; "
			"use https", s->key_from ? s->key_from : "the address or the row", s->target.host);
	return 0;
}

static void header(struct stream *s, const char *line)
{
	if (s->nheader == HEADERS - 1)
		die(ST_BUG, "too many headers");
	s->header[s->nheader++] = xstrdup(line);
}

static void make_headers(struct stream *s)
{
	const char *auth = *s->p.auth ? s->p.auth : s->wire->auth;

	header(s, "content-type: application/json");
	header(s, s->conf.no_stream ? "accept: application/json" : s->wire->accept ? s->wire->accept : "accept: text/event-stream");
	header(s, "user-agent: claws/" CLAWS_VERSION);
	if (s->wire->headers)
		header(s, s->wire->headers);
	for (char **h = s->p.headers; h && *h; h++)
		header(s, *h);
	if (s->aws)
		auth_header(s);
	if (s->aws || !s->key)
		return;
	s->header[s->nheader++] = !strcmp(auth, "bearer") || !strcmp(auth, "sigv4") ? xasprintf("authorization: Bearer %s", s->key)
	                                                  : xasprintf("%s: %s", auth, s->key);
	s->auth = s->nheader;
}

#define ANSWER_ROOM 8192     /* tokens beside a budget for thoughts */

/* A limit that the user gave stands. The provider's own makes room for thoughts. Neither is more than the model is known to have:
 * it would refuse the request. */
static int64_t token_limit(const struct stream *s)
{
	int64_t max = s->p.max_tokens, budget = s->thinking >= 0 ? s->thinking : effort_budget(s->effort);

	if (s->conf.max_tokens)
		return provider_max_tokens(&s->p, s->conf.max_tokens);
	if (max > 0 && budget > 0 && max < budget + ANSWER_ROOM && (s->p.style == STYLE_BUDGET || s->p.style == STYLE_WIRE))
		max = s->p.max_output > 0 && s->p.max_output < budget + ANSWER_ROOM ? s->p.max_output : budget + ANSWER_ROOM;
	return max > 0 ? provider_max_tokens(&s->p, max) : 0;
}

/* The same for all calls of a session, and nothing of the user's: a digest of its log's name. */
static void find_session(struct stream *s)
{
	const char *log = env("CLAWS_SESSION");
	char digest[SHA256_HEX];

	if (!log)
		return;
	sha256_hex(digest, log, strlen(log));
	s->session = xasprintf("claws-%.24s", digest);
}

void setup_notice(struct stream *s)
{
	if (s->no_effort_said || s->p.style != STYLE_NONE || effort_wanted(&s->options) == EFFORT_UNSAID)
		return;
	s->no_effort_said = true;
	stage_notice(&s->st, "how hard %s thinks cannot be chosen: %s is left out", s->maker,
		s->thinking >= 0 ? "--thinking" : s->conf.effort ? "--effort" : "CLAWS_EFFORT");
}

static void make_options(struct stream *s)
{
	s->options = (struct call_options){
		.model = s->p.model,
		.max_tokens = token_limit(s),
		.temperature = s->conf.temperature,
		.thinking = s->thinking,
		.effort = s->effort,
		.stream = !s->conf.no_stream,
		.cache = s->p.cache == CACHE_MARKS,
		.style = s->p.style,
		.effort_words = (const char *const *)s->p.effort_words,
		.quirks = s->p.quirks,
		.session = s->session,
		.context = s->p.context,
		.extra = s->p.extra,
	};
	s->wanted = s->options;
}

void setup_secrets(struct stream *s)
{
	s->names.key = s->recorder.key = s->key;
	s->names.secrets = s->recorder.secrets = secrets_list(&s->secrets);
}

void setup_mask(const struct stream *s, struct buf *out, const char *text, size_t n)
{
	record_mask_all(out, text, n, s->key, secrets_list(&s->secrets));
}

/* A replay says how the model is asked, so it comes before all else; a recording must know the key. */
static int open_replay(struct stream *s, struct err *e)
{
	if (!s->conf.record && !s->conf.replay)
		return 0;
	s->cwd = getcwd(NULL, 0);
	s->names = (struct record_names){.cwd = s->cwd, .home = env("HOME")};
	return s->replaying ? replay_open(&s->replay, s->conf.replay, &s->names, e) : 0;
}

static int open_record(struct stream *s, struct err *e)
{
	if (s->conf.record) {
		recording_secrets(s);
		if (recorder_open(&s->recorder, s->conf.record, s->key, e) < 0)
			return -1;
		s->recording = true;
	}
	setup_secrets(s);
	return 0;
}

int setup_route(struct stream *s, struct err *e)
{
	bool no_stream = s->conf.no_stream;
	int bad;

	buf_init(&s->url, 8192);
	buf_init(&s->path, 4096);
	bad = s->replaying ? recording_read(s, e) : 0;
	bad = bad < 0 || (!bad && (find_provider(s, e) < 0 || find_url(s, e) < 0 || find_key(s, e) < 0));
	if (!bad) {
		make_options(s);
		make_headers(s);
	}
	s->conf.no_stream = no_stream;        /* the quirk of one model is not that of the next */
	return bad ? -1 : 0;
}

void setup_route_free(struct stream *s)
{
	for (size_t i = 0; i < s->nheader; i++) {
		explicit_bzero(s->header[i], strlen(s->header[i]));
		free(s->header[i]);
	}
	drop_key(s);
	auth_free(s);
	free(s->maker);
	buf_free(&s->url);
	buf_free(&s->path);
	provider_free(&s->p);
}

/* How long connections are kept for other runs: 0, not at all. */
static int find_persist(long *ms, struct err *e)
{
	const char *v = env("CLAWS_CONTROL_PERSIST");

	*ms = v && strcmp(v, "no") ? opt_time(v) : 0;
	return *ms >= 0 ? 0 : err_set(e, ST_CONFIG, "CLAWS_CONTROL_PERSIST is '%s': expected seconds or a time such as 5m, or no", v);
}

int setup(struct stream *s, struct err *e)
{
	long persist;

	s->replaying = s->conf.replay != NULL;
	find_session(s);
	if (check_options(s, e) < 0 || find_effort(s, e) < 0 || open_replay(s, e) < 0 || setup_route(s, e) < 0)
		return -1;
	s->ca_file = env("CURL_CA_BUNDLE");   /* what curl(1) itself obeys; libcurl does not */
	if (!s->ca_file)
		s->ca_file = env("SSL_CERT_FILE");
	if (open_record(s, e) < 0)
		return -1;
	if (!s->replaying && !s->conf.dry_run && !s->conf.explain) {
		if (find_persist(&persist, e) < 0 || http_init(&s->http, persist, e) < 0)
			return -1;
		s->net = true;
	}
	return 0;
}

void setup_free(struct stream *s)
{
	if (s->net)
		http_free(&s->http);
	recording_mask(s);
	if (s->recording)
		recorder_close(&s->recorder);
	if (s->replay.name)
		replay_close(&s->replay);
	free(s->session);
	secrets_free(&s->secrets);
	free(s->general_for);
	free(s->cwd);
}

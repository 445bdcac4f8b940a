/* Names and the manifests that `claws tool add` writes; what is wrong with a file is tested through claws-tool. */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/manifest.h"

static int heard;

static void hear(void *arg, const char *text)
{
	(void)arg;
	heard++;
	printf("# %s\n", text);
}

static const char *write_error(const char *param)
{
	static char text[1100];
	const char *params[] = {param}, *argv[] = {"/bin/true"};
	struct err e = ERR_INIT;
	struct buf b;
	int rc;

	buf_init(&b, MANIFEST_SIZE_MAX);
	rc = manifest_write(&b, "X", "d", params, 1, argv, 1, &e);
	snprintf(text, sizeof text, "%s", rc == 0 ? "ok" : e.text);
	buf_free(&b);
	return text;
}

static void round_trip(void)
{
	const char *params[] = {"file:string", "n:int?", "on:bool:whether: or not"}, *argv[] = {"/bin/sh", "-c", "a \"b\""};
	char dir[] = "/tmp/claws-manifest.XXXXXX", file[100];
	struct manifests m = MANIFESTS_INIT;
	const struct manifest *t;
	struct buf b, offer;
	struct jw w;
	FILE *f;

	buf_init(&b, MANIFEST_SIZE_MAX);
	buf_init(&offer, 4096);
	OK(manifest_write(&b, "Lines", "Count \"them\"", params, 3, argv, 3, NULL) == 0, "a manifest is written");
	if (!mkdtemp(dir))
		return;
	snprintf(file, sizeof file, "%s/Lines.json", dir);
	f = fopen(file, "w");
	fwrite(b.p, 1, b.len, f);
	fclose(f);
	manifests_load(&m, NULL, dir, hear, NULL);
	t = manifests_find(&m, "Lines");
	OK(m.n == 1 && !heard && t, "and read back");
	if (t) {
		OK(!t->builtin && !t->read_only && !t->concurrent_safe && t->timeout_ms == 1000L * MANIFEST_TIMEOUT_S, "its flags");
		IS(t->exec[2], "a \"b\"", "its arguments");
		OK(!t->exec[3], "and no more");
		w = jw_begin(&offer);
		manifest_offer(t, &w);
		IS(offer.p, "{\"name\":\"Lines\",\"description\":\"Count \\\"them\\\"\",\"input_schema\":{\"type\":\"object\",\"properties\":"
		            "{\"file\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"on\":{\"type\":\"boolean\",\"description\":"
		            "\"whether: or not\"}},\"required\":[\"file\",\"on\"],\"additionalProperties\":false}}", "what the model gets");
	}
	OK(!manifests_find(&m, "lines"), "names have a case");
	manifests_free(&m);
	unlink(file);
	rmdir(dir);
	buf_free(&b);
	buf_free(&offer);
}

int main(void)
{
	static const char *const good[] = {"A", "Read", "a-b_c9", "mcp__x__y"}, *const bad[] = {"", "9a", "_a", "-a", "a b", "a/b", "a.b",
		"../x", "a\n", "\xc3\xa4"};
	char longest[MANIFEST_NAME_MAX + 2];

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		OK(manifest_name_ok(good[i]), "a name: %s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		OK(!manifest_name_ok(bad[i]), "no name, %zu", i);
	memset(longest, 'a', sizeof longest);
	longest[MANIFEST_NAME_MAX + 1] = 0;
	OK(!manifest_name_ok(longest), "65 letters are too many");
	longest[MANIFEST_NAME_MAX] = 0;
	OK(manifest_name_ok(longest), "64 are not");
	IS(write_error("a:string"), "ok", "a parameter");
	OK(strstr(write_error("a"), "after the colon"), "without a type");
	OK(strstr(write_error("a:file"), "after the colon"), "with another type");
	OK(strstr(write_error("a b:string"), "expected NAME:TYPE"), "with a bad name");
	OK(strstr(write_error(":string"), "expected NAME:TYPE"), "without a name");
	round_trip();
	return END();
}

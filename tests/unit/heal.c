/* heal.h: random damaged histories become legal ones; legal ones stay as they are. */
#include "tap.h"

#include <stdlib.h>

#include "agent/heal.h"
#include "agent/heal_line.h"

static unsigned long long seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static void add(struct heal *h, const char *line)
{
	struct json j = JSON_INIT;
	struct err e = ERR_INIT;

	if (json_parse(&j, line, strlen(line), &e) < 0) {
		printf("# %s: %s\n", e.text, line);
		abort();
	}
	heal_add(h, &j);
	json_free(&j);
}

static void add_all(struct heal *h, const char *lines)
{
	char *copy = strdup(lines), *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		add(h, l);
	free(copy);
}

static void dump_from(const struct heal *h, size_t from, struct buf *out)
{
	for (size_t g = from; g < h->n; g++) {
		buf_addf(out, "%s\n", h->g[g]->msg.line);
		for (size_t c = 0; c < h->g[g]->ncalls; c++)
			buf_addf(out, "%s\n", h->g[g]->calls[c].result.line);
	}
}

static char *heal(const char *lines)
{
	struct heal h;
	struct buf out;

	heal_init(&h);
	buf_init(&out, BUF_NOLIMIT);
	add_all(&h, lines);
	heal_settle(&h);
	dump_from(&h, 0, &out);
	heal_free(&h);
	return buf_detach(&out);
}

/* ---- what providers demand, written anew: NULL, or what is wrong ---- */

struct judge {
	char *ids[4096], *open[64];
	int nids, nopen, at;
	bool any, after_text;
};

static const char *judge_call(struct judge *g, const struct json *j, int v)
{
	char *id = json_dup(j, json_get(j, v, "id")), *name = json_dup(j, json_get(j, v, "name"));
	enum json_type in = json_type(j, json_get(j, v, "input"));

	if (!id || !*id)
		return "a call without id";
	for (int i = 0; i < g->nids; i++)
		if (!strcmp(g->ids[i], id))
			return "an id twice";
	if (!name || !*name || strlen(name) > 64 || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")])
		return "a bad name";
	if (in != JSON_OBJECT && in != JSON_STRING)
		return "a bad input";
	g->ids[g->nids++] = id;
	g->open[g->nopen++] = id;
	free(name);
	return NULL;
}

static const char *judge_line(struct judge *g, const struct json *j)
{
	enum msg_kind k = msg_kind(j);
	const char *bad = NULL;
	char *id;

	static struct err e;
	err_clear(&e);
	if (msg_check(j, &e) < 0)
		return e.text;
	if (!g->any && k != MSG_USER)
		return "does not begin with user";
	g->any = true;
	if (k == MSG_TOOL) {
		id = json_dup(j, json_get(j, 0, "tool_call_id"));
		bad = g->at >= g->nopen ? "a result without call" : strcmp(id, g->open[g->at]) ? "a result out of order" : NULL;
		g->at++;
		free(id);
		return bad;
	}
	if (g->at < g->nopen)
		return "a call without result";
	g->nopen = g->at = 0;
	if (k == MSG_USER)
		return line_has_text(j) || line_images(j) ? NULL : "an empty user message";
	int calls = json_get(j, 0, "tool_calls");
	for (struct json_iter it = json_iter(j, calls); json_next(&it) && !bad;)
		bad = judge_call(g, j, it.value);
	if (!bad && !line_has_text(j) && !g->nopen && !json_eq(j, json_get(j, 0, "stop_reason"), "pause"))
		bad = "an empty assistant message";
	return bad;
}

static const char *judge(const char *lines)
{
	static struct judge g;
	struct json j = JSON_INIT;
	const char *bad = NULL;
	char *copy = strdup(lines), *save = NULL;

	memset(&g, 0, sizeof g);
	for (char *l = strtok_r(copy, "\n", &save); l && !bad; l = strtok_r(NULL, "\n", &save))
		bad = json_parse(&j, l, strlen(l), NULL) < 0 ? "not JSON" : judge_line(&g, &j);
	if (!bad && g.at < g.nopen)
		bad = "a call without result at the end";
	if (!bad && g.any && msg_kind(&j) == MSG_ASSISTANT && !json_eq(&j, json_get(&j, 0, "stop_reason"), "pause")) {
		char *text = json_dup(&j, json_get(&j, 0, "content"));
		size_t n = strlen(text);
		bad = n && strchr(" \n\t", text[n - 1]) ? "white space at the end" : NULL;
		free(text);
	}
	for (int i = 0; i < g.nids; i++)
		free(g.ids[i]);
	json_free(&j);
	free(copy);
	return bad;
}

/* ---- random histories ---- */

static const char *const texts[] = {"\"hello\"", "\"\"", "\"  \\n\"", "null", "\"tail \\n \"", "\"\\u00a0\"", "[{\"type\":\"text\"}]", "\"\u00e9\u3000\""};
static const char *const ids[] = {"\"a\"", "\"b\"", "\"call_0\"", "\"\"", "null", "7", "\"a_2\"", "\"functions.x:0\""};
static const char *const names[] = {"\"Read\"", "\"Ba sh\"", "\"\"", "null", "\"mcp__a__b\"", "\"\u00fc\""};
static const char *const inputs[] = {"{}", "{\"x\":1}", "null", "[1]", "\"{\\\"pa\"", "3"};
#define BLOB "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PICK(a) (a)[rnd(sizeof (a) / sizeof *(a))]

static void random_call(struct buf *b)
{
	switch (rnd(12)) {
	case 0:
		buf_adds(b, "null");
		break;
	case 1:
		buf_adds(b, "{}");
		break;
	default:
		buf_addf(b, "{\"id\":%s,\"name\":%s,\"input\":%s,\"extra_content\":{\"s\":%u}}", PICK(ids), PICK(names), PICK(inputs), rnd(9));
	}
}

static void random_line(struct buf *b, int i)
{
	switch (rnd(8)) {
	case 0:
	case 1:
		buf_addf(b, "{\"role\":\"user\",\"content\":%s,\"id\":\"u%d\"%s}\n", PICK(texts), i, rnd(4) ? "" : ",\"images\":[{\"media_type\":\"image/png\",\"blob\":\"sha256:" BLOB "\"}]");
		break;
	case 2:
	case 3:
	case 4:
		buf_addf(b, "{\"role\":\"assistant\",\"content\":%s,\"id\":\"m%d\"", PICK(texts), i);
		if (rnd(4) == 0)
			buf_addf(b, ",\"blocks\":[{\"b\":%u}],\"stop_reason\":\"%s\"", rnd(9), rnd(2) ? "pause" : "end_turn");
		if (rnd(3)) {
			buf_adds(b, ",\"tool_calls\":");
			unsigned n = rnd(4);
			if (rnd(9) == 0) {
				buf_adds(b, "null");
			} else {
				buf_adds(b, "[");
				for (unsigned k = 0; k < n; k++) {
					buf_adds(b, k ? "," : "");
					random_call(b);
				}
				buf_adds(b, "]");
			}
		}
		buf_adds(b, "}\n");
		break;
	default:
		buf_addf(b, "{\"role\":\"tool\",\"tool_call_id\":%s,\"content\":%s,\"id\":\"t%d\"}\n", PICK(ids), PICK(texts), i);
	}
}

static void fuzz(void)
{
	int bad = 0, again = 0, turns = 0, kept = 0;

	for (int round = 0; round < 3000; round++) {
		struct buf in;
		seed = (unsigned long long)round + 1;
		buf_init(&in, BUF_NOLIMIT);
		for (int n = (int)rnd(24), i = 0; i < n; i++)
			random_line(&in, i);
		char *out = heal(in.p), *twice = heal(out);
		const char *why = judge(out);
		if (why && !bad++)
			printf("# seed %d: %s\n# in:\n%s# out:\n%s", round + 1, why, in.p, out);
		if (strcmp(out, twice) && !again++)
			printf("# seed %d: twice:\n%s# once:\n%s", round + 1, twice, out);
		kept += strlen(out) > 0;
		/* The same lines with turns between them: what has gone out never changes, and all of it is legal at every turn. */
		struct heal h;
		struct buf sent;
		heal_init(&h);
		buf_init(&sent, BUF_NOLIMIT);
		size_t passed = 0;
		char *save = NULL;
		for (char *l = strtok_r(in.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
			add(&h, l);
			if (rnd(3))
				continue;
			struct buf all;
			buf_init(&all, BUF_NOLIMIT);
			heal_settle(&h);
			dump_from(&h, passed, &sent);
			dump_from(&h, 0, &all);
			passed = h.n;
			turns += strcmp(sent.p, all.p) != 0 || judge(all.p);
			buf_free(&all);
		}
		heal_free(&h);
		buf_free(&sent);
		buf_free(&in);
		free(out);
		free(twice);
	}
	OK(kept > 2500, "the random histories are not all empty (%d)", kept);
	OK(bad == 0, "3000 random histories become legal (%d do not)", bad);
	OK(again == 0, "healing a healed history changes nothing (%d)", again);
	OK(turns == 0, "the same holds turn by turn, and what was sent stays (%d)", turns);
}

#define U "{\"role\":\"user\",\"content\":\"q\"}\n"
#define A1 "{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"R\",\"input\":{ \"n\":1e2 }}], \"other\":12345678901234567890}\n"
#define T1 "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\\u00e9\"}\n"

static void cases(void)
{
	struct heal h;
	char *s;

	s = heal(U A1 T1 "{\"role\":\"assistant\",\"content\":\"done\"}\n" U);
	IS(s, U A1 T1 "{\"role\":\"assistant\",\"content\":\"done\"}\n" U, "a legal history keeps its bytes");
	free(s);

	s = heal(U A1 U T1);
	IS(s, U A1 T1 U, "a late result goes back to its call");
	free(s);

	s = heal(U A1 U);
	IS(s, U A1 "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"interrupted: no result was recorded\",\"is_error\":true,\"origin\":\"claws\"}\n" U,
	   "a call without result is closed before the next message");
	free(s);

	s = heal(U A1 T1 A1 T1);
	OK(strstr(s, "\"id\":\"a_2\"") && strstr(s, "\"tool_call_id\":\"a_2\"") && !judge(s), "an id used again gets a name of its own on both sides");
	free(s);

	s = heal(U "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"name\":\"R\",\"input\":{}}]}\n{\"role\":\"tool\",\"tool_call_id\":null,\"content\":\"r\"}\n");
	OK(strstr(s, "\"tool_call_id\":\"call_1\",\"content\":\"r\"") && !judge(s), "a missing id is given to both sides");
	free(s);

	s = heal(U "{\"role\":\"assistant\",\"content\":\"x\",\"blocks\":[1],\"tool_calls\":[{\"id\":\"a\",\"name\":\"R\",\"input\":{}},{\"id\":\"a\",\"name\":\"R\",\"input\":{}}]}\n");
	OK(!strstr(s, "blocks"), "blocks that name calls by their old ids go");
	free(s);

	s = heal(U "{\"role\":\"assistant\",\"content\":\"\",\"blocks\":[1],\"stop_reason\":\"pause\"}\n");
	OK(strstr(s, "pause") != NULL, "a pause is kept although it has no text");
	free(s);

	s = heal("");
	IS(s, "", "nothing stays nothing");
	free(s);

	heal_init(&h);
	add_all(&h, U A1 T1 T1);
	struct buf words;
	buf_init(&words, 4096);
	OK(h.messages == 3 && h.tokens > 0 && heal_told(&h, &words), "messages are counted");
	IS(words.p, "1 second result of a call left out", "what was mended is said");
	OK(!heal_told(&h, &words), "and only once");
	heal_forget(&h);
	OK(h.n == 0 && h.messages == 0 && h.tokens == 0, "forgetting leaves nothing");
	add_all(&h, U A1 T1);
	heal_settle(&h);
	OK(h.messages == 3, "and the conversation can begin anew");
	buf_free(&words);
	heal_free(&h);
}

/* One id a hundred thousand times: linear, not quadratic. */
static void hostile(void)
{
	enum { N = 100000 };
	struct buf in;
	struct heal h;

	buf_init(&in, BUF_NOLIMIT);
	buf_adds(&in, "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[");
	for (int i = 0; i < N; i++)
		buf_addf(&in, "%s{\"id\":\"x\",\"name\":\"R\",\"input\":{}}", i ? "," : "");
	buf_adds(&in, "]}");
	heal_init(&h);
	add(&h, in.p);
	for (int i = 0; i < N / 2; i++)
		add(&h, "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"r\"}");
	heal_settle(&h);
	OK(h.messages == N + 2 && h.report.closed == N / 2, "a hundred thousand calls of one id are told apart");
	heal_free(&h);
	buf_free(&in);
}

int main(void)
{
	cases();
	fuzz();
	hostile();
	return END();
}

/* snip.h, snip_plan.h: shortened conversations are legal, keep what they must, and come out the same from the log. */
#include "tap.h"

#include <stdlib.h>

#include "agent/snip.h"
#include "agent/snip_plan.h"

static unsigned long long seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static void text_cases(void)
{
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	OK(!snip_text(&b, "0123456789", 10, 10), "what fits stays");
	IS(b.p, "0123456789", "whole");
	buf_clear(&b);
	OK(snip_text(&b, "abcdefghijklmnopqrst", 20, 12), "what does not is cut");
	IS(b.p, "abcdef\n[... 11 characters snipped ...]\nrst", "half, how much, a quarter");
	buf_clear(&b);
	snip_text(&b, "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 12, 6);
	IS(b.p, "\u00e4\n[... 5 characters snipped ...]\n", "between characters");
	buf_free(&b);
}

static void line_case(const char *in, size_t limit, const char *want, const char *name)
{
	struct json j = JSON_INIT;
	struct buf b;

	buf_init(&b, BUF_NOLIMIT);
	json_parse(&j, in, strlen(in), NULL);
	bool some = snip_line(&b, &j, limit);
	IS(b.p, want ? want : "", "%s", name);
	OK(some == (want != NULL), "and says so");
	json_free(&j);
	buf_free(&b);
}

static void line_cases(void)
{
	line_case("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"short\"}", 8, NULL, "a short result stays");
	line_case("{\"role\":\"tool\",\"id\":\"t\",\"content\":\"abcdefghijkl\",\"tool_call_id\":\"a\"}", 8,
	          "{\"role\":\"tool\",\"id\":\"t\",\"content\":\"abcd\\n[... 6 characters snipped ...]\\nkl\",\"tool_call_id\":\"a\"}",
	          "a long result is cut, the rest stays");
	line_case("{\"role\":\"user\",\"content\":\"see\",\"images\":[{},{}]}", 8, "{\"role\":\"user\",\"content\":\"see\\n[2 images left out]\"}",
	          "images go");
	line_case("{\"role\":\"assistant\",\"content\":\"\",\"blocks\":[1],\"tool_calls\":[{\"id\":\"a\",\"name\":\"W\",\"input\":{\"t\":\"abcdefghijkl\",\"n\":1}}]}", 8,
	          "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"W\",\"input\":{\"t\":\"abcd\\n[... 6 characters snipped ...]\\nkl\",\"n\":1}}]}",
	          "the strings of a call's input are cut, the blocks go");
}

static void add(struct heal *h, const char *line)
{
	struct json j = JSON_INIT;

	if (json_parse(&j, line, strlen(line), NULL) < 0)
		abort();
	if (msg_kind(&j) == MSG_COMPACTION) {
		heal_settle(h);
		snip_again(h, &j);
	} else {
		heal_add(h, &j);
	}
	json_free(&j);
}

static void add_all(struct heal *h, const char *lines)
{
	char *copy = strdup(lines), *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		add(h, l);
	free(copy);
	heal_settle(h);
}

static char *dump(const struct heal *h)
{
	struct buf out;

	buf_init(&out, BUF_NOLIMIT);
	for (size_t g = 0; g < h->n; g++) {
		buf_addf(&out, "%s\n", h->g[g]->msg.line);
		for (size_t c = 0; c < h->g[g]->ncalls; c++)
			buf_addf(&out, "%s\n", h->g[g]->calls[c].result.line);
	}
	return buf_detach(&out);
}

static bool legal(const char *lines)
{
	struct heal h;
	bool same;

	heal_init(&h);
	add_all(&h, lines);
	char *out = dump(&h);
	same = !strcmp(out, lines);
	free(out);
	heal_free(&h);
	return same;
}

static uint64_t shown(void *arg, uint64_t n)
{
	(void)arg;
	return n;
}

/* A turn: a prompt, some steps with calls, an answer; sizes, missing and shared ids at random. */
static void random_turn(struct buf *b, int *n)
{
	static char filler[20001];

	memset(filler, 'x', sizeof filler - 1);
	buf_addf(b, "{\"role\":\"user\",\"content\":\"prompt %d %.*s\"", *n, (int)rnd(rnd(9) ? 50 : 9000), filler);
	if (rnd(5))
		buf_addf(b, ",\"id\":\"u%d\"", rnd(6) ? *n : 1);
	buf_adds(b, "}\n");
	for (unsigned steps = rnd(5); steps > 0; steps--) {
		unsigned calls = 1 + rnd(3);
		buf_addf(b, "{\"role\":\"assistant\",\"content\":\"s\",\"id\":\"a%d\",\"tool_calls\":[", ++*n);
		for (unsigned c = 0; c < calls; c++)
			buf_addf(b, "%s{\"id\":\"c%d_%u\",\"name\":\"R\",\"input\":{\"t\":\"%.*s\"}}", c ? "," : "", *n, c, (int)rnd(rnd(5) ? 20 : 6000), filler);
		buf_adds(b, "]}\n");
		for (unsigned c = 0; c < calls; c++) {
			buf_addf(b, "{\"role\":\"tool\",\"tool_call_id\":\"c%d_%u\",\"content\":\"%.*s\"", *n, c, (int)rnd(rnd(2) ? 100 : 20000), filler);
			if (rnd(4))
				buf_addf(b, ",\"id\":\"t%d_%u\"", *n, c);
			buf_adds(b, "}\n");
		}
	}
	buf_addf(b, "{\"role\":\"assistant\",\"content\":\"answer\",\"id\":\"b%d\"}\n", ++*n);
}

static void fuzz(void)
{
	int illegal = 0, differ = 0, longer = 0, lost = 0, shorter = 0, over = 0;

	for (int round = 0; round < 300; round++) {
		struct buf log, lines;
		struct heal h, again;
		int n = 0;
		seed = (unsigned long long)round + 1;
		buf_init(&log, BUF_NOLIMIT);
		buf_init(&lines, BUF_NOLIMIT);
		heal_init(&h);
		heal_init(&again);
		/* Several times over: it grows, is made shorter, grows on. */
		for (int k = 0; k < 3; k++) {
			struct buf more;
			buf_init(&more, BUF_NOLIMIT);
			for (unsigned t = 1 + rnd(6); t > 0; t--)
				random_turn(&more, &n);
			buf_addf(&more, "{\"role\":\"user\",\"content\":\"last prompt %d\",\"id\":\"p%d\"}\n", k, k);
			add_all(&h, more.p);
			buf_add(&log, more.p, more.len);
			uint64_t before = h.tokens, most = 300 + rnd(20000);
			struct snip_want want = {most / 2, most, shown, NULL};
			buf_clear(&lines);
			bool some = snip_fit(&h, &want, &lines);
			buf_add(&log, lines.p, lines.len);
			shorter += some;
			longer += h.tokens > before + 40;
			over += h.tokens > most + 1500;
			char *out = dump(&h), last[64];
			snprintf(last, sizeof last, "last prompt %d", k);
			illegal += !legal(out);
			lost += !strstr(out, last) || strncmp(strstr(out, "\"content\":\""), "\"content\":\"prompt 0 ", 20);
			free(out);
			buf_free(&more);
		}
		add_all(&again, log.p);
		char *a = dump(&h), *b = dump(&again);
		if (strcmp(a, b) && !differ++)
			printf("# seed %d\n", round + 1);
		free(a);
		free(b);
		heal_free(&h);
		heal_free(&again);
		buf_free(&log);
		buf_free(&lines);
	}
	OK(shorter > 500, "most rounds had something to do (%d)", shorter);
	OK(illegal == 0, "what was shortened is legal (%d are not)", illegal);
	OK(lost == 0, "the first and the last prompt stay (%d lost)", lost);
	OK(longer == 0, "nothing gets longer (%d)", longer);
	OK(over == 0, "it fits, or nearly where the frame alone is too big (%d do not)", over);
	OK(differ == 0, "the compaction lines bring the same conversation back from the log (%d differ)", differ);
}

/* One prompt, many steps: there is no other prompt to cut at. */
static void one_turn(void)
{
	struct heal h;
	struct buf in, lines;

	buf_init(&in, BUF_NOLIMIT);
	buf_init(&lines, BUF_NOLIMIT);
	buf_adds(&in, "{\"role\":\"user\",\"content\":\"task\",\"id\":\"u\"}\n");
	for (int i = 0; i < 200; i++)
		buf_addf(&in, "{\"role\":\"assistant\",\"content\":\"\",\"id\":\"a%d\",\"tool_calls\":[{\"id\":\"c%d\",\"name\":\"R\",\"input\":{}}]}\n"
		         "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"%0900d\",\"id\":\"t%d\"}\n", i, i, i, 7, i);
	heal_init(&h);
	add_all(&h, in.p);
	struct snip_want want = {10000, 20000, shown, NULL};
	bool some = snip_fit(&h, &want, &lines);
	OK(some && h.tokens <= 10100, "a single long turn gets shorter (%llu tokens)", (unsigned long long)h.tokens);
	char *out = dump(&h);
	OK(legal(out) && strstr(out, "\"task\"") && strstr(out, "\"c199\"") && !strstr(out, "\"c0\""), "its oldest steps go, prompt and newest steps stay");
	OK(strstr(out, "earlier messages were left out") != NULL, "and it says so");
	OK(strstr(lines.p, "\"kept\":[\"u\"],\"dropped\":\"t") != NULL, "the line names them");
	free(out);
	heal_free(&h);
	buf_free(&in);
	buf_free(&lines);
}

int main(void)
{
	text_cases();
	line_cases();
	one_turn();
	fuzz();
	return END();
}

/* JSON texts that are made to cost: keys that all have the same hash, and more values than a caller allows. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "json/json.h"
#include "tap.h"

#define PRIME 16777619u
#define TABLE (1u << 21)
#define KEYS 40000

/* FNV-1a can be run backwards: three bytes from the end and three from a beginning meet. */
static uint32_t inverse(void)
{
	uint32_t x = PRIME;

	for (int i = 0; i < 5; i++)
		x *= 2 - PRIME * x;
	return x;
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ !#$%&()*+,./:;<=>?@[]^{|}~";

struct end {
	uint32_t state;
	char text[4];
};

static void ends(struct end *table, uint32_t target)
{
	size_t n = strlen(letters);
	uint32_t back = inverse();

	for (size_t i = 0; i < n * n * n; i++) {
		struct end e = {.text = {letters[i / n / n], letters[i / n % n], letters[i % n], 0}};
		uint32_t at;

		e.state = target;
		for (int k = 2; k >= 0; k--)
			e.state = (e.state * back) ^ (unsigned char)e.text[k];
		for (at = e.state % TABLE; *table[at].text; at = (at + 1) % TABLE)
			;
		table[at] = e;
	}
}

static size_t flood(struct buf *out, size_t want)
{
	struct end *table = calloc(TABLE, sizeof *table);
	size_t n = strlen(letters), made = 0;

	ends(table, 0x12345678u);
	for (unsigned round = 0; made < want; round++)
		for (size_t i = 0; i < n * n * n && made < want; i++) {
			char begin[16];
			uint32_t h = 2166136261u;

			snprintf(begin, sizeof begin, "%u%c%c%c", round, letters[i / n / n], letters[i / n % n], letters[i % n]);
			for (const char *s = begin; *s; s++)
				h = (h ^ (unsigned char)*s) * PRIME;
			for (uint32_t at = h % TABLE; *table[at].text && made < want; at = (at + 1) % TABLE)
				if (table[at].state == h) {
					buf_addf(out, "%s\"%s%s\":0", made ? "," : "", begin, table[at].text);
					made++;
				}
		}
	free(table);
	return made;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
	struct json j = JSON_INIT;
	struct buf text, twice;
	double before, plain;

	buf_init(&text, BUF_NOLIMIT);
	buf_init(&twice, BUF_NOLIMIT);
	buf_addf(&text, "{\"a\":1");
	for (int i = 0; i < KEYS; i++)
		buf_addf(&text, ",\"%08x\":0", (unsigned)i * 2654435761u);
	buf_addc(&text, '}');
	before = seconds();
	OK(json_parse(&j, text.p, text.len, NULL) == 0 && json_count(&j, 0) == KEYS + 1, "an object of many keys");
	plain = seconds() - before;

	buf_clear(&text);
	buf_addc(&text, '{');
	OK(flood(&text, KEYS) == KEYS, "as many that have one hash");
	buf_addc(&text, '}');
	before = seconds();
	OK(json_parse(&j, text.p, text.len, NULL) == 0 && json_count(&j, 0) == KEYS, "are read");
	before = seconds() - before;
	OK(before < 20 * plain + 0.3, "in about the same time (%.3f s, others %.3f s)", before, plain);

	/* the last one a second time, spelled another way */
	buf_add(&twice, text.p, text.len - 1);
	buf_addf(&twice, ",\"\\u00%02x%.*s", (unsigned char)text.p[2], (int)(strchr(text.p + 3, ':') - text.p - 3), text.p + 3);
	buf_adds(&twice, ":1}");
	OK(json_parse(&j, twice.p, twice.len, NULL) < 0 && j.fault == JSON_DUPLICATE, "and one that is there twice is still found");
	OK(j.fault_at > text.len - 2, "where it is there for the second time");
	buf_clear(&twice);
	buf_adds(&twice, "{\"a\":1,\"ab\":2,\"a b\":3,\"a!\":4,\"\":5,\"b\":6,\"c\":7,\"d\":8,\"e\":9,\"f\":10,\"a\\u0020b\":11}");
	OK(json_parse(&j, twice.p, twice.len, NULL) < 0 && j.fault == JSON_DUPLICATE, "few keys, one in two spellings");

	j.most = 100;
	buf_clear(&text);
	buf_addc(&text, '[');
	for (int i = 0; i < 99; i++)
		buf_addf(&text, "%s%d", i ? "," : "", i);
	buf_adds(&text, "]");
	OK(json_parse(&j, text.p, text.len, NULL) == 0, "as many values as are allowed");
	buf_truncate(&text, text.len - 1);
	buf_adds(&text, ",0]");
	OK(json_parse(&j, text.p, text.len, NULL) < 0 && j.fault == JSON_LONG, "one more");
	json_free(&j);
	buf_free(&text);
	buf_free(&twice);
	return END();
}

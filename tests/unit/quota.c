/* quota.c - amounts, accounts over several processes, torn lines, and fifty processes at once. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "llm/quota.h"
#include "tap.h"

static void amounts(void)
{
	static const struct { const char *text; int unit; int64_t n; } good[] = {
		{"$5", QUOTA_USD, 5 * QUOTA_DOLLAR}, {"5usd", QUOTA_USD, 5 * QUOTA_DOLLAR}, {"5$", QUOTA_USD, 5 * QUOTA_DOLLAR},
		{"$0.25", QUOTA_USD, QUOTA_DOLLAR / 4}, {"200k", QUOTA_TOKENS, 200000}, {"1.5m", QUOTA_TOKENS, 1500000},
		{"300", QUOTA_TOKENS, 300}};
	static const char *const bad[] = {"", "$", "k", "0", "-5", "$-1", "0$", "5x", "1.2.3k", "nan", "1e9", "$5k",
		"99999999999999999999", "9999999999999m", "usd", "."};
	enum quota_unit u;
	char out[32];
	int64_t n;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		OK(quota_parse(good[i].text, &u, &n, NULL) == 0 && (int)u == good[i].unit && n == good[i].n, "%s", good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		OK(quota_parse(bad[i], &u, &n, NULL) < 0, "\"%s\" is no budget", bad[i]);
	quota_format(out, sizeof out, QUOTA_USD, INT64_C(1830000000));
	IS(out, "$1.83", "dollars");
	quota_format(out, sizeof out, QUOTA_TOKENS, 124000);
	IS(out, "124k", "thousands");
	quota_format(out, sizeof out, QUOTA_TOKENS, 1500000);
	IS(out, "1.5m", "millions");
}

static int spend(struct quota *q, int64_t tokens, int *warn)
{
	int64_t spent[2] = {tokens, 0};
	char line[64];

	snprintf(line, sizeof line, "{\"tokens\":%lld,\"nanousd\":0}", (long long)tokens);
	return quota_settle(q, line, spent, warn, NULL);
}

static enum quota_say ask(struct quota *q, int64_t tokens, int64_t answer)
{
	int64_t in[2] = {tokens, 0}, out[2] = {answer, 0};
	struct quota_hit hit;

	return quota_reserve(q, in, out, &hit, NULL);
}

static void rules(void)
{
	struct quota q;
	int warn[2], fd;

	quota_open(&q, "quota-rules/a.ndjson");
	q.limit[QUOTA_TOKENS] = 1000;
	OK(ask(&q, 999, 0) == QUOTA_GO, "one less than the budget goes");
	OK(ask(&q, 1000, 0) == QUOTA_FULL, "the budget itself does not");
	OK(spend(&q, 799, warn) == 0 && !warn[0], "79.9 %%: no warning");
	OK(spend(&q, 1, warn) == 0 && warn[0] == 80, "80 %%");
	OK(spend(&q, 10, warn) == 0 && !warn[0], "once");
	OK(spend(&q, 140, warn) == 0 && warn[0] == 95, "95 %%");
	OK(ask(&q, 50, 0) == QUOTA_FULL && ask(&q, 49, 0) == QUOTA_GO, "used and projected");
	quota_release(&q);
	fd = open(q.path, O_WRONLY | O_APPEND | O_CLOEXEC);
	OK(write(fd, "{\"tokens\":4000", 14) == 14, "a torn line");
	close(fd);
	OK(spend(&q, 10, warn) == 0 && q.used[0] == 960, "does not count");
	unlink("quota-rules/a.ndjson.sum");
	OK(quota_read(&q, NULL) == 0 && q.used[0] == 960, "the sum is made anew out of the lines");
	quota_close(&q);
}

/* Each takes 100 of 1000: ten pass, however many ask. */
static void many(void)
{
	struct quota q;
	int passed = 0, status, warn[2];

	for (int i = 0; i < 50; i++)
		if (fork() == 0) {
			enum quota_say say;

			quota_open(&q, "quota-rules/many.ndjson");
			q.limit[QUOTA_TOKENS] = 1001;
			while ((say = ask(&q, 50, 50)) == QUOTA_WAIT)
				usleep(2000);
			if (say == QUOTA_GO && i == 7)
				_exit(2);       /* dies with its reservation */
			if (say == QUOTA_GO)
				spend(&q, 100, warn);
			_exit(say == QUOTA_GO ? 1 : 0);
		}
	while (wait(&status) > 0)
		passed += WIFEXITED(status) && WEXITSTATUS(status) == 1;
	quota_open(&q, "quota-rules/many.ndjson");
	OK(passed == 10, "ten of fifty calls pass (%d)", passed);
	OK(quota_read(&q, NULL) == 0 && q.used[0] == 1000, "and no more is spent");
	quota_close(&q);
}

static void days(void)
{
	struct buf a, b;

	buf_init(&a, 4096);
	buf_init(&b, 4096);
	quota_day_path(&a, 86399, NULL);
	quota_day_path(&b, 86400, NULL);
	OK(strstr(a.p, "1970-01-01.ndjson") && strstr(b.p, "1970-01-02.ndjson"), "a day ends at midnight UTC");
	buf_free(&a);
	buf_free(&b);
}

int main(void)
{
	struct quota q;

	amounts();
	rules();
	many();
	days();
	quota_open(&q, "/proc/none/x.ndjson");
	q.limit[0] = 5;
	OK(ask(&q, 1, 1) == QUOTA_ERROR, "where nothing can be written, that is an error");
	quota_close(&q);
	return END();
}

/* ledger - reads "date,text,amount" lines, prints how many there were and what they add up to.
 *
 * usage: ledger [PREFIX] <FILE    only lines whose date begins with PREFIX, such as 2026-03 */
#include "money.h"

#include <stdio.h>
#include <string.h>

/* The amount is the last field: commas in the text do no harm. */
static int add_line(char *line, long *total)
{
	char *amount = strrchr(line, ',');
	long cents;

	if (!amount || money_parse(amount + 1, &cents) < 0)
		return -1;
	*total += cents;
	return 0;
}

int main(int argc, char **argv)
{
	const char *prefix = argc > 1 ? argv[1] : "";
	char line[1024], sum[32];
	long total = 0;
	int entries = 0, bad = 0;

	for (int no = 1; fgets(line, sizeof line, stdin); no++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (strncmp(line, prefix, strlen(prefix)) != 0)
			continue;
		if (add_line(line, &total) < 0) {
			fprintf(stderr, "ledger: line %d: no amount\n", no);
			bad = 1;
			continue;
		}
		entries++;
	}
	money_format(total, sum, sizeof sum);
	printf("%d entries, %s\n", entries, sum);
	return bad;
}

/* measure.c - runs commands in turn, many times, and tells what they cost: measure [-n RUNS] [-d DIR] <PLAN
 *
 * A line of the plan, fields separated by tabs:
 *     NAME BASE CPU WALL SECONDS MB PSS COMMAND ARG...
 * BASE is the name of the command to compare with; CPU and WALL are the most times of its cost that this one may have.
 * SECONDS is the most wall time, MB the most resident memory of its largest process, PSS the most memory of all its
 * processes together (sampled while it runs; such a line is run once, and its times are not shown). "-" is no limit, or
 * no base.
 *
 * All commands of the plan run once in their order, then all again, so that what else the machine does hits all alike;
 * the median counts. CPU is that of the whole tree of processes. stdin is /dev/null, stdout goes to DIR/NAME.out.
 * Status 1 if a limit was passed or a command failed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RUNS 200
#define MAX_ARGS 64
#define MAX_ROWS 64

struct row {
	char *name, *base;
	double cpu_x, wall_x, seconds, mb, pss;   /* limits; < 0: none */
	char *argv[MAX_ARGS];
	double cpu[MAX_RUNS], wall[MAX_RUNS];
	double max_mb, max_pss;
	int failed;                               /* a status that was not 0 */
};

static struct row rows[MAX_ROWS];
static int n_rows;
static const char *dir = ".";

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double limit(const char *s)
{
	return *s == '-' ? -1 : strtod(s, NULL);
}

static void read_plan(void)
{
	char *line = NULL;
	size_t cap = 0;
	while (getline(&line, &cap, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!*line)
			continue;
		char *field[MAX_ARGS + 7], *save = NULL;
		int n = 0;
		for (char *f = strtok_r(strdup(line), "\t", &save); f && n < MAX_ARGS + 6; f = strtok_r(NULL, "\t", &save))
			field[n++] = f;
		if (n < 8 || n_rows == MAX_ROWS) {
			fprintf(stderr, "measure: bad line of the plan: %s\n", line);
			exit(2);
		}
		struct row *r = &rows[n_rows++];
		*r = (struct row){.name = field[0], .base = field[1], .cpu_x = limit(field[2]), .wall_x = limit(field[3]),
			.seconds = limit(field[4]), .mb = limit(field[5]), .pss = limit(field[6])};
		for (int i = 7; i < n; i++)
			r->argv[i - 7] = field[i];
	}
	free(line);
}

/* --- memory of all descendants --- */

static long parent_of(const char *pid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return -1;
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = 0;
	char *end = strrchr(text, ')');   /* the name may hold blanks */
	long parent = -1;
	if (end)
		sscanf(end + 1, " %*c %ld", &parent);
	return parent;
}

static double pss_of(long pid)
{
	char path[64], line[256];
	double kb = 0;
	snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "Pss: %lf", &kb) == 1)
			break;
	fclose(f);
	return kb / 1024;
}

/* The sum over all processes that come from us, ourselves left out. */
static double tree_pss(void)
{
	static struct { long pid, parent; } all[32768];
	int n = 0;
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && (e = readdir(d)) && n < 32768;)
		if (*e->d_name >= '1' && *e->d_name <= '9') {
			all[n].pid = atol(e->d_name);
			all[n++].parent = parent_of(e->d_name);
		}
	if (d)
		closedir(d);
	double sum = 0;
	for (int i = 0; i < n; i++) {
		long up = all[i].parent;
		for (int depth = 0; up > 1 && up != getpid() && depth < 64; depth++) {
			long next = -1;
			for (int k = 0; k < n; k++)
				if (all[k].pid == up)
					next = all[k].parent;
			up = next;
		}
		if (up == getpid())
			sum += pss_of(all[i].pid);
	}
	return sum;
}

/* --- one run --- */

static pid_t start(struct row *r)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.out", dir, r->name);
	int in = open("/dev/null", O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0)
		_exit(126);
	close(in);
	close(out);
	execvp(r->argv[0], r->argv);
	fprintf(stderr, "measure: %s: %s\n", r->argv[0], strerror(errno));
	_exit(127);
}

static void run(struct row *r, int i)
{
	struct rusage before, after;
	getrusage(RUSAGE_CHILDREN, &before);
	double t = now();
	pid_t pid = start(r);
	int status = 0;
	struct rusage own;
	memset(&own, 0, sizeof own);
	while (r->pss >= 0 && wait4(pid, &status, WNOHANG, &own) == 0) {
		double p = tree_pss();
		if (p > r->max_pss)
			r->max_pss = p;
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	}
	if (r->pss < 0)
		wait4(pid, &status, 0, &own);
	r->wall[i] = now() - t;
	while (wait(NULL) > 0)   /* what it left behind came to us */
		;
	getrusage(RUSAGE_CHILDREN, &after);
	r->cpu[i] = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
		(double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6;
	if ((double)own.ru_maxrss / 1024 > r->max_mb)
		r->max_mb = (double)own.ru_maxrss / 1024;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		r->failed = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- the table --- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(const double *v, int n)
{
	double s[MAX_RUNS];
	memcpy(s, v, (size_t)n * sizeof *v);
	qsort(s, (size_t)n, sizeof *s, by_value);
	return n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

static int judge(const char *what, double value, double most, const char *unit)
{
	if (most < 0)
		return 0;
	printf("  %s %.3g%s (%g%s)%s", what, value, unit, most, unit, value > most ? " OVER" : "");
	return value > most;
}

static int report(int runs)
{
	int over = 0;
	printf("%-14s %9s %9s %8s   against its limits, in brackets\n", "", "CPU ms", "wall ms", "MB");
	for (int i = 0; i < n_rows; i++) {
		struct row *r = &rows[i], *base = NULL;
		for (int k = 0; k < n_rows; k++)
			if (!strcmp(rows[k].name, r->base))
				base = &rows[k];
		double cpu = median(r->cpu, runs), wall = median(r->wall, runs);
		if (r->pss >= 0)
			printf("%-14s %9s %9s %8.1f ", r->name, "", "", r->max_pss);
		else
			printf("%-14s %9.1f %9.1f %8.1f ", r->name, cpu * 1e3, wall * 1e3, r->max_mb);
		if (base) {
			over += judge("CPU", cpu / median(base->cpu, runs), r->cpu_x, "x");
			over += judge("wall", wall / median(base->wall, runs), r->wall_x, "x");
		}
		over += judge("wall", wall, r->seconds, " s");
		over += judge("memory", r->max_mb, r->mb, " MB");
		over += judge("all processes", r->max_pss, r->pss, " MB");
		if (r->failed) {
			printf("  FAILED with status %d", r->failed);
			over++;
		}
		putchar('\n');
	}
	return over != 0;
}

int main(int argc, char **argv)
{
	int runs = 15;
	for (int o; (o = getopt(argc, argv, "n:d:")) != -1;)
		if (o == 'n')
			runs = (int)strtol(optarg, NULL, 10);
		else if (o == 'd')
			dir = optarg;
		else
			return 2;
	if (runs < 1 || runs > MAX_RUNS) {
		fprintf(stderr, "measure: -n takes 1 to %d\n", MAX_RUNS);
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	read_plan();
	for (int i = 0; i < runs; i++)
		for (int k = 0; k < n_rows; k++)
			if (rows[k].pss < 0 || i == 0)
				run(&rows[k], i);
	return report(runs);
}

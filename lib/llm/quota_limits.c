/* quota_limits.c - the user's standing budgets: a file of lines "day $20", "session 200k". */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/xalloc.h"
#include "llm/quota.h"
#include "sys/atomic.h"
#include "sys/dirs.h"
#include "sys/io.h"

#define FILE_MAX ((size_t)64 << 10)

static const char *const names[QUOTA_SCOPES] = {[QUOTA_SESSION] = "session", [QUOTA_DAY] = "day"};

const char *quota_scope_name(enum quota_scope s)
{
	return names[s];
}

enum quota_scope quota_scope(const char *name)
{
	int s = 0;

	while (s < QUOTA_SCOPES && strcmp(names[s], name) != 0)
		s++;
	return (enum quota_scope)s;
}

static int take_line(char *line, int64_t limit[QUOTA_SCOPES][QUOTA_UNITS], struct err *e)
{
	char *save = NULL, *word = strtok_r(line, " \t", &save);
	enum quota_scope scope;

	if (!word || *word == '#')
		return 0;
	scope = quota_scope(word);
	if (scope == QUOTA_SCOPES)
		return err_set(e, ST_CONFIG, "'%.40s' is neither session nor day", word);
	while ((word = strtok_r(NULL, " \t", &save))) {
		enum quota_unit unit;
		int64_t n;

		if (quota_parse(word, &unit, &n, e) < 0)
			return -1;
		limit[scope][unit] = n;
	}
	return 0;
}

int quota_limits(int64_t limit[QUOTA_SCOPES][QUOTA_UNITS], struct err *e)
{
	struct buf path, text;
	struct err none = ERR_INIT;
	unsigned long no = 0;
	int status;

	memset(limit, 0, sizeof(int64_t) * QUOTA_SCOPES * QUOTA_UNITS);
	buf_init(&path, 8192);
	buf_init(&text, FILE_MAX);
	status = dirs_config_path(&path, "quota", e);
	if (status == 0 && io_read_file(AT_FDCWD, path.p, &text, &none) < 0)
		status = none.status == ST_NOINPUT ? 0 : (*e = none, err_wrap(e, "%s", path.p));
	for (char *line = text.p, *lf; status == 0 && line && *line; line = lf) {
		lf = strchr(line, '\n');
		if (lf)
			*lf++ = 0;
		else
			lf = line + strlen(line);
		no++;
		if (take_line(line, limit, e) < 0) {
			e->status = ST_CONFIG;
			status = err_wrap(e, "%s:%lu", path.p, no);
		}
	}
	buf_free(&path);
	buf_free(&text);
	return status;
}

int quota_limits_write(int64_t limit[QUOTA_SCOPES][QUOTA_UNITS], struct err *e)
{
	struct buf path, text;
	int status;

	buf_init(&path, 8192);
	buf_init(&text, FILE_MAX);
	buf_adds(&text, "# claws-quota(1): budgets of each session and of each day (UTC)\n");
	for (int s = 0; s < QUOTA_SCOPES; s++) {
		if (!limit[s][QUOTA_TOKENS] && !limit[s][QUOTA_USD])
			continue;
		buf_adds(&text, names[s]);
		if (limit[s][QUOTA_TOKENS])
			buf_addf(&text, " %lld", (long long)limit[s][QUOTA_TOKENS]);
		if (limit[s][QUOTA_USD]) {
			buf_addf(&text, " $%lld.%09lld", (long long)(limit[s][QUOTA_USD] / QUOTA_DOLLAR),
			         (long long)(limit[s][QUOTA_USD] % QUOTA_DOLLAR));
			while (text.p[text.len - 1] == '0' && text.p[text.len - 3] != '.')
				buf_truncate(&text, text.len - 1);      /* two places stay */
		}
		buf_addc(&text, '\n');
	}
	status = dirs_config(&path, NULL, e);
	if (status == 0) {
		buf_adds(&path, "/quota");
		status = atomic_write(AT_FDCWD, path.p, text.p, text.len, 0600, e);
	}
	buf_free(&path);
	buf_free(&text);
	return status;
}

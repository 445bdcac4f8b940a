/* each.h - the lines of some files (none, or "-": stdin), one after the other. */
#ifndef MSG_EACH_H
#define MSG_EACH_H

#include "base/buf.h"
#include "json/json.h"
#include "proto/lines.h"

struct each {
	const char *file;      /* name for messages; "stdin" */
	struct line line;
	struct json json;      /* parsed, if fault is empty */
	char fault[1024];      /* why it is not: too long, not JSON ... */
};

/* Calls line for each line, blank ones left out, and after each file end (may be NULL). Returns 0, or the status of a file
 * that could not be read (told on stderr). */
int each_line(int argc, char **argv, void (*line)(struct each *, void *), void (*end)(struct each *, void *), void *arg);

#endif

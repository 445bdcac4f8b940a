/* lines.c - any bytes from a pipe, read as lines: each with its number, none over the limit, nothing lost; and what is
 * JSON among them is checked as a message. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/lines.h"
#include "proto/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	struct lines in;
	struct json j = JSON_INIT;
	lines_init(&in, fd, LIMIT);
	unsigned long last = 0;
	for (;;) {
		struct line l;
		enum lines_got got = lines_next(&in, &l);
		if (got == LINES_END)
			break;
		if (got == LINES_NEED) {
			if (lines_fill(&in, NULL) < 0)
				abort();
			continue;
		}
		if (l.no <= last || (got == LINES_LINE && l.len > LIMIT))
			abort();
		last = l.no;
		if (got == LINES_LINE && json_parse(&j, l.p, l.len, NULL) == 0) {
			struct err e = ERR_INIT;
			if (msg_check(&j, &e) < 0 && !e.text[0])
				abort();
			if ((int)msg_kind(&j) < 0 || msg_kind(&j) >= MSG_KINDS)
				abort();
		}
	}
	json_free(&j);
	lines_free(&in);
	close(fd);
	return 0;
}

#include "sys/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/io.h"

bool blob_name_ok(const char *name)
{
	if (strncmp(name, "sha256:", 7))
		return false;
	size_t n = strspn(name + 7, "0123456789abcdef");
	return n == 64 && !name[7 + 64];
}

int blob_file(const char *name, char file[BLOB_NAME])
{
	if (!blob_name_ok(name))
		return -1;
	memcpy(file, name, BLOB_NAME);
	file[6] = '-';
	return 0;
}

static void name_of(const char hex[SHA256_HEX], char name[BLOB_NAME])
{
	memcpy(name, "sha256:", 7);
	memcpy(name + 7, hex, SHA256_HEX);
}

static bool is_there(int dirfd, const char *file)
{
	struct stat st;
	return fstatat(dirfd, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

int blob_put(int dirfd, const void *data, size_t len, char name[BLOB_NAME], struct err *e)
{
	char hex[SHA256_HEX], file[BLOB_NAME];

	sha256_hex(hex, data, len);
	name_of(hex, name);
	blob_file(name, file);
	if (is_there(dirfd, file))
		return 0;
	return atomic_write(dirfd, file, data, len, 0600, e);
}

int blob_begin(struct blob *b, int dirfd, uint64_t cap, struct err *e)
{
	*b = (struct blob){.cap = cap};
	if (atomic_begin(&b->a, dirfd, "blob", 0600, e) < 0)
		return -1;
	sha256_init(&b->hash);
	b->open = true;
	return 0;
}

int blob_add(struct blob *b, const void *p, size_t n, struct err *e)
{
	uint64_t room = b->cap - b->kept;
	size_t take = n < room ? n : (size_t)room;

	if (!b->open)
		return err_set(e, ST_IO, "the blob could not be written");
	b->total += n;
	if (io_write_all(b->a.fd, p, take, e) < 0) {
		blob_abort(b);
		return -1;
	}
	sha256_add(&b->hash, p, take);
	b->kept += take;
	return 0;
}

int blob_end(struct blob *b, char name[BLOB_NAME], struct err *e)
{
	static const char digit[] = "0123456789abcdef";
	unsigned char sum[32];
	char hex[SHA256_HEX];

	if (!b->open)
		return err_set(e, ST_IO, "the blob could not be written");
	sha256_end(&b->hash, sum);
	for (int i = 0; i < 32; i++) {
		hex[2 * i] = digit[sum[i] >> 4];
		hex[2 * i + 1] = digit[sum[i] & 15];
	}
	hex[64] = 0;
	name_of(hex, name);
	blob_file(name, b->a.name);
	if (is_there(b->a.dir, b->a.name)) {
		blob_abort(b);
		return 0;
	}
	b->open = false;
	b->a.sync = b->sync;
	return atomic_commit(&b->a, e);
}

void blob_abort(struct blob *b)
{
	if (b->open)
		atomic_abort(&b->a);
	b->open = false;
}

int blob_get(int dirfd, const char *name, struct buf *out, struct err *e)
{
	char file[BLOB_NAME], hex[SHA256_HEX];
	size_t start = out->len;
	struct stat st;
	int fd, r = -1;

	if (blob_file(name, file) < 0)
		return err_set(e, ST_DATA, "'%.80s' is not a blob: sha256: and 64 hex digits expected", name);
	fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP)
		return err_set(e, ST_DATA, "blob %s is a symlink: refused", name);
	if (fd < 0)
		return err_sys(e, "cannot open blob %s", name);
	if (fstat(fd, &st) < 0)
		err_sys(e, "cannot look at blob %s", name);
	else if (!S_ISREG(st.st_mode))
		err_set(e, ST_DATA, "blob %s is not a regular file: refused", name);
	else if (io_read_all(fd, out, e) < 0)
		err_wrap(e, "blob %s", name);
	else
		r = 0;
	close(fd);
	if (r == 0) {
		sha256_hex(hex, out->p + start, out->len - start);
		if (strcmp(hex, name + 7))
			r = err_set(e, ST_DATA, "blob %s does not match its hash: the file was changed", name);
	}
	if (r < 0)
		buf_truncate(out, start);
	return r;
}

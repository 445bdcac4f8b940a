/* Files of lib/sys: io, open, dirs, atomic, blob, watch. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/atomic.h"
#include "sys/blob.h"
#include "sys/dirs.h"
#include "sys/io.h"
#include "sys/watch.h"
#include "tap.h"

static char dir[200];
static int dirfd_;

static void put(const char *name, const char *text)
{
	int fd = openat(dirfd_, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	io_write_all(fd, text, strlen(text), NULL);
	close(fd);
}

static void link_to(const char *target, const char *name)
{
	if (symlinkat(target, dirfd_, name) < 0)
		perror(name);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	return fstatat(dirfd_, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode & 07777;
}

static int entries(const char *part)
{
	char cmd[300];
	snprintf(cmd, sizeof cmd, "ls -A '%s' | grep -c '%s'", dir, part);
	FILE *f = popen(cmd, "r");
	int n = -1;
	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		pclose(f);
	return n;
}

static void reading(void)
{
	struct err e = ERR_INIT;
	struct buf b;
	int p[2];

	buf_init(&b, 5);
	put("five", "12345");
	OK(io_read_file(dirfd_, "five", &b, &e) == 0, "a file as long as the limit");
	IS(b.p, "12345", "is read");
	buf_clear(&b);
	put("six", "123456");
	OK(io_read_file(dirfd_, "six", &b, &e) < 0 && e.status == ST_DATA, "a longer one is an error: %s", e.text);
	err_clear(&e);
	mkfifoat(dirfd_, "fifo", 0600);
	OK(io_read_file(dirfd_, "fifo", &b, &e) < 0 && e.status == ST_DATA, "a FIFO is refused at once: %s", e.text);
	err_clear(&e);
	OK(io_read_file(dirfd_, ".", &b, &e) < 0, "a directory is refused: %s", e.text);
	err_clear(&e);
	OK(io_read_file(dirfd_, "none", &b, &e) < 0 && e.status == ST_NOINPUT && e.sys == ENOENT, "%s", e.text);
	err_clear(&e);
	buf_free(&b);

	buf_init(&b, BUF_NOLIMIT);
	OK(io_pipe(p, &e) == 0 && (fcntl(p[0], F_GETFD) & FD_CLOEXEC), "a pipe, close-on-exec");
	io_nonblock(p[0], true, &e);
	io_nonblock(p[1], true, &e);
	pid_t pid = fork();
	if (pid == 0) {
		static char much[300000];
		memset(much, 'x', sizeof much);
		close(p[0]);
		_exit(io_write_all(p[1], much, sizeof much, NULL) == 0 ? 0 : 1);
	}
	close(p[1]);
	OK(io_read_all(p[0], &b, &e) == 0 && b.len == 300000, "300000 bytes over a non-blocking pipe");
	close(p[0]);
	waitpid(pid, NULL, 0);
	buf_free(&b);
	unsigned char r1[16] = {0}, r2[16] = {0};
	io_random(r1, sizeof r1);
	io_random(r2, sizeof r2);
	OK(memcmp(r1, r2, sizeof r1) != 0, "random bytes differ");
	int keep = dup(0), gone = dup(0);
	pid = fork();
	if (pid == 0) {
		io_close_others(&keep, 1);
		_exit(fcntl(keep, F_GETFD) >= 0 && fcntl(gone, F_GETFD) < 0 && fcntl(dirfd_, F_GETFD) < 0 ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	OK(status == 0, "io_close_others keeps what it shall");
	close(keep);
	close(gone);
}

typedef int opener(int, const char *, int, mode_t, struct err *);

static void beneath(opener *open_it, const char *how)
{
	static const struct {
		const char *path;
		int flags, number;   /* errno; 0: opens */
	} cases[] = {
		{"five", O_RDONLY, 0}, {"./five", O_RDONLY, 0}, {"sub/deep/file", O_RDONLY, 0},
		{"sub//deep/./file", O_RDONLY, 0},
		{".", O_RDONLY | O_DIRECTORY, 0}, {"sub/", O_RDONLY | O_DIRECTORY, 0}, {"sub", O_PATH, 0},
		{"/etc/passwd", O_RDONLY, EXDEV}, {"../x", O_RDONLY, EXDEV}, {"sub/../five", O_RDONLY, EXDEV},
		{"sub/..", O_RDONLY, EXDEV}, {"..", O_RDONLY, EXDEV}, {"", O_RDONLY, ENOENT},
		{"link", O_RDONLY, ELOOP}, {"link", O_PATH, ELOOP}, {"linkdir/passwd", O_RDONLY, ELOOP},
		{"linksub/deep/file", O_RDONLY, ELOOP}, {"dangling", O_WRONLY | O_CREAT, ELOOP},
		{"none", O_RDONLY, ENOENT}, {"none/x", O_RDONLY, ENOENT}, {"five/x", O_RDONLY, ENOTDIR},
		{"five/", O_RDONLY, ENOTDIR}, {"fifo", O_RDONLY, 0}, {"sub/made", O_WRONLY | O_CREAT | O_EXCL, 0},
		{"sub/made", O_WRONLY | O_CREAT | O_EXCL, EEXIST}, {"..five", O_RDONLY, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err e = ERR_INIT;
		int fd = open_it(dirfd_, cases[i].path, cases[i].flags, 0600, &e);
		OK(cases[i].number ? fd < 0 && e.sys == cases[i].number : fd >= 0, "%s '%s': %s", how, cases[i].path,
			fd >= 0 ? "opened" : e.text);
		if (fd < 0)
			continue;
		if (!(cases[i].flags & O_PATH) && (fcntl(fd, F_GETFL) & O_NONBLOCK))
			OK(0, "%s '%s' blocks again", how, cases[i].path);
		OK(fcntl(fd, F_GETFD) & FD_CLOEXEC, "close-on-exec");
		close(fd);
	}
	unlinkat(dirfd_, "sub/made", 0);
}

static void opening(void)
{
	char path[300];

	snprintf(path, sizeof path, "%s/sub/deep", dir);
	OK(io_mkdirs(path, 0700, NULL) == 0 && mode_of("sub/deep") == 0700, "io_mkdirs");
	OK(io_mkdirs(path, 0700, NULL) == 0, "again");
	struct err e = ERR_INIT;
	snprintf(path, sizeof path, "%s/five/x", dir);
	OK(io_mkdirs(path, 0700, &e) < 0 && strstr(e.text, "five"), "a file in the way: %s", e.text);
	put("sub/deep/file", "x");
	put("..five", "x");
	OK(symlinkat("/etc/passwd", dirfd_, "link") == 0 && symlinkat("/etc", dirfd_, "linkdir") == 0 &&
		symlinkat("sub", dirfd_, "linksub") == 0 && symlinkat("new", dirfd_, "dangling") == 0, "links");
	beneath(io_open_beneath, "openat2");
	beneath(io_open_walk, "walk");
	OK(faccessat(dirfd_, "new", F_OK, 0) < 0, "nothing made through a dangling link");
}

static void atomics(void)
{
	struct err e = ERR_INIT;
	struct atomic a;
	struct buf b;

	buf_init(&b, 1000);
	umask(077);
	OK(atomic_write(dirfd_, "f", "one", 3, 0644, &e) == 0, "atomic_write");
	OK(mode_of("f") == 0644, "the umask does not count");
	umask(022);
	OK(atomic_begin(&a, dirfd_, "f", 0600, &e) == 0, "begin");
	io_write_all(a.fd, "two", 3, &e);
	io_read_file(dirfd_, "f", &b, &e);
	IS(b.p, "one", "the old content until commit");
	OK(entries("tmp$") == 1, "one temporary file");
	OK(atomic_commit(&a, &e) == 0, "commit");
	buf_clear(&b);
	io_read_file(dirfd_, "f", &b, &e);
	IS(b.p, "two", "then the new one");
	OK(atomic_begin(&a, dirfd_, "f", 0600, &e) == 0, "begin");
	io_write_all(a.fd, "x", 1, &e);
	atomic_abort(&a);
	OK(entries("tmp$") == 0 && mode_of("f") == 0600, "abort leaves the file and nothing else");
	link_to("five", "tofive");
	OK(atomic_write(dirfd_, "tofive", "new", 3, 0600, &e) == 0, "a symlink");
	buf_clear(&b);
	io_read_file(dirfd_, "five", &b, &e);
	IS(b.p, "12345", "is replaced, not followed");
	OK(atomic_write(dirfd_, "sub/g", "x", 1, 0600, &e) == 0 && mode_of("sub/g") == 0600, "a path");
	OK(atomic_write(dirfd_, "nodir/g", "x", 1, 0600, &e) < 0, "no directory: %s", e.text);
	err_clear(&e);
	OK(atomic_write(dirfd_, "sub/..", "x", 1, 0600, &e) < 0 && atomic_write(dirfd_, "sub/", "x", 1, 0600, &e) < 0,
		"no name");
	err_clear(&e);
	mkdirat(dirfd_, "full", 0700);
	OK(atomic_write(dirfd_, "full", "x", 1, 0600, &e) < 0, "a directory of the name: %s", e.text);
	OK(entries("tmp$") == 0, "a failed commit leaves nothing");
	char name[256];
	memset(name, 'n', 255);
	name[255] = 0;
	OK(atomic_write(dirfd_, name, "x", 1, 0600, &e) == 0, "the longest name");
	buf_free(&b);
}

static void blobs(void)
{
	static const char *const bad[] = {"", "sha256:", "sha256:abc", "../../etc/passwd", "sha1:0",
		"sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8555",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85/",
		"sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};
	char name[BLOB_NAME], file[BLOB_NAME], other[BLOB_NAME];
	struct err e = ERR_INIT;
	struct blob s;
	struct buf b;

	buf_init(&b, 1000);
	OK(blob_put(dirfd_, "abc", 3, name, &e) == 0, "blob_put");
	IS(name, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "by its hash");
	OK(blob_file(name, file) == 0 && mode_of(file) == 0600, "file 0600");
	OK(blob_get(dirfd_, name, &b, &e) == 0, "blob_get");
	IS(b.p, "abc", "the same");
	OK(blob_put(dirfd_, "abc", 3, other, &e) == 0 && !strcmp(name, other), "put twice");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err_clear(&e);
		OK(blob_get(dirfd_, bad[i], &b, &e) < 0 && e.status == ST_DATA, "refused: '%.30s'", bad[i]);
	}
	err_clear(&e);
	OK(blob_begin(&s, dirfd_, 2, &e) == 0 && blob_add(&s, "a", 1, &e) == 0 && blob_add(&s, "bcd", 3, &e) == 0,
		"a stream");
	OK(s.total == 4 && s.kept == 2 && blob_end(&s, other, &e) == 0, "with a cap");
	buf_clear(&b);
	OK(blob_get(dirfd_, other, &b, &e) == 0 && !strcmp(b.p, "ab"), "holds what fits");
	OK(blob_begin(&s, dirfd_, 9, &e) == 0 && blob_add(&s, "abc", 3, &e) == 0 && blob_end(&s, other, &e) == 0,
		"known content");
	OK(!strcmp(other, name) && entries("tmp$") == 0, "leaves no second file");
	OK(blob_begin(&s, dirfd_, 9, &e) == 0, "begin");
	blob_abort(&s);
	OK(entries("tmp$") == 0, "abort leaves nothing");
	buf_clear(&b);
	put(file, "abd");
	OK(blob_get(dirfd_, name, &b, &e) < 0 && e.status == ST_DATA && b.len == 0, "changed content: %s", e.text);
	err_clear(&e);
	unlinkat(dirfd_, file, 0);
	link_to("five", file);
	OK(blob_get(dirfd_, name, &b, &e) < 0 && e.status == ST_DATA, "a symlink: %s", e.text);
	err_clear(&e);
	unlinkat(dirfd_, file, 0);
	mkfifoat(dirfd_, file, 0600);
	OK(blob_get(dirfd_, name, &b, &e) < 0 && e.status == ST_DATA, "a FIFO: %s", e.text);
	err_clear(&e);
	unlinkat(dirfd_, file, 0);
	OK(blob_get(dirfd_, name, &b, &e) < 0 && e.status == ST_NOINPUT, "none: %s", e.text);
	buf_free(&b);
}

/* A copy of this program in DIR/bin finds DIR/share/claws, one in DIR/lib/x too. */
static void own_files(void)
{
	char cmd[1500], want[300], got[300] = "";

	snprintf(cmd, sizeof cmd, "cd '%s' && mkdir -p bin libexec/x share/claws/tools && >share/claws/tools/T.json && "
		"cp /proc/%ld/exe bin/t && cp bin/t libexec/x/t && bin/t share && libexec/x/t share", dir,
		(long)getpid());
	snprintf(want, sizeof want, "%s/bin/../share/claws/tools/T.json", dir);
	FILE *f = popen(cmd, "r");
	OK(f && fscanf(f, "%299s", got) == 1 && !strcmp(got, want), "files beside the program: %s", got);
	snprintf(want, sizeof want, "%s/libexec/x/../../share/claws/tools/T.json", dir);
	OK(f && fscanf(f, "%299s", got) == 1 && !strcmp(got, want), "from libexec: %s", got);
	if (f)
		pclose(f);
}

static void places(void)
{
	struct err e = ERR_INIT;
	struct buf p;
	char want[300];

	buf_init(&p, PATH_MAX);
	unsetenv("CLAWS_HOME");
	unsetenv("XDG_STATE_HOME");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("HOME", dir, 1);
	snprintf(want, sizeof want, "%s/.config/claws", dir);
	OK(dirs_config(&p, NULL, &e) == 0, "config");
	IS(p.p, want, "a relative XDG value is ignored");
	OK(mode_of(".config/claws") == 0700 && mode_of(".config") == 0700, "made 0700");
	snprintf(want, sizeof want, "%s/.local/state/claws/sessions", dir);
	OK(dirs_state(&p, "sessions", &e) == 0 && !strcmp(p.p, want) && mode_of(".local/state/claws/sessions") ==
		0700, "state");
	OK(dirs_cache_path(&p, "x", &e) == 0 && mode_of(".cache") == 0, "a path makes nothing");
	snprintf(want, sizeof want, "%s/xdg", dir);
	setenv("XDG_DATA_HOME", want, 1);
	strcat(want, "/claws/tools");
	OK(dirs_data(&p, "tools", &e) == 0, "data");
	IS(p.p, want, "by XDG_DATA_HOME");
	unsetenv("HOME");
	OK(dirs_state(&p, NULL, &e) < 0 && e.status == ST_CONFIG, "no HOME: %s", e.text);
	err_clear(&e);
	setenv("CLAWS_HOME", "here", 1);
	OK(dirs_state(&p, NULL, &e) < 0 && e.status == ST_CONFIG, "relative CLAWS_HOME: %s", e.text);
	err_clear(&e);
	snprintf(want, sizeof want, "%s/all", dir);
	setenv("CLAWS_HOME", want, 1);
	OK(dirs_config(&p, NULL, &e) == 0 && dirs_data(&p, NULL, &e) == 0 && dirs_state(&p, NULL, &e) == 0 &&
		dirs_cache(&p, NULL, &e) == 0 && dirs_runtime(&p, "keepers", &e) == 0, "all under CLAWS_HOME");
	strcat(want, "/run/keepers");
	IS(p.p, want, "run");
	OK(mode_of("all/config") == 0700 && mode_of("all/data") == 0700 && mode_of("all/state") == 0700 &&
		mode_of("all/cache") == 0700 && mode_of("all/run") == 0700, "its directories");
	unsetenv("CLAWS_HOME");
	setenv("XDG_RUNTIME_DIR", dir, 1);
	mkdirat(dirfd_, "claws", 0755);
	OK(dirs_runtime(&p, NULL, &e) == 0 && mode_of("claws") == 0700, "our runtime directory is narrowed");
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", dir, 1);
	snprintf(want, sizeof want, "claws-%lu", (unsigned long)geteuid());
	OK(dirs_runtime(&p, NULL, &e) == 0 && mode_of(want) == 0700 && strstr(p.p, want), "in TMPDIR");
	unlinkat(dirfd_, want, AT_REMOVEDIR);
	link_to("sub", want);
	OK(dirs_runtime(&p, NULL, &e) < 0 && e.status == ST_CONFIG, "a symlink is refused: %s", e.text);
	err_clear(&e);
	unlinkat(dirfd_, want, 0);
	if (geteuid() == 0) {
		mkdirat(dirfd_, want, 0777);
		OK(fchownat(dirfd_, want, 12345, 12345, 0) == 0 && dirs_runtime(&p, NULL, &e) < 0 &&
			e.status == ST_CONFIG && strstr(e.text, "12345"), "another's is refused: %s", e.text);
		err_clear(&e);
	}
	own_files();
	OK(dirs_share(&p, "no/such/file", &e) < 0 && e.status == ST_NOINPUT, "%s", e.text);
	buf_free(&p);
}

static void watching(void)
{
	struct err e = ERR_INIT;
	struct watch w;

	OK(watch_open(&w, dir, "inbox", &e) == 0 && w.fd >= 0, "watch_open");
	OK(!watch_changed(&w) && watch_wait(&w, 1) == 0, "nothing yet");
	put("other", "x");
	OK(!watch_changed(&w), "another file does not count");
	put("inbox", "x");
	OK(watch_wait(&w, 5000) == 1, "made");
	while (watch_changed(&w))
		;
	pid_t pid = fork();
	if (pid == 0) {
		poll(NULL, 0, 50);
		atomic_write(dirfd_, "inbox", "y", 1, 0600, NULL);
		_exit(0);
	}
	long long start = io_now_ms();
	OK(watch_wait(&w, 10000) == 1 && io_now_ms() - start < 5000, "replaced by another process");
	waitpid(pid, NULL, 0);
	/* Without inotify. */
	close(w.fd);
	w.fd = -1;
	watch_changed(&w);
	OK(watch_timeout(&w) == WATCH_POLL_MS && !watch_changed(&w), "by looking");
	put("inbox", "longer");
	OK(watch_changed(&w) && !watch_changed(&w), "a change, once");
	unlinkat(dirfd_, "inbox", 0);
	OK(watch_wait(&w, 2000) == 1, "removal");
	watch_close(&w);
	OK(watch_open(&w, "/nonexistent", NULL, &e) < 0, "no directory: %s", e.text);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");

	if (argc > 1 && !strcmp(argv[1], "share")) {
		struct buf p;
		buf_init(&p, PATH_MAX);
		int found = dirs_share(&p, "tools/T.json", NULL);
		puts(p.p);
		buf_free(&p);
		return found < 0;
	}

	snprintf(dir, sizeof dir, "%s/files.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || (dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return 1;
	umask(022);
	reading();
	opening();
	atomics();
	blobs();
	places();
	watching();
	int status = END();
	char cmd[300];
	snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
	return system(cmd) ? 1 : status;
}

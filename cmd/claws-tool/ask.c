/* The program that is asked: CLAWS_ASK, else claws-ask beside this program. The question is one line on its stdin, the answer
 * one `permission` line with the question's id and hash and decision "allow". Whatever else it says or does is a no. */
#include "claws-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define ANSWER_MAX ((size_t)64 << 10)

static const char *own_program(void)
{
	const char *cmd = getenv("CLAWS_ASK");

	return cmd && *cmd ? cmd : NULL;
}

bool ask_possible(void)
{
	int tty;

	if (own_program())
		return true;
	tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tty < 0)
		return false;
	close(tty);
	return true;
}

static int question(const struct host *h, const struct call *c, struct err *e)
{
	struct buf b;
	struct jw w;
	int fd = memfd_create("claws-tool-question", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "the question");
	buf_init(&b, BUF_NOLIMIT);
	w = jw_begin(&b);
	jw_obj(&w);
	jw_kstr(&w, "type", "permission_request");
	jw_kstr(&w, "id", c->id);
	request_write(&w, h, c);
	jw_end(&w);
	buf_addc(&b, '\n');
	if (io_write_all(fd, b.p, b.len, e) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		fd = -1;
	}
	buf_free(&b);
	return fd;
}

/* claws-ask in the directory of this program. */
static int beside(struct buf *path, struct err *e)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n <= 0)
		return err_sys(e, "/proc/self/exe");
	self[n] = 0;
	strrchr(self, '/')[1] = 0;
	buf_adds(path, self);
	buf_adds(path, "claws-ask");
	return 0;
}

int ask_start(struct ask *a, const struct host *h, const struct call *c, struct err *e)
{
	const char *cmd = own_program();
	const char *argv[] = {"sh", "-c", cmd, NULL};
	struct buf path;
	int p[2] = {-1, -1}, in = question(h, c, e);

	*a = (struct ask){.fd = -1};
	buf_init(&path, PATH_MAX);
	buf_init(&a->answer, ANSWER_MAX);
	if (in >= 0 && io_pipe(p, e) == 0 && (cmd || beside(&path, e) == 0)) {
		struct spawn_fd fds[] = {{0, in}, {1, p[1]}};
		struct spawn s = {.argv = argv, .fds = fds, .nfds = 2, .death_signal = SIGTERM};
		if (!cmd) {
			argv[0] = path.p;
			argv[1] = NULL;
		} else {
			s.file = "/bin/sh";
		}
		a->pid = spawn_start(&s, e);
	}
	if (in >= 0)
		close(in);
	if (p[1] >= 0)
		close(p[1]);
	buf_free(&path);
	a->fd = p[0];
	a->deadline = io_now_ms() + h->ask_timeout;
	if (a->pid > 0 && io_nonblock(a->fd, true, e) == 0)
		return 0;
	ask_stop(a);
	return -1;
}

void ask_stop(struct ask *a)
{
	if (a->fd >= 0)
		close(a->fd);
	if (a->pid > 0)
		spawn_end(a->pid, false, 500);
	buf_free(&a->answer);
	*a = (struct ask){.fd = -1};
}

/* The one line of the answer. */
static enum ask_result judge(const struct ask *a, const struct call *c, struct buf *rule, struct err *why)
{
	struct json j = JSON_INIT;
	enum ask_result res = ASK_FAILED;
	const char *bad = NULL;

	if (a->answer.over || json_parse(&j, a->answer.p, a->answer.len, NULL) < 0)
		bad = "its answer is not one line of JSON";
	else if (!json_eq(&j, json_get(&j, 0, "type"), "permission"))
		bad = "its answer is no permission line";
	else if (!json_eq(&j, json_get(&j, 0, "id"), c->id))
		bad = "its answer has another id than the question";
	else if (!json_eq(&j, json_get(&j, 0, "hash"), c->hash))
		bad = "its answer has another hash than the question";
	else if (json_eq(&j, json_get(&j, 0, "decision"), "deny"))
		res = ASK_NO;
	else if (!json_eq(&j, json_get(&j, 0, "decision"), "allow"))
		bad = "its decision is neither allow nor deny";
	else
		res = ASK_YES;
	if (res == ASK_YES)
		json_str(&j, json_get(&j, 0, "rule"), rule);
	if (bad)
		err_set(why, ST_FAILED, "the ask program gave no valid answer: %s", bad);
	json_free(&j);
	return res;
}

enum ask_result ask_look(struct ask *a, const struct call *c, struct buf *rule, struct err *why)
{
	enum ask_result res;
	char piece[4096];
	ssize_t n = 1;
	int wstatus;
	pid_t pid;

	while (!a->ended && (n = read(a->fd, piece, sizeof piece)) > 0)
		buf_add(&a->answer, piece, (size_t)n);
	if (n == 0)
		a->ended = true;
	pid = waitpid(a->pid, &wstatus, WNOHANG);
	if (pid == 0 && io_now_ms() < a->deadline)
		return ASK_WAITING;
	if (pid == 0) {
		err_set(why, ST_FAILED, "nobody answered in time");
		ask_stop(a);
		return ASK_FAILED;
	}
	a->pid = 0;
	/* It may have written between our read and its end. */
	while (!a->ended && (n = read(a->fd, piece, sizeof piece)) > 0)
		buf_add(&a->answer, piece, (size_t)n);
	if (!WIFEXITED(wstatus) || WEXITSTATUS(wstatus)) {
		err_set(why, ST_FAILED, "the ask program ended with status %d", status_of_wait(wstatus));
		res = ASK_FAILED;
	} else {
		res = judge(a, c, rule, why);
	}
	ask_stop(a);
	return res;
}

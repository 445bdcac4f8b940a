/* record.h - calls kept in a directory, and calls answered from it. claws-stream(1), RECORDINGS, has the format.
 *
 * Both:       record_canon(&canon, &names, wire, path, body, len, &e);           // what identifies a request
 *
 * Recording:  recorder_open(&r, dir, &e);
 *             recorder_begin(&r);                                               // per attempt: forgets the one before
 *             recorder_head, recorder_header, recorder_body                     // as the answer comes
 *             recorder_commit(&r, &canon, cut, &e);                 // once a call; nothing if no answer came
 *
 * Replaying:  replay_open(&p, dir, &names, &e);
 *             replay_find(&p, &canon, &names, position, &number, &e);           // position 0: by request
 *             replay_load(&p, number, &answer, &e); ... replay_answer_free(&answer);
 *
 * A miss is ST_DATA; its text names the nearest recording and the JSON pointer of the first difference. Secrets: the
 * caller gives the key to record_names, and it is left out of everything that is kept. Limits: RECORD_MAX bytes
 * a file. */
#ifndef LLM_RECORD_H
#define LLM_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "json/json.h"

#define RECORD_MAX ((size_t)256 << 20)

/* What stands in a request by accident of the place and is replaced. Empty or NULL: nothing. All borrowed. then_: of the place
 * where it was recorded. */
struct record_names {
	const char *cwd, *home, *key;
	const char *then_cwd, *then_home;
	const char *const *secrets;   /* what else must not be seen; NULL-terminated; NULL: nothing */
};

/* Appends the canonical request: one line of JSON, without line end. */
int record_canon(struct buf *out, const struct record_names *n, const char *wire, const char *path,
                 const char *body, size_t len, struct err *e);

/* Appends text with every occurrence of the secret as "***", also as JSON and URLs spell it, also of its first 16 bytes
 * or more; a secret of less than 8 bytes where it stands as a word. NULL or "": text as it is. */
void record_mask(struct buf *out, const char *text, size_t len, const char *secret);
/* The same of the secret and of each of the list (NULL-terminated, or NULL). */
void record_mask_all(struct buf *out, const char *text, size_t len, const char *secret, const char *const *secrets);

struct recorder {
	int dir;
	unsigned next;
	const char *key;
	const char *const *secrets;   /* as record_names has them */
	struct buf head, body;
	bool any;
	struct buf first;         /* NNNN-conversation.ndjson, to be written with the first call; begun: it was filled */
	bool begun;
	unsigned masked;          /* files of tools up to this number hold no secret */
};

int recorder_open(struct recorder *r, const char *dir, const char *key, struct err *e);
void recorder_begin(struct recorder *r);
void recorder_head(struct recorder *r, int status);
void recorder_header(struct recorder *r, const char *name, const char *value);
void recorder_body(struct recorder *r, const char *p, size_t n);
/* cut: why the connection was lost before the end, or NULL. */
int recorder_commit(struct recorder *r, const struct buf *canon, const char *cut, struct err *e);
void recorder_close(struct recorder *r);

struct replay_entry {
	unsigned number;
	bool request, used;
	char hash[SHA256_HEX];
};

struct replay {
	int dir;
	char *name;
	struct replay_entry *v;   /* by number */
	size_t n;
	struct buf head;          /* the first line of the first conversation; empty: there is none */
	struct json head_json;
	char *cwd, *home;         /* of the place where it was recorded; NULL: not known */
};

/* The number of a file of that kind ("NNNN" + tail), 0 if file is not such a name. */
unsigned record_number(const char *file, const char *tail);

/* The name of the first NNNN-conversation.ndjson of a recording; false: there is none. */
bool record_conversation(int dir, char name[32]);

struct replay_answer {
	struct buf text;          /* the whole file; head and body point into it */
	int status;
	char **header;            /* name, value, name, value ..., NULL; names in lower case */
	const char *body;
	size_t len;
	const char *cut;          /* x-claws-cut, or NULL */
};

int replay_open(struct replay *p, const char *dir, const struct record_names *n, struct err *e);
void replay_close(struct replay *p);
int replay_find(struct replay *p, const struct buf *canon, const struct record_names *n, unsigned position,
                unsigned *number, struct err *e);
int replay_load(const struct replay *p, unsigned number, struct replay_answer *a, struct err *e);
void replay_answer_free(struct replay_answer *a);

/* Appends the JSON pointer (RFC 6901) of the first difference of two values, keys in byte order; false if they are
 * equal. at_a and at_b become the differing values, -1 where there is none. */
bool record_differ(const struct json *a, int va, const struct json *b, int vb, struct buf *pointer,
                   int *at_a, int *at_b);

#endif

/* stream.h - what the parts of claws-stream share: one struct, passed down.
 *
 *   main.c    options, the loop          setup.c  provider, key, URL, headers (auth.c: AWS)
 *   input.c   what an input line does    call.c   one call from its turn to its turn_done
 *   emit.c    what is written            play.c   --dry-run, --record, --replay */
#ifndef CLAWS_STREAM_H
#define CLAWS_STREAM_H

#include "llm/answer.h"
#include "llm/convo.h"
#include "llm/provider.h"
#include "llm/record.h"
#include "net/http.h"
#include "net/retry.h"
#include "net/url.h"
#include "proto/stage.h"

struct conf {
	const char *model, *wire, *base_url, *thinking, *effort, *record, *replay, *match;
	long max_tokens, timeout, connect, first_byte, idle, retries;
	double temperature;
	bool no_stream, dry_run, no_time;
};

enum phase { PHASE_IDLE, PHASE_RUNNING, PHASE_WAITING };

#define HEADERS 24

struct stream {
	struct conf conf;
	struct stage st;

	/* set up once */
	struct err broken;            /* filled: no call can be made, and why */
	struct provider p;
	const struct wire *wire;
	char *maker;                  /* PROVIDER/MODEL */
	long thinking;                /* budget asked for; 0 off, -1 nothing said */
	enum effort effort;           /* the same by word */
	bool no_effort_said;          /* that the model is not asked to think harder was spoken of */
	char *session;                /* a key for the provider's cache; NULL: none */
	char *key;                    /* NULL: none */
	struct auth_aws *aws;         /* who signs the requests, where it is not the key that is sent; NULL */
	struct url target;
	struct buf url, path;         /* path: what was put behind the base URL */
	char *header[HEADERS + 1];
	const char *ca_file;          /* of the environment; NULL: none */
	size_t nheader, auth;         /* header[auth - 1] carries the key; 0: none does */

	/* the conversation */
	struct convo convo;
	size_t assistants;
	int blobs;                    /* directory of the session's blobs; -1 not open */

	/* calls */
	enum phase phase;
	unsigned queued;              /* turns that came while a call ran */
	unsigned calls;               /* made by this process */
	unsigned long dropped;        /* tool results left out that were spoken of */
	struct http http;
	bool net;                     /* http is up */
	struct call_options options;  /* what is asked for now */
	struct call_options wanted;   /* what was asked for before the provider refused parts of it */
	struct buf body;
	struct answer answer;
	bool answered;                /* answer holds something */
	struct buf piece;             /* a text or thinking line that is being put together */
	const char *piece_head;       /* its beginning; NULL: none is */
	bool swapped;                 /* max_tokens has got its other name */
	unsigned named;               /* ids made for calls */
	char lost[1024];              /* why the connection was lost; "": it was not */
	struct retry retry;
	long long started, wait_until;
	int status;                   /* exit status of the last call */

	/* recordings */
	bool recording, replaying;
	struct recorder recorder;
	struct replay replay;
	struct record_names names;
	char *cwd;
	struct buf canon;
	size_t first_position;        /* number of the recording that --match order begins with; 0: not known yet */
};

/* setup.c */
int setup(struct stream *s, struct err *e);       /* ST_CONFIG and the like: no call is possible */
void setup_free(struct stream *s);
void setup_notice(struct stream *s);              /* once: --effort or --thinking does nothing here */

/* auth.c */
void auth_region(void);                           /* AWS_REGION, if it is not set, becomes what AWS's other settings say */
int auth_aws(struct stream *s, struct err *e);    /* 1: requests are signed, s->key is what must not be seen; 0: they are not */
void auth_header(struct stream *s);               /* room for the signature */
void auth_sign(struct stream *s);                 /* for one attempt; nothing if they are not signed */
void auth_free(struct stream *s);

/* input.c */
void input_line(struct stream *s, const struct msg *m);

/* call.c */
void call_start(struct stream *s);                /* may end at once */
void call_arrived(struct stream *s);              /* the request has ended */
void call_again(struct stream *s);                /* the wait is over */
void call_cut(struct stream *s);                  /* interrupt or end of file */
void call_out_of_time(struct stream *s);

/* main.c */
void unblock(struct stream *s);                   /* in a ring: a slow reader must not keep us from reading */

/* emit.c */
extern const struct answer_sink emit_sink;
void emit_pieces(struct stream *s);               /* the line that is being put together, if one is */
void emit_error(struct stream *s, const char *class, int status, const char *code, int64_t retry_after_ms,
                const char *message);
void emit_answer_error(struct stream *s);         /* of s->answer */
void emit_retry(struct stream *s, int64_t wait_ms);
void emit_assistant(struct stream *s);
void emit_turn_done(struct stream *s, enum stop stop);

/* play.c */
void play_dry(struct stream *s);
int play_body(struct stream *s, const struct call_options *o, struct buf *out, struct err *e);
int play_canon(struct stream *s, struct err *e);  /* s->canon: what identifies the call */
int play_answer(struct stream *s, struct err *e); /* feeds s->answer from the recording; ends it */
void play_keep(struct stream *s, const char *cut);

#endif

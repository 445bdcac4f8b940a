/* stream.h - what the parts of claws-stream share: one struct, passed down.
 *
 *   main.c    options, the loop          setup.c  provider, key, URL, headers (auth.c: AWS)
 *   input.c   what an input line does    call.c   one call from its turn to its turn_done
 *   emit.c    what is written            play.c   --dry-run, --record, --replay
 *   explain.c --explain              recording.c  what a recording says of the whole run
 *   recover.c a refused request, mended  fallback.c  the models that are called instead, and which is not called now */
#ifndef CLAWS_STREAM_H
#define CLAWS_STREAM_H

#include "llm/answer.h"
#include "llm/breaker.h"
#include "llm/convo.h"
#include "llm/provider.h"
#include "llm/quota.h"
#include "llm/record.h"
#include "llm/secret.h"
#include "net/http.h"
#include "net/retry.h"
#include "net/url.h"
#include "opt/opt.h"
#include "proto/stage.h"

struct conf {
	const char *model, *provider, *wire, *base_url, *thinking, *effort, *record, *replay, *match;
	long max_tokens, timeout, connect, first_byte, idle, retries;
	double temperature;
	bool no_stream, dry_run, no_time, explain, no_breaker, reset_breaker;
	struct opt_list fallback, budget, budget_day;
};

enum phase { PHASE_IDLE, PHASE_RUNNING, PHASE_WAITING };

#define HEADERS 24

/* All that belongs to one model: what it is called with, and the conversation as it gets it. With fallbacks there are several,
 * and the one that is called now is the stream's own (fallback.c exchanges them); without, just that. */
#define ROUTE_MEMBERS \
	struct provider p; \
	const struct wire *wire; \
	char *maker;                  /* PROVIDER/MODEL */ \
	char *key, *key_from;         /* NULL: none; what it was read from */ \
	struct auth_aws *aws;         /* who signs the requests, where it is not the key that is sent; NULL */ \
	struct url target; \
	struct buf url, path;         /* path: what was put behind the base URL */ \
	char *header[HEADERS + 1]; \
	size_t nheader, auth;         /* header[auth - 1] carries the key; 0: none does */ \
	struct convo convo; \
	unsigned long dropped;        /* tool results left out that were spoken of */ \
	struct call_options options;  /* what is asked for now */ \
	struct call_options wanted;   /* what was asked for before the provider refused parts of it */ \
	int64_t room;                 /* the limit of the answer before it was lowered for this call; -1: it was not */ \
	bool swapped;                 /* max_tokens has got its other name */ \
	bool capped;                  /* max_tokens was lowered to what the model has */

struct route {
	ROUTE_MEMBERS
};

struct chain {                        /* the models in the order in which they are called */
	char *name;                   /* as it was given; of the first, NULL */
	struct route route;           /* while it is not the one that is called */
	bool set;                     /* route is filled */
	bool cascade;                 /* of its provider's cascade, not of --fallback-model */
	size_t fed, fed_fixed;        /* how much of the kept lines its conversation has */
	unsigned resets;              /* and up to which reset */
};

struct spend {                        /* quota.c */
	struct quota session, day;    /* accounts; the session's has no path where no budget needs it */
	int64_t day_limit[QUOTA_UNITS];
	int64_t room;                 /* tokens that the answer may have; 0: as many as it wants */
	bool own;                     /* the session's account is of this process alone */
	bool told;                    /* that nothing can be written down was spoken of */
};

struct stream {
	struct conf conf;
	struct stage st;

	union {
		struct route route;
		struct { ROUTE_MEMBERS };
	};

	/* set up once */
	struct err broken;            /* filled: no call can be made, and why */
	long thinking;                /* budget asked for; 0 off, -1 nothing said */
	enum effort effort;           /* the same by word */
	bool no_effort_said;          /* that the model is not asked to think harder was spoken of */
	char *session;                /* a key for the provider's cache; NULL: none */
	const char *ca_file;          /* of the environment; NULL: none */
	char *general_for;            /* the provider that CLAWS_API_KEY went to; NULL: none yet */

	/* the conversation: its lines too, for a model that has yet to hear of it */
	struct buf kept, fixed;       /* messages; system and tools */
	unsigned resets;
	bool forgot;                  /* the lines are not kept any more: there are too many */
	size_t assistants;
	int blobs;                    /* directory of the session's blobs; -1 not open */

	/* fallbacks */
	struct chain *chain;
	size_t nchain, at;            /* how many; the one that is called */
	size_t first_fallback;        /* chain[1] to chain[first_fallback - 1] are the cascade */
	int swaps;                    /* models of the cascade tried in this call */
	struct breaker breaker;       /* of the one that is called */
	bool breaker_asked, probing;  /* probing: this attempt is the one that shows whether it is back */

	/* calls */
	enum phase phase;
	unsigned queued;              /* turns that came while a call ran */
	unsigned calls;               /* made by this process */
	struct http http;
	bool net;                     /* http is up */
	struct buf body;
	unsigned mended;              /* recover.c: what was tried in this call */
	char once[64];                /* idempotency-key header: the same for all attempts with one body */
	struct answer answer;
	bool answered;                /* answer holds something */
	struct buf piece;             /* a text or thinking line that is being put together */
	const char *piece_head;       /* its beginning; NULL: none is */
	unsigned named;               /* ids made for calls */
	char lost[1024];              /* why the connection was lost; "": it was not */
	struct retry retry;
	long long started, wait_until;
	int status;                   /* exit status of the last call */

	struct spend spend;

	/* recordings */
	bool recording, replaying;
	struct recorder recorder;
	struct replay replay;
	struct record_names names;
	struct secrets secrets;       /* keys of all routes, and what else is not shown; of a recording, the environment's too */
	char *cwd;
	struct buf canon;
	size_t first_position;        /* number of the recording that --match order begins with; 0: not known yet */
};

/* setup.c */
int setup(struct stream *s, struct err *e);       /* ST_CONFIG and the like: no call is possible */
void setup_free(struct stream *s);
int setup_route(struct stream *s, struct err *e); /* the route of conf.model */
void setup_route_free(struct stream *s);
void setup_secrets(struct stream *s);             /* the recordings know s->key and s->secrets as they are now */
void setup_mask(const struct stream *s, struct buf *out, const char *text, size_t n);   /* what is not shown, as *** */
void setup_notice(struct stream *s);              /* once: --effort or --thinking does nothing here */

/* auth.c */
void auth_region(void);                           /* AWS_REGION, if it is not set, becomes what AWS's other settings say */
int auth_aws(struct stream *s, struct err *e);    /* 1: requests are signed, s->key is what must not be seen; 0: they are not */
void auth_header(struct stream *s);               /* room for the signature */
void auth_sign(struct stream *s);                 /* for one attempt; nothing if they are not signed */
void auth_free(struct stream *s);

/* explain.c */
void explain(const struct stream *s);

/* input.c */
void input_line(struct stream *s, const struct msg *m);
int input_blob(void *arg, const char *ref, struct buf *bytes, struct err *e);   /* convo.load */

/* call.c */
void call_start(struct stream *s);                /* may end at once */
void call_arrived(struct stream *s);              /* the request has ended */
void call_again(struct stream *s);                /* the wait is over */
void call_cut(struct stream *s);                  /* interrupt or end of file */
void call_out_of_time(struct stream *s);

/* recover.c */
void recover_begin(struct stream *s);             /* a call begins with this model */
bool recover(struct stream *s);                   /* s->options or s->convo differ from what was refused: ask again */
bool recover_by_chance(const struct stream *s);   /* the same request again may do better, once */
bool recover_oversize(struct stream *s);          /* a limit of the rate that is in truth one of the size */

/* fallback.c */
void chain_begin(struct stream *s);               /* after setup */
void chain_free(struct stream *s);
void chain_keep(struct stream *s, const struct msg *m);   /* a line of the conversation */
void chain_reset(struct stream *s);
struct convo *chain_first(struct stream *s);      /* the conversation of the first model, which input lines are added to */
void chain_home(struct stream *s);                /* a call begins: with the first model */
bool chain_again(struct stream *s);               /* the conversation anew out of its lines, by what s->p says now */
bool chain_swap(struct stream *s);                /* the next of the cascade is called now. False: there is none (left) */
bool chain_next(struct stream *s, const char *class, const char *why);   /* the next fallback. False: none left */
bool breaker_lets(struct stream *s, struct err *e, int64_t *left_ms);
enum outcome { OUT_WORKED, OUT_FAILED, OUT_NOTHING };
void breaker_tell(struct stream *s, enum outcome out);

/* quota.c */
int quota_setup(struct stream *s, struct err *e);
void quota_end(struct stream *s);
enum quota_say quota_before(struct stream *s, char *code /* 32 bytes */, struct err *e);
void quota_after(struct stream *s);               /* an attempt is over: s->answer says what it used */

/* recording.c */
void recording_begin(struct stream *s);           /* a call begins: of the first one the conversation is kept */
int recording_read(struct stream *s, struct err *e);   /* 1: the recording says how the model is asked; 0: it does not */
void recording_secrets(struct stream *s);         /* of the environment, into s->secrets */
void recording_blob(struct stream *s, const struct buf *bytes);   /* an image of the conversation is kept, too */
void recording_mask(struct stream *s);            /* the results of tools in the directory lose what is secret */

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

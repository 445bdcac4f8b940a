/* wire.h - a provider's wire format: how a conversation becomes a request, and an answer's bytes a message.
 *
 * One file a wire (wire_anthropic.c, wire_openai_chat.c ...) exports one const struct wire; nothing here knows of
 * sockets, so every wire is tested with bytes alone. Calling sequence:
 *
 *   request:  the serialised messages are kept from turn to turn; `convo_*` (convo.h) appends what is new; wire->body
 *             writes the whole body, "messages" being its last key, around them.
 *   answer:   answer_init(&a, wire, sink, arg); answer_head(&a, status); then answer_feed(&a, bytes, n) as they
 *             come, at any cut, and answer_end(&a) once. The sink hears of pieces as they come; afterwards a holds
 * the message.
 *
 * Ownership: strings in struct answer live until answer_free. Everything foreign is repaired UTF-8 by then. */
#ifndef LLM_WIRE_H
#define LLM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"
#include "json/jw.h"
#include "llm/effort.h"
#include "llm/quirk.h"
#include "proto/msg.h"

/* -1 in a counter: the provider did not say. input is without cache, output with reasoning. */
struct usage {
	int64_t input, cache_read, cache_write, output, reasoning;
};

struct call {                 /* one tool call of an answer */
	struct buf id, name;
	struct buf args;          /* JSON text as it came, possibly broken */
	struct buf extra;         /* extra_content: JSON text to send back, or empty */
	bool ok;                  /* args is one JSON object (after repair) */

	/* while it is built */
	struct buf raw_id;        /* as the provider gave it, maybe empty */
	int64_t index;            /* the provider's; -1 none */
	int depth;                /* of brackets in args so far */
	bool in_string, escaped;  /* args end inside a string, after a backslash */
	bool whole;               /* the brackets of args are all closed */
	bool told;                /* the sink knows its name */
};

struct answer_error {         /* what the provider said went wrong */
	bool set;
	int status;               /* HTTP, or from the body; 0 unknown */
	char class[24];           /* claws-messages(5): error.class */
	struct buf type, code, message;
	struct buf param;         /* the parameter that is at fault, where it is named */
	struct buf detail;        /* what a gateway quotes of the provider behind it; may be empty */
	int64_t retry_after_ms;   /* -1 unknown */
};

/* Heard while the answer comes. A NULL function is not called. */
struct answer_sink {
	void (*text)(void *arg, const char *s, size_t n);
	void (*thinking)(void *arg, const char *s, size_t n);
	/* id and name only with the first piece of a call (n may be 0), else NULL */
	void (*call)(void *arg, int index, const char *id, const char *name, const char *args, size_t n);
	/* A new call's id as it came, maybe empty: the place to change it if it is empty or was used before. */
	void (*rename)(void *arg, struct buf *id);
};

struct answer;                /* answer.h */
struct convo;                 /* convo.h */

struct call_options {         /* what one request asks for */
	const char *model;        /* as the provider names it */
	int64_t max_tokens;       /* 0: the wire's default */
	double temperature;       /* < 0: not sent */
	int64_t thinking;         /* budget in tokens; 0 off, -1 not said */
	enum effort effort;       /* the same by word (effort.h) */
	enum thinking_style style;          /* how it is asked for */
	const char *const *effort_words;    /* EFFORTS words of the provider's, NULL where it has ours, "": say nothing; or NULL */
	uint64_t quirks;          /* quirk.h */
	bool stream;
	bool cache;               /* set cache marks where the wire has them */
	const char *session;      /* the same for all calls of a session: a key for caches; NULL: none */
	int64_t context;          /* tokens of the model's window; 0 unknown */
	const char *extra;        /* further top-level members as JSON text without braces, or NULL */
};

/* How the bytes of a successful answer are cut into events where they are not server-sent events. */
enum framing {
	FRAMING_WHOLE,            /* they are one JSON text: wire->whole */
	FRAMING_VALUES,           /* JSON values in a row, or the members of one array (NDJSON, Gemini): each is an event */
	FRAMING_AWS,              /* AWS event stream messages, if the first byte is NUL: each is an event, a->event its name */
};

struct wire {
	const char *name;         /* "anthropic", "openai-chat" */
	/* Appended to the base URL: "/v1/messages". {model} is the model's name as one segment of a path. A provider's row
	 * may have others. */
	const char *path;
	const char *path_stream;  /* where it differs for a streamed answer, else NULL */
	const char *accept;       /* "accept: TYPE" for a streamed answer; NULL: text/event-stream */
	/* How the key is sent where the row does not say: "bearer", "sigv4" (AWS), else the name of a header. */
	const char *auth;
	const char *headers;      /* one further header, "name: value", or NULL */
	enum framing framing;
	/* Appends one user, assistant or tool line of claws-messages(5) to the serialised messages of c (blocks only if
	 * their maker is c->maker). */
	int (*add)(struct convo *c, const struct json *message, struct err *e);
	/* Serialises the value of a tools line's "tools" into c->tools. */
	int (*tools)(struct convo *c, const struct json *j, int tools, struct err *e);
	/* Writes the body. */
	int (*body)(const struct convo *c, const struct call_options *o, struct buf *out, struct err *e);
	/* One SSE event's data, or a whole JSON body. */
	void (*event)(struct answer *a, const struct json *j);
	void (*whole)(struct answer *a, const struct json *j);
	/* The end of the bytes: what is under way is finished, a->stop and a->terminal are set. NULL: nothing to do. */
	void (*end)(struct answer *a);
};

const struct wire *wire_find(const char *name);     /* NULL: none of that name */
const struct wire *wire_at(size_t i);               /* all of them in turn (wire.def); NULL: there are no more */
extern const char wire_choices[];
#define WIRE_NAMES (wire_choices + 1)               /* "anthropic|openai-chat|...": a constant for option tables */

#endif

/* gate.h - the gate of one process: rules, mode and tools out of options and environment. For claws-tool and claws-permit.
 *
 *   struct gate_options o = {.mode = ..., .allowed = ..., ...};       // NULL, empty: from the environment
 *   struct gate g;
 *   if (gate_open(&g, &o, heard, arg, &e) < 0) ...
 *   g.permit.where = ...; permit_judge(&g.permit, tool, ...);
 *   gate_close(&g);
 *
 * Environment: CLAWS_PERMISSION_MODE, CLAWS_TOOLS (the option wins), CLAWS_ALLOWED_TOOLS, CLAWS_DISALLOWED_TOOLS,
 * CLAWS_ASK_TOOLS, CLAWS_ADD_DIR (a directory a line) (the options add to them).
 *
 * A claws that runs inside a tool of another one never gets more than that one had: gate_mark puts mode, rules and
 * depth into the environment of tools, gate_open narrows itself by what it finds there (CLAWS_PARENT_MODE,
 * CLAWS_PARENT_ALLOWED, CLAWS_PARENT_ASKED, CLAWS_PARENT_DENIED, CLAWS_DEPTH). */
#ifndef AGENT_GATE_H
#define AGENT_GATE_H

#include "agent/manifest.h"
#include "agent/permit.h"
#include "opt/opt.h"

#define GATE_DEPTH_MAX 5

struct gate_options {
	const char *mode, *tools;
	struct opt_list allowed, denied, asked, add_dirs;
};

struct gate {
	struct permit permit;
	struct manifests tools;
	bool *offered;                /* of each tool */
	char *cwd;
	char **roots;                 /* [0] is cwd; NULL-terminated */
	long depth;                   /* 0: not inside a tool */
};

/* heard: notices (a broken manifest, a narrowed mode, a rule for a tool that is not there). ST_USAGE for an option that is
 * wrong, ST_NOINPUT for a directory that is not there, ST_CONFIG for what the environment says wrong (the text names
 * the variable). */
int gate_open(struct gate *g, const struct gate_options *o, manifest_heard *heard, void *arg, struct err *e);
void gate_close(struct gate *g);

/* The tool of this name if the model is offered it. */
const struct manifest *gate_tool(const struct gate *g, const char *name);

/* Sets the variables above in this process' environment: in a child that is about to run a tool. */
void gate_mark(const struct gate *g);

#endif

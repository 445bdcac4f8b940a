/* where.h - fsguard's verdict on a path in the gate's terms: the where_fn of agent/permit.h.
 *
 *   g.permit.where = where_is; g.permit.where_arg = &ctx;      // const struct tool_ctx: cwd, roots, blob_path */
#ifndef TOOLS_WHERE_H
#define TOOLS_WHERE_H

#include "agent/permit.h"

where_fn where_is;

#endif

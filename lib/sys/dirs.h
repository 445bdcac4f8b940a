/* dirs.h - where claws keeps what it keeps: claws(7) FILES.
 *
 *   struct buf p; buf_init(&p, PATH_MAX);
 *   if (dirs_state(&p, "sessions", &e) < 0) ...        // ~/.local/state/claws/sessions, made 0700 if missing
 *
 *               CLAWS_HOME set         else XDG variable, absolute         else
 *   config      CLAWS_HOME/config      $XDG_CONFIG_HOME/claws              ~/.config/claws
 *   data        CLAWS_HOME/data        $XDG_DATA_HOME/claws                ~/.local/share/claws
 *   state       CLAWS_HOME/state       $XDG_STATE_HOME/claws               ~/.local/state/claws
 *   cache       CLAWS_HOME/cache       $XDG_CACHE_HOME/claws               ~/.cache/claws
 *   runtime     CLAWS_HOME/run         $XDG_RUNTIME_DIR/claws              $TMPDIR/claws-UID
 *
 * A relative XDG value is ignored, as the XDG base directory specification demands; a relative CLAWS_HOME is an error
 * (ST_CONFIG), as is a HOME that is unset or relative where it is needed. The runtime directory is checked: a
 * directory, not a symlink, ours, 0700 (our own with wider rights is narrowed; anything else is the error ST_CONFIG).
 *
 * path is overwritten (not appended to). sub is a relative path below (NULL or "": none). Directories are created
 * 0700, sub included; dirs_*_path only names, creates nothing. 0, or -1 with e. */
#ifndef SYS_DIRS_H
#define SYS_DIRS_H

#include "base/buf.h"
#include "base/err.h"

int dirs_config(struct buf *path, const char *sub, struct err *e);
int dirs_data(struct buf *path, const char *sub, struct err *e);
int dirs_state(struct buf *path, const char *sub, struct err *e);
int dirs_cache(struct buf *path, const char *sub, struct err *e);
int dirs_runtime(struct buf *path, const char *sub, struct err *e);

/* The name of a file below the same directories; nothing is made or checked. For reading what may not be there. */
int dirs_config_path(struct buf *path, const char *sub, struct err *e);
int dirs_data_path(struct buf *path, const char *sub, struct err *e);
int dirs_state_path(struct buf *path, const char *sub, struct err *e);
int dirs_cache_path(struct buf *path, const char *sub, struct err *e);

/* A data file that comes with claws ("tools/Read.json", "base/x.md" of prompts is "prompts/base/x.md"): looked for in
 * ../share/claws and ../../share/claws beside the running program (/proc/self/exe), else in CLAWS_DATADIR
 * (compiled in, /usr/local/share/claws). ST_NOINPUT if it is nowhere. sub may be a directory. */
int dirs_share(struct buf *path, const char *sub, struct err *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A YAML document as a tree of nodes that know where they stood (libyaml). For matrices and adapters alike.
 *
 * The reader is strict so that nothing is lost in silence: exactly one document; duplicate keys (after
 * unquoting), tabs or no-break spaces in indentation, anchors that expand past the budget or contain
 * themselves, keys that are not plain text, NUL characters, and tags other than !!str, !!map and !!seq are
 * errors with a position. Scalars are text exactly as written ("no", "3.10", "0128"); a quoted one is marked,
 * a plain null (~, null, empty) is NODE_NULL. `<<` merges: explicit keys win wherever they stand, the first
 * source of a list wins; a quoted "<<" is an ordinary key. A `${...}` may stand unquoted in {} and [] too.
 * UTF-8 (with or without BOM), CRLF and UTF-16 (with BOM) are read.
 *
 * Nodes live in the caller's arena and are immutable once read: merging and interpolation build new ones. An
 * alias gives the anchor's own node again, so one node may hang in several places.
 */
#ifndef BENCHCTL_BASE_TREE_H
#define BENCHCTL_BASE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include "benchctl/base/arena.h"
#include "benchctl/base/error.h"
#include "benchctl/base/json.h"
#include "benchctl/base/strbuf.h"

#define TREE_MAX_BYTES ((size_t)16 << 20)
#define TREE_MAX_NODES 200000 /* after following aliases */
#define TREE_MAX_DEPTH 100
#define TREE_MAX_SCALAR ((size_t)1 << 20)

enum node_kind { NODE_NULL, NODE_SCALAR, NODE_LIST, NODE_MAP };

/* Where a node stood. `file` is the name given to the reader; line and column count from 1; 0 when made by
 * us. */
struct position {
    const char *file;
    int line, column;
};

struct node {
    enum node_kind kind;
    bool quoted;      /* a scalar in quotes or a block scalar */
    bool refers;      /* it, or something below it, holds a "${"; false is a promise that nothing does */
    const char *text; /* NODE_SCALAR; "" otherwise */
    struct position at;
    int end_line, end_column;  /* behind its last character, of a scalar that was read; else 0 */
    const struct node **items; /* NODE_LIST: the items; NODE_MAP: the values */
    const struct node **keys;  /* NODE_MAP: scalars, in order */
    size_t len;
};

/* Bytes to tree. ERROR_INVALID with "FILE:LINE:COL: ..." */
int tree_parse(const char *bytes, size_t len, const char *file, struct arena *a, const struct node **ret,
               struct error *err) MUST_CHECK;

/*
 * Appends the document as written, but with "***" for each value under a key that looks secret (schema.h) or
 * is called webhook, and for passwords inside URLs; what is only a ${...} stays. Comments stay too. For
 * copies that are kept.
 */
int tree_mask_secrets(const char *bytes, size_t len, const char *file, struct strbuf *out,
                      struct error *err) MUST_CHECK;

/* The value under `key` of a map, or NULL. */
const struct node *node_get(const struct node *map, const char *key);

/*
 * Fills err as "FILE:LINE:COL: message" (without a position: just the message); returns -1. Kind
 * ERROR_INVALID. Control characters and broken UTF-8 that came in with the input are shown escaped.
 */
int node_error(struct error *err, const struct node *where, const char *fmt, ...) PRINTF_LIKE(3, 4);
int position_error(struct error *err, struct position at, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Text of the input as messages quote it: escaped, and cut with "..." when long. Returns buf. */
#define SHOWN_SIZE 100
const char *text_shown(const char *text, char buf[SHOWN_SIZE]);

/* New nodes, for overrides and --set. Who fills items and keys also says whether they refer. */
struct node *node_new(struct arena *a, enum node_kind kind, struct position at);
struct node *node_new_text(struct arena *a, const char *text, struct position at);

/*
 * Deep merge: maps by key, everything else replaced by `over`; a null in `over` takes the key away. Neither
 * input is changed, unchanged parts are shared. Either may be NULL.
 */
const struct node *node_merge(struct arena *a, const struct node *base, const struct node *over);

/*
 * A copy of map `base` with `path` ("app.env.X", list indexes as numbers, `\.` for a dot in a key) set to
 * `value`; makes maps on the way. A null takes the key away; the index after the last one appends.
 */
int node_set_path(struct arena *a, const struct node *base, const char *path, const struct node *value,
                  const struct node **ret, struct error *err) MUST_CHECK;

bool node_equal(const struct node *a, const struct node *b); /* by kind and text, map order ignored */

/* The nearest of `names` (NULL entries skipped) to `text` by edit distance, or NULL when none is near. */
const char *nearest_name(const char *text, const char *const *names, size_t count);

#endif

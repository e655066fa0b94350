/* SPDX-License-Identifier: MIT */
/* What the parts of the tree reader share. */
#ifndef BENCHCTL_TREE_INTERNAL_H
#define BENCHCTL_TREE_INTERNAL_H

#include "benchctl/base/name_index.h"
#include "benchctl/base/tree.h"

/* A line whose indentation holds a tab or no-break space: fine inside a quoted or block scalar, else an
 * error. */
struct odd_indent {
    int line, column; /* from 1 */
    bool tab;
    bool blank; /* nothing but blanks or a comment follows */
};

/* The input as valid UTF-8 without BOM, NUL or control characters. */
struct source_text {
    const char *bytes;
    size_t len;
    char *owned; /* the converted text when it was UTF-16 */
    VEC(struct odd_indent) odd;
};

int source_text_read(struct source_text *s, const char *bytes, size_t len, const char *file,
                     struct error *err) MUST_CHECK;
void source_text_release(struct source_text *s);

/* A child that waits for its container's end. */
struct child {
    const struct node *key; /* of a map's */
    const struct node *value;
    bool merge; /* `<<:` */
};

/* Fills map `n` from its children: duplicate keys are errors, `<<` is resolved. */
int tree_build_map(struct arena *a, struct node *n, const struct child *children, size_t count,
                   struct error *err) MUST_CHECK;

#endif

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
    char *owned; /* the text when it is not the caller's */
    bool marked; /* by source_text_mark_references() */
    VEC(struct odd_indent) odd;
};

int source_text_read(struct source_text *s, const char *bytes, size_t len, const char *file,
                     struct error *err) MUST_CHECK;
void source_text_release(struct source_text *s);

/*
 * Makes the braces of `${...}` characters that YAML has no use for, so that a reference can stand without
 * quotes in
 * {...} and [...] as it can elsewhere; one character for one, so that positions stay. Nothing is done to a
 * text that has these characters itself.
 */
void source_text_mark_references(struct source_text *s);

/* Gives the braces back, in place; returns the new length. For scalars of a text with `marked` set. */
size_t source_text_unmark(char *text, size_t len);

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

/* SPDX-License-Identifier: MIT */
/*
 * `${...}` in text. `$${` is a literal `${`. Names are dotted words; `${env:NAME}`, `${env:NAME:-default}`
 * and
 * `${secret:NAME}` are passed to the lookup with their prefix. No expressions, no nesting.
 */
#ifndef BENCHCTL_BASE_INTERPOLATE_H
#define BENCHCTL_BASE_INTERPOLATE_H

#include <stdbool.h>
#include "benchctl/base/error.h"
#include "benchctl/base/strbuf.h"

enum lookup_result {
    LOOKUP_FOUND,   /* `out` got the value */
    LOOKUP_KEEP,    /* leave "${name}" as it is (known later) */
    LOOKUP_UNKNOWN, /* an error: "unresolved '${name}'" */
    LOOKUP_FAILED   /* err is filled already */
};

/* `name` is what stands between the braces, NUL-terminated. */
typedef enum lookup_result lookup_fn(const char *name, struct strbuf *out, void *data, struct error *err);

/* Appends `text` with every reference replaced. ERROR_INVALID without a position: the caller wraps. */
int interpolate(const char *text, lookup_fn *lookup, void *data, struct strbuf *out,
                struct error *err) MUST_CHECK;

/*
 * The same for a text that will be interpolated again, because the lookup keeps some references: "$${" stays
 * as it is and is turned into "${" by the last pass.
 */
int interpolate_partly(const char *text, lookup_fn *lookup, void *data, struct strbuf *out,
                       struct error *err) MUST_CHECK;

/* Does the text hold a reference at all? */
bool has_reference(const char *text);

/* Calls `visit` for each reference's name. Stops and returns -1 when visit does. */
int each_reference(const char *text, int (*visit)(const char *name, void *data, struct error *err),
                   void *data, struct error *err) MUST_CHECK;
/* The same for every text of a tree, which may be NULL. */
struct node;
int each_reference_below(const struct node *n, int (*visit)(const char *name, void *data, struct error *err),
                         void *data, struct error *err) MUST_CHECK;

#endif

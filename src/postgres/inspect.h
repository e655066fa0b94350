/* SPDX-License-Identifier: MIT */
/* Reads a manifest from a database, and mends what a proof finds mendable: planner statistics that are
 * missing. */
#ifndef BENCHCTL_POSTGRES_INSPECT_H
#define BENCHCTL_POSTGRES_INSPECT_H

#include "internal.h"

/* Everything of the database that `c` is connected to, into `a`. With `like`, only the tables that are quick
 * there are counted, else all. */
int inspect(struct postgres *p, struct connection *c, const struct manifest *like, struct arena *a,
            struct manifest *ret, struct error *err) MUST_CHECK;

/* ANALYZE for the tables that hold rows and have no statistics. *ret_count: how many. */
int inspect_analyze(struct connection *c, const struct manifest *m, size_t *ret_count,
                    struct error *err) MUST_CHECK;

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The state of a database as numbers that can be compared: rows and size of each table, position of each
 * sequence. Reading it is inspect.c's matter; here is the structure and the comparison, pure.
 */
#ifndef BENCHCTL_POSTGRES_MANIFEST_H
#define BENCHCTL_POSTGRES_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/strbuf.h"

#define ROWS_UNCOUNTED INT64_C(-1)

enum item_kind { ITEM_TABLE, ITEM_PARTITIONED, ITEM_VIEW /* materialized */, ITEM_SEQUENCE };

struct manifest_item {
    const char *name; /* quoted as SQL needs it: public.items */
    enum item_kind kind;
    bool quick;       /* small enough to be counted in every proof */
    bool populated;   /* false: a materialized view that cannot be read yet */
    bool statistics;  /* the planner has some */
    int64_t rows;     /* ROWS_UNCOUNTED */
    int64_t estimate; /* reltuples; -1: never analyzed */
    int64_t bytes;
    int columns, checks, indexes; /* the table's shape, dropped columns included */
    int64_t position;             /* of a sequence */
    bool called;
};

struct manifest {
    struct manifest_item *items; /* sorted by name, bytewise */
    size_t len;
    int64_t size_bytes;
    int64_t large_objects;
};

/* How exact two states have to be the same. */
struct manifest_tolerance {
    bool clone;         /* estimates and sizes of uncounted tables are the same too */
    double size_share;  /* of the database's size, and */
    int64_t size_bytes; /* at least so much */
};

/* Appends the differences, at most `DIFFERENCES_MAX`, separated by "; ". Returns how many there are. */
#define DIFFERENCES_MAX 10
size_t manifest_compare(const struct manifest *want, const struct manifest *have,
                        const struct manifest_tolerance *t, struct strbuf *out);

/* Marks the tables that together can be counted in a few milliseconds, smallest first. */
void manifest_choose_quick(struct manifest *m);

const struct manifest_item *manifest_find(const struct manifest *m, const char *name);
void manifest_sort(struct manifest *m);

#endif

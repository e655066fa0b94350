/* SPDX-License-Identifier: MIT */
/* The scenarios of a searched plan by combination of the other axes: what each search has to choose from. */
#ifndef BENCHCTL_PLAN_CANDIDATES_H
#define BENCHCTL_PLAN_CANDIDATES_H

#include "grid.h"

struct candidates {
    size_t axis;     /* the one that is searched */
    uint32_t *items; /* scenario indexes: combination by combination, in each the smallest size first */
    uint32_t *first; /* per combination where its own begin, and the end */
    size_t len;      /* combinations that have any; 0: nothing is searched */
};

/* `kept` are the combinations of the grid that are scenarios, ascending: scenario i is kept[i]. */
void candidates_init(struct candidates *c, const struct grid *g, const uint32_t *kept, size_t kept_len);
void candidates_release(struct candidates *c);

/* How many combination `i` has. */
size_t candidates_count(const struct candidates *c, size_t i);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The space that a matrix' axes span, as numbers. A *combination* is a number below `combos`; its *digits*
 * are one value index per axis. Axes that are zipped share one dimension; the last dimension varies fastest.
 * Values that only an `include` brings get indexes from `listed` on and are in no combination.
 */
#ifndef BENCHCTL_PLAN_GRID_H
#define BENCHCTL_PLAN_GRID_H

#include "benchctl/base/name_index.h"
#include "benchctl/matrix.h"

#define PLAN_MAX_COMBINATIONS 10000000
#define GRID_INDEX_SLOT 24 /* bytes per slot of a name_index, for plan_bytes() */
#define PLAN_MAX_ID 2000   /* bytes of the longest id: run directories must stay below PATH_MAX */

struct grid_axis {
    const struct axis *axis;
    const struct axis_value **values; /* `listed` of the axis itself, then those of includes */
    const char **parts;               /* of the id */
    size_t listed, total;
    struct name_index by_text, by_part; /* → index of the value */
    size_t dim;
};

struct grid_dim {
    uint32_t len;
    uint32_t stride; /* combinations per step of this dimension */
};

struct grid {
    const struct matrix *m;
    struct arena *arena; /* borrowed */
    struct grid_axis *axes;
    size_t axis_count;
    struct grid_dim *dims;
    size_t dim_count;
    uint32_t combos;
    uint64_t product; /* combinations if nothing were zipped; UINT64_MAX when that does not fit */
};

/* Checks axes and zip groups, adds the values that includes bring. `g` is released also after a failure. */
int grid_init(struct grid *g, const struct matrix *m, struct arena *a, struct error *err) MUST_CHECK;
void grid_release(struct grid *g);
size_t grid_bytes(const struct grid *g); /* beyond the arena */

/* The index of a value by its text, its part of an id, or SIZE_MAX. */
size_t grid_value(const struct name_index *by, const char *name);

void grid_digits(const struct grid *g, uint32_t combo, uint32_t *ret_digits);

/* The combination with these digits: false when there is none (a new value, or zipped axes out of step). */
bool grid_combo(const struct grid *g, const uint32_t *digits, uint32_t *ret_combo);

/* Appends the id. A matrix without axes has one scenario, "default". */
void grid_id(const struct grid *g, const uint32_t *digits, struct strbuf *out);

/* The digits that an id names; false when it names no values of the axes. */
bool grid_parse_id(const struct grid *g, const char *id, uint32_t *ret_digits);

#endif

/* SPDX-License-Identifier: MIT */
/* A layout of the results: what layout.c decides and tables.c writes down. */
#ifndef BENCHCTL_REPORT_LAYOUT_H
#define BENCHCTL_REPORT_LAYOUT_H

#include "report_internal.h"

/* A dimension that is not an axis, and three things that are shown like figures. */
#define DIMENSION_FIGURES SIZE_MAX
#define SHOWN_COUNT (SIZE_MAX - 1)
#define SHOWN_OUTCOME (SIZE_MAX - 2)
#define SHOWN_MODEL (SIZE_MAX - 3)

#define ABSENT_ROWS_MAX 200 /* values without a scenario that get a row; of an axis with more none does */

struct entry {
    const struct cell *cell;
    size_t figure; /* index into `shown`; 0 when figures are columns */
};

struct layout {
    struct report *r;
    VEC(size_t) tables; /* dimensions, outermost first */
    VEC(size_t) rows;
    size_t cols;
    VEC(size_t) shown;   /* figures, SHOWN_... among them */
    VEC(size_t) columns; /* ranks on the axis of the columns, or indices into `shown` */
    VEC(struct entry) entries;
    size_t most;          /* trials that any cell counts */
    size_t first_section; /* of its tables */
    size_t value_rows;    /* values of the rows' only axis that are a row of every table; 0: not asked for */
    size_t next_value;    /* of the table that is being written: the first that has no row yet */
};

bool layout_has(const size_t *dimensions, size_t count, size_t dimension);
bool layout_figures_are_tables(const struct layout *l);
size_t layout_place(const struct entry *e, size_t dimension);
int layout_compare(const struct entry *a, const struct entry *b, const size_t *dimensions, size_t count);
bool figure_shown(const struct report *r, size_t figure); /* has something to say anywhere */

/* tables.c */
void layout_write(struct layout *l);

#endif

/* SPDX-License-Identifier: MIT */
/* The figures that each phase and kind of request has in its table, in the order of their columns. */
#ifndef BENCHCTL_REPORT_PART_FIGURES_H
#define BENCHCTL_REPORT_PART_FIGURES_H

#include "report_internal.h"

enum { PART_FIGURES = 6, PART_GOODPUT = 0, PART_P99 = 4 };

struct part_figure {
    const char *path, *name, *measure, *heading;
    enum unit unit;
};
extern const struct part_figure part_figures[PART_FIGURES];

/* Where they begin among the report's; SIZE_MAX: it has none. */
size_t part_first_figure(const struct report *r, enum part_kind kind, const char *name);

#endif

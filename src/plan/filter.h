/* SPDX-License-Identifier: MIT */
/*
 * Filters of the command line: "axis=value,value", "axis!=value,value", "axis<=value" and `<`, `>=`, `>` on
 * sizes, durations and numbers; values may be globs. Without an operator a filter is a scenario's id or a
 * glob over ids.
 */
#ifndef BENCHCTL_PLAN_FILTER_H
#define BENCHCTL_PLAN_FILTER_H

#include "benchctl/plan.h"
#include "grid.h"

struct filter {
    const char *text;
    const char *id_glob; /* NULL: one axis */
    size_t axis;
    const bool *allowed; /* per value of the axis, included ones too */
};

/* ERROR_USAGE for everything that is wrong, also a value that the axis does not have. */
int filters_parse(const struct grid *g, const struct plan_options *options, struct filter **ret,
                  struct error *err) MUST_CHECK;

/* The first filter that the scenario does not pass, or NULL. `scratch` is overwritten when an id is needed.
 */
const struct filter *filters_stop(const struct filter *filters, size_t count, const struct grid *g,
                                  const uint32_t *digits, struct strbuf *scratch);

#endif

/* SPDX-License-Identifier: MIT */
/* The ways in which `benchctl plan` shows a plan. Each streams to stdout. */
#ifndef BENCHCTL_CMD_PLAN_PRINT_H
#define BENCHCTL_CMD_PLAN_PRINT_H

#include "benchctl/plan.h"

/* Text on its way to stdout, written in large pieces. */
struct plan_output {
    struct strbuf text;
};
int plan_output_some(struct plan_output *o, struct error *err) MUST_CHECK; /* once enough has gathered */
int plan_output_end(struct plan_output *o, struct error *err) MUST_CHECK;

/* Appends how many canaries there will be, and of what; nothing without one. */
void plan_add_canaries(const struct plan *p, struct strbuf *out);

/* Appends one field of CSV, quoted where it must be. */
void csv_field(struct strbuf *out, const char *text, bool first);

int plan_print_ids(const struct plan *p, struct error *err) MUST_CHECK;
int plan_print_table(const struct plan *p, struct error *err) MUST_CHECK;
int plan_print_searches(const struct plan *p,
                        struct error *err) MUST_CHECK; /* the table when there are any */
int plan_print_csv(const struct plan *p, struct error *err) MUST_CHECK;

enum plan_style { PLAN_STYLE_TABLE, PLAN_STYLE_JSON, PLAN_STYLE_CSV };

int plan_print_reasons(const struct plan *p, enum plan_style style, struct error *err) MUST_CHECK;
int plan_print_diff(const struct plan *now, const struct plan *before, enum plan_style style,
                    struct error *err) MUST_CHECK;

#endif

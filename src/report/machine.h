/* SPDX-License-Identifier: MIT */
/* What the formats for other programs share: every number of a trial by its name, and how numbers are
 * written. */
#ifndef BENCHCTL_REPORT_MACHINE_H
#define BENCHCTL_REPORT_MACHINE_H

#include "report_internal.h"

/* The shortest text that reads back as the same double; infinities as Inf and -Inf. */
void machine_number(struct strbuf *out, double value);

/* What a summary of several trials has beside `n`. */
struct summary_member {
    const char *name;
    size_t offset; /* of a double in struct summary */
    const char *help;
};
extern const struct summary_member summary_members[];
extern const size_t summary_member_count;

/* The unit of a number as it is recorded under `name`, as number_fn has it. */
const char *machine_unit(const char *name);

/* One number of a trial. `unit` is of the value as recorded: "ms", "bytes", "cores", "s", "ratio" (of 1),
 * "percent", "1/s", "" for a plain number. Both texts are the callee's only during the call. */
typedef void number_fn(const char *name, double value, const char *unit, void *data);
/*
 * Each number that the trial has, by its recorded name (docs/outcomes.md), in the order of the record; then
 * "phases.NAME.x", "requests.NAME.x", "steps.NAME.x", "build.STEP.x", "checks.NAME" (where the value is a
 * number) and what the report works out. None twice: of parts with the same name it is the first. Limits that
 * are unlimited are INFINITY; what was not measured is left out.
 */
void trial_numbers(const struct report *r, const struct trial *t, number_fn *each, void *data);

#endif

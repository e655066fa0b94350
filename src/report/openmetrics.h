/* SPDX-License-Identifier: MIT */
/* How figures and axes are called in OpenMetrics. */
#ifndef BENCHCTL_REPORT_OPENMETRICS_H
#define BENCHCTL_REPORT_OPENMETRICS_H

#include "machine.h"

#define OPENMETRICS_OUTCOME "benchctl_trial_outcome"
#define OPENMETRICS_COUNTED "benchctl_trial_counted"
#define OPENMETRICS_COMPLETE "benchctl_sweep_complete"

/* What figures of one kind have in common: names that somebody chose are labels. */
struct openmetrics_family {
    char *name;       /* without the unit */
    const char *unit; /* "" for none */
    double divisor;   /* of recorded values */
    char *help;
};
void openmetrics_family_of(const struct figure *f, struct openmetrics_family *ret);
void openmetrics_family_release(struct openmetrics_family *f);
bool openmetrics_same_family(const struct figure *a, const struct figure *b);

/* The label that has the name in the figure's key that somebody chose (a service, a phase); NULL: there is
 * none. */
const char *openmetrics_label(const struct figure *f);

/*
 * "jvm-heap" is jvm_heap. What begins with a digit or an underscore (two are reserved), or is called like a
 * label of ours or like one of the `count` `names` before, has axis_ before it, and a number behind where
 * that does not help. The caller frees.
 */
char *openmetrics_axis_label(char *const *names, size_t count, const char *axis);

#endif

/* SPDX-License-Identifier: MIT */
/* Numbers in, numbers out: summaries over trials. NAN inputs are skipped; nothing measured gives NAN. Pure.
 */
#ifndef BENCHCTL_STATS_H
#define BENCHCTL_STATS_H

#include <stddef.h>

struct summary {
    size_t n; /* values that were numbers */
    double mean, median, min, max;
    double stdev;     /* sample standard deviation; NAN for n < 2 */
    double cv_pct;    /* stdev / mean in percent */
    double low, high; /* 95 % confidence interval of the mean (Student's t); NAN for n < 2 */
};

/* `values` are not changed. */
void stats_summary(const double *values, size_t count, struct summary *ret);

/* The p-quantile (0..1) of values by linear interpolation of order statistics (type 7). Sorts a copy. */
double stats_quantile(const double *values, size_t count, double p);

/* Student's t quantile, 97.5 %, for df >= 1. */
double stats_t975(size_t df);

#endif

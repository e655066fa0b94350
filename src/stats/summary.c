/* SPDX-License-Identifier: MIT */
#include "benchctl/stats.h"

#include <math.h>
#include "benchctl/base/mem.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The values that are numbers, sorted. The caller frees. */
static double *sorted_numbers(const double *values, size_t count, size_t *ret_n)
{
    double *copy = xmalloc((count ? count : 1) * sizeof(*copy));
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            copy[n++] = values[i];
    qsort(copy, n, sizeof(*copy), compare);
    *ret_n = n;
    return copy;
}

/* Type 7 of Hyndman and Fan (1996): linear between the order statistics around (n - 1) p. */
static double quantile_of(const double *sorted, size_t n, double p)
{
    if (!n || isnan(p))
        return NAN;
    double at = (double)(n - 1) * (p < 0 ? 0 : p > 1 ? 1 : p);
    size_t below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    double part = at - (double)below;
    return part == 0 ? sorted[below] : sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double stats_quantile(const double *values, size_t count, double p)
{
    size_t n;
    CLEANUP_FREE double *sorted = sorted_numbers(values, count, &n);

    return quantile_of(sorted, n, p);
}

/* 97.5 % quantiles of Student's t for 1..30 degrees of freedom (any table of the distribution). */
static const double t975[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                              2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                              2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double stats_t975(size_t df)
{
    if (!df)
        return NAN;
    if (df <= ARRAY_LEN(t975))
        return t975[df - 1];
    /* Cornish-Fisher expansion around the normal quantile z: exact to four digits beyond 30 (Abramowitz and
     * Stegun 26.7.5). */
    double z = 1.959964, n = (double)df;
    return z + (pow(z, 3) + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

void stats_summary(const double *values, size_t count, struct summary *ret)
{
    size_t n;
    CLEANUP_FREE double *sorted = sorted_numbers(values, count, &n);
    struct summary s = {.n = n,
                        .mean = NAN,
                        .median = NAN,
                        .min = NAN,
                        .max = NAN,
                        .stdev = NAN,
                        .cv_pct = NAN,
                        .low = NAN,
                        .high = NAN};
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += sorted[i];
    if (n) {
        s.mean = sum / (double)n;
        s.median = quantile_of(sorted, n, 0.5);
        s.min = sorted[0];
        s.max = sorted[n - 1];
    }
    for (size_t i = 0; i < n; i++) /* two passes: no cancellation */
        squares += (sorted[i] - s.mean) * (sorted[i] - s.mean);
    if (n >= 2) {
        s.stdev = sqrt(squares / (double)(n - 1));
        s.cv_pct = s.mean != 0 ? 100 * s.stdev / fabs(s.mean) : NAN;
        double half = stats_t975(n - 1) * s.stdev / sqrt((double)n);
        s.low = s.mean - half;
        s.high = s.mean + half;
    }
    *ret = s;
}

/* SPDX-License-Identifier: MIT */
/* Where the level of a series changes, and from where on it stays. */
#include "benchctl/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "benchctl/base/mem.h"

/* A change must make the series so much likelier: with less, noise alone is cut into pieces. */
#define PENALTY 3.0
#define SEGMENT_MIN 10
#define WINSOR_HALF 5 /* bins on either side that say what is usual around one */
#define WINSOR_SIGMAS 3.0
#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */
#define BINS_MAX 2000       /* longer series are taken in coarser bins: the search is quadratic */
#define EQUAL_MIN 0.01      /* levels that differ by less are one */
/* Or by less than so many times the noise of one value: a machine's moods are no levels. */
#define NOISES 2.0
#define LENGTH_MIN 0.5 /* of the series */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Each value pulled in to what its neighbourhood allows: one stall is no change of level. */
static void winsorise(const double *values, size_t count, double *ret)
{
    double near[2 * WINSOR_HALF + 1], off[2 * WINSOR_HALF + 1];

    for (size_t i = 0; i < count; i++) {
        size_t from = i > WINSOR_HALF ? i - WINSOR_HALF : 0;
        size_t to = i + WINSOR_HALF + 1 < count ? i + WINSOR_HALF + 1 : count, n = to - from;
        memcpy(near, values + from, n * sizeof(*near));
        double middle = median(near, n);
        for (size_t k = 0; k < n; k++)
            off[k] = fabs(values[from + k] - middle);
        double most = WINSOR_SIGMAS * MAD_TO_SIGMA * median(off, n);
        ret[i] = fmin(fmax(values[i], middle - most), middle + most);
    }
}

/* Of a value around its level, from the differences of neighbours, which changes of level hardly touch. */
static double noise_of(const double *values, size_t count)
{
    CLEANUP_FREE double *steps = xcalloc(count, sizeof(*steps));

    for (size_t i = 0; i + 1 < count; i++)
        steps[i] = fabs(values[i + 1] - values[i]);
    return MAD_TO_SIGMA * median(steps, count - 1) / sqrt(2);
}

/* Squares about the mean of values [from, to). */
static double squares(const double *sum, const double *sum2, size_t from, size_t to)
{
    double n = (double)(to - from), s = sum[to] - sum[from];

    return fmax(0, sum2[to] - sum2[from] - s * s / n);
}

/* Optimal partitioning: the cheapest way to cut [0, i) into segments of at least SEGMENT_MIN. */
static size_t partition(const double *values, size_t count, double variance, size_t *ret)
{
    CLEANUP_FREE double *sum = xcalloc(count + 1, sizeof(*sum)), *sum2 = xcalloc(count + 1, sizeof(*sum2));
    CLEANUP_FREE double *cost = xcalloc(count + 1, sizeof(*cost));
    CLEANUP_FREE size_t *begin = xcalloc(count + 1, sizeof(*begin));
    double penalty = PENALTY * log((double)count) * variance;
    size_t segments = 0;

    for (size_t i = 0; i < count; i++) {
        sum[i + 1] = sum[i] + values[i];
        sum2[i + 1] = sum2[i] + values[i] * values[i];
    }
    for (size_t i = 1; i <= count; i++) {
        cost[i] = squares(sum, sum2, 0, i);
        for (size_t k = SEGMENT_MIN; k + SEGMENT_MIN <= i; k++) {
            double with = cost[k] + penalty + squares(sum, sum2, k, i);
            if (with < cost[i]) {
                cost[i] = with;
                begin[i] = k;
            }
        }
    }
    for (size_t i = count; i > 0; i = begin[i])
        segments++;
    size_t at = segments;
    for (size_t i = count; i > 0; i = begin[i])
        ret[--at] = begin[i];
    return segments;
}

/* Without what is common to all of them: otherwise squares of large numbers would lose their digits. */
static void centre(double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    for (size_t i = 0; i < count; i++)
        values[i] -= sum / (double)count;
}

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

size_t stats_changepoints(const double *values, size_t count, size_t *ret)
{
    if (count == 0)
        return 0;
    ret[0] = 0;
    if (count < 2 * SEGMENT_MIN || !all_finite(values, count))
        return 1;
    CLEANUP_FREE double *calm = xcalloc(count, sizeof(*calm));
    winsorise(values, count, calm);
    double noise = noise_of(calm, count);
    centre(calm, count);
    return partition(calm, count, noise * noise, ret);
}

/* --- steady state --- */

static double mean_of(const double *values, size_t from, size_t to)
{
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += values[i];
    return sum / (double)(to - from);
}

/* Seconds as they are, or the means of so many of them that there are at most BINS_MAX. */
static size_t coarser(const double *values, size_t count, size_t by, double *ret)
{
    size_t n = count / by; /* a rest at the end is left out */

    for (size_t i = 0; i < n; i++)
        ret[i] = mean_of(values, i * by, (i + 1) * by);
    return n;
}

static enum steady_class classify(const double *values, size_t count, size_t from, double tolerance)
{
    if (from == 0)
        return STEADY_FLAT;
    double before = mean_of(values, 0, from), level = mean_of(values, from, count);
    if ((double)(count - from) >= LENGTH_MIN * (double)count)
        return before > level ? STEADY_SLOWDOWN : STEADY_WARM_UP;
    return before > level + tolerance && from >= LENGTH_MIN * (double)count ? STEADY_SLOWDOWN : STEADY_NONE;
}

bool stats_steady(const double *values, size_t count, struct steady *ret)
{
    size_t by = (count + BINS_MAX - 1) / BINS_MAX;

    if (count < STEADY_BINS_MIN || !all_finite(values, count))
        return false;
    CLEANUP_FREE double *bins = xcalloc(count, sizeof(*bins)), *calm = xcalloc(count, sizeof(*calm));
    CLEANUP_FREE size_t *begins = xcalloc(count, sizeof(*begins));
    size_t n = coarser(values, count, by, bins), segments = stats_changepoints(bins, n, begins);
    winsorise(bins, n, calm);
    double noise = noise_of(calm, n);
    size_t from = begins[segments - 1];
    double level = mean_of(calm, from, n), tolerance = fmax(EQUAL_MIN * fabs(level), NOISES * noise);
    for (size_t i = segments - 1; i > 0; i--) {
        if (fabs(mean_of(calm, begins[i - 1], begins[i]) - level) > tolerance)
            break;
        from = begins[i - 1];
        level = mean_of(calm, from, n);
    }
    *ret = (struct steady){
        .is = classify(calm, n, from, tolerance), .from = from * by, .level = mean_of(bins, from, n)};
    return true;
}

const char *steady_name(enum steady_class c)
{
    static const char *const names[] = {[STEADY_FLAT] = "flat",
                                        [STEADY_WARM_UP] = "warm-up",
                                        [STEADY_SLOWDOWN] = "slowdown",
                                        [STEADY_NONE] = "no steady state"};

    return names[c];
}

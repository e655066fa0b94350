/* SPDX-License-Identifier: MIT */
#include "document.h"

#include <math.h>

void numbers_release(struct numbers *n)
{
    vec_release(&n->list);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double sum_of(const struct numbers *n)
{
    double sum = 0;

    for (size_t i = 0; i < n->list.len; i++)
        sum += n->list.items[i];
    return sum;
}

static double mean_of(const struct numbers *n)
{
    return sum_of(n) / (double)n->list.len;
}

static double stdev_of(const struct numbers *n)
{
    double mean = mean_of(n), sum = 0;

    for (size_t i = 0; i < n->list.len; i++)
        sum += (n->list.items[i] - mean) * (n->list.items[i] - mean);
    return n->list.len > 1 ? sqrt(sum / (double)(n->list.len - 1)) : NAN;
}

static double between(const struct numbers *n, double at)
{
    const double *sorted = n->list.items;
    size_t i = (size_t)at;

    return i + 1 < n->list.len ? sorted[i] + (sorted[i + 1] - sorted[i]) * (at - (double)i)
                               : sorted[n->list.len - 1];
}

/* Nearest rank: the smallest number that at least that share is not above. */
static double quantile_of(struct numbers *n, double quantile)
{
    qsort(n->list.items, n->list.len, sizeof(double), ascending);
    if (n->interpolate)
        return between(n, quantile * (double)(n->list.len - 1));
    double rank = ceil(quantile * (double)n->list.len - 1e-9);
    size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return n->list.items[index < n->list.len ? index : n->list.len - 1];
}

double numbers_take(struct numbers *n, enum take take, double quantile)
{
    size_t len = n->list.len;

    if (n->taken)
        return len ? n->list.items[0] : NAN;
    if (!len)
        return n->present && (take == TAKE_SUM || take == TAKE_COUNT) ? 0 : NAN;
    switch (take) {
    case TAKE_FIRST:
        return n->list.items[0];
    case TAKE_LAST:
        return n->list.items[len - 1];
    case TAKE_COUNT:
        return (double)len;
    case TAKE_SUM:
        return sum_of(n);
    case TAKE_MIN:
        return quantile_of(n, 0);
    case TAKE_MAX:
        return quantile_of(n, 1);
    case TAKE_MEAN:
        return mean_of(n);
    case TAKE_STDEV:
        return stdev_of(n);
    case TAKE_QUANTILE:
        return quantile_of(n, quantile);
    }
    return NAN;
}

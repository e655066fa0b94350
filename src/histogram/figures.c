/* SPDX-License-Identifier: MIT */
/* What is asked of a histogram. */
#include "layout.h"

#include <float.h>
#include <math.h>

#define US_PER_MS 1000.0

uint64_t histogram_count(const struct histogram *h)
{
    return h->total;
}

uint64_t histogram_saturated(const struct histogram *h)
{
    return h->saturated;
}

/* ceil(q * n), where a product that only rounding lifted above a whole number counts as that number. */
static uint64_t rank_of(double q, uint64_t total)
{
    double product = q * (double)total;
    double rank = ceil(product - product * 4 * DBL_EPSILON);

    if (!(rank >= 1))
        return 1;
    return rank >= (double)total ? total : (uint64_t)rank;
}

double histogram_quantile_ms(const struct histogram *h, double q)
{
    uint64_t rank = rank_of(q, h->total), seen = 0;

    if (!h->total)
        return NAN;
    for (uint32_t i = h->lowest; i < h->end; i++) {
        seen = count_add(seen, counted(h, i));
        if (seen >= rank) {
            int64_t highest = highest_of(i);
            return (double)(highest < h->max_us ? highest : h->max_us) / US_PER_MS;
        }
    }
    return (double)h->max_us / US_PER_MS;
}

double histogram_min_ms(const struct histogram *h)
{
    return h->total ? (double)value_of(h->lowest) / US_PER_MS : NAN;
}

double histogram_max_ms(const struct histogram *h)
{
    return h->total ? (double)h->max_us / US_PER_MS : NAN;
}

static double mean_us(const struct histogram *h)
{
    double sum = 0;

    for (uint32_t i = h->lowest; i < h->end; i++)
        sum += (double)middle_of(i) * (double)counted(h, i);
    return sum / (double)h->total;
}

double histogram_mean_ms(const struct histogram *h)
{
    return h->total ? mean_us(h) / US_PER_MS : NAN;
}

double histogram_stdev_ms(const struct histogram *h)
{
    double mean, sum = 0;

    if (!h->total)
        return NAN;
    mean = mean_us(h);
    for (uint32_t i = h->lowest; i < h->end; i++) {
        double away = (double)middle_of(i) - mean;
        sum += away * away * (double)counted(h, i);
    }
    return sqrt(sum / (double)h->total) / US_PER_MS;
}

uint64_t histogram_count_above(const struct histogram *h, int64_t value_us)
{
    uint64_t above = 0;

    if (value_us >= HISTOGRAM_MAX_US)
        return 0;
    uint32_t from = value_us < 0 ? 0 : index_of(value_us) + 1;
    for (uint32_t i = from > h->lowest ? from : h->lowest; i < h->end; i++)
        above = count_add(above, counted(h, i));
    return above;
}

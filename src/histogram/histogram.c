/* SPDX-License-Identifier: MIT */
/* Counting and merging. */
#include "layout.h"

#include <string.h>

struct histogram *histogram_new(void)
{
    struct histogram *h = xcalloc(1, sizeof(*h));

    h->lowest = COUNTS_LEN;
    return h;
}

void histogram_free(struct histogram *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < ARRAY_LEN(h->blocks); i++)
        free(h->blocks[i]);
    free(h);
}

void histogram_clear(struct histogram *h)
{
    for (uint32_t i = h->lowest / BLOCK_LEN; i * BLOCK_LEN < h->end; i++)
        if (h->blocks[i])
            memset(h->blocks[i], 0, BLOCK_LEN * sizeof(*h->blocks[i]));
    h->total = h->saturated = 0;
    h->max_us = 0;
    h->lowest = COUNTS_LEN;
    h->end = 0;
}

void histogram_record(struct histogram *h, int64_t value_us, uint64_t count)
{
    if (!count)
        return;
    if (value_us < 0)
        value_us = 0;
    if (value_us > HISTOGRAM_MAX_US) {
        value_us = HISTOGRAM_MAX_US;
        h->saturated = count_add(h->saturated, count);
    }
    if (value_us > h->max_us)
        h->max_us = value_us;
    h->total = count_add(h->total, count);
    touch(h, index_of(value_us), count);
}

void histogram_record_ns(struct histogram *h, int64_t value_ns)
{
    int64_t us = value_ns > INT64_MAX - 500 ? INT64_MAX / 1000 : (value_ns + 500) / 1000;

    histogram_record(h, us, 1);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (uint32_t i = from->lowest; i < from->end; i++)
        if (counted(from, i))
            touch(into, i, counted(from, i));
    into->max_us = from->max_us > into->max_us ? from->max_us : into->max_us;
    into->total = count_add(into->total, from->total);
    into->saturated = count_add(into->saturated, from->saturated);
}

/* How many of value - k * interval (k >= 1), as far as they are not below the interval, lie in [low, high]?
 */
static uint64_t missing_within(int64_t value, int64_t interval, int64_t low, int64_t high)
{
    low = low < interval ? interval : low;
    high = high > value - interval ? value - interval : high;
    if (low > high)
        return 0;
    return (uint64_t)((value - low) / interval - (value - high - 1) / interval);
}

static void add_missing(struct histogram *into, int64_t value, uint64_t count, int64_t interval)
{
    int64_t first = value - interval, steps = value / interval - 1;

    if (steps <= COUNTS_LEN) {
        for (int64_t missing = first; missing >= interval; missing -= interval)
            histogram_record(into, missing, count);
        return;
    }
    /* An interval much shorter than the buckets: a bucket at a time. */
    for (uint32_t i = index_of(interval), last = index_of(first); i <= last; i++) {
        uint64_t here = missing_within(value, interval, value_of(i), highest_of(i)), product;
        if (__builtin_mul_overflow(here, count, &product))
            product = UINT64_MAX;
        histogram_record(into, i == last ? first : value_of(i), product);
    }
}

void histogram_add_corrected(struct histogram *into, const struct histogram *from, int64_t interval_us)
{
    uint32_t lowest = from->lowest, end = from->end;

    for (uint32_t i = lowest; i < end && interval_us > 0; i++)
        if (counted(from, i) && value_of(i) > interval_us && value_of(i) - interval_us >= interval_us)
            add_missing(into, value_of(i), counted(from, i), interval_us);
    histogram_merge(into, from);
}

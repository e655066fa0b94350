/* SPDX-License-Identifier: MIT */
/* Counting, merging and what is asked of a histogram; every bucket's borders. */
#include "unit/check.h"

#include <math.h>
#include "benchctl/histogram.h"
#include "layout.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fmax(1, fabs((double)(b))))

static void nothing_is_not_measured(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();

    (void)state;
    assert_int_equal(histogram_count(h), 0);
    assert_true(isnan(histogram_quantile_ms(h, 0.5)) && isnan(histogram_mean_ms(h)));
    assert_true(isnan(histogram_min_ms(h)) && isnan(histogram_max_ms(h)) && isnan(histogram_stdev_ms(h)));
    histogram_record(h, 5, 0);
    assert_int_equal(histogram_count(h), 0);
    assert_true(isnan(histogram_max_ms(h)));
}

static void buckets_cover_all_values(void **state)
{
    (void)state;
    assert_int_equal(value_of(0), 0);
    assert_int_equal(COUNTS_LEN, 23552);
    for (uint32_t i = 0; i + 1 < COUNTS_LEN && value_of(i + 1) <= HISTOGRAM_MAX_US; i++) {
        int64_t low = value_of(i), high = highest_of(i);
        assert_int_equal(high + 1, value_of(i + 1));
        assert_int_equal(index_of(low), i);
        assert_int_equal(index_of(high), i);
        assert_true((double)(high - low) <= 0.001 * (double)low);
    }
    assert_true(index_of(HISTOGRAM_MAX_US) < COUNTS_LEN);
    assert_int_equal(highest_of(index_of(HISTOGRAM_MAX_US)), HISTOGRAM_MAX_US);
}

static void quantiles_by_rank(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();

    (void)state;
    for (int64_t us = 1; us <= 1000; us++)
        histogram_record(h, us, 1);
    assert_near(histogram_quantile_ms(h, 0), 0.001);
    assert_near(histogram_quantile_ms(h, 0.5), 0.5);
    assert_near(histogram_quantile_ms(h, 0.5001), 0.501);
    assert_near(histogram_quantile_ms(h, 0.99), 0.99);
    assert_near(histogram_quantile_ms(h, 0.999), 0.999);
    assert_near(histogram_quantile_ms(h, 0.9991), 1.0);
    assert_near(histogram_quantile_ms(h, 1), 1.0);
    assert_near(histogram_mean_ms(h), 0.5005);
    assert_near(histogram_stdev_ms(h), sqrt((1e6 - 1) / 12) / 1000);
    assert_int_equal(histogram_count_above(h, 990), 10);
    assert_int_equal(histogram_count_above(h, 1000), 0);
    assert_int_equal(histogram_count_above(h, -1), 1000);
}

/* 0.07 * 100 is a little above 7 in doubles; the rank is 7. */
static void ranks_survive_rounding(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();

    (void)state;
    for (int64_t us = 1; us <= 100; us++)
        histogram_record(h, us, 1);
    for (int p = 1; p <= 100; p++)
        assert_near(histogram_quantile_ms(h, p / 100.0), p / 1000.0);
}

static void never_above_the_greatest(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();

    (void)state;
    histogram_record(h, 1000001, 3);
    assert_near(histogram_quantile_ms(h, 0.5), 1000.001);
    assert_near(histogram_max_ms(h), 1000.001);
    assert_near(histogram_min_ms(h), 999.936); /* lowest value of the bucket of 512 us */
    histogram_record(h, 2000000, 1);
    assert_near(histogram_quantile_ms(h, 0.5), 1000.447);
}

static void assert_same(const struct histogram *a, const struct histogram *b)
{
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->saturated, b->saturated);
    assert_int_equal(a->max_us, b->max_us);
    assert_int_equal(a->lowest, b->lowest);
    assert_int_equal(a->end, b->end);
    for (uint32_t i = 0; i < COUNTS_LEN; i++)
        assert_int_equal(counted(a, i), counted(b, i));
}

static void odd_values(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();

    (void)state;
    histogram_record(h, -7, 2);
    histogram_record(h, INT64_MIN, 1);
    assert_near(histogram_max_ms(h), 0);
    histogram_record(h, HISTOGRAM_MAX_US, 1);
    assert_int_equal(histogram_saturated(h), 0);
    histogram_record(h, HISTOGRAM_MAX_US + 1, 4);
    histogram_record(h, INT64_MAX, 1);
    assert_int_equal(histogram_saturated(h), 5);
    assert_int_equal(histogram_count(h), 9);
    assert_near(histogram_max_ms(h), 3600000.0);
    assert_near(histogram_quantile_ms(h, 1), 3600000.0);
    histogram_clear(h);
    assert_int_equal(histogram_saturated(h), 0);
    histogram_record_ns(h, 1499);
    histogram_record_ns(h, 1500);
    histogram_record_ns(h, -5);
    histogram_record_ns(h, 499);
    assert_int_equal(counted(h, 0), 2);
    assert_int_equal(counted(h, 1), 1);
    assert_int_equal(counted(h, 2), 1);
    histogram_record_ns(h, INT64_MAX);
    assert_int_equal(histogram_saturated(h), 1);
}

static size_t blocks_of(const struct histogram *h)
{
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(h->blocks); i++)
        count += h->blocks[i] != NULL;
    return count;
}

/* A load of many requests and phases has hundreds of thousands of them. */
static void a_few_values_take_little_memory(void **state)
{
    CLEANUP(histogram_free) struct histogram *a = histogram_new();
    CLEANUP(histogram_free) struct histogram *b = histogram_new();

    (void)state;
    assert_int_equal(blocks_of(a), 0);
    histogram_record(a, 3, 7);
    histogram_record(a, HISTOGRAM_MAX_US, 1);
    assert_int_equal(blocks_of(a), 2);
    histogram_merge(b, a);
    assert_int_equal(blocks_of(b), 2);
    histogram_clear(b);
    histogram_record(b, HISTOGRAM_MAX_US / 2, 1);
    assert_int_equal(histogram_count_above(b, 0), 1);
    assert_true(histogram_min_ms(b) > 0.99 * histogram_max_ms(b));
    assert_int_equal(blocks_of(b), 3);
}

static void merging_is_counting_together(void **state)
{
    CLEANUP(histogram_free) struct histogram *a = histogram_new();
    CLEANUP(histogram_free) struct histogram *b = histogram_new();
    CLEANUP(histogram_free) struct histogram *both = histogram_new();
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        int64_t us = (int64_t)(x >> (24 + x % 40));
        histogram_record(x & 1 ? a : b, us, 1 + x % 3);
        histogram_record(both, us, 1 + x % 3);
    }
    histogram_merge(a, b);
    assert_same(a, both);
    histogram_clear(b);
    histogram_merge(a, b);
    assert_same(a, both);
    histogram_merge(b, both);
    assert_same(b, both);
}

static void clearing_leaves_nothing(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP(histogram_free) struct histogram *fresh = histogram_new();

    (void)state;
    for (int round = 0; round < 3; round++) {
        histogram_record(h, round * 777, 1);
        histogram_record(h, 1, 9);
        histogram_record(h, HISTOGRAM_MAX_US * 2, 9);
        histogram_clear(h);
        assert_same(h, fresh);
    }
}

static void counts_stop_at_the_greatest(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP(histogram_free) struct histogram *other = histogram_new();

    (void)state;
    histogram_record(h, 3, UINT64_MAX - 1);
    histogram_record(h, 9, 5);
    assert_true(histogram_count(h) == UINT64_MAX);
    histogram_merge(other, h);
    histogram_merge(other, h);
    assert_true(histogram_count(other) == UINT64_MAX);
    assert_near(histogram_quantile_ms(other, 0.5), 0.003);
    assert_true(histogram_count_above(other, 0) == UINT64_MAX);
}

/* One value of 10 s among requests every 100 ms: 99 were not sent. */
static void corrected_for_omission(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP(histogram_free) struct histogram *corrected = histogram_new();
    CLEANUP(histogram_free) struct histogram *by_hand = histogram_new();

    (void)state;
    histogram_record(h, 1000, 100);
    histogram_record(h, 10000384, 1); /* a bucket's lowest value */
    assert_int_equal(value_of(index_of(10000384)), 10000384 - 10000384 % 8192);
    histogram_add_corrected(corrected, h, 100000);
    histogram_record(by_hand, 1000, 100);
    histogram_record(by_hand, 10000384, 1);
    for (int64_t v = value_of(index_of(10000384)) - 100000; v >= 100000; v -= 100000)
        histogram_record(by_hand, v, 1);
    assert_int_equal(histogram_count(corrected), 100 + 99);
    assert_same(corrected, by_hand);

    histogram_clear(corrected);
    histogram_add_corrected(corrected, h, 0);
    assert_same(corrected, h);
}

/* Short intervals are counted a bucket at a time: the same as one by one. */
static void corrected_by_buckets(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP(histogram_free) struct histogram *corrected = histogram_new();
    CLEANUP(histogram_free) struct histogram *by_hand = histogram_new();
    int64_t from = value_of(index_of(1000000));

    (void)state;
    for (int64_t interval = 1; interval < 60; interval += 7) {
        histogram_clear(h);
        histogram_clear(corrected);
        histogram_clear(by_hand);
        histogram_record(h, 1000000, 2);
        histogram_add_corrected(corrected, h, interval);
        for (int64_t v = from - interval; v >= interval; v -= interval)
            histogram_record(by_hand, v, 2);
        histogram_record(by_hand, 1000000, 2);
        assert_same(corrected, by_hand);
    }
    histogram_clear(h);
    histogram_record(h, HISTOGRAM_MAX_US, UINT64_MAX / 2);
    histogram_add_corrected(corrected, h, 1); /* ends soon, and nothing wraps */
    assert_true(histogram_count(corrected) == UINT64_MAX);
    histogram_add_corrected(h, h, 500000000); /* into itself: what is there first counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_not_measured),
        cmocka_unit_test(buckets_cover_all_values),
        cmocka_unit_test(quantiles_by_rank),
        cmocka_unit_test(ranks_survive_rounding),
        cmocka_unit_test(never_above_the_greatest),
        cmocka_unit_test(odd_values),
        cmocka_unit_test(a_few_values_take_little_memory),
        cmocka_unit_test(merging_is_counting_together),
        cmocka_unit_test(clearing_leaves_nothing),
        cmocka_unit_test(counts_stop_at_the_greatest),
        cmocka_unit_test(corrected_for_omission),
        cmocka_unit_test(corrected_by_buckets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

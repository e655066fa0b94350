/* SPDX-License-Identifier: MIT */
/* Change points and steady state of series that were made by hand and by a generator of noise. */
#include <math.h>
#include "benchctl/base/hash.h"
#include "benchctl/stats.h"
#include "unit/check.h"

#define N 120

/* About normal: the sum of twelve uniform ones. */
static double noise(struct rng *r)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)(rng_next(r) >> 11) * 0x1p-53;
    return sum;
}

/* `low` until `at`, then `high`, with that much noise. */
static void levels(double *v, size_t n, size_t at, double low, double high, double sigma, uint64_t seed)
{
    struct rng r;

    rng_seed(&r, seed);
    for (size_t i = 0; i < n; i++)
        v[i] = (i < at ? low : high) + sigma * noise(&r);
}

static struct steady steady_of(const double *v, size_t n)
{
    struct steady s;

    assert_true(stats_steady(v, n, &s));
    return s;
}

/* With a penalty of 3 ln N variances noise alone is seldom cut, and then into equal levels. */
static void noise_is_flat(void **state)
{
    size_t flat = 0, whole = 0;
    size_t begins[N];
    double v[N];

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        levels(v, N, 0, 0, 1000, 20, seed);
        flat += steady_of(v, N).is == STEADY_FLAT;
        whole += stats_changepoints(v, N, begins) == 1;
    }
    assert_true(flat >= 195);
    assert_true(whole >= 180);
}

static void a_change_is_found_where_it_is(void **state)
{
    size_t begins[N];
    double v[N];

    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        size_t at = 15 + seed;
        levels(v, N, at, 900, 1000, 10, seed);
        size_t n = stats_changepoints(v, N, begins);
        assert_true(n >= 2);
        assert_int_equal(begins[0], 0);
        bool near = false;
        for (size_t i = 1; i < n; i++)
            near = near || (begins[i] + 2 >= at && begins[i] <= at + 2);
        if (!near)
            fail_msg("seed %d: %zu segments, second from %zu instead of %zu", (int)seed, n, begins[1], at);
        assert_true(steady_of(v, N).is == (at <= N / 2 ? STEADY_WARM_UP : STEADY_NONE));
    }
}

static void a_warm_up_is_left_out(void **state)
{
    double v[N];

    (void)state;
    levels(v, N, 30, 500, 1000, 15, 7);
    struct steady s = steady_of(v, N);
    assert_string_equal(steady_name(s.is), "warm-up");
    assert_in_range(s.from, 29, 31);
    assert_true(fabs(s.level - 1000) < 10);
    for (size_t i = 0; i < 30; i++) /* a slope: cut into steps */
        v[i] = 400 + 20 * (double)i;
    s = steady_of(v, N);
    assert_int_equal(s.is, STEADY_WARM_UP);
    assert_in_range(s.from, 20, 32);
}

static void a_slowdown_is_a_finding(void **state)
{
    double v[N];

    (void)state;
    levels(v, N, 40, 1000, 800, 15, 3);
    assert_string_equal(steady_name(steady_of(v, N).is), "slowdown");
    levels(v, N, 100, 1000, 300, 15, 3); /* a death at the end is not steady, and no warm-up */
    assert_int_equal(steady_of(v, N).is, STEADY_SLOWDOWN);
}

static void no_steady_state(void **state)
{
    double v[N];

    (void)state;
    levels(v, N, 0, 0, 0, 5, 9);
    for (size_t i = 0; i < N; i++)
        v[i] += 1000 + 100 * (double)(i / 20); /* a step every 20 s, to the end */
    assert_string_equal(steady_name(steady_of(v, N).is), "no steady state");
}

static void one_stall_is_no_level(void **state)
{
    double v[N];

    (void)state;
    levels(v, N, 0, 0, 1000, 10, 5);
    v[60] = 0;
    v[61] = 2000;
    assert_int_equal(steady_of(v, N).is, STEADY_FLAT);
}

static void levels_that_differ_by_little_are_one(void **state)
{
    double v[N];

    (void)state;
    levels(v, N, 60, 1000, 1009, 0.1, 5); /* found, and less than 1 % */
    assert_int_equal(steady_of(v, N).is, STEADY_FLAT);
    levels(v, N, 50, 1000, 1012, 0.1, 5);
    assert_int_equal(steady_of(v, N).is, STEADY_WARM_UP);
}

static void series_without_noise(void **state)
{
    double v[N];
    size_t begins[N];

    (void)state;
    levels(v, N, 0, 0, 100, 0, 1); /* an open load that is made */
    assert_int_equal(steady_of(v, N).is, STEADY_FLAT);
    assert_int_equal(stats_changepoints(v, N, begins), 1);
    levels(v, N, 0, 0, 0, 0, 1); /* nobody was answered */
    assert_int_equal(steady_of(v, N).is, STEADY_FLAT);
    levels(v, N, 30, 0, 100, 0, 1);
    struct steady s = steady_of(v, N);
    assert_true(s.is == STEADY_WARM_UP && s.from >= 28 && s.from <= 32);
}

static void too_short_or_no_numbers(void **state)
{
    double v[N];
    size_t begins[N];
    struct steady s;

    (void)state;
    levels(v, N, 0, 0, 1000, 10, 5);
    assert_false(stats_steady(v, STEADY_BINS_MIN - 1, &s));
    assert_true(stats_steady(v, STEADY_BINS_MIN, &s));
    assert_int_equal(stats_changepoints(v, 0, begins), 0);
    assert_int_equal(stats_changepoints(v, 1, begins), 1);
    assert_int_equal(stats_changepoints(v, 19, begins), 1);
    v[50] = NAN;
    assert_false(stats_steady(v, N, &s));
    assert_int_equal(stats_changepoints(v, N, begins), 1);
    v[50] = INFINITY;
    assert_false(stats_steady(v, N, &s));
}

/* 30 requests a second on a machine with other work: as it was recorded. */
static void a_machine_has_moods(void **state)
{
    static const double v[] = {23, 19, 31, 25, 26, 29, 35, 32, 33, 31, 30, 34, 27, 26, 20, 30, 25,
                               31, 30, 29, 30, 33, 25, 32, 28, 29, 33, 32, 32, 34, 35, 34, 34};

    (void)state;
    assert_int_equal(steady_of(v, sizeof(v) / sizeof(*v)).is, STEADY_FLAT);
}

/* Ten hours: taken in coarser bins, found all the same. */
static void a_long_series(void **state)
{
    static double v[36000];

    (void)state;
    levels(v, 36000, 9000, 700, 1000, 30, 11);
    struct steady s = steady_of(v, 36000);
    assert_int_equal(s.is, STEADY_WARM_UP);
    assert_in_range(s.from, 8900, 9100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_flat),
        cmocka_unit_test(a_change_is_found_where_it_is),
        cmocka_unit_test(a_warm_up_is_left_out),
        cmocka_unit_test(a_slowdown_is_a_finding),
        cmocka_unit_test(no_steady_state),
        cmocka_unit_test(one_stall_is_no_level),
        cmocka_unit_test(levels_that_differ_by_little_are_one),
        cmocka_unit_test(series_without_noise),
        cmocka_unit_test(too_short_or_no_numbers),
        cmocka_unit_test(a_machine_has_moods),
        cmocka_unit_test(a_long_series),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "benchctl/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define assert_near(a, b, e) assert_true(fabs((a) - (b)) <= (e))

static void nothing_measured_gives_nan(void **state)
{
    const double values[] = {NAN, NAN};
    struct summary s;

    (void)state;
    stats_summary(values, 2, &s);
    assert_int_equal(s.n, 0);
    assert_true(isnan(s.mean) && isnan(s.median) && isnan(s.stdev) && isnan(s.low));
    stats_summary(NULL, 0, &s);
    assert_true(isnan(s.max));
}

static void one_value_has_no_spread(void **state)
{
    const double values[] = {7, NAN};
    struct summary s;

    (void)state;
    stats_summary(values, 2, &s);
    assert_int_equal(s.n, 1);
    assert_near(s.median, 7, 0);
    assert_true(isnan(s.stdev) && isnan(s.cv_pct) && isnan(s.high));
}

/* By hand: mean 5, sum of squares 32, n - 1 = 7. */
static void textbook_values(void **state)
{
    const double values[] = {9, 2, 4, 4, 5, 4, 7, 5};
    struct summary s;

    (void)state;
    stats_summary(values, 8, &s);
    assert_near(s.mean, 5, 1e-12);
    assert_near(s.stdev, sqrt(32.0 / 7.0), 1e-12);
    assert_near(s.median, 4.5, 1e-12);
    assert_near(s.cv_pct, 100 * sqrt(32.0 / 7.0) / 5, 1e-9);
    assert_near(s.high - s.mean, 2.365 * sqrt(32.0 / 7.0) / sqrt(8), 1e-9);
}

static void quantiles_interpolate(void **state)
{
    const double values[] = {4, 1, 3, 2};

    (void)state;
    assert_near(stats_quantile(values, 4, 0), 1, 0);
    assert_near(stats_quantile(values, 4, 1), 4, 0);
    assert_near(stats_quantile(values, 4, 0.5), 2.5, 1e-12);
    assert_near(stats_quantile(values, 4, 0.25), 1.75, 1e-12);
    assert_true(isnan(stats_quantile(values, 0, 0.5)));
}

static void t_quantiles_go_over_smoothly(void **state)
{
    (void)state;
    assert_true(isnan(stats_t975(0)));
    assert_near(stats_t975(1), 12.706, 1e-9);
    assert_near(stats_t975(40), 2.0211, 5e-4);
    assert_near(stats_t975(120), 1.9799, 5e-4);
    assert_true(stats_t975(31) < stats_t975(30) && stats_t975(1000) > 1.96);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_measured_gives_nan),
        cmocka_unit_test(one_value_has_no_spread),
        cmocka_unit_test(textbook_values),
        cmocka_unit_test(quantiles_interpolate),
        cmocka_unit_test(t_quantiles_go_over_smoothly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

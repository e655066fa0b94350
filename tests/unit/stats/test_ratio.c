/* SPDX-License-Identifier: MIT */
/* Ratios with intervals, t and Holm, against values from tables and worked out by hand. */
#include <math.h>
#include "benchctl/base/hash.h"
#include "benchctl/stats.h"
#include "unit/check.h"

#define NEAR(a, b, tolerance)                                                                                \
    do {                                                                                                     \
        double a_ = (a), b_ = (b);                                                                           \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                                 \
            fail_msg("%s is %.12g instead of %.12g", #a, a_, b_);                                            \
    } while (0)

/* With 1 and 2 degrees of freedom t has closed forms: 1/2 + atan(t)/pi, and 1/2 + t/(2 sqrt(2 + t^2)). */
static void t_by_its_closed_forms(void **state)
{
    (void)state;
    for (double t = -30; t <= 30; t += 0.7) {
        NEAR(stats_t_cdf(t, 1), 0.5 + atan(t) / M_PI, 1e-12);
        NEAR(stats_t_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-12);
    }
    for (double p = 0.01; p < 1; p += 0.07) {
        NEAR(stats_t_quantile(p, 1), tan(M_PI * (p - 0.5)), 1e-7 * fabs(tan(M_PI * (p - 0.5))) + 1e-9);
        NEAR(stats_t_cdf(stats_t_quantile(p, 3.7), 3.7), p, 1e-10);
    }
    NEAR(stats_t_quantile(0.975, 4), 2.776445, 1e-6); /* any table */
    NEAR(stats_t_quantile(0.95, 10), 1.812461, 1e-6);
    NEAR(stats_t_quantile(0.025, 4), -2.776445, 1e-6);
    assert_true(isnan(stats_t_cdf(NAN, 3)) && isnan(stats_t_quantile(0.5, 0)) &&
                isnan(stats_t_quantile(2, 3)));
    assert_true(stats_t_cdf(INFINITY, 3) == 1 && stats_t_cdf(-INFINITY, 3) == 0);
}

/*
 * Logarithms {0, 1, 2} and {1, 2, 6}: means 1 and 3, variances 1 and 7, so the difference is 2, its error
 * sqrt(1/3 + 7/3) = sqrt(8/3), and df = (8/3)^2 / ((1/9 + 49/9) / 2) = (64/9) / (25/9) = 2.56.
 */
static void welch_by_hand(void **state)
{
    const double a[] = {1, exp(1), exp(2)}, b[] = {exp(1), exp(2), exp(6)};
    struct stats_ratio r;
    double low, high;

    (void)state;
    stats_ratio(a, 3, b, 3, &r);
    assert_int_equal(r.base_n, 3);
    NEAR(r.ratio, exp(2), 1e-12);
    NEAR(r.error, sqrt(8.0 / 3), 1e-12);
    NEAR(r.df, 2.56, 1e-12);
    stats_ratio_interval(&r, 0.95, &low, &high);
    double half = stats_t_quantile(0.975, 2.56) * sqrt(8.0 / 3);
    NEAR(log(low), 2 - half, 1e-9);
    NEAR(log(high), 2 + half, 1e-9);
    NEAR(r.p, 2 * (1 - stats_t_cdf(2 / sqrt(8.0 / 3), 2.56)), 1e-12);
}

static void too_few_and_no_spread(void **state)
{
    const double one[] = {100}, two[] = {110, 110}, same[] = {100, 100, 100}, bad[] = {NAN, 0, -3, INFINITY},
                 part[] = {100, 100, 0};
    struct stats_ratio r;
    double low, high;

    (void)state;
    stats_ratio(one, 1, two, 2, &r);
    NEAR(r.ratio, 1.1, 1e-12);
    assert_true(isnan(r.error) && isnan(r.p));
    stats_ratio_interval(&r, 0.95, &low, &high);
    assert_true(isnan(low) && isnan(high));
    stats_ratio(same, 3, two, 2, &r);
    assert_true(r.p == 0 && r.error == 0);
    stats_ratio_interval(&r, 0.95, &low, &high);
    NEAR(low, 1.1, 1e-12);
    NEAR(high, 1.1, 1e-12);
    stats_ratio(same, 3, same, 2, &r);
    assert_true(r.p == 1 && r.ratio == 1);
    stats_ratio(bad, 4, same, 3, &r);
    assert_true(r.base_n == 2 && r.base_zeros == 2 && r.other_n == 3 && isnan(r.ratio) && isnan(r.p));
    stats_ratio(same, 3, part, 3, &r); /* what is 0 is not left out */
    assert_true(r.other_n == 3 && r.other_zeros == 1 && isnan(r.ratio) && isnan(r.p));
    stats_ratio(NULL, 0, NULL, 0, &r);
    assert_true(isnan(r.ratio));
}

static void holm_by_hand(void **state)
{
    const double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    double adjusted[5], one[] = {0.7};

    (void)state;
    stats_holm(p, 5, adjusted);
    NEAR(adjusted[4], 0.02, 1e-12); /* 4 x 0.005 */
    NEAR(adjusted[0], 0.03, 1e-12); /* 3 x 0.01 */
    NEAR(adjusted[3], 0.06, 1e-12); /* 2 x 0.03 */
    NEAR(adjusted[1], 0.06, 1e-12); /* 0.04, but not less than the one before */
    assert_true(isnan(adjusted[2]));
    stats_holm(one, 1, one);
    NEAR(one[0], 0.7, 1e-12);
    stats_holm(NULL, 0, NULL);
}

static double normal(struct rng *r)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)(rng_next(r) >> 11) * 0x1p-53;
    return sum;
}

/* A 95 % interval covers the truth about 95 times in 100, at three values and at ten, and with unequal
 * spread. */
static void intervals_cover_what_they_say(void **state)
{
    const size_t sizes[] = {3, 5, 10};
    struct rng g;

    (void)state;
    rng_seed(&g, 42);
    for (size_t k = 0; k < 3; k++) {
        size_t n = sizes[k];
        int covered = 0, rounds = 2000;
        for (int i = 0; i < rounds; i++) {
            double a[10], b[10], low, high;
            struct stats_ratio r;
            for (size_t j = 0; j < n; j++) {
                a[j] = 100 * exp(0.05 * normal(&g));
                b[j] = 120 * exp(0.08 * normal(&g));
            }
            stats_ratio(a, n, b, n, &r);
            stats_ratio_interval(&r, 0.95, &low, &high);
            covered += low <= 1.2 && high >= 1.2;
        }
        if (covered < 0.93 * rounds || covered > 0.98 * rounds)
            fail_msg("n = %zu: covered %d of %d", n, covered, rounds);
    }
}

/* scipy 1.x: stats.ttest_rel and stats.t.interval on the differences of logarithms. */
static void pairs_against_scipy(void **state)
{
    static const struct {
        double base[5], other[5];
        size_t n;
        double ratio, error, p, low, high;
    } cases[] = {
        {{100, 110, 95, 105},
         {103, 112, 99, 107},
         4,
         1.02728786396614,
         0.005448041762700341,
         0.01589548106881297,
         1.009630161707481,
         1.0452543866829043},
        {{1, 1000},
         {2, 1500},
         2,
         1.7320508075688776,
         0.14384103622589034,
         0.1630440738324101,
         0.27849156386124235,
         10.772319126674667},
        {{1e-9, 2e-9, 5e-9, 1e-8, 3e-9},
         {3e-9, 1e-9, 2e-8, 9e-9, 4e-9},
         5,
         1.4841113939020598,
         0.38233994455284115,
         0.36011906473343513,
         0.5133847769783142,
         4.2903232200883},
        {{2492, 2495, 2508},
         {1250, 1400, 1180},
         3,
         0.5097117501513435,
         0.05147941661959005,
         0.005784720394403386,
         0.4084409365629065,
         0.6360921371610148},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stats_ratio r;
        double low, high;
        stats_ratio_paired(cases[i].base, cases[i].other, cases[i].n, &r);
        stats_ratio_interval(&r, 0.95, &low, &high);
        assert_true(r.base_n == cases[i].n && r.other_n == cases[i].n);
        NEAR(r.ratio / cases[i].ratio, 1, 1e-12);
        NEAR(r.error, cases[i].error, 1e-12);
        NEAR(r.df, (double)cases[i].n - 1, 0);
        NEAR(r.p, cases[i].p, 1e-9);
        NEAR(low / cases[i].low, 1, 1e-8);
        NEAR(high / cases[i].high, 1, 1e-8);
    }
}

static void pairs_that_are_not_complete(void **state)
{
    const double base[] = {100, NAN, 95, 105}, other[] = {103, 112, INFINITY, 107}, zero[] = {0, 1, 2, 3};
    struct stats_ratio r;

    (void)state;
    stats_ratio_paired(base, other, 4, &r);
    assert_true(r.base_n == 2 && r.df == 1);
    NEAR(r.ratio, sqrt(1.03 * 107 / 105), 1e-12);
    stats_ratio_paired(zero, other, 4, &r); /* of what is left a ratio would tell another story */
    assert_true(isnan(r.ratio) && r.base_zeros == 1);
    stats_ratio_paired(base, base, 4, &r); /* no spread at all */
    assert_true(r.ratio == 1 && r.error == 0 && r.p == 1);
    stats_ratio_paired(base, other, 1, &r);
    assert_true(r.base_n == 1 && isnan(r.error));
    stats_ratio_paired(base, other, 0, &r);
    assert_true(r.base_n == 0 && isnan(r.ratio));
}

/* Errors 0.03 and 0.04 add to 0.05; df = 0.05^4 / (0.03^4 / 4 + 0.04^4 / 6). */
static void a_ratio_of_ratios_by_hand(void **state)
{
    const struct stats_ratio
        a = {.base_n = 3, .other_n = 4, .ratio = 2, .log_ratio = log(2), .error = 0.03, .df = 4},
        b = {.base_n = 5, .other_n = 5, .ratio = 3, .log_ratio = log(3), .error = 0.04, .df = 6},
        none = {.ratio = NAN, .log_ratio = NAN, .error = NAN, .df = NAN},
        exact = {.base_n = 3, .other_n = 3, .ratio = 2, .log_ratio = log(2), .error = 0, .df = NAN};
    struct stats_ratio r;

    (void)state;
    stats_ratio_of_ratios(&a, &b, &r);
    NEAR(r.ratio, 1.5, 1e-12);
    NEAR(r.error, 0.05, 1e-12);
    NEAR(r.df, 6.25e-6 / (8.1e-7 / 4 + 2.56e-6 / 6), 1e-9);
    NEAR(r.p, 2 * (1 - stats_t_cdf(log(1.5) / 0.05, r.df)), 1e-12);
    assert_true(r.base_n == 3 && r.other_n == 5);
    stats_ratio_of_ratios(&a, &none, &r);
    assert_true(isnan(r.ratio) && isnan(r.error) && isnan(r.p));
    stats_ratio_of_ratios(&exact, &exact, &r);
    assert_true(r.ratio == 1 && r.error == 0 && r.p == 1);
    stats_ratio_of_ratios(&exact, &a, &r); /* one of no spread adds none */
    NEAR(r.df, 4, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_by_its_closed_forms),
        cmocka_unit_test(welch_by_hand),
        cmocka_unit_test(pairs_against_scipy),
        cmocka_unit_test(pairs_that_are_not_complete),
        cmocka_unit_test(a_ratio_of_ratios_by_hand),
        cmocka_unit_test(too_few_and_no_spread),
        cmocka_unit_test(holm_by_hand),
        cmocka_unit_test(intervals_cover_what_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

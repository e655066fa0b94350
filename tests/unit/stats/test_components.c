/* SPDX-License-Identifier: MIT */
/* Against scipy 1.10 (stats.f, stats.chi2, stats.f_oneway) and the definitions written out with numpy. */
#include "benchctl/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

static void quantiles(void **state)
{
    static const struct {
        double p, d1, d2, value;
    } known[] = {
        {0.95, 1, 1, 161.447638798},           {0.95, 2, 6, 5.14325284978},
        {0.975, 2, 6, 7.25985568006},          {0.05, 2, 6, 0.0517343045733},
        {0.95, 11, 48, 1.99458001476},         {0.95, 3, 1000, 2.61380358069},
        {0.5, 7, 13, 0.955203175658},          {0.999, 1, 2, 998.500250125},
        {0.95, 9999, 20000, 1.0288208189},     {0.05, 11, 12, 0.358735472796},
        {0.95, 5, INFINITY, 2.2140995387},     {0.05, 2, INFINITY, 0.0512932943876},
        {0.95, 9999, INFINITY, 1.02337606423}, {0.95, 0.5, 0.5, 13539.3639553},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        double q = stats_f_quantile(known[i].p, known[i].d1, known[i].d2);
        if (!near(q, known[i].value, 1e-9))
            fail_msg("F(%g; %g, %g) = %.12g, not %.12g", known[i].p, known[i].d1, known[i].d2, q,
                     known[i].value);
        assert_true(near(stats_f_cdf(q, known[i].d1, known[i].d2), known[i].p, 1e-9));
    }
}

static void probabilities(void **state)
{
    static const struct {
        double x, d1, d2, value;
    } known[] = {
        {1, 2, 3, 0.53524199845511},
        {4, 2, 6, 0.921282798833819},
        {1e-06, 5, 5, 5.43246932250319e-15},
        {30, 1, 4, 0.994591521135237},
        {0.9, 10000, 10000, 6.94578115350246e-08},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (!near(stats_f_cdf(known[i].x, known[i].d1, known[i].d2), known[i].value, 1e-8))
            fail_msg("P(F <= %g; %g, %g)", known[i].x, known[i].d1, known[i].d2);
}

static void what_is_no_distribution(void **state)
{
    (void)state;
    assert_true(isnan(stats_f_quantile(NAN, 1, 1)) && isnan(stats_f_quantile(0.5, 0, 1)));
    assert_true(isnan(stats_f_quantile(1.1, 1, 1)) && isnan(stats_f_quantile(0.5, 1, -1)));
    assert_true(isnan(stats_f_quantile(0.5, INFINITY, 3)) && isnan(stats_f_cdf(NAN, 1, 1)));
    assert_true(stats_f_quantile(0, 2, 2) == 0 && isinf(stats_f_quantile(1, 2, 2)));
    assert_true(stats_f_cdf(-1, 2, 2) == 0 && stats_f_cdf(INFINITY, 2, 2) == 1);
}

static void components_of_equal_groups(void **state)
{
    static const double a[] = {4.1, 4.3, 4.2}, b[] = {4.6, 4.5, 4.8}, c[] = {4.0, 4.1, 4.15};
    const struct stats_group groups[] = {{a, 3}, {b, 3}, {c, 3}};
    struct stats_components r;

    (void)state;
    stats_components(groups, 3, &r);
    assert_int_equal(r.groups, 3);
    assert_int_equal(r.repeated, 3);
    assert_true(near(r.f, 19.2978723404, 1e-9) && near(r.within, 0.0130555555556, 1e-9));
    assert_true(near(r.between, 0.0796296296296, 1e-9) && near(r.group_size, 3, 1e-12));
    assert_true(near(r.low, 0.0205621869439, 1e-9) && near(r.high, 1.63289066246, 1e-9));
}

static void components_of_unequal_groups(void **state)
{
    static const double a[] = {1, 2, 3, 4, NAN}, b[] = {2, 3}, c[] = {5, 6, 7, 8, 9}, d[] = {3.5},
                        none[] = {NAN};
    const struct stats_group groups[] = {{a, 5}, {b, 2}, {none, 1}, {c, 5}, {d, 1}, {NULL, 0}};
    struct stats_components r;

    (void)state;
    stats_components(groups, 6, &r);
    assert_int_equal(r.groups, 4);
    assert_int_equal(r.repeated, 3);
    assert_int_equal(r.n, 12);
    assert_true(near(r.f, 9.67383512545, 1e-9) && near(r.group_size, 2.72222222222, 1e-9));
    assert_true(near(r.between, 6.17346938776, 1e-9) && near(r.low, 1.53216939646, 1e-9) &&
                near(r.high, 58.0202643587, 1e-9));
}

static void little_or_nothing(void **state)
{
    static const double same[] = {5, 5, 5}, other[] = {6, 6}, one[] = {7};
    const struct stats_group equal[] = {{same, 3}, {same, 3}}, apart[] = {{same, 3}, {other, 2}},
                             single[] = {{same, 3}}, ones[] = {{one, 1}, {one, 1}};
    struct stats_components r;

    (void)state;
    stats_components(NULL, 0, &r);
    assert_true(r.groups == 0 && isnan(r.mean) && isnan(r.low));
    stats_components(single, 1, &r);
    assert_true(r.groups == 1 && r.within == 0 && isnan(r.low));
    stats_components(ones, 2, &r);
    assert_true(r.groups == 2 && r.repeated == 0 && isnan(r.low) && isnan(r.within));
    stats_components(equal, 2, &r);
    assert_true(r.f == 0 && r.low == 0 && r.between == 0);
    stats_components(apart, 2, &r);
    assert_true(isinf(r.f) && r.low > 0);
}

/* xorshift64*, Box-Muller */
static double normal(uint64_t *seed)
{
    double u[2];

    for (int i = 0; i < 2; i++) {
        *seed ^= *seed >> 12;
        *seed ^= *seed << 25;
        *seed ^= *seed >> 27;
        u[i] = ((double)((*seed * UINT64_C(2685821657736338717)) >> 11) + 0.5) / 9007199254740992.0;
    }
    return sqrt(-2 * log(u[0])) * cos(2 * 3.14159265358979323846 * u[1]);
}

/* Groups of 2, 3, ... values; every one is of the same mean, plus `spread` times a normal number. */
static double share_separated(size_t count, double spread, size_t rounds, uint64_t seed)
{
    double values[12][6];
    struct stats_group groups[12];
    size_t found = 0;

    for (size_t r = 0; r < rounds; r++) {
        for (size_t g = 0; g < count; g++) {
            double own = spread * normal(&seed);
            groups[g] = (struct stats_group){values[g], 2 + g % 4};
            for (size_t k = 0; k < groups[g].count; k++)
                values[g][k] = 5 + own + 0.01 * normal(&seed);
        }
        struct stats_components c;
        stats_components(groups, count, &c);
        found += c.low > 0;
    }
    return (double)found / (double)rounds;
}

/* 5 % +- four standard errors of 4000 rounds (0.34 points). */
static void equal_groups_are_told_apart_as_rarely_as_promised(void **state)
{
    (void)state;
    for (size_t count = 2; count <= 12; count += 5) {
        double share = share_separated(count, 0, 4000, 88172645463325252u + count);
        if (share < 0.036 || share > 0.064)
            fail_msg("%zu equal groups were told apart in %.1f %% of 4000 sweeps", count, 100 * share);
    }
}

static void different_groups_are_told_apart(void **state)
{
    (void)state;
    assert_true(share_separated(6, 0.05, 500, 4101842887655102017u) > 0.98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),
        cmocka_unit_test(probabilities),
        cmocka_unit_test(what_is_no_distribution),
        cmocka_unit_test(components_of_equal_groups),
        cmocka_unit_test(components_of_unequal_groups),
        cmocka_unit_test(little_or_nothing),
        cmocka_unit_test(equal_groups_are_told_apart_as_rarely_as_promised),
        cmocka_unit_test(different_groups_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

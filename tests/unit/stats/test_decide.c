/* SPDX-License-Identifier: MIT */
/* What a ratio allows to say; against scipy (stats.t), and by simulation. */
#include <math.h>

#include "benchctl/base/mem.h"
#include "benchctl/stats.h"
#include "unit/check.h"

#define NEAR(a, b, tolerance)                                                                                \
    do {                                                                                                     \
        double a_ = (a), b_ = (b);                                                                           \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                                 \
            fail_msg("%s is %.12g instead of %.12g", #a, a_, b_);                                            \
    } while (0)

static struct stats_ratio made(double log_ratio, double error, double df, size_t n)
{
    return (struct stats_ratio){
        .base_n = n, .other_n = n, .ratio = exp(log_ratio), .log_ratio = log_ratio, .error = error, .df = df};
}

static void how_many_more_would_tell(void **state)
{
    static const struct {
        double log_ratio, error, df, margin;
        size_t n, more;
    } cases[] = {
        {0.04879016416943205, 0.03, 4, 0.01, 3, 7},
        {0, 0.01, 4, 0.01, 3, 17},
        {0, 0.01, 4, 0.05, 3, 1},
        {0.009950330853168092, 0.02, 4, 0.01, 3, 94},
        {0.09531017980432493, 0.05, 2, 0.01, 3, 6},
        {0.005, 0.002, 8, 0.01, 5, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct stats_ratio r = made(cases[i].log_ratio, cases[i].error, cases[i].df, cases[i].n);
        assert_int_equal(stats_trials_to_decide(&r, cases[i].margin), cases[i].more);
    }
    const struct stats_ratio hopeless = made(0.01, 3, 4, 3), one = made(0.1, NAN, NAN, 1);
    assert_int_equal(stats_trials_to_decide(&hopeless, 0.01), STATS_TRIALS_MAX + 1);
    assert_int_equal(stats_trials_to_decide(&one, 0.01), STATS_TRIALS_MAX + 1);
}

static void what_could_have_been_seen(void **state)
{
    const struct stats_ratio a = made(0, 0.03, 4, 3), b = made(0, 0.01, 8, 5), c = made(0, 0.1, 2.5, 3),
                             none = made(0, NAN, NAN, 1), exact = made(0, 0, NAN, 3);

    (void)state;
    NEAR(stats_detectable_ratio(&a), 1.117978664001003, 1e-8);
    NEAR(stats_detectable_ratio(&b), 1.0324647827242748, 1e-8);
    NEAR(stats_detectable_ratio(&c), 1.5816709819002073, 1e-7);
    assert_true(isnan(stats_detectable_ratio(&none)) && stats_detectable_ratio(&exact) == 1);
}

static void how_many_for_a_precision(void **state)
{
    (void)state;
    assert_int_equal(stats_trials_for_precision(0.01, 0.02), 4);
    assert_int_equal(stats_trials_for_precision(0.02, 0.02), 7);
    assert_int_equal(stats_trials_for_precision(0.05, 0.02), 27);
    assert_int_equal(stats_trials_for_precision(0.1, 0.05), 19);
    assert_int_equal(stats_trials_for_precision(0, 0.01), 2);
    assert_int_equal(stats_trials_for_precision(0.3, 0.01), STATS_TRIALS_MAX + 1);
    assert_int_equal(stats_trials_for_precision(NAN, 0.01), STATS_TRIALS_MAX + 1);
    assert_int_equal(stats_trials_for_precision(0.1, 0), STATS_TRIALS_MAX + 1);
}

static void equal_within_a_margin(void **state)
{
    const struct stats_ratio narrow = made(0.002, 0.002, 8, 5), wide = made(0.002, 0.02, 8, 5),
                             off = made(0.02, 0.001, 8, 5), same = made(0, 0, NAN, 3),
                             unknown = made(0, NAN, NAN, 1);

    (void)state;
    assert_true(stats_equivalent(&narrow, 0.01) && stats_equivalent(&same, 0.01));
    assert_false(stats_equivalent(&wide, 0.01) || stats_equivalent(&off, 0.01) ||
                 stats_equivalent(&unknown, 0.01));
}

/* --- by simulation: the same numbers on every machine --- */

struct random {
    uint64_t state;
};

static double uniform(struct random *r) /* splitmix64, 53 bits */
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct random *r)
{
    double radius = sqrt(-2 * log(uniform(r)));

    return radius * cos(2 * M_PI * uniform(r));
}

enum { RUNS = 4000 };
#define CV 0.05

/* How often the 95 % interval holds the true ratio; rounds have an hour of their own in common. */
static double coverage(size_t n, bool paired, double outliers, struct random *r)
{
    const double truth = 1.1;
    size_t covered = 0;

    for (int run = 0; run < RUNS; run++) {
        double base[30], other[30], low, high;
        struct stats_ratio ratio;
        for (size_t i = 0; i < n; i++) {
            double hour = paired ? 0.2 * normal(r) : 0;
            base[i] = 100 * exp(hour + CV * normal(r) * (uniform(r) < outliers ? 4 : 1));
            other[i] = 110 * exp(hour + CV * normal(r) * (uniform(r) < outliers ? 4 : 1));
        }
        if (paired)
            stats_ratio_paired(base, other, n, &ratio);
        else
            stats_ratio(base, n, other, n, &ratio);
        stats_ratio_interval(&ratio, 0.95, &low, &high);
        covered += low <= truth && truth <= high;
    }
    return (double)covered / RUNS;
}

static void intervals_cover_what_they_say(void **state)
{
    static const size_t sizes[] = {5, 10, 30};
    struct random r = {42};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (int kind = 0; kind < 4; kind++) {
            double found = coverage(sizes[i], kind % 2, kind < 2 ? 0 : 0.1, &r);
            print_message("n = %zu, %s, %s: %.1f %%\n", sizes[i], kind % 2 ? "paired" : "Welch",
                          kind < 2 ? "normal logarithms" : "10 % outliers", 100 * found);
            if (kind < 2 && (found < 0.93 || found > 0.97))
                fail_msg("a 95 %% interval covers %.1f %%", 100 * found);
            if (found < 0.93) /* outliers widen it: it may cover more */
                fail_msg("with outliers a 95 %% interval covers %.1f %%", 100 * found);
        }
}

/* A true difference of what is called detectable is found four times of five; of three trials Welch's degrees
 * of freedom are fewer than four more often than not, and it is found seven times of ten. */
static void what_is_detectable_is_detected(void **state)
{
    static const size_t sizes[] = {3, 5, 10};
    struct random r = {7};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        size_t n = sizes[i], found = 0;
        const struct stats_ratio ideal = made(0, CV * sqrt(2.0 / (double)n), 2 * (double)(n - 1), n);
        double truth = stats_detectable_ratio(&ideal);
        for (int run = 0; run < RUNS; run++) {
            double base[10], other[10];
            struct stats_ratio ratio;
            for (size_t k = 0; k < n; k++) {
                base[k] = exp(CV * normal(&r));
                other[k] = truth * exp(CV * normal(&r));
            }
            stats_ratio(base, n, other, n, &ratio);
            found += ratio.p < 0.05;
        }
        print_message("n = %zu: a ratio of %.3f is found in %.1f %%\n", n, truth,
                      100.0 * (double)found / RUNS);
        assert_in_range(found, RUNS * 67 / 100, RUNS * 85 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_many_more_would_tell),      cmocka_unit_test(what_could_have_been_seen),
        cmocka_unit_test(how_many_for_a_precision),      cmocka_unit_test(equal_within_a_margin),
        cmocka_unit_test(intervals_cover_what_they_say), cmocka_unit_test(what_is_detectable_is_detected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

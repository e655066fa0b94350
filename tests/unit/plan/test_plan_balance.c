/* SPDX-License-Identifier: MIT */
/*
 * What the order is good for: every scenario early, none at the same place always, and a machine that drifts
 * hurting none of them in particular.
 */
#include "fixture.h"

#include <math.h>

#define SCENARIOS 8
#define ROUNDS 5
#define SEEDS 2000

static struct fixture *sized(enum order_mode order, int64_t seed)
{
    struct fixture *f = fixture_new();

    fixture_axis_of(f, "a", SCENARIOS);
    f->m.trials = ROUNDS;
    f->m.order = order;
    f->m.seed = seed;
    return f;
}

/* The mean of each scenario's places, in rounds: what a linear drift adds to it. */
static void mean_places(const struct plan *p, double ret[SCENARIOS])
{
    memset(ret, 0, SCENARIOS * sizeof(*ret));
    for (uint64_t k = 0; k < plan_counts(p)->trials; k++)
        ret[plan_trial(p, k).scenario] += (double)k / SCENARIOS / ROUNDS;
}

static void a_round_has_every_scenario(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 200; seed++) {
        CLEANUP(fixture_free) struct fixture *f = sized(ORDER_INTERLEAVED, seed);
        CLEANUP(plan_free) struct plan *p = fixture_plan(f);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            unsigned seen = 0;
            for (uint64_t i = 0; i < SCENARIOS; i++)
                seen |= 1u << plan_trial(p, round * SCENARIOS + i).scenario;
            assert_int_equal(seen, (1u << SCENARIOS) - 1);
        }
    }
}

/* Chi-squared over all seeds and rounds: each scenario is at each place as often as at the others. */
static void places_are_balanced(void **state)
{
    static uint32_t at[SCENARIOS][SCENARIOS];
    double expected = (double)SEEDS * ROUNDS / SCENARIOS, chi = 0;
    const double df = (SCENARIOS - 1) * (SCENARIOS - 1);

    (void)state;
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        CLEANUP(fixture_free) struct fixture *f = sized(ORDER_INTERLEAVED, seed);
        CLEANUP(plan_free) struct plan *p = fixture_plan(f);
        for (uint64_t k = 0; k < plan_counts(p)->trials; k++)
            at[plan_trial(p, k).scenario][k % SCENARIOS]++;
    }
    for (size_t s = 0; s < SCENARIOS; s++)
        for (size_t i = 0; i < SCENARIOS; i++)
            chi += ((double)at[s][i] - expected) * ((double)at[s][i] - expected) / expected;
    if (fabs(chi - df) > 5 * sqrt(2 * df)) /* five standard deviations; seeds are fixed: no flicker */
        fail_msg("chi-squared %.1f with %.0f degrees of freedom", chi, df);
}

/* Over seeds no scenario is favoured, and within one sweep the differences are those of chance: of ROUNDS
 * places that are evenly spread over a round. Listed, the first and the last are nearly a sweep apart. */
static void a_drift_hurts_none_in_particular(void **state)
{
    double sum[SCENARIOS] = {0}, places[SCENARIOS], squares = 0, middle = (SCENARIOS - 1) / 2.0 / SCENARIOS;
    double chance = sqrt((SCENARIOS * SCENARIOS - 1) / 12.0 / SCENARIOS / SCENARIOS / ROUNDS);

    (void)state;
    middle += (ROUNDS - 1) / 2.0;
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        CLEANUP(fixture_free) struct fixture *f = sized(ORDER_INTERLEAVED, seed);
        CLEANUP(plan_free) struct plan *p = fixture_plan(f);
        mean_places(p, places);
        for (size_t s = 0; s < SCENARIOS; s++) {
            sum[s] += places[s] - middle;
            squares += (places[s] - middle) * (places[s] - middle);
        }
    }
    for (size_t s = 0; s < SCENARIOS; s++)
        assert_true(fabs(sum[s] / SEEDS) < 5 * chance / sqrt(SEEDS));
    double spread = sqrt(squares / SEEDS / SCENARIOS);
    assert_true(spread > 0.9 * chance && spread < 1.1 * chance);

    CLEANUP(fixture_free) struct fixture *f = sized(ORDER_LISTED, 1);
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    mean_places(p, places);
    assert_true(places[SCENARIOS - 1] - places[0] > 20 * chance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_has_every_scenario),
        cmocka_unit_test(places_are_balanced),
        cmocka_unit_test(a_drift_hurts_none_in_particular),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

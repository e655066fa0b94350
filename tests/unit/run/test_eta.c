/* SPDX-License-Identifier: MIT */
/* How long the rest will take, by sweeps that are simulated. */
#include "eta.h"
#include "unit/check.h"

#include <math.h>

#define SECOND 1e9
#define TRIALS 5

static double off(double a, double b)
{
    return fabs(a / b - 1);
}

/* From a second to an hour; the plan thought half of it, for every third ten times less. */
static double real_ns(size_t i)
{
    return SECOND * pow(3600, (double)i / 11);
}

static double planned_ns(size_t i)
{
    return real_ns(i) / (i % 3 ? 2 : 10);
}

static struct eta *twelve(void)
{
    struct eta *e = eta_new(12, TRIALS);

    for (size_t i = 0; i < 12; i++)
        eta_plan(e, i, planned_ns(i), 0);
    return e;
}

static double left_of(const size_t *done)
{
    double left = 0;

    for (size_t i = 0; i < 12; i++)
        left += real_ns(i) * (double)(TRIALS - done[i]);
    return left;
}

static void after_round_one_it_knows(void **state)
{
    CLEANUP(eta_free) struct eta *e = twelve();
    size_t done[12] = {0};

    (void)state;
    for (size_t round = 0; round < TRIALS; round++) {
        for (size_t k = 0; k < 12; k++) {
            size_t i = (7 * k + round) % 12;
            double noise = 1 + 0.02 * ((double)((i + round) % 3) - 1);
            eta_took(e, i, real_ns(i) * noise);
            eta_done(e, i);
            done[i]++;
            if (round && left_of(done) > 0 && off(eta_left_ns(e, 0), left_of(done)) > 0.03)
                fail_msg("round %zu, trial %zu: %.0f s, really %.0f s", round, k, eta_left_ns(e, 0) / SECOND,
                         left_of(done) / SECOND);
        }
    }
    assert_true(eta_left_ns(e, 0) < 1e-3 * SECOND);
}

/* What has not run yet is as wrongly planned as what has. */
static void the_plan_is_corrected(void **state)
{
    CLEANUP(eta_free) struct eta *e = eta_new(4, 2);

    (void)state;
    for (size_t i = 0; i < 4; i++)
        eta_plan(e, i, (double)(i + 1) * SECOND, 0);
    assert_true(off(eta_left_ns(e, 0), 20 * SECOND) < 1e-6);
    eta_took(e, 0, 3 * SECOND); /* three times as long */
    eta_done(e, 0);
    assert_true(off(eta_trial_ns(e, 3), 12 * SECOND) < 1e-6);
    assert_true(off(eta_left_ns(e, 0), (3 + 2 * (6 + 9 + 12)) * SECOND) < 1e-6);
    eta_took(e, 3, 4 * SECOND); /* its own from now on */
    assert_true(off(eta_trial_ns(e, 3), 4 * SECOND) < 1e-6);
    assert_true(off(eta_trial_ns(e, 1), 2 * SECOND * 7 / 5) < 1e-6);
}

static void canaries_and_cooldowns_count(void **state)
{
    CLEANUP(eta_free) struct eta *e = eta_new(2, 3);

    (void)state;
    eta_plan(e, 0, 10 * SECOND, 2 * SECOND);
    eta_plan(e, 1, 10 * SECOND, 4 * SECOND);
    eta_plan(e, ETA_CANARY, 1 * SECOND, 3 * SECOND);
    assert_true(off(eta_left_ns(e, 4), (60 + 4 + 9 * 3) * SECOND) < 1e-6); /* none after the last */
    eta_cooled(e, 8 * SECOND);
    eta_took(e, ETA_CANARY, 1 * SECOND);
    eta_done(e, ETA_CANARY); /* the caller says how many there will be */
    assert_true(off(eta_left_ns(e, 3), (60 + 3 + 8 * 8) * SECOND) < 1e-6);
    assert_true(off(eta_guess_ns(e, 2.5, 1), (25 + 1 + 2.5 * 8) * SECOND) < 1e-6);
}

/* A record without a duration, and trials of an earlier run that are more than were planned for. */
static void what_is_odd_does_no_harm(void **state)
{
    CLEANUP(eta_free) struct eta *e = eta_new(1, 1);

    (void)state;
    eta_plan(e, 0, SECOND, 0);
    eta_took(e, 0, NAN);
    eta_took(e, 0, -5);
    eta_took(e, 0, INFINITY);
    assert_true(off(eta_left_ns(e, 0), SECOND) < 1e-6);
    eta_done(e, 0);
    eta_done(e, 0);
    assert_true(eta_left_ns(e, 0) == 0);
    eta_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_round_one_it_knows),
        cmocka_unit_test(the_plan_is_corrected),
        cmocka_unit_test(canaries_and_cooldowns_count),
        cmocka_unit_test(what_is_odd_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

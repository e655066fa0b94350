/* SPDX-License-Identifier: MIT */
/* V7 and V8: twins of one scenario, one alike and one slowed down. */
#include "sweep_fixture.h"

/* An arm of throughputs; p50 is what a closed load of eight makes of them. */
static struct validity_arm arm(struct sweep_fixture *s, const char *name, const double *rps, size_t n)
{
    size_t first = s->trial_count;

    for (size_t i = 0; i < n; i++) {
        struct trial *t = add_trial(s, name, &(struct found){rps[i], 8e3 / rps[i], 1, 8, 0});
        t->trial = (int)i + 1;
    }
    s->arm_count--; /* a control is no scenario */
    return (struct validity_arm){name, &s->pointers[first], n};
}

static const struct validity_sweep *controlled(struct sweep_fixture *s,
                                               const struct validity_controls_facts *c)
{
    const struct validity_sweep_facts f = {
        .arms = s->arms, .count = s->arm_count, .host_cores = s->host_cores, .controls = c};

    validity_judge_sweep(&f, s->arena, &s->verdict);
    return &s->verdict;
}

static void alike_ones_tell_what_can_be_resolved(void **state)
{
    struct sweep_fixture *s = *state;
    const double base[] = {1000, 1010, 990, 1005}, twin[] = {1001, 1008, 992, 1003},
                 off[] = {1100, 1111, 1089, 1104};
    struct validity_controls_facts c = {.base = arm(s, "base", base, 4), .aa = arm(s, "control-aa", twin, 4)};

    (void)controlled(s, &c);
    assert_string_equal(verdicts(s, "control-aa"), "PASS");
    assert_string_equal(verdicts(s, "control-handicap"), "");
    /* differences of logs by rounds: their mean is about 0, and the rounds' own ups and downs are not in it
     */
    assert_true(fabs(s->verdict.aa.goodput.ratio - 1) < 0.001);
    assert_true(s->verdict.aa.goodput.low > 0.99 && s->verdict.aa.goodput.high < 1.01);
    assert_int_equal(s->verdict.aa.goodput.n, 4);
    c.aa = arm(s, "control-aa", off, 4);
    (void)controlled(s, &c);
    assert_string_equal(verdicts(s, "control-aa"), "FAIL");
}

static void a_handicap_that_is_seen(void **state)
{
    struct sweep_fixture *s = *state;
    const double base[] = {1000, 1200, 900}, slow[] = {510, 600, 455};
    struct validity_controls_facts c = {.base = arm(s, "base", base, 3),
                                        .handicap = arm(s, "control-handicap", slow, 3),
                                        .what = "1 CPU instead of 2"};

    (void)controlled(s, &c);
    assert_string_equal(verdicts(s, "control-handicap"), "PASS");
    assert_true(s->verdict.handicap.seen && !s->verdict.handicap.unseen);
    assert_non_null(strstr(message(s, "control-handicap"), "the handicap (1 CPU instead of 2) is seen"));
}

/* Then nothing that the sweep says of its scenarios is worth a word, and this is said first. */
static void a_handicap_that_is_not_seen(void **state)
{
    struct sweep_fixture *s = *state;
    const double base[] = {115, 115.2, 114.9}, same[] = {114.8, 115.3, 115.1}, noisy[] = {60, 140, 90};
    struct validity_controls_facts c = {.base = arm(s, "base", base, 3),
                                        .handicap = arm(s, "control-handicap", same, 3)};

    (void)controlled(s, &c);
    assert_string_equal(verdicts(s, "control-handicap"), "FAIL");
    assert_true(s->verdict.judged && !s->verdict.discriminates && s->verdict.handicap.unseen);
    assert_non_null(strstr(s->verdict.words, "came out like the one that was not"));
    c.handicap = arm(s, "control-handicap", noisy, 3);
    (void)controlled(s, &c);
    assert_non_null(strstr(s->verdict.words, "lost in the noise of 3 trials"));
}

static void a_handicapped_one_that_dies_is_seen(void **state)
{
    struct sweep_fixture *s = *state;
    const double base[] = {115, 115.2, 114.9};
    struct validity_controls_facts c = {.base = arm(s, "base", base, 3),
                                        .handicap = arm(s, "control-handicap", base, 3)};

    for (size_t i = 0; i < 3; i++)
        s->trials[3 + i].outcome = OUTCOME_NOT_READY;
    (void)controlled(s, &c);
    assert_string_equal(verdicts(s, "control-handicap"), "PASS");
    assert_non_null(strstr(message(s, "control-handicap"), "it failed in 3 of 3 trials"));
}

static void too_few_trials_say_nothing(void **state)
{
    struct sweep_fixture *s = *state;
    const double base[] = {115, 115.2}, same[] = {115.1, 115.1};
    struct validity_controls_facts c = {.base = arm(s, "base", base, 1),
                                        .aa = arm(s, "control-aa", same, 1),
                                        .handicap = arm(s, "control-handicap", same, 1)};

    (void)controlled(s, &c);
    assert_string_equal(verdicts(s, "control-aa"), "");
    assert_string_equal(verdicts(s, "control-handicap"), "");
    c.base = arm(s, "base", base, 2);
    c.handicap = arm(s, "control-handicap", same, 2);
    (void)controlled(s, &c);
    assert_string_equal(verdicts(s, "control-handicap"), "WARN");
    assert_true(!s->verdict.handicap.seen && !s->verdict.handicap.unseen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(alike_ones_tell_what_can_be_resolved, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_handicap_that_is_seen, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_handicap_that_is_not_seen, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_handicapped_one_that_dies_is_seen, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(too_few_trials_say_nothing, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

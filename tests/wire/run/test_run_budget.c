/* SPDX-License-Identifier: MIT */
/* Sweeps with a budget: whole rounds, and what is sealed costs nothing. */
#include "stage.h"

#define QUICK "load: {adapter: idle, duration: 5ms}\n"

static void assert_begun(struct stage *g, const char *expected)
{
    struct strbuf all = STRBUF_INIT;

    vec_each (b, &g->begun)
        strbuf_addf(&all, "%s\n", *b);
    assert_lines(strbuf_detach(&all), expected);
}

static void a_budget_ends_between_rounds(void **state)
{
    struct stage *g = *state;

    g->options.budget_ns = 700 * NS_PER_MS;
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 50\napp: {image: 'app:1'}\naxes: {x: [a, b]}\n"
                 "load: {adapter: idle, duration: 100ms}\n");
    assert_int_equal(g->rc, 0);
    assert_true(g->begun.len >= 2 && g->begun.len < 100);
    assert_int_equal(g->begun.len % 2, 0);
    assert_true(stage_said(g, "the budget is spent"));
    assert_true(json_get_bool(g->info, "budget_spent"));
}

/* However short: one round, so that every scenario has a value. */
static void one_round_is_always_run(void **state)
{
    struct stage *g = *state;

    g->options.budget_ns = 1;
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 3\napp: {image: 'app:1'}\naxes: {x: [a, b, c]}\n" QUICK);
    assert_int_equal(g->begun.len, 3);
}

/* A budget looks at what is sealed before its turn comes: that counts nothing twice. */
static void a_budget_keeps_each_trial_once(void **state)
{
    static const struct stage_seal seals[] = {
        {"a/1", OUTCOME_OK}, {"b/1", OUTCOME_OK}, {"a/2", OUTCOME_OK}, {0}};
    struct stage *g = *state;

    g->seals = seals;
    g->options.budget_ns = 600 * NS_PER_S;
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 2\napp: {image: 'app:1'}\naxes: {x: [a, b]}\n" QUICK);
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->kept, 3);
    assert_int_equal(g->summary.kept, 3);
    assert_begun(g, "b/2\n");
}

/* The canary takes twenty minutes here, but not when it was run before. */
static void a_canary_that_is_sealed_costs_nothing(void **state)
{
    static const struct stage_seal seals[] = {{"a/1", OUTCOME_OK},      {"b/1", OUTCOME_OK},
                                              {"canary/1", OUTCOME_OK}, {"canary/2", OUTCOME_OK},
                                              {"canary/3", OUTCOME_OK}, {0}};
    struct stage *g = *state;

    g->seals = seals;
    g->options.budget_ns = 600 * NS_PER_S;
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 2\napp: {image: 'app:1'}\naxes: {x: [a, b]}\n" QUICK
                 "canary: {every: 2, set: {load: {duration: 20m}}}\n");
    if (g->rc)
        fail_msg("%s", g->err.message);
    assert_int_equal(g->trials.len, 2);
    assert_false(stage_said(g, "the budget is spent"));
}

static void a_budget_says_what_random_order_means(void **state)
{
    struct stage *g = *state;

    g->options.budget_ns = 1;
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 3\norder: {mode: random, seed: 1}\napp: {image: 'app:1'}\n"
                 "axes: {x: [a, b]}\n" QUICK);
    assert_true(stage_said(g, "scenarios may have different numbers of them"));
    assert_false(stage_said(g, "every scenario has a value"));
    assert_false(stage_said(g, "whole rounds only"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(a_budget_ends_between_rounds),          STAGE_TEST(one_round_is_always_run),
        STAGE_TEST(a_budget_keeps_each_trial_once),        STAGE_TEST(a_canary_that_is_sealed_costs_nothing),
        STAGE_TEST(a_budget_says_what_random_order_means),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Can a workload tell its scenarios apart? What is evidence, and what machines, loads and databases make of
 * it. */
#include "waiting_sweep.h"

static void one_scenario_alone(void **state)
{
    struct sweep_fixture *s = *state;

    add_trial(s, "a", &(struct found){376, 53.1, 1.1, 20, 51.9});
    judge(s);
    assert_false(s->verdict.judged);
    assert_null(s->verdict.words);
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "WARN");
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "WARN");
    assert_string_equal(verdicts(s, "separable"), "");
}

static void nothing_at_all(void **state)
{
    struct sweep_fixture *s = *state;

    judge(s);
    assert_false(s->verdict.judged);
    assert_int_equal(s->verdict.len, 0);
}

static void nothing_measured(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    for (size_t i = 0; i < s->trial_count; i++) {
        s->trials[i].app.cpu_cores.avg = s->trials[i].app.cpu_cores.total_ms = NAN;
        s->trials[i].load.latency_ms.p50 = NAN;
    }
    judge(s);
    assert_false(s->verdict.judged);
    for (size_t i = 0; i < s->trial_count; i++)
        s->trials[i].has_load = false;
    judge(s);
    assert_false(s->verdict.judged);
}

static void invalid_trials_are_no_evidence(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    for (size_t i = 0; i < s->trial_count; i++)
        s->trials[i].outcome = OUTCOME_INVALID;
    judge(s);
    assert_false(s->verdict.judged);
}

/* The same three scenarios at three loads: they differ by load, and at none of them from each other. */
static void loads_are_apart_scenarios_are_not(void **state)
{
    struct sweep_fixture *s = *state;

    for (int load = 1; load <= 3; load++)
        for (int i = 0; i < 3; i++)
            add_trial(s, arena_printf(s->arena, "u%d/s%d", load, i),
                      &(struct found){188.0 * load + 0.3 * i, 53.1, 0.3 + 0.1 * i, 10 * load, 51.9});
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "common-ceiling"), "WARN"); /* what is alike is said once */
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "WARN");
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "WARN");
    assert_says(message(s, "common-ceiling"), "at 10 users: 3 of 3 scenarios lie within 2 %");
    assert_says(message(s, "common-ceiling"), "(and likewise under 2 other loads); suspected: the floor");
    assert_says(message(s, "latency-floor-everywhere"), "under each of 3 loads: one request at a time took");
    assert_says(s->verdict.words, "apart: at 10 users: 3 of 3");
    assert_says(s->verdict.words, "; at 20 users: 3 of 3");
    assert_says(s->verdict.words, "; what was probably measured instead, as at 20 users: the floor");
    /* once it is enough for the processors, it can */
    for (size_t i = 6; i < 9; i++)
        s->trials[i].app.effective.cpus = s->trials[i].app.cpu_cores.avg * 1.05;
    assert_can(judge(s));
}

/* Users of external generators are not always known; the axis says it. */
static void loads_by_their_axis(void **state)
{
    struct sweep_fixture *s = *state;

    for (int load = 1; load <= 2; load++)
        for (int i = 0; i < 3; i++) {
            struct trial *t = add_trial(s, arena_printf(s->arena, "u%d/s%d", load, i),
                                        &(struct found){188.0 * load, 53.1, 1 + i, NAN, 51.9});
            add_axis(s, t, "vus", load == 1 ? "10" : "20");
        }
    assert_cannot(judge(s));
}

static void machines_that_others_fill_decide_nothing(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    for (size_t i = 0; i < s->trial_count; i++)
        s->trials[i].host.cpu_busy = 2;
    assert_cannot(judge(s));
    s->arm_count = s->trial_count = 0;
    /* half of what it wants, because others work too: and it does work */
    for (int i = 0; i < 3; i++)
        add_trial(s,
                  i == 0   ? "a"
                  : i == 1 ? "b"
                           : "c",
                  &(struct found){25, 320, 20, 8, 35})
            ->host.cpu_busy = 2;
    assert_can(judge(s));
}

/* Requests wait a little for each other, on a machine that is full; what they wait for is still the upstream.
 */
static void a_short_queue_is_no_work(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 3; i++) {
        struct trial *t =
            add_trial(s, arena_printf(s->arena, "s%d", i), &(struct found){115 + i, 950, 6, 110, 583});
        t->host.cpu_busy = 2;
    }
    assert_cannot(judge(s));
    for (int i = 0; i < 3;
         i++) /* and a long one, when nothing is left of the machine, is for its processors */
        s->trials[i].load.latency_ms.p50 = 1300;
    assert_can(judge(s));
    for (int i = 0; i < 3; i++) /* or, when much is left, for something else */
        s->trials[i].host.cpu_busy = 1;
    assert_can(judge(s)); /* 0.7 cores are a thread */
    for (int i = 0; i < 3; i++)
        s->trials[i].app.cpu_cores.avg = 0.6;
    assert_cannot(judge(s));
}

/* One trial of each, while others built something: 115 to 143 requests/s of one program, and p50 tells of
 * less. */
static void noise_is_no_difference(void **state)
{
    struct sweep_fixture *s = *state;

    add_trial(s, "a", &(struct found){143, 52.2, 0.5, 8, 53});
    add_trial(s, "b", &(struct found){115, 58.6, 0.5, 8, 61});
    add_trial(s, "c", &(struct found){128, 53.2, 0.5, 8, 57});
    assert_cannot(judge(s));
    assert_says(s->verdict.words,
                "the latencies of 3 scenarios lie within 12.3 % of each other, with one trial of each");
    s->trials[1].load.latency_ms.p50 = 65; /* more than chance on a quiet machine */
    assert_can(judge(s));
    for (size_t i = 0; i < 3; i++)
        s->trials[i].host.foreign_cpu_cores = 0.9;
    assert_cannot(judge(s));
    assert_says(s->verdict.words, "on a busy machine");
    s->trials[1].load.latency_ms.p50 = 70; /* and on a noisy one */
    s->trials[1].load.goodput_rps = 105;
    s->trials[1].floor.p50_ms = 68;
    assert_can(judge(s));
}

/* Four connections for 32 users, on a machine that others fill: who uses a fiftieth of a core has not asked
 * for one. */
static void a_pool_is_no_work(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 3; i++)
        add_trial(s, arena_printf(s->arena, "s%d", i), &(struct found){189 + i, 164, 0.11, 32, 20.7})
            ->host.cpu_busy = 2;
    assert_cannot(judge(s));
    assert_says(s->verdict.words,
                "a queue for something that is no processor, such as a connection pool or a lock: one "
                "request at a time took 20.7 ms, and p50 under load was 164 ms");
    assert_says(s->verdict.words, "the number of users: 32 users");
}

/* Postgres in a container of two processors, and its CPU time of each request. */
static void add_database(struct sweep_fixture *s, struct trial *t, double cpu_ms)
{
    struct container_result *c = arena_array(s->arena, struct container_result, 1);

    container_result_init(c, "database");
    c->cpu_cores.total_ms = cpu_ms * t->load.requests;
    c->cpu_cores.avg = c->cpu_cores.total_ms / t->load.window_ms;
    c->effective.cpus = INFINITY;
    t->services = c;
    t->service_count = 1;
}

static void a_database_that_computes_is_work(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 3; i++) /* at its limit, and requests queue */
        add_database(
            s, add_trial(s, arena_printf(s->arena, "s%d", i), &(struct found){180 + i, 88, 0.5, 16, 11}),
            9.5);
    assert_can(judge(s));
    for (int i = 0; i < 3; i++) { /* at rest, but a lone request is its work */
        s->trials[i].load.latency_ms.p50 = 11;
        add_database(s, &s->trials[i], 5);
    }
    assert_can(judge(s));
    for (int i = 0; i < 3; i++) /* hardly asked for anything */
        add_database(s, &s->trials[i], 0.4);
    assert_cannot(judge(s));
    for (int i = 0; i < 3; i++) { /* its quota is the limit */
        struct container_result *c = s->trials[i].services;
        c->cpu_periods = 100;
        c->cpu_throttled_periods = 60;
    }
    assert_can(judge(s));
}

/* "Hello" by few users: nothing works hard, and what takes the time is nobody's wait. */
static void asking_is_no_floor(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 3; i++)
        add_trial(s, arena_printf(s->arena, "s%d", i), &(struct found){8000 + i, 0.12, 0.02, 1, 0.11});
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "PASS");
    assert_says(s->verdict.words, "the asking itself: one request at a time took 0.11 ms");
    assert_null(strstr(s->verdict.words, "floor of an upstream"));
    for (int i = 0; i < 3; i++)
        s->trials[i].app.cpu_cores.avg = 1.5; /* and many users */
    assert_can(judge(s));
}

/* A busy machine: no trial is valid, and all the same it can be said what was measured. Never that it
 * differs. */
static void late_generators(void **state)
{
    struct sweep_fixture *s = *state;
    struct validity_result late[] = {{"host-quiet", "WARN", "", "V18"},
                                     {"generator-kept-up", "FAIL", "", "V9"}};

    waiting(s, 1);
    for (size_t i = 0; i < s->trial_count; i++) {
        struct trial *t = &s->trials[i];
        make_open(t, t->load.goodput_rps);
        t->outcome = OUTCOME_INVALID;
        t->validity = late;
        t->validity_count = 2;
    }
    assert_cannot(judge(s));
    assert_says(s->verdict.words, "; the generator was late in all trials of 3 of 3 scenarios");
    s->trials[0].load.latency_ms.p50 = 200;
    s->trials[1].load.latency_ms.p50 = 400;
    judge(s);
    assert_false(s->verdict.judged);
    s->trials[0].load.latency_ms.p50 = s->trials[1].load.latency_ms.p50 = 53;
    late[0].verdict = "FAIL"; /* of something else */
    judge(s);
    assert_false(s->verdict.judged);
    late[0].verdict = "PASS";
    for (size_t i = 0; i < s->trial_count; i++) /* nor is a load that was not made evidence */
        s->trials[i].load.offered *= 1.1;
    judge(s);
    assert_false(s->verdict.judged);
}

static void who_stands_apart_is_named(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    add_trial(s, "slow", &(struct found){57, 350, 1, 20, 348});
    assert_cannot(judge(s));
    assert_says(s->verdict.words, "3 of 4 scenarios");
    assert_says(s->verdict.words, ", and apart from these only slow (57)");
}

/* A few seconds with a slow start: fewer users on the mean, and the same load. */
static void short_runs_are_of_one_load(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    s->trials[0].load.concurrency = 18;
    assert_cannot(judge(s));
    assert_says(s->verdict.words, "3 of 3");
}

static void who_crashed_is_not_compared(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    struct trial *t = add_trial(s, "loop", &(struct found){129, 200, 9, 20, 52});
    t->app.restarts = 4;
    assert_cannot(judge(s));
    assert_says(s->verdict.words, "3 of 3");
    assert_string_equal(verdicts(s, "out-of-comparison"), "WARN");
    assert_says(message(s, "out-of-comparison"), "1 of 4 scenarios crashed");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        T(one_scenario_alone),
        T(nothing_at_all),
        T(nothing_measured),
        T(invalid_trials_are_no_evidence),
        T(loads_are_apart_scenarios_are_not),
        T(loads_by_their_axis),
        T(machines_that_others_fill_decide_nothing),
        T(a_short_queue_is_no_work),
        T(noise_is_no_difference),
        T(a_pool_is_no_work),
        T(a_database_that_computes_is_work),
        T(asking_is_no_floor),
        T(late_generators),
        T(who_stands_apart_is_named),
        T(short_runs_are_of_one_load),
        T(who_crashed_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

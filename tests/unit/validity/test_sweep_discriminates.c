/* SPDX-License-Identifier: MIT */
/* Can a workload tell its scenarios apart? Sweeps that wait, sweeps that work, and what lies between. */
#include "waiting_sweep.h"

static void a_fixed_sleep_is_found_out(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "WARN");
    assert_string_equal(verdicts(s, "separable"), ""); /* one trial each says nothing */
    assert_string_equal(verdicts(s, "common-ceiling"), "WARN");
    assert_says(s->verdict.words, "3 of 3 scenarios lie within 2 % of each other (374 to 378 requests/s)");
    assert_says(s->verdict.words, "one request at a time took 51.9 ms, 97.7 % of p50");
    assert_says(s->verdict.words, "20 users / p50 of 53.1 ms = 377 requests/s");
    assert_says(s->verdict.words, "at most 31.8 % of the CPU");
}

static void and_with_repetitions(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 4);
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "separable"), "WARN");
}

static void and_without_a_floor(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 1);
    for (size_t i = 0; i < s->trial_count; i++) {
        s->trials[i].has_floor = false;
        s->trials[i].load.latency_ms.min = 51;
    }
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "WARN");
    assert_says(s->verdict.words, "the fastest request took 51 ms");
    for (size_t i = 0; i < s->trial_count; i++)
        s->trials[i].load.latency_ms.min = NAN;
    assert_cannot(judge(s)); /* by CPU per request against latency */
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "");
}

/* Users that become more, then a rate: one figure of both, as in the sweep that was always 115. */
static void and_under_a_mixed_load(void **state)
{
    struct sweep_fixture *s = *state;
    struct container_result services[2];

    container_result_init(&services[0], "database");
    container_result_init(&services[1], "mock");
    waiting(s, 1);
    for (size_t i = 0; i < s->trial_count; i++) {
        s->trials[i].load.model = "mixed";
        s->trials[i].services = services;
        s->trials[i].service_count = 2;
    }
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "models-mixed"), "WARN");
    assert_string_equal(verdicts(s, "throughput-is-input"), "");
    assert_says(s->verdict.words, "the floor of an upstream such as service 'mock', or another wait");
}

static void and_under_an_open_load(void **state)
{
    struct sweep_fixture *s = *state;

    waiting(s, 2);
    for (size_t i = 0; i < s->trial_count; i++) {
        s->trials[i].load.goodput_rps = 200;
        s->trials[i].load.ok = s->trials[i].load.requests = 2000;
        make_open(&s->trials[i], 200);
    }
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "throughput-is-input"), "WARN");
    assert_says(s->verdict.words, "the offered rate: 200 requests/s were offered and 200 delivered");
    assert_says(s->verdict.words, "ms of p50)");
}

/* Two scenarios of twelve are apart, as in the sweep that was always 115. */
static void most_of_them_are_enough(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 12; i++) {
        bool slow = i >= 10;
        struct found f = {slow ? 106 : 114.5 + 0.05 * i, slow ? 830 : 790, 2 + i, 92, 583};
        add_trial(s, arena_printf(s->arena, "s%d", i), &f);
    }
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "common-ceiling"), "WARN");
    assert_says(s->verdict.words, "10 of 12 scenarios");
    assert_says(s->verdict.words, "73.8 % of p50");
}

static void work_is_no_wait(void **state)
{
    struct sweep_fixture *s = *state;
    static const char *const names[] = {"a", "b", "c"};

    /* equal to the last digit, and the processors are what is waited for */
    for (int i = 0; i < 3; i++)
        add_trial(s, names[i], &(struct found){100, 80, 18, 8, 18.5});
    assert_can(judge(s));
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "PASS");
}

/* One thread of a machine with many processors: busy share 12 %, and every request waits for the thread. */
static void one_busy_thread_is_work(void **state)
{
    struct sweep_fixture *s = *state;

    s->host_cores = 8;
    add_trial(s, "a", &(struct found){50, 160, 19.8, 8, 20.5});
    add_trial(s, "b", &(struct found){50, 160, 19.8, 8, 20.5});
    assert_can(judge(s));
    for (size_t i = 0; i < 2; i++)
        s->trials[i].has_floor = false; /* by the core that it fills */
    s->trials[0].load.latency_ms.min = s->trials[1].load.latency_ms.min = 80;
    assert_can(judge(s));
}

static void a_quota_that_holds_back_is_work(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 2; i++) {
        struct trial *t = add_trial(s, i ? "a" : "b", &(struct found){12, 660, 20, 8, 190});
        t->app.effective.cpus = 0.25;
    }
    assert_can(judge(s)); /* 0.24 of 0.25 cores */
    for (int i = 0; i < 2; i++) {
        s->trials[i].app.effective.cpus = 0.5;
        s->trials[i].app.cpu_periods = 100;
        s->trials[i].app.cpu_throttled_periods = 60;
    }
    assert_can(judge(s));
    for (int i = 0; i < 2; i++)
        s->trials[i].app.effective.cpuset = "1";
    assert_can(judge(s));
}

/* CPU-bound and alone: half of two processors, and no queue; its latency is its work. */
static void a_lone_user_of_a_worker(void **state)
{
    struct sweep_fixture *s = *state;

    add_trial(s, "a", &(struct found){48, 20.5, 20, 1, 20.4});
    add_trial(s, "b", &(struct found){48, 20.5, 20, 1, 20.4});
    assert_can(judge(s));
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "PASS");
}

static void different_results_are_different(void **state)
{
    struct sweep_fixture *s = *state;

    add_trial(s, "one call", &(struct found){376, 53.1, 1.1, 20, 51.9});
    add_trial(s, "two calls", &(struct found){194, 103, 1.2, 20, 101});
    assert_can(judge(s));
}

static void and_so_with_repetitions(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 3; i++)
        add_trial(s, "a", &(struct found){376 + i, 53.1, 1.1, 20, 51.9});
    for (int i = 0; i < 3; i++)
        add_trial(s, "b", &(struct found){320 + i, 62.5, 3, 20, 61});
    assert_can(judge(s));
    assert_string_equal(verdicts(s, "separable"), "PASS");
}

/* A low rate, to compare latencies: the throughput is the input, and the latencies differ. */
static void an_open_load_for_latency(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 3; i++)
        make_open(add_trial(s, "a", &(struct found){50, 2 + 0.01 * i, 1.2, NAN, 1.9}), 50);
    for (int i = 0; i < 3; i++)
        make_open(add_trial(s, "b", &(struct found){50, 3 + 0.01 * i, 1.9, NAN, 2.9}), 50);
    assert_can(judge(s));
    assert_string_equal(verdicts(s, "throughput-is-input"), "WARN");
    assert_says(message(s, "throughput-is-input"), "compare latency and CPU");
    assert_string_equal(verdicts(s, "separable"), "PASS");
}

static void think_time_is_an_input_too(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 4; i++) {
        struct trial *t = add_trial(s, i < 2 ? "a" : "b",
                                    &(struct found){199, i % 2 ? 5.1 : 4.9 + 0.02 * i, 0.9, 200, 4.7});
        t->load.think_ms = 1000;
    }
    assert_cannot(judge(s));
    assert_string_equal(verdicts(s, "throughput-is-input"), "WARN");
    assert_says(s->verdict.words, "200 users / (p50 of 5.01 ms + pause of 1000 ms) = 199 requests/s");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        T(a_fixed_sleep_is_found_out),
        T(and_with_repetitions),
        T(and_without_a_floor),
        T(and_under_a_mixed_load),
        T(and_under_an_open_load),
        T(most_of_them_are_enough),
        T(work_is_no_wait),
        T(one_busy_thread_is_work),
        T(a_quota_that_holds_back_is_work),
        T(a_lone_user_of_a_worker),
        T(different_results_are_different),
        T(and_so_with_repetitions),
        T(an_open_load_for_latency),
        T(think_time_is_an_input_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

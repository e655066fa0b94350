/* SPDX-License-Identifier: MIT */
/* When phases begin, how many virtual users they have, and when arrivals are due. */
#include "fixture.h"

#include <math.h>
#include "benchctl/base/hash.h"

#define S NS_PER_S
#define MINUTE (60 * S)

static void constant_rates_are_exact(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload_phase p =
        read_phase("{executor: constant-arrival-rate, rate: 10, duration: 1m, pre_allocated_vus: 5}", a);

    (void)state;
    for (int k = 0; k < 600; k++)
        assert_int_equal(phase_arrival_ns(&p, k), k * INT64_C(100000000));
    assert_int_equal(phase_arrival_ns(&p, 600), INT64_MAX);
    assert_int_equal(phase_planned_arrivals(&p), 600);
    assert_true(phase_rate_at(&p, 5) == 10);
    assert_true(phase_rate_at(&p, MINUTE) == 0);

    p = read_phase("{executor: constant-arrival-rate, rate: 300, timeUnit: 1m, duration: 30s, "
                   "preAllocatedVUs: 1}",
                   a);
    assert_int_equal(phase_arrival_ns(&p, 7), 7 * 200 * NS_PER_MS);
    assert_int_equal(phase_planned_arrivals(&p), 150);
    assert_true(phase_rate_at(&p, 0) == 5);

    p = read_phase("{executor: constant-arrival-rate, rate: 3, duration: 2500ms, pre_allocated_vus: 1}", a);
    assert_int_equal(phase_arrival_ns(&p, 1), 333333333);
    assert_int_equal(phase_arrival_ns(&p, 2), 666666667);
    assert_int_equal(phase_arrival_ns(&p, 3), S);
    assert_int_equal(phase_planned_arrivals(&p), 8); /* 7.5: the eighth, number 7, is due at 2.333 s */
}

/* After a month at full speed not a nanosecond is lost; k * unit / rate in whole numbers is the judge. */
static void exact_over_days(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct rng rng;
    static const int64_t rates[] = {1, 3, 7, 9999, 333333, 9999991, 10000000};

    (void)state;
    rng_seed(&rng, 7);
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        struct workload_phase p = read_phase(arena_printf(a,
                                                          "{executor: constant-arrival-rate, rate: %lld, "
                                                          "duration: 30d, pre_allocated_vus: 5}",
                                                          (long long)rates[i]),
                                             a);
        uint64_t planned = (uint64_t)rates[i] * 30 * 86400;
        assert_int_equal(phase_planned_arrivals(&p), planned);
        for (int n = 0; n < 2000; n++) {
            uint64_t k = n < 2 ? planned - 1 - (uint64_t)n : rng_below(&rng, planned);
            __int128 twice = (__int128)k * NS_PER_S * 2 / rates[i];
            assert_int_equal(phase_arrival_ns(&p, (double)k), (int64_t)((twice + 1) / 2));
        }
    }
}

static const char worked[] = "{executor: ramping-arrival-rate, start_rate: 300, time_unit: 1m, "
                             "pre_allocated_vus: 50, stages: [{duration: 1m, target: 300}, {duration: 2m, "
                             "target: 600}, {duration: 4m, target: 600}, {duration: 2m, target: 60}]}";

/* How many are due before t, by the areas of trapezoids: another way than the one under test. */
static double integral(const struct workload_phase *p, int64_t t)
{
    const struct workload_stage *stages = p->stages.items;
    double from = p->start_rate, sum = 0;

    for (size_t i = 0; i < p->stages.len; i++) {
        double whole = (double)stages[i].duration_ns;
        double part = t < stages[i].duration_ns ? (double)t : whole;
        double at = whole > 0 ? from + (stages[i].target - from) * part / whole : from;
        sum += (from + at) / 2 * part;
        if (t < stages[i].duration_ns)
            break;
        t -= stages[i].duration_ns;
        from = stages[i].target;
    }
    return sum / (double)p->time_unit_ns;
}

static void ramp_of_the_manual(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload_phase p = read_phase(worked, a);

    (void)state;
    assert_int_equal(phase_planned_arrivals(&p), 4260); /* 300 + 900 + 2400 + 660 */
    assert_int_equal(workload_phase_duration_ns(&p), 9 * MINUTE);
    assert_int_equal(phase_arrival_ns(&p, 0), 0);
    assert_int_equal(phase_arrival_ns(&p, 150), 30 * S);
    assert_int_equal(phase_arrival_ns(&p, 300), MINUTE);
    assert_int_equal(phase_arrival_ns(&p, 1200), 3 * MINUTE);
    assert_int_equal(phase_arrival_ns(&p, 3600), 7 * MINUTE);
    /* half way up: 300 * 1 + 300 / 2 / 2 * 1 = 375 more */
    assert_int_equal(phase_arrival_ns(&p, 675), 2 * MINUTE);
    assert_int_equal(phase_arrival_ns(&p, 4260), INT64_MAX);
    assert_true(fabs(phase_rate_at(&p, 2 * MINUTE) - 7.5) < 1e-12);
}

/* Of any ramp: the k-th is where the integral is k, each is behind the one before, the last before the end.
 */
static void check_ramp(const struct workload_phase *p)
{
    uint64_t planned = phase_planned_arrivals(p), step = planned / 3000 + 1;
    int64_t before = -1;

    for (uint64_t k = 0; k < planned; k += step) {
        int64_t t = phase_arrival_ns(p, (double)k);
        assert_true(t != INT64_MAX && t > before);
        before = t;
        /* what 2 ns more or less are worth, and what a double's sum loses */
        double slack = 2e-9 * (phase_rate_at(p, t) + 1) + (double)planned * 1e-13 + 1e-9;
        if (fabs(integral(p, t) - (double)k) > slack)
            fail_msg("arrival %llu at %lld ns: integral is %.12f", (unsigned long long)k, (long long)t,
                     integral(p, t));
    }
    assert_int_equal(phase_arrival_ns(p, (double)planned), INT64_MAX);
    double whole = integral(p, workload_phase_duration_ns(p));
    assert_true(fabs((double)planned - whole) < 1 + whole * 1e-12);
}

static void random_ramps(void **state)
{
    struct rng rng;

    (void)state;
    rng_seed(&rng, 11);
    for (int n = 0; n < 300; n++) {
        struct workload_stage stages[6];
        struct workload_phase p = {
            .executor = EXECUTOR_RAMPING_ARRIVAL_RATE,
            .time_unit_ns = n % 3 ? S : MINUTE,
            .start_rate = (double)rng_below(&rng, 1000) / (double)(1 + rng_below(&rng, 3)),
            .stages = {stages, 1 + (size_t)rng_below(&rng, 6)},
        };
        for (size_t i = 0; i < p.stages.len; i++) {
            stages[i].duration_ns = rng_below(&rng, 5) ? (int64_t)rng_below(&rng, 1000 * S) : 0;
            stages[i].target = rng_below(&rng, 4) ? (double)rng_below(&rng, 5000) : 0;
        }
        check_ramp(&p);
    }
}

static void edges_of_ramps(void **state)
{
    struct workload_stage stages[] = {{10 * S, 0}, {0, 10}, {S, 10}, {10 * S, 0}};
    struct workload_phase p = {
        .executor = EXECUTOR_RAMPING_ARRIVAL_RATE, .time_unit_ns = S, .stages = {stages, 1}};

    (void)state;
    assert_int_equal(phase_planned_arrivals(&p), 0);
    assert_int_equal(phase_arrival_ns(&p, 0), INT64_MAX);
    p.stages.len = 3; /* nothing for 10 s, then a jump to 10 per second */
    assert_int_equal(phase_planned_arrivals(&p), 10);
    assert_int_equal(phase_arrival_ns(&p, 0), 10 * S);
    assert_int_equal(phase_arrival_ns(&p, 9), 10 * S + 900 * NS_PER_MS);
    assert_true(phase_rate_at(&p, 10 * S - 1) == 0);
    assert_true(phase_rate_at(&p, 10 * S) == 10);
    p.stages.len = 4; /* and down to 0: 50 more, the last of them where one is left of the triangle */
    assert_int_equal(phase_planned_arrivals(&p), 60);
    assert_true(llabs(phase_arrival_ns(&p, 59) - (21 * S - (int64_t)(sqrt(2.0) * 1e9))) <= 1);
    assert_int_equal(phase_arrival_ns(&p, NAN), INT64_MAX);
    assert_int_equal(phase_arrival_ns(&p, -1), INT64_MAX);
    assert_int_equal(phase_arrival_ns(&p, 1e300), INT64_MAX);
    p.executor = EXECUTOR_CONSTANT_ARRIVAL_RATE;
    p.rate = 1e-300;
    p.duration_ns = S;
    assert_int_equal(phase_arrival_ns(&p, 1e300), INT64_MAX);
    assert_int_equal(phase_planned_arrivals(&p), 1);
}

/* A month from 0 to the greatest rate and back. */
static void long_ramps(void **state)
{
    struct workload_stage stages[] = {{15 * DAY_NS, RATE_MAX}, {15 * DAY_NS, 0}};
    struct workload_phase p = {
        .executor = EXECUTOR_RAMPING_ARRIVAL_RATE, .time_unit_ns = S, .stages = {stages, 2}};

    (void)state;
    assert_int_equal(phase_planned_arrivals(&p), UINT64_C(12960000000000));
    for (int64_t day = 1; day < 15; day++) { /* k = rate/2/T t^2 */
        double k = RATE_MAX * 86400 * (double)(day * day) / 30;
        if (k == floor(k))
            assert_true(llabs(phase_arrival_ns(&p, k) - day * DAY_NS) <= 1);
    }
}

/* Sums of exponential variates in the place of k: as many as planned, within five standard deviations. */
static void poisson(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload_phase p = read_phase(worked, a);
    struct rng rng;
    double sum = 0;
    int count = 0;
    int64_t before = 0;

    (void)state;
    rng_seed(&rng, 3);
    for (;;) {
        sum += -log(((double)(rng_next(&rng) >> 11) + 1) * 0x1p-53);
        int64_t t = phase_arrival_ns(&p, sum);
        if (t == INT64_MAX)
            break;
        assert_true(t >= before);
        before = t;
        count++;
    }
    assert_true(abs(count - 4260) < 5 * 65.3);
}

static void virtual_users(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload_phase p =
        read_phase("{executor: ramping-vus, startVUs: 0, stages: [{duration: 10s, target: "
                   "10}, {duration: 10s, target: 0}, {duration: 0, target: 7}, "
                   "{duration: 1s, target: 7}]}",
                   a);

    (void)state;
    assert_int_equal(phase_vus_at(&p, 0), 0);
    for (int i = 0; i <= 10; i++) {
        assert_int_equal(phase_vus_at(&p, i * S), i);
        assert_int_equal(phase_vus_at(&p, i * S + S / 2), i < 10 ? i : 10);
        if (i)
            assert_int_equal(phase_vus_at(&p, i * S - 1), i - 1);
    }
    for (int i = 0; i < 10; i++) { /* on the way down one goes when the line is at the number below */
        assert_int_equal(phase_vus_at(&p, 10 * S + i * S), 10 - i);
        assert_int_equal(phase_vus_at(&p, 10 * S + i * S + 1), 10 - i);
    }
    assert_int_equal(phase_vus_at(&p, 20 * S - 1), 1);
    assert_int_equal(phase_vus_at(&p, 20 * S), 7);
    assert_int_equal(phase_vus_at(&p, INT64_MAX), 7);
    assert_int_equal(phase_vus_at(&p, -5), 0);

    p = read_phase("{executor: ramping-vus, stages: [{duration: 8m30s, target: 200}]}", a);
    assert_int_equal(phase_vus_at(&p, 0), 1);
    assert_int_equal(phase_vus_at(&p, 510 * S - 1), 199);
    assert_int_equal(phase_vus_at(&p, 510 * S), 200);
    p = read_phase("{executor: constant-vus, vus: 9, duration: 1s}", a);
    assert_int_equal(phase_vus_at(&p, 0), 9);
    assert_int_equal(phase_arrival_ns(&p, 0), INT64_MAX);
    assert_int_equal(phase_planned_arrivals(&p), 0);
}

static void timeline(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w = read_workload(
        TARGET
        "phases:\n"
        "  - {executor: constant-vus, vus: 5, duration: 10s, graceful_stop: 5s}\n"
        "  - {executor: ramping-vus, stages: [{duration: 20s, target: 8}], graceful_stop: 1s}\n"
        "  - {executor: constant-arrival-rate, rate: 5, duration: 8s, start_time: 2s, pre_allocated_vus: 2, "
        "max_vus: 30, graceful_stop: 0}\n"
        "  - {executor: per-vu-iterations, vus: 4, iterations: 3, graceful_stop: 0}\n",
        a);

    (void)state;
    assert_int_equal(workload_phase_start_ns(&w, 0), 0);
    assert_int_equal(workload_phase_start_ns(&w, 1), 10 * S);
    assert_int_equal(workload_phase_start_ns(&w, 2), 2 * S);
    assert_int_equal(workload_phase_start_ns(&w, 3), 10 * S);
    assert_int_equal(workload_duration_ns(&w), 610 * S);
    assert_int_equal(workload_longest_ns(&w), 610 * S);
    /* 5 + 30 from 2 s on; then 8 + 4, of the first chain never both; 30 and 4 not at once */
    assert_int_equal(workload_max_vus(&w), 35);
    /* the first one's last requests may go on while the third begins, but not beside the second's */
    struct workload other =
        read_workload(TARGET "phases:\n"
                             "  - {executor: constant-vus, vus: 8, duration: 10s}\n"
                             "  - {executor: constant-vus, vus: 5, duration: 10s}\n"
                             "  - {executor: constant-vus, vus: 10, duration: 1s, start_time: 12s}\n",
                      a);
    assert_int_equal(workload_max_vus(&other), 18);
    w.phases.len = 2;
    assert_int_equal(workload_duration_ns(&w), 30 * S);
    assert_int_equal(workload_longest_ns(&w), 36 * S);
    assert_int_equal(workload_max_vus(&w), 8);
    assert_true(executor_is_open(EXECUTOR_RAMPING_ARRIVAL_RATE) && !executor_is_open(EXECUTOR_RAMPING_VUS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_rates_are_exact),
        cmocka_unit_test(exact_over_days),
        cmocka_unit_test(ramp_of_the_manual),
        cmocka_unit_test(random_ramps),
        cmocka_unit_test(edges_of_ramps),
        cmocka_unit_test(long_ramps),
        cmocka_unit_test(poisson),
        cmocka_unit_test(virtual_users),
        cmocka_unit_test(timeline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What is due at once for many is done in turns of the loop. */
#include "fake_transport.h"

#define part(l, i) (&(l).r->second->parts[i])

/* Thousands of VUs are begun in turns of the loop, in which answers are read; how late the last one was is
 * told. */
static void many_vus_begin_in_turns(void **state)
{
    static const int executors[] = {EXECUTOR_CONSTANT_VUS, EXECUTOR_RAMPING_VUS, EXECUTOR_PER_VU_ITERATIONS,
                                    EXECUTOR_SHARED_ITERATIONS};
    static const struct workload_stage flat = {10 * S, 1000};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(executors); i++) {
        struct load l;
        load_init(&l, 1, 1);
        l.phases[0] = phase_of(executors[i]);
        l.phases[0].vus = 1000;
        l.phases[0].start_vus = 1000;
        l.phases[0].stages = (struct schema_list){(void *)(uintptr_t)&flat, 1};
        l.phases[0].iterations = executors[i] == EXECUTOR_SHARED_ITERATIONS ? 2000 : 2;
        fake.service_ns = 5 * S;
        load_begin(&l);
        for (size_t turn = 1; turn * WORK_PER_TURN < 1000; turn++) {
            assert_true(runner_next_ns(l.r) <= fake.now_ns);
            runner_advance(l.r, fake.now_ns);
            assert_int_equal(fake.started, turn * WORK_PER_TURN);
            fake.now_ns += MS;
        }
        runner_advance(l.r, fake.now_ns);
        assert_int_equal(fake.started, 1000);
        assert_true(runner_next_ns(l.r) > fake.now_ns);
        assert_int_equal(part(l, 0)->vus_late_ns, 1000 / WORK_PER_TURN * MS);
        pass(l.r, NEVER);
        assert_int_equal(sum_of(&l, 0).count[REQUEST_OK], 2000);
        assert_int_equal(part(l, 0)->dropped, 0);
        assert_true(runner_over(l.r));
        runner_free(l.r);
    }
}

/* Their time is over before each had its turn: what is left is dropped, to the number. */
static void vus_without_a_turn_are_counted(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_PER_VU_ITERATIONS);
    l.phases[0].vus = 1000;
    l.phases[0].iterations = 3;
    l.phases[0].max_duration_ns = S;
    load_begin(&l);
    runner_advance(l.r, fake.now_ns);
    fake.now_ns += 2 * S;
    runner_advance(l.r, fake.now_ns);
    pass(l.r, NEVER);
    assert_true(runner_over(l.r));
    assert_int_equal(part(l, 0)->planned, 3000);
    assert_int_equal(part(l, 0)->started, WORK_PER_TURN);
    assert_int_equal(part(l, 0)->dropped, 3000 - WORK_PER_TURN);
    assert_int_equal(ended_of(&l, 0), WORK_PER_TURN);
    runner_free(l.r);
}

/* So are time-outs of all at once. */
static void many_time_outs_come_in_turns(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    l.phases[0].vus = 200;
    l.phases[0].duration_ns = 15 * S;
    l.phases[0].graceful_stop_ns = 0;
    fake.service_ns = NEVER;
    load_begin(&l);
    pass(l.r, fake.now_ns + 9 * S);
    fake.now_ns += S;
    runner_advance(l.r, fake.now_ns);
    assert_in_range(fake.cancelled, 1, WORK_PER_TURN);
    pass(l.r, NEVER);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_TIMEOUT], 200);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_ABORTED], 200);
    runner_free(l.r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_vus_begin_in_turns),
        cmocka_unit_test(vus_without_a_turn_are_counted),
        cmocka_unit_test(many_time_outs_come_in_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

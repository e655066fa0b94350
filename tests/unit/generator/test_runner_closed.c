/* SPDX-License-Identifier: MIT */
/* Executors whose VUs begin when they have ended: exact numbers on a clock that the test turns. */
#include "fake_transport.h"

#define part(l, i) (&(l).r->second->parts[i])

static void constant_vus_loop_until_the_end(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    l.phases[0].vus = 3;
    load_begin(&l);
    pass(l.r, fake.now_ns + 5 * S);
    assert_int_equal(fake.under_way, 3);
    pass(l.r, NEVER);
    /* 10 s / 10 ms iterations begin at 0, 10, ..., 9990 ms; the end at 10 s begins none */
    assert_int_equal(fake.started, 3 * 1000);
    assert_int_equal(ended_of(&l, 0), 3 * 1000);
    assert_int_equal(part(l, 0)->planned, 3000);
    assert_int_equal(fake.most_under_way, 3);
    assert_int_equal(part(l, 0)->end_ns, 10 * S);
    assert_true(runner_over(l.r));
    runner_free(l.r);
}

static void graceful_stop_waits_then_aborts(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    l.phases[0].vus = 4;
    l.phases[0].graceful_stop_ns = 2 * S;
    fake.service_ns = 7 * S; /* the second one ends at 14 s, the phase at 10 + 2 */
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(fake.started, 8);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_OK], 4);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_ABORTED], 4);
    assert_int_equal(part(l, 0)->end_ns, 12 * S);
    runner_free(l.r);
}

static void shared_iterations_are_exact(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_SHARED_ITERATIONS);
    l.phases[0].vus = 7;
    l.phases[0].iterations = 100;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_OK], 100);
    assert_int_equal(part(l, 0)->planned, 100);
    assert_int_equal(part(l, 0)->dropped, 0);
    assert_int_equal(part(l, 0)->end_ns, 15 * 10 * MS); /* 14 rounds of 7, and one of 2 */
    runner_free(l.r);
}

static void more_vus_than_shared_iterations(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_SHARED_ITERATIONS);
    l.phases[0].vus = 7;
    l.phases[0].iterations = 3;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_OK], 3);
    assert_true(runner_over(l.r));
    runner_free(l.r);
}

static void per_vu_iterations_are_exact(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_PER_VU_ITERATIONS);
    l.phases[0].vus = 7;
    l.phases[0].iterations = 5;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_OK], 35);
    assert_int_equal(part(l, 0)->end_ns, 50 * MS);
    runner_free(l.r);
}

/* VUs that end at different times leave the others alone, whatever their places in the list. */
static void vus_that_go_take_nobody_with_them(void **state)
{
    (void)state;
    for (uint64_t vus = 2; vus < 8; vus++) {
        struct load l;
        load_init(&l, 1, 1);
        l.phases[0] = phase_of(EXECUTOR_PER_VU_ITERATIONS);
        l.phases[0].vus = (int64_t)vus;
        l.phases[0].iterations = 9;
        load_begin(&l);
        struct rng rng;
        rng_seed(&rng, vus);
        pass(l.r, fake.now_ns);
        for (struct channel *c; (c = first_due());) { /* each answer takes another time */
            fake.now_ns = c->due_ns;
            fake.service_ns = 1 + (int64_t)rng_below(&rng, 100);
            answer(c);
        }
        assert_true(runner_over(l.r));
        assert_int_equal(sum_of(&l, 0).count[REQUEST_OK], vus * 9);
        assert_int_equal(part(l, 0)->dropped, 0);
        runner_free(l.r);
    }
}

static void iterations_that_never_began_are_dropped(void **state)
{
    static const int executors[] = {EXECUTOR_SHARED_ITERATIONS, EXECUTOR_PER_VU_ITERATIONS};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct load l;
        load_init(&l, 1, 1);
        l.phases[0] = phase_of(executors[i]);
        l.phases[0].vus = 2;
        l.phases[0].iterations = i == 0 ? 1000 : 500;
        l.phases[0].max_duration_ns = 105 * MS;
        load_begin(&l);
        pass(l.r, NEVER);
        assert_int_equal(part(l, 0)->planned, 1000);
        assert_int_equal(ended_of(&l, 0), 22); /* at 0, 10, ..., 100 ms */
        assert_int_equal(part(l, 0)->dropped, 978);
        runner_free(l.r);
    }
}

static void ramping_vus_follow_their_stages(void **state)
{
    static const struct workload_stage stages[] = {{10 * S, 20}, {5 * S, 20}, {0, 5}, {5 * S, 0}};
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_RAMPING_VUS);
    l.phases[0].start_vus = 0;
    l.phases[0].stages = (struct schema_list){(void *)(uintptr_t)stages, 4};
    load_begin(&l);
    int64_t begin = fake.now_ns;
    for (int64_t t = 0; t < 20 * S; t += 37 * MS) {
        pass(l.r, begin + t);
        assert_int_equal(l.r->phases[0].active, phase_vus_at(&l.phases[0], t));
    }
    pass(l.r, NEVER);
    assert_int_equal(fake.most_under_way, 20);
    assert_int_equal(part(l, 0)->started, ended_of(&l, 0));
    assert_int_equal(sum_of(&l, 0).count[REQUEST_ABORTED], 0);
    runner_free(l.r);
}

static void a_vu_taken_away_may_finish_for_a_while(void **state)
{
    static const struct workload_stage stages[] = {{10 * S, 4}, {0, 1}, {30 * S, 1}};
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.kinds[0].timeout_ns = 100 * S;
    l.phases[0] = phase_of(EXECUTOR_RAMPING_VUS);
    l.phases[0].start_vus = 4;
    l.phases[0].graceful_ramp_down_ns = 3 * S;
    l.phases[0].stages = (struct schema_list){(void *)(uintptr_t)stages, 3};
    fake.service_ns = 15 * S;
    load_begin(&l);
    int64_t begin = fake.now_ns;
    pass(l.r, begin + 12 * S);
    assert_int_equal(l.r->phases[0].active, 1);
    assert_int_equal(fake.under_way, 4);
    pass(l.r, begin + 13 * S);
    assert_int_equal(fake.under_way, 1); /* three were interrupted */
    assert_int_equal(sum_of(&l, 0).count[REQUEST_ABORTED], 3);
    pass(l.r, NEVER);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_OK], 3); /* at 15, 30 and, in graceful stop, 45 s */
    assert_int_equal(part(l, 0)->end_ns, 45 * S);
    runner_free(l.r);
}

static void a_vu_taken_away_may_come_back(void **state)
{
    static const struct workload_stage stages[] = {{10 * S, 4}, {0, 1}, {1 * S, 1}, {0, 4}, {10 * S, 4}};
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_RAMPING_VUS);
    l.phases[0].start_vus = 4;
    l.phases[0].stages = (struct schema_list){(void *)(uintptr_t)stages, 5};
    fake.service_ns = 3 * S;
    load_begin(&l);
    pass(l.r, fake.now_ns + 11 * S);
    assert_int_equal(l.r->phases[0].active, 4);
    assert_int_equal(l.r->all.len, 4);
    pass(l.r, NEVER);
    assert_int_equal(fake.started, 4 * 7); /* as if nobody had been away: begun at 0, 3, ..., 18 s */
    runner_free(l.r);
}

static void time_outs_are_counted_and_end_the_request(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.kinds[0].timeout_ns = 500 * MS;
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    l.phases[0].vus = 1000;
    fake.service_ns = NEVER;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_TIMEOUT], 20 * 1000);
    assert_int_equal(fake.cancelled, 20 * 1000);
    assert_int_equal(histogram_count(l.r->second->cells[0]->response), 0);
    runner_free(l.r);
}

/* A deadline that is overtaken again and again costs one look per time-out, and is still kept. */
static void a_time_out_is_kept_after_many_answers(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.kinds[0].timeout_ns = 500 * MS;
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    load_begin(&l);
    int64_t begin = fake.now_ns;
    pass(l.r, begin + 3005 * MS); /* in the middle of the 301st */
    fake.service_ns = NEVER;
    pass(l.r, begin + 3509 * MS);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_TIMEOUT], 0);
    pass(l.r, begin + 3510 * MS); /* it began at 3010 */
    assert_int_equal(sum_of(&l, 0).count[REQUEST_TIMEOUT], 1);
    runner_stop(l.r, fake.now_ns);
    runner_free(l.r);
}

static void dead_servers_are_not_hammered(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    l.phases[0].vus = 10;
    fake.service_ns = 1000;
    fake.error = REQUEST_CONNECT;
    load_begin(&l);
    pass(l.r, NEVER);
    /* waits of 10, 20, 40, 80 ms, then of 100: about 100 in 10 s */
    assert_in_range(fake.started, 10 * 100, 10 * 104);
    assert_int_equal(sum_of(&l, 0).count[REQUEST_CONNECT], fake.started);
    assert_int_equal(part(l, 0)->backoffs, fake.started - 0);
    runner_free(l.r);
}

/* However many there are: after the first second, 5,000 tries per second. */
static void many_vus_hammer_no_more_than_few(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    l.phases[0].vus = 2000;
    fake.service_ns = 1000;
    fake.error = REQUEST_RESET; /* closed without a byte */
    fake.connects = true;
    load_begin(&l);
    pass(l.r, NEVER);
    /* waits of 10, 20, ... 320 ms, then of 400 */
    assert_in_range(fake.started, 9 * 5000, 9 * 5000 + 2000 * 8);
    runner_free(l.r);
}

static void think_time_is_between_answers(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.w.think = (struct workload_think){90 * MS, 90 * MS};
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_VUS);
    l.phases[0].vus = 2;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(fake.started, 2 * 100);
    assert_int_equal(part(l, 0)->end_ns, 10 * S);
    runner_free(l.r);
}

static void phases_follow_each_other_or_run_side_by_side(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 3, 1);
    for (size_t i = 0; i < 3; i++) {
        l.phases[i] = phase_of(EXECUTOR_CONSTANT_VUS);
        l.phases[i].duration_ns = 2 * S;
    }
    l.phases[2].start_time_ns = 1 * S;
    l.phases[0].vus = 3;
    fake.service_ns = 1500 * MS;
    load_begin(&l);
    int64_t begin = fake.now_ns;
    pass(l.r, begin + 1200 * MS);
    assert_int_equal(fake.under_way, 4);
    pass(l.r, NEVER);
    /* the second one begins when the first one's last answer has come, at 3 s */
    assert_int_equal(part(l, 1)->begin_ns, 3 * S);
    assert_int_equal(part(l, 2)->begin_ns, 1 * S);
    assert_int_equal(l.over_count, 3);
    assert_int_equal(ended_of(&l, 0), 6);
    assert_int_equal(ended_of(&l, 1), 2);
    assert_int_equal(ended_of(&l, 2), 2);
    assert_int_equal(l.r->all.len, 4); /* VUs are used again */
    runner_free(l.r);
}

static void weights_are_kept_and_follow_from_the_seed(void **state)
{
    uint64_t sequence[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct load l;
        load_init(&l, 1, 3);
        l.requests[0].weight = 7;
        l.requests[1].weight = 2;
        l.w.seed = i == 2 ? 99 : 5;
        l.phases[0] = phase_of(EXECUTOR_SHARED_ITERATIONS);
        l.phases[0].vus = i == 1 ? 4 : 1; /* how many share it changes nothing */
        l.phases[0].iterations = 10000;
        load_begin(&l);
        pass(l.r, NEVER);
        assert_in_range(fake.by_kind[0], 6800, 7200);
        assert_in_range(fake.by_kind[1], 1850, 2150);
        assert_int_equal(fake.by_kind[0] + fake.by_kind[1] + fake.by_kind[2], 10000);
        sequence[i] = fake.sequence;
        runner_free(l.r);
    }
    assert_true(sequence[0] == sequence[1]);
    assert_true(sequence[0] != sequence[2]);
}

static void a_phase_makes_only_its_own_requests(void **state)
{
    static const char *only[] = {"c"};
    struct load l;

    (void)state;
    load_init(&l, 1, 3);
    l.phases[0] = phase_of(EXECUTOR_SHARED_ITERATIONS);
    l.phases[0].iterations = 100;
    l.phases[0].requests = (struct text_list){only, 1};
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(fake.by_kind[2], 100);
    runner_free(l.r);
}

static void stopping_aborts_what_is_under_way(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 2, 1);
    for (size_t i = 0; i < 2; i++) {
        l.phases[i] = phase_of(EXECUTOR_CONSTANT_VUS);
        l.phases[i].vus = 5;
    }
    load_begin(&l);
    pass(l.r, fake.now_ns + 1005 * MS);
    runner_stop(l.r, fake.now_ns);
    assert_true(runner_over(l.r));
    assert_int_equal(sum_of(&l, 0).count[REQUEST_ABORTED], 5);
    assert_int_equal(part(l, 0)->started, ended_of(&l, 0));
    assert_int_equal(part(l, 1)->started, 0);
    assert_int_equal(fake.under_way, 0);
    runner_free(l.r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_vus_loop_until_the_end),
        cmocka_unit_test(graceful_stop_waits_then_aborts),
        cmocka_unit_test(shared_iterations_are_exact),
        cmocka_unit_test(more_vus_than_shared_iterations),
        cmocka_unit_test(per_vu_iterations_are_exact),
        cmocka_unit_test(vus_that_go_take_nobody_with_them),
        cmocka_unit_test(iterations_that_never_began_are_dropped),
        cmocka_unit_test(ramping_vus_follow_their_stages),
        cmocka_unit_test(a_vu_taken_away_may_finish_for_a_while),
        cmocka_unit_test(a_vu_taken_away_may_come_back),
        cmocka_unit_test(time_outs_are_counted_and_end_the_request),
        cmocka_unit_test(a_time_out_is_kept_after_many_answers),
        cmocka_unit_test(dead_servers_are_not_hammered),
        cmocka_unit_test(many_vus_hammer_no_more_than_few),
        cmocka_unit_test(think_time_is_between_answers),
        cmocka_unit_test(phases_follow_each_other_or_run_side_by_side),
        cmocka_unit_test(weights_are_kept_and_follow_from_the_seed),
        cmocka_unit_test(a_phase_makes_only_its_own_requests),
        cmocka_unit_test(stopping_aborts_what_is_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

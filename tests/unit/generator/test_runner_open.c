/* SPDX-License-Identifier: MIT */
/* Executors that begin by the clock, and loads that several processes share. */
#include "fake_transport.h"

#define part(l, i) (&(l).r->second->parts[i])

static void arrivals_are_on_time(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
    l.phases[0].rate = 1000;
    l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 20;
    load_begin(&l);
    int64_t begin = fake.now_ns;
    for (int64_t k = 1; k < 100; k++) {
        pass(l.r, begin + k * MS - 1);
        assert_int_equal(fake.started, k);
    }
    pass(l.r, NEVER);
    assert_int_equal(part(l, 0)->planned, 10000);
    assert_int_equal(part(l, 0)->started, 10000);
    assert_int_equal(part(l, 0)->dropped, 0);
    assert_int_equal(part(l, 0)->close, 0);
    assert_int_equal(part(l, 0)->bunched, 0);
    assert_int_equal(fake.most_under_way, 10);
    assert_int_equal(histogram_count(l.r->second->lag), 10000);
    assert_true(histogram_max_ms(l.r->second->lag) == 0);
    runner_free(l.r);
}

static void arrivals_without_a_vu_are_dropped(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
    l.phases[0].rate = 1000;
    l.phases[0].pre_allocated_vus = 2;
    l.phases[0].max_vus = 5;
    l.phases[0].graceful_stop_ns = 1 * MS;
    fake.service_ns = 50 * MS;
    load_begin(&l);
    pass(l.r, NEVER);
    struct tally t = sum_of(&l, 0);
    assert_int_equal(part(l, 0)->planned, 10000);
    assert_int_equal(part(l, 0)->started, 5 * 200); /* 5 VUs, 20 per second each */
    assert_int_equal(part(l, 0)->dropped, 9000);
    assert_true(t.count[REQUEST_ABORTED] > 0);
    assert_int_equal(ended_of(&l, 0) + part(l, 0)->dropped, part(l, 0)->planned);
    assert_int_equal(l.r->all.len, 5);
    runner_free(l.r);
}

static void ramping_rate_plans_what_the_manual_says(void **state)
{
    /* k6's own example: 300 per minute rising to 600 and falling to 60 */
    static const struct workload_stage stages[] = {
        {60 * S, 300}, {120 * S, 600}, {240 * S, 600}, {120 * S, 60}};
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_RAMPING_ARRIVAL_RATE);
    l.phases[0].start_rate = 300;
    l.phases[0].time_unit_ns = 60 * S;
    l.phases[0].stages = (struct schema_list){(void *)(uintptr_t)stages, 4};
    l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 50;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_in_range(part(l, 0)->planned, 4259, 4261);
    assert_int_equal(ended_of(&l, 0), part(l, 0)->planned);
    runner_free(l.r);
}

/* A server that stalls: the wait counts from the planned moment, the service from the send. */
static void late_starts_show_in_the_response_time(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
    l.phases[0].rate = 100;
    l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 1000;
    load_begin(&l);
    pass(l.r, fake.now_ns + 995 * MS);
    fake.now_ns += 2 * S; /* this process slept: 200 arrivals are due at once */
    runner_advance(l.r, fake.now_ns);
    assert_int_equal(fake.started, 100 + WORK_PER_TURN); /* answers are read before the others go */
    assert_true(runner_next_ns(l.r) <= fake.now_ns);
    while (runner_next_ns(l.r) <= fake.now_ns)
        runner_advance(l.r, fake.now_ns);
    assert_int_equal(fake.started, 300);
    pass(l.r, NEVER);
    const struct tally *t = l.r->second->cells[0];
    assert_int_equal(part(l, 0)->started, 1000);
    assert_true(histogram_max_ms(t->response) > 1990);
    assert_true(histogram_max_ms(t->service) < 11);
    assert_true(histogram_max_ms(l.r->second->lag) > 1990);
    assert_int_equal(histogram_count_above(l.r->second->lag, 1000), 200);
    assert_int_equal(part(l, 0)->bunched, 199);
    assert_int_equal(part(l, 0)->close, 199);
    runner_free(l.r);
}

/* Suspended over the end: what was due before it is made, and counted, in turns of the loop. */
static void what_is_due_at_the_end_is_made(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
    l.phases[0].rate = 100;
    l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 400;
    load_begin(&l);
    pass(l.r, fake.now_ns + 4995 * MS);
    assert_int_equal(fake.started, 500);
    fake.now_ns += 100 * S;
    fake.service_ns = 20 * S;
    runner_advance(l.r, fake.now_ns);
    assert_false(runner_over(l.r));
    pass(l.r, NEVER);
    assert_true(runner_over(l.r));
    assert_int_equal(part(l, 0)->planned, 1000);
    assert_int_equal(part(l, 0)->started + part(l, 0)->dropped, 1000);
    assert_int_equal(part(l, 0)->dropped, 100);
    runner_free(l.r);
}

static void think_time_holds_an_open_vu(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.w.think = (struct workload_think){90 * MS, 90 * MS};
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
    l.phases[0].rate = 100;
    l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 5;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_int_equal(part(l, 0)->started, 500);
    assert_int_equal(part(l, 0)->dropped, 500);
    runner_free(l.r);
}

static void poisson_arrivals_average_to_the_rate(void **state)
{
    struct load l;

    (void)state;
    load_init(&l, 1, 1);
    l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
    l.phases[0].rate = 1000;
    l.phases[0].arrivals = ARRIVALS_POISSON;
    l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 100;
    load_begin(&l);
    pass(l.r, NEVER);
    assert_in_range(part(l, 0)->planned, 9600, 10400); /* 4 standard deviations */
    /* P(gap < 20 us) = 1 - exp(-0.02) */
    assert_in_range(part(l, 0)->bunched, 120, 280);
    assert_int_equal(ended_of(&l, 0) + part(l, 0)->dropped, part(l, 0)->planned);
    runner_free(l.r);
}

/* ---- shared by several processes ---- */

static void shares_add_up_at_any_value(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 9; n++)
        for (uint64_t whole = 0; whole < 40; whole++) {
            uint64_t sum = 0;
            for (uint64_t i = 0; i < n; i++) {
                sum += share_of(whole, i, n);
                assert_true(share_of(whole + 1, i, n) - share_of(whole, i, n) <= 1);
            }
            assert_int_equal(sum, whole);
        }
}

static void run_share(struct load *l, uint64_t process, uint64_t processes)
{
    size_t phases = l->w.phases.len, requests = l->w.requests.len;
    struct load copy = *l;

    copy.w.phases = (struct schema_list){copy.phases, phases};
    copy.w.requests = (struct schema_list){copy.requests, requests};
    for (size_t i = 0; i < requests; i++)
        copy.kinds[i].form = &copy.requests[i];
    memset(&fake, 0, sizeof(fake));
    fake.now_ns = 1000 * S;
    fake.service_ns = 10 * MS;
    load_begin_share(&copy, process, processes);
    pass(copy.r, NEVER);
    for (size_t i = 0; i < phases; i++) {
        l->over[i] += copy.r->second->parts[i].planned;
        l->over[4 + i] += ended_of(&copy, i) + copy.r->second->parts[i].dropped;
    }
    runner_free(copy.r);
}

static void processes_make_together_what_one_makes(void **state)
{
    static const struct workload_stage stages[] = {{2 * S, 500}, {1 * S, 0}};
    struct load l;

    (void)state;
    for (uint64_t n = 1; n < 6; n++) {
        load_init(&l, 4, 1);
        l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
        l.phases[0].rate = 333;
        l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 3; /* fewer than processes, at last */
        l.phases[1] = phase_of(EXECUTOR_RAMPING_ARRIVAL_RATE);
        l.phases[1].stages = (struct schema_list){(void *)(uintptr_t)stages, 2};
        l.phases[1].pre_allocated_vus = l.phases[1].max_vus = 20;
        l.phases[2] = phase_of(EXECUTOR_SHARED_ITERATIONS);
        l.phases[2].vus = 3;
        l.phases[2].iterations = 101;
        l.phases[3] = phase_of(EXECUTOR_PER_VU_ITERATIONS);
        l.phases[3].vus = 7;
        l.phases[3].iterations = 3;
        for (uint64_t i = 0; i < n; i++)
            run_share(&l, i, n);
        assert_int_equal(l.over[0], 3330);
        assert_int_equal(l.over[1], phase_planned_arrivals(&l.phases[1]));
        assert_int_equal(l.over[2], 101);
        assert_int_equal(l.over[3], 21);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(l.over[i], l.over[4 + i]);
    }
}

static void poisson_arrivals_are_the_same_however_shared(void **state)
{
    size_t whole = 0;

    (void)state;
    for (uint64_t n = 1; n < 5; n++) {
        struct load l;
        load_init(&l, 1, 1);
        l.phases[0] = phase_of(EXECUTOR_CONSTANT_ARRIVAL_RATE);
        l.phases[0].rate = 200;
        l.phases[0].arrivals = ARRIVALS_POISSON;
        l.phases[0].pre_allocated_vus = l.phases[0].max_vus = 100;
        for (uint64_t i = 0; i < n; i++)
            run_share(&l, i, n);
        if (n == 1)
            whole = l.over[0];
        assert_int_equal(l.over[0], whole);
    }
}

static void ramping_vus_add_up_at_any_time(void **state)
{
    static const struct workload_stage stages[] = {{10 * S, 23}, {5 * S, 2}};
    int64_t moments[] = {0, 1 * S, 3333 * MS, 9999 * MS, 12 * S, 14900 * MS};

    (void)state;
    for (size_t m = 0; m < 6; m++) {
        size_t sum = 0;
        struct load l;
        for (uint64_t i = 0; i < 4; i++) {
            load_init(&l, 1, 1);
            l.phases[0] = phase_of(EXECUTOR_RAMPING_VUS);
            l.phases[0].stages = (struct schema_list){(void *)(uintptr_t)stages, 2};
            load_begin_share(&l, i, 4);
            pass(l.r, fake.now_ns + moments[m]);
            sum += l.r->phases[0].active;
            runner_stop(l.r, fake.now_ns);
            runner_free(l.r);
        }
        assert_int_equal(sum, phase_vus_at(&l.phases[0], moments[m]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_are_on_time),
        cmocka_unit_test(arrivals_without_a_vu_are_dropped),
        cmocka_unit_test(ramping_rate_plans_what_the_manual_says),
        cmocka_unit_test(late_starts_show_in_the_response_time),
        cmocka_unit_test(what_is_due_at_the_end_is_made),
        cmocka_unit_test(think_time_holds_an_open_vu),
        cmocka_unit_test(poisson_arrivals_average_to_the_rate),
        cmocka_unit_test(shares_add_up_at_any_value),
        cmocka_unit_test(processes_make_together_what_one_makes),
        cmocka_unit_test(poisson_arrivals_are_the_same_however_shared),
        cmocka_unit_test(ramping_vus_add_up_at_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Fates are pure: these counts are the same everywhere and always; a change of them breaks comparisons. */
#include "../unit/check.h"

#include <math.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "fate.h"
#include "timers.h"

#define MANY 100000

static struct config config;
static struct arena *arena;

static int set_up(void **state)
{
    static const char text[] =
        "upstream: 1\nendpoints:\n"
        "  /uniform: {latency: {uniform: [100ms, 600ms]}}\n"
        "  /normal: {latency: {normal: {mean: 50ms, sd: 10ms}}}\n"
        "  /cut: {latency: {normal: {mean: 1ms, sd: 10ms}}}\n"
        "  /tail: {latency: {lognormal: {median: 20ms, p99: 400ms}}}\n"
        "  /constant: {latency: 7ms}\n"
        "  /fails: {latency: {uniform: [100ms, 600ms]}, failures: {500: 1%, timeout: 0.5%, reset: 0.5%}}\n"
        "  /same: {latency: {uniform: [100ms, 600ms]}, failures: {500: 1%, timeout: 0.5%, reset: 0.5%}}\n"
        "  /always: {failures: {close: 100%}}\n"
        "  /never: {failures: {timeout: 100%}, timeout_after: never}\n";
    struct error err = ERROR_INIT;

    (void)state;
    arena = arena_new();
    return config_read(text, strlen(text), "t", NULL, arena, &config, &err);
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct endpoint *endpoint(const char *path)
{
    return config_find(&config, path, strlen(path));
}

static int below(const char *path, double ms) /* how many of MANY */
{
    int count = 0;

    for (uint64_t i = 0; i < MANY; i++)
        count += (double)fate_decide(endpoint(path), 1, fate_key_of_count(i)).delay_ns < ms * 1e6;
    return count;
}

static void assert_near(int count, double share)
{
    double sd = sqrt(MANY * share * (1 - share));

    if (fabs(count - MANY * share) > 4 * sd)
        fail_msg("%d of %d instead of %.0f", count, MANY, MANY * share);
}

static void latencies_have_their_distribution(void **state)
{
    (void)state;
    assert_int_equal(below("/uniform", 100), 0);
    assert_int_equal(below("/uniform", 600), MANY);
    for (int i = 1; i < 10; i++)
        assert_near(below("/uniform", 100 + 50 * i), i / 10.0);
    assert_near(below("/normal", 50), 0.5);
    assert_near(below("/normal", 40), 0.158655);
    assert_near(below("/normal", 50 + 23.26348), 0.99);
    assert_near(below("/tail", 20), 0.5);
    assert_near(below("/tail", 400), 0.99);
    assert_int_equal(below("/constant", 7), 0);
    assert_int_equal(below("/constant", 7.0001), MANY);
    assert_int_equal(below("/cut", 0), 0); /* below zero is zero */
    assert_near(below("/cut", 0.0000001), 0.460172);
}

static void count_failures(uint64_t seed, int counts[4])
{
    const struct endpoint *e = endpoint("/fails");

    memset(counts, 0, 4 * sizeof(*counts));
    for (uint64_t i = 0; i < MANY; i++) {
        struct fate f = fate_decide(e, seed, fate_key_of_count(i));
        counts[f.failure ? f.failure - e->failures.items + 1 : 0]++;
        if (f.failure)
            assert_true(f.delay_ns == (f.failure->kind == FAILURE_TIMEOUT ? 30 * NS_PER_S : 0));
    }
}

static void failures_have_their_share(void **state)
{
    int first[4], again[4], other[4];

    (void)state;
    count_failures(17, first);
    count_failures(17, again);
    count_failures(18, other);
    assert_memory_equal(first, again, sizeof(first));
    assert_memory_not_equal(first, other, sizeof(first));
    assert_near(first[1], 0.01);
    assert_near(first[2], 0.005);
    assert_near(first[3], 0.005);
    if (first[1] != 1019 || first[2] != 515 || first[3] != 485)
        fail_msg("%d %d %d", first[1], first[2], first[3]);
}

static void a_seed_gives_these_and_no_others(void **state)
{
    static const int64_t wanted[] = {396254782, 441332078, 385773627, 319042844,
                                     334489481, 279588033, 368035989, 287859536};

    (void)state;
    for (uint64_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_int_equal(fate_decide(endpoint("/uniform"), 17, fate_key_of_count(i)).delay_ns, wanted[i]);
}

static void what_decides_and_what_does_not(void **state)
{
    const struct endpoint *e = endpoint("/fails");
    uint64_t id = fate_key_of_id("request-7", 9);
    int differ_by_endpoint = 0, differ_by_seed = 0, differ_by_id = 0;

    (void)state;
    assert_true(fate_decide(e, 1, id).delay_ns == fate_decide(e, 1, fate_key_of_id("request-7", 9)).delay_ns);
    for (uint64_t i = 0; i < 1000; i++) {
        char text[32];
        int len = snprintf(text, sizeof(text), "%d", (int)i);
        int64_t delay = fate_decide(e, 1, fate_key_of_count(i)).delay_ns;
        differ_by_endpoint += delay != fate_decide(endpoint("/same"), 1, fate_key_of_count(i)).delay_ns;
        differ_by_seed += delay != fate_decide(e, 2, fate_key_of_count(i)).delay_ns;
        differ_by_id += delay != fate_decide(e, 1, fate_key_of_id(text, (size_t)len)).delay_ns;
    }
    assert_true(differ_by_endpoint > 990 && differ_by_seed > 990 && differ_by_id > 990);
    /* Who waits does not depend on who fails: without failures the others keep their latency. */
    for (uint64_t i = 0; i < 1000; i++) {
        struct endpoint calm = *e;
        calm.failures.len = 0;
        struct fate f = fate_decide(e, 1, fate_key_of_count(i)),
                    g = fate_decide(&calm, 1, fate_key_of_count(i));
        assert_true(f.failure || f.delay_ns == g.delay_ns);
        assert_true(f.random == g.random);
    }
    assert_int_equal(fate_decide(endpoint("/always"), 1, 5).failure->kind, FAILURE_CLOSE);
    assert_true(fate_decide(endpoint("/never"), 1, 5).delay_ns == UPSTREAM_NEVER);
}

static void timers_come_in_order(void **state)
{
    enum { COUNT = 2000 };
    static struct timer all[COUNT];
    struct timers t = {0};
    int64_t last = -1;
    size_t seen = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        all[i].place = TIMER_NONE;
        timers_set(&t, &all[i], (int64_t)(i * 7919 % 1009));
    }
    for (size_t i = 0; i < COUNT; i += 3)
        timers_set(&t, &all[i], (int64_t)(i * 31 % 5000)); /* moved */
    for (size_t i = 1; i < COUNT; i += 3)
        timers_remove(&t, &all[i]);
    timers_remove(&t, &all[1]); /* not set any more */
    for (struct timer *first; (first = timers_first(&t)); seen++) {
        assert_true(first->due_ns >= last);
        last = first->due_ns;
        timers_remove(&t, first);
    }
    assert_int_equal(seen, COUNT - (COUNT + 1) / 3);
    timers_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_have_their_distribution),
        cmocka_unit_test(failures_have_their_share),
        cmocka_unit_test(a_seed_gives_these_and_no_others),
        cmocka_unit_test(what_decides_and_what_does_not),
        cmocka_unit_test(timers_come_in_order),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}

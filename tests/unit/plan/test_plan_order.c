/* SPDX-License-Identifier: MIT */
/* The order of trials: complete, reproducible, interleaved where it says so, and without favourites. */
#include "fixture.h"
#include "order.h"

static struct fixture *sized(size_t scenarios, int64_t trials, enum order_mode order, int64_t seed)
{
    struct fixture *f = fixture_new();

    fixture_axis_of(f, "a", scenarios);
    f->m.trials = trials;
    f->m.order = order;
    f->m.seed = seed;
    return f;
}

/* "3.1 0.1 ...": scenario.trial in order. The caller frees. */
static char *order_text(enum order_mode order, size_t scenarios, int64_t trials, int64_t seed)
{
    CLEANUP(fixture_free) struct fixture *f = sized(scenarios, trials, order, seed);
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    struct strbuf out = STRBUF_INIT;

    for (uint64_t k = 0; k < plan_counts(p)->trials; k++) {
        struct planned_trial t = plan_trial(p, k);
        strbuf_addf(&out, "%zu.%d ", t.scenario, t.trial);
    }
    return strbuf_detach(&out);
}

static void listed_is_as_written(void **state)
{
    (void)state;
    CLEANUP_FREE char *text = order_text(ORDER_LISTED, 3, 2, 5);
    assert_string_equal(text, "0.1 0.2 1.1 1.2 2.1 2.2 ");
}

/* Written down once, so that the same seed gives the same order in every version and on every machine.
 * The expected texts come from a second implementation of the same rule in another language. */
static void known_orders(void **state)
{
    (void)state;
    CLEANUP_FREE char *rounds = order_text(ORDER_INTERLEAVED, 5, 2, 19);
    CLEANUP_FREE char *mixed = order_text(ORDER_RANDOM, 3, 2, 19);
    assert_string_equal(rounds, "4.1 1.1 2.1 3.1 0.1 4.2 1.2 2.2 3.2 0.2 ");
    assert_string_equal(mixed, "0.1 0.2 2.2 2.1 1.2 1.1 ");
}

static void check_covers(size_t scenarios, int64_t trials, enum order_mode order, int64_t seed)
{
    CLEANUP(fixture_free) struct fixture *f = sized(scenarios, trials, order, seed);
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    uint64_t total = scenarios * (uint64_t)trials;
    CLEANUP_FREE bool *seen = xcalloc(total, sizeof(*seen));

    assert_int_equal(plan_counts(p)->trials, total);
    for (uint64_t k = 0; k < total; k++) {
        struct planned_trial t = plan_trial(p, k);
        assert_true(t.scenario < scenarios && t.trial >= 1 && t.trial <= trials);
        size_t slot = t.scenario * (size_t)trials + (size_t)t.trial - 1;
        assert_false(seen[slot]);
        seen[slot] = true;
        if (order == ORDER_INTERLEAVED)
            assert_int_equal(t.trial, k / scenarios + 1);
    }
}

static void every_trial_exactly_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 97, 256, 1000, 4099};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        for (int64_t seed = -1; seed < 3; seed++) {
            for (int order = ORDER_LISTED; order <= ORDER_RANDOM; order++)
                check_covers(sizes[i], 3, (enum order_mode)order, seed);
        }
    }
}

static void seed_decides(void **state)
{
    (void)state;
    CLEANUP_FREE char *one = order_text(ORDER_INTERLEAVED, 50, 2, 1);
    CLEANUP_FREE char *again = order_text(ORDER_INTERLEAVED, 50, 2, 1);
    CLEANUP_FREE char *two = order_text(ORDER_INTERLEAVED, 50, 2, 2);
    CLEANUP_FREE char *mixed = order_text(ORDER_RANDOM, 50, 2, 1);
    CLEANUP_FREE char *mixed_two = order_text(ORDER_RANDOM, 50, 2, 2);
    assert_string_equal(one, again);
    assert_string_not_equal(one, two);
    assert_string_not_equal(mixed, mixed_two);
}

static void rounds_differ(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = sized(100, 2, ORDER_INTERLEAVED, 7);
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    size_t same = 0;
    for (uint64_t k = 0; k < 100; k++)
        same += plan_trial(p, k).scenario == plan_trial(p, k + 100).scenario;
    assert_true(same < 15);
}

/* Over many seeds each scenario comes to each place equally often: chi-square, 16 and 119 degrees of freedom.
 */
static void no_place_is_favoured(void **state)
{
    (void)state;
    enum { N = 5, SEEDS = 20000 };
    unsigned places[N][N] = {{0}};
    double chi = 0;
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        for (uint64_t x = 0; x < N; x++)
            places[x][order_permute(N, order_key(seed, 0), x)]++;
    }
    const double expected = (double)SEEDS / N;
    for (size_t x = 0; x < N; x++) {
        for (size_t place = 0; place < N; place++) {
            double gap = places[x][place] - expected;
            chi += gap * gap / expected;
        }
    }
    assert_true(chi < 50);
}

static void no_order_is_favoured(void **state)
{
    (void)state;
    enum { N = 5, SEEDS = 60000, ORDERS = 120 };
    unsigned counts[N * N * N * N * N] = {0};
    double chi = 0;
    size_t kinds = 0;
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        size_t code = 0;
        for (uint64_t x = 0; x < N; x++)
            code = code * N + (size_t)order_permute(N, order_key(seed, 3), x);
        counts[code]++;
    }
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        double gap = counts[i] - (double)SEEDS / ORDERS;
        kinds += counts[i] != 0;
        chi += counts[i] ? gap * gap / ((double)SEEDS / ORDERS) : 0;
    }
    assert_int_equal(kinds, ORDERS);
    assert_true(chi < 190);
}

/* Neighbours in the matrix do not stay neighbours: nothing of the listed order is left in a large plan. */
static void large_orders_are_mixed(void **state)
{
    (void)state;
    const uint64_t n = 1000003;
    uint64_t key = order_key(42, 1), close = 0, low = 0;
    for (uint64_t x = 0; x + 1 < 20000; x++) {
        uint64_t a = order_permute(n, key, x), b = order_permute(n, key, x + 1);
        close += (a > b ? a - b : b - a) < n / 100;
        low += a < n / 2;
    }
    assert_true(close > 250 && close < 550); /* 2 % expected */
    assert_true(low > 9700 && low < 10300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listed_is_as_written),
        cmocka_unit_test(known_orders),
        cmocka_unit_test(every_trial_exactly_once),
        cmocka_unit_test(seed_decides),
        cmocka_unit_test(rounds_differ),
        cmocka_unit_test(no_place_is_favoured),
        cmocka_unit_test(no_order_is_favoured),
        cmocka_unit_test(large_orders_are_mixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* A million scenarios: counted right, found again, in bounded memory. Nothing here depends on the machine's
 * speed. */
#include "fixture.h"

#define MEMORY_BOUND ((size_t)64 << 20)

/* Ten axes of four values: 1,048,576 combinations. */
static struct fixture *million(void)
{
    struct fixture *f = fixture_new();

    for (int i = 0; i < 10; i++)
        fixture_axis(f, arena_printf(f->m.arena, "axis%d", i), "alpha,beta,gamma,delta");
    f->m.trials = 3;
    f->m.order = ORDER_INTERLEAVED;
    return f;
}

static void million_without_rules(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = million();
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_int_equal(plan_counts(p)->scenarios, 1048576);
    assert_int_equal(plan_counts(p)->trials, 3 * 1048576);
    assert_true(plan_bytes(p) < MEMORY_BOUND / 8);
}

static void million_with_rules(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = million();
    static const char *const values[] = {"alpha", "beta", "gamma", "delta"};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 4; k++)
            fixture_exclude(f,
                            arena_printf(f->m.arena, "axis%d=%s;axis%d=%s", i, values[k], i + 1, values[k]));
    for (int i = 0; i < 1000; i++)
        fixture_override(f, arena_printf(f->m.arena, "axis0=%s;axis2=%s;axis4=%s,%s;axis9=%s", values[i % 4],
                                         values[i / 4 % 4], values[i / 16 % 4], values[(i / 16 + 1) % 4],
                                         values[i / 64 % 4]));
    fixture_include(f, "alpha/beta/alpha/beta/alpha/beta/alpha/beta/alpha/omega");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    /* no two neighbours alike: 4 * 3^9, and the include */
    assert_int_equal(plan_counts(p)->scenarios, 4 * 19683 + 1);
    assert_int_equal(plan_counts(p)->excluded, 1048576 - 4 * 19683);
    assert_true(plan_bytes(p) < MEMORY_BOUND);
}

static void million_found_again(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = million();
    const char *filters[] = {"axis3!=beta"};
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 1, filters);
    CLEANUP(arena_free) struct arena *a = arena_new();
    assert_int_equal(plan_counts(p)->scenarios, 1048576 / 4 * 3);
    for (size_t i = 0; i < plan_counts(p)->scenarios; i += 997) {
        struct scenario s;
        size_t index = 0;
        plan_scenario(p, i, a, &s);
        assert_int_equal(plan_find(p, s.id, &index), 0);
        assert_int_equal(index, i);
        arena_reset(a);
    }
    assert_true(plan_bytes(p) < MEMORY_BOUND / 8);
}

static void ten_million_fit_and_one_more_does_not(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis_of(f, "a", 1000);
    fixture_axis_of(f, "b", 1000);
    fixture_axis_of(f, "c", 10);
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_int_equal(plan_counts(p)->scenarios, 10000000);
    assert_true(plan_bytes(p) < MEMORY_BOUND);
    f->m.axis_count = 2;
    fixture_axis_of(f, "d", 11);
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "more than 10000000 combinations");
}

/* One axis with very many values and as many rules: the sieve's portions keep both time and memory in hand.
 */
static void many_values_and_many_rules(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    const uint32_t count = 50000;
    fixture_axis_of(f, "a", count);
    struct condition *excludes = arena_array(f->m.arena, struct condition, count);
    struct condition_term *terms = arena_array(f->m.arena, struct condition_term, count);
    uint32_t *values = arena_array(f->m.arena, uint32_t, count);
    for (uint32_t i = 0; i < count - 1; i++) {
        values[i] = count - 1 - i;
        terms[i] = (struct condition_term){.axis = 0, .values = &values[i], .len = 1};
        excludes[i] =
            (struct condition){.terms = &terms[i], .len = 1, .at = {.file = "m.yaml", .line = (int)i}};
    }
    f->m.excludes = excludes;
    f->m.exclude_count = count - 1;
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "v0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(million_without_rules),      cmocka_unit_test(million_with_rules),
        cmocka_unit_test(million_found_again),        cmocka_unit_test(ten_million_fit_and_one_more_does_not),
        cmocka_unit_test(many_values_and_many_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

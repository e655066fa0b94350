/* SPDX-License-Identifier: MIT */
/* Seconds of a load in which requests were made and none succeeded. */
#include "unserved.h"

#include <math.h>
#include "unit/check.h"

#define AFTER_MS 3000.0

static struct unserved begin(void)
{
    return (struct unserved){.after_ms = AFTER_MS, .slowest_ms = 20};
}

/* The n-th second of our own generator, which tells what it has started. */
static void second(struct unserved *u, int n, double started, double ok, double failed)
{
    unserved_second(u,
                    &(struct load_second){.begin_ms = n * 1000,
                                          .end_ms = n * 1000 + 1000,
                                          .ok = ok,
                                          .answered = ok > 0,
                                          .failed = failed,
                                          .started = started,
                                          .aborted = 0},
                    false);
}

/* The same of a stream, which tells only of ends. */
static void streamed(struct unserved *u, int n, double ok, double failed)
{
    unserved_second(u,
                    &(struct load_second){.begin_ms = n * 1000,
                                          .end_ms = n * 1000 + 1000,
                                          .ok = ok,
                                          .failed = failed,
                                          .started = NAN,
                                          .aborted = NAN},
                    false);
}

/* Four users, of whom each waits for its time-out. */
static void a_hang_to_the_end(void **state)
{
    struct unserved u = begin();

    (void)state;
    second(&u, 0, 404, 400, 0);
    for (int i = 1; i < 7; i++)
        second(&u, i, i % 2 ? 0 : 4, 0, i % 2 ? 0 : 4);
    unserved_end(&u);
    assert_int_equal(u.count, 1);
    assert_true(u.to_end && !u.answered);
    assert_true(u.first.from_ms == 1000);
    assert_true(u.total_ms == 6000);
    assert_true(u.failed == 12);
}

static void it_comes_back(void **state)
{
    struct unserved u = begin();

    (void)state;
    for (int i = 0; i < 12; i++)
        second(&u, i, 4, i % 4 == 0 ? 4 : 0, i % 4 == 0 ? 0 : 4);
    unserved_end(&u);
    assert_int_equal(u.count, 3);
    assert_true(u.to_end); /* the last piece is */
    assert_true(u.total_ms == 9000);
    u = begin();
    for (int i = 0; i < 9; i++)
        second(&u, i, 4, i % 3 == 0 ? 4 : 0, i % 3 == 0 ? 0 : 4); /* never for long enough */
    unserved_end(&u);
    assert_int_equal(u.count, 0);
}

/* Users that think, arrivals that are rare: nobody asked, nobody waited. */
static void nobody_asks(void **state)
{
    struct unserved u = begin();

    (void)state;
    second(&u, 0, 1, 1, 0);
    for (int i = 1; i < 20; i++)
        second(&u, i, 0, 0, 0);
    second(&u, 20, 1, 0, 1);
    for (int i = 21; i < 40; i++)
        second(&u, i, 0, 0, 0);
    unserved_end(&u);
    assert_int_equal(u.count, 0);
}

/* Slow answers are answers; one that takes longer than any before, at the end, is none. */
static void slow_is_not_dead(void **state)
{
    struct unserved u = begin();

    (void)state;
    u.slowest_ms = 5000;
    second(&u, 0, 1, 0, 0);
    for (int i = 1; i < 5; i++)
        second(&u, i, 0, 0, 0);
    second(&u, 5, 1, 1, 0);
    for (int i = 6; i < 10; i++)
        second(&u, i, 0, 0, 0);
    unserved_end(&u);
    assert_int_equal(u.count, 0);
    u = begin();
    second(&u, 0, 5, 4, 0);
    for (int i = 1; i < 5; i++)
        second(&u, i, 0, 0, 0);
    unserved_end(&u);
    assert_int_equal(u.count, 1);
}

static void of_a_stream(void **state)
{
    struct unserved u = begin();

    (void)state;
    streamed(&u, 0, 50, 0);
    for (int i = 1; i < 5; i++)
        streamed(&u, i, 0, i == 4 ? 2 : 0); /* time-outs of four seconds */
    streamed(&u, 5, 0, 0);                  /* nobody knows */
    unserved_end(&u);
    assert_int_equal(u.count, 1);
    assert_true(u.first.from_ms == 1000);
    assert_true(u.total_ms == 4000);
    u = begin();
    streamed(&u, 0, 50, 0);
    for (int i = 1; i < 9; i++)
        streamed(&u, i, 0, 0);
    unserved_end(&u);
    assert_int_equal(u.count, 0);
}

/* Down or silent altogether has names of its own. */
static void elsewhere(void **state)
{
    struct unserved u = begin();
    const struct load_second s = {.begin_ms = 2000, .end_ms = 3000, .failed = 9, .started = 9};

    (void)state;
    second(&u, 0, 4, 0, 4);
    second(&u, 1, 4, 0, 4);
    unserved_second(&u, &s, true);
    second(&u, 3, 4, 0, 4);
    second(&u, 4, 4, 0, 4);
    unserved_end(&u);
    assert_int_equal(u.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hang_to_the_end), cmocka_unit_test(it_comes_back), cmocka_unit_test(nobody_asks),
        cmocka_unit_test(slow_is_not_dead),  cmocka_unit_test(of_a_stream),   cmocka_unit_test(elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

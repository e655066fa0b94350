/* SPDX-License-Identifier: MIT */
/* Silence by a clock that is made up. */
#include "benchctl/failure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define S INT64_C(1000000000)

static void answers_keep_it_alive(void **state)
{
    struct liveness l = {.after_ns = 10 * S};

    (void)state;
    liveness_up(&l, 100 * S);
    for (int64_t t = 101; t < 200; t++) {
        if (t % 9 == 0)
            liveness_sign(&l, t * S);
        assert_false(liveness_tick(&l, t * S));
    }
    assert_int_equal(l.silences.len, 0);
    liveness_release(&l);
}

static void silence_begins_at_the_last_answer(void **state)
{
    struct liveness l = {.after_ns = 10 * S};

    (void)state;
    liveness_up(&l, 100 * S);
    liveness_sign(&l, 107 * S);
    assert_false(liveness_tick(&l, 117 * S - 1));
    assert_true(liveness_tick(&l, 117 * S));
    assert_true(l.unresponsive);
    assert_false(liveness_tick(&l, 118 * S)); /* told once */
    assert_int_equal(l.silences.len, 1);
    assert_int_equal(l.silences.items[0].from_ns, 107 * S);
    assert_int_equal(l.silences.items[0].to_ns, 0);
    liveness_release(&l);
}

static void an_answer_ends_it_and_another_may_follow(void **state)
{
    struct liveness l = {.after_ns = 2 * S};

    (void)state;
    liveness_up(&l, 10 * S);
    assert_true(liveness_tick(&l, 12 * S));
    liveness_sign(&l, 15 * S);
    assert_false(l.unresponsive);
    assert_int_equal(l.silences.items[0].to_ns, 15 * S);
    assert_false(liveness_tick(&l, 16 * S));
    assert_true(liveness_tick(&l, 17 * S));
    assert_int_equal(l.silences.len, 2);
    assert_int_equal(l.silences.items[1].from_ns, 15 * S);
    liveness_release(&l);
}

/* What was answered just after a silence seemed to begin is told when the silence is known: it began later.
 */
static void late_news_move_its_begin(void **state)
{
    struct liveness l = {.after_ns = 10 * S};

    (void)state;
    liveness_up(&l, 100 * S);
    assert_true(liveness_tick(&l, 110 * S));
    liveness_sign(&l, 102 * S);
    liveness_sign(&l, 101 * S); /* and that is older still */
    assert_true(liveness_tick(&l, 112 * S));
    assert_int_equal(l.silences.len, 1);
    assert_int_equal(l.silences.items[0].from_ns, 102 * S);
    liveness_sign(&l, 113 * S);
    assert_false(l.unresponsive);
    assert_int_equal(l.silences.len, 1);
    assert_int_equal(l.silences.items[0].to_ns, 113 * S);
    liveness_release(&l);
}

static void a_silence_that_was_none_is_forgotten(void **state)
{
    struct liveness l = {.after_ns = 10 * S};

    (void)state;
    liveness_up(&l, 100 * S);
    assert_true(liveness_tick(&l, 110 * S));
    liveness_sign(&l, 108 * S);
    liveness_sign(&l, 111 * S);
    assert_false(l.unresponsive);
    assert_int_equal(l.silences.len, 0);
    assert_false(liveness_tick(&l, 120 * S));
    assert_true(liveness_tick(&l, 121 * S));
    assert_int_equal(l.silences.items[0].from_ns, 111 * S);
    liveness_release(&l);
}

/* A stream tells of what was answered seconds ago: that is no answer now. */
static void old_news_end_nothing(void **state)
{
    struct liveness l = {.after_ns = 10 * S};

    (void)state;
    liveness_up(&l, 100 * S);
    liveness_sign(&l, 105 * S);
    liveness_sign(&l, 103 * S);
    assert_int_equal(l.quiet_since_ns, 105 * S);
    assert_true(liveness_tick(&l, 115 * S));
    liveness_sign(&l, 104 * S);
    liveness_sign(&l, 105 * S);
    assert_true(l.unresponsive);
    liveness_release(&l);
}

static void down_is_not_unresponsive(void **state)
{
    struct liveness l = {.after_ns = 5 * S};

    (void)state;
    assert_false(liveness_tick(&l, 1000 * S)); /* never up */
    liveness_sign(&l, 1001 * S);               /* whoever that was */
    assert_int_equal(l.quiet_since_ns, 0);
    liveness_up(&l, 2000 * S);
    liveness_down(&l, 2003 * S);
    assert_false(liveness_tick(&l, 2100 * S));
    liveness_up(&l, 2100 * S); /* ready again: the clock starts anew */
    assert_false(liveness_tick(&l, 2104 * S));
    assert_int_equal(l.silences.len, 0);
    liveness_release(&l);
}

static void death_ends_a_silence(void **state)
{
    struct liveness l = {.after_ns = 5 * S};

    (void)state;
    liveness_up(&l, 10 * S);
    assert_true(liveness_tick(&l, 16 * S));
    liveness_down(&l, 20 * S);
    assert_int_equal(l.silences.items[0].to_ns, 20 * S);
    assert_false(l.unresponsive);
    assert_false(liveness_tick(&l, 60 * S));
    liveness_up(&l, 61 * S);
    assert_int_equal(l.silences.len, 1);
    liveness_release(&l);
}

/* Whoever looks stood still: what was not seen is no silence, and one that is long enough is told all the
 * same. */
static void who_does_not_look_sees_no_silence(void **state)
{
    struct liveness l = {.after_ns = 10 * S};

    (void)state;
    liveness_up(&l, 100 * S);
    liveness_sign(&l, 104 * S);
    liveness_blind(&l, 8 * S);
    assert_false(liveness_tick(&l, 115 * S));
    assert_false(liveness_tick(&l, 122 * S - 1));
    assert_true(liveness_tick(&l, 122 * S));
    assert_int_equal(l.silences.items[0].from_ns, 104 * S);
    liveness_release(&l);
}

static void an_answer_makes_up_for_blindness(void **state)
{
    struct liveness l = {.after_ns = 10 * S};

    (void)state;
    liveness_blind(&l, 50 * S); /* of nothing that is up */
    liveness_up(&l, 100 * S);
    liveness_blind(&l, 8 * S);
    liveness_sign(&l, 109 * S);
    assert_true(liveness_tick(&l, 119 * S));
    liveness_blind(&l, 8 * S); /* it is known to be silent */
    liveness_sign(&l, 120 * S);
    assert_true(liveness_tick(&l, 130 * S));
    liveness_down(&l, 131 * S);
    liveness_blind(&l, 8 * S);
    liveness_up(&l, 140 * S);
    assert_true(liveness_tick(&l, 150 * S));
    liveness_release(&l);
}

static void zero_never_looks(void **state)
{
    struct liveness l = {.after_ns = 0};

    (void)state;
    liveness_up(&l, 10 * S);
    assert_false(liveness_tick(&l, 100000 * S));
    liveness_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_keep_it_alive),
        cmocka_unit_test(silence_begins_at_the_last_answer),
        cmocka_unit_test(an_answer_ends_it_and_another_may_follow),
        cmocka_unit_test(late_news_move_its_begin),
        cmocka_unit_test(a_silence_that_was_none_is_forgotten),
        cmocka_unit_test(old_news_end_nothing),
        cmocka_unit_test(down_is_not_unresponsive),
        cmocka_unit_test(death_ends_a_silence),
        cmocka_unit_test(who_does_not_look_sees_no_silence),
        cmocka_unit_test(an_answer_makes_up_for_blindness),
        cmocka_unit_test(zero_never_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

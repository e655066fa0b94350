/* SPDX-License-Identifier: MIT */
/* What limits the results' worth: one line for a rule, and the figures of what cannot be trusted. */
#include "make_sweep.h"

static const char *const axes[] = {"memory", NULL};

static struct trial *judged(struct maker *m, const char *scenario, const char *id, const char *message)
{
    struct trial *t = add(m, scenario, OUTCOME_OK, 100);

    t->validity = arena_array(m->sweep.arena, struct validity_result, 2);
    t->validity[t->validity_count++] = (struct validity_result){id, "WARN", message};
    return t;
}

static void noted(struct maker *m, struct trial *t, const char *note)
{
    t->notes = arena_array(m->sweep.arena, const char *, 1);
    t->notes[t->note_count++] = note;
}

static void one_line_per_rule(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    judged(&m, "64m", "host-quiet", "others used about 1.8 cores");
    judged(&m, "256m", "host-quiet", "others used about 0.7 cores");
    judged(&m, "64m", "host-quiet", "others used about 1 cores");
    judged(&m, "64m", "p99", "p99 rests on 24 of 2400 requests (version 1.2.3)");
    judged(&m, "64m", "p99", "p99 rests on 240 of 2400 requests (version 1.2.3)");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "WARN host-quiet: others used about 0.7–1.8 cores (3 trials: 64m #1, #2; 256m #1)\n");
    assert_has(text,
               "WARN p99: p99 rests on 24–240 of 2400 requests (version 1.2.3) (2 trials: 64m #3, #4)\n");
    assert_int_equal(occurrences(text, "WARN"), 2);
}

static void other_words_are_counted(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    judged(&m, "a", "kept-up", "one");
    judged(&m, "a", "kept-up", "two");
    for (int i = 0; i < 9; i++)
        judged(&m, "b", "kept-up", "one");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "WARN kept-up: one, and 1 more of another wording (11 trials: a #1, #2; b #1, #2, #3, "
                     "#4, #5, #6 and 3 more)\n");
}

/* Notes follow no rule: those that say something else are lines of their own. */
static void notes_are_grouped_by_form(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    noted(&m, add(&m, "a", OUTCOME_OK, 1), "1 of 3 scrapes failed");
    noted(&m, add(&m, "a", OUTCOME_OK, 1), "2 of 3 scrapes failed");
    noted(&m, add(&m, "b", OUTCOME_OK, 1),
          "out of 99999999999999999999 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "1–2 of 3 scrapes failed (2 trials: a #1, #2)\n");
    assert_has(text,
               "out of 99999999999999999999 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 (1 trial: b #1)\n");
}

static void invalid_figures_stand_apart(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = judged(&m, "64m", "host-quiet", "others used about 1.9 cores");
    t->outcome = OUTCOME_INVALID;
    t->reason = "the generator did not keep up";
    t->load.goodput_rps = 777;
    add(&m, "64m", OUTCOME_OK, 100);
    add(&m, "80m", OUTCOME_INVALID, NAN)->has_load = false;
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "did not keep up; others used about 1.9 cores (left out of the figures)\n");
    assert_has(text, "64m     1 of 2  1 of 2 invalid   100");
    assert_has(text, "Invalid trials: not for comparison\nmemory  trial  ok/s");
    assert_has(text, "64m     #1      777");
    assert_int_equal(occurrences(text, "80m     #1"), 0); /* it has none */
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(html, "Invalid trials: not for comparison");
    assert_has(html, "<p>ok/s 777 <strong class=\"warn\">in no median</strong></p>");
    assert_has(html, "<p>ok/s 100</p>");
    CLEANUP_FREE char *csv = rendered(&m, &(struct report_options){0}, REPORT_CSV);
    assert_null(strstr(csv, "777"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_per_rule),
        cmocka_unit_test(other_words_are_counted),
        cmocka_unit_test(notes_are_grouped_by_form),
        cmocka_unit_test(invalid_figures_stand_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

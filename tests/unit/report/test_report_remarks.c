/* SPDX-License-Identifier: MIT */
/* What limits the results' worth: one line for a rule, and the figures of what cannot be trusted. */
#include "make_sweep.h"

static const char *const axes[] = {"memory", NULL};

static struct trial *judged(struct maker *m, const char *scenario, const char *id, const char *message)
{
    struct trial *t = add(m, scenario, OUTCOME_OK, 100);

    t->validity = arena_array(m->sweep.arena, struct validity_result, 2);
    t->validity[t->validity_count++] = (struct validity_result){id, "WARN", message, NULL};
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
    assert_has(text,
               "WARN V18 host-quiet: others used about 0.7–1.8 cores (3 trials: 64m #1, #2; 256m #1)\n");
    assert_has(text,
               "WARN p99: p99 rests on 24–240 of 2400 requests (version 1.2.3) (2 trials: 64m #3, #4)\n");
    assert_int_equal(occurrences(text, "WARN V18 host-quiet") + occurrences(text, "WARN p99"), 2);
}

/* Of what one rule says, the worst trial's wording comes first; of many only some. */
static void other_words_have_their_lines(void **state)
{
    static const char *const words[] = {"four", "five", "five", "six"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (int i = 0; i < 9; i++)
        judged(&m, "b", "kept-up", "harmless");
    judged(&m, "b", "kept-up", "bad")->outcome = OUTCOME_CRASHED;
    add(&m, "c", OUTCOME_OK, 100);
    CLEANUP_FREE char *two = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(two, "WARN kept-up: bad (1 trial: b #10)\n"
                    "WARN kept-up: harmless (9 trials: b #1, #2, #3, #4, #5, #6, #7, #8 and 1 more)\n");
    for (size_t i = 0; i < 4; i++)
        judged(&m, "d", "kept-up", words[i]);
    CLEANUP_FREE char *more = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(more, "WARN kept-up: five (2 trials: d #2, #3)\n"
                     "WARN kept-up: and in 2 other wordings, in the trials' records\n");
    assert_int_equal(occurrences(more, "WARN kept-up: "), 4);
}

/* Failures first, then by the number of the check; rules without one are last. */
static void in_the_order_of_checks(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    judged(&m, "a", "of-nobody", "x");
    judged(&m, "a", "host-quiet", "x");                                /* V18 */
    judged(&m, "a", "littles-law", "x");                               /* V2 */
    judged(&m, "a", "local-ports", "x")->validity[0].verdict = "FAIL"; /* V9 */
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "Validity\n"
                     "FAIL V9 local-ports: x (1 trial: a #4)\n"
                     "WARN V2 littles-law: x (1 trial: a #3)\n"
                     "WARN V18 host-quiet: x (1 trial: a #2)\n"
                     "WARN of-nobody: x (1 trial: a #1)\n");
    assert_null(strstr(text, "table-floor"));
    CLEANUP_FREE char *rules = rendered(&m, &(struct report_options){.validity = true}, REPORT_TABLE);
    assert_has(rules, "latency-floor");
    assert_null(strstr(rules, "table-floor")); /* judges no sweep */
}

/* What somebody else said is never made a range; of several trials it is the first one's. */
static void quotations_stay(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    noted(&m, add(&m, "a", OUTCOME_OK, 1),
          "1 line in the log, the first: 2026-11-30 20:18:01.721 UTC [46] 53300 FATAL: don't 7");
    noted(&m, add(&m, "a", OUTCOME_OK, 1),
          "3 lines in the log, the first: 2026-11-30 20:19:46.265 UTC [338] 53300 FATAL: other 9");
    noted(&m, add(&m, "b", OUTCOME_OK, 1), "process 'w 12' (pid 40) of 'app's died 2 times at 127.0.0.1:80");
    noted(&m, add(&m, "b", OUTCOME_OK, 1), "process 'w 9' (pid 30) of 'app's died 1 time at 127.0.0.1:80");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.width = 400}, REPORT_TABLE);
    assert_has(text, "1–3 lines in the log, the first: 2026-11-30 20:18:01.721 UTC [46] 53300 FATAL: don't 7 "
                     "(2 trials: a #1, #2)\n");
    assert_has(text,
               "process 'w 12' (pid 40) of 'app's died 1–2 times at 127.0.0.1:80 (2 trials: b #1, #2)\n");
}

static void numbers_of_all_kinds(void **state)
{
    static const char *const notes[][3] = {
        {"2 restarts in 1.5 s", "1 restart in 2 s", "1–2 restarts in 1.5–2 s (2"},
        {"up to p93.96", "up to p90.36", "up to p90.36–93.96 (2"},
        {"off by -1676 rows", "off by -1090 rows", "off by -1676 to -1090 rows (2"},
        {"fell by -5 in x-1", "fell by 12 in x-1", "fell by -5 to 12 in x-1 (2"},
        {"at 20:18 of p99", "at 20:18 of p99", "at 20:18 of p99 (2"},
        {"less 1 process", "less 3 process", "less 1–3 process (2"},
    };
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        for (size_t k = 0; k < 2; k++)
            noted(&m, add(&m, "a", OUTCOME_OK, 1), notes[i][k]);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.width = 400}, REPORT_TABLE);
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        assert_has(text, notes[i][2]);
}

/* Of all trials of a sweep there is no need to name each. */
static void all_of_them(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (int i = 0; i < 4; i++)
        judged(&m, i % 2 ? "a" : "b", "kept-up", "one");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "WARN kept-up: one (all 4 trials)\n");
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

static void attempts_are_told(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add(&m, "a", OUTCOME_OK, 1);
    CLEANUP_FREE char *none = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_null(strstr(none, "attempt"));
    add(&m, "a", OUTCOME_OK, 1)->attempt = 2;
    add(&m, "b", OUTCOME_OK, 1)->attempt = 3;
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text,
               "Notes\nattempt 2: the one before it ended in 'invalid' or 'error' and is in no figure; its "
               "reason is in trial.json of the folder N.attempt-1 beside the trial's (1 trial: a #2)\n"
               "attempt 3: those before it ended");
}

static void checked(struct maker *m, const char *scenario, const char *value, const char *message)
{
    struct trial *t = add(m, scenario, OUTCOME_OK, 1);

    t->checks = arena_array(m->sweep.arena, struct check_result, 2);
    t->checks[t->check_count++] = (struct check_result){.name = "rows", .value = value, .message = message};
}

/* A check without a value is told, and why it has none. */
static void checks_without_a_value(void **state)
{
    static const enum report_format formats[] = {REPORT_TABLE, REPORT_MARKDOWN, REPORT_HTML, REPORT_JSON};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    checked(&m, "64m", NULL, "relation \"t\" does not exist");
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        CLEANUP_FREE char *all = rendered(&m, &(struct report_options){0}, formats[i]);
        assert_has(all, formats[i] == REPORT_JSON ? "\"checks\"" : "not evaluated");
        assert_has(all, "does not exist");
    }
    checked(&m, "64m", "12", NULL);
    checked(&m, "80m", "yes", NULL);
    checked(&m, "80m", "no", NULL);
    checked(&m, "96m", "7", NULL);
    checked(&m, "96m", "9", NULL);
    add(&m, "128m", OUTCOME_OK, 1);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    const char *table = strstr(text, "\nChecks\n");
    assert_non_null(table);
    assert_has(table, "64m     12 (1 of 2 not evaluated)\n");
    assert_has(table, "80m               yes, and others\n");
    assert_has(table, "96m                           7–9\n"
                      "rows: not evaluated: relation \"t\" does not exist (1 trial: 64m #1)\n");
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
        cmocka_unit_test(one_line_per_rule),         cmocka_unit_test(other_words_have_their_lines),
        cmocka_unit_test(in_the_order_of_checks),    cmocka_unit_test(quotations_stay),
        cmocka_unit_test(numbers_of_all_kinds),      cmocka_unit_test(all_of_them),
        cmocka_unit_test(notes_are_grouped_by_form), cmocka_unit_test(attempts_are_told),
        cmocka_unit_test(checks_without_a_value),    cmocka_unit_test(invalid_figures_stand_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

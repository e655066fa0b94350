/* SPDX-License-Identifier: MIT */
/* The canary in reports: apart from all scenarios, and marks at the trials around a bad one. */
#include "make_sweep.h"

static const char plan[] =
    "{\"canary\": {\"scenario\": \"b\", \"every\": 2, \"band\": 0.1, \"metric\": \"load.goodput_rps\"}}";

struct nest {
    struct maker m;
    struct trial canaries[3];
    size_t after[3];
    struct report *report;
};

static void nest_release(struct nest *n)
{
    report_free(n->report);
    maker_release(&n->m);
}

/* Two scenarios with two trials each; canaries before, in the middle and behind. */
static void build(struct nest *n, double first, double second, double third)
{
    static const char *const axes[] = {"x", NULL};
    const double values[] = {first, second, third};
    struct error err = ERROR_INIT;

    *n = (struct nest){0};
    maker_begin(&n->m, axes, NULL, plan);
    for (int i = 0; i < 4; i++)
        (void)add(&n->m, i % 2 ? "b" : "a", OUTCOME_OK, 1000);
    for (int i = 0; i < 3; i++) {
        struct trial *t = &n->canaries[i];
        trial_init(t);
        t->scenario = "canary";
        t->canary = true;
        t->trial = i + 1;
        t->started_at = "2026-01-02T03:04:05Z";
        t->has_load = true;
        load_result_init(&t->load);
        container_result_init(&t->app, "app");
        t->load.goodput_rps = values[i];
        n->after[i] = 2 * (size_t)i;
    }
    n->m.sweep.trials = n->m.trials.items;
    n->m.sweep.trial_count = n->m.trials.len;
    n->m.sweep.canaries = n->canaries;
    n->m.sweep.canary_count = 3;
    n->m.sweep.canary_after = n->after;
    if (report_build(&n->m.sweep, &(struct report_options){0}, &n->report, &err) < 0)
        fail_msg("%s", err.message);
}

static char *shown_as(const struct nest *n, enum report_format f)
{
    struct strbuf text = STRBUF_INIT;

    report_render(n->report, f, &text);
    return strbuf_detach(&text);
}

static void a_bad_one_marks_what_is_around_it(void **state)
{
    CLEANUP_VALUE(nest_release) struct nest n;

    (void)state;
    build(&n, 500, 510, 300);
    for (int f = REPORT_TABLE; f <= REPORT_HTML; f++) {
        CLEANUP_FREE char *text = shown_as(&n, (enum report_format)f);
        if (f == REPORT_CSV) {
            assert_has(text, ",host_drift_trials\r\n");
            assert_has(text, ",1\r\n"); /* one trial of each scenario came after the second canary */
            continue;
        }
        assert_has(text, "host-drift");
        assert_has(text, "canary 3 (after 4 trials)");
    }
    CLEANUP_FREE char *table = shown_as(&n, REPORT_TABLE);
    assert_has(table,
               "b: 3 canaries, every 2 trials: load.goodput_rps 500 (300 to 510); the farthest is -40");
    assert_has(table, "2 of 4 trials are marked");
}

static void programs_get_it_too(void **state)
{
    CLEANUP_VALUE(nest_release) struct nest n;
    CLEANUP(json_free) struct json *j = NULL;

    (void)state;
    build(&n, 500, 510, 300);
    CLEANUP_FREE char *text = shown_as(&n, REPORT_JSON);
    j = parsed(text);
    const struct json *canary = json_get(j, "canary"), *trials;
    assert_int_equal(json_get_int(canary, "marked"), 2);
    assert_int_equal(json_len(json_get(canary, "canaries")), 3);
    assert_true(json_get_bool(json_at(json_get(canary, "canaries"), 1), "good"));
    assert_false(json_get_bool(json_at(json_get(canary, "canaries"), 2), "good"));
    assert_int_equal(json_len(json_get(j, "scenarios")), 2);
    trials = json_get(json_at(json_get(j, "scenarios"), 0), "trials");
    assert_int_equal(json_len(json_get(json_at(trials, 0), "validity")), 0);
    assert_int_equal(json_len(json_get(json_at(trials, 1), "validity")), 1);
    assert_string_equal(json_get_text(json_at(json_get(json_at(trials, 1), "validity"), 0), "id"),
                        "host-drift");
}

static void a_steady_one_marks_nothing(void **state)
{
    CLEANUP_VALUE(nest_release) struct nest n;

    (void)state;
    build(&n, 500, 510, 495);
    CLEANUP_FREE char *table = shown_as(&n, REPORT_TABLE), *csv = shown_as(&n, REPORT_CSV);
    assert_has(table, "3 canaries");
    assert_null(strstr(table, "are marked"));
    assert_has(csv, ",0\r\n");
}

static void without_one_there_is_no_word_of_it(void **state)
{
    static const char *const axes[] = {"x", NULL};
    CLEANUP_VALUE(nest_release) struct nest n = {0};
    struct error err = ERROR_INIT;

    (void)state;
    maker_begin(&n.m, axes, NULL, NULL);
    (void)add(&n.m, "a", OUTCOME_OK, 1000);
    n.m.sweep.trials = n.m.trials.items;
    n.m.sweep.trial_count = n.m.trials.len;
    assert_int_equal(report_build(&n.m.sweep, &(struct report_options){0}, &n.report, &err), 0);
    CLEANUP_FREE char *table = shown_as(&n, REPORT_TABLE), *json = shown_as(&n, REPORT_JSON),
                      *csv = shown_as(&n, REPORT_CSV);
    assert_null(strstr(table, "anar"));
    assert_null(strstr(json, "\"canary\": {"));
    assert_null(strstr(csv, "host_drift"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_one_marks_what_is_around_it),
        cmocka_unit_test(programs_get_it_too),
        cmocka_unit_test(a_steady_one_marks_nothing),
        cmocka_unit_test(without_one_there_is_no_word_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

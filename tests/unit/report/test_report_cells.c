/* SPDX-License-Identifier: MIT */
/* Whose numbers count: a crash loop is never averaged with steady trials, a failed trial has no numbers. */
#include "make_sweep.h"
#include "report_internal.h"

static const char *const axes[] = {"framework", "memory", NULL};

static struct report *built(struct maker *m)
{
    struct report *r = NULL;
    struct error err = ERROR_INIT;

    if (report_build(made(m), &(struct report_options){0}, &r, &err) < 0)
        fail_msg("%s", err.message);
    return r;
}

static const struct cell *cell(const struct report *r, const char *scenario)
{
    for (size_t i = 0; i < r->cells.len; i++)
        if (strcmp(r->cells.items[i].scenario, scenario) == 0)
            return &r->cells.items[i];
    fail_msg("no cell '%s'", scenario);
    return NULL;
}

static void crash(struct trial *t, double restarts)
{
    t->app.restarts = t->app.oom_kills = restarts;
}

static void test_places(void **state)
{
    static const struct {
        size_t place;
        const char *key;
    } places[] = {
        {FIGURE_GOODPUT, "load.goodput_rps"},
        {FIGURE_ERRORS, "load.error_rate"},
        {FIGURE_P50, "load.latency_ms.p50"},
        {FIGURE_P99, "load.latency_ms.p99"},
        {FIGURE_MEMORY, "app.memory_bytes.used_peak"},
        {FIGURE_CPU, "app.cpu_cores.avg"},
        {FIGURE_RESTARTS, "app.restarts"},
        {FIGURE_OOM, "app.oom_kills"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        assert_string_equal(builtin_figures[places[i].place].key, places[i].key);
    for (size_t i = 0; i < builtin_figure_count; i++) {
        assert_non_null(builtin_figures[i].key);
        assert_non_null(builtin_figures[i].heading);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(builtin_figures[i].key, builtin_figures[k].key);
    }
}

/* All figures that are read from a trial are called as trial.json calls them, and are the same number. */
static void test_keys_are_those_of_the_record(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add(&m, "a/1", OUTCOME_OK, 1);
    t->has_database = true;
    for (size_t i = 0; i < builtin_figure_count; i++) {
        double value = 1000 + (double)i, found = NAN;
        if (builtin_figures[i].source != SOURCE_TRIAL)
            continue;
        memcpy((char *)t + builtin_figures[i].offset, &value, sizeof(value));
        CLEANUP(json_free) struct json *record = trial_to_json(t);
        assert_int_equal(trial_number(record, builtin_figures[i].key, &found), 0);
        assert_true(found == value);
        assert_true(figure_value(&builtin_figures[i], t) == value);
    }
}

static void test_steady(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add(&m, "a/1", OUTCOME_OK, 300);
    add(&m, "a/1", OUTCOME_DEGRADED, 100); /* failed requests, but neither crashes nor restarts */
    add(&m, "a/1", OUTCOME_OK, 200);
    CLEANUP(report_free) struct report *r = built(&m);
    const struct cell *c = cell(r, "a/1");
    assert_int_equal(c->trial_count, 3);
    assert_int_equal(c->counted, 3);
    assert_false(c->contaminated);
    assert_true(c->figures[FIGURE_GOODPUT].median == 200);
    assert_true(c->figures[FIGURE_GOODPUT].min == 100);
    assert_int_equal(c->worst->outcome, OUTCOME_DEGRADED);
    assert_string_equal(c->became, "1 of 3 degraded");
}

/* The one that restarted does not slow the mean down; it shows in what became of the scenario. */
static void test_a_crash_among_steady_trials(void **state)
{
    static const enum outcome outcomes[] = {OUTCOME_DEGRADED, OUTCOME_CRASHED, OUTCOME_OK};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        CLEANUP_VALUE(maker_release) struct maker m;
        maker_begin(&m, axes, NULL, NULL);
        add(&m, "a/1", OUTCOME_OK, 300);
        crash(add(&m, "a/1", outcomes[i], 10), 14);
        add(&m, "a/1", OUTCOME_OK, 310);
        CLEANUP(report_free) struct report *r = built(&m);
        const struct cell *c = cell(r, "a/1");
        assert_int_equal(c->counted, 2);
        assert_true(c->figures[FIGURE_GOODPUT].min == 300);
        assert_true(c->figures[FIGURE_GOODPUT].n == 2);
        assert_true(c->figures[FIGURE_RESTARTS].n == 3);
        assert_true(c->figures[FIGURE_RESTARTS].max == 14);
        assert_string_equal(figure_text(r, c, FIGURE_RESTARTS), "0–14");
        assert_int_equal(figure_tone(c, FIGURE_RESTARTS), TONE_BAD);
    }
}

static void test_a_crash_loop(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (int i = 0; i < 3; i++)
        crash(add(&m, "a/1", OUTCOME_DEGRADED, 129 + i), 14);
    CLEANUP(report_free) struct report *r = built(&m);
    const struct cell *c = cell(r, "a/1");
    assert_true(c->contaminated);
    assert_int_equal(c->counted, 3);
    assert_true(c->figures[FIGURE_GOODPUT].median == 130);
    assert_int_equal(figure_tone(c, FIGURE_GOODPUT), TONE_WARN);
    assert_string_equal(figure_text(r, c, FIGURE_OOM), "14");
    assert_string_equal(c->became, "degraded");
}

/* Whatever numbers they left behind. */
static void test_failed_trials_have_no_numbers(void **state)
{
    static const enum outcome outcomes[] = {OUTCOME_INVALID, OUTCOME_ERROR, OUTCOME_NOT_READY,
                                            OUTCOME_SKIPPED};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        CLEANUP_VALUE(maker_release) struct maker m;
        maker_begin(&m, axes, NULL, NULL);
        struct trial *t = add(&m, "a/1", outcomes[i], 999);
        t->ready_ms = 5;
        t->app.restarts = 2;
        add(&m, "b/1", OUTCOME_OK, 100);
        add(&m, "b/1", outcomes[i], 999);
        CLEANUP(report_free) struct report *r = built(&m);
        const struct cell *failed = cell(r, "a/1"), *mixed = cell(r, "b/1");
        assert_int_equal(failed->counted, 0);
        for (size_t f = 0; f < r->figures.len; f++)
            assert_true(failed->figures[f].n == 0 ||
                        (outcomes[i] == OUTCOME_NOT_READY && r->figures.items[f].finding));
        assert_string_equal(figure_text(r, failed, FIGURE_GOODPUT), NOT_MEASURED);
        assert_int_equal(mixed->counted, 1);
        assert_true(mixed->figures[FIGURE_GOODPUT].max == 100);
        assert_true(failed->worst->outcome == outcomes[i]);
    }
}

static void test_the_worst(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add(&m, "a/1", OUTCOME_INVALID, 1)->reason = "invalid";
    crash(add(&m, "a/1", OUTCOME_CRASHED, 1), 3);
    crash(add(&m, "a/1", OUTCOME_CRASHED, 1), 7);
    m.trials.items[2].reason = "seven restarts";
    add(&m, "a/1", OUTCOME_ERROR, 1);
    add(&m, "a/1", OUTCOME_OK, 1);
    CLEANUP(report_free) struct report *r = built(&m);
    assert_string_equal(cell(r, "a/1")->worst->reason, "seven restarts");
    assert_string_equal(cell(r, "a/1")->became, "2 of 5 crashed");
    assert_int_equal(cell(r, "a/1")->counted, 1);
}

/* sweep.json's order of values, not the alphabet's and not that of execution. */
static void test_order(void **state)
{
    static const char info[] = "{\"axes\":[{\"name\":\"framework\",\"values\":[\"quarkus\",\"micronaut\"]},"
                               "{\"name\":\"memory\",\"values\":[\"512m\",\"128m\",\"unlimited\"]}]}";
    static const char *const ran[] = {"micronaut/unlimited", "quarkus/128m",   "micronaut/512m",
                                      "quarkus/unlimited",   "micronaut/128m", "quarkus/512m",
                                      "another/9g",          "another/10g",    "quarkus/64m"};
    static const char *const ordered[] = {"quarkus/512m",        "quarkus/128m",   "quarkus/unlimited",
                                          "quarkus/64m",         "micronaut/512m", "micronaut/128m",
                                          "micronaut/unlimited", "another/9g",     "another/10g"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, info, NULL);
    for (size_t i = 0; i < ARRAY_LEN(ran); i++)
        add(&m, ran[i], OUTCOME_OK, 1);
    CLEANUP(report_free) struct report *r = built(&m);
    assert_int_equal(r->cells.len, ARRAY_LEN(ordered));
    for (size_t i = 0; i < ARRAY_LEN(ordered); i++)
        assert_string_equal(r->cells.items[i].scenario, ordered[i]);
}

/* Where sweep.json was never written, the plan knows the order; where that is gone too, numbers count. */
static void test_order_without_info(void **state)
{
    static const char plan[] = "{\"axes\":[\"framework\",\"memory\"],\"scenarios\":["
                               "{\"id\":\"b/512m\",\"axes\":{\"framework\":\"b\",\"memory\":\"512m\"}},"
                               "{\"id\":\"a/64m\",\"axes\":{\"framework\":\"a\",\"memory\":\"64m\"}}]}";

    (void)state;
    for (int with_plan = 0; with_plan < 2; with_plan++) {
        CLEANUP_VALUE(maker_release) struct maker m;
        maker_begin(&m, axes, NULL, with_plan ? plan : NULL);
        add(&m, "a/64m", OUTCOME_OK, 1);
        add(&m, "b/512m", OUTCOME_OK, 1);
        add(&m, "a/128m", OUTCOME_OK, 1);
        CLEANUP(report_free) struct report *r = built(&m);
        assert_string_equal(r->cells.items[0].scenario, with_plan ? "b/512m" : "a/64m");
        assert_string_equal(r->cells.items[1].scenario, with_plan ? "a/64m" : "a/128m");
    }
}

static void test_waiting(void **state)
{
    static const char plan[] =
        "{\"scenarios\":[{\"id\":\"a/1\",\"axes\":{\"framework\":\"a\",\"memory\":\"1\"}},"
        "{\"id\":\"a/2\",\"axes\":{\"framework\":\"a\",\"memory\":\"2\"}},{\"id\":7},{}]}";
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, plan);
    m.sweep.complete = false;
    add(&m, "a/2", OUTCOME_OK, 1);
    CLEANUP(report_free) struct report *r = built(&m);
    assert_int_equal(r->cells.len, 2);
    assert_int_equal(r->waiting, 1);
    assert_int_equal(cell(r, "a/1")->trial_count, 0);
    assert_string_equal(cell(r, "a/1")->became, NOT_RUN);
}

/* Some trials of a cell have the figure, others do not: how many is said. */
static void test_figures_of_some_trials(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add(&m, "a/1", OUTCOME_OK, 100)->startup_ms = 50;
    add(&m, "a/1", OUTCOME_OK, 100);
    add(&m, "a/1", OUTCOME_OK, 100);
    CLEANUP(report_free) struct report *r = built(&m);
    size_t startup = 0;
    while (strcmp(r->figures.items[startup].key, "startup_ms") != 0)
        startup++;
    assert_string_equal(figure_text(r, cell(r, "a/1"), startup), "50.0 (n 1)");
    assert_string_equal(figure_text(r, cell(r, "a/1"), FIGURE_GOODPUT), "100 ±0%");
    assert_string_equal(figure_text(r, cell(r, "a/1"), FIGURE_P50), NOT_MEASURED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_keys_are_those_of_the_record),
        cmocka_unit_test(test_steady),
        cmocka_unit_test(test_a_crash_among_steady_trials),
        cmocka_unit_test(test_a_crash_loop),
        cmocka_unit_test(test_failed_trials_have_no_numbers),
        cmocka_unit_test(test_the_worst),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_without_info),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_figures_of_some_trials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Arithmetic between a trial's numbers: what checks without SQL are made of. */
#include "unit/check.h"

#include <math.h>
#include "benchctl/trial.h"

static struct json *numbers; /* of one trial */

static int make(void **state)
{
    struct trial t;
    static struct error_count kinds[] = {{.kind = "status_5xx", .count = 3}};

    (void)state;
    trial_init(&t);
    t.scenario = "a";
    t.has_load = t.has_database = true;
    load_result_init(&t.load);
    container_result_init(&t.app, "app");
    t.load.requests = 120;
    t.load.ok = 100;
    t.load.errors = kinds;
    t.load.error_count = ARRAY_LEN(kinds);
    t.database.commits = 90;
    t.app.restarts = 0;
    t.app.memory_bytes.limit = INFINITY;
    numbers = trial_to_json(&t);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    json_free(numbers);
    return 0;
}

static void is(const char *text, double wanted)
{
    struct error err = ERROR_INIT;
    double value = NAN;

    if (trial_value(numbers, text, &value, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    if (fabs(value - wanted) > 1e-9)
        fail_msg("%s: %g instead of %g", text, value, wanted);
}

static void fails(const char *text, enum error_kind kind, const char *part)
{
    struct error err = ERROR_INIT;
    double value = 42;

    assert_int_equal(trial_value(numbers, text, &value, &err), -1);
    assert_int_equal(err.kind, kind);
    assert_has(err.message, part);
    assert_true(value == 42);
}

static void names_in_braces_and_bare(void **state)
{
    (void)state;
    is("${load.requests} - ${database.commits}", 30);
    is("load.requests - ${database.commits}", 30);
    is("${load.requests}-${load.ok}-${database.commits}*2", -160);
    is("max(${load.requests}, ${load.ok}) / min(4, 2)", 60);
    is("(${load.ok} + ${load.errors.status_5xx}) * 2", 206);
    is("-${app.restarts}", 0);
    is("1", 1);
}

static void what_was_not_measured_is_said(void **state)
{
    (void)state;
    fails("${load.ok} - ${database.rollbacks}", ERROR_TRIAL, "'database.rollbacks' was not measured");
    fails("app.oom_kills", ERROR_TRIAL, "'app.oom_kills' was not measured");
    fails("${metrics.heap-used.max}", ERROR_TRIAL, "'metrics.heap-used.max' was not measured");
    fails("${my-mock.restarts}", ERROR_TRIAL, "'my-mock.restarts' was not measured");
    is("first(${database.rollbacks}, ${load.ok})", 100);
    is("known(${database.rollbacks})", 0);
}

static void what_is_no_number_is_said(void **state)
{
    (void)state;
    fails("${load.ok} / ${app.restarts}", ERROR_TRIAL, "not a number");
    fails("${app.memory_bytes.limit}", ERROR_TRIAL, "not a number");
}

static void malformed_texts_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    double ignored = 0;

    (void)state;
    fails("${load.okay}", ERROR_INVALID, "records no number 'load.okay'");
    fails("load.okay", ERROR_INVALID, "records no number 'load.okay'");
    fails("${database.version}", ERROR_INVALID, "records no number");
    fails("${load.ok} -", ERROR_INVALID, "ends too early");
    fails("${load.ok", ERROR_INVALID, "${load.ok");
    fails("", ERROR_INVALID, "ends too early");
    fails("_0", ERROR_INVALID, "'_0'");
    fails("${load.ok} + _1", ERROR_INVALID, "'_1'");
    fails("${load.ok}${load.ok}", ERROR_INVALID, "unexpected text");
    fails("pg_sleep(1)", ERROR_INVALID, "unknown function");
    /* the same without a trial, before anything runs */
    assert_int_equal(trial_value(NULL, "${load.requests} - ${database.commits}", &ignored, &err), 0);
    assert_int_equal(trial_value(NULL, "${metrics.any.max} - mock.restarts", &ignored, &err), 0);
    assert_int_equal(trial_value(NULL, "${load.okay}", &ignored, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_braces_and_bare),
        cmocka_unit_test(what_was_not_measured_is_said),
        cmocka_unit_test(what_is_no_number_is_said),
        cmocka_unit_test(malformed_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

/* SPDX-License-Identifier: MIT */
/* Outcome and reason of a trial, decided from its record and what went wrong: every way that it can end. */
#include "outcome_fixture.h"

/* --- it was measured --- */

/* Whatever the figures say, they are not of this application alone. */
static void interference_voids_a_trial(void **state)
{
    struct fixture *f = *state;

    f->t.interference = "somebody else touched 'app' during the trial: pause";
    trial_decide(&f->t);
    assert_string_equal(f->t.record.reason, "somebody else touched 'app' during the trial: pause");
    app_ended(f, 1, 137, "killed by somebody else (signal 9)", true);
    trial_decide(&f->t);
    assert_int_equal(f->t.record.outcome, OUTCOME_INVALID);
    assert_has(f->t.record.reason, "pause; ended 1 time (last: killed by somebody else (signal 9)) in");
}

/* A database that dies under the load is not the application's failure. */
static void a_service_that_died_is_an_error(void **state)
{
    struct fixture *f = *state;

    struct container_result services[3];
    struct container_exit kills[] = {{.code = 137, .cause = "oom", .oom = true}},
                          stops[] = {{.code = 143, .cause = "sigterm from elsewhere"}};
    for (size_t i = 0; i < ARRAY_LEN(services); i++)
        container_result_init(&services[i], i == 0 ? "database" : i == 1 ? "generator" : "mock");
    services[0].exits = kills;
    services[1].exits = stops;
    services[0].exit_count = services[1].exit_count = 1;
    f->t.record.services = services;
    f->t.record.service_count = ARRAY_LEN(services);
    f->t.service_death = "'database' ended during the trial (exit code 137)";
    app_ended(f, 1, 1, "exit 1", true);
    assert_decided(f, OUTCOME_ERROR,
                   "'database' ended during the trial (exit code 137); 'database' OOM-killed 1 time");
}

static void all_well(void **state)
{
    assert_decided(*state, OUTCOME_OK, "1000 requests, none failed");
}

static void a_few_failures_are_allowed(void **state)
{
    struct fixture *f = *state;

    f->t.record.load.failed = 10;
    f->t.record.load.ok = 990;
    f->t.record.load.error_rate = 0.01;
    assert_decided(f, OUTCOME_OK, "1000 requests, 1 % of requests failed");
}

static void too_many_failures(void **state)
{
    struct fixture *f = *state;

    f->t.record.load.failed = 11;
    f->t.record.load.ok = 989;
    f->t.record.load.error_rate = 0.011;
    assert_decided(f, OUTCOME_DEGRADED, "1.1 % of requests failed (11 of 1000), more than 1 %");
}

static void the_matrix_sets_the_limit(void **state)
{
    struct fixture *f = *state;

    f->settings.load.max_error_rate = 0.5;
    f->t.record.load.failed = 400;
    f->t.record.load.ok = 600;
    f->t.record.load.error_rate = 0.4;
    assert_decided(f, OUTCOME_OK, "1000 requests, 40 % of requests failed");
    f->settings.load.max_error_rate = 0;
    assert_decided(f, OUTCOME_DEGRADED, "40 % of requests failed (400 of 1000), more than 0 %");
}

static void no_request_succeeded(void **state)
{
    struct fixture *f = *state;

    f->t.record.load.failed = 1000;
    f->t.record.load.ok = 0;
    f->t.record.load.error_rate = 1;
    assert_decided(f, OUTCOME_DEGRADED, "100 % of requests failed: no request is known to have succeeded");
}

static void restarts_degrade(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 2, 1, "exit 1", false);
    f->t.record.load.failed = 250;
    f->t.record.load.ok = 750;
    f->t.record.load.error_rate = 0.25;
    assert_decided(
        f, OUTCOME_DEGRADED,
        "ended 2 times (last: exit 1), restarted 2 times in 10 s at 64.0 MiB; 25 % of requests failed");
}

static void an_oom_loop_that_still_serves_is_degraded(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 14, 137, "oom", false);
    f->t.record.app.oom_kills = 14;
    f->t.record.app.restarts = 13;
    f->t.record.load.failed = 550;
    f->t.record.load.ok = 450;
    f->t.record.load.error_rate = 0.55;
    f->t.record.app.memory_bytes.limit = 256 << 20;
    f->t.load_end_ns = 211 * NS_PER_S;
    assert_decided(f, OUTCOME_DEGRADED,
                   "OOM-killed 14 times, restarted 13 times in 210 s at 256 MiB; 55 % of requests failed");
}

static void an_oom_loop_that_never_serves_has_crashed(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 3, 137, "oom", false);
    f->t.record.app.oom_kills = 3;
    f->t.record.load.failed = 1000;
    f->t.record.load.ok = 0;
    f->t.record.load.error_rate = 1;
    assert_decided(
        f, OUTCOME_CRASHED,
        "OOM-killed 3 times, restarted 3 times in 10 s at 64.0 MiB; 100 % of requests failed: no request "
        "is known to have succeeded");
}

static void a_killed_child_degrades(void **state)
{
    struct fixture *f = *state;

    f->t.record.app.oom_kills = 1;
    assert_decided(f, OUTCOME_DEGRADED, "a child OOM-killed 1 time in 10 s at 64.0 MiB");
}

static void without_a_limit_the_text_says_so(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 3, "exit 3", false);
    f->t.record.app.memory_bytes.limit = INFINITY;
    assert_decided(f, OUTCOME_DEGRADED, "ended 1 time (last: exit 3), restarted 1 time in 10 s at no limit");
}

/* --- gates --- */

static void a_gate_that_does_not_hold(void **state)
{
    struct fixture *f = *state;
    struct check_result checks[] = {
        {.name = "rows", .expect = "== 0", .value = "7", .gated = false, .passed = false},
        {.name = "abandoned", .expect = "== 0", .value = "0", .gated = true, .passed = true},
        {.name = "lost", .expect = "== 0", .value = "3", .gated = true, .passed = false},
    };

    f->t.record.checks = checks;
    f->t.record.check_count = 2;
    assert_decided(f, OUTCOME_OK, "1000 requests, none failed"); /* what does not gate decides nothing */
    f->t.record.check_count = 3;
    assert_decided(f, OUTCOME_DEGRADED, "expected 'lost == 0', but it is 3");
    checks[2].value = NULL;
    checks[2].message = "the table is not there";
    assert_decided(f, OUTCOME_DEGRADED, "expected 'lost == 0', but the table is not there");
}

static void an_expectation_is_named_once(void **state)
{
    struct fixture *f = *state;
    const char *text = "load.ok > 5000";
    struct check_result check = {.name = text, .expect = text, .value = "1000", .gated = true};

    f->t.record.checks = &check;
    f->t.record.check_count = 1;
    assert_decided(f, OUTCOME_DEGRADED, "expected 'load.ok > 5000', but it is 1000");
}

static void numbers_that_are_not_to_be_trusted(void **state)
{
    struct fixture *f = *state;
    struct validity_result rules[] = {
        {.id = "host-quiet", .verdict = "WARN", .message = "the host was busy"},
        {.id = "limits-real", .verdict = "FAIL", .message = "the limit was not applied"},
    };

    f->t.record.validity = rules;
    f->t.record.validity_count = 1;
    assert_decided(f, OUTCOME_OK, "1000 requests, none failed");
    f->t.record.validity_count = 2;
    assert_decided(f, OUTCOME_INVALID, "the limit was not applied");
    app_ended(f, 1, 1, "exit 1", false); /* a finding comes before a doubt about numbers */
    assert_decided(f, OUTCOME_DEGRADED, "ended 1 time (last: exit 1), restarted 1 time in 10 s at 64.0 MiB");
}

/* --- a load without requests --- */

static void idle_has_no_numbers_and_is_ok(void **state)
{
    struct fixture *f = *state;

    load_result_init(&f->t.record.load);
    assert_true(isnan(f->t.record.load.requests));
    assert_decided(f, OUTCOME_OK, "no requests are part of this load");
    app_ended(f, 1, 1, "exit 1", false);
    assert_decided(f, OUTCOME_DEGRADED, "ended 1 time (last: exit 1), restarted 1 time in 10 s at 64.0 MiB");
}

static void numbers_that_were_not_measured_decide_nothing(void **state)
{
    struct fixture *f = *state;

    f->t.record.app.restarts = f->t.record.app.oom_kills = NAN;
    f->t.record.load.error_rate = NAN;
    assert_decided(f, OUTCOME_OK, "1000 requests, none failed");
}

/* --- the app --- */

static void died_under_load_for_good(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 139, "signal 11 (SEGV)", true);
    assert_decided(f, OUTCOME_CRASHED, "ended 1 time (last: signal 11 (SEGV)) in 10 s at 64.0 MiB");
}

static void a_death_comes_before_what_the_generator_made_of_it(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 4, 1, "exit 1", true);
    went_wrong(f, "load", "load generator 'wrk': nothing was measured");
    f->t.load_failed = true;
    assert_decided(
        f, OUTCOME_CRASHED,
        "ended 4 times (last: exit 1), restarted 3 times in 10 s at 64.0 MiB; load generator 'wrk': "
        "nothing was measured");
}

/* It was stopped because there was nothing left to measure: what it says then is no news. */
static void a_generator_that_was_stopped_says_nothing(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 7, "exit 7", true);
    went_wrong(f, "load", "load generator 'wrk': 'wrk' did not end by itself");
    f->t.load_failed = f->t.app_ended = true;
    assert_decided(f, OUTCOME_CRASHED, "ended 1 time (last: exit 7) in 10 s at 64.0 MiB");
}

static void died_before_it_was_ready(void **state)
{
    struct fixture *f = *state;

    f->t.load_begin_ns = f->t.load_end_ns = 0;
    f->t.record.ready_ms = NAN;
    f->t.never_up = true;
    app_ended(f, 1, 1, "exit 1", true);
    went_wrong(f, "ready", "its last lines: no such table");
    assert_decided(
        f, OUTCOME_CRASHED,
        "before it was ready: ended 1 time (last: exit 1) in 12 s at 64.0 MiB; its last lines: no such "
        "table");
}

/* `always` never lets it end: still it never stayed up. */
static void a_loop_before_it_was_ready_has_crashed(void **state)
{
    struct fixture *f = *state;

    f->t.load_begin_ns = f->t.load_end_ns = 0;
    f->t.record.ready_ms = NAN;
    f->t.never_up = true;
    app_ended(f, 5, 0, "exit 0", false);
    f->t.record.app.restarts = 4;
    went_wrong(f, "ready", "it logged nothing");
    assert_decided(
        f, OUTCOME_CRASHED,
        "before it was ready: ended 5 times (last: exit 0), restarted 4 times in 12 s at 64.0 MiB; it logged "
        "nothing");
}

/* The exit is known though its record is not: the reason still says something. */
static void a_death_without_a_record(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 3, "exit 3", true);
    f->t.record.app.exit_count = 0;
    f->t.record.app.restarts = NAN;
    assert_decided(f, OUTCOME_CRASHED, "it ended with exit code 3");
}

static void alive_but_not_ready(void **state)
{
    struct fixture *f = *state;

    f->t.record.ready_ms = NAN;
    f->t.not_ready = true;
    went_wrong(f, "ready", "alive, but not ready in 60 s; its last lines: waiting for the database");
    assert_decided(f, OUTCOME_NOT_READY,
                   "alive, but not ready in 60 s; its last lines: waiting for the database");
}

/* Ended without a death that anybody saw: it was taken away, which is nothing the app did. */
static void a_container_that_vanished_is_an_error(void **state)
{
    struct fixture *f = *state;

    f->app.ledger.terminal = true;
    f->app.ledger.running = false;
    assert_decided(f, OUTCOME_ERROR, "the container has gone: somebody removed it");
}

/* --- the generator --- */

static void no_result_is_never_success(void **state)
{
    struct fixture *f = *state;

    went_wrong(f, "load", "load generator 'wrk': exit status 1: unable to connect");
    f->t.load_failed = true;
    assert_decided(f, OUTCOME_INVALID, "load generator 'wrk': exit status 1: unable to connect");
}

static void no_result_from_an_app_that_kept_dying(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 2, 137, "oom", false);
    f->t.record.app.oom_kills = 2;
    went_wrong(f, "load", "load generator 'wrk': nothing was measured");
    f->t.load_failed = true;
    assert_decided(
        f, OUTCOME_CRASHED,
        "OOM-killed 2 times, restarted 2 times in 10 s at 64.0 MiB; load generator 'wrk': nothing was "
        "measured");
}

/* --- benchctl and the world --- */

static void an_error_names_its_step_and_hint(void **state)
{
    struct fixture *f = *state;

    went_wrong(f, "app start", "container 'app': the engine has no room");
    assert_decided(f, OUTCOME_ERROR, "app start: container 'app': the engine has no room");
    (void)error_hint(&f->t.error, "free some");
    assert_decided(f, OUTCOME_ERROR, "app start: container 'app': the engine has no room; free some");
}

static void an_error_before_there_is_an_app(void **state)
{
    struct fixture *f = *state;

    f->t.app = NULL;
    went_wrong(f, "database", "no answer");
    assert_decided(f, OUTCOME_ERROR, "database: no answer");
}

static void nothing_measured_and_nothing_wrong(void **state)
{
    struct fixture *f = *state;

    f->t.record.has_load = false;
    assert_decided(f, OUTCOME_ERROR, "no load was measured");
}

/* Log tails may be long: the reason is cut, not the memory behind it. */
static void a_very_long_reason(void **state)
{
    struct fixture *f = *state;
    char text[sizeof(f->t.error.message)];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    app_ended(f, 1, 1, "exit 1", true);
    went_wrong(f, "ready", text);
    trial_decide(&f->t);
    assert_int_equal(f->t.record.outcome, OUTCOME_CRASHED);
    assert_has(f->t.record.reason, "ended 1 time (last: exit 1)");
    assert_true(strlen(f->t.record.reason) > sizeof(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_well),
        TEST(interference_voids_a_trial),
        TEST(a_service_that_died_is_an_error),
        TEST(a_few_failures_are_allowed),
        TEST(too_many_failures),
        TEST(the_matrix_sets_the_limit),
        TEST(no_request_succeeded),
        TEST(restarts_degrade),
        TEST(an_oom_loop_that_still_serves_is_degraded),
        TEST(an_oom_loop_that_never_serves_has_crashed),
        TEST(a_killed_child_degrades),
        TEST(without_a_limit_the_text_says_so),
        TEST(a_gate_that_does_not_hold),
        TEST(an_expectation_is_named_once),
        TEST(numbers_that_are_not_to_be_trusted),
        TEST(idle_has_no_numbers_and_is_ok),
        TEST(numbers_that_were_not_measured_decide_nothing),
        TEST(died_under_load_for_good),
        TEST(a_death_comes_before_what_the_generator_made_of_it),
        TEST(a_generator_that_was_stopped_says_nothing),
        TEST(died_before_it_was_ready),
        TEST(a_loop_before_it_was_ready_has_crashed),
        TEST(a_death_without_a_record),
        TEST(alive_but_not_ready),
        TEST(a_container_that_vanished_is_an_error),
        TEST(no_result_is_never_success),
        TEST(no_result_from_an_app_that_kept_dying),
        TEST(an_error_names_its_step_and_hint),
        TEST(an_error_before_there_is_an_app),
        TEST(nothing_measured_and_nothing_wrong),
        TEST(a_very_long_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

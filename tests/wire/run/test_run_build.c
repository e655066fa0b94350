/* SPDX-License-Identifier: MIT */
/* Building as a measurement: in a container of its own, before anything else, and never the trial's fault. */
#include "stage.h"

#include <stdio.h>
#include "benchctl/engine.h"

#define BUILD(keys)                                                                                          \
    "build: {image: 'maven:25', memory: 256m, " keys "steps: [{name: compile, command: [mvn, compile]}, "    \
    "{name: test, command: [mvn, test], counts: {tests: 'Tests run: ([0-9]+),.*$', none: 'x([0-9])'}}]}\n"

static void measured_before_the_app_is_started(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "build", (struct behaviour){.exec_says = "Tests run: 12, Failures: 0"});
    stage_run(g, SMALL BUILD(""));
    assert_outcome(g, 0, "ok", "");
    assert_string_equal(stage_text(g, 0, "/build/image"), "maven:25");
    assert_string_equal(stage_text(g, 0, "/build/steps/1/name"), "test");
    assert_true(stage_number(g, 0, "/build/steps/0/duration_ms") > 0);
    assert_true(stage_number(g, 0, "/build/steps/1/exit_code") == 0);
    assert_true(stage_number(g, 0, "/build/steps/1/counts/tests") == 12);
    assert_true(isnan(stage_number(g, 0, "/build/steps/1/counts/none")));
    assert_null(json_pointer(stage_trial(g, 0), "/build/steps/2"));
    CLEANUP_FREE char *calls = standin_calls(g->engine, "inspect follow stats log");
    const char *removed = strstr(calls, "remove build"), *app = strstr(calls, "create app");
    assert_true(removed && app && removed < app);
    assert_nothing_left(g);
}

/* With the first trial of each scenario; or with each. */
static void how_often(void **state)
{
    struct stage *g = *state;

    stage_run(g, "benchctl: 1\nname: wire\ntrials: 2\nretry: 0\naxes: {x: [a, b]}\norder: {mode: listed}\n"
                 "app: {image: 'app:1'}\n" IDLE BUILD(
                     "") "overrides: [{when: {x: b}, set: {build: {every: trial}}}]\n");
    assert_int_equal(g->trials.len, 4);
    assert_non_null(stage_text(g, 0, "/build/image"));
    assert_null(stage_text(g, 1, "/build/image"));
    assert_non_null(stage_text(g, 2, "/build/image"));
    assert_non_null(stage_text(g, 3, "/build/image"));
    assert_nothing_left(g);
}

static void a_step_that_fails_is_a_finding(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "build", (struct behaviour){.exec_code = 3});
    stage_run(g, SMALL BUILD(""));
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_number(g, 0, "/build/steps/0/exit_code") == 3);
    assert_null(json_pointer(stage_trial(g, 0), "/build/steps/1"));
    assert_string_equal(stage_text(g, 0, "/findings/0/id"), "build");
    assert_has(stage_text(g, 0, "/findings/0/message"), "step 'compile' of the build ended with exit code 3");
    assert_nothing_left(g);
}

static void a_step_that_does_not_end(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "build", (struct behaviour){.exec_hangs = true});
    stage_run(g, SMALL BUILD("timeout: 100ms, "));
    assert_outcome(g, 0, "ok", "");
    assert_true(isnan(stage_number(g, 0, "/build/steps/0/exit_code")));
    assert_has(stage_text(g, 0, "/build/steps/0/message"), "not done when the 100 ms");
    assert_nothing_left(g);
}

static void without_its_image(void **state)
{
    struct stage *g = *state;

    standin_no_image(g->engine, "maven:25");
    stage_run(g, SMALL BUILD("if_missing: skip, "));
    assert_outcome(g, 0, "ok", "");
    assert_null(stage_text(g, 0, "/build/image"));
    assert_true(stage_said(g, "maven:25"));
}

static void interrupted_while_it_builds(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "build", (struct behaviour){.exec_hangs = true});
    stage_at(g, "build", 50, stage_interrupt);
    stage_run(g, SMALL BUILD(""));
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_int_equal(g->trials.len, 0);
    assert_nothing_left(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(measured_before_the_app_is_started),
        STAGE_TEST(how_often),
        STAGE_TEST(a_step_that_fails_is_a_finding),
        STAGE_TEST(a_step_that_does_not_end),
        STAGE_TEST(without_its_image),
        STAGE_TEST(interrupted_while_it_builds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Sweeps on machines that are not as their matrix requires, or do not stay as they were. */
#include "stage.h"

#include "benchctl/host.h"

#define CPU "/sys/devices/system/cpu"

static char root[4096]; /* the machine that is made up: below the run directory */

static void plant(const char *path, const char *text)
{
    CLEANUP_FREE char *full = xasprintf("%s%s", root, path);
    CLEANUP_FREE char *dir = path_dirname(full);
    struct error err = ERROR_INIT;

    if (fs_mkdirs(dir, &err) < 0 || fs_write(full, text, strlen(text), &err) < 0)
        fail_msg("%s", err.message);
}

static int host_setup(void **state)
{
    int rc = stage_setup(state);
    struct stage *g = *state;

    (void)snprintf(root, sizeof(root), "%s/machine", g->dir);
    plant(CPU "/online", "0-1\n");
    plant(CPU "/cpu0/cpufreq/scaling_governor", "powersave\n");
    plant(CPU "/cpu0/thermal_throttle/core_throttle_count", "3\n");
    plant(CPU "/intel_pstate/no_turbo", "0\n");
    plant("/proc/loadavg", "0.10 0.1 0.1 1/2 3\n");
    host_set_root(root);
    return rc;
}

static int host_teardown(void **state)
{
    host_set_root(NULL);
    return stage_teardown(state);
}

#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, host_setup, host_teardown)

static void a_sweep_that_may_not_begin(void **state)
{
    struct stage *g = *state;

    stage_run(g, SMALL "host: {require: [governor=performance, load<=1, turbo=off, temperature<=70], "
                       "on_violation: fail}\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(error_exit_code(g->err.kind), 3);
    assert_has(g->err.message, "governor is powersave, not performance; turbo is on, not off; temperature "
                               "cannot be seen here");
    assert_has(g->err.hint, "governor: `cpupower frequency-set -g performance`; turbo: ");
    assert_int_equal(g->trials.len, 0);
    assert_int_equal(standin_created(g->engine), 0);
}

static void a_warning_and_a_mark(void **state)
{
    struct stage *g = *state;

    stage_run(g, SMALL "host: {require: [governor=performance, load<=1]}\n");
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_said(g, "the host is not what the matrix requires: governor is powersave"));
    assert_string_equal(stage_verdict(g, 0, "host-required"), "WARN");
    assert_string_equal(stage_verdict(g, 0, "host-steady"), "PASS");
}

static void all_is_as_required(void **state)
{
    struct stage *g = *state;

    stage_run(g, SMALL
              "host: {require: [governor=powersave, 'steal<=100', throttled=no], on_violation: fail}\n");
    /* of a /proc without stat nothing is known of what is stolen */
    assert_int_equal(g->rc, -1);
    assert_has(g->err.message, "requires: steal cannot be seen here");
    assert_null(strstr(g->err.message, "throttled"));
}

static void what_holds_is_said(void **state)
{
    struct stage *g = *state;

    stage_run(g, SMALL "host: {require: [governor=powersave, throttled=no], on_violation: fail}\n");
    assert_outcome(g, 0, "ok", "");
    assert_string_equal(stage_verdict(g, 0, "host-required"), "PASS");
}

static void turn(struct stage *g)
{
    (void)g;
    plant(CPU "/cpu0/cpufreq/scaling_governor", "performance\n");
    plant(CPU "/cpu0/thermal_throttle/core_throttle_count", "5\n");
}

/* It was right when the sweep began, and is not when the second trial does. */
static void no_longer_as_required(void **state)
{
    struct stage *g = *state;

    stage_at_nth(g, "load", 1, 10, turn);
    stage_run(g, "benchctl: 1\nname: wire\nnetwork: bridge\ntrials: 2\nretry: 0\napp: {image: 'app:1'}\n" IDLE
                 "host: {require: governor=powersave, on_violation: fail}\n");
    assert_outcome(g, 0, "ok", "");
    assert_outcome(g, 1, "error",
                   "begin: the host is not what the matrix requires: governor is performance, not powersave");
    assert_int_equal(standin_created(g->engine), 1);
}

static void it_changes_during_a_trial(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 10, turn);
    stage_run(g, SMALL);
    assert_outcome(g, 0, "ok", "");
    assert_string_equal(stage_verdict(g, 0, "host-steady"), "WARN");
    assert_null(stage_verdict(g, 0, "host-required")); /* nothing was required */
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    json_write(json_get(stage_trial(g, 0), "validity"), JSON_STYLE_COMPACT, &text);
    assert_has(strbuf_text(&text), "the governor went from powersave to performance");
    assert_has(strbuf_text(&text), "slowed down by heat 2 times outside of the measured window");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(a_sweep_that_may_not_begin), HOST_TEST(a_warning_and_a_mark),
        HOST_TEST(all_is_as_required),         HOST_TEST(what_holds_is_said),
        HOST_TEST(no_longer_as_required),      HOST_TEST(it_changes_during_a_trial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Results from a run directory, finished or not, and from its bundle. */
#include "make_run.h"

static void expect_trials(const struct sweep *s, const char *expected)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    for (size_t i = 0; i < s->trial_count; i++)
        strbuf_addf(&out, "%s#%d=%g ", s->trials[i].scenario, s->trials[i].trial, s->trials[i].load.rps);
    assert_string_equal(strbuf_text(&out), expected);
}

#define ALL "b/256m#1=201 a/256m#1=101 b/256m#2=202 a/256m#2=102 "

static void test_directory_and_bundle_agree(void **state)
{
    CLEANUP_FREE char *run = make_run(*state, "run"), *path = path_join(*state, "run.tar.zst");
    CLEANUP(sweep_free) struct sweep *dir = NULL, *bundle = NULL;

    OK(bundle_write(run, NULL, e));
    OK(sweep_load(run, &dir, e));
    OK(sweep_load(path, &bundle, e));
    expect_trials(dir, ALL); /* in order of execution */
    expect_trials(bundle, ALL);
    assert_true(dir->complete);
    assert_true(bundle->complete);
    assert_string_equal(json_get_text(bundle->info, "name"), "small");
    assert_int_equal(json_len(json_get(bundle->plan, "scenarios")), 2);
    assert_string_equal(bundle->path, path);
    assert_true(json_same(dir->plan, bundle->plan));
}

static void test_a_running_sweep(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run"), *dir = NULL;
    CLEANUP(rundir_close) struct rundir *r = NULL;
    CLEANUP(sweep_free) struct sweep *empty = NULL, *some = NULL;

    begin_run(path, &r);
    OK(sweep_load(path, &empty, e)); /* though it is locked */
    assert_int_equal(empty->trial_count, 0);
    assert_false(empty->complete);
    run_trial(r, "a/256m", 1, "d1", 100);
    OK(rundir_trial_begin(r, "b/256m", 1, &dir, e));
    put(dir, "load/half", "x");
    put(dir, "trial.json.tmp", "{\"scenario\"");
    assert_int_equal(shell("printf '{\"seq\":9,\"at\":' >> '%s/journal.ndjson'", path),
                     0); /* a line being written */
    OK(sweep_load(path, &some, e));
    expect_trials(some, "a/256m#1=100 ");
    assert_false(some->complete);
}

static void test_an_ended_sweep_that_goes_on_is_not_complete(void **state)
{
    CLEANUP_FREE char *path = make_run(*state, "run");
    CLEANUP(rundir_close) struct rundir *r = NULL;
    CLEANUP(sweep_free) struct sweep *s = NULL;

    OK(rundir_open(path, &r, e));
    OK(rundir_journal(r, JOURNAL_BEGIN, NULL, true, e));
    OK(sweep_load(path, &s, e));
    assert_false(s->complete);
}

/* The limits were changed and the sweep was gone on with: old results stay on disk, outside the report. */
static void test_a_changed_matrix(void **state)
{
    static const char PLAN[] =
        "{\"scenarios\":[{\"id\":\"a/256m\",\"digest\":\"d1\"},{\"id\":\"b/256m\",\"digest\":\"d9\"},"
        "{\"id\":\"b/1g\",\"digest\":\"d3\"}]}";
    CLEANUP_FREE char *path = make_run(*state, "run"), *bundle = path_join(*state, "run.tar.zst");
    CLEANUP(rundir_close) struct rundir *r = NULL;
    CLEANUP(sweep_free) struct sweep *s = NULL, *packed = NULL;

    OK(rundir_open(path, &r, e));
    OK(rundir_write(r, "plan.json", PLAN, sizeof(PLAN) - 1, e));
    assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1"));
    assert_false(rundir_trial_sealed(r, "b/256m", 1, "d9"));
    run_trial(r, "b/1g", 1, "d3", 300);
    OK(sweep_load(path, &s, e));
    expect_trials(s, "a/256m#1=101 a/256m#2=102 b/1g#1=300 ");
    assert_int_equal(s->outside_count, 2);
    CLEANUP_FREE char *kept = get(path, "trials/b/256m/1/trial.json");
    assert_non_null(strstr(kept, "201"));
    OK(bundle_write(path, NULL, e));
    OK(sweep_load(bundle, &packed, e));
    expect_trials(packed, "a/256m#1=101 a/256m#2=102 b/1g#1=300 ");
}

static void test_changed_trials_are_left_out(void **state)
{
    CLEANUP_FREE char *path = make_run(*state, "run"), *bundle = path_join(*state, "run.tar.zst");
    CLEANUP(sweep_free) struct sweep *s = NULL, *packed = NULL;

    assert_int_equal(
        shell("cd '%s' && sed -i s/101/999/ trials/a/256m/1/trial.json && rm -r trials/b/256m/2", path), 0);
    catch_warnings();
    OK(sweep_load(path, &s, e));
    expect_trials(s, "b/256m#1=201 a/256m#2=102 ");
    assert_int_equal(s->damaged_count, 2);
    assert_non_null(strstr(warned, "'trials/a/256m/1/trial.json' is not what was sealed"));
    OK(bundle_write(path, NULL, e));
    OK(sweep_load(bundle, &packed, e));
    expect_trials(packed, "b/256m#1=201 a/256m#2=102 ");
    assert_int_equal(packed->damaged_count, 2);
    log_set_sink(NULL, NULL);
}

/* A trial that was moved to another disk: it counts where it is, and is not in the bundle. */
static void test_linked_trials_are_named(void **state)
{
    CLEANUP_FREE char *path = make_run(*state, "run"), *bundle = path_join(*state, "run.tar.zst");
    CLEANUP(sweep_free) struct sweep *s = NULL, *packed = NULL;

    catch_warnings();
    OK(bundle_write(path, NULL, e));
    assert_null(strstr(warned, "links"));
    assert_int_equal(shell("cd '%s' && mv run/trials/a/256m/1 moved && ln -s ../../../../moved "
                           "run/trials/a/256m/1 && mkdir -p run/trials/b/256m/1/artifacts/x && "
                           "ln -s nowhere run/trials/b/256m/1/artifacts/x/theirs",
                           (const char *)*state),
                     0);
    OK(sweep_load(path, &s, e));
    assert_int_equal(s->damaged_count, 0);
    OK(bundle_write(path, NULL, e));
    assert_non_null(strstr(warned, "links are left out of the bundle: 'trials/a/256m/1'\n"));
    OK(sweep_load(bundle, &packed, e));
    assert_int_equal(packed->damaged_count, 1);
    log_set_sink(NULL, NULL);
}

/* Nothing of the journal is left: the trials speak for themselves. */
static void test_without_a_journal(void **state)
{
    CLEANUP_FREE char *path = make_run(*state, "run");
    CLEANUP(sweep_free) struct sweep *s = NULL;

    assert_int_equal(
        shell(
            "cd '%s' && rm journal.ndjson sweep.json plan.json && echo more >> trials/a/256m/1/logs/app.log",
            path),
        0);
    OK(sweep_load(path, &s, e));
    expect_trials(s, "a/256m#2=102 b/256m#1=201 b/256m#2=202 ");
    assert_false(s->complete);
    assert_int_equal(json_type_of(s->info), JSON_TYPE_OBJECT);
    assert_null(s->plan);
}

static void test_what_is_neither(void **state)
{
    CLEANUP_FREE char *missing = path_join(*state, "missing"), *text = path_join(*state, "text");
    CLEANUP_FREE char *broken = make_run(*state, "broken");
    CLEANUP(sweep_free) struct sweep *s = NULL;
    struct error err = ERROR_INIT;

    put(*state, "text", "no bundle\n");
    assert_int_equal(sweep_load(missing, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(sweep_load(*state, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(sweep_load(text, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    put(broken, "sweep.json", "{");
    assert_int_equal(sweep_load(broken, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.message, "sweep.json"));
    assert_null(s);
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_directory_and_bundle_agree),
        IN_SCRATCH(test_a_running_sweep),
        IN_SCRATCH(test_an_ended_sweep_that_goes_on_is_not_complete),
        IN_SCRATCH(test_a_changed_matrix),
        IN_SCRATCH(test_changed_trials_are_left_out),
        IN_SCRATCH(test_linked_trials_are_named),
        IN_SCRATCH(test_without_a_journal),
        IN_SCRATCH(test_what_is_neither),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

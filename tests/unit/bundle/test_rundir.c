/* SPDX-License-Identifier: MIT */
/* Run directories: what counts after whatever happened. */
#include "make_run.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "internal.h"

static void reopen(struct rundir **r, const char *path)
{
    rundir_close(*r);
    *r = NULL;
    OK(rundir_open(path, r, e));
}

static void test_create_and_go_on(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "runs/deep/one");
    CLEANUP(rundir_close) struct rundir *r = NULL;

    begin_run(path, &r);
    assert_string_equal(rundir_path(r), path);
    assert_false(rundir_trial_sealed(r, "a/256m", 1, NULL));
    run_trial(r, "a/256m", 1, "d1", 100);
    assert_true(rundir_trial_sealed(r, "a/256m", 1, NULL));
    assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1"));
    assert_false(rundir_trial_sealed(r, "a/256m", 1, "d2")); /* the matrix has changed since */
    assert_false(rundir_trial_sealed(r, "a/256m", 2, NULL));
    reopen(&r, path);
    assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1"));
    assert_false(rundir_trial_sealed(r, "b/256m", 1, NULL));
    CLEANUP_FREE char *files = shell_output(path, "cd trials/a/256m/1 && find . | LC_ALL=C sort");
    assert_string_equal(files,
                        ".\n./artifacts\n./events.ndjson\n./load\n./load/stdout.txt\n./logs\n./logs/app.log\n"
                        "./metrics\n./samples.csv\n./trial.json\n");
}

static void test_one_benchctl_at_a_time(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run");
    CLEANUP(rundir_close) struct rundir *r = NULL, *second = NULL;
    struct error err = ERROR_INIT;

    begin_run(path, &r);
    assert_true(rundir_busy(path));
    assert_int_equal(rundir_open(path, &second, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "in use"));
    rundir_close(TAKE(r));
    assert_false(rundir_busy(path));
    OK(rundir_open(path, &second, e));
}

static void test_directories_that_are_taken(void **state)
{
    CLEANUP_FREE char *run = make_run(*state, "run"), *other = path_join(*state, "other");
    CLEANUP_FREE char *missing = path_join(*state, "missing");
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct error err = ERROR_INIT;

    put(*state, "other/file", "");
    assert_int_equal(rundir_create(run, &r, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.hint, "resume"));
    assert_int_equal(rundir_create(other, &r, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_int_equal(rundir_open(other, &r, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(rundir_open(missing, &r, &err), -1);
    assert_null(r);
}

static void discard(const char *path)
{
    struct rundir *r = NULL;

    OK(rundir_create(path, &r, e));
    rundir_discard(r);
}

/* Nothing was begun: no directory is left that was not there before, and none goes that was. */
static void test_discarded_leaves_nothing(void **state)
{
    CLEANUP_FREE char *deep = path_join(*state, "runs/of/one"), *of = path_join(*state, "runs/of"),
                      *runs = path_join(*state, "runs");

    discard(deep);
    assert_false(fs_exists(runs));
    assert_true(fs_is_dir(*state));
    assert_int_equal(shell("mkdir -p %s", of), 0);
    discard(deep);
    assert_false(fs_exists(deep));
    assert_true(fs_is_dir(of));
    discard(of);
    assert_true(fs_is_dir(of)); /* it was there, empty */
    assert_int_equal(shell("rmdir %s %s", of, runs), 0);
    struct rundir *r = NULL;
    OK(rundir_create(deep, &r, e));
    put(*state, "runs/of/another.txt", "of somebody else");
    rundir_discard(r);
    assert_false(fs_exists(deep));
    assert_true(fs_is_dir(of));
}

static void test_an_interrupted_trial_is_done_again(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run"), *dir = NULL, *again = NULL;
    CLEANUP(rundir_close) struct rundir *r = NULL;

    begin_run(path, &r);
    OK(rundir_trial_begin(r, "a/256m", 1, &dir, e));
    put(dir, "samples.csv", "half of i");
    reopen(&r, path);
    assert_false(rundir_trial_sealed(r, "a/256m", 1, NULL));
    OK(rundir_trial_begin(r, "a/256m", 1, &again, e));
    assert_string_equal(dir, again);
    CLEANUP_FREE char *left =
        shell_output(path, "ls trials/a/256m && cat trials/a/256m/1.attempt-1/samples.csv && "
                           "find trials/a/256m/1 -type f");
    assert_string_equal(left, "1\n1.attempt-1\nhalf of i");
    /* folders without a file are no evidence */
    CLEANUP_FREE char *third = NULL;
    OK(rundir_trial_begin(r, "a/256m", 1, &third, e));
    CLEANUP_FREE char *names = shell_output(path, "ls trials/a/256m");
    assert_string_equal(names, "1\n1.attempt-1\n");
}

static void test_a_retry_replaces_and_keeps_the_first(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run");
    CLEANUP(rundir_close) struct rundir *r = NULL;

    begin_run(path, &r);
    run_trial(r, "a/256m", 1, "d1", 100);
    run_trial(r, "a/256m", 1, "d1", 150);
    reopen(&r, path);
    assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1"));
    CLEANUP_FREE char *rps = shell_output(path, "grep -h '\"rps\"' trials/a/256m/1/trial.json "
                                                "trials/a/256m/1.attempt-1/trial.json | tr -d ' ,'");
    assert_string_equal(rps, "\"rps\":150\n\"rps\":100\n");
}

/* Sealed, but nothing was measured: the caller may do it again, also in a later process. */
static void test_an_error_is_told_from_a_result(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run"), *dir = NULL;
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct trial t = make_trial("a/256m", 1, "d1", NAN);
    enum outcome o = OUTCOME_SKIPPED;

    begin_run(path, &r);
    assert_false(rundir_trial_outcome(r, "a/256m", 1, &o));
    t.outcome = OUTCOME_ERROR;
    OK(rundir_trial_begin(r, "a/256m", 1, &dir, e));
    OK(rundir_trial_seal(r, &t, e));
    assert_true(rundir_trial_outcome(r, "a/256m", 1, &o));
    assert_int_equal(o, OUTCOME_ERROR);
    reopen(&r, path);
    assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1"));
    assert_true(rundir_trial_outcome(r, "a/256m", 1, &o));
    assert_int_equal(o, OUTCOME_ERROR);
    run_trial(r, "a/256m", 1, "d1", 100);
    assert_true(rundir_trial_outcome(r, "a/256m", 1, &o));
    assert_int_equal(o, OUTCOME_OK);
}

static void test_hostile_scenarios_stay_inside(void **state)
{
    static const char *const BAD[] = {"..", "../x", "/abs", "a//b", "", "a/../../b", "."};
    CLEANUP_FREE char *path = path_join(*state, "run"), *dir = NULL;
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct error err = ERROR_INIT;

    begin_run(path, &r);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        assert_int_equal(rundir_trial_begin(r, BAD[i], 1, &dir, &err), -1);
        assert_int_equal(rundir_write(r, BAD[i], "", 0, &err), -1);
    }
    assert_int_equal(rundir_trial_begin(r, "a", 0, &dir, &err), -1);
    assert_null(dir);
}

/* --- what a crash leaves --- */

static void test_a_lost_journal_line_is_found_on_disk(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run");
    CLEANUP(rundir_close) struct rundir *r = NULL;

    begin_run(path, &r);
    run_trial(r, "a/256m", 1, "d1", 100);
    run_trial(r, "b/256m", 1, "d2", 200);
    assert_int_equal(shell("cd '%s' && sed -i '$d' journal.ndjson", path), 0); /* "trial sealed" of b */
    reopen(&r, path);
    assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1"));
    assert_true(rundir_trial_sealed(r, "b/256m", 1, "d2"));
    reopen(&r, path); /* and the journal knows it again */
    CLEANUP_FREE char *recovered = shell_output(path, "grep -c '\"recovered\":true' journal.ndjson");
    assert_string_equal(recovered, "1\n");
}

static void damage_and_reopen(const char *path, const char *command, struct rundir **r)
{
    rundir_close(*r);
    *r = NULL;
    if (shell("cd '%s' && %s", path, command) != 0)
        fail_msg("%s", command);
    catch_warnings();
    OK(rundir_open(path, r, e));
    log_set_sink(NULL, NULL);
}

static void test_any_journal_is_rebuilt_from_the_trials(void **state)
{
    static const char *const DAMAGE[] = {
        ": > journal.ndjson",
        "head -c 4096 /dev/zero > journal.ndjson",
        "rm journal.ndjson",
        "truncate -s 200 journal.ndjson",
        "sed -i 's/begin/began/' journal.ndjson",
        "echo '{\"v\":1,\"key\":\"k1\"}' > journal.ndjson",
    };

    for (size_t i = 0; i < ARRAY_LEN(DAMAGE); i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "run%zu", i);
        CLEANUP_FREE char *path = make_run(*state, name);
        CLEANUP(rundir_close) struct rundir *r = NULL;

        damage_and_reopen(path, DAMAGE[i], &r);
        for (int n = 1; n <= 2; n++) {
            assert_true(rundir_trial_sealed(r, "a/256m", n, "d1"));
            assert_true(rundir_trial_sealed(r, "b/256m", n, "d2"));
        }
        assert_false(rundir_trial_sealed(r, "a/256m", 3, NULL));
        run_trial(r, "a/256m", 3, "d1", 1);
        reopen(&r, path);
        assert_true(rundir_trial_sealed(r, "a/256m", 3, "d1"));
    }
}

static void test_what_is_damaged_does_not_count(void **state)
{
    static const char *const DAMAGE[] = {
        "rm trials/a/256m/1/trial.json",
        "rm -r trials/a/256m/1",
        ": > trials/a/256m/1/trial.json",
        "sed -i s/100/999/ trials/a/256m/1/trial.json",
    };

    for (size_t i = 0; i < ARRAY_LEN(DAMAGE); i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "run%zu", i);
        CLEANUP_FREE char *path = make_run(*state, name);
        CLEANUP(rundir_close) struct rundir *r = NULL;

        damage_and_reopen(path, DAMAGE[i], &r);
        assert_false(rundir_trial_sealed(r, "a/256m", 1, "d1"));
        assert_true(rundir_trial_sealed(r, "a/256m", 2, "d1"));
        assert_non_null(strstr(warned, "trial 1 of 'a/256m' is not what was sealed"));
    }
}

/* Without a journal only trials whose files are all there and unchanged are believed. */
static void test_unproven_trials_are_not_adopted(void **state)
{
    static const char *const DAMAGE[] = {
        "rm journal.ndjson trials/a/256m/1/samples.csv",
        "rm journal.ndjson; echo more >> trials/a/256m/1/samples.csv",
        "rm journal.ndjson; : > trials/a/256m/1/logs/db.log",
        "rm journal.ndjson; truncate -s -9 trials/a/256m/1/trial.json",
        "rm journal.ndjson; mv trials/a/256m/1 trials/a/256m/7",
        "rm journal.ndjson; mv trials/a trials/c",
    };

    for (size_t i = 0; i < ARRAY_LEN(DAMAGE); i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "run%zu", i);
        CLEANUP_FREE char *path = make_run(*state, name);
        CLEANUP(rundir_close) struct rundir *r = NULL;

        damage_and_reopen(path, DAMAGE[i], &r);
        assert_false(rundir_trial_sealed(r, "a/256m", 1, "d1"));
        assert_false(rundir_trial_sealed(r, "a/256m", 7, NULL));
        assert_false(rundir_trial_sealed(r, "c/256m", 1, NULL));
        assert_true(rundir_trial_sealed(r, "b/256m", 1, "d2"));
    }
}

static void test_a_newer_journal_is_refused_and_left_alone(void **state)
{
    CLEANUP_FREE char *path = make_run(*state, "run");
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT;
    CLEANUP(json_free) struct json *head = json_new_object();
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct error err = ERROR_INIT;

    json_set_int(head, "schema", 99);
    journal_format(1, 0, JOURNAL_OPENED, head, &j);
    strbuf_adds(&j, "something of the future\n");
    put(path, JOURNAL_FILE, j.data);
    assert_int_equal(rundir_open(path, &r, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_true(err.hint[0]);
    CLEANUP_FREE char *after = get(path, JOURNAL_FILE);
    assert_string_equal(after, j.data);
}

static void test_sealed_twice_is_a_conflict(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run");
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct json *fields = json_new_object();

    begin_run(path, &r);
    run_trial(r, "a/256m", 1, "d1", 100);
    run_trial(r, "b/256m", 1, "d2", 200);
    json_set_text(fields, "scenario", "a/256m");
    json_set_int(fields, "trial", 1);
    json_set_text(fields, "digest", "d1");
    json_set_text(fields, "sha256", "0123456789012345678901234567890123456789012345678901234567890123");
    OK(rundir_journal(r, JOURNAL_TRIAL_SEALED, fields, true, e));
    damage_and_reopen(path, "true", &r);
    assert_false(rundir_trial_sealed(r, "a/256m", 1, NULL));
    assert_true(rundir_trial_sealed(r, "b/256m", 1, NULL));
    assert_non_null(strstr(warned, "sealed twice"));
    run_trial(r, "a/256m", 1, "d1", 120); /* done again: settled */
    damage_and_reopen(path, "true", &r);
    assert_true(rundir_trial_sealed(r, "a/256m", 1, NULL));
    assert_string_equal(warned, "");
}

/* The journal cut at any byte: what was sealed counts, whether its line is there or not. */
static void test_cut_journals_lose_nothing(void **state)
{
    CLEANUP_FREE char *path = make_run(*state, "run"), *whole = get(path, JOURNAL_FILE);
    size_t len = strlen(whole);

    for (size_t cut = 0; cut < len; cut += 13) {
        CLEANUP(rundir_close) struct rundir *r = NULL;
        CLEANUP_FREE char *part = xstrndup(whole, cut);

        put(path, JOURNAL_FILE, part);
        OK(rundir_open(path, &r, e));
        assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1") && rundir_trial_sealed(r, "a/256m", 2, "d1") &&
                    rundir_trial_sealed(r, "b/256m", 1, "d2") && rundir_trial_sealed(r, "b/256m", 2, "d2"));
        CLEANUP_FREE char *aside = path_join(path, "journal.damaged-1");
        (void)unlink(aside);
    }
}

static void seal_for_ever(const char *path, int pipe_fd)
{
    CLEANUP(rundir_close) struct rundir *r = NULL;

    begin_run(path, &r);
    for (int n = 1;; n++) {
        unsigned char done = (unsigned char)n;
        run_trial(r, "a/256m", n, "d1", n);
        if (write(pipe_fd, &done, 1) != 1)
            _exit(1);
    }
}

/* Killed at any moment: every trial that was reported as sealed is sealed, and no other has half its files.
 */
static void test_kill_9(void **state)
{
    for (int round = 0; round < 12; round++) {
        char name[16];
        unsigned char done = 0, byte;
        int fds[2];
        (void)snprintf(name, sizeof(name), "run%d", round);
        CLEANUP_FREE char *path = path_join(*state, name);
        CLEANUP(rundir_close) struct rundir *r = NULL;

        assert_int_equal(pipe(fds), 0);
        pid_t pid = fork();
        if (pid == 0) {
            (void)close(fds[0]);
            seal_for_ever(path, fds[1]);
        }
        (void)close(fds[1]);
        for (int i = 0; i < 2 + round; i++) /* a few trials, then somewhere in the middle of the next */
            assert_int_equal(read(fds[0], &done, 1), 1);
        const struct timespec pause = {0, 150000L * round};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        while (read(fds[0], &byte, 1) == 1)
            done = byte;
        (void)close(fds[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);

        OK(rundir_open(path, &r, e));
        for (int n = 1; n <= done; n++)
            assert_true(rundir_trial_sealed(r, "a/256m", n, "d1"));
        for (int n = done + 1; n <= done + 2; n++) {
            CLEANUP_FREE char *file = xasprintf("%s/trials/a/256m/%d/trial.json", path, n);
            assert_int_equal(rundir_trial_sealed(r, "a/256m", n, "d1"), fs_exists(file));
        }
        run_trial(r, "a/256m", 200, "d1", 1);
    }
}

static void test_a_full_disk_keeps_sealed_trials(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "disk/run"), *dir = NULL, *big = xmalloc(400 << 10);
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct trial t = make_trial("a/256m", 2, "d1", 1);
    struct error err = ERROR_INIT;

    if (!small_disk(*state, "disk", "512k"))
        skip();
    begin_run(path, &r);
    run_trial(r, "a/256m", 1, "d1", 100);
    OK(rundir_trial_begin(r, "a/256m", 2, &dir, e));
    memset(big, 'x', 400 << 10);
    big[(400 << 10) - 1] = '\0';
    put(dir, "load/out", big);
    assert_int_equal(shell("cat /dev/zero > '%s/load/fill' 2>/dev/null", dir) != 0, 1);
    assert_int_equal(rundir_trial_seal(r, &t, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(err.code, ENOSPC);
    assert_non_null(strstr(err.message, "sealing trial 2 of 'a/256m'"));
    assert_int_equal(shell("rm '%s/load/fill' '%s/load/out'", dir, dir), 0);
    reopen(&r, path);
    assert_true(rundir_trial_sealed(r, "a/256m", 1, "d1"));
    assert_false(rundir_trial_sealed(r, "a/256m", 2, NULL));
    run_trial(r, "a/256m", 2, "d1", 100);
    rundir_close(TAKE(r));
    small_disk_end(*state, "disk");
}

/* --- inputs --- */

static void test_inputs_are_there_once(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "run"), *sql = path_join(*state, "db/schema.sql");
    CLEANUP_FREE char *context = path_join(*state, "app"), *odd = path_join(*state, "sch\xc3\xa9ma \n.sql");
    CLEANUP_FREE char *one = NULL, *two = NULL, *three = NULL, *four = NULL, *five = NULL;
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct error err = ERROR_INIT;

    put(*state, "db/schema.sql", "create table t ();\n");
    put(*state, "app/Dockerfile", "FROM scratch\n");
    put(*state, "app/run.sh", "#!/bin/sh\n");
    put(*state, "sch\xc3\xa9ma \n.sql", "select 1;\n");
    assert_int_equal(shell("chmod 755 '%s/run.sh'", context), 0);
    begin_run(path, &r);
    OK(rundir_add_input(r, sql, &one, e));
    OK(rundir_add_input(r, sql, &two, e));
    assert_string_equal(one, two);
    assert_true(text_ends(one, "-schema.sql"));
    OK(rundir_add_input(r, context, &three, e));
    assert_true(text_ends(three, "-app.tar"));
    OK(rundir_add_input(r, odd, &four, e));
    assert_true(text_ends(four, "-sch%C3%A9ma %0A.sql"));
    reopen(&r, path);
    put(*state, "db/schema.sql", "create table other ();\n");
    OK(rundir_add_input(r, sql, &five, e));
    assert_string_not_equal(one, five); /* what the earlier trials ran with is kept */
    CLEANUP_FREE char *count =
        shell_output(path, "ls inputs | wc -l && tar -tvf inputs/*-app.tar | grep -c rwxr-xr-x");
    assert_string_equal(count, "4\n1\n");
    CLEANUP_FREE char *none = NULL, *missing = path_join(*state, "missing");
    assert_int_equal(rundir_add_input(r, missing, &none, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_create_and_go_on),
        IN_SCRATCH(test_one_benchctl_at_a_time),
        IN_SCRATCH(test_directories_that_are_taken),
        IN_SCRATCH(test_discarded_leaves_nothing),
        IN_SCRATCH(test_an_interrupted_trial_is_done_again),
        IN_SCRATCH(test_a_retry_replaces_and_keeps_the_first),
        IN_SCRATCH(test_an_error_is_told_from_a_result),
        IN_SCRATCH(test_hostile_scenarios_stay_inside),
        IN_SCRATCH(test_a_lost_journal_line_is_found_on_disk),
        IN_SCRATCH(test_any_journal_is_rebuilt_from_the_trials),
        IN_SCRATCH(test_what_is_damaged_does_not_count),
        IN_SCRATCH(test_unproven_trials_are_not_adopted),
        IN_SCRATCH(test_a_newer_journal_is_refused_and_left_alone),
        IN_SCRATCH(test_sealed_twice_is_a_conflict),
        IN_SCRATCH(test_cut_journals_lose_nothing),
        IN_SCRATCH(test_kill_9),
        IN_SCRATCH(test_a_full_disk_keeps_sealed_trials),
        IN_SCRATCH(test_inputs_are_there_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

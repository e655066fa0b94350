/* SPDX-License-Identifier: MIT */
/* Whole sweeps: order, retries, what is kept, what is missing, and what stands. */
#include "stage.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include "benchctl/engine.h"

#define QUICK "load: {adapter: idle, duration: 5ms}\n"

static void assert_begun(struct stage *g, const char *expected)
{
    struct strbuf all = STRBUF_INIT;

    vec_each (b, &g->begun)
        strbuf_addf(&all, "%s\n", *b);
    assert_lines(strbuf_detach(&all), expected);
}

/* --- order --- */

static void listed_order(void **state)
{
    struct stage *g = *state;

    stage_run(g, "benchctl: 1\nname: wire\ntrials: 2\norder: {mode: listed}\napp: {image: 'app:1'}\n" QUICK
                 "axes: {x: [a, b]}\n");
    assert_begun(g, "a/1\na/2\nb/1\nb/2\n");
    assert_int_equal(g->summary.executed, 4);
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 4);
    assert_nothing_left(g);
}

/* Each round has every scenario once. */
static void interleaved_order(void **state)
{
    struct stage *g = *state;

    stage_run(g, "benchctl: 1\nname: wire\ntrials: 3\norder: {mode: interleaved, seed: 7}\n"
                 "app: {image: 'app:1'}\n" QUICK "axes: {x: [a, b, c, d]}\n");
    assert_int_equal(g->begun.len, 12);
    for (size_t round = 0; round < 3; round++) {
        bool seen[4] = {false};
        for (size_t i = 0; i < 4; i++) {
            const char *name = g->begun.items[4 * round + i];
            seen[name[0] - 'a'] = true;
            assert_int_equal(name[2], '1' + (int)round);
        }
        assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    }
}

static void cooldown_between_trials(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();
    size_t cooldowns = 0;

    stage_run(g, APP_OF("") QUICK "axes: {x: [a, b, c]}\ncooldown: 80ms\n");
    assert_true(clock_now_ns() - begin_ns >= 160 * NS_PER_MS);
    vec_each (s, &g->steps)
        cooldowns += strcmp(*s, "cooldown") == 0;
    assert_int_equal(cooldowns, 2); /* not after the last */
}

/* The estimate falls to nothing, and kept trials are no part of it. */
static void sealed_trials_are_skipped(void **state)
{
    struct stage *g = *state;

    g->sealed = "b/1";
    stage_run(g, APP_OF("") QUICK "axes: {x: [a, b, c]}\norder: {mode: listed}\n");
    assert_begun(g, "a/1\nc/1\n");
    assert_int_equal(g->summary.kept, 1);
    assert_int_equal(g->summary.executed, 2);
    assert_int_equal(standin_created(g->engine), 2);
}

/* --- retries --- */

static void an_error_is_tried_again(void **state)
{
    struct stage *g = *state;

    server_fail_call(standin_server(g->engine), 1, "POST /containers/*/start", FAIL_STATUS);
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\nretry: 2\napp: {image: 'app:1'}\n" QUICK);
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 2);
    assert_outcome(g, 0, "error", "app start: ");
    assert_outcome(g, 1, "ok", "");
    assert_true(stage_number(g, 0, "/attempt") == 1);
    assert_true(stage_number(g, 1, "/attempt") == 2);
    assert_int_equal(g->summary.executed, 1); /* one trial, by its last attempt */
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 1);
    assert_int_equal(g->summary.by_outcome[OUTCOME_ERROR], 0);
}

static void retries_end(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.start_status = 500, .start_error = "no"});
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\nretry: 2\napp: {image: 'app:1'}\n" QUICK);
    assert_int_equal(g->trials.len, 3);
    assert_true(stage_number(g, 2, "/attempt") == 3);
    assert_int_equal(g->summary.by_outcome[OUTCOME_ERROR], 1);
    assert_nothing_left(g);
}

static void what_is_invalid_is_tried_again(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.memory_bytes = 1 << 20});
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\nretry: 1\napp: {image: 'app:1', memory: 64m}\n" QUICK);
    assert_int_equal(g->trials.len, 2);
    assert_outcome(g, 1, "invalid", "");
}

static void a_finding_is_never_tried_again(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.dies = true, .code = 1});
    stage_run(
        g,
        "benchctl: 1\nname: wire\ntrials: 1\nretry: 5\napp: {image: 'app:1', ready: {log: never}}\n" QUICK);
    assert_int_equal(g->trials.len, 1);
    assert_outcome(g, 0, "crashed", "");
}

/* --- it cannot go on --- */

static void errors_in_a_row_stop_it(void **state)
{
    struct stage *g = *state;

    g->options.max_infrastructure_failures = 3;
    standin_behave(g->engine, "app", (struct behaviour){.start_status = 500, .start_error = "no space left"});
    stage_run(g, APP_OF("") QUICK "axes: {x: [a, b, c, d, e, f]}\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "3 trials in a row failed for the environment's sake; the sweep stops");
    assert_has(g->err.hint, "benchctl resume");
    assert_int_equal(g->trials.len, 3);
    assert_false(json_get_bool(g->info, "complete"));
    assert_nothing_left(g);
}

static int starts;

static void fail_every_other(struct stage *g)
{
    if (starts++ % 2 == 0)
        server_fail_call(standin_server(g->engine), 1, "POST /containers/*/start", FAIL_STATUS);
}

static void errors_with_good_trials_between_do_not(void **state)
{
    struct stage *g = *state;

    starts = 0;
    g->options.max_infrastructure_failures = 2;
    for (int i = 1; i <= 6; i++)
        stage_at_nth(g, "app start", i, 0, fail_every_other);
    stage_run(g, APP_OF("") QUICK "axes: {x: [a, b, c, d, e, f]}\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->summary.by_outcome[OUTCOME_ERROR], 3);
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 3);
}

static void a_full_disk_stops_it(void **state)
{
    struct stage *g = *state;

    g->bad_disk = true;
    stage_run(g, APP_OF("") QUICK "axes: {x: [a, b]}\n");
    assert_int_equal(g->rc, -1);
    assert_has(g->err.message, "no space left");
    assert_int_equal(g->begun.len, 1);
    assert_nothing_left(g);
}

/* --- what is missing --- */

static void missing_images_are_listed_once_and_nothing_is_started(void **state)
{
    struct stage *g = *state;

    standin_no_image(g->engine, "one:1");
    standin_no_image(g->engine, "two:1");
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 3\naxes: {x: [one, two, three], y: [a, b]}\n"
                 "app: {image: '${x}:1'}\nservices: {mock: {image: 'two:1'}}\n" QUICK);
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "2 things are missing, nothing was started:");
    assert_has(g->err.message, "'one:1'");
    assert_has(g->err.message, "'two:1'");
    assert_null(strstr(strstr(g->err.message, "'two:1'") + 1, "'two:1'"));
    assert_null(strstr(g->err.message, "three"));
    assert_has(g->err.hint, "--filter");
    assert_int_equal(g->begun.len, 0);
    assert_int_equal(server_count(standin_server(g->engine), "POST /containers*"), 0);
    assert_int_equal(server_count(standin_server(g->engine), "POST /networks*"), 0);
    assert_int_equal(server_count(standin_server(g->engine), "POST /images/create*"), 1); /* no second wait */
    assert_int_equal(server_count(standin_server(g->engine), "GET /images/two*"), 1);
}

static void a_missing_build_context(void **state)
{
    struct stage *g = *state;

    stage_run(
        g,
        "benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'x:1', build: {context: /nowhere/at/all}}\n" QUICK);
    assert_int_equal(g->rc, -1);
    assert_has(g->err.message, "image 'x:1': its build context '/nowhere/at/all' is not there");
    assert_int_equal(g->begun.len, 0);
}

static void a_missing_generator(void **state)
{
    struct stage *g = *state;
    CLEANUP_FREE char *path = xstrdup(getenv("PATH"));

    (void)setenv("PATH", "/nowhere", 1);
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\naxes: {x: [a, b]}\napp: {image: 'x:1', port: 80}\n"
                 "load: {adapter: wrk, duration: 1s}\n");
    (void)setenv("PATH", path, 1);
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "1 thing is missing, nothing was started:\n  load generator 'wrk'");
    assert_has(g->err.message, "not on PATH");
    assert_has(g->err.message, "the package that has it: wrk");
}

/* A secret that is named but not given is found before anything is started, in settings and in what variables
 * bring; an escaped reference is none. */
static void missing_secrets(void **state)
{
    static const char text[] =
        "benchctl: 1\nname: wire\ntrials: 1\naxes: {x: [a, b]}\nvars: {key: '${secret:BENCHCTL_TEST_KEY}'}\n"
        "app: {image: 'x:1', env: {A: 'u:${secret:BENCHCTL_TEST_A}', B: '$${secret:BENCHCTL_TEST_B}', C: "
        "'${key}'}}\n" QUICK;
    struct stage *g = *state;

    (void)unsetenv("BENCHCTL_TEST_A");
    (void)setenv("BENCHCTL_TEST_KEY", "k", 1);
    stage_run(g, text);
    (void)unsetenv("BENCHCTL_TEST_KEY");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message,
               "1 thing is missing, nothing was started:\n  secret 'BENCHCTL_TEST_A': not in the");
    assert_int_equal(g->begun.len, 0);
    assert_int_equal(server_count(standin_server(g->engine), "POST /containers*"), 0);
}

static void missing_secrets_of_variables(void **state)
{
    struct stage *g = *state;

    (void)unsetenv("BENCHCTL_TEST_KEY");
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\nvars: {key: '${secret:BENCHCTL_TEST_KEY}'}\n"
                 "app: {image: 'x:1', env: {C: '${key}'}}\n" QUICK);
    assert_int_equal(g->rc, -1);
    assert_has(g->err.message, "secret 'BENCHCTL_TEST_KEY': not in the environment");
    assert_int_equal(g->begun.len, 0);
}

/* wrk2's program is called wrk, too. */
static void another_program_of_the_same_name(void **state)
{
    struct stage *g = *state;
    CLEANUP_FREE char *path = xstrdup(getenv("PATH")), *program = xasprintf("%s/wrk", g->dir),
                      *mine = xasprintf("%s:%s", g->dir, path);
    const char *text = "#!/bin/sh\necho 'wrk 4.0.0 [epoll]'\necho '  -R, --rate <T>  work rate'\nexit 1\n";
    struct error err = ERROR_INIT;

    assert_int_equal(fs_write(program, text, strlen(text), &err), 0);
    assert_int_equal(chmod(program, 0755), 0);
    (void)setenv("PATH", mine, 1);
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'x:1', port: 80}\n"
                 "load: {adapter: wrk, duration: 1s}\n");
    (void)setenv("PATH", path, 1);
    assert_int_equal(g->rc, -1);
    assert_has(g->err.message, "wrk2");
    assert_int_equal(g->begun.len, 0);
}

/* --- what stands --- */

static void a_service_of_the_sweep_is_started_once(void **state)
{
    struct stage *g = *state;

    stage_run(g,
              APP_OF("") QUICK "axes: {x: [a, b, c]}\nservices: {mock: {image: 'mock:1', scope: sweep}}\n");
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 3);
    assert_int_equal(standin_created(g->engine), 4);
    assert_int_equal(standin_most_at_once(g->engine, "mock"), 1);
    assert_nothing_left(g);
}

/* Other settings need another container; the old one goes first. */
static void other_settings_need_another_service(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") QUICK "axes: {x: [a, b]}\norder: {mode: listed}\n"
                                  "services: {mock: {image: 'mock:1', scope: sweep, env: {X: '${x}'}}}\n");
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 2);
    assert_int_equal(standin_created(g->engine), 4);
    assert_int_equal(standin_most_at_once(g->engine, "mock"), 1);
    CLEANUP_FREE char *calls = standin_calls(g->engine, "inspect list log stats");
    assert_has(calls, "remove mock\nGET of what has gone\n");
    assert_nothing_left(g);
}

static void mock_dies(struct stage *g)
{
    assert_true(standin_die(g->engine, "mock", 1, false));
}

static void mock_child(struct stage *g)
{
    assert_true(standin_oom_child(g->engine, "mock"));
}

static void a_service_that_ended_is_started_again(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 1, mock_dies);
    stage_run(g,
              APP_OF("") "load: {adapter: idle, duration: 50ms}\naxes: {x: [a, b]}\norder: {mode: listed}\n"
                         "services: {mock: {image: 'mock:1', scope: sweep}}\n");
    assert_int_equal(g->summary.executed, 2);
    assert_int_equal(standin_created(g->engine), 4);
    assert_outcome(g, 0, "error", "'mock' ended during the trial (exit code 1)");
    assert_true(json_len(json_pointer(stage_trial(g, 0), "/services/mock/exits")) == 1);
    assert_true(json_len(json_pointer(stage_trial(g, 1), "/services/mock/exits")) == 0);
}

/* What happened to it in one trial is not told again in the next. */
static void a_standing_containers_past_is_past(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 1, mock_child);
    stage_at(g, "load", 15, mock_dies);
    stage_run(g,
              APP_OF("") "load: {adapter: idle, duration: 50ms}\naxes: {x: [a, b]}\norder: {mode: listed}\n"
                         "services: {mock: {image: 'mock:1', scope: sweep, restart: always}}\n");
    assert_int_equal(g->summary.executed, 2);
    assert_true(stage_number(g, 0, "/services/mock/restarts") == 1);
    assert_true(stage_number(g, 0, "/services/mock/oom_kills") == 1);
    assert_true(stage_number(g, 1, "/services/mock/restarts") == 0);
    assert_true(stage_number(g, 1, "/services/mock/oom_kills") == 0);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 1), "/services/mock/exits")), 0);
}

/* A scenario without the service has nothing to tell of it, though it stands by. */
static void anothers_service_is_not_told_of(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") QUICK
              "axes: {x: [a, b]}\norder: {mode: listed}\noverrides:\n"
              "  - {when: {x: a}, set: {services: {mock: {image: 'mock:1', scope: sweep}}}}\n");
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 2);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/services")), 1);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 1), "/services")), 0);
    assert_nothing_left(g);
}

static void an_expectation_of_nothing(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") QUICK "expect: ['load.nonsense > 3']\n");
    assert_int_equal(g->err.kind, ERROR_INVALID);
    assert_has(g->err.message, "a trial records no 'load.nonsense'");
    assert_int_equal(g->begun.len, 0);
}

/* After a trial that failed for the environment's sake nothing standing is trusted. */
static void after_an_error_it_starts_afresh(void **state)
{
    struct stage *g = *state;

    server_fail_call(standin_server(g->engine), 2, "POST /containers/*/start", FAIL_STATUS); /* the app */
    stage_run(g, APP_OF("") QUICK "axes: {x: [a, b]}\norder: {mode: listed}\n"
                                  "services: {mock: {image: 'mock:1', scope: sweep}}\n");
    assert_outcome(g, 0, "error", "");
    assert_outcome(g, 1, "ok", "");
    assert_int_equal(standin_created(g->engine), 4);
    assert_int_equal(standin_most_at_once(g->engine, "mock"), 1);
}

/* --- keep --- */

static void a_failed_trial_is_kept_to_be_looked_at(void **state)
{
    struct stage *g = *state;

    g->options.keep = true;
    standin_behave(g->engine, "app", (struct behaviour){.log = "hm"});
    stage_run(g, APP_OF(", ready: {log: never, timeout: 50ms}") QUICK
              "axes: {x: [a, b]}\nservices: {mock: {image: 'mock:1'}}\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->summary.by_outcome[OUTCOME_NOT_READY], 2);
    assert_true(stage_said(g, "kept container 'benchctl-0123456789ab-4-app'"));
    CLEANUP_FREE char *left = standin_left_names(g->engine); /* of the last one only, and their network */
    assert_string_equal(left, "network benchctl-0123456789ab, container benchctl-0123456789ab-3-mock, "
                              "container benchctl-0123456789ab-4-app");
    assert_int_equal(server_count(standin_server(g->engine), "POST /containers/*/stop*"), 4);
}

static void a_good_trial_is_not_kept(void **state)
{
    struct stage *g = *state;

    g->options.keep = true;
    stage_run(g, SMALL);
    assert_outcome(g, 0, "ok", "");
    assert_nothing_left(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(listed_order),
        STAGE_TEST(interleaved_order),
        STAGE_TEST(cooldown_between_trials),
        STAGE_TEST(sealed_trials_are_skipped),
        STAGE_TEST(an_error_is_tried_again),
        STAGE_TEST(retries_end),
        STAGE_TEST(what_is_invalid_is_tried_again),
        STAGE_TEST(a_finding_is_never_tried_again),
        STAGE_TEST(errors_in_a_row_stop_it),
        STAGE_TEST(errors_with_good_trials_between_do_not),
        STAGE_TEST(a_full_disk_stops_it),
        STAGE_TEST(missing_images_are_listed_once_and_nothing_is_started),
        STAGE_TEST(a_missing_build_context),
        STAGE_TEST(a_missing_generator),
        STAGE_TEST(missing_secrets),
        STAGE_TEST(missing_secrets_of_variables),
        STAGE_TEST(another_program_of_the_same_name),
        STAGE_TEST(a_service_of_the_sweep_is_started_once),
        STAGE_TEST(other_settings_need_another_service),
        STAGE_TEST(a_service_that_ended_is_started_again),
        STAGE_TEST(a_standing_containers_past_is_past),
        STAGE_TEST(anothers_service_is_not_told_of),
        STAGE_TEST(an_expectation_of_nothing),
        STAGE_TEST(after_an_error_it_starts_afresh),
        STAGE_TEST(a_failed_trial_is_kept_to_be_looked_at),
        STAGE_TEST(a_good_trial_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Applications and services that do not come up: each is recorded for what it was, and nothing is left. */
#include "stage.h"

#include <stdio.h>

#define LOAD(ms) "load: {adapter: idle, duration: " #ms "ms}\n"

/* --- it does not start --- */

static void start_fails(struct stage *g, int status, const char *message)
{
    standin_behave(g->engine, "app", (struct behaviour){.start_status = status, .start_error = message});
    stage_run(g, SMALL);
    assert_int_equal(g->rc, 0);
    assert_nothing_left(g);
    assert_int_equal(server_count(standin_server(g->engine), "DELETE /containers/*"), 1);
}

static void no_such_program(void **state)
{
    struct stage *g = *state;

    start_fails(g, 400,
                "failed to create shim task: OCI runtime create failed: runc create failed: unable to start "
                "container process: exec: \"/nothing\": stat /nothing: no such file or directory: unknown");
    assert_outcome(g, 0, "crashed",
                   "never started: no such program: exec: \"/nothing\": stat /nothing: no such file or "
                   "directory");
    assert_null(strstr(stage_text(g, 0, "/reason"), "unknown"));
    assert_true(isnan(stage_number(g, 0, "/ready_ms")));
    assert_string_equal(stage_text(g, 0, "/findings/0/id"), "never-started");
    assert_string_equal(stage_text(g, 0, "/app/exits/0/cause"), "command not found");
    assert_true(stage_number(g, 0, "/app/exits/0/code") == 127);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/lives")), 0);
}

/* With an init the start succeeds: the init cannot execute the program, says so and ends. */
static void an_init_that_finds_no_program(void **state)
{
    struct stage *g = *state;

    standin_behave(
        g->engine, "app",
        (struct behaviour){.dies = true,
                           .code = 127,
                           .log = "[FATAL tini (7)] exec /nothing failed: No such file or directory"});
    stage_run(g, APP_OF(", init: true, restart: always, ready: {log: never}") IDLE);
    assert_outcome(g, 0, "crashed", "never started: no such program: [FATAL tini (7)] exec /nothing failed");
    assert_string_equal(stage_text(g, 0, "/app/exits/0/cause"), "command not found");
    assert_string_equal(stage_text(g, 0, "/findings/0/id"), "never-started");
}

static void the_port_is_taken(void **state)
{
    struct stage *g = *state;

    start_fails(g, 500, "driver failed programming external connectivity: port is already allocated");
    assert_outcome(g, 0, "error", "port is already allocated");
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/findings")), 0);
    assert_string_equal(stage_text(g, 0, "/app/exits/0/cause"), "start failed");
}

static void create_fails(void **state)
{
    struct stage *g = *state;

    server_fail_call(standin_server(g->engine), 1, "POST /containers/create*", FAIL_STATUS);
    stage_run(g, SMALL);
    assert_outcome(g, 0, "error",
                   "app start: container 'app': cannot create container 'benchctl-0123456789ab-1-app'");
    assert_nothing_left(g);
    assert_int_equal(standin_created(g->engine), 0);
}

/* The container is made, but its id never comes back: only its label finds it. */
static void the_answer_to_create_is_lost(void **state)
{
    struct stage *g = *state;

    server_fail_call(standin_server(g->engine), 1, "POST /containers/create*", FAIL_LOST);
    stage_run(g, APP_OF("") IDLE "axes: {x: [a, b]}\norder: {mode: listed}\n");
    assert_int_equal(g->rc, 0);
    assert_outcome(g, 0, "error", "app start: ");
    assert_outcome(g, 1, "ok", "");
    assert_int_equal(standin_created(g->engine), 2);
    assert_nothing_left(g);
}

/* --- it does not stay up --- */

static void dead_before_ready(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    standin_behave(g->engine, "app",
                   (struct behaviour){.dies = true, .code = 3, .log = "no such table: items"});
    stage_run(g, APP_OF(", ready: {log: never}") IDLE);
    assert_outcome(g, 0, "crashed", "before it was ready: ended 1 time (last: exit 3)");
    assert_has(stage_text(g, 0, "/reason"), "its last lines: no such table: items");
    assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_S); /* at once, not at the time-out of a minute */
    assert_true(isnan(stage_number(g, 0, "/ready_ms")));
    assert_true(stage_number(g, 0, "/app/exits/0/code") == 3);
    assert_nothing_left(g);
}

/* The start's reply and inspect know of the end before its events come: still one death. */
static void events_come_late(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.dies = true, .code = 3, .slow_events = true});
    stage_run(g, APP_OF(", ready: {log: never}") IDLE);
    assert_outcome(g, 0, "crashed", "ended 1 time (last: exit 3)");
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 1);
}

/* No event ever comes, inspect alone tells. */
static void events_never_come(void **state)
{
    struct stage *g = *state;

    standin_silent_events(g->engine, true);
    standin_behave(g->engine, "app", (struct behaviour){.dies = true, .code = 137, .oom = true});
    stage_run(g, APP_OF(", memory: 64m, ready: {log: never}") IDLE);
    assert_outcome(g, 0, "crashed", "before it was ready: OOM-killed 1 time");
    assert_string_equal(stage_text(g, 0, "/app/exits/0/cause"), "oom");
}

static void a_loop_before_it_is_ready(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.dies = true, .code = 0, .log = "bye"});
    int64_t begin_ns = clock_now_ns();
    stage_run(g, APP_OF(", restart: always, ready: {log: never}") IDLE);
    assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_S); /* not at the time-out of a minute */
    assert_outcome(g, 0, "crashed", "before it was ready: ended ");
    assert_has(stage_text(g, 0, "/reason"), "(last: clean exit), restarted ");
    assert_true(stage_number(g, 0, "/app/restarts") >= 4);
    assert_nothing_left(g);
}

static void restarts_run_out(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.dies = true, .code = 1});
    stage_run(g, APP_OF(", restart: 'on-failure:2', ready: {log: never}") IDLE);
    assert_outcome(g, 0, "crashed", "ended 3 times (last: exit 1), restarted 2 times");
    assert_true(stage_number(g, 0, "/app/restarts") == 2);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 3);
}

static void alive_but_never_ready(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.log = "waiting for the database"});
    stage_run(g, APP_OF(", ready: {log: never, timeout: 150ms}") IDLE);
    assert_outcome(g, 0, "not-ready", "alive, but not ready in 150 ms");
    assert_has(stage_text(g, 0, "/reason"), "its last lines: waiting for the database");
    assert_true(stage_number(g, 0, "/app/restarts") == 0);
    assert_nothing_left(g);
}

/* A port that answers is not enough when its status is another one. */
static void answers_with_the_wrong_status(void **state)
{
    struct stage *g = *state;
    static const struct rule rules[] = {{"*", .reply = {.status = 503}}};
    struct server *app = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *text =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'app:1', port: %d, ready: "
                  "{http: /health, timeout: 200ms}}\n" IDLE,
                  server_port(app));

    stage_run(g, text);
    assert_outcome(g, 0, "not-ready", "alive, but not ready in 200 ms");
    assert_in_range(server_calls(app), 3, 60);
    server_finish(app);
}

/* An answer that never comes ends with the time-out. */
static void never_answers(void **state)
{
    struct stage *g = *state;
    static const struct rule rules[] = {{"*", .reply = {.delay_ms = 60000}}};
    struct server *app = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *text =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'app:1', port: %d, ready: "
                  "{http: /health, timeout: 200ms}}\n" IDLE,
                  server_port(app));
    int64_t begin_ns = clock_now_ns();

    stage_run(g, text);
    assert_outcome(g, 0, "not-ready", "alive, but not ready in 200 ms");
    assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_S);
    server_finish(app);
}

/* The trial's own limit is shorter than the readiness time-out: it ends there, without spinning. */
static void the_trials_limit_comes_first(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    stage_run(g, APP_OF(", ready: {log: never, timeout: 1m}") IDLE "timeout: 1s\n");
    assert_outcome(g, 0, "error", "ready: the trial's time limit of 1.00 s is over");
    assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_S);
    assert_nothing_left(g);
}

static void the_trials_limit_during_the_load(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") LOAD(999) "timeout: 1s\n"); /* starting takes the rest */
    assert_outcome(g, 0, "error", "load: the trial's time limit of 1.00 s is over");
    assert_true(stage_number(g, 0, "/duration_ms") < 10000);
    assert_nothing_left(g);
}

/* --- services --- */

static void a_service_that_dies(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "mock", (struct behaviour){.dies = true, .code = 2, .log = "no config"});
    stage_run(g, APP_OF("") IDLE "services: {mock: {image: 'mock:1', ready: {log: never}}}\n");
    assert_outcome(g, 0, "error",
                   "services: service 'mock' died before it was ready; its last lines: no config");
    assert_int_equal(standin_created(g->engine), 1); /* the app was not even made */
    assert_nothing_left(g);
}

static void a_service_that_is_never_ready(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") IDLE
              "services: {mock: {image: 'mock:1', scope: sweep, ready: {log: never, timeout: 100ms}}}\n");
    assert_outcome(g, 0, "error", "services: service 'mock' is not ready in time");
    assert_nothing_left(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(no_such_program),
        STAGE_TEST(an_init_that_finds_no_program),
        STAGE_TEST(the_port_is_taken),
        STAGE_TEST(create_fails),
        STAGE_TEST(the_answer_to_create_is_lost),
        STAGE_TEST(dead_before_ready),
        STAGE_TEST(events_come_late),
        STAGE_TEST(events_never_come),
        STAGE_TEST(a_loop_before_it_is_ready),
        STAGE_TEST(restarts_run_out),
        STAGE_TEST(alive_but_never_ready),
        STAGE_TEST(answers_with_the_wrong_status),
        STAGE_TEST(never_answers),
        STAGE_TEST(the_trials_limit_comes_first),
        STAGE_TEST(the_trials_limit_during_the_load),
        STAGE_TEST(a_service_that_dies),
        STAGE_TEST(a_service_that_is_never_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

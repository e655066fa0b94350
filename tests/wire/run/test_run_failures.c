/* SPDX-License-Identifier: MIT */
/* Applications that fail and engines that do: each is recorded for what it was, and nothing is left. */
#include "stage.h"

#include <stdio.h>

#define RESTARTING APP_OF(", memory: 64m, restart: on-failure")
#define LOAD(ms) "load: {adapter: idle, duration: " #ms "ms}\n"

/* --- it does not start ------------------------------------------------------------------------------- */

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

    start_fails(g, 400, "exec: \"/nothing\": no such file or directory");
    assert_outcome(g, 0, "error", "app start: container 'app' does not start");
    assert_has(stage_text(g, 0, "/reason"), "\"/nothing\": no such file");
    assert_true(isnan(stage_number(g, 0, "/ready_ms")));
}

static void the_port_is_taken(void **state)
{
    struct stage *g = *state;

    start_fails(g, 500, "driver failed programming external connectivity: port is already allocated");
    assert_outcome(g, 0, "error", "port is already allocated");
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

/* --- it does not stay up ----------------------------------------------------------------------------- */

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
    stage_run(g, APP_OF(", restart: always, ready: {log: never}") IDLE);
    assert_outcome(g, 0, "crashed", "before it was ready: ended ");
    assert_has(stage_text(g, 0, "/reason"), "(last: exit 0), restarted ");
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

    stage_run(g, APP_OF(", ready: {log: never, timeout: 1m}") IDLE "timeout: 300ms\n");
    assert_outcome(g, 0, "not-ready", "alive, but not ready in 2");
    assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_S);
    assert_nothing_left(g);
}

static void the_trials_limit_during_the_load(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") LOAD(60000) "timeout: 300ms\n");
    assert_outcome(g, 0, "error", "load: the trial's time limit of 300 ms is over");
    assert_true(stage_number(g, 0, "/duration_ms") < 10000);
    assert_nothing_left(g);
}

/* --- while the load runs ----------------------------------------------------------------------------- */

static void exit_one(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 1, false));
}

static void oom(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 137, true));
}

static void oom_child(struct stage *g)
{
    assert_true(standin_oom_child(g->engine, "app"));
}

static void kill_it(struct stage *g)
{
    assert_true(standin_kill(g->engine, "app", 9));
}

static void restart_by_hand(struct stage *g)
{
    assert_true(standin_restart_by_hand(g->engine, "app"));
}

static void vanish(struct stage *g)
{
    assert_true(standin_remove(g->engine, "app"));
    (void)server_end_streams(standin_server(g->engine), "GET /events*",
                             false); /* with what happened meanwhile */
}

static void restarts_are_counted(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, exit_one);
    stage_at(g, "load", 60, exit_one);
    stage_at(g, "load", 90, exit_one);
    stage_run(g, RESTARTING LOAD(200));
    assert_outcome(g, 0, "degraded", "ended 3 times (last: exit 1), restarted 3 times in 0 s at 64.0 MiB");
    assert_true(stage_number(g, 0, "/app/restarts") == 3);
    assert_true(stage_number(g, 0, "/app/oom_kills") == 0);
    assert_true(stage_number(g, 0, "/app/exits/0/at_ms") >= 25);
    assert_true(stage_number(g, 0, "/app/exits/2/at_ms") >= 85);
    assert_true(stage_number(g, 0, "/load/window_ms") >= 195); /* it was measured to the end */
    assert_nothing_left(g);
}

static void oom_kills_are_counted(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, oom);
    stage_at(g, "load", 60, oom);
    stage_run(g, RESTARTING LOAD(150));
    assert_outcome(g, 0, "degraded", "OOM-killed 2 times, restarted 2 times");
    assert_true(stage_number(g, 0, "/app/oom_kills") == 2);
    assert_string_equal(stage_text(g, 0, "/app/exits/1/cause"), "oom");
    assert_true(json_get_bool(json_pointer(stage_trial(g, 0), "/app/exits/0"), "oom"));
}

static void a_killed_child_is_seen(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, oom_child);
    stage_run(g, APP_OF(", memory: 64m") LOAD(100));
    assert_outcome(g, 0, "degraded", "OOM-killed 1 time in 0 s at 64.0 MiB");
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 0);
    assert_true(stage_number(g, 0, "/app/uptime_pct") == 100);
}

/* Dead for good: the load need not go on. */
static void the_load_ends_with_the_app(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, oom);
    stage_run(g, APP_OF(", memory: 64m") LOAD(30000));
    assert_outcome(g, 0, "crashed", "OOM-killed 1 time in 0 s at 64.0 MiB");
    assert_true(stage_number(g, 0, "/duration_ms") < 10000);
    assert_nothing_left(g);
}

static void it_does_not_survive_the_warm_up(void **state)
{
    struct stage *g = *state;

    stage_at(g, "warm-up", 30, exit_one);
    stage_run(g, APP_OF("") "load: {adapter: idle, duration: 30s, warmup: {duration: 30s}}\n");
    assert_outcome(g, 0, "crashed", "ended 1 time (last: exit 1)");
    assert_true(stage_number(g, 0, "/duration_ms") < 10000);
    assert_non_null(stage_trial(g, 0));
    assert_int_equal(json_type_of(json_pointer(stage_trial(g, 0), "/load")), JSON_TYPE_NULL);
}

static void killed_by_somebody_else(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, kill_it);
    stage_run(g, RESTARTING LOAD(10000)); /* the policy does not apply to that */
    assert_outcome(g, 0, "crashed", "killed by somebody else (signal 9)");
}

static void restarted_by_somebody_else(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, restart_by_hand);
    stage_run(g, RESTARTING LOAD(120));
    assert_outcome(g, 0, "degraded", "restarted 1 time");
    assert_true(stage_number(g, 0, "/app/restarts") == 1); /* though RestartCount is 0 */
}

/* Removed by somebody else, and the stream is cut so that no event tells of it: no success either. */
static void removed_by_somebody_else(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, vanish);
    stage_run(g, APP_OF("") LOAD(10000));
    assert_outcome(g, 0, "error", "the container has gone: somebody removed it");
    assert_true(stage_number(g, 0, "/duration_ms") < 9000);
}

static void move_away(struct stage *g)
{
    assert_true(standin_move(g->engine, "app", "127.0.0.9"));
    exit_one(g);
}

/* After a restart the engine may give another address: the generator's requests went nowhere. */
static void another_address_after_a_restart(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, move_away);
    stage_run(g, RESTARTING LOAD(120));
    assert_outcome(g, 0, "degraded", "restarted 1 time");
    assert_string_equal(stage_text(g, 0, "/validity/0/id"), "address-kept");
}

/* --- the engine -------------------------------------------------------------------------------------- */

static void cut_events(struct stage *g)
{
    assert_int_equal(server_end_streams(standin_server(g->engine), "GET /events*", false), 1);
}

static void end_events(struct stage *g)
{
    assert_int_equal(server_end_streams(standin_server(g->engine), "GET /events*", true), 1);
}

static void the_event_stream_is_cut(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, cut_events);
    stage_run(g, SMALL);
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_said(g, "the engine's event stream was interrupted"));
    assert_true(server_count(standin_server(g->engine), "GET /events*") >= 2);
    CLEANUP_FREE char *calls = standin_calls(g->engine, "");
    assert_has(calls, "inspect app");
    assert_nothing_left(g);
}

static void silent_death(struct stage *g)
{
    standin_silent_events(g->engine, true);
    oom(g);
    standin_silent_events(g->engine, false);
}

/* A kill that falls into the gap is told by inspect. */
static void a_death_in_the_gap(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, silent_death);
    stage_at(g, "load", 30, end_events);
    stage_run(g, APP_OF(", memory: 64m") LOAD(10000));
    assert_outcome(g, 0, "crashed", "OOM-killed 1 time");
    assert_true(stage_number(g, 0, "/duration_ms") < 9000);
}

/* A restart that falls into the gap, too: two witnesses disagree, the larger number is shown. */
static void a_restart_in_the_gap(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, silent_death);
    stage_at(g, "load", 30, cut_events);
    stage_run(g, RESTARTING LOAD(300));
    assert_outcome(g, 0, "degraded", "restarted 1 time");
    assert_true(stage_number(g, 0, "/app/restarts") == 1);
    assert_string_equal(stage_text(g, 0, "/validity/0/id"), "restarts-agree");
    assert_string_equal(stage_text(g, 0, "/validity/0/verdict"), "WARN");
}

static void inspect_fails(struct stage *g)
{
    server_fail_call(standin_server(g->engine), 1, "GET /containers/*/json", FAIL_STATUS);
    oom_child(g); /* something to look at */
}

static void inspect_is_refused(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, inspect_fails);
    stage_run(g, SMALL);
    assert_outcome(g, 0, "error", "load: container 'app': cannot inspect container");
    assert_has(stage_text(g, 0, "/reason"), "injected failure");
    assert_nothing_left(g);
}

static void engine_goes(struct stage *g)
{
    standin_stop(g->engine);
}

/* Gone in the middle: the trials fail one after the other, quickly, and the sweep stops so that it can go
 * on later. */
static void the_engine_goes_away(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    stage_at(g, "load", 20, engine_goes);
    stage_run(g, APP_OF("") IDLE "axes: {x: [a, b, c, d, e, f, g, h, i]}\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "5 trials in a row failed");
    assert_has(g->err.hint, "benchctl resume");
    assert_int_equal(g->trials.len, 5);
    assert_false(g->summary.interrupted);
    for (size_t i = 0; i < 5; i++)
        assert_outcome(g, i, "error", "");
    assert_true(stage_said(g, "`benchctl clean` removes"));
    assert_true(clock_now_ns() - begin_ns < 30 * NS_PER_S);
    assert_false(json_get_bool(g->info, "complete"));
}

static void no_engine_at_all(void **state)
{
    struct stage *g = *state;
    CLEANUP_FREE char *url = xstrdup(server_url(standin_server(g->engine)));

    server_fail_call(standin_server(g->engine), 1, NULL, FAIL_CLOSE);
    stage_run(g, SMALL);
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, url);
    assert_int_equal(g->begun.len, 0);
}

/* --- services ---------------------------------------------------------------------------------------- */

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
        STAGE_TEST(restarts_are_counted),
        STAGE_TEST(oom_kills_are_counted),
        STAGE_TEST(a_killed_child_is_seen),
        STAGE_TEST(the_load_ends_with_the_app),
        STAGE_TEST(it_does_not_survive_the_warm_up),
        STAGE_TEST(killed_by_somebody_else),
        STAGE_TEST(restarted_by_somebody_else),
        STAGE_TEST(removed_by_somebody_else),
        STAGE_TEST(another_address_after_a_restart),
        STAGE_TEST(the_event_stream_is_cut),
        STAGE_TEST(a_death_in_the_gap),
        STAGE_TEST(a_restart_in_the_gap),
        STAGE_TEST(inspect_is_refused),
        STAGE_TEST(the_engine_goes_away),
        STAGE_TEST(no_engine_at_all),
        STAGE_TEST(a_service_that_dies),
        STAGE_TEST(a_service_that_is_never_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

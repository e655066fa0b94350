/* SPDX-License-Identifier: MIT */
/* What may happen while the load runs, to the application and to the engine: each is recorded for what it
 * was. */
#include "stage.h"

#include <stdio.h>
#include <sys/stat.h>

#define RESTARTING APP_OF(", memory: 64m, restart: on-failure")
#define LOAD(ms) "load: {adapter: idle, duration: " #ms "ms}\n"

/* --- while the load runs --- */

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
    assert_outcome(g, 0, "degraded", "ended 3 times (last: exit 1), restarted 3 times in 0.");
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
    assert_outcome(g, 0, "degraded", "OOM-killed 1 time in 0.");
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 0);
    assert_true(stage_number(g, 0, "/app/uptime_pct") == 100);
}

/* Dead for good: the load need not go on. */
static void the_load_ends_with_the_app(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, oom);
    stage_run(g, APP_OF(", memory: 64m") LOAD(30000));
    assert_outcome(g, 0, "crashed", "OOM-killed 1 time in 0.");
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
    assert_outcome(g, 0, "invalid", "somebody else touched 'app' during the trial: kill");
    assert_string_equal(stage_text(g, 0, "/app/exits/0/cause"), "killed by somebody else (signal 9)");
}

static void restarted_by_somebody_else(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 30, restart_by_hand);
    stage_run(g, RESTARTING LOAD(120));
    assert_outcome(g, 0, "invalid", "somebody else touched 'app' during the trial: kill");
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
    assert_string_equal(stage_verdict(g, 0, "address-kept"), "FAIL");
    assert_string_equal(stage_verdict(g, 0, "crash-contamination"), "WARN");
}

/* --- the engine --- */

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
    assert_string_equal(stage_verdict(g, 0, "restarts-agree"), "WARN");
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

/* Gone in the middle, and not back in time: no further trial is tried, and the sweep stops so that it can go
 * on later. */
static void the_engine_goes_away(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    g->options.engine_patience_ns = NS_PER_S;
    stage_at(g, "load", 20, engine_goes);
    stage_run(g, APP_OF("") IDLE "axes: {x: [a, b, c, d, e, f, g, h, i]}\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "and was not back after 1 s; the sweep stops");
    assert_has(g->err.hint, "benchctl resume");
    assert_int_equal(g->trials.len, 1);
    assert_false(g->summary.interrupted);
    assert_outcome(g, 0, "error", "the engine went away during the trial, and was not back after");
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

/* --- the generator --- */

/* A program that is called wrk and does as this script says. */
static void run_with_wrk(struct stage *g, const char *script, const char *more)
{
    static const struct rule rules[] = {{"*", .reply = {.status = 200}}};
    struct server *app = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *path = xstrdup(getenv("PATH")), *program = xasprintf("%s/wrk", g->dir),
                      *mine = xasprintf("%s:%s", g->dir, path);
    CLEANUP_FREE char *text =
        xasprintf("#!/bin/sh\n[ \"$1\" = -v ] && { echo wrk 4.1.0; exit 1; }\n%s\n", script);
    CLEANUP_FREE char *matrix =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\nretry: 0\n"
                  "app: {image: 'app:1', port: %d, memory: 64m, restart: on-failure}\n"
                  "load: {adapter: wrk, duration: 1s%s}\n",
                  server_port(app), more);
    struct error err = ERROR_INIT;

    assert_int_equal(fs_write(program, text, strlen(text), &err), 0);
    assert_int_equal(chmod(program, 0755), 0);
    (void)setenv("PATH", mine, 1);
    stage_run(g, matrix);
    (void)setenv("PATH", path, 1);
    server_finish(app);
    assert_nothing_left(g);
}

static void a_generator_that_says_nothing(void **state)
{
    struct stage *g = *state;

    run_with_wrk(g, "exit 0", "");
    assert_outcome(g, 0, "invalid", "load generator 'wrk': ");
    assert_int_equal(json_type_of(json_pointer(stage_trial(g, 0), "/load")), JSON_TYPE_NULL); /* no zeros */
}

static void a_generator_that_fails(void **state)
{
    struct stage *g = *state;

    run_with_wrk(g, "echo unable to connect to it >&2; exit 1", "");
    assert_outcome(g, 0, "invalid", "server not reachable");
    assert_has(stage_text(g, 0, "/reason"), "unable to connect to it");
}

static void a_generator_that_never_ends(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    run_with_wrk(g, "sleep 60", ", timeout: 100ms");
    assert_outcome(g, 0, "error", "load: load generator: timed out");
    assert_true(clock_now_ns() - begin_ns < 20 * NS_PER_S);
}

/* It has a result, but the app was restarted meanwhile: that decides. */
static void a_generator_that_measured_a_restart(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, exit_one);
    run_with_wrk(
        g,
        "sleep 1; printf '{\"duration_us\":1000000,\"requests\":1000,\"bytes\":5000,\"errors\":{"
        "\"connect\":0,\"read\":5,\"write\":0,\"status\":0,\"timeout\":0},\"latency_us\":{\"min\":1,"
        "\"max\":9,\"mean\":2,\"stdev\":1,\"p50\":2,\"p75\":3,\"p90\":4,\"p95\":5,\"p99\":6,\"p99.9\":7}}"
        "' >$BENCHCTL_WRK_REPORT",
        "");
    assert_outcome(g, 0, "degraded",
                   "ended 1 time (last: exit 1), restarted 1 time in 1 s at 64.0 MiB; 0.5 % of "
                   "requests failed");
    assert_true(stage_number(g, 0, "/load/ok") == 995);
    assert_true(stage_number(g, 0, "/load/latency_ms/p99") == 0.006);
    assert_string_equal(stage_text(g, 0, "/load/generator/version"), "4.1.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        STAGE_TEST(a_generator_that_says_nothing),
        STAGE_TEST(a_generator_that_fails),
        STAGE_TEST(a_generator_that_never_ends),
        STAGE_TEST(a_generator_that_measured_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The world fails and the sweep goes on: what is tried again and how often, what is left behind, streams that
 * are silent, and that a fault in one trial changes nothing for the next. */
#include "stage.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#define QUICK "load: {adapter: idle, duration: 5ms}\n"
#define LONG "load: {adapter: idle, duration: 1500ms}\n" /* events are asked for again when a second old */
#define TWO "axes: {x: [a, b]}\norder: {mode: listed}\ncooldown: 0ms\n"
#define PLAIN(retry)                                                                                         \
    "benchctl: 1\nname: wire\nnetwork: bridge\ntrials: 1\nretry: " retry "\napp: {image: 'app:1'}\n"

static size_t count_steps(const struct stage *g, const char *step)
{
    size_t n = 0;

    for (size_t i = 0; i < g->steps.len; i++)
        n += strcmp(g->steps.items[i], step) == 0;
    return n;
}

/* --- tried again --- */

static void a_fault_of_the_engine_is_tried_again(void **state)
{
    struct stage *g = *state;

    g->options.infrastructure_retries = 0; /* as usual */
    server_fail_call(standin_server(g->engine), 1, "POST /containers/*/start", FAIL_STATUS);
    stage_run(g, PLAIN("0") QUICK);
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 2);
    assert_outcome(g, 0, "error", "app start: ");
    assert_outcome(g, 1, "ok", "");
    assert_true(stage_number(g, 1, "/attempt") == 2);
    assert_int_equal(g->summary.executed, 1);
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 1);
    assert_true(stage_said(g, "the environment's fault, not the trial's: trial 1 of '"));
    assert_nothing_left(g);
}

/* Three times; the trial after that once, and so on until the sweep stops. */
static void a_fault_that_stays_costs_little(void **state)
{
    struct stage *g = *state;

    g->options.infrastructure_retries = 0;
    g->options.max_infrastructure_failures = 3;
    standin_behave(g->engine, "app", (struct behaviour){.start_status = 500, .start_error = "no space left"});
    stage_run(g, PLAIN("0") QUICK "axes: {x: [a, b, c, d]}\norder: {mode: listed}\ncooldown: 0ms\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(g->trials.len, 4 + 1 + 1);
    assert_int_equal(count_steps(g, "back-off"), 3);
    assert_has(g->err.message, "3 trials in a row failed for the environment's sake; the sweep stops:");
    assert_has(g->err.message, "\n  trial 1 of 'a': app start: ");
    assert_has(g->err.message, "\n  trial 1 of 'c': app start: ");
    assert_has(g->err.message, "no space left");
    assert_has(g->err.hint, "benchctl resume");
    assert_nothing_left(g);
}

/* What would fail in the same way again is not the engine's fault: `retry` alone counts. */
static void what_is_refused_is_not_tried_again(void **state)
{
    struct stage *g = *state;

    g->options.infrastructure_retries = 0;
    standin_behave(g->engine, "app",
                   (struct behaviour){.start_status = 404, .start_error = "no such runtime"});
    stage_run(g, PLAIN("1") QUICK);
    assert_int_equal(g->trials.len, 2);
    assert_int_equal(count_steps(g, "back-off"), 0);
    assert_outcome(g, 1, "error", "no such runtime");
}

static void a_program_that_is_missing_is_a_finding(void **state)
{
    struct stage *g = *state;

    g->options.infrastructure_retries = 0;
    standin_behave(g->engine, "app",
                   (struct behaviour){.start_status = 400,
                                      .start_error = "exec: \"/nothing\": stat /nothing: no such file"});
    stage_run(g, PLAIN("3") QUICK);
    assert_int_equal(g->trials.len, 1);
    assert_outcome(g, 0, "crashed", "never started");
}

static void an_interruption_ends_the_back_off(void **state)
{
    struct stage *g = *state;

    g->options.infrastructure_retries = 0;
    g->options.back_off_ns = 600 * NS_PER_S;
    server_fail_call(standin_server(g->engine), 1, "POST /containers/*/start", FAIL_STATUS);
    stage_at(g, "back-off", 20, stage_interrupt);
    stage_run(g, PLAIN("0") QUICK);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_nothing_left(g);
}

/* --- the engine goes --- */

static void goes(struct stage *g)
{
    standin_engine_goes(g->engine, true);
}

static void comes(struct stage *g)
{
    standin_engine_comes(g->engine);
}

static void is_restarted(struct stage *g)
{
    goes(g);
    comes(g);
}

static void between_two_trials(void **state)
{
    struct stage *g = *state;

    stage_at(g, "cooldown", 50, goes);
    stage_at(g, "cooldown", 600, comes);
    stage_run(g, PLAIN("0") QUICK "axes: {x: [a, b]}\norder: {mode: listed}\ncooldown: 200ms\n"
                                  "services: {mock: {image: 'mock:1', scope: sweep}}\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 2); /* no attempt was lost to it */
    assert_outcome(g, 1, "ok", "");
    assert_true(stage_said(g, "everything is started afresh"));
    assert_nothing_left(g);
}

/* Nobody missed it, but what stood has ended. */
static void quickly_between_two_trials(void **state)
{
    struct stage *g = *state;

    stage_at(g, "cooldown", 50, is_restarted);
    stage_run(g, PLAIN("0") QUICK "axes: {x: [a, b]}\norder: {mode: listed}\ncooldown: 500ms\n"
                                  "services: {mock: {image: 'mock:1', scope: sweep, restart: always}}\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 2);
    assert_outcome(g, 1, "ok", "");
    assert_int_equal(standin_created(g->engine), 4);
    assert_true(stage_number(g, 1, "/services/mock/restarts") == 0);
    assert_nothing_left(g);
}

static void for_good_in_a_trial(void **state)
{
    struct stage *g = *state;

    g->options.infrastructure_retries = 0;
    g->options.engine_patience_ns = 700 * NS_PER_MS;
    stage_at_nth(g, "load", 2, 50, goes);
    stage_run(
        g, PLAIN("1") "load: {adapter: idle, duration: 300ms}\naxes: {x: [a, b, c]}\norder: {mode: listed}\n"
                      "cooldown: 0ms\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message,
               "trial 1 of 'b': the engine went away during the trial, and was not back after");
    assert_has(g->err.message, "the sweep stops");
    assert_has(g->err.hint, "benchctl resume");
    assert_int_equal(g->trials.len, 2); /* what was measured is kept, nothing is made again in vain */
    assert_outcome(g, 0, "ok", "");
    assert_outcome(g, 1, "error", "");
}

static void for_good_between_trials(void **state)
{
    struct stage *g = *state;

    g->options.engine_patience_ns = 700 * NS_PER_MS;
    stage_at(g, "cooldown", 20, goes);
    stage_run(g, PLAIN("0") QUICK "axes: {x: [a, b, c]}\norder: {mode: listed}\ncooldown: 100ms\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "the engine went away between two trials");
    assert_int_equal(g->trials.len, 1);
}

/* --- what cannot be removed --- */

static void left_behind(struct stage *g, struct behaviour b)
{
    g->options.removal_patience_ns = 300 * NS_PER_MS;
    standin_behave(g->engine, "app", b);
    int64_t begin_ns = clock_now_ns();
    stage_run(g, PLAIN("0") QUICK "axes: {x: [a, b, c]}\norder: {mode: listed}\ncooldown: 0ms\n");
    assert_true(clock_now_ns() - begin_ns < 60 * NS_PER_S);
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 3);
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 3);
    assert_true(stage_said(g, "container 'app' of trial 1 of 'a'"));
    assert_true(stage_said(g, "is left behind"));
    assert_null(stage_text(g, 0, "/notes/0"));
    assert_has(stage_text(g, 1, "/notes/0"), "may be running beside this trial");
    assert_true(stage_said(g, "may be left: 'benchctl-0123456789ab-")); /* at the end */
}

static void a_removal_that_is_under_way_for_ever(void **state)
{
    left_behind(*state, (struct behaviour){.remove_status = 409,
                                           .remove_error = "removal of container x is already in progress"});
}

static void a_removal_that_fails(void **state)
{
    left_behind(*state,
                (struct behaviour){.remove_status = 500, .remove_error = "driver failed to remove: busy"});
}

/* The next one has another name, and another network. */
static void what_is_left_is_in_nobodys_way(void **state)
{
    struct stage *g = *state;

    left_behind(g, (struct behaviour){.remove_status = 500, .remove_error = "busy"});
    CLEANUP_FREE char *calls = standin_calls(g->engine, "inspect list log stats");
    const char *at = strstr(calls, "create network");
    assert_non_null(at);
    assert_non_null(strstr(at + 1, "create network"));
}

/* --- somebody's doing --- */

static void lose_networks(struct stage *g)
{
    standin_lose_networks(g->engine);
}

static void a_network_that_somebody_removed(void **state)
{
    struct stage *g = *state;

    stage_at(g, "cooldown", 0, lose_networks);
    stage_run(g, PLAIN("1") QUICK "axes: {x: [a, b]}\norder: {mode: listed}\ncooldown: 30ms\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 3);
    assert_outcome(g, 1, "error", "network not found");
    assert_outcome(g, 2, "ok", "");
    assert_nothing_left(g);
}

static void pause_app(struct stage *g)
{
    assert_true(standin_pause(g->engine, "app"));
}

static void somebody_pauses_it(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 50, pause_app);
    stage_run(g, PLAIN("0") "load: {adapter: idle, duration: 200ms}\n");
    assert_outcome(g, 0, "invalid", "somebody else touched 'app' during the trial: pause");
    assert_nothing_left(g);
}

static void unheard(struct stage *g)
{
    standin_silent_events(g->engine, true);
    pause_app(g);
}

static void it_is_found_paused(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 50, unheard);
    stage_run(g, PLAIN("0") "load: {adapter: idle, duration: 200ms}\n");
    assert_outcome(g, 0, "invalid", "somebody else touched 'app' during the trial: it is paused");
}

/* A stranger takes the port between choosing and starting. */
static int stranger = -1;

static void take_port(struct stage *g)
{
    const struct json *env = json_get(standin_request(g->engine, 0), "Env");
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int port = 0;

    for (size_t i = 0; i < json_len(env); i++)
        (void)sscanf(json_text(json_at(env, i)), "PORT=%d", &port);
    assert_true(port > 0);
    a.sin_port = htons((uint16_t)port);
    stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stranger, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(stranger, 1), 0);
    assert_true(standin_die(g->engine, "app", 1, false));
}

static void a_port_that_a_stranger_took(void **state)
{
    struct stage *g = *state;

    g->options.infrastructure_retries = 0;
    stage_at(g, "ready", 0, take_port);
    stage_run(
        g, "benchctl: 1\nname: wire\nnetwork: host\ntrials: 1\nretry: 0\napp: {image: 'app:1', port: 8080, "
           "ready: {log: up, timeout: 300ms}, env: {PORT: '${app.port}'}}\n" QUICK);
    (void)close(stranger);
    assert_outcome(g, 0, "error", "which was free, is held by somebody else");
    assert_true(g->trials.len > 1);
    const struct json *first = json_get(standin_request(g->engine, 0), "Env");
    const struct json *second = json_get(standin_request(g->engine, 1), "Env");
    assert_string_not_equal(json_text(json_at(first, 0)), json_text(json_at(second, 0)));
}

/* --- streams that are silent --- */

static void deaf_and_dies(struct stage *g)
{
    standin_deaf_events(g->engine, true);
    assert_true(standin_die(g->engine, "app", 3, false));
}

static void deaf_and_touched(struct stage *g)
{
    standin_deaf_events(g->engine, true);
    assert_true(standin_restart_by_hand(g->engine, "app"));
}

/* Both are in the record as if they had been heard. */
static void a_death_that_the_stream_did_not_tell(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 50, deaf_and_dies);
    stage_run(g, PLAIN("0") LONG);
    assert_outcome(g, 0, "crashed", "exit 3");
    assert_has(stage_text(g, 0, "/notes/0"),
               "had gone silent: 1 event of the trial came only when asked for");
    assert_true(stage_number(g, 0, "/app/witnesses/die_events") == 1);
    assert_nothing_left(g);
}

static void interference_that_the_stream_did_not_tell(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 50, deaf_and_touched);
    stage_run(g, PLAIN("0") LONG);
    assert_outcome(g, 0, "invalid", "somebody else touched 'app'");
}

/* Nothing is asked of the engine while the load runs, and once after it. */
static void a_quiet_stream_is_asked_about_once(void **state)
{
    struct stage *g = *state;

    stage_run(g, PLAIN("0") LONG);
    assert_outcome(g, 0, "ok", "");
    assert_int_equal(server_count(standin_server(g->engine), "GET /events?*until=*"), 1);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/notes")), 0);
}

/* --- the next trial begins like a first one --- */

/* From the n-th trial's first call on until everything is there; without what waits for the trial before. */
static char *calls_from(struct stage *g, const char *begin, int nth)
{
    CLEANUP_FREE char *all = standin_calls(g->engine, "list tail ask gone");
    const char *at = all, *from = NULL;

    for (int i = 0; i < nth; i++) {
        from = strstr(at, begin);
        if (!from)
            fail_msg("no %d. '%s' in:\n%s", nth, begin, all);
        at = from + 1;
    }
    const char *end = strstr(from, "stats app\n");
    assert_non_null(end);
    return xstrndup(from, (size_t)(end - from));
}

static void begins_like_a_first_one(struct stage *g, const char *step, void (*what)(struct stage *g))
{
    stage_at(g, step, 10, what);
    stage_run(g,
              PLAIN("0") "load: {adapter: idle, duration: 300ms}\n" TWO
                         "services:\n  mock: {image: 'mock:1', scope: sweep}\n  side: {image: 'mock:1'}\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 2);
    assert_string_equal(stage_text(g, 0, "/outcome"), "error");
    assert_outcome(g, 1, "ok", "");
    CLEANUP_FREE char *second = calls_from(g, "create network", 2);
    assert_lines(calls_from(g, "create network", 1), second);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 1), "/notes")), 0);
    assert_nothing_left(g);
}

static void mock_dies(struct stage *g)
{
    assert_true(standin_die(g->engine, "mock", 1, false));
}

static void app_is_removed(struct stage *g)
{
    assert_true(standin_remove(g->engine, "app"));
}

static void after_a_service_died(void **state)
{
    begins_like_a_first_one(*state, "load", mock_dies);
}

static void after_a_restart_of_the_engine(void **state)
{
    begins_like_a_first_one(*state, "load", is_restarted);
}

static void after_the_app_vanished(void **state)
{
    begins_like_a_first_one(*state, "load", app_is_removed);
}

/* Before it has ever had an address: whoever answers at this machine's own port is somebody else. */
static void off_the_network_before_it_is_ready(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.address = ""});
    stage_run(g, APP_OF(", port: 8080, ready: {tcp: true, timeout: 20s}") QUICK);
    assert_outcome(g, 0, "invalid", "somebody else took 'app' off the sweep's network");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(a_fault_of_the_engine_is_tried_again),
        STAGE_TEST(a_fault_that_stays_costs_little),
        STAGE_TEST(what_is_refused_is_not_tried_again),
        STAGE_TEST(a_program_that_is_missing_is_a_finding),
        STAGE_TEST(an_interruption_ends_the_back_off),
        STAGE_TEST(between_two_trials),
        STAGE_TEST(quickly_between_two_trials),
        STAGE_TEST(for_good_in_a_trial),
        STAGE_TEST(for_good_between_trials),
        STAGE_TEST(a_removal_that_is_under_way_for_ever),
        STAGE_TEST(a_removal_that_fails),
        STAGE_TEST(what_is_left_is_in_nobodys_way),
        STAGE_TEST(a_network_that_somebody_removed),
        STAGE_TEST(somebody_pauses_it),
        STAGE_TEST(it_is_found_paused),
        STAGE_TEST(a_port_that_a_stranger_took),
        STAGE_TEST(a_death_that_the_stream_did_not_tell),
        STAGE_TEST(interference_that_the_stream_did_not_tell),
        STAGE_TEST(a_quiet_stream_is_asked_about_once),
        STAGE_TEST(after_a_service_died),
        STAGE_TEST(after_a_restart_of_the_engine),
        STAGE_TEST(after_the_app_vanished),
        STAGE_TEST(off_the_network_before_it_is_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* One trial that goes well: what is asked of the engine, in which order, and what is recorded. */
#include "stage.h"

#include <stdio.h>
#include "benchctl/engine.h"

#define WITHOUT_LOOKING "inspect log stats list"

static const char *label(const struct json *request, const char *key)
{
    return json_get_text(json_get(request, "Labels"), key);
}

static const char *at(const struct json *request, const char *pointer)
{
    const char *text = json_text(json_pointer(request, pointer));

    return text ? text : "";
}

/* --- calls --- */

static void the_calls_of_a_trial_in_order(void **state)
{
    struct stage *g = *state;

    stage_run(g, SMALL);
    assert_outcome(g, 0, "ok", "no requests are part of this load");
    assert_lines(standin_calls(g->engine, ""),
                 "list containers\n" /* what a dead run of this directory left */
                 "list networks\n"
                 "inspect image app:1\n"
                 "create network\n"
                 "create app\n"
                 "start app\n"
                 "inspect app\n" /* what it is, and its address */
                 "stats app\n"
                 "inspect app\n" /* the start's event */
                 "inspect app\n" /* the end of the window */
                 "log app\n"
                 "remove app\n"
                 "GET of what has gone\n"
                 "remove network\n"
                 "list containers\n" /* nothing of this run is left */
                 "list networks\n");
    assert_nothing_left(g);
}

static void the_steps_in_order(void **state)
{
    struct stage *g = *state;
    struct strbuf steps = STRBUF_INIT;

    stage_run(g, SMALL "cooldown: 5ms\n");
    vec_each (s, &g->steps)
        strbuf_addf(&steps, "%s\n", *s);
    assert_lines(strbuf_detach(&steps),
                 "engine\nimages\nbegin\ndatabase\nservices\napp start\nready\nsampling\n"
                 "ports\nload\ncollect\nchecks\nsealed\ntear-down\n");
    for (size_t i = 0; i < 10; i++) {
        char pointer[64];
        (void)snprintf(pointer, sizeof(pointer), "/steps/%zu/duration_ms", i);
        assert_true(stage_number(g, 0, pointer) >= 0);
    }
    assert_string_equal(stage_text(g, 0, "/steps/7/name"), "load");
    assert_true(stage_number(g, 0, "/steps/7/duration_ms") >= 55);
}

/* Services start in order, before the app, and are gone before the next trial's app begins. */
static void services_come_first_and_go_last(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "mock", (struct behaviour){.log = "now listening on 9090"});
    stage_run(g, APP_OF("") IDLE "services:\n  mock: {image: 'mock:1', ready: {log: 'listening on [0-9]+'}}\n"
                                 "  side: {image: 'side:1'}\n");
    assert_outcome(g, 0, "ok", "");
    assert_lines(
        standin_calls(g->engine, WITHOUT_LOOKING),
        "create network\ncreate mock\nstart mock\nfollow mock\ncreate side\nstart side\ncreate app\n"
        "start app\nremove app\nremove side\nremove mock\nGET of what has gone\nGET of what has gone\n"
        "GET of what has gone\nremove network\n");
    assert_non_null(json_pointer(stage_trial(g, 0), "/services/mock/container_id"));
    assert_non_null(json_pointer(stage_trial(g, 0), "/services/side/container_id"));
}

/* --- what is created --- */

static void everything_carries_labels(void **state)
{
    struct stage *g = *state;
    char owner[ENGINE_OWNER_SIZE];

    stage_run(g,
              APP_OF("") IDLE "axes: {size: [small]}\nservices: {mock: {image: 'mock:1', scope: sweep}}\n");
    assert_outcome(g, 0, "ok", "");
    for (size_t i = 0; i < 2; i++) {
        const struct json *r = standin_request(g->engine, i);
        assert_string_equal(label(r, LABEL_RUN), RUN_ID);
        assert_string_equal(label(r, LABEL_OWNER), engine_owner_label(owner));
        assert_string_equal(label(r, LABEL_DIR), g->dir);
        assert_string_equal(label(r, LABEL_ROLE), i ? "app" : "mock");
    }
    assert_null(label(standin_request(g->engine, 0), LABEL_TRIAL)); /* it belongs to the sweep */
    assert_string_equal(label(standin_request(g->engine, 1), LABEL_SCENARIO), "small");
    assert_string_equal(label(standin_request(g->engine, 1), LABEL_TRIAL), "1");
    const struct seen *network = server_last(standin_server(g->engine), "POST /networks/create");
    assert_has(network->body, "\"" LABEL_RUN "\":\"" RUN_ID "\"");
    assert_has(network->body, "\"" LABEL_ROLE "\":\"network\"");
    assert_has(network->body, "\"Name\":\"benchctl-0123456789ab\"");
}

static void limits_are_sent_as_written(void **state)
{
    struct stage *g = *state;

    stage_run(g,
              APP_OF(", memory: 64m, cpus: 1.5, cpuset: '0-1', pids: 99, restart: 'on-failure:3', user: '7', "
                     "env: {A: 'x ${app.host}', B: '$${no}'}, command: [run, '${app.host}']") IDLE);
    const struct json *r = standin_request(g->engine, 0), *host = json_get(r, "HostConfig");
    assert_outcome(g, 0, "ok", "");
    assert_int_equal(json_get_int(host, "Memory"), 64 << 20);
    assert_int_equal(json_get_int(host, "MemorySwap"), 64 << 20); /* no swap beyond */
    assert_int_equal(json_get_int(host, "NanoCpus"), 1500000000);
    assert_int_equal(json_get_int(host, "PidsLimit"), 99);
    assert_string_equal(at(host, "/CpusetCpus"), "0-1");
    assert_string_equal(at(host, "/RestartPolicy/Name"), "on-failure");
    assert_int_equal(json_get_int(json_get(host, "RestartPolicy"), "MaximumRetryCount"), 3);
    assert_string_equal(at(r, "/User"), "7");
    assert_string_equal(at(r, "/Env/0"), "A=x app");
    assert_string_equal(at(r, "/Env/1"), "B=${no}");
    assert_string_equal(at(r, "/Cmd/1"), "app");
    assert_string_equal(at(r, "/Image"), "sha256:of-app:1"); /* the id, not the tag */
    assert_true(stage_number(g, 0, "/app/effective/memory_bytes") == 64 << 20);
    assert_true(stage_number(g, 0, "/app/memory_bytes/limit") == 64 << 20);
    assert_true(stage_number(g, 0, "/app/effective/cpus") == 1.5);
}

static void without_limits_none_are_sent(void **state)
{
    struct stage *g = *state;

    stage_run(g, SMALL);
    const struct json *host = json_get(standin_request(g->engine, 0), "HostConfig");
    assert_null(json_get(host, "Memory"));
    assert_null(json_get(host, "NanoCpus"));
    assert_null(json_get(host, "PidsLimit"));
    assert_string_equal(at(host, "/RestartPolicy/Name"), "no");
}

/* A limit that the engine does not apply makes the numbers worthless. */
static void a_limit_that_is_not_applied_is_invalid(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.memory_bytes = 128 << 20});
    stage_run(g, APP_OF(", memory: 64m") IDLE);
    assert_outcome(g, 0, "invalid", "'app' was to have 64m of memory, the engine applied 128 MiB");
    assert_string_equal(stage_verdict(g, 0, "limits-real"), "FAIL");
}

/* --- networks --- */

static void one_network_for_all_trials(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") IDLE "axes: {x: [a, b, c]}\n");
    assert_int_equal(g->trials.len, 3);
    assert_int_equal(server_count(standin_server(g->engine), "POST /networks/create"), 1);
    assert_int_equal(server_count(standin_server(g->engine), "DELETE /networks/*"), 1);
    assert_int_equal(standin_most_at_once(g->engine, "app"), 1);
    assert_has(at(standin_request(g->engine, 2), "/HostConfig/NetworkMode"), "feed");
    assert_nothing_left(g);
}

/* On the host's network there is none to make, and ports are given out. */
static void the_hosts_network(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.log = "up"});
    stage_run(g, "benchctl: 1\nname: wire\nnetwork: host\ntrials: 1\n"
                 "app: {image: 'app:1', port: 8080, env: {PORT: '${app.port}', URL: '${app.url}'}, "
                 "ready: {log: up}}\n" IDLE);
    assert_outcome(g, 0, "ok", "");
    const struct json *r = standin_request(g->engine, 0);
    int port = 0;
    assert_int_equal(sscanf(at(r, "/Env/0"), "PORT=%d", &port), 1);
    assert_true(port > 0 && port != 8080);
    CLEANUP_FREE char *url = xasprintf("URL=http://127.0.0.1:%d", port);
    assert_string_equal(at(r, "/Env/1"), url);
    assert_string_equal(at(r, "/HostConfig/NetworkMode"), "host");
    assert_null(json_get(r, "NetworkingConfig"));
    assert_int_equal(server_count(standin_server(g->engine), "* /networks/create"), 0);
}

/* --- readiness --- */

static void ready_by_log_line(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.log = "server listening on 8080 after 12 ms"});
    stage_run(g, APP_OF(", startup: {log: 'after [0-9]+ ms'}, ready: {log: 'listening on [0-9]+'}") IDLE
              "axes: {x: [a]}\n");
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_number(g, 0, "/ready_ms") >= 0);
    assert_true(stage_number(g, 0, "/startup_ms") >= 0);
    CLEANUP_FREE char *log = stage_file(g, "trials/a/1/logs/app.stdout.log");
    assert_non_null(log);
    assert_string_equal(log, "server listening on 8080 after 12 ms\n");
}

static void say_it(struct stage *g)
{
    assert_true(standin_log(g->engine, "app", "at last: listening"));
}

static void the_line_may_come_later(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.log = "starting"});
    stage_at(g, "ready", 80, say_it);
    stage_run(g, APP_OF(", ready: {log: listening}") IDLE);
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_number(g, 0, "/ready_ms") >= 75);
    assert_true(isnan(stage_number(g, 0, "/startup_ms"))); /* not asked for, not 0 */
}

/* The startup line never comes: that time stays unknown, and a note says why. */
static void no_startup_line(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF(", startup: {log: 'never said'}") IDLE);
    assert_outcome(g, 0, "ok", "");
    assert_true(isnan(stage_number(g, 0, "/startup_ms")));
    assert_has(stage_text(g, 0, "/notes/0"), "no line of the log matched 'never said'");
}

static void become_healthy(struct stage *g)
{
    assert_true(standin_health(g->engine, "app", "healthy"));
}

static void ready_by_health_check(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.unhealthy = true});
    stage_at(g, "ready", 60, become_healthy);
    stage_run(g, APP_OF(", ready: {healthcheck: true}") IDLE);
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_number(g, 0, "/ready_ms") >= 55);
    assert_in_range(server_count(standin_server(g->engine), "GET /containers/*/json"), 3,
                    12); /* not by polling */
}

static void a_health_check_that_is_not_there(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF(", ready: {healthcheck: true}") IDLE);
    assert_outcome(g, 0, "error", "the image of 'app' has no health check; use http, tcp or log");
}

static void ready_by_answer(void **state)
{
    struct stage *g = *state;
    static const struct expect script[] = {
        {"GET /health", .reply = {.status = 503}},
        {"GET /health", .reply = {.status = 503, .delay_ms = 20}},
        {"GET /health", .reply = {.status = 204}},
    };
    struct server *app = server_start(
        &(struct server_options){.script = script, .script_len = ARRAY_LEN(script), .tcp = true});
    CLEANUP_FREE char *text =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'app:1', port: %d, ready: "
                  "{http: /health, status: 204}}\n" IDLE,
                  server_port(app));

    stage_run(g, text);
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_number(g, 0, "/ready_ms") >= 20);
    server_finish(app);
}

/* Three good answers in a row: a bad one in between begins anew. */
static void several_answers_in_a_row(void **state)
{
    struct stage *g = *state;
    static const struct expect script[] = {
        {"GET /", .reply = {.status = 200}}, {"GET /", .reply = {.status = 200}},
        {"GET /", .reply = {.status = 500}}, {"GET /", .reply = {.status = 200}},
        {"GET /", .reply = {.status = 200}}, {"GET /", .reply = {.status = 200}},
    };
    struct server *app = server_start(
        &(struct server_options){.script = script, .script_len = ARRAY_LEN(script), .tcp = true});
    CLEANUP_FREE char *text =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'app:1', port: %d, ready: "
                  "{http: /, consecutive: 3}}\n" IDLE,
                  server_port(app));

    stage_run(g, text);
    assert_outcome(g, 0, "ok", "");
    server_finish(app);
}

static void an_open_port_is_ready(void **state)
{
    struct stage *g = *state;
    static const struct rule none[] = {{"*", .reply = {.status = 500}}};
    struct server *app = server_start(&(struct server_options){.rules = none, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *text = xasprintf(
        "benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'app:1', port: %d}\n" IDLE, server_port(app));

    stage_run(g, text); /* without `ready`: the port */
    assert_outcome(g, 0, "ok", "");
    assert_int_equal(server_calls(app), 0); /* nothing was asked of it */
    server_finish(app);
}

/* --- the record --- */

static void the_record_says_where_and_what(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") "axes: {size: [big], colour: [red]}\n" IDLE);
    assert_string_equal(stage_text(g, 0, "/scenario"), "big/red");
    assert_string_equal(stage_text(g, 0, "/axes/size"), "big");
    assert_string_equal(stage_text(g, 0, "/axes/colour"), "red");
    assert_true(stage_number(g, 0, "/trial") == 1);
    assert_true(stage_number(g, 0, "/attempt") == 1);
    assert_int_equal(strlen(stage_text(g, 0, "/digest")), 64);
    assert_string_equal(stage_text(g, 0, "/app/address"), "127.0.0.1");
    assert_string_equal(stage_text(g, 0, "/app/effective/image_id"), "sha256:of-app:1");
    assert_true(stage_number(g, 0, "/app/restarts") == 0);
    assert_true(stage_number(g, 0, "/app/oom_kills") == 0);
    assert_true(stage_number(g, 0, "/app/uptime_pct") == 100);
    assert_true(isnan(stage_number(g, 0, "/load/requests"))); /* idle measures nothing: not 0 */
    assert_true(stage_number(g, 0, "/load/window_ms") >= 55);
    double duration = stage_number(g, 0, "/duration_ms"), overhead = stage_number(g, 0, "/overhead_ms");
    assert_true(overhead > 0 && overhead <= duration - 55);
    CLEANUP_FREE char *events = stage_file(g, "trials/big/red/1/events.ndjson");
    assert_has(events, "\"event\":\"load begin\"");
    assert_has(events, "\"event\":\"start\"");
}

static void the_sweep_says_on_what(void **state)
{
    struct stage *g = *state;

    stage_run(g, SMALL);
    assert_non_null(g->info);
    assert_string_equal(json_get_text(g->info, "run_id"), RUN_ID);
    assert_string_equal(at(g->info, "/engine/version"), "20.10.24");
    assert_string_equal(at(g->info, "/images/0/reference"), "app:1");
    assert_string_equal(at(g->info, "/images/0/id"), "sha256:of-app:1");
    assert_string_equal(at(g->info, "/generators/0/name"), "idle");
    assert_true(json_get_bool(g->info, "complete"));
    assert_true(at(g->info, "/finished_at")[0] != '\0');
}

static void expectations_gate_the_trial(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF("") IDLE "expect: ['app.restarts == 0', 'app.oom_kills > 5', 'load.ok > 1']\n");
    assert_outcome(g, 0, "degraded", "expected 'app.oom_kills > 5', but it is 0");
    assert_true(json_get_bool(json_pointer(stage_trial(g, 0), "/checks/0"), "passed"));
    assert_has(stage_text(g, 0, "/checks/2/message"), "'load.ok' was not measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(the_calls_of_a_trial_in_order),
        STAGE_TEST(the_steps_in_order),
        STAGE_TEST(services_come_first_and_go_last),
        STAGE_TEST(everything_carries_labels),
        STAGE_TEST(limits_are_sent_as_written),
        STAGE_TEST(without_limits_none_are_sent),
        STAGE_TEST(a_limit_that_is_not_applied_is_invalid),
        STAGE_TEST(one_network_for_all_trials),
        STAGE_TEST(the_hosts_network),
        STAGE_TEST(ready_by_log_line),
        STAGE_TEST(the_line_may_come_later),
        STAGE_TEST(no_startup_line),
        STAGE_TEST(ready_by_health_check),
        STAGE_TEST(a_health_check_that_is_not_there),
        STAGE_TEST(ready_by_answer),
        STAGE_TEST(several_answers_in_a_row),
        STAGE_TEST(an_open_port_is_ready),
        STAGE_TEST(the_record_says_where_and_what),
        STAGE_TEST(the_sweep_says_on_what),
        STAGE_TEST(expectations_gate_the_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Applications that stop to answer, are slow, come back, or say in their logs what is wrong with them. */
#include "programs.h"

#define HUNG_MS 600000

/* An application by the time since its first answer: from `hangs_ms` on until `back_ms` it answers nothing.
 */
struct patient {
    int hangs_ms, back_ms; /* back_ms 0: never */
    int status;            /* 0: 200 */
    int64_t first_ns;
    struct rule rule;
    struct server *server;
};

static void answer(struct server *s, const struct seen *request, struct reply *ret, void *data)
{
    struct patient *p = data;
    int64_t now_ns = clock_now_ns();

    (void)s;
    (void)request;
    if (!p->first_ns)
        p->first_ns = now_ns;
    int64_t ms = (now_ns - p->first_ns) / NS_PER_MS;
    *ret =
        (struct reply){.status = ms > 0 && p->status ? p->status : 200, .type = "text/plain", .body = "ok"};
    if (p->hangs_ms && ms >= p->hangs_ms && (!p->back_ms || ms < p->back_ms))
        ret->delay_ms = HUNG_MS;
}

/* `app` are further keys of the app, `load` the matrix' section. */
static void run_patient(struct stage *g, struct patient *p, const char *app, const char *load)
{
    p->rule = (struct rule){.request = "*", .make = answer, .data = p};
    p->server = server_start(&(struct server_options){.rules = &p->rule, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *matrix = xasprintf("benchctl: 1\nname: wire\ntrials: 1\nretry: 0\naxes: {x: [one]}\n"
                                          "app: {image: 'app:1', memory: 64m, port: %d%s}\n%s",
                                          server_port(p->server), app, load);
    CLEANUP_FREE char *adapters = path_join(g->dir, "adapters");

    (void)setenv("BENCHCTL_ADAPTERS", adapters, 1);
    stage_run(g, matrix);
    (void)unsetenv("BENCHCTL_ADAPTERS");
    assert_int_equal(g->rc, 0);
    assert_nothing_left(g);
}

static size_t events(struct stage *g, const char *name)
{
    CLEANUP_FREE char *text = stage_file(g, "trials/one/1/events.ndjson");
    CLEANUP_FREE char *wanted = xasprintf("\"event\":\"%s\",\"role\":\"app\"", name);
    size_t n = 0;

    assert_non_null(text);
    for (const char *p = text; (p = strstr(p, wanted)); p++)
        n++;
    return n;
}

/* The one finding of that id; NULL: there is none. */
static const struct json *finding(struct stage *g, const char *id)
{
    const struct json *all = json_pointer(stage_trial(g, 0), "/findings"), *found = NULL;

    for (size_t i = 0; i < json_len(all); i++) {
        if (strcmp(json_get_text(json_at(all, i), "id"), id) != 0)
            continue;
        assert_null(found);
        found = json_at(all, i);
    }
    return found;
}

#define HTTP(after, give_up) ", ready: {http: /health}, liveness: {after: " #after ", give_up: " #give_up "}"
#define IDLE_FOR(time) "load: {adapter: idle, duration: " #time "}\n"

/* --- silence --- */

/* Nothing but probes could tell: it is told, and the load goes on to its end. */
static void it_hangs(void **state)
{
    struct stage *g = *state;
    struct patient p = {.hangs_ms = 300};

    run_patient(g, &p, HTTP(500ms, 800ms), IDLE_FOR(2500ms));
    assert_int_equal(events(g, "unresponsive"), 1);
    assert_int_equal(events(g, "responsive"), 0);
    assert_int_equal(events(g, "given up"), 0);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/unresponsive")), 1);
    double from = stage_number(g, 0, "/app/unresponsive/0/from_ms");
    assert_true(from >= 0 && from < 1500);
    assert_true(isnan(stage_number(g, 0, "/app/unresponsive/0/to_ms")));
    double silent = stage_number(g, 0, "/app/unresponsive_ms");
    assert_true(silent >= 500 && silent <= 2500);
    assert_true(stage_number(g, 0, "/app/time_to_failure_ms") > 0);
    const struct json *f = finding(g, "unresponsive");
    assert_non_null(f);
    assert_true(json_get_number(f, "at_ms") == from);
    assert_has(json_get_text(f, "message"), "alive, but unresponsive for ");
    assert_has(json_get_text(f, "message"), "by probes alone");
    server_finish(p.server);
}

/* Asked at its port it takes the connection, as a kernel does for anybody, and says nothing. */
static void it_hangs_behind_an_open_port(void **state)
{
    struct stage *g = *state;
    struct patient p = {.hangs_ms = 300};

    put_program(g, "sleep 2.5");
    put_adapter(g, "builtin");
    run_patient(g, &p, ", ready: {tcp: true}, liveness: {after: 500ms, give_up: 0}",
                "load: {adapter: builtin, duration: 2s}\n");
    assert_true(server_count(p.server, "OPTIONS \\*") + server_count(p.server, "OPTIONS *") > 0);
    assert_int_equal(events(g, "unresponsive"), 1);
    server_finish(p.server);
}

static void it_comes_back(void **state)
{
    struct stage *g = *state;
    struct patient p = {.hangs_ms = 300, .back_ms = 1300};

    run_patient(g, &p, HTTP(500ms, 0), IDLE_FOR(3500ms));
    assert_int_equal(events(g, "unresponsive"), 1);
    assert_int_equal(events(g, "responsive"), 1);
    double from = stage_number(g, 0, "/app/unresponsive/0/from_ms"),
           to = stage_number(g, 0, "/app/unresponsive/0/to_ms");
    assert_true(to - from >= 500);
    assert_true(fabs(stage_number(g, 0, "/app/unresponsive_ms") - (to - from)) < 0.01);
    server_finish(p.server);
}

#define ROWS(ok)                                                                                             \
    "{ echo at_ms,vus,planned,started,requests,ok,failed,received_bytes; for i in 1 2 3 4 5 6 7 8; do\n"     \
    "echo ${i}000,1,0,9,9," ok "; sleep 1; done; } >$out/series.csv"

/* The generator's own seconds say so too: then there is nothing left to wait for. */
static void the_load_is_ended(void **state)
{
    struct stage *g = *state;
    struct patient p = {.hangs_ms = 200};
    int64_t begin_ns = clock_now_ns();

    put_program(g, ROWS("0,9,0"));
    put_adapter(g, "builtin");
    run_patient(g, &p, HTTP(1s, 2s), "load: {adapter: builtin, duration: 60s}\n");
    assert_true(clock_now_ns() - begin_ns < 30 * NS_PER_S);
    assert_int_equal(events(g, "given up"), 1);
    assert_has(json_get_text(finding(g, "unresponsive"), "message"), "; the load was ended");
    assert_has(stage_text(g, 0, "/reason"), "unresponsive");
    assert_int_equal(json_type_of(json_pointer(stage_trial(g, 0), "/load")), JSON_TYPE_NULL);
    server_finish(p.server);
}

/* No probe is ever answered, for all connections are taken; but requests are. */
static void saturated_is_not_silent(void **state)
{
    struct stage *g = *state;
    struct patient p = {.hangs_ms = 1};

    put_program(g, ROWS("9,0,900"));
    put_adapter(g, "builtin");
    run_patient(g, &p, HTTP(5s, 5s), "load: {adapter: builtin, duration: 60s}\n");
    assert_int_equal(events(g, "unresponsive"), 0);
    assert_null(finding(g, "unresponsive"));
    assert_true(stage_number(g, 0, "/app/unresponsive_ms") == 0);
    assert_true(isnan(stage_number(g, 0, "/app/time_to_failure_ms")));
    server_finish(p.server);
}

/* The page that the probe asks for is answered, and nothing else. */
static void alive_and_answering_nothing_else(void **state)
{
    struct stage *g = *state;
    struct patient p = {0};

    put_program(g, ROWS("0,9,0"));
    put_adapter(g, "builtin");
    run_patient(g, &p, HTTP(3s, 0), "load: {adapter: builtin, duration: 60s}\n");
    assert_int_equal(events(g, "unresponsive"), 0);
    const struct json *f = finding(g, "unserving");
    assert_non_null(f);
    assert_true(json_get_number(f, "at_ms") == 0);
    assert_has(
        json_get_text(f, "message"),
        "no request was answered from 0.0 s of the load on for 8.0 s, though the application was alive: "
        "72 failed; the probe asks for '/health'");
    server_finish(p.server);
}

/* The same by a stream: every line of it is told at once. */
static void a_stream_tells_of_requests(void **state)
{
    struct stage *g = *state;
    struct patient p = {.hangs_ms = 1};
    CLEANUP_FREE char *path = xstrdup(getenv("PATH")), *program = path_join(g->dir, "k6"),
                      *mine = xasprintf("%s:%s", g->dir, path),
                      *load = xasprintf("load: {adapter: k6, script: %s/k6, duration: 6s, vus: 1}\n", g->dir);

    put(g, "k6",
        "#!/bin/sh\n[ \"$1\" = version ] && { echo k6 v1.0.0; exit 0; }\n"
        "for a; do case $a in --out=json=*) stream=${a#--out=json=};; esac; done\n"
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do\n"
        "echo '{\"type\":\"Point\",\"metric\":\"http_reqs\",\"data\":{\"time\":\"'$(date -u "
        "+%FT%T.%3NZ)'\",\"value\":1,\"tags\":{\"status\":\"200\"}}}'; sleep 0.5; done >\"$stream\"\n");
    assert_int_equal(chmod(program, 0755), 0);
    (void)setenv("PATH", mine, 1);
    run_patient(g, &p, HTTP(4s, 4s), load);
    (void)setenv("PATH", path, 1);
    assert_int_equal(events(g, "unresponsive"), 0);
    double served = stage_number(g, 0, "/app/lives/0/requests");
    assert_true(served >= 11 && served <= 12);
    server_finish(p.server);
}

/* It refuses everything, but it does so itself. */
static void any_status_is_a_sign_of_life(void **state)
{
    struct stage *g = *state;
    struct patient p = {.status = 503};

    run_patient(g, &p, HTTP(1s, 1s), IDLE_FOR(3s));
    assert_int_equal(events(g, "unresponsive"), 0);
    assert_true(server_calls(p.server) >= 3);
    server_finish(p.server);
}

static void asked_elsewhere(void **state)
{
    struct stage *g = *state;
    struct patient p = {0};

    run_patient(g, &p, ", ready: {http: /health}, liveness: {http: /live}", IDLE_FOR(2500ms));
    assert_int_equal(server_count(p.server, "GET /health"), 1);
    assert_in_range(server_count(p.server, "GET /live"), 1, 3);
    server_finish(p.server);
}

static void turned_off(void **state)
{
    struct stage *g = *state;
    struct patient p = {.hangs_ms = 1};

    run_patient(g, &p, HTTP(0, 0), IDLE_FOR(1500ms));
    assert_int_equal(server_calls(p.server), 1);
    assert_int_equal(events(g, "unresponsive"), 0);
    assert_true(isnan(stage_number(g, 0, "/app/unresponsive_ms")));
    server_finish(p.server);
}

/* --- down, and up again --- */

static void die(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 1, false));
}

static void down_is_not_silent(void **state)
{
    struct stage *g = *state;
    struct patient p = {0};

    stage_at(g, "load", 300, die);
    run_patient(g, &p, ", restart: always" HTTP(3s, 0), IDLE_FOR(2s));
    assert_int_equal(events(g, "unresponsive"), 0);
    assert_int_equal(events(g, "ready"), 2);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/lives")), 2);
    double start = stage_number(g, 0, "/app/lives/1/start_ms"),
           ready = stage_number(g, 0, "/app/lives/1/ready_ms");
    assert_true(start > 0 && ready >= start && ready < 2000);
    server_finish(p.server);
}

/* Up again, but its health says no: not ready, and not silent either. */
static void up_and_not_ready(void **state)
{
    struct stage *g = *state;
    struct patient p = {.status = 503};

    stage_at(g, "load", 300, die);
    run_patient(g, &p, ", restart: always" HTTP(1s, 0), IDLE_FOR(2500ms));
    assert_int_equal(events(g, "ready"), 1);
    assert_int_equal(events(g, "unresponsive"), 0);
    assert_true(isnan(stage_number(g, 0, "/app/lives/1/ready_ms")));
    server_finish(p.server);
}

/* Nine a second; the first life ends in the middle of the second one. */
static void what_each_life_served(void **state)
{
    struct stage *g = *state;
    struct patient p = {0};

    stage_at(g, "load", 1500, die);
    put_program(g, ROWS("9,0,900"));
    put_adapter(g, "builtin");
    run_patient(g, &p, ", restart: always" HTTP(10s, 0), "load: {adapter: builtin, duration: 60s}\n");
    double first = stage_number(g, 0, "/app/lives/0/requests"),
           second = stage_number(g, 0, "/app/lives/1/requests");
    assert_true(first >= 9 && first <= 36 && second >= 36);
    assert_true(first + second >= 71 && first + second <= 73);
    server_finish(p.server);
}

/* --- readiness --- */

static char *recorded(const char *name)
{
    CLEANUP_FREE char *path = xasprintf(TESTS_DIR "/cases/R11/%s.http", name);
    struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(fs_read(path, 1 << 16, &text, &err), 0);
    return strbuf_detach(&text);
}

/* The recorded answer at `path`: is that ready? */
static void assert_ready(struct stage *g, const char *name, const char *ready, bool expected)
{
    CLEANUP_FREE char *text = recorded(name);
    char type[100] = "", head[120] = "";
    const char *type_at = strstr(text, "Content-Type: "), *to = strstr(text, "Location: ");
    const char *body = strstr(text, "\r\n\r\n") ? strstr(text, "\r\n\r\n") + 4 : strstr(text, "\n\n") + 2;

    if (type_at)
        (void)sscanf(type_at, "Content-Type: %99[^\r\n]", type);
    if (to && sscanf(to, "Location: %99[^\r\n]", head) == 1) {
        CLEANUP_FREE char *where = xstrdup(head);
        (void)snprintf(head, sizeof(head), "Location: %s\r\n", where);
    }
    struct rule rules[] = {
        {"GET /login", .reply = {.status = 200, .body = "{\"status\":\"UP\",\"groups\":[]}"}},
        {"*",
         .reply = {.status = atoi(text + strlen("HTTP/1.1 ")), .type = type, .body = body, .headers = head}},
    };
    struct server *app = server_start(&(struct server_options){.rules = rules, .rules_len = 2, .tcp = true});
    CLEANUP_FREE char *matrix =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\nretry: 0\n"
                  "app: {image: 'app:1', port: %d, ready: {%s, timeout: 400ms}}\n" IDLE,
                  server_port(app), ready);
    stage_run(g, matrix);
    assert_outcome(g, g->trials.len - 1, expected ? "ok" : "not-ready",
                   expected ? "" : "alive, but not ready");
    assert_int_equal(server_count(app, "GET /login"), 0);
    server_finish(app);
}

#define READINESS_TEST(file, ready, expected)                                                                \
    static void readiness_##file(void **state)                                                               \
    {                                                                                                        \
        assert_ready(*state, #file, ready, expected);                                                        \
    }
READINESS_TEST(health_up, "http: /actuator/health, consecutive: 3", true)
READINESS_TEST(health_200_down, "http: /actuator/health", false)
READINESS_TEST(health_404, "http: /actuator/health", false)
READINESS_TEST(health_html, "http: /actuator/health", false)
READINESS_TEST(health_oos, "http: /actuator/health", false)
READINESS_TEST(health_redirect, "http: /actuator/health", false)
READINESS_TEST(health_live_only, "http: /actuator/health", false)

static void readiness_by_liveness(void **state)
{
    assert_ready(*state, "health_live_only", "http: /actuator/health/liveness", true);
}

/* --- logs --- */

static void speak(struct stage *g)
{
    static const char *const lines[] = {
        "all is well",
        "\x1b[31mFATAL: sorry, too many clients already",
        "Caused by: FATAL: sorry, too many clients already",
        "java.lang.OutOfMemoryError: Java heap space",
        "ERROR: cached plan must not change result type",
        "port 53300 is fine",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        (void)standin_log(g->engine, "app", lines[i]); /* false: nobody follows it */
}

static void logs_become_findings(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "mock", (struct behaviour){.log = "ERROR:  deadlock detected"});
    stage_at(g, "load", 10, speak);
    stage_run(g, APP_OF(", memory: 64m") IDLE "services: {mock: {image: 'mock:1'}}\n");
    const struct json *f = finding(g, "connection-limit");
    assert_non_null(f);
    assert_true(json_get_number(f, "count") == 2);
    assert_true(json_get_number(f, "at_ms") >= 0); /* it spoke under the load */
    assert_string_equal(json_get_text(f, "role"), "app");
    assert_string_equal(json_get_text(f, "message"),
                        "the database's connection slots used up (53300): 2 lines "
                        "in the log of 'app', the first:  [31mFATAL: sorry, too many clients already");
    f = finding(g, "java-heap");
    assert_non_null(f);
    assert_has(json_get_text(f, "message"),
               "java heap exhausted: 1 line in the log of 'app', the first: java.");
    assert_non_null(finding(g, "stale-session"));
    f = finding(g, "deadlock");
    assert_non_null(f);
    assert_string_equal(json_get_text(f, "role"), "mock");
    assert_null(finding(g, "unresponsive"));
}

static void fill_heap_and_exit(struct stage *g)
{
    (void)standin_log(g->engine, "app", "Terminating due to java.lang.OutOfMemoryError: Java heap space");
    assert_true(standin_die(g->engine, "app", 3, false));
}

/* The first end is the heap's; the next life ends for another reason, and is not blamed on it. */
static void end_otherwise(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 1, false));
}

static void a_full_heap_explains_its_own_life(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, fill_heap_and_exit);
    stage_at(g, "load", 1500, end_otherwise);
    stage_run(g, APP_OF(", memory: 64m, restart: always") "load: {adapter: idle, duration: 3s}\n");
    assert_string_equal(stage_text(g, 0, "/app/exits/0/cause"), "java heap exhausted");
    assert_string_equal(stage_text(g, 0, "/app/exits/1/cause"), "exit 1");
}

/* Three ways in which a JVM runs out of memory are three causes. */
static void a_full_heap_with_exit_3(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 20, fill_heap_and_exit);
    stage_run(g, APP_OF(", memory: 64m") "load: {adapter: idle, duration: 10s}\n");
    assert_outcome(g, 0, "crashed", "java heap exhausted");
    assert_string_equal(stage_text(g, 0, "/app/exits/0/cause"), "java heap exhausted");
    assert_true(stage_number(g, 0, "/app/oom_kills") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(it_hangs),
        STAGE_TEST(it_hangs_behind_an_open_port),
        STAGE_TEST(it_comes_back),
        STAGE_TEST(the_load_is_ended),
        STAGE_TEST(saturated_is_not_silent),
        STAGE_TEST(alive_and_answering_nothing_else),
        STAGE_TEST(a_stream_tells_of_requests),
        STAGE_TEST(any_status_is_a_sign_of_life),
        STAGE_TEST(asked_elsewhere),
        STAGE_TEST(turned_off),
        STAGE_TEST(down_is_not_silent),
        STAGE_TEST(up_and_not_ready),
        STAGE_TEST(what_each_life_served),
        STAGE_TEST(readiness_health_up),
        STAGE_TEST(readiness_health_200_down),
        STAGE_TEST(readiness_health_404),
        STAGE_TEST(readiness_health_html),
        STAGE_TEST(readiness_health_oos),
        STAGE_TEST(readiness_health_redirect),
        STAGE_TEST(readiness_health_live_only),
        STAGE_TEST(readiness_by_liveness),
        STAGE_TEST(logs_become_findings),
        STAGE_TEST(a_full_heap_with_exit_3),
        STAGE_TEST(a_full_heap_explains_its_own_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

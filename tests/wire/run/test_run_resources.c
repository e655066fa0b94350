/* SPDX-License-Identifier: MIT */
/* What measuring asks of the engine while a load runs (nothing), and what a JVM is asked after it. */
#include "stage.h"

#define LONG_IDLE "load: {adapter: idle, duration: 700ms}\n"

static size_t requests_early, requests_late;

static void count_early(struct stage *g)
{
    requests_early = server_calls(standin_server(g->engine));
}

static void count_late(struct stage *g)
{
    requests_late = server_calls(standin_server(g->engine));
}

/* Engine daemons are not polled: between the begin and the end of a load that nothing happens to, no request.
 */
static void the_engine_is_left_alone_while_a_load_runs(void **state)
{
    struct stage *g = *state;

    requests_early = requests_late = 0;
    stage_at(g, "load", 150, count_early);
    stage_at(g, "load", 650, count_late);
    stage_run(g, APP_OF("") LONG_IDLE "sample: {engine: 10ms, host: 100ms}\n"
                                      "services:\n  a: {image: 'a:1'}\n  b: {image: 'b:1'}\n");
    assert_outcome(g, 0, "ok", "");
    assert_true(requests_early > 0);
    assert_int_equal(requests_late, requests_early);
}

static void die_early(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 3, false));
}

/* The same counting does see something when something happens. */
static void it_is_asked_when_something_happens(void **state)
{
    struct stage *g = *state;

    requests_early = requests_late = 0;
    stage_at(g, "load", 150, count_early);
    stage_at(g, "load", 250, die_early);
    stage_at(g, "load", 650, count_late);
    stage_run(g, APP_OF(", restart: always") LONG_IDLE);
    assert_outcome(g, 0, "degraded", "");
    assert_true(requests_late > requests_early);
}

/* --- a JVM --- */

#define ANSWER                                                                                               \
    "[0.001s][info][gc,init] CPUs: 8 total, 2 available\n"                                                   \
    "   size_t MaxHeapSize       = 134217728     {product} {ergonomic}\n"                                    \
    "     bool UseSerialGC       = true          {product} {ergonomic}\n"                                    \
    "OpenJDK Runtime Environment (build 25.0.1+8)"
#define JAVA_APP                                                                                             \
    APP_OF(", memory: '${memory}', entrypoint: [/jre/bin/java], command: [-Xss1m, -Dtoken=x, -jar, a.jar], " \
           "env: {JAVA_TOOL_OPTIONS: '-XX:+UseSerialGC'}")                                                   \
    IDLE

static const char *text_at(const struct json *j, const char *pointer)
{
    const char *text = json_text(json_pointer(j, pointer));

    return text ? text : "";
}

/* The request that made the n-th container of that role (from 0); NULL: none. */
static const struct json *request_of(struct stage *g, const char *role, size_t n)
{
    for (size_t i = 0; i < standin_created(g->engine); i++) {
        const struct json *r = standin_request(g->engine, i);
        if (text_equal(json_get_text(json_get(r, "Labels"), "org.benchctl.role"), role) && n-- == 0)
            return r;
    }
    return NULL;
}

static void a_jvm_is_asked_under_the_same_limits(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "jvm", (struct behaviour){.dies = true, .log = ANSWER});
    stage_run(g, JAVA_APP "axes: {memory: [512m]}\n");
    assert_outcome(g, 0, "ok", "");
    assert_string_equal(stage_text(g, 0, "/app/jvm/collector"), "Serial");
    assert_string_equal(stage_text(g, 0, "/app/jvm/version"), "25.0.1+8");
    assert_string_equal(stage_text(g, 0, "/app/jvm/options"), "-Xss1m");
    assert_true(stage_number(g, 0, "/app/jvm/cpus") == 2);
    assert_true(stage_number(g, 0, "/app/jvm/heap_max_bytes") == 134217728);
    assert_has(stage_text(g, 0, "/app/jvm/source"), "another JVM of the same image");
    const struct json *app = request_of(g, "app", 0), *asked = request_of(g, "jvm", 0);
    assert_non_null(asked);
    assert_string_equal(text_at(asked, "/Entrypoint/0"), "/jre/bin/java");
    assert_string_equal(text_at(asked, "/Cmd/0"), "-Xss1m");
    assert_string_equal(text_at(asked, "/Cmd/3"), "-version");
    assert_string_equal(text_at(asked, "/Env/0"), "JAVA_TOOL_OPTIONS=-XX:+UseSerialGC");
    assert_string_equal(text_at(asked, "/HostConfig/NetworkMode"), "none");
    assert_string_equal(text_at(asked, "/Image"), text_at(app, "/Image"));
    const struct json *host = json_get(asked, "HostConfig"), *apps = json_get(app, "HostConfig");
    static const char *const same[] = {"Memory", "MemorySwap", "NanoCpus"};
    for (size_t k = 0; k < ARRAY_LEN(same); k++)
        assert_true(json_get_int(host, same[k]) == json_get_int(apps, same[k]));
    assert_true(json_get_int(host, "Memory") == 512 << 20);
    assert_nothing_left(g);
}

static void the_same_question_once(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "jvm", (struct behaviour){.dies = true, .log = ANSWER});
    stage_run(g, JAVA_APP "axes: {memory: [512m, 1g], x: [a, b]}\n");
    assert_int_equal(g->trials.len, 4);
    assert_non_null(request_of(g, "jvm", 1)); /* two limits, two questions */
    assert_null(request_of(g, "jvm", 2));
    for (size_t i = 0; i < g->trials.len; i++)
        assert_string_equal(stage_text(g, i, "/app/jvm/collector"), "Serial");
    assert_nothing_left(g);
}

static void no_answer_is_a_note(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "jvm", (struct behaviour){.dies = true, .code = 1, .log = "no such option"});
    stage_run(g, JAVA_APP "axes: {memory: [512m]}\n");
    assert_outcome(g, 0, "ok", "");
    assert_true(json_type_of(json_pointer(stage_trial(g, 0), "/app/jvm/collector")) == JSON_TYPE_NULL);
    assert_has(stage_text(g, 0, "/notes/0"),
               "could not be asked what it chooses: it gave no answer (exit code 1)");
    assert_non_null(request_of(g, "jvm", 1)); /* in the words of 8 too */
    assert_nothing_left(g);
}

static void a_jvm_that_cannot_be_started_is_a_note(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "jvm", (struct behaviour){.start_status = 400, .start_error = "no such file"});
    stage_run(g, JAVA_APP "axes: {memory: [512m]}\n");
    assert_outcome(g, 0, "ok", "");
    assert_has(stage_text(g, 0, "/notes/0"), "no such file");
    assert_nothing_left(g);
}

/* One that dies before it is ready is asked all the same. */
static void a_crashed_jvm(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.dies = true, .code = 137, .oom = true});
    standin_behave(g->engine, "jvm", (struct behaviour){.dies = true, .log = ANSWER});
    stage_run(g, JAVA_APP "axes: {memory: [64m]}\n");
    assert_string_equal(stage_text(g, 0, "/app/jvm/collector"), "Serial");
    assert_nothing_left(g);
}

/* A start script in an image that has a JVM: what is known then is little, and is said to be. */
static void a_jvm_by_its_home(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "jvm", (struct behaviour){.dies = true, .log = ANSWER});
    stage_run(g, APP_OF(", entrypoint: [/start.sh], env: {JAVA_HOME: /opt/jdk}") IDLE);
    assert_string_equal(text_at(request_of(g, "jvm", 0), "/Entrypoint/0"), "/opt/jdk/bin/java");
    assert_string_equal(stage_text(g, 0, "/app/jvm/collector"), "Serial");
    assert_has(stage_text(g, 0, "/app/jvm/source"), "without options: how the image starts it is not known");
}

/* One that hangs is not waited for when somebody has had enough; it does not stay either. */
static void interrupted_while_it_is_asked(void **state)
{
    struct stage *g = *state;

    stage_at(g, "collect", 300, stage_interrupt); /* this one never ends */
    stage_run(g, JAVA_APP "axes: {memory: [512m]}\n");
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_non_null(request_of(g, "jvm", 0));
    assert_int_equal(g->trials.len, 0);
    assert_nothing_left(g);
}

static void no_jvm(void **state)
{
    struct stage *g = *state;

    stage_run(g, APP_OF(", entrypoint: [/bin/app]") IDLE);
    assert_true(json_type_of(json_pointer(stage_trial(g, 0), "/app/jvm")) == JSON_TYPE_NULL);
    assert_int_equal(standin_created(g->engine), 1);
}

/* --- the application's own numbers --- */

static int scrape;

/* A counter that begins again at the fifth scrape when told so. */
static void reply_metrics(struct server *s, const struct seen *request, struct reply *ret, void *again)
{
    (void)request;
    scrape++;
    *ret = (struct reply){
        .type = "text/plain",
        .body = server_text(s, "http_server_requests_seconds_count{uri=\"/\"} %d\n",
                            again && scrape >= 5 ? scrape : 1000 + scrape),
    };
}

static void run_with_metrics(struct stage *g, void *again)
{
    const struct rule rules[] = {{.request = "*", .make = reply_metrics, .data = again}};
    struct server *app =
        server_start(&(struct server_options){.rules = rules, .rules_len = ARRAY_LEN(rules), .tcp = true});
    CLEANUP_FREE char *matrix =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\nretry: 0\napp: {image: 'app:1', port: %d, "
                  "metrics: {path: /metrics, every: 100ms, adapter: micrometer}}\n"
                  "load: {adapter: idle, duration: 1s}\n",
                  server_port(app));

    scrape = 0;
    stage_run(g, matrix);
    server_finish(app);
}

static bool has_finding(struct stage *g, const char *id)
{
    const struct json *all = json_get(stage_trial(g, 0), "findings");

    for (size_t i = 0; i < json_len(all); i++)
        if (text_equal(json_get_text(json_at(all, i), "id"), id))
            return true;
    return false;
}

static void scrapes_are_counted(void **state)
{
    struct stage *g = *state;

    run_with_metrics(g, NULL);
    assert_true(stage_number(g, 0, "/scrapes/count") >= 3);
    assert_true(stage_number(g, 0, "/scrapes/failed") == 0);
    assert_true(stage_number(g, 0, "/scrapes/mean_ms") > 0);
    assert_true(stage_number(g, 0, "/scrapes/p99_ms") >= stage_number(g, 0, "/scrapes/mean_ms"));
    assert_true(stage_number(g, 0, "/scrapes/mean_bytes") > 40);
    assert_false(has_finding(g, "counters-restarted"));
}

/* The application is a witness of its restarts too: here the engine knows of none. */
static void counters_that_begin_again(void **state)
{
    struct stage *g = *state;
    static int yes = 1;

    run_with_metrics(g, &yes);
    assert_true(stage_number(g, 0, "/app/restarts") == 0);
    assert_true(has_finding(g, "counters-restarted"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(the_engine_is_left_alone_while_a_load_runs),
        STAGE_TEST(it_is_asked_when_something_happens),
        STAGE_TEST(a_jvm_is_asked_under_the_same_limits),
        STAGE_TEST(the_same_question_once),
        STAGE_TEST(no_answer_is_a_note),
        STAGE_TEST(a_jvm_that_cannot_be_started_is_a_note),
        STAGE_TEST(a_crashed_jvm),
        STAGE_TEST(a_jvm_by_its_home),
        STAGE_TEST(interrupted_while_it_is_asked),
        STAGE_TEST(no_jvm),
        STAGE_TEST(scrapes_are_counted),
        STAGE_TEST(counters_that_begin_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

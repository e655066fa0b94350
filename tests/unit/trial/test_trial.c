/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "benchctl/base/fs.h"
#include "benchctl/trial.h"

static struct json *parse(const char *text)
{
    struct error err = ERROR_INIT;
    struct json *j = NULL;

    if (json_parse(text, strlen(text), "test", &j, &err) < 0)
        fail_msg("%s", err.message);
    return j;
}

static char *as_text(const struct trial *t)
{
    struct strbuf out = STRBUF_INIT;
    CLEANUP(json_free) struct json *j = trial_to_json(t);

    json_write(j, JSON_STYLE_COMPACT, &out);
    return strbuf_detach(&out);
}

/* A trial that has something in each list. */
static void fill(struct trial *t, struct arena *a)
{
    trial_init(t);
    t->scenario = "micronaut/imperative/jvm/256m";
    t->axes = arena_array(a, struct axis_pair, 2);
    t->axes[0] = (struct axis_pair){"framework", "micronaut"};
    t->axes[1] = (struct axis_pair){"memory", "256m"};
    t->axis_count = 2;
    t->trial = 3;
    t->attempt = 1;
    t->digest = "abc";
    t->outcome = OUTCOME_DEGRADED;
    t->reason = "OOM-killed twice in 30 s at 256 MiB";
    t->started_at = "2026-01-31T08:00:00.123Z";
    t->duration_ms = 31000.5;
    t->steps = arena_array(a, struct step_time, 1);
    t->steps[0] = (struct step_time){"ready", 120, 830.25};
    t->step_count = 1;
    t->has_load = true;
    t->load.requests = 1000;
    t->load.offered = 1100;
    t->load.connections = 16;
    t->load.service_ms.p99 = 4;
    t->load.phases = "[{\"name\":\"ramp\",\"requests\":7}]";
    t->load.error_rate = 0.002;
    t->load.latency_ms.p99 = 12.5;
    t->load.errors = arena_array(a, struct error_count, 1);
    t->load.errors[0] = (struct error_count){"status_5xx", 2};
    t->load.error_count = 1;
    t->load.generator = "wrk";
    t->load.version = "4.1.0";
    t->load.exit_status = -1;
    t->app.memory_bytes.limit = 268435456;
    t->app.restarts = 2;
    t->app.effective.swap_bytes = INFINITY;
    t->app.exits = arena_array(a, struct container_exit, 2);
    t->app.exits[0] = (struct container_exit){.at_ms = -5, .code = 137, .oom = true, .cause = "oom"};
    t->app.exits[1] = (struct container_exit){.at_ms = NAN, .code = 1, .cause = "exit 1"};
    t->app.exit_count = 2;
    t->services = arena_array(a, struct container_result, 1);
    container_result_init(&t->services[0], "mock.up");
    t->services[0].restarts = 7;
    t->services[0].memory_bytes.limit = INFINITY;
    t->service_count = 1;
    t->metrics = arena_array(a, struct metric_value, 1);
    t->metrics[0] = (struct metric_value){"heap_used_bytes", 1, 2, 3, NAN, 0};
    t->metric_count = 1;
    t->has_database = true;
    t->database.rollbacks = 4;
    t->database.strategy = "file_copy";
    t->checks = arena_array(a, struct check_result, 1);
    t->checks[0] = (struct check_result){"writes", "0", "== 0", true, true, NULL};
    t->check_count = 1;
    t->validity = arena_array(a, struct validity_result, 1);
    t->validity[0] =
        (struct validity_result){"nothing-stressed", "WARN", "no resource was near its limit", "V4"};
    t->validity_count = 1;
    t->notes = arena_array(a, const char *, 2);
    t->notes[0] = "first";
    t->notes[1] = "second";
    t->note_count = 2;
}

static void test_round_trip_keeps_everything(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct trial t, back;
    struct error err = ERROR_INIT;

    (void)state;
    fill(&t, a);
    CLEANUP(json_free) struct json *j = trial_to_json(&t);
    if (trial_from_json(j, a, &back, &err) < 0)
        fail_msg("%s", err.message);
    CLEANUP_FREE char *one = as_text(&t), *two = as_text(&back);
    assert_string_equal(one, two);
    assert_int_equal(back.app.exits[0].code, 137);
    assert_true(back.app.exits[0].oom);
    assert_true(isnan(back.app.exits[1].at_ms));
    assert_true(back.app.effective.swap_bytes == INFINITY);
    assert_string_equal(back.services[0].role, "mock.up");
    assert_string_equal(back.load.phases, t.load.phases);
    assert_null(back.load.by_request);
    assert_string_equal(back.app.role, "app");
    assert_int_equal(back.load.exit_status, -1);
    assert_string_equal(back.notes[1], "second");
}

static void test_nothing_measured_is_null(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct trial t, back;
    struct error err = ERROR_INIT;

    (void)state;
    trial_init(&t);
    t.scenario = "a";
    t.trial = 1;
    CLEANUP(json_free) struct json *j = trial_to_json(&t);
    assert_int_equal(json_type_of(json_get(j, "load")), JSON_TYPE_NULL);
    assert_int_equal(json_type_of(json_get(j, "database")), JSON_TYPE_NULL);
    assert_non_null(json_iter(json_get(j, "app")));
    assert_int_equal(json_type_of(json_pointer(j, "/app/memory_bytes/used_peak")), JSON_TYPE_NULL);
    assert_int_equal(json_type_of(json_pointer(j, "/host/psi/cpu_some_pct")), JSON_TYPE_NULL);
    assert_int_equal(trial_from_json(j, a, &back, &err), 0);
    assert_false(back.has_load);
    assert_false(back.has_database);
    assert_true(isnan(back.load.rps));
    assert_true(isnan(back.host.load1));
}

static void test_contract_names(void **state)
{
    static const char *const NAMES[] = {"/scenario",
                                        "/axes/memory",
                                        "/trial",
                                        "/outcome",
                                        "/reason",
                                        "/started_at",
                                        "/steps/0/name",
                                        "/steps/0/start_ms",
                                        "/steps/0/duration_ms",
                                        "/startup_ms",
                                        "/ready_ms",
                                        "/load/requests",
                                        "/load/ok",
                                        "/load/failed",
                                        "/load/error_rate",
                                        "/load/rps",
                                        "/load/goodput_rps",
                                        "/load/received_bytes",
                                        "/load/dropped",
                                        "/load/offered",
                                        "/load/phases/0/name",
                                        "/load/service_ms/p99",
                                        "/load/latency_ms/min",
                                        "/load/latency_ms/mean",
                                        "/load/latency_ms/p50",
                                        "/load/latency_ms/p75",
                                        "/load/latency_ms/p90",
                                        "/load/latency_ms/p95",
                                        "/load/latency_ms/p99",
                                        "/load/latency_ms/p999",
                                        "/load/latency_ms/max",
                                        "/load/errors/status_5xx",
                                        "/load/generator/name",
                                        "/load/generator/version",
                                        "/load/generator/exit",
                                        "/app/memory_bytes/limit",
                                        "/app/memory_bytes/used_avg",
                                        "/app/memory_bytes/used_peak",
                                        "/app/memory_bytes/anon_avg",
                                        "/app/memory_bytes/anon_peak",
                                        "/app/memory_bytes/peak",
                                        "/app/cpu_cores/avg",
                                        "/app/cpu_cores/peak",
                                        "/app/cpu_throttled_ms",
                                        "/app/pids_peak",
                                        "/app/network/rx_bytes",
                                        "/app/restarts",
                                        "/app/oom_kills",
                                        "/app/exits/0/at_ms",
                                        "/app/exits/0/code",
                                        "/app/exits/0/oom",
                                        "/app/exits/0/cause",
                                        "/app/uptime_pct",
                                        "/app/effective/memory_bytes",
                                        "/app/effective/cpus",
                                        "/app/effective/cpuset",
                                        "/app/effective/image_id",
                                        "/services/mock.up/restarts",
                                        "/metrics/heap_used_bytes/avg",
                                        "/metrics/heap_used_bytes/max",
                                        "/metrics/heap_used_bytes/last",
                                        "/metrics/heap_used_bytes/increase",
                                        "/database/reset_ms",
                                        "/database/commits",
                                        "/database/rollbacks",
                                        "/database/deadlocks",
                                        "/database/temp_bytes",
                                        "/database/size_bytes",
                                        "/host/cpu_busy",
                                        "/host/load1",
                                        "/host/psi",
                                        "/host/throttled",
                                        "/checks/0/name",
                                        "/validity/0/id"};
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct trial t;

    (void)state;
    fill(&t, a);
    CLEANUP(json_free) struct json *j = trial_to_json(&t);
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        if (!json_pointer(j, NAMES[i]))
            fail_msg("%s is not written", NAMES[i]);
    }
}

static void test_reading_refuses_what_is_no_trial(void **state)
{
    static const struct {
        const char *text, *says;
    } BAD[] = {
        {"[]", "not an object"},
        {"{}", "are needed"},
        {"{\"scenario\":\"\",\"trial\":1,\"outcome\":\"ok\"}", "are needed"},
        {"{\"scenario\":\"a\",\"trial\":0,\"outcome\":\"ok\"}", "are needed"},
        {"{\"scenario\":\"a\",\"trial\":1}", "are needed"},
        {"{\"scenario\":\"a\",\"trial\":1.5,\"outcome\":\"ok\"}", "'trial' is not a whole number"},
        {"{\"scenario\":\"a\",\"trial\":3000000000,\"outcome\":\"ok\"}", "'trial' is not a whole number"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"fine\"}", "'outcome' is not an outcome"},
        {"{\"scenario\":7,\"trial\":1,\"outcome\":\"ok\"}", "'scenario' is not text"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"load\":{\"rps\":\"9\"}}",
         "'load': 'rps' is not a number"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"load\":3}", "'load': not an object"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"steps\":{}}", "'steps' is not a list"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"steps\":[3]}", "'steps' 0: not an object"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"notes\":[3]}",
         "'notes' is not a list of texts"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"axes\":[]}", "'axes' is not an object"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"axes\":{\"m\":1}}",
         "'m': 'value' is not text"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"app\":{\"exits\":[{\"oom\":1}]}}",
         "'oom' is not true or false"},
        {"{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"ok\",\"app\":{\"memory_bytes\":{\"limit\":\"much\"}}"
         "}",
         "or \"unlimited\""},
    };
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        struct error err = ERROR_INIT;
        struct trial t = {.trial = 77};
        CLEANUP(json_free) struct json *j = parse(BAD[i].text);

        assert_int_equal(trial_from_json(j, a, &t, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
        if (!strstr(err.message, BAD[i].says))
            fail_msg("%s gave: %s", BAD[i].text, err.message);
        assert_int_equal(t.trial, 77); /* results are written only on success */
    }
}

static void test_unknown_members_are_ignored(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(json_free)
    struct json *j = parse("{\"scenario\":\"a\",\"trial\":1,\"outcome\":\"not-ready\",\"later\":[{}],"
                           "\"load\":null,\"app\":{\"exits\":[],\"x\":1}}");
    struct error err = ERROR_INIT;
    struct trial t;

    (void)state;
    assert_int_equal(trial_from_json(j, a, &t, &err), 0);
    assert_int_equal(t.outcome, OUTCOME_NOT_READY);
    assert_int_equal(t.app.exit_count, 0);
}

static void test_numbers_by_name(void **state)
{
    static const struct {
        const char *name;
        double value; /* NAN: not measured */
    } GOOD[] = {
        {"load.error_rate", 0.002},
        {"load.latency_ms.p99", 12.5},
        {"load.errors.status_5xx", 2},
        {"load.errors.timeout", NAN},
        {"load.generator.exit", -1},
        {"app.memory_bytes.limit", 268435456},
        {"app.memory_bytes.used_peak", NAN},
        {"app.effective.swap_bytes", INFINITY},
        {"services.mock.up.restarts", 7},
        {"mock.up.restarts", 7},
        {"services.mock.up.memory_bytes.limit", INFINITY},
        {"cache.restarts", NAN},
        {"metrics.heap_used_bytes.max", 2},
        {"metrics.heap_used_bytes.increase", NAN},
        {"metrics.gc_pauses.last", NAN},
        {"database.rollbacks", 4},
        {"host.psi.cpu_some_pct", NAN},
        {"trial", 3},
        {"duration_ms", 31000.5},
    };
    static const char *const NONE[] = {"load",
                                       "load.",
                                       "load.eror_rate",
                                       "load.rps.x",
                                       "app.memory_bytes",
                                       "scenario",
                                       "",
                                       ".",
                                       "reason",
                                       "metrics.heap_used_bytes",
                                       "metrics.x.mode",
                                       "axes.memory",
                                       "mock.nothing",
                                       "steps.0.start_ms",
                                       "load.errors.",
                                       "services..restarts"};
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct trial t;
    double value;

    (void)state;
    fill(&t, a);
    CLEANUP(json_free) struct json *j = trial_to_json(&t);
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        if (trial_number(j, GOOD[i].name, &value) < 0)
            fail_msg("%s is unknown", GOOD[i].name);
        if (isnan(GOOD[i].value) ? !isnan(value) : value != GOOD[i].value)
            fail_msg("%s is %g", GOOD[i].name, value);
        assert_int_equal(trial_number(NULL, GOOD[i].name, &value), strstr(GOOD[i].name, "mock.up") ? -1 : 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(NONE); i++) {
        if (trial_number(j, NONE[i], &value) == 0)
            fail_msg("%s is known", NONE[i]);
    }
}

static void test_number_without_load_is_not_measured(void **state)
{
    struct trial t;
    double value = 0;

    (void)state;
    trial_init(&t);
    CLEANUP(json_free) struct json *j = trial_to_json(&t);
    assert_int_equal(trial_number(j, "load.latency_ms.p50", &value), 0);
    assert_true(isnan(value));
}

static void test_outcome_names(void **state)
{
    enum outcome o;

    (void)state;
    for (int i = 0; i < OUTCOMES; i++) {
        assert_int_equal(outcome_parse(outcome_name((enum outcome)i), &o), 0);
        assert_int_equal(o, i);
    }
    assert_int_equal(outcome_parse("OK", &o), -1);
    assert_int_equal(outcome_parse("", &o), -1);
}

/* Every key that a full trial writes stands in the page between backquotes. Keys of maps are the user's. */
static void check_documented(const struct json *j, const char *page, bool free_keys)
{
    if (json_type_of(j) == JSON_TYPE_ARRAY) {
        for (size_t i = 0; i < json_len(j); i++)
            check_documented(json_at(j, i), page, false);
        return;
    }
    for (void *it = json_iter(j); it; it = json_iter_next(j, it)) {
        const char *key = json_iter_key(it);
        CLEANUP_FREE char *quoted = xasprintf("`%s`", key);

        if (!free_keys && !strstr(page, quoted))
            fail_msg("docs/outcomes.md does not explain %s", quoted);
        if (text_equal(key, "phases") || text_equal(key, "by_request"))
            continue; /* the generator's own names */
        check_documented(json_iter_value(it), page,
                         text_equal(key, "axes") || text_equal(key, "errors") ||
                             text_equal(key, "services") || text_equal(key, "metrics"));
    }
}

static void test_names_are_documented(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    struct trial t;

    (void)state;
    if (fs_read(SOURCE_DIR "/docs/outcomes.md", 1 << 20, &page, &err) < 0)
        fail_msg("%s", err.message);
    fill(&t, a);
    CLEANUP(json_free) struct json *j = trial_to_json(&t);
    check_documented(j, strbuf_text(&page), false);
    for (int i = 0; i < OUTCOMES; i++) {
        CLEANUP_FREE char *quoted = xasprintf("`%s`", outcome_name((enum outcome)i));
        assert_non_null(strstr(strbuf_text(&page), quoted));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_keeps_everything),
        cmocka_unit_test(test_nothing_measured_is_null),
        cmocka_unit_test(test_contract_names),
        cmocka_unit_test(test_reading_refuses_what_is_no_trial),
        cmocka_unit_test(test_unknown_members_are_ignored),
        cmocka_unit_test(test_numbers_by_name),
        cmocka_unit_test(test_number_without_load_is_not_measured),
        cmocka_unit_test(test_outcome_names),
        cmocka_unit_test(test_names_are_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

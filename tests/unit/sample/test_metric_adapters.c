/* SPDX-License-Identifier: MIT */
/* The language of metric adapters, and the adapters that come with the program. */
#include "metrics_test.h"

static void check_refused(const char *text, const char *message)
{
    struct metric_adapter *a = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(metric_adapter_parse(text, strlen(text), "x.yaml", &a, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, message);
    assert_has(err.message, "x.yaml:");
}

static void test_refused_adapters(void **state)
{
    (void)state;
    check_refused("benchctl-adapter: 1\n", "metrics");
    check_refused("metrics: {a: {from: [{series: b}]}}\n", "benchctl-adapter");
    check_refused("benchctl-adapter: 2\nmetrics: {a: {from: [{series: b}]}}\n", "benchctl-adapter");
    check_refused("benchctl-adapter: 1\nmetrics: {}\n", "no metrics");
    check_refused("benchctl-adapter: 1\nmetrics: {a: {from: []}}\n", "'from' of metric 'a' is empty");
    check_refused("benchctl-adapter: 1\nmetrics: {A-b: {from: [{series: b}]}}\n", "lower case letters");
    check_refused("benchctl-adapter: 1\nmetrics: {a: {kind: mean, from: [{series: b}]}}\n", "'per'");
    check_refused("benchctl-adapter: 1\nmetrics: {a: {from: [{series: b, per: c}]}}\n", "'per'");
    check_refused("benchctl-adapter: 1\nmetrics: {a: {kind: counter, from: [{series: b, combine: max}]}}\n",
                  "only a gauge");
    check_refused("benchctl-adapter: 1\nmetrics: {a: {from: [{series: b, scale: 0}]}}\n", "'scale'");
    check_refused("benchctl-adapter: 1\nmetrics: {a: {from: [{serie: b}]}}\n", "unknown key 'serie'");
    check_refused("benchctl-adapter: 1\nmetrics: {a: {kind: counters, from: [{series: b}]}}\n", "'kind'");
}

static void test_position_and_names(void **state)
{
    (void)state;
    struct metric_adapter *a = NULL;
    struct error err = ERROR_INIT;
    static const char text[] =
        "benchctl-adapter: 1\nhelp: some words\nmetrics:\n  a:\n    kind: gage\n    from: [{series: b}]\n";

    assert_int_equal(metric_adapter_parse(text, sizeof(text) - 1, "x.yaml", &a, &err), -1);
    assert_has(err.message, "x.yaml:5:");
    assert_has(err.hint, "gauge");
    CLEANUP(metric_adapter_free)
    struct metric_adapter *good = adapter_from("benchctl-adapter: 1\nmetrics: {a: {from: [{series: b}]}}\n");
    assert_string_equal(metric_adapter_part(good, 0)->name, "test");
    assert_string_equal(metric_adapter_part(good, 0)->file, "dir/test.yaml");
    assert_string_equal(metric_adapter_part(good, 0)->help, "");
}

static void test_unknown_adapter(void **state)
{
    (void)state;
    struct metric_adapter *a = NULL;
    struct error err = ERROR_INIT;

    static char dir[] = SOURCE_DIR "/adapters";
    static char *const dirs[] = {dir, NULL};

    assert_int_equal(metric_adapter_read("nosuch", dirs, &a, &err), -1);
    assert_has(err.message, "no metric adapter 'nosuch'");
    assert_has(err.hint, "adapters/metrics");
    assert_int_equal(metric_adapter_read("../metrics/go", dirs, &a, &err), -1);
}

/* The page's example is an adapter that works. */
static void test_documented_example(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf page = read_whole(SOURCE_DIR "/docs/metrics.md");
    char *start = strstr(strbuf_text(&page), "```yaml\n");
    static const char *const texts[] = {
        "hikaricp_connections_pending 3\nhttp_server_requests_seconds_count{uri=\"/items/1\",status=\"200\"} "
        "5\n"
        "http_server_requests_seconds_count{uri=\"/items/1\",status=\"500\"} 7\n"
        "http_server_requests_seconds_count{uri=\"/health\",status=\"200\"} 70\n"
        "http_server_requests_seconds_count{uri=\"/actuator/prometheus\",status=\"200\"} 700\n"
        "jvm_gc_pause_seconds_sum 0.5\njvm_gc_pause_seconds_count 10\n"};

    assert_non_null(start);
    start += strlen("```yaml\n");
    *strstr(start, "```") = '\0';
    RESULT r = apply(adapter_from(start), texts, 1);
    assert_near(must(&r, "pool_pending_max")->last, 3);
    assert_near(must(&r, "http_requests")->last, 5);
    assert_near(must(&r, "gc_pause_avg_ms")->last, 50);
}

/* --- the adapters that come with the program --- */

static void check_shipped(const char *name, const char *scrape_file, const char *const *names)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = read_whole(scrape_file);
    const char *texts[] = {strbuf_text(&text)};
    RESULT r = apply(shipped(name), texts, 1);

    for (; *names; names++)
        if (!value_of(&r, *names))
            fail_msg("%s: %s has no value", name, *names);
    assert_true(*metric_adapter_part(r.adapter, 0)->help);
}

static void test_node(void **state)
{
    (void)state;
    static const char *const names[] = {"heap_used_bytes",
                                        "rss_bytes",
                                        "gc_pauses",
                                        "gc_pause_avg_ms",
                                        "eventloop_lag_p99_ms",
                                        "process_cpu_seconds",
                                        "http_requests",
                                        "http_request_avg_ms",
                                        NULL};
    static const char *const texts[] = {TESTS_DIR "/data/prometheus/here-node-prom-client-start.prom",
                                        TESTS_DIR "/data/prometheus/here-node-prom-client-after.prom"};
    CLEANUP_VALUE(strbuf_release) struct strbuf start = read_whole(texts[0]), after = read_whole(texts[1]);
    const char *both[] = {strbuf_text(&start), strbuf_text(&after)};

    check_shipped("node", texts[1], names);
    RESULT r = apply(shipped("node"), both, 2);
    assert_near(must(&r, "http_requests")->increase, 451);
    assert_true(must(&r, "gc_pauses")->increase > 0);
}

static void test_python(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "python_gc_collections_total{generation=\"0\"} 100\npython_gc_collections_total{generation=\"2\"} 3\n"
        "process_resident_memory_bytes 2.2e+07\nprocess_cpu_seconds_total 1.5\n",
        "python_gc_collections_total{generation=\"0\"} 150\npython_gc_collections_total{generation=\"2\"} 4\n"
        "process_resident_memory_bytes 2.4e+07\nprocess_cpu_seconds_total 2.5\n"};
    RESULT r = apply(shipped("python"), texts, 2);

    assert_near(must(&r, "gc_pauses")->increase, 51);
    assert_near(must(&r, "gc_full_collections")->increase, 1);
    assert_near(must(&r, "rss_bytes")->avg, 2.3e7);
    assert_near(must(&r, "process_cpu_seconds")->increase, 1);
}

static void test_recorded_by_others(void **state)
{
    (void)state;
    static const char *const java[] = {"heap_used_bytes",  "non_heap_used_bytes",
                                       "heap_max_bytes",   "gc_pauses",
                                       "gc_pause_avg_ms",  "threads_live",
                                       "threads_peak",     "pool_active",
                                       "pool_pending_max", "pool_max",
                                       "pool_acquires",    "pool_acquire_avg_ms",
                                       "http_requests",    "process_cpu_seconds",
                                       "open_files",       NULL};
    static const char *const go[] = {"heap_used_bytes", "rss_bytes",           "gc_pauses",
                                     "gc_pause_avg_ms", "gc_pause_max_ms",     "threads_live",
                                     "goroutines",      "process_cpu_seconds", NULL};
    CLEANUP_FREE char *spring = shared_path("data/prometheus/spring-boot-actuator.prom");
    CLEANUP_FREE char *alert = shared_path("data/prometheus/go-alertmanager.prom");

    if (!fs_exists(spring)) {
        print_message("skipped: no '%s' here\n", spring);
        free(TAKE(spring));
        free(TAKE(alert));
        skip(); /* leaves by longjmp: cleanups do not run */
    }
    check_shipped("micrometer", spring, java);
    check_shipped("go", alert, go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_adapters),
        cmocka_unit_test(test_position_and_names),
        cmocka_unit_test(test_unknown_adapter),
        cmocka_unit_test(test_documented_example),
        cmocka_unit_test(test_node),
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_recorded_by_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

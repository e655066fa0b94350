/* SPDX-License-Identifier: MIT */
/* Metric adapters: what scrapes give by their names, over gaps, restarts and series that come late. */
#include "sample_test.h"
#include "record.h"

struct result {
    struct metric_adapter *adapter;
    struct arena *a;
    struct metric_value *values;
    size_t len;
    struct text_list notes;
};

static void result_release(struct result *r)
{
    metric_adapter_free(r->adapter);
    arena_free(r->a);
}
#define RESULT CLEANUP_VALUE(result_release) struct result

static char source_dir[] = SOURCE_DIR "/adapters";
static char *source_dirs[] = {source_dir, NULL};

static struct metric_adapter *adapter_from(const char *text)
{
    struct metric_adapter *a;
    struct error err = ERROR_INIT;

    if (metric_adapter_parse(text, strlen(text), "dir/test.yaml", &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

static struct metric_adapter *shipped(const char *name)
{
    struct metric_adapter *a;
    struct error err = ERROR_INIT;

    if (metric_adapter_read(name, source_dirs, &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

/* Takes the adapter over. */
static struct result apply(struct metric_adapter *adapter, const char *const *texts, size_t count)
{
    struct result r = {.adapter = adapter, .a = arena_new()};
    struct error err = ERROR_INIT;

    if (metric_adapter_apply(adapter, texts, count, r.a, &r.values, &r.len, &err) < 0 ||
        metric_adapter_notes(adapter, texts, count, r.a, &r.notes, &err) < 0)
        fail_msg("%s", err.message);
    return r;
}

static struct result apply_cases(struct metric_adapter *adapter, const char *const *names, size_t count)
{
    struct strbuf texts[8] = {0};
    const char *plain[8];

    for (size_t i = 0; i < count; i++) {
        texts[i] = read_case(names[i]);
        plain[i] = strbuf_text(&texts[i]);
    }
    struct result r = apply(adapter, plain, count);
    for (size_t i = 0; i < count; i++)
        strbuf_release(&texts[i]);
    return r;
}

static const struct metric_value *get(const struct result *r, const char *name)
{
    for (size_t i = 0; i < r->len; i++)
        if (strcmp(r->values[i].name, name) == 0)
            return &r->values[i];
    return NULL;
}

static const struct metric_value *must(const struct result *r, const char *name)
{
    const struct metric_value *v = get(r, name);

    if (!v)
        fail_msg("no value of %s", name);
    return v;
}

static bool noted(const struct result *r, const char *part)
{
    for (size_t i = 0; i < r->notes.len; i++)
        if (strstr(r->notes.items[i], part))
            return true;
    return false;
}

/* --- the cases --- */

static void test_nan_is_a_gap(void **state)
{
    (void)state;
    static const char *const scrapes[] = {"F06/scrape1.prom", "F06/scrape2.prom", "F06/scrape3.prom",
                                          "F06/scrape4.prom", "F06/scrape5.prom"};
    RESULT r = apply_cases(shipped("micrometer"), scrapes, 5);
    const struct metric_value *active = must(&r, "pool_active"), *pending = must(&r, "pool_pending_max");

    assert_near(active->avg, 3.5);
    assert_near(active->max, 4);
    assert_near(active->last, 4);
    assert_near(active->gaps, 3);
    assert_nan(active->increase);
    assert_near(pending->avg, 0);
    assert_near(pending->gaps, 4);
    RESULT none = apply_cases(shipped("micrometer"), scrapes + 4, 1);
    assert_null(get(&none, "pool_active")); /* nothing but NaN: not available, never 0 */
}

static void test_aliases(void **state)
{
    (void)state;
    static const struct {
        const char *adapter, *scrape;
        double pending, gc_ms;
    } cases[] = {
        {"micrometer", "F07/spring33.prom", 2, 310},
        {"micrometer", "F07/quarkus_micrometer.prom", 2, NAN},
        {"quarkus", "F07/quarkus_micrometer.prom", 2, NAN},
        {"quarkus", "F07/quarkus_smallrye.prom", 2, 310},
        {"quarkus", "F07/spring33.prom", NAN, 310},
        {"micrometer", "F07/no_gc_yet.prom", NAN, NAN},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        RESULT r = apply_cases(shipped(cases[i].adapter), &cases[i].scrape, 1);
        if (isnan(cases[i].pending))
            assert_null(get(&r, "pool_pending_max"));
        else
            assert_near(must(&r, "pool_pending_max")->last, cases[i].pending);
        if (isnan(cases[i].gc_ms)) {
            assert_null(get(&r, "gc_pause_total_ms"));
            assert_null(get(&r, "gc_pause_avg_ms"));
        } else {
            assert_near(must(&r, "gc_pause_total_ms")->last, cases[i].gc_ms);
            assert_nan(must(&r, "gc_pause_total_ms")->increase); /* one scrape tells of no increase */
        }
    }
}

static void test_absent_is_explained(void **state)
{
    (void)state;
    static const char *const twice[] = {"F07/no_gc_yet.prom", "F07/no_gc_yet.prom"};
    static const char *const quarkus[] = {"F07/quarkus_micrometer.prom", "F07/quarkus_micrometer.prom"};
    RESULT none = apply_cases(shipped("micrometer"), twice, 2);
    RESULT idle = apply_cases(shipped("quarkus"), quarkus, 2);

    assert_true(noted(
        &none,
        "heap_committed_bytes is absent: no series 'jvm_memory_committed_bytes'; 'jvm_memory_used_bytes'"));
    assert_true(noted(&none, "absent"));
    assert_true(noted(&idle, "pool_acquires is there and stayed 0"));
    assert_near(must(&idle, "pool_acquires")->increase, 0);
}

static void test_counter_that_begins_again(void **state)
{
    (void)state;
    static const char *const scrapes[] = {"F08/before.prom", "F08/after_restart.prom"};
    RESULT r = apply_cases(adapter_from("benchctl-adapter: 1\nmetrics:\n"
                                        "  requests: {kind: counter, from: [{series: http_requests_total}]}\n"
                                        "  bytes: {kind: counter, from: [{series: bytes_total}]}\n"
                                        "  uptime_s: {from: [{series: process_uptime_seconds}]}\n"),
                           scrapes, 2);

    assert_near(must(&r, "requests")->increase, 80);
    assert_near(must(&r, "requests")->last, 80);
    assert_near(must(&r, "bytes")->increase, 10);
    assert_near(must(&r, "uptime_s")->avg, 152);
    assert_true(noted(&r, "began again 1 times"));
}

/* --- counters --- */

static const char counters[] =
    "benchctl-adapter: 1\nmetrics:\n"
    "  pauses: {kind: counter, from: [{series: gc_count}]}\n"
    "  pause_ms: {kind: mean, from: [{series: gc_sum, per: gc_count, scale: 1000}]}\n";

static void test_series_that_come_late(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x 1\n",
        "x 1\ngc_count{gc=\"young\"} 4\ngc_sum{gc=\"young\"} 0.2\n",
        "x 1\ngc_count{gc=\"old\"} 1\ngc_sum{gc=\"old\"} 0.4\ngc_count{gc=\"young\"} 6\ngc_sum{gc=\"young\"} "
        "0.3\n",
        "x 1\n",
        "x 1\ngc_count{gc=\"young\"} 7\ngc_sum{gc=\"young\"} 0.35\ngc_count{gc=\"old\"} "
        "1\ngc_sum{gc=\"old\"} 0.4\n",
    };
    RESULT r = apply(adapter_from(counters), texts, 5);

    assert_near(must(&r, "pauses")->increase, 8); /* all of them began in the window: from 0 */
    assert_near(must(&r, "pauses")->last, 8);
    assert_near(must(&r, "pauses")->gaps, 1); /* gone once; not being there yet is no gap */
    assert_nan(must(&r, "pauses")->avg);
    assert_near(must(&r, "pause_ms")->avg, 0.75 / 8 * 1000);
    assert_near(must(&r, "pause_ms")->max, (0.1 + 0.4) / 3 * 1000);
    assert_near(must(&r, "pause_ms")->last, 0.75 / 8 * 1000);
    RESULT base = apply(adapter_from(counters), texts + 1, 2);
    assert_near(must(&base, "pauses")->increase, 3); /* what the first scrape had is the base */
}

static void test_one_series_of_several_restarts(void **state)
{
    (void)state;
    static const char *const texts[] = {"gc_count{w=\"1\"} 100\ngc_count{w=\"2\"} 100\n",
                                        "gc_count{w=\"2\"} 110\ngc_count{w=\"1\"} 3\n"};
    RESULT r = apply(adapter_from(counters), texts, 2);

    assert_near(must(&r, "pauses")->increase, 13);
    assert_null(get(&r, "pause_ms"));
}

static void test_no_events(void **state)
{
    (void)state;
    static const char *const texts[] = {"gc_count 0\ngc_sum 0\n", "gc_count 0\ngc_sum 0\n"};
    RESULT r = apply(adapter_from(counters), texts, 2);

    assert_near(must(&r, "pauses")->increase, 0);
    assert_null(get(&r, "pause_ms")); /* the mean of nothing is nothing */
}

/* --- sources --- */

static void test_combine_labels_scale(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "m{p=\"a\",u=\"/x/1\"} 1\nm{p=\"b\",u=\"/x\"} 5\nm{p=\"c\"} NaN\nm{p=\"d\",u=\"/q/m\"} 3\nm2 9\n"};
    RESULT r = apply(adapter_from("benchctl-adapter: 1\nmetrics:\n"
                                  "  sum: {from: [{series: m}]}\n"
                                  "  max: {from: [{series: m, combine: max}]}\n"
                                  "  min: {from: [{series: m, combine: min}]}\n"
                                  "  avg: {from: [{series: m, combine: avg, scale: 10}]}\n"
                                  "  count: {from: [{series: m, combine: count}]}\n"
                                  "  one: {from: [{series: m, labels: {p: b}}]}\n"
                                  "  glob: {from: [{series: 'm*', labels: {p: ''}}]}\n"
                                  "  not: {from: [{series: m, labels: {u: '!/x/**|/q/**'}}]}\n"
                                  "  either: {from: [{series: m, labels: {p: a|d}}]}\n"
                                  "  none: {from: [{series: m, labels: {p: z}}]}\n"
                                  "  second: {from: [{series: other}, {series: m2}]}\n"
                                  "  first: {from: [{series: m2}, {series: m}]}\n"),
                     texts, 1);

    assert_near(must(&r, "sum")->last, 9);
    assert_near(must(&r, "max")->last, 5);
    assert_near(must(&r, "min")->last, 1);
    assert_near(must(&r, "avg")->last, 30);
    assert_near(must(&r, "count")->last, 3);
    assert_near(must(&r, "one")->last, 5);
    assert_near(must(&r, "glob")->last, 9);
    assert_near(must(&r, "not")->last, 5); /* "/x" itself is not below "/x" */
    assert_near(must(&r, "either")->last, 4);
    assert_null(get(&r, "none"));
    assert_near(must(&r, "second")->last, 9);
    assert_near(must(&r, "first")->last, 9);
}

static void test_source_is_chosen_for_the_whole_window(void **state)
{
    (void)state;
    static const char *const texts[] = {"old 1\n", "old 2\nnew 10\n", "old 3\nnew 20\n"};
    RESULT r =
        apply(adapter_from("benchctl-adapter: 1\nmetrics:\n  v: {from: [{series: new}, {series: old}]}\n"),
              texts, 3);

    assert_near(must(&r, "v")->avg, 15); /* never a mixture */
    assert_near(must(&r, "v")->gaps, 1);
}

static void test_flaws_are_noted(void **state)
{
    (void)state;
    static const char *const texts[] = {"v 1\nv 2\nbad\nw{a=\"\\x\"} 1", "v 1\n"};
    RESULT r = apply(adapter_from("benchctl-adapter: 1\nmetrics:\n  v: {from: [{series: v}]}\n"), texts, 2);

    assert_true(noted(&r, "1 scrapes were cut short"));
    assert_true(noted(&r, "1 lines of the scrapes could not be read, the first was line 3"));
    assert_true(noted(&r, "1 times the same series"));
    assert_true(noted(&r, "1 unknown escapes"));
}

/* --- recorded text --- */

static void record(struct strbuf *out, enum record_kind kind, const char *body, double wall_ms)
{
    struct record r = {.kind = kind,
                       .at_ms = 12.5,
                       .wall_ms = wall_ms,
                       .status = 200,
                       .body = body,
                       .len = strlen(body),
                       .type = "text/plain; version=0.0.4",
                       .reason = "connection\nrefused"};

    record_write(&r, out);
}

static void test_recorded_text(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    record(&text, RECORD_SCRAPE, "c 1000\n", NAN);
    record(&text, RECORD_WINDOW, "", NAN);
    record(&text, RECORD_SCRAPE, "c 10\n# benchctl window at_ms=1\n",
           NAN); /* a body's own text decides nothing */
    record(&text, RECORD_FAILED, "", NAN);
    strbuf_adds(&text, "# benchctl something new\n");
    record(&text, RECORD_SCRAPE, "c 15", NAN); /* without a newline at its end */
    record(&text, RECORD_RESTARTED, "", NAN);
    record(&text, RECORD_SCRAPE, "c 20\nold 1 1000\nnew 2 99000\n", 100000);
    const char *texts[] = {strbuf_text(&text)};
    RESULT r = apply(adapter_from("benchctl-adapter: 1\nmetrics:\n  c: {kind: counter, from: [{series: c}]}\n"
                                  "  old: {from: [{series: old}]}\n  new: {from: [{series: new}]}\n"),
                     texts, 1);

    assert_near(must(&r, "c")->increase, 5 + 20);
    assert_near(must(&r, "c")->gaps, 1);
    assert_null(get(&r, "old")); /* its own timestamp was over a minute old */
    assert_near(must(&r, "new")->last, 2);
    assert_true(noted(&r, "1 of 4 scrapes failed, the last because: connection refused"));
    assert_true(noted(&r, "1 samples were left out"));
}

static void test_damaged_record(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\n",
        "# benchctl scrape",
        "# benchctl scrape at_ms=1 bytes=99999999999 type=\nc 1\n",
        "# benchctl scrape at_ms=x status=-9 bytes=-5 type=\nc 1\n",
        "# benchctl \n# benchctl \n",
        "# benchctl scrape bytes=1e30\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        RESULT r = apply(adapter_from(counters), &texts[i], 1);
        assert_int_equal(r.len, 0);
    }
}

/* --- the language --- */

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
    CLEANUP(metric_adapter_free) struct metric_adapter *good = adapter_from(counters);
    assert_string_equal(metric_adapter_name(good), "test");
    assert_string_equal(metric_adapter_file(good), "dir/test.yaml");
    assert_string_equal(metric_adapter_help(good), "");
}

static void test_unknown_adapter(void **state)
{
    (void)state;
    struct metric_adapter *a = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(metric_adapter_read("nosuch", source_dirs, &a, &err), -1);
    assert_has(err.message, "no metric adapter 'nosuch'");
    assert_has(err.hint, "adapters/metrics");
    assert_int_equal(metric_adapter_read("../metrics/go", source_dirs, &a, &err), -1);
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
        if (!get(&r, *names))
            fail_msg("%s: %s has no value", name, *names);
    assert_true(*metric_adapter_help(r.adapter));
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
        skip();
    }
    check_shipped("micrometer", spring, java);
    check_shipped("go", alert, go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nan_is_a_gap),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_absent_is_explained),
        cmocka_unit_test(test_counter_that_begins_again),
        cmocka_unit_test(test_series_that_come_late),
        cmocka_unit_test(test_one_series_of_several_restarts),
        cmocka_unit_test(test_no_events),
        cmocka_unit_test(test_combine_labels_scale),
        cmocka_unit_test(test_source_is_chosen_for_the_whole_window),
        cmocka_unit_test(test_flaws_are_noted),
        cmocka_unit_test(test_recorded_text),
        cmocka_unit_test(test_damaged_record),
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

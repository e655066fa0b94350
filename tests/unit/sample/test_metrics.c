/* SPDX-License-Identifier: MIT */
/* Metric adapters: what scrapes give by their names, over gaps, restarts and series that come late. */
#include "metrics_test.h"
#include "record.h"

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
    assert_null(value_of(&none, "pool_active")); /* nothing but NaN: not available, never 0 */
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
            assert_null(value_of(&r, "pool_pending_max"));
        else
            assert_near(must(&r, "pool_pending_max")->last, cases[i].pending);
        if (isnan(cases[i].gc_ms)) {
            assert_null(value_of(&r, "gc_pause_total_ms"));
            assert_null(value_of(&r, "gc_pause_avg_ms"));
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
    assert_null(value_of(&r, "pause_ms"));
}

static void test_no_events(void **state)
{
    (void)state;
    static const char *const texts[] = {"gc_count 0\ngc_sum 0\n", "gc_count 0\ngc_sum 0\n"};
    RESULT r = apply(adapter_from(counters), texts, 2);

    assert_near(must(&r, "pauses")->increase, 0);
    assert_null(value_of(&r, "pause_ms")); /* the mean of nothing is nothing */
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
    assert_null(value_of(&r, "none"));
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
    assert_null(value_of(&r, "old")); /* its own timestamp was over a minute old */
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

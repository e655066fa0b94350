/* SPDX-License-Identifier: MIT */
/* Results from HdrHistogram logs of another implementation, and what an adapter may not say about logs and
 * streams. */
#include "load_test.h"

#define HEAD                                                                                                 \
    "benchctl-adapter: 1\nprogram: p\noutputs:\n"                                                            \
    "  log: {file: a.hlog, format: hdrlog, unit: us}\n"                                                      \
    "  nanos: {file: n.hlog, format: hdrlog, unit: ns}\n"                                                    \
    "  lines: {file: s.ndjson, format: ndjson, stream: {metric: /m, value: /v, requests: r, latency: l}}\n"  \
    "  text: {file: stdout.txt}\n"
#define REPORT(output, accept, values)                                                                       \
    HEAD "reports:\n  - name: x\n    output: " output "\n    accept: " accept "\n    required: []\n" values

static struct load_adapter *made(const char *text)
{
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (adapter_from(text, &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

static const char all[] =
    "    values: {requests: {histogram: count}}\n"
    "    latency: {min: {histogram: min}, mean: {histogram: mean}, stdev: {histogram: stdev}, p50: "
    "{histogram: p50}, p99: {histogram: p99}, p999: {histogram: p99.9}, max: {histogram: max}}\n";

/* The figures of tests/data/histogram/NAME.expected. */
static double expected_of(const char *name, const char *what)
{
    CLEANUP_FREE char *path = xasprintf("%s/data/histogram/%s.expected", TESTS_DIR, name);
    CLEANUP(fclose) FILE *f = fopen(path, "re");
    char key[32];
    double value;

    assert_non_null(f);
    while (fscanf(f, "%31s %lf", key, &value) == 2)
        if (strcmp(key, what) == 0)
            return value;
    fail_msg("no %s in %s", what, path);
    return NAN;
}

static void check_log(const char *adapter, const char *name, double share)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = made(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = xasprintf("%s/data/histogram/%s.hlog", TESTS_DIR, name);
    struct load_result r;
    struct error err = ERROR_INIT;

    if (parse_file(a, path, arena, &r, NULL, &err) < 0)
        fail_msg("%s", err.message);
    const struct {
        const char *what;
        double is;
    } figures[] = {
        {"count", r.requests},     {"mean", r.latency_ms.mean}, {"stdev", r.latency_ms.stdev},
        {"p50", r.latency_ms.p50}, {"p99", r.latency_ms.p99},   {"p99.9", r.latency_ms.p999},
        {"max", r.latency_ms.max},
    };
    for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
        double wanted = expected_of(name, figures[i].what);
        if (!(fabs(figures[i].is - wanted) <= share * wanted))
            fail_msg("%s: %s is %.10g instead of %.10g", name, figures[i].what, figures[i].is, wanted);
    }
}

static void merged_logs(void **state)
{
    static const char micro[] = REPORT("log", "['']", "");
    static const char nano[] = REPORT("nanos", "['']", "");
    CLEANUP_FREE char *micros = xasprintf("%s%s", micro, all);
    CLEANUP_FREE char *nanos = xasprintf("%s%s", nano, all);

    (void)state;
    check_log(micros, "microseconds", 1e-9);
    check_log(micros, "hiccups", 1e-9); /* tags and all, CRLF */
    check_log(nanos, "nanoseconds", 0.0025);
}

static void by_tag(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a = made(
        REPORT("log", "[read]",
               "    values: {requests: {histogram: count}, dropped: {histogram: count, tag: '^write'}, "
               "received_bytes: {histogram: count, tag: '^none$'}}\n"
               "    latency: {p50: {histogram: p50, tag: '^read$'}, p99: {histogram: p99, tag: '^$'}}\n"
               "    errors: {a: {histogram: count, tag: '^read$'}, b: {histogram: count, tag: '^$'}}\n"));
    CLEANUP(load_adapter_free) struct load_adapter *other = made(REPORT("log", "[delete]", ""));
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(parse_file(a, TESTS_DIR "/data/histogram/hiccups.hlog", arena, &r, NULL, &err), 0);
    assert_true(r.requests == 5000 && r.dropped == 1000 && isnan(r.received_bytes));
    assert_true(r.errors[0].count == 2000 && r.errors[1].count == 2000);
    assert_true(r.latency_ms.p50 > 0.3 && r.latency_ms.p50 < 0.5 && r.latency_ms.p99 > 1);
    assert_int_equal(parse_file(other, TESTS_DIR "/data/histogram/hiccups.hlog", arena, &r, NULL, &err), -1);
    assert_has(err.message, "has no 'delete'");
}

static void broken_logs(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a = made(REPORT("log", "['']", "    values: {requests: {histogram: count}}\n"));
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "cut.hlog");
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct load_result r;
    struct error err = ERROR_INIT;

    assert_int_equal(fs_read(TESTS_DIR "/data/histogram/microseconds.hlog", 1 << 20, &text, &err), 0);
    assert_int_equal(fs_write(path, text.data, text.len - 50, &err), 0);
    assert_int_equal(parse_file(a, path, arena, &r, NULL, &err), -1);
    assert_has(err.message, "cut.hlog:8: the last line is cut short");
    assert_int_equal(fs_write(path, "# nothing\n", 10, &err), 0);
    err = (struct error)ERROR_INIT;
    assert_int_equal(parse_file(a, path, arena, &r, NULL, &err), -1);
    assert_has(err.message, "has no ''");
}

static void refused(const char *text, const char *why)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(adapter_from(text, &a, &err), -1);
    assert_has(err.message, why);
}

static void what_cannot_be(void **state)
{
#define VALUE(output, value) REPORT(output, "[x]", "    values: {requests: {" value "}}\n")
#define OUTPUT(rest)                                                                                         \
    "benchctl-adapter: 1\nprogram: p\noutputs:\n  o: {file: a, " rest                                        \
    "}\nreports:\n  - {name: x, output: o, accept: [a]}\n"
    (void)state;
    refused(VALUE("log", "histogram: sum"), "a histogram has no sum");
    refused(VALUE("log", "histogram: p101"), "unknown take 'p101'");
    refused(VALUE("log", "json: /a"), "output 'log' is hdrlog: read it by histogram");
    refused(VALUE("lines", "histogram: p50"), "output 'lines' is ndjson: read it by metric");
    refused(VALUE("text", "metric: a"), "output 'text' is text: read it by text");
    refused(VALUE("lines", "metric: r, take: p50"), "no p50 is kept of 'r'");
    refused(VALUE("lines", "metric: l, take: stdev"), "no stdev is kept of 'l'");
    refused(VALUE("lines", "metric: r, take: sum, group: '^5'"), "by group there are only");
    refused(VALUE("log", "histogram: count, metric: a"), "exactly one of");
    refused(VALUE("log", "histogram: count, tag: '('"), "");
    refused(OUTPUT("format: ndjson"), "needs stream");
    refused(OUTPUT("format: text, stream: {metric: /m, value: /v}"), "needs stream");
    refused(OUTPUT("format: hdrlog, unit: kB"), "the unit of a hdrlog is ns, us, ms or s");
    refused(OUTPUT("format: ndjson, stream: {metric: m, value: /v}"), "'m' cannot be read from a stream");
    refused(OUTPUT("format: ndjson, stream: {metric: /m, value: /m}"), "it is used twice");
    refused(OUTPUT("format: ndjson, stream: {metric: /m}"), "value");
    refused(
        OUTPUT("format: ndjson, stream: {metric: /m, value: /v, where: {/a: x, /b: x, /c: x, /d: x, /e: x}}"),
        "at most 4 conditions");
}

/* A stream of another tool than k6: numbers as times, seconds as latencies. */
static void another_stream(void **state)
{
    static const char adapter[] =
        "benchctl-adapter: 1\nprogram: p\noutputs:\n  s:\n    file: s.ndjson\n    format: ndjson\n    "
        "stream: "
        "{metric: /n, value: /x/v, time: /ts, time_unit: ms, group: /x/code, requests: done, latency: took, "
        "latency_unit: s, where: {/k: sample}}\n"
        "reports:\n  - name: s\n    output: s\n    accept: [done]\n"
        "    values: {requests: {metric: done, take: count}, received_bytes: {metric: bytes, take: sum, "
        "unit: kB}}\n"
        "    latency: {p50: {metric: took, take: p50}, max: {metric: took, take: max, unit: s}}\n"
        "    errors: {status: {metric: done, take: count, group: '^5'}}\n";
    static const char lines[] =
        "{\"k\":\"sample\",\"n\":\"done\",\"x\":{\"v\":1,\"code\":\"200\"},\"ts\":1700000000000}\n"
        "{\"k\":\"sample\",\"n\":\"took\",\"x\":{\"v\":0.25},\"ts\":1700000000000}\n"
        "{\"k\":\"sample\",\"n\":\"done\",\"x\":{\"v\":1,\"code\":\"503\"},\"ts\":1700000001000}\n"
        "{\"k\":\"sample\",\"n\":\"took\",\"x\":{\"v\":0.5},\"ts\":1700000001500.5}\n"
        "{\"k\":\"note\",\"n\":\"took\",\"x\":{\"v\":9},\"ts\":1700000001500.5}\n"
        "{\"k\":\"sample\",\"n\":\"bytes\",\"x\":{\"v\":3},\"ts\":\"no\"}\n";
    CLEANUP(load_adapter_free) struct load_adapter *a = made(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "s.ndjson");
    struct load_result r;
    struct error err = ERROR_INIT;

    assert_int_equal(fs_write(path, lines, strlen(lines), &err), 0);
    assert_int_equal(parse_file(a, path, arena, &r, NULL, &err), 0);
    assert_true(r.requests == 2 && r.failed == 1 && r.received_bytes == 3000);
    check_number("p50", r.latency_ms.p50, 250); /* by nearest rank */
    check_number("max", r.latency_ms.max, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_logs),    cmocka_unit_test(by_tag),         cmocka_unit_test(broken_logs),
        cmocka_unit_test(what_cannot_be), cmocka_unit_test(another_stream),
    };

    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

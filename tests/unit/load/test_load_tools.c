/* SPDX-License-Identifier: MIT */
/* The adapters of ghz, h2load and artillery: their calls, layouts of other versions than the recorded ones.
 */
#include "load_test.h"

static const struct load_call plain = {.target = "http://10.0.0.2:8080",
                                       .path = "/items",
                                       .duration_ns = 10 * INT64_C(1000000000),
                                       .output_dir = "/out"};

/* The call with these options, or with NULL as `wanted` none and a message that says `message`. */
static void called(const char *adapter, const struct load_call *base, const char *yaml, const char *wanted,
                   const char *message)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    struct load_call call = *base;
    struct load_command c;
    struct error err = ERROR_INIT;

    if (yaml)
        assert_int_equal(tree_parse(yaml, strlen(yaml), "m.yaml", arena, &call.options, &err), 0);
    int rc = load_adapter_command(a, &call, arena, &c, &err);
    if (message) {
        assert_int_equal(rc, -1);
        assert_has(err.message, message);
        return;
    }
    if (rc < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < c.argv.len; i++)
        strbuf_addf(&line, "%s%s", i ? " " : "", c.argv.items[i]);
    assert_string_equal(strbuf_text(&line), wanted);
}

static void version_of(const char *adapter, const char *said, const char *wanted)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const char *is = load_adapter_read_version(a, said, arena);

    assert_non_null(is);
    assert_string_equal(is, wanted);
}

static void versions(void **state)
{
    (void)state;
    version_of("h2load", "h2load nghttp2/1.52.0\n", "1.52.0");
    version_of("ghz", "0.120.0\n", "0.120.0");
    version_of("ghz", "v0.94.0\n", "0.94.0");
    version_of("ghz", "dev\n", "dev");
    version_of("artillery", "  ___\n\nVERSION INFO:\n\nArtillery: 2.0.21\nNode.js:   v20.20.2\n", "2.0.21");
}

static void calls_of_h2load(void **state)
{
    struct load_call call = plain;

    (void)state;
    called("h2load", &call, NULL,
           "h2load --h1 -c 16 -t 1 -m 1 -D 10000ms --log-file=/out/requests.tsv http://10.0.0.2:8080/items",
           NULL);
    call.version = "1.52.0";
    called("h2load", &call,
           "{protocol: h2, connections: 4, threads: 2, streams: 8, rate_per_connection: 20, log: false, "
           "headers: {a: b c}, flags: [-f, 32K]}",
           "h2load -c 4 -t 2 -m 8 --rps=20 -H a: b c -D 10000ms -f 32K http://10.0.0.2:8080/items", NULL);
    call.version = "1.69.0";
    called("h2load", &call, "{request_count: 100}",
           "h2load --h1 -c 16 -t 1 -m 1 -n 100 --log-file=/out/requests.tsv --output-file=/out/report.json "
           "http://10.0.0.2:8080/items",
           NULL);
    called("h2load", &call, "{threads: 20}", NULL, "20 threads cannot share 16 connections");
    called("h2load", &call, "{protocol: h3}", NULL, "'h3' is not a value of option 'protocol'");
}

static void calls_of_ghz(void **state)
{
    struct load_call call = plain;

    (void)state;
    called("ghz", &call, "{call: a.B/C}",
           "ghz --call=a.B/C --concurrency=16 --connections=1 --timeout=20s --connect-timeout=10s --insecure "
           "--duration=10s --duration-stop=wait --format=json --output=/out/report.json 10.0.0.2:8080",
           NULL);
    call.script = "/m/a.proto";
    called("ghz", &call,
           "{call: a.B/C, data: '{\"n\": \"{{.RequestNumber}}\"}', rate: 50, async: true, request_count: 7, "
           "tls: true, "
           "verify: false}",
           "ghz --call=a.B/C --data={\"n\": \"{{.RequestNumber}}\"} --concurrency=16 --connections=1 "
           "--rps=50 --async "
           "--total=7 --timeout=20s --connect-timeout=10s --proto=/m/a.proto --skipTLS "
           "--duration-stop=wait --format=json --output=/out/report.json 10.0.0.2:8080",
           NULL);
    called("ghz", &call, "{call: x, protoset: true, connections: 2, flags: [--count-errors]}",
           "ghz --call=x --concurrency=16 --connections=2 --timeout=20s --connect-timeout=10s "
           "--protoset=/m/a.proto "
           "--insecure --duration=10s --duration-stop=wait --format=json --output=/out/report.json "
           "--count-errors "
           "10.0.0.2:8080",
           NULL);
    called("ghz", &call, NULL, NULL, "load adapter 'ghz' needs option 'call'");
    called("ghz", &call, "{call: x, async: true}", NULL, "async needs a rate");
    called("ghz", &call, "{call: x, connections: 20}", NULL, "20 connections cannot be shared by 16 workers");
}

static void calls_of_artillery(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("artillery");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_call call = plain;
    struct error err = ERROR_INIT;
    struct load_command c;

    (void)state;
    called("artillery", &call, NULL, NULL, "artillery needs a script or an arrival_rate");
    called("artillery", &call, "{arrival_rate: 5}",
           "artillery run --quiet --target=http://10.0.0.2:8080 --output=/out/report.json --overrides "
           "{\"config\": "
           "{\"phases\": [{\"duration\": 10, \"arrivalRate\": 5}]}} /out/benchctl-script.json",
           NULL);
    call.script = "/m/s.yml";
    called("artillery", &call, "{environment: lab, variables: '{}', flags: [--solo]}",
           "artillery run --quiet --target=http://10.0.0.2:8080 --output=/out/report.json --environment=lab "
           "--variables={} --solo /m/s.yml",
           NULL);
    call.duration_ns = 500 * INT64_C(1000000);
    called("artillery", &call, "{arrival_rate: 5}", NULL, "'500ms' is not a whole number of seconds");
    assert_int_equal(load_adapter_command(a, &call, arena, &c, &err), 0); /* the script has its own phases */
    assert_string_equal(text_map_get(&c.env, "ARTILLERY_DISABLE_TELEMETRY"), "true");
    assert_string_equal(text_map_get(&c.env, "BENCHCTL_DURATION"), "0.5");
    assert_has(text_map_get(&c.files, "benchctl-script.json"), "\"url\": \"/items\"");
}

/* ---- reading ---- */

static int collected(const char *adapter, const char *dir, const char *yaml, struct arena *arena,
                     struct load_result *r, struct load_problems *p, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    struct load_call call = plain;

    if (yaml)
        assert_int_equal(tree_parse(yaml, strlen(yaml), "m.yaml", arena, &call.options, err), 0);
    const struct load_outcome o = {.ran = true, .window_ms = 10100, .call = &call};
    return load_adapter_collect(a, dir, &o, arena, r, p, err);
}

static double error_of(const struct load_result *r, const char *kind)
{
    for (size_t i = 0; i < r->error_count; i++)
        if (strcmp(r->errors[i].kind, kind) == 0)
            return r->errors[i].count;
    return NAN;
}

/* What 1.69 and later print. */
static const char new_text[] =
    "starting benchmark...\n\nfinished in 10.00s, 100.00 req/s, 1.00KB/s\n"
    "requests: 1000 total, 1004 started, 1000 done, 990 succeeded, 10 failed, 4 errored, 3 timeout\n"
    "status codes: 990 2xx, 0 3xx, 1 4xx, 5 5xx\n"
    "traffic: 10.00KB (10240) total, 5.00KB (5120) headers (space savings 0.00%), 5.00KB (5120) data\n"
    "                 min         max         median      p95         p99         mean        sd         +/- "
    "sd\n"
    "request     :       55us     90.00ms     12.50ms     31.00ms     58.00ms     14.00ms      2.00ms   "
    "92.00%\n"
    "connect     :       68us       317us       163us       163us       163us       163us       107us   "
    "75.00%\n"
    "TTFB        :      274us       518us       368us       368us       368us       368us       105us   "
    "75.00%\n"
    "req/s       :    1000.00     1100.00     1050.00     1050.00     1050.00     1050.00       10.00   "
    "75.00%\n";

static void new_text_of_h2load(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "stdout.txt", new_text);
    if (collected("h2load", *state, NULL, arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("requests", r.requests, 1000);
    check_number("failed", r.failed, 10);
    check_number("timeout", error_of(&r, "timeout"), 3);
    check_number("other", error_of(&r, "other"), 1);
    check_number("5xx", error_of(&r, "status_5xx"), 5);
    check_number("min", r.latency_ms.min, 0.055);
    check_number("p50", r.latency_ms.p50, 12.5);
    check_number("p95", r.latency_ms.p95, 31);
    check_number("p99", r.latency_ms.p99, 58);
    check_number("mean", r.latency_ms.mean, 14);
    check_number("stdev", r.latency_ms.stdev, 2);
    check_number("max", r.latency_ms.max, 90);
    check_number("p90", r.latency_ms.p90, NAN);
}

/* With the record of every request there are all percentiles; a stream that failed has no time. */
static void log_of_h2load(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf log = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    for (int i = 0; i < 1000; i++)
        strbuf_addf(&log, "1796034916088087\t%d\t%d\n", i < 10 ? 500 : 200, (i + 1) * 80);
    strbuf_adds(&log, "1796034916088087\t-1\t9999999\n");
    put(*state, "stdout.txt", new_text);
    put(*state, "requests.tsv", strbuf_text(&log));
    if (collected("h2load", *state, NULL, arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("p50", r.latency_ms.p50, 40);
    check_number("p75", r.latency_ms.p75, 60);
    check_number("p90", r.latency_ms.p90, 72);
    check_number("p99.9", r.latency_ms.p999, 79.92);
    assert_int_equal(p.len, 0); /* the text is all that old versions have */
    put(*state, "report.json",
        "{\"version\":\"v1\",\"metadata\":{\"generator\":\"h2load "
        "1.69.0\"},\"measurements\":{\"duration\":10.0001,"
        "\"request_per_second\":100,\"bytes_per_second\":5,\"requests\":{\"total\":1000,\"started\":1000,"
        "\"done\":1000,"
        "\"succeeded\":990,\"failed\":10,\"errored\":4,\"timeout\":3},\"status_codes\":{\"2xx\":990,\"3xx\":"
        "0,\"4xx\":1,"
        "\"5xx\":5},\"traffic\":{\"total\":10240,\"headers\":1},\"performance\":{\"request\":{\"min\":0."
        "000055,"
        "\"max\":0.09,\"median\":0.0125,\"p95\":0.031,\"p99\":0.058,\"mean\":0.014,\"sd\":0.002,\"samples\":["
        "1,2]}}}}");
    assert_int_equal(collected("h2load", *state, NULL, arena, &r, &p, &err), 0);
    check_number("p95", r.latency_ms.p95, 76);
    check_number("max", r.latency_ms.max, 90);
    check_number("received", r.received_bytes, 10240);
    put(*state, "requests.tsv", "");
    assert_int_equal(collected("h2load", *state, NULL, arena, &r, &p, &err), 0);
    check_number("p95", r.latency_ms.p95, 31);
    check_number("p90", r.latency_ms.p90, NAN);
    check_number("timeout", error_of(&r, "timeout"), 3);
    assert_int_equal(p.invalid_len, 0);
    assert_int_equal(
        collected("h2load", *state, "{rate_per_connection: 10, connections: 10}", arena, &r, &p, &err), 0);
    assert_int_equal(p.invalid_len, 0);
    assert_int_equal(
        collected("h2load", *state, "{rate_per_connection: 11, connections: 10}", arena, &r, &p, &err), 0);
    assert_int_equal(p.invalid_len, 1);
    assert_has(p.invalid[0].sentence, "load not delivered: 1000 requests instead of 1100");
}

/* Time-outs take longer than any good answer: the mean of all calls is not that of the good ones. */
static void failed_calls_of_ghz(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "report.json",
        "{\"count\": 100, \"total\": 10000000000, \"average\": 5000000000, \"fastest\": 1000000, "
        "\"slowest\": 9000000,"
        "\"rps\": 10, \"errorDistribution\": {\"x\": 30}, \"statusCodeDistribution\": {\"OK\": 70, "
        "\"Unavailable\": 4,"
        "\"DeadlineExceeded\": 25, \"Internal\": 1}, \"latencyDistribution\": [{\"percentage\": 50, "
        "\"latency\": 2000000},"
        "{\"percentage\": 99, \"latency\": 8000000}], \"details\": [{\"latency\": 20000000000}]}");
    if (collected("ghz", *state, NULL, arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("ok", r.ok, 70);
    check_number("connect", error_of(&r, "connect"), 4);
    check_number("timeout", error_of(&r, "timeout"), 25);
    check_number("status", error_of(&r, "status"), 1);
    check_number("mean", r.latency_ms.mean, NAN);
    check_number("p99", r.latency_ms.p99, 8);
    check_number("p99.9", r.latency_ms.p999, NAN);
    put(*state, "report.json",
        "{\"count\": 30, \"total\": 10000000000, \"average\": 5000000000, \"fastest\": 0, \"slowest\": 0, "
        "\"rps\": 3,"
        "\"errorDistribution\": {\"x\": 30}, \"statusCodeDistribution\": {\"Unavailable\": 30},"
        "\"latencyDistribution\": null, \"details\": null}");
    assert_int_equal(collected("ghz", *state, NULL, arena, &r, &p, &err), -1);
    assert_has(err.message, "nothing measured: none of 30 requests was answered; errors: connect 30");
    put(*state, "report.json",
        "{\"count\": 100, \"total\": 10000000000, \"average\": 5, \"fastest\": 1, \"slowest\": 9, \"rps\": "
        "10,"
        "\"statusCodeDistribution\": {\"OK\": 40}, \"latencyDistribution\": null}");
    assert_int_equal(collected("ghz", *state, "{rate: 30}", arena, &r, &p, &err), 0);
    assert_int_equal(p.invalid_len, 2);
    assert_string_equal(p.invalid[0].sentence, "unaccounted: 100 calls, but 40 with a status");
    assert_string_equal(p.invalid[1].sentence, "load not delivered: 100 calls instead of 300");
}

static void reports_of_artillery(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "report.json",
        "{\"aggregate\": {\"counters\": {\"vusers.created_by_name.0\": 60, \"vusers.created\": 60, "
        "\"http.requests\": 100,"
        "\"http.codes.200\": 80, \"http.codes.404\": 4, \"http.codes.503\": 6, \"http.responses\": 90,"
        "\"http.downloaded_bytes\": 500, \"plugins.metrics-by-endpoint./.codes.503\": 6, "
        "\"errors.ECONNREFUSED\": 7,"
        "\"plugins.metrics-by-endpoint./.errors.ECONNREFUSED\": 7, \"errors.ETIMEDOUT\": 3, "
        "\"vusers.failed\": 10,"
        "\"errors.Failed capture or match\": 5, \"vusers.completed\": 50}, \"rates\": "
        "{\"http.request_rate\": 6},"
        "\"firstMetricAt\": 1796052387000, \"lastMetricAt\": 1796052397000, \"summaries\": "
        "{\"http.response_time\": {"
        "\"min\": 2, \"max\": 21, \"count\": 90, \"mean\": 13.6, \"p50\": 16, \"median\": 16, \"p75\": 16.9, "
        "\"p90\": 21.1,"
        "\"p95\": 21.1, \"p99\": 21.1, \"p999\": 21.1}}}, \"intermediate\": []}");
    if (collected("artillery", *state, "{arrival_rate: 6}", arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("requests", r.requests, 100);
    check_number("failed", r.failed, 20);
    check_number("connect", error_of(&r, "connect"), 7);
    check_number("timeout", error_of(&r, "timeout"), 3);
    check_number("other", error_of(&r, "other"), 0);
    check_number("4xx", error_of(&r, "status_4xx"), 4);
    check_number("5xx", error_of(&r, "status_5xx"), 6);
    check_number("rps", r.rps, 10);
    check_number("p99.9", r.latency_ms.p999, 21.1);
    check_number("received", r.received_bytes, 500);
    check_number("duration", r.duration_ms, 10000);
    assert_string_equal(r.model, "open");
    assert_int_equal(p.invalid_len, 0);
    assert_string_equal(p.items[0], "10 of 60 virtual users failed");
    assert_int_equal(collected("artillery", *state, "{arrival_rate: 7}", arena, &r, &p, &err), 0);
    assert_string_equal(p.invalid[0].sentence, "load not delivered: 60 users arrived instead of 70");
    put(*state, "report.json",
        "{\"aggregate\": {\"timestamp\": \"x\", \"scenariosCreated\": 60, \"scenariosCompleted\": 58,"
        "\"requestsCompleted\": 90, \"latency\": {\"min\": 1.2, \"max\": 30, \"median\": 3, \"p95\": 9, "
        "\"p99\": 20},"
        "\"rps\": {\"count\": 90, \"mean\": 9}, \"errors\": {\"ECONNRESET\": 2}, \"codes\": {\"200\": 85, "
        "\"500\": 5}},"
        "\"intermediate\": []}");
    assert_int_equal(collected("artillery", *state, NULL, arena, &r, &p, &err), 0);
    check_number("requests", r.requests, 92);
    check_number("failed", r.failed, 7);
    check_number("p95", r.latency_ms.p95, 9);
    check_number("reset", error_of(&r, "reset"), 2);
    put(*state, "report.json",
        "{\"aggregate\": {\"counters\": {\"vusers.created\": 10, \"http.requests\": 10, "
        "\"errors.ECONNREFUSED\": 10},"
        "\"firstMetricAt\": 1, \"lastMetricAt\": 2000, \"summaries\": {}}}");
    assert_int_equal(collected("artillery", *state, NULL, arena, &r, &p, &err), -1);
    assert_has(err.message, "nothing measured: none of 10 requests was answered; errors: connect 10");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),      cmocka_unit_test(calls_of_h2load),
        cmocka_unit_test(calls_of_ghz),  cmocka_unit_test(calls_of_artillery),
        IN_SCRATCH(new_text_of_h2load),  IN_SCRATCH(log_of_h2load),
        IN_SCRATCH(failed_calls_of_ghz), IN_SCRATCH(reports_of_artillery),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

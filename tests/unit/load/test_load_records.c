/* SPDX-License-Identifier: MIT */
/* Files of single requests, and of percentiles, that come without the report beside which they were written.
 */
#include "load_test.h"

static double error_of(const struct load_result *r, const char *kind)
{
    for (size_t i = 0; i < r->error_count; i++)
        if (strcmp(r->errors[i].kind, kind) == 0)
            return r->errors[i].count;
    return NAN;
}

static int read_text(void **state, const char *adapter, const char *text, struct load_result *r,
                     struct load_problems *p, struct arena *arena)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP_FREE char *path = path_join(*state, "out");
    struct error err = ERROR_INIT;

    put(*state, "out", text);
    int rc = parse_file(a, path, arena, r, p, &err);
    if (rc < 0)
        print_message("%s: %s\n", adapter, err.message);
    return rc;
}

static void log_of_h2load(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    assert_int_equal(read_text(state, "h2load",
                               "1796055953932938\t200\t685\n1796055953932932\t503\t745\n"
                               "1796055953932940\t404\t100\n1796055953932941\t-1\t9999\n",
                               &r, &p, arena),
                     0);
    check_number("requests", r.requests, 4);
    check_number("failed", r.failed, 3);
    check_number("4xx", error_of(&r, "status_4xx"), 1);
    check_number("5xx", error_of(&r, "status_5xx"), 1);
    check_number("other", error_of(&r, "other"), 1);
    check_number("min", r.latency_ms.min, 0.1);
    check_number("p50", r.latency_ms.p50, 0.685);
    check_number("max", r.latency_ms.max, 0.745);
    check_number("mean", r.latency_ms.mean, 0.51);
    assert_int_equal(
        read_text(state, "h2load", "1796055953932938\t-1\t685\n1796055953932932\t-1\t745\n", &r, &p, arena),
        0);
    assert_non_null(p.nothing_measured);
    check_number("no latency", r.latency_ms.max, NAN);
    assert_int_equal(
        read_text(state, "h2load", "1796055953932938\t200\t685\n1796055953932932\t2", &r, &p, arena), -1);
}

/* Of few requests ab reads rows past the end of its list: what then stands there is no percentile. */
static void few_rows_of_ab(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    assert_int_equal(read_text(state, "ab",
                               "Percentage served,Time in ms\n0,59.424\n50,111.213\n75,0.257\n90,0.257\n"
                               "95,0.257\n98,0.257\n99,0.257\n100,111.213\n",
                               &r, &p, arena),
                     0);
    check_number("min", r.latency_ms.min, 59.424);
    check_number("p50", r.latency_ms.p50, 111.213);
    check_number("p75", r.latency_ms.p75, NAN);
    check_number("p90", r.latency_ms.p90, NAN);
    check_number("p95", r.latency_ms.p95, NAN);
    check_number("p99", r.latency_ms.p99, NAN);
    check_number("max", r.latency_ms.max, 111.213);
    assert_int_equal(read_text(state, "ab",
                               "Percentage served,Time in ms\n0,1\n50,9.5\n75,2\n90,3\n95,4\n98,4\n99,5\n"
                               "100,9\n",
                               &r, &p, arena),
                     0);
    check_number("above the last", r.latency_ms.p50, NAN);
    check_number("p75", r.latency_ms.p75, 2);
    check_number("p99", r.latency_ms.p99, 5);
}

/* One request, or two, in a run: the report says how many, and with it which rows are none. */
static void one_request_of_ab(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("ab");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct load_outcome o = {.ran = true, .window_ms = 1000};
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "stdout.txt",
        "This is ApacheBench, Version 2.3 <$Revision$>\nTime taken for tests:   0.016 seconds\n"
        "Complete requests:      1\nFailed requests:        0\nRequests per second:    61.11 [#/sec] (mean)\n"
        "Total:         16   16   0.0     16      16\n");
    put(*state, "percentiles.csv",
        "Percentage served,Time in ms\n0,16.346\n50,0.257\n75,0.257\n90,0.257\n95,0.257\n98,0.257\n"
        "99,0.257\n100,16.346\n");
    if (load_adapter_collect(a, *state, &o, arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("requests", r.requests, 1);
    check_number("p50", r.latency_ms.p50, NAN);
    check_number("p75", r.latency_ms.p75, NAN);
    check_number("max", r.latency_ms.max, 16.346);
}

/* The last answers of a short attack come long after the last request was sent. */
static void late_answers_of_vegeta(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    assert_int_equal(read_text(state, "vegeta",
                               "1796055939767173801,200,1036167337,0,6,,,,0,GET,http://x/,\n"
                               "1796055940567173801,0,2001535417,0,0,timeout,,,1,GET,http://x/,\n",
                               &r, &p, arena),
                     0);
    check_number("requests", r.requests, 2);
    check_number("rps", r.rps, 2.5);
    check_number("duration", r.duration_ms, NAN);
    check_number("max", r.latency_ms.max, 2001.535417);
    assert_int_equal(read_text(state, "vegeta",
                               "1796055939767173801,200,1000000,0,6,,,,0,GET,http://x/,\n"
                               "1796055940567173801,200,2000000,0,0,,,,1,GET,http://x/,\n",
                               &r, &p, arena),
                     0);
    check_number("duration", r.duration_ms, 800);
}

#define GHZ_TEXT(average, slowest, fastest, codes)                                                           \
    "\nSummary:\n  Count:\t3\n  Total:\t1.00 s\n  Slowest:\t" slowest "\n  Fastest:\t" fastest               \
    "\n  Average:\t" average "\n  Requests/sec:\t3.00\n\nResponse time histogram:\n\nLatency "               \
    "distribution:\n\nStatus code distribution:\n" codes

/* Least and greatest are those of good calls, and 0 where there are none; the mean is of all. */
static void failed_calls_in_text_of_ghz(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    assert_int_equal(read_text(state, "ghz",
                               GHZ_TEXT("1.98 ms", "0 ns", "0 ns", "  [Internal]   3 responses   \n"), &r, &p,
                               arena),
                     0);
    assert_null(p.nothing_measured);
    check_number("failed", r.failed, 3);
    check_number("max", r.latency_ms.max, NAN);
    check_number("mean", r.latency_ms.mean, NAN);
    assert_int_equal(read_text(state, "ghz",
                               GHZ_TEXT("1.00 s", "0 ns", "0 ns", "  [DeadlineExceeded]   3 responses   \n"),
                               &r, &p, arena),
                     0);
    assert_non_null(p.nothing_measured);
    assert_int_equal(read_text(state, "ghz",
                               GHZ_TEXT("600.00 ms", "1.50 ms", "1.20 ms",
                                        "  [OK]   2 responses   \n  [Unavailable]   1 responses   \n"),
                               &r, &p, arena),
                     0);
    check_number("failed", r.failed, 1);
    check_number("max", r.latency_ms.max, 1.5);
    check_number("mean", r.latency_ms.mean, NAN);
}

static void calls_of_ghz(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    assert_int_equal(read_text(state, "ghz",
                               "\nduration (ms),status,error\n5.97,OK,\n1.00,OK,\n"
                               "20000.00,DeadlineExceeded,\"rpc error: code = DeadlineExceeded, late\"\n"
                               "0.20,Internal,rpc error\n",
                               &r, &p, arena),
                     0);
    check_number("requests", r.requests, 4);
    check_number("failed", r.failed, 2);
    check_number("timeout", error_of(&r, "timeout"), 1);
    check_number("status", error_of(&r, "status"), 1);
    check_number("p50", r.latency_ms.p50, 1);
    check_number("max", r.latency_ms.max, 5.97);
}

#define K6_ROW(metric, value)                                                                                \
    metric ",1700000000," value ",,,,true,,GET,\"http://x/,\"\"q\",HTTP/1.1,default,,200,,,http://x/,,\n"
#define K6_THREE(duration, bad)                                                                              \
    K6_ROW("http_reqs", "1.000000")                                                                          \
    K6_ROW("http_req_duration", duration) K6_ROW("http_req_failed", bad)

/* k6 takes its percentiles between two values. */
static void samples_of_k6(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    assert_int_equal(read_text(state, "k6",
                               "metric_name,timestamp,metric_value,check,error,error_code,expected_response,"
                               "group,method,name,proto,scenario,service,status,subproto,tls_version,url,"
                               "extra_tags,metadata\n" K6_THREE("4.000000", "0.000000")
                                   K6_THREE("1.000000", "1.000000") K6_THREE("2.000000", "0.000000")
                                       K6_THREE("3.500000", "0.000000") K6_ROW("data_received", "50.5")
                                           K6_ROW("http_req_duration_of_mine", "900.0"),
                               &r, &p, arena),
                     0);
    check_number("requests", r.requests, 4);
    check_number("failed", r.failed, 1);
    check_number("received", r.received_bytes, 50.5);
    check_number("p50", r.latency_ms.p50, 2.75);
    check_number("p90", r.latency_ms.p90, 3.85);
    check_number("max", r.latency_ms.max, 4);
    check_number("mean", r.latency_ms.mean, 2.625);
}

/* Somebody asked for p(50) and not for med. */
static void median_of_k6(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    assert_int_equal(read_text(state, "k6",
                               "{\"metrics\": {\"http_reqs\": {\"count\": 4, \"rate\": 2}, "
                               "\"http_req_failed\": {\"passes\": 0, \"fails\": 4, \"value\": 0}, "
                               "\"http_req_duration\": {\"p(50)\": 2, \"max\": 3}}}",
                               &r, &p, arena),
                     0);
    check_number("p50", r.latency_ms.p50, 2);
}

/* The text less its last `cut` bytes: no result, or one that is not to be trusted. */
static void cut_text(void **state, const char *adapter, const char *text, size_t cut)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *short_text = xstrndup(text, strlen(text) - cut);
    struct load_problems p;
    struct load_result r;

    if (read_text(state, adapter, text, &r, &p, arena) < 0 || p.invalid_len)
        fail_msg("%s: the whole text is not read", adapter);
    if (read_text(state, adapter, short_text, &r, &p, arena) == 0 && !p.invalid_len)
        fail_msg("%s: %zu bytes less are a result", adapter, cut);
}

static void texts_cut_short(void **state)
{
    cut_text(state, "hey",
             "\nSummary:\n  Total:\t0.1000 secs\n  Slowest:\t0.0100 secs\n  Fastest:\t0.0010 secs\n  "
             "Average:\t0.0050 secs\n  Requests/sec:\t1000.0000\n\nStatus code distribution:\n  [200]\t90 "
             "responses\n  [500]\t10 responses\n",
             4);
    cut_text(state, "oha",
             "Summary:\n  Success rate:\t100.00%\n  Total:\t0.1000 sec\n  Slowest:\t0.0100 sec\n  "
             "Fastest:\t0.0010 sec\n  Average:\t0.0050 sec\n  Requests/sec:\t1000.0000\n\nStatus code "
             "distribution:\n  [200] 90 responses\n  [500] 10 responses\n",
             4);
    cut_text(state, "ghz",
             GHZ_TEXT("600.00 ms", "1.50 ms", "1.20 ms",
                      "  [OK]   2 responses   \n  [Unavailable]   1 responses   \n"),
             20);
    cut_text(
        state, "siege",
        "{\t\"transactions\":\t\t\t 60,\n\t\"elapsed_time\":\t 1.00,\n\t\"response_time\":\t 0.01,\n"
        "\t\"transaction_rate\":\t 60.00,\n\t\"throughput\":\t 0.01,\n\t\"successful_transactions\":\t 60,\n"
        "\t\"failed_transactions\":\t 0,\n\t\"longest_transaction\":\t 2.10,\n\t\"shortest_transaction\":\t "
        "1.06\n}\n",
        4);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(log_of_h2load),
        IN_SCRATCH(few_rows_of_ab),
        IN_SCRATCH(one_request_of_ab),
        IN_SCRATCH(late_answers_of_vegeta),
        IN_SCRATCH(failed_calls_in_text_of_ghz),
        IN_SCRATCH(calls_of_ghz),
        IN_SCRATCH(samples_of_k6),
        IN_SCRATCH(median_of_k6),
        IN_SCRATCH(texts_cut_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

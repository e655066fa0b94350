/* SPDX-License-Identifier: MIT */
/* Forms of reports that older and newer versions give, and what is odd in them. */
#include "load_test.h"

static struct load_result read_text(void **state, const char *adapter, const char *text,
                                    struct load_problems *p, struct arena *arena)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP_FREE char *path = path_join(*state, "out");
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "out", text);
    if (parse_file(a, path, arena, &r, p, &err) < 0)
        fail_msg("%s: %s", adapter, err.message);
    return r;
}

static double error_of(const struct load_result *r, const char *kind)
{
    for (size_t i = 0; i < r->error_count; i++)
        if (strcmp(r->errors[i].kind, kind) == 0)
            return r->errors[i].count;
    return NAN;
}

/* Whole seconds are followed by a blank, as the unit has one letter only. */
static void seconds_of_wrk(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r = read_text(
        state, "wrk",
        "Running 5s test @ http://x/\n  1 threads and 4 connections\n    Latency     1.30s   512.00us   "
        "1.31s    "
        "50.00%\n  Latency Distribution\n     50%    1.30s \n     75%    1.30s \n     90%    1.30s \n     "
        "99%    "
        "1.31s \n  12 requests in 5.02s, 256.00B read\nRequests/sec:      2.39\nTransfer/sec:    126.69B\n",
        &p, arena);

    check_number("p50", r.latency_ms.p50, 1300);
    check_number("p99", r.latency_ms.p99, 1310);
    r = read_text(
        state, "wrk2",
        "Running 5s test @ http://x/\n  1 threads and 4 connections\n    Latency     1.30s   512.00us   "
        "1.30s    50.00%\n  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.30s \n "
        "99.900%    1.50m \n100.000%    2.00h \n  Detailed Percentile spectrum:\n"
        "     1302.527     0.950000            4          20.00\n#[Max     =  1301.504, Total count    = "
        "           4]\n  4 requests in 3.00h, 256.00B read\n  Socket errors: connect 1, read 2, write 3, "
        "timeout 4\n  Non-2xx or 3xx responses: 1\nRequests/sec:      1.98\nTransfer/sec:    126.69B\n",
        &p, arena);
    check_number("p50", r.latency_ms.p50, 1300);
    check_number("p95", r.latency_ms.p95, 1302.527);
    check_number("p99.9", r.latency_ms.p999, 90000);
    check_number("max", r.latency_ms.max, 7200000);
    check_number("failed", r.failed, 11);
    check_number("timeout", error_of(&r, "timeout"), 4);
    assert_string_equal(r.model, "open");
}

/* The brackets say which columns there are. */
static void columns_of_vegeta(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r = read_text(
        state, "vegeta",
        "Requests      [total, rate]            1200, 120.00\nDuration      [total, attack, wait]    10m0s, "
        "9m59s, 1s\n"
        "Latencies     [mean, 50, 95, 99, max]  113.172398ms, 108.272568ms, 140.18235ms, 247.771566ms, "
        "264.815246ms\nBytes In      [total, mean]            3714690, 3095.57\nSuccess       [ratio]        "
        "          "
        "55.42%\nStatus Codes  [code:count]             0:500  200:665  404:30  503:5  \nError Set:\nGet "
        "http://x: connection refused\n",
        &p, arena);

    check_number("requests", r.requests, 1200);
    check_number("failed", r.failed, 535);
    check_number("4xx", error_of(&r, "status_4xx"), 30);
    check_number("5xx", error_of(&r, "status_5xx"), 5);
    check_number("no answer", error_of(&r, "no_answer"), 500);
    check_number("duration", r.duration_ms, 600000);
    check_number("min", r.latency_ms.min, NAN);
    check_number("mean", r.latency_ms.mean, 113.172398);
    check_number("p50", r.latency_ms.p50, 108.272568);
    check_number("p90", r.latency_ms.p90, NAN);
    check_number("p95", r.latency_ms.p95, 140.18235);
    check_number("p99", r.latency_ms.p99, 247.771566);
    check_number("max", r.latency_ms.max, 264.815246);
    assert_int_equal(p.invalid_len, 0);
    r = read_text(
        state, "vegeta",
        "Requests      [total, rate]            10, 10.00\nDuration      [total, attack, wait]    1s, "
        "1s, 0s\nLatencies     [mean, 50, 95, 99, max]  1ms, 1ms, 1ms, 1ms, 2ms\nStatus Codes  "
        "[code:count]             0:1  200:9  \nError Set:\nStatus Codes  500:7 of a server\n",
        &p, arena);
    check_number("of the error set", r.failed, 1);
}

static void json_of_vegeta(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r =
        read_text(state, "vegeta",
                  "{\"latencies\":{\"total\":9007199254740993,\"mean\":5000000,\"50th\":4000000,\"95th\":"
                  "6000000,\"99th\":7000000,"
                  "\"max\":8000000},\"bytes_in\":{\"total\":10,\"mean\":1},\"duration\":1000000000,\"wait\":"
                  "0,\"requests\":10,\"rate\":"
                  "10,\"success\":0.5,\"status_codes\":{\"0\":4,\"200\":5,\"500\":1},\"errors\":[\"500 "
                  "Internal Server Error\",\"Get "
                  "x: context deadline exceeded (Client.Timeout exceeded while awaiting headers)\"]}",
                  &p, arena);

    check_number("failed", r.failed, 5);
    check_number("timeout", error_of(&r, "timeout"), 4);
    check_number("connect", error_of(&r, "connect"), 0);
    check_number("5xx", error_of(&r, "status_5xx"), 1);
    r = read_text(
        state, "vegeta",
        "{\"latencies\":{\"mean\":5000000,\"50th\":4000000,\"99th\":7000000,\"max\":8000000},\"duration\":"
        "1000000000,\"wait\":0,\"requests\":10,\"rate\":10,\"status_codes\":{\"0\":4,\"200\":6},\"errors\":["
        "\"Get x: "
        "dial tcp: connect: cannot assign requested address\",\"Get x: EOF\"]}",
        &p, arena);
    check_number("no answer", error_of(&r, "no_answer"), 4); /* of two kinds, how many of each is not said */
    assert_int_equal(p.invalid_len, 1);
    assert_string_equal(p.invalid[0].id, "load-generator-limit");
}

#define AB_HEAD                                                                                              \
    "This is ApacheBench, Version 2.3 <$Revision$>\nServer Hostname:        ::1\nNumber of workers:      "   \
    "2\n"                                                                                                    \
    "Concurrency Level:      10\nConcurrency achieved:   10\nTime taken for tests:   2.500 seconds\nNumber " \
    "of "                                                                                                    \
    "requests:     1000\nComplete requests:      1000\n"

static void lines_of_ab(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r = read_text(
        state, "ab",
        AB_HEAD
        "Failed requests:        37\n   (Connect: 2, Receive: 3, Length: 30, Exceptions: 2)\nWrite errors:   "
        "   "
        "     1\nNon-2xx responses:      10\nTotal transferred:      1720000 bytes\nRequests per second:    "
        "400.00 [#/sec] (mean)\n              min  mean[+/-sd] median   max\nTotal:          0    1   0.6    "
        "  "
        "0       4\nWARNING: The median and mean for the total time are not within a normal deviation\n      "
        " "
        " These results are probably not that reliable.\n\n  50%      0\n  75%      1\n  90%      1\n  95%   "
        "   "
        "2\n  99%      4\n 100%      4 (longest request)\n",
        &p, arena);

    check_number("requests", r.requests, 1000);
    check_number("failed", r.failed, 18);
    check_number("status", error_of(&r, "status"), 10);
    check_number("connect", error_of(&r, "connect"), 2);
    check_number("read", error_of(&r, "read"), 3);
    check_number("write", error_of(&r, "write"), 1);
    check_number("other", error_of(&r, "other"), 2);
    check_number("p95", r.latency_ms.p95, 2);
    check_number("max", r.latency_ms.max, 4);
    check_number("duration", r.duration_ms, 2500);
}

/* hey counts all requests, but keeps the first million of them. */
static void million_of_hey(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r = read_text(state, "hey",
                                     "\nSummary:\n  Total:\t100.0000 secs\n  Slowest:\t0.0133 secs\n  "
                                     "Fastest:\t0.0001 secs\n  Average:\t0.0050 secs\n  "
                                     "Requests/sec:\t20000.0000\n\nLatency distribution:\n  50%% in 0.0003 "
                                     "secs\n  0%% in 0.0000 secs\n\nStatus code "
                                     "distribution:\n  [200]\t1000000 responses\n\n\n",
                                     &p, arena);

    check_number("p50", r.latency_ms.p50, 0.3);
    check_number("mean", r.latency_ms.mean, NAN);
    assert_int_equal(p.invalid_len, 1);
    assert_string_equal(p.invalid[0].id, "load-unaccounted");
    assert_has(p.invalid[0].sentence,
               "hey reports 2000000 requests, but status codes and errors are 1000000");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(seconds_of_wrk), IN_SCRATCH(columns_of_vegeta), IN_SCRATCH(json_of_vegeta),
        IN_SCRATCH(lines_of_ab),    IN_SCRATCH(million_of_hey),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

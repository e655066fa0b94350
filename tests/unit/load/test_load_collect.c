/* SPDX-License-Identifier: MIT */
/* From a run's directory to a result: exit statuses, missing, old and hostile output. */
#include "load_test.h"

#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include "benchctl/base/clock.h"

static const char good_k6[] =
    "{\"metrics\":{\"http_reqs\":{\"count\":1200,\"rate\":120},\"http_req_duration\":{\"avg\":9,\"min\":2,"
    "\"med\":8,\"max\":60,"
    "\"p(90)\":15,\"p(95)\":19,\"p(99)\":33},\"http_req_failed\":{\"passes\":0,\"fails\":1200,\"value\":0}}}";
static const char good_wrk[] = "{\"duration_us\":2000000,\"requests\":1000,\"bytes\":5000,\"errors\":{"
                               "\"connect\":0,\"read\":0,\"write\":0,\"status\":10,"
                               "\"timeout\":0},\"latency_us\":{\"min\":10,\"max\":5000,\"mean\":120,"
                               "\"stdev\":30,\"p50\":100,\"p75\":110,\"p90\":200,"
                               "\"p95\":300,\"p99\":1000,\"p99.9\":4000}}\n";
static const char good_text[] =
    "Running 2s test @ http://x/\n  2 threads and 16 connections\n  Thread Stats   Avg      Stdev     Max   "
    "+/- Stdev\n"
    "    Latency   120.00us   30.00us   5.00ms   90.00%\n  1000 requests in 2.00s, 4.88KB read\n"
    "Requests/sec:    500.00\nTransfer/sec:      2.44KB\n";

#define EXITED(status) ((status) << 8)

static int collect(const char *adapter, const char *dir, int wait_status, struct arena *arena,
                   struct load_result *r, struct load_problems *p, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    const struct load_outcome o = {.ran = true, .wait_status = wait_status, .window_ms = 2010};

    return load_adapter_collect(a, dir, &o, arena, r, p, err);
}

static void refused(const char *adapter, const char *dir, int wait_status, const char *part)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_result r;

    if (collect(adapter, dir, wait_status, arena, &r, NULL, &err) == 0)
        fail_msg("a result where '%s' was expected", part);
    assert_has(err.message, part);
}

/* A crossed threshold keeps the numbers; other statuses fail, and say what they mean and what the tool said.
 */
static void statuses(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "summary.json", good_k6);
    put(*state, "stderr.txt", "\n  first line\nsecond \x01 line\n");
    assert_int_equal(collect("k6", *state, EXITED(0), arena, &r, NULL, &err), 0);
    assert_int_equal(r.exit_status, 0);
    assert_null(r.exit_text);
    assert_int_equal(collect("k6", *state, EXITED(99), arena, &r, NULL, &err), 0);
    check_number("requests", r.requests, 1200);
    assert_int_equal(r.exit_status, 99);
    assert_string_equal(r.exit_text, "thresholds were crossed");
    refused("k6", *state, EXITED(107),
            "'k6' ended with exit status 107: the script failed; it said: first line; second ? line");
    refused("k6", *state, EXITED(3), "'k6' ended with exit status 3; it said");
    refused("k6", *state, 9, "'k6' was killed by signal 9 (KILL)");
}

static void no_output(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct load_outcome not_ended = {.ran = false};
    struct error err = ERROR_INIT;
    struct load_result r;

    refused("wrk", *state, EXITED(0),
            "no result of 'wrk': as Lua report: no file 'report.json'; as text: no file 'stdout.txt'");
    put(*state, "stdout.txt", "");
    refused("wrk", *state, EXITED(0), "stdout.txt has no line like '^Running .* test @ '; it is empty");
    put(*state, "report.json", "");
    refused("wrk", *state, EXITED(0), "report.json:1:0: not JSON");
    put(*state, "report.json", "{\"requests\":");
    refused("wrk", *state, EXITED(0), "not JSON");
    put(*state, "report.json", "{\"latency_us\": {}}");
    refused("wrk", *state, EXITED(0), "no 'requests'");
    put(*state, "report.json", "{\"latency_us\": {}, \"requests\": null, \"duration_us\": 1}");
    refused("wrk", *state, EXITED(0), "no 'requests'");
    put(*state, "report.json",
        "{\"latency_us\": {}, \"requests\": 0, \"duration_us\": 2000000, \"errors\": {\"read\": 3}}");
    refused("wrk", *state, EXITED(0), "nothing measured: no request was finished; errors: read 3");
    assert_int_equal(load_adapter_collect(a, *state, &not_ended, arena, &r, NULL, &err), -1);
    assert_has(err.message, "'wrk' did not end by itself");
}

static void whole(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "report.json", good_wrk);
    put(*state, "stdout.txt", "garbage that nobody looks at");
    assert_int_equal(collect("wrk", *state, EXITED(0), arena, &r, &p, &err), 0);
    assert_int_equal(p.len, 0);
    check_number("requests", r.requests, 1000);
    check_number("ok", r.ok, 990);
    check_number("failed", r.failed, 10);
    check_number("goodput", r.goodput_rps, 495);
    check_number("rps", r.rps, 500);
    check_number("p95", r.latency_ms.p95, 0.3);
    check_number("p99.9", r.latency_ms.p999, 4);
    check_number("stdev", r.latency_ms.stdev, 0.03);
    check_number("window", r.window_ms, 2010);
    check_number("duration", r.duration_ms, 2000);
    check_number("received", r.received_bytes, 5000);
    assert_string_equal(r.generator, "wrk");
}

/* Without the report the text is the second source, and the result says so. */
static void second_source(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "stdout.txt", good_text);
    assert_int_equal(collect("wrk", *state, EXITED(0), arena, &r, &p, &err), 0);
    assert_int_equal(p.len, 2);
    assert_string_equal(p.items[0], "read from the text, which says less than the Lua report");
    assert_string_equal(p.items[1], "not measured: latency.p50, latency.p75, latency.p90, latency.p99");
    check_number("requests", r.requests, 1000);
    for (size_t cut = 0; cut < sizeof(good_text) - 3; cut++) { /* cut anywhere, there is no result */
        CLEANUP_FREE char *part = xstrndup(good_text, cut);
        put(*state, "stdout.txt", part);
        if (collect("wrk", *state, EXITED(0), arena, &r, NULL, &err) == 0)
            fail_msg("a result of the first %zu bytes", cut);
    }
    CLEANUP_FREE char *twice = xasprintf("%s%s", good_text, good_text);
    put(*state, "stdout.txt", twice);
    refused("wrk", *state, EXITED(0), "the text holds 2 results instead of one");
}

static void stale(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "report.json");
    struct load_outcome o = {.ran = true, .window_ms = NAN, .started_wall_ns = clock_wall_ns()};
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "report.json", good_wrk);
    assert_int_equal(load_adapter_collect(a, *state, &o, arena, &r, NULL, &err), 0);
    const struct timeval old[2] = {{.tv_sec = time(NULL) - 60}, {.tv_sec = time(NULL) - 60}};
    assert_int_equal(utimes(path, old), 0);
    assert_int_equal(load_adapter_collect(a, *state, &o, arena, &r, NULL, &err), -1);
    assert_has(err.message, "stale output");
}

/* What was asked for and what was delivered. */
static void asked(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct load_call call = {.duration_ns = 30 * NS_PER_S};
    const struct load_outcome o = {.ran = true, .window_ms = 2010, .call = &call};
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "report.json", good_wrk);
    assert_int_equal(load_adapter_collect(a, *state, &o, arena, &r, &p, &err), 0);
    assert_int_equal(p.len, 1);
    assert_string_equal(p.items[0], "the load lasted 2 s instead of 30 s");
}

/* One number of a good report replaced. */
static void with(const char *dir, const char *from, const char *to)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const char *at = strstr(good_wrk, from);

    assert_non_null(at);
    strbuf_add(&text, good_wrk, (size_t)(at - good_wrk));
    strbuf_adds(&text, to);
    strbuf_adds(&text, at + strlen(from));
    put(dir, "report.json", strbuf_text(&text));
}

static void implausible(void **state)
{
    with(*state, "\"p50\":100", "\"p50\":9000");
    refused("wrk", *state, EXITED(0), "implausible: latency p50 is 9 ms, but p75 is 0.11 ms");
    with(*state, "\"max\":5000", "\"max\":3000");
    refused("wrk", *state, EXITED(0), "implausible: latency p99.9 is 4 ms, but max is 3 ms");
    with(*state, "\"mean\":120", "\"mean\":12000");
    refused("wrk", *state, EXITED(0), "the mean latency is 12 ms");
    with(*state, "\"read\":0", "\"read\":-3");
    refused("wrk", *state, EXITED(0), "implausible: -3 errors of kind 'read'");
    with(*state, "\"requests\":1000", "\"requests\":-1");
    refused("wrk", *state, EXITED(0), "implausible: 'requests' is -1");
}

/* Percentiles of more than the run took. */
static void longer_than_the_run(void **state)
{
    put(*state, "report.json",
        "{\"duration_us\":2000000,\"requests\":10,\"latency_us\":{\"p50\":10000000,\"p99\":61000000,\"max\":"
        "62000000},\"errors\":{\"timeout\":0}}");
    refused("wrk", *state, EXITED(0), "implausible: latency p50 is 10000 ms, but the run lasted 2010 ms");
}

static void hostile(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "stdout.txt");
    struct error err = ERROR_INIT;
    struct load_result r;

    /* bytes of all kinds, NUL among them, before, inside and after a good text; one line without an end */
    for (int i = 0; i < 256; i++)
        strbuf_addc(&text, (char)i);
    strbuf_addc(&text, '\n');
    for (size_t i = 0; i < 1 << 20; i++)
        strbuf_addc(&text, ' ');
    strbuf_adds(&text, "9 requests in 1.00s, 1B read\n");
    strbuf_adds(&text, good_text);
    strbuf_add(&text, "\0\0\xff\n\n\r\n", 7);
    assert_int_equal(fs_write(path, text.data, text.len, &err), 0);
    if (collect("wrk", *state, EXITED(0), arena, &r, NULL, &err) < 0)
        fail_msg("%s", err.message);
    check_number("requests", r.requests, 1000);

    /* more than there may be, without being read whole: a sparse file of 100 MB */
    assert_int_equal(truncate(path, 100 << 20), 0);
    refused("wrk", *state, EXITED(0), "is larger than 67108864 bytes");

    put(*state, "stdout.txt", good_text);
    strbuf_clear(&text);
    for (int i = 0; i < 100000; i++)
        strbuf_addc(&text, '[');
    put(*state, "report.json", strbuf_text(&text));
    if (collect("wrk", *state, EXITED(0), arena, &r, NULL, &err) < 0) /* the second source */
        fail_msg("%s", err.message);
    put(*state, "report.json", "{\"latency_us\": {\"p50\": 1e999}}");
    assert_int_equal(collect("wrk", *state, EXITED(0), arena, &r, NULL, &err), 0);
    put(*state, "report.json", "{\"latency_us\": 7, \"requests\": \"12 monkeys\", \"duration_us\": 1}");
    refused("wrk", *state, EXITED(0), "'12 monkeys' is not a number");
}

static void idle(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("idle");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct load_outcome o = {.window_ms = 2000};
    struct error err = ERROR_INIT;
    struct load_result r;

    (void)state;
    assert_int_equal(load_adapter_collect(a, "/nowhere", &o, arena, &r, NULL, &err), 0);
    check_number("requests", r.requests, NAN);
    check_number("window", r.window_ms, 2000);
    assert_string_equal(r.generator, "idle");
}

/* Two files: the report and, for what it lacks, another output. */
static void several_files(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("ab");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *text = path_join(*state, "any.txt");
    CLEANUP_FREE char *percentiles = path_join(*state, "other.csv");
    const char *const files[] = {percentiles, text};
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "any.txt",
        "This is ApacheBench, Version 2.3\nTime taken for tests:   0.119 seconds\nComplete requests:      "
        "2000\nFailed requests:        0\n"
        "Requests per second:    16866.82 [#/sec] (mean)\nTotal:          0    1   0.5      0       4\n  50% "
        "     0\n  99%      4\n 100%      4 (longest request)\n");
    put(*state, "other.csv", "Percentage served,Time in ms\n50,0.312\n\"90\",\"1.25\"\n99,3.815\n");
    if (load_adapter_parse_files(a, files, 2, NULL, arena, &r, NULL, &err) < 0)
        fail_msg("%s", err.message);
    check_number("p50", r.latency_ms.p50, 0.312);
    check_number("p90", r.latency_ms.p90, 1.25);
    check_number("p99", r.latency_ms.p99, 3.815);
    check_number("p95", r.latency_ms.p95, NAN);
    put(*state, "other.csv", "Percentage served,Time in ms\n50,0.312\n99\n");
    assert_int_equal(load_adapter_parse_files(a, files, 2, NULL, arena, &r, NULL, &err), -1);
    assert_has(err.message, "other.csv:3: 1 columns instead of 2: the output is cut short");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(statuses),      IN_SCRATCH(no_output),
        IN_SCRATCH(whole),         IN_SCRATCH(second_source),
        IN_SCRATCH(stale),         IN_SCRATCH(asked),
        IN_SCRATCH(implausible),   IN_SCRATCH(hostile),
        IN_SCRATCH(several_files), IN_SCRATCH(longer_than_the_run),
        IN_SCRATCH(idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

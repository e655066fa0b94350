/* SPDX-License-Identifier: MIT */
/* Outputs that have misled readers of them: what each must give, or why it gives nothing. */
#include "load_test.h"

static char *case_path(const char *name)
{
    return xasprintf("%s/cases/%s", TESTS_DIR, name);
}

/* The result of one file, which must be one. */
static struct load_result result_of(const char *adapter, const char *name, struct arena *arena)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP_FREE char *path = case_path(name);
    struct error err = ERROR_INIT;
    struct load_result r;

    if (parse_file(a, path, arena, &r, NULL, &err) < 0)
        fail_msg("%s", err.message);
    return r;
}

/* The file gives no result, and the message says this. `asked` is an option as YAML, or NULL. */
static void refused(const char *adapter, const char *name, const char *asked, const char *part)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = case_path(name);
    const char *file = path;
    struct error err = ERROR_INIT;
    const struct node *options = NULL;
    struct load_result r;

    if (asked)
        assert_int_equal(tree_parse(asked, strlen(asked), "options", arena, &options, &err), 0);
    if (load_adapter_parse_files(a, &file, 1, options, arena, &r, NULL, &err) == 0)
        fail_msg("%s gave a result", name);
    assert_has(err.message, part);
}

/* The file gives a result that is not to be trusted, for this reason. */
static void doubted(const char *adapter, const char *name, const char *asked, const char *id,
                    const char *part)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = case_path(name);
    const char *file = path;
    struct load_problems problems;
    struct error err = ERROR_INIT;
    const struct node *options = NULL;
    struct load_result r;

    if (asked)
        assert_int_equal(tree_parse(asked, strlen(asked), "options", arena, &options, &err), 0);
    if (load_adapter_parse_files(a, &file, 1, options, arena, &r, &problems, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(problems.invalid_len, 1);
    assert_string_equal(problems.invalid[0].id, id);
    assert_has(problems.invalid[0].sentence, part);
}

static double error_of(const struct load_result *r, const char *kind)
{
    for (size_t i = 0; i < r->error_count; i++)
        if (strcmp(r->errors[i].kind, kind) == 0)
            return r->errors[i].count;
    return NAN;
}

/* A crash loop: wrk tries on while nobody listens. What was answered was answered, and 507 answers are not
 * "no request succeeded". */
static void broken_connections_take_no_answers_away(void **state)
{
    static const char text[] = "Running 6s test @ http://10.0.0.2:8080\n  1 threads and 16 connections\n"
                               "  507 requests in 6.00s, 1.00MB read\n"
                               "  Socket errors: connect 0, read 13, write 901, timeout 0\n"
                               "Requests/sec:     84.50\nTransfer/sec:    170.67KB\n";
    char name[] = "/tmp/benchctl-wrk-XXXXXX";
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    int fd = mkstemp(name);

    (void)state;
    assert_true(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
    (void)close(fd);
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    struct load_result r;
    const char *const files[] = {name};
    load_result_init(&r);
    assert_int_equal(load_adapter_read("wrk", NULL, &a, &err), 0);
    assert_int_equal(load_adapter_parse_files(a, files, 1, NULL, arena, &r, NULL, &err), 0);
    (void)unlink(name);
    check_number("ok", r.ok, 494);
    check_number("failed", r.failed, 914);
    check_number("error rate", r.error_rate, 914.0 / (494 + 914));
}

/* Error answers are no throughput. */
static void errors_are_not_throughput(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = result_of("wrk", "E07/wrk_all500.txt", arena);

    (void)state;
    check_number("requests", r.requests, 89);
    check_number("ok", r.ok, 0);
    check_number("goodput", r.goodput_rps, 0);
    check_number("error rate", r.error_rate, 1);
    check_number("rps", r.rps, 88.93);
    check_number("status", error_of(&r, "status"), 89);
    r = result_of("wrk", "E07/wrk_mixed.txt", arena);
    check_number("ok", r.ok, 78000 - 390 - 20);
    check_number("goodput", r.goodput_rps, (78000 - 390 - 20) / 10.01);
    check_number("error rate", r.error_rate, 410.0 / 78000);
    check_number("rps", r.rps, 7792.21);
    check_number("read", error_of(&r, "read"), 12);
    check_number("timeout", error_of(&r, "timeout"), 8);
    check_number("write", error_of(&r, "write"), 0);
    assert_string_equal(r.model, "closed");
    assert_string_equal(r.corrected, "no");
}

static void text_of_wrk(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = result_of("wrk", "E08/wrk_socket.txt", arena);

    (void)state;
    check_number("requests", r.requests, 100000);
    check_number("connect", error_of(&r, "connect"), 3);
    check_number("timeout", error_of(&r, "timeout"), 53);
    check_number("p50", r.latency_ms.p50, NAN);
    check_number("p99", r.latency_ms.p99, NAN);
    check_number("max", r.latency_ms.max, 26.54);
    refused("wrk", "E08/wrk_units.txt", NULL, "implausible: latency p99 is 61200 ms, but max is 1200 ms");
    refused("wrk", "E08/wrk_nan.txt", NULL, "nothing measured: no request was finished; errors: read 236");
    refused("wrk", "E08/wrk_nounit.txt", NULL, "'1531867' has no unit");
    refused("wrk", "E08/wrk_cut.txt", NULL, "cut short");
    refused("wrk", "E08/wrk_refused.txt", NULL,
            "it begins 'unable to connect to 127.0.0.1:28112 Connection refused'");
}

static void json_that_is_none(void **state)
{
    (void)state;
    refused("oha", "E12/nan.json", NULL, "nan.json:1:23: not JSON");
    refused("oha", "E12/mixed_stdout.txt", NULL, "mixed_stdout.txt:1:4: not JSON");
    refused("oha", "E12/two_json.txt", NULL, "two_json.txt:2:");
    refused("oha", "E12/trailing_comma.json", NULL, "trailing_comma.json:1:");
    refused("oha", "E12/null.json", NULL,
            "nothing measured: none of 500 requests was answered; errors: connect 500");
    doubted("oha", "E12/oha_missing.json", "{request_count: 100000}", "load-unaccounted",
            "unaccounted: 98898 of 100000 requests");
}

static void summaries_of_k6(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    static const char *const shapes[] = {"E05/shape_export.json", "E05/shape_handlesummary.json",
                                         "E05/shape_v1.json", "E05/shape_v1_snake.json"};

    (void)state;
    check_number("p99", result_of("k6", "E02/k6_default.json", arena).latency_ms.p99, NAN);
    check_number("p99", result_of("k6", "E02/k6_p99.json", arena).latency_ms.p99, 58);
    check_number("failed", result_of("k6", "E03/k6_clean.json", arena).failed, 0);
    check_number("failed", result_of("k6", "E03/k6_bad.json", arena).failed, 300);
    check_number("failed", result_of("k6", "E03/k6_swapped.json", arena).failed, 300);
    refused("k6", "E03/k6_inconsistent.json", NULL,
            "inconsistent: 300 failed by the rate, but the counters are 50 and 100");
    refused("k6", "E04/k6_nodata.json", NULL, "nothing measured");
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        struct load_result r = result_of("k6", shapes[i], arena);
        check_number("requests", r.requests, 1000);
        check_number("failed", r.failed, 20);
        check_number("p50", r.latency_ms.p50, 12.5);
        check_number("p95", r.latency_ms.p95, 31);
        check_number("p99", r.latency_ms.p99, 58);
    }
    refused("k6", "E05/shape_unknown.json", NULL, "its keys: report");
    check_number("dropped", result_of("k6", "E06/k6_dropped.json", arena).dropped, 3800);
}

static void rows_are_not_requests(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = result_of("hey", "E09/hey_500.csv", arena);

    (void)state;
    check_number("requests", r.requests, 4);
    check_number("ok", r.ok, 0);
    refused("hey", "E09/hey_dead.csv", NULL, "nothing measured");
    refused("hey", "E09/hey_dead.txt", NULL, "nothing measured: none of 4 requests was answered");
    r = result_of("hey", "E09/hey_partial.txt", arena);
    check_number("ok", r.ok, 250);
    check_number("failed", r.failed, 250);
    check_number("timeout", error_of(&r, "timeout"), 250);
    check_number("goodput", r.goodput_rps, 50);
    /* of the records how many were sent only the request count tells */
    CLEANUP(load_adapter_free) struct load_adapter *hey = adapter_of("hey");
    CLEANUP_FREE char *rows = case_path("E09/hey_partial.csv");
    const char *const file = rows;
    const struct node *options = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(tree_parse("{request_count: 500}", 20, "options", arena, &options, &err), 0);
    assert_int_equal(load_adapter_parse_files(hey, &file, 1, options, arena, &r, NULL, &err), 0);
    check_number("requests", r.requests, 500);
    check_number("ok", r.ok, 250);
    check_number("failed", r.failed, 250);
}

/* No local port left: the load machine's limit, not the server's errors. */
static void local_ports(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = result_of("oha", "E11/oha_addr.json", arena);

    (void)state;
    doubted("oha", "E11/oha_addr.json", NULL, "load-generator-limit",
            "load generator limit: 36000 requests found no local port");
    doubted("hey", "E11/hey_addr.txt", NULL, "load-generator-limit", "21769 requests found no local port");
    check_number("ok", result_of("hey", "E11/hey_addr.txt", arena).ok, 28231);
    check_number("generator", error_of(&r, "generator"), 36000);
    check_number("connect", error_of(&r, "connect"), 0);
    check_number("ok", r.ok, 24000);
}

/* The same figures in four tools' units. */
static void one_unit(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    static const char *const tools[] = {"vegeta", "oha", "ghz", "k6"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        CLEANUP_FREE char *name = xasprintf("E10/%s.json", tools[i]);
        struct load_result r = result_of(tools[i], name, arena);
        check_number(tools[i], r.latency_ms.p50, 12.5);
        check_number(tools[i], r.latency_ms.p95, 31);
        check_number(tools[i], r.latency_ms.p99, 58);
        check_number(tools[i], r.requests, 1000);
    }
    check_number("overrun", result_of("vegeta", "E10/vegeta_overrun.json", arena).duration_ms, 117971.208919);
}

/* 6000 per second for 20 s were asked for: all were sent, but in 117.9 s. */
static void overrun(void **state)
{
    (void)state;
    doubted("vegeta", "E10/vegeta_overrun.json", "{rate: 6000}", "load-delivered",
            "load not delivered: 1018 requests per second instead of 6000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_connections_take_no_answers_away),
        cmocka_unit_test(errors_are_not_throughput),
        cmocka_unit_test(text_of_wrk),
        cmocka_unit_test(json_that_is_none),
        cmocka_unit_test(summaries_of_k6),
        cmocka_unit_test(rows_are_not_requests),
        cmocka_unit_test(one_unit),
        cmocka_unit_test(local_ports),
        cmocka_unit_test(overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

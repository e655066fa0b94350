/* SPDX-License-Identifier: MIT */
/* How wrk2, hey, oha, vegeta and ab are called, what must not be asked of them, and what was not delivered.
 */
#include "load_test.h"

#include "benchctl/base/clock.h"

static const struct node *options_of(const char *yaml, struct arena *a)
{
    struct error err = ERROR_INIT;
    const struct node *n = NULL;

    if (yaml && tree_parse(yaml, strlen(yaml), "matrix.yaml", a, &n, &err) < 0)
        fail_msg("%s", err.message);
    return n;
}

static void check_line(const struct text_list *argv, const char *wanted)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;

    for (size_t i = 0; i < argv->len; i++)
        strbuf_addf(&line, "%s%s", i ? "|" : "", argv->items[i]);
    assert_string_equal(strbuf_text(&line), wanted);
}

static struct load_command command_of(const struct load_adapter *a, const char *yaml, const char *version,
                                      struct arena *arena)
{
    struct load_call call = {.target = "http://[::1]:8080",
                             .path = "/x",
                             .duration_ns = 90 * NS_PER_S,
                             .output_dir = "/out",
                             .version = version,
                             .options = options_of(yaml, arena)};
    struct error err = ERROR_INIT;
    struct load_command command;

    if (load_adapter_command(a, &call, arena, &command, &err) < 0)
        fail_msg("%s", err.message);
    return command;
}

static void called(const char *adapter, const char *yaml, const char *version, const char *wanted)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_command command = command_of(a, yaml, version, arena);

    check_line(&command.argv, wanted);
}

static void argv(void **state)
{
    (void)state;
    called("wrk2", "{rate: 500}", NULL,
           "wrk2|-R500|-t2|-c16|--timeout|2s|-d90s|--latency|http://[::1]:8080/x");
    called("hey", NULL, NULL, "hey|-c|50|-t|10|-z|1m30s|-disable-redirects|http://[::1]:8080/x");
    called("hey", "{workers: 4, request_count: 400, worker_rate: 2.5, keepalive: false, redirects: true}",
           NULL, "hey|-c|4|-n|400|-q|2.5|-t|10|-disable-keepalive|http://[::1]:8080/x");
    called("oha", NULL, "1.16.0",
           "oha|--no-tui|--output-format|json|-o|/out/oha.json|-c|50|-t|10000ms|-r|0|-z|90000ms|http://"
           "[::1]:8080/x");
    called("oha", "{rate: 99.5, latency_correction: true, response_timeout: 1s}", NULL,
           "oha|--no-tui|--output-format|json|-o|/out/"
           "oha.json|-c|50|-q|99.5|--latency-correction|-t|1000ms|-r|0|-z|"
           "90000ms|http://[::1]:8080/x");
    called("oha", "{request_count: 10, http2: true, parallel: 4}", "1.8.0",
           "oha|--no-tui|-j|-c|50|-n|10|-t|10000ms|--http2|-r|0|-p|4|http://[::1]:8080/x");
    called("vegeta", NULL, NULL,
           "vegeta|attack|-targets=/out/targets.txt|-duration=90000ms|-rate=50/"
           "1s|-workers=10|-connections=10000|"
           "-timeout=10000ms|-redirects=-1|-max-body=0|-output=/out/results.bin");
    called("ab", "{connections: 3, headers: {A: b}}", NULL,
           "ab|-q|-r|-l|-c|3|-s|10|-k|-H|A: b|-t|90|-n|10000000|-e|/out/percentiles.csv|http://[::1]:8080/x");
}

/* What is written beforehand, and what is called afterwards. */
static void files(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *vegeta = adapter_of("vegeta");
    CLEANUP(load_adapter_free) struct load_adapter *ab = adapter_of("ab");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_command c = command_of(vegeta, "{method: POST, body: '{\"a\": 1}'}", NULL, arena);

    (void)state;
    assert_string_equal(text_map_get(&c.files, "targets.txt"), "POST http://[::1]:8080/x\n");
    assert_string_equal(text_map_get(&c.files, "body.txt"), "{\"a\": 1}");
    check_line(&c.finish_argv, "vegeta|report|-type=json|/out/results.bin");
    assert_string_equal(c.finish_stdout_name, "report.json");
    c = command_of(vegeta, NULL, NULL, arena);
    assert_int_equal(c.files.len, 1);
    c = command_of(ab, "{body: x, content_type: text/x}", NULL, arena);
    assert_string_equal(text_map_get(&c.files, "body.txt"), "x");
    assert_string_equal(c.argv.items[9], "-p");
    assert_string_equal(c.argv.items[10], "/out/body.txt");
    assert_string_equal(c.argv.items[12], "text/x");
}

static void refused(const char *adapter, const char *yaml, int64_t duration_ns, const char *part)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;

    if (load_adapter_try(a, options_of(yaml, arena), NULL, duration_ns, &err) == 0)
        fail_msg("%s: %s was not refused", adapter, yaml);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, part);
}

static void contradictions(void **state)
{
    const int64_t s = NS_PER_S;

    (void)state;
    refused("wrk", "{threads: 4, connections: 2}", s,
            "matrix.yaml:1:27: wrk needs a connection for each of its 4");
    refused("wrk2", "{}", s, "load adapter 'wrk2' needs option 'rate'");
    refused("wrk2", "{rate: 9, threads: 4, connections: 2}", s,
            "wrk2 needs a connection for each of its 4 threads");
    refused("wrk2", "{rate: 9}", s / 2, "not a whole number of seconds");
    refused("hey", "{workers: 30, request_count: 100}", s,
            "hey would send fewer than 100 requests, as each of 30 workers sends the same number");
    refused("hey", "{request_count: 40}", s, "40 requests cannot be shared by 50 workers");
    refused("hey", "{response_timeout: 1500ms}", s, "not a whole number of seconds");
    refused("hey", "{response_timeout: 0s}", s, "'response_timeout' is at least 1s");
    refused("oha", "{latency_correction: true}", s, "oha ignores 'latency_correction' without 'rate'");
    refused("oha", "{parallel: 4}", s, "oha ignores 'parallel' without 'http2'");
    refused("oha", "{http2: true, keepalive: false}", s, "oha keeps connections with 'http2'");
    refused("vegeta", "{rate: 0}", s, "option 'rate' is at least 1, not 0");
    refused("vegeta", "{max_workers: 5}", s, "'max_workers' is 5, less than the 10 'workers'");
    refused("ab", "{connections: 20, request_count: 10}", s, "ab cannot make 20 requests at a time");
    refused("ab", NULL, s / 2, "not a whole number of seconds");
}

static void asked_and_got(const char *adapter, const char *dir, const char *yaml, const char *text,
                          const char *sentence, double dropped)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct load_call call = {.duration_ns = 10 * NS_PER_S, .options = options_of(yaml, arena)};
    const struct load_outcome o = {.ran = true, .window_ms = 10100, .call = &call};
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    put(dir,
        strcmp(adapter, "oha") == 0      ? "oha.json"
        : strcmp(adapter, "vegeta") == 0 ? "report.json"
                                         : "stdout.txt",
        text);
    if (load_adapter_collect(a, dir, &o, arena, &r, &p, &err) < 0)
        fail_msg("%s: %s", adapter, err.message);
    check_number("dropped", r.dropped, dropped);
    if (strcmp(adapter, "vegeta") == 0) /* its schedule is known */
        check_number("offered", r.offered, r.requests + r.dropped);
    assert_int_equal(p.invalid_len, sentence ? 1 : 0);
    if (sentence) {
        assert_string_equal(p.invalid[0].id, "load-delivered");
        assert_has(p.invalid[0].sentence, sentence);
    }
}

#define OHA(n)                                                                                               \
    "{\"summary\": {\"total\": 10, \"requestsPerSec\": 620}, \"latencyPercentiles\": {\"p50\": 0.01}, "      \
    "\"statusCodeDistribution\": {\"200\": " n                                                               \
    "}, \"errorDistribution\": {\"aborted due to deadline\": 10}}"
#define VEGETA(n, rate, attack)                                                                              \
    "{\"latencies\": {\"50th\": 1000000}, \"requests\": " n ", \"rate\": " rate ", \"duration\": " attack    \
    ", \"wait\": 0, \"status_codes\": {\"200\": " n "}, \"errors\": []}"
#define WRK2(n, errors)                                                                                      \
    "Running 10s test @ http://x\n  " n " requests in 10.00s, 1.00MB read\n" errors                          \
    "Requests/sec:    620.00\nTransfer/sec:    100.00KB\n"
#define HEY(n)                                                                                               \
    "Summary:\n  Total:\t10.0000 secs\n  Requests/sec:\t62.0000\n\nStatus code distribution:\n  [200]\t" n   \
    " responses\n\n"

/* 1000 per second for 10 s were asked for, and 620 came: that is not a slow server but another load. */
static void delivered(void **state)
{
    asked_and_got(
        "oha", *state, "{rate: 1000}", OHA("6200"),
        "load not delivered: 620 requests per second instead of 1000, 38 % of those due are missing", 3750);
    asked_and_got("oha", *state, "{rate: 1000}", OHA("9950"), NULL, 0);
    asked_and_got("oha", *state, NULL, OHA("6200"), NULL, NAN);
    asked_and_got(
        "wrk2", *state, "{rate: 1000}", WRK2("6200", ""),
        "load not delivered: 620 requests per second instead of 1000, 38 % of those due are missing", 3784);
    asked_and_got("wrk2", *state, "{rate: 1000}", WRK2("9990", ""), NULL, 0);
    /* a server that breaks connections is no lack of load */
    asked_and_got("wrk2", *state, "{rate: 1000}",
                  WRK2("5000", "  Socket errors: connect 4000, read 900, write 100, timeout 0\n"), NULL, 0);
    asked_and_got("vegeta", *state, "{rate: 1000}", VEGETA("10000", "1000.1", "9999000000"), NULL, 0);
    asked_and_got("vegeta", *state, "{rate: 60, rate_unit: 1m}", VEGETA("10", "1.1", "9000000000"), NULL, 0);
    asked_and_got("vegeta", *state, "{rate: 1000}", VEGETA("6200", "620", "10000000000"),
                  "load not delivered: 620 requests per second instead of 1000", 3800);
    asked_and_got("vegeta", *state, "{rate: 1000}", VEGETA("10000", "500", "20000000000"),
                  "instead of 1000, and the attack took 20000 ms of 10000", 0);
    asked_and_got("hey", *state, "{workers: 4, worker_rate: 25}", HEY("620"),
                  "load not delivered: 62 requests per second instead of 100", NAN);
    asked_and_got("hey", *state, "{workers: 4, worker_rate: 15.5}", HEY("620"), NULL, NAN);
}

static double users_of(const char *adapter, const char *dir, const char *yaml, const char *text)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct load_call call = {.duration_ns = 10 * NS_PER_S, .options = options_of(yaml, arena)};
    const struct load_outcome o = {.ran = true, .window_ms = 10100, .call = &call};
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    put(dir, strcmp(adapter, "oha") == 0 ? "oha.json" : "stdout.txt", text);
    if (load_adapter_collect(a, dir, &o, arena, &r, &p, &err) < 0)
        fail_msg("%s: %s", adapter, err.message);
    return r.concurrency;
}

/* Who waits for an answer, or pauses unasked; with a rate nobody knows how many do. */
static void users(void **state)
{
    check_number("users", users_of("hey", *state, NULL, HEY("620")), 50);
    check_number("users", users_of("hey", *state, "{workers: 4}", HEY("620")), 4);
    check_number("users", users_of("hey", *state, "{workers: 4, worker_rate: 15.5}", HEY("620")), NAN);
    check_number("users", users_of("oha", *state, "{connections: 7}", OHA("6200")), 7);
    check_number("users", users_of("oha", *state, "{connections: 7, http2: true, parallel: 3}", OHA("6200")),
                 21);
    check_number("users", users_of("oha", *state, "{rate: 620}", OHA("6200")), NAN);
    check_number("users", users_of("wrk2", *state, "{rate: 620}", WRK2("6200", "")), NAN);
}

/* Before 1.9 oha writes its JSON to standard output. */
static void json_on_standard_output(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("oha");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct load_outcome o = {.ran = true, .window_ms = 10100};
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "stdout.txt", OHA("6200"));
    if (load_adapter_collect(a, *state, &o, arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("requests", r.requests, 6200);
    check_number("p50", r.latency_ms.p50, 10);
    for (size_t i = 0; i < p.len; i++)
        assert_null(strstr(p.items[i], "says less"));
    assert_int_equal(p.invalid_len, 0);
}

static void versions(void **state)
{
    static const struct {
        const char *adapter, *said, *version;
    } all[] = {{"wrk2", "wrk 4.0.0 [epoll] Copyright (C) 2012 Will Glozer\n", "4.0.0"},
               {"oha", "oha 1.16.0\n", "1.16.0"},
               {"vegeta", "Version: v12.11.1\nCommit: x\n", "12.11.1"},
               {"vegeta", "Version: \nCommit: \nRuntime: go1.26.8 linux/amd64\n", NULL},
               {"ab", "This is ApacheBench, Version 2.3 <$Revision$>\n", "2.3"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(all[i].adapter);
        CLEANUP(arena_free) struct arena *arena = arena_new();
        const char *version = load_adapter_read_version(a, all[i].said, arena);
        if (all[i].version)
            assert_string_equal(version, all[i].version);
        else
            assert_null(version);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argv),
        cmocka_unit_test(files),
        cmocka_unit_test(contradictions),
        cmocka_unit_test_setup_teardown(users, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(delivered, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(json_on_standard_output, scratch_setup, scratch_teardown),
        cmocka_unit_test(versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The adapter of k6: the call by version and options, summaries of every shape, exit statuses. */
#include "load_test.h"

static const struct load_call plain = {.target = "http://10.0.0.2:8080",
                                       .path = "/items",
                                       .script = "/m/load.js",
                                       .duration_ns = 90 * INT64_C(1000000000),
                                       .output_dir = "/out"};

/* The argument list between `run` and the script, blanks between. NULL: refused, and `err` says why. */
static char *called(const char *version, const char *options, bool warmup, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    struct load_call call = plain;
    struct load_command c;

    call.version = version;
    call.warmup = warmup;
    if (options)
        assert_int_equal(tree_parse(options, strlen(options), "m.yaml", arena, &call.options, err), 0);
    if (load_adapter_command(a, &call, arena, &c, err) < 0)
        return NULL;
    assert_string_equal(c.argv.items[0], "k6");
    assert_string_equal(c.argv.items[1], "run");
    assert_string_equal(c.argv.items[c.argv.len - 1], "/m/load.js");
    assert_string_equal(text_map_get(&c.env, "K6_NEW_MACHINE_READABLE_SUMMARY"), "false");
    for (size_t i = 2; i + 1 < c.argv.len; i++)
        strbuf_addf(&line, "%s%s", i > 2 ? " " : "", c.argv.items[i]);
    return strbuf_detach(&line);
}

static void has(const char *version, const char *options, const char *part, bool wanted)
{
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *line = called(version, options, false, &err);

    if (!line)
        fail_msg("%s", err.message);
    if ((strstr(line, part) != NULL) != wanted)
        fail_msg("'%s' is %s in: %s", part, wanted ? "not" : "there", line);
}

#define COMMON                                                                                               \
    "--quiet --no-color --no-usage-report --address= --summary-export=/out/summary.json "                    \
    "--summary-trend-stats=avg,min,med,max,p(75),p(90),p(95),p(99),p(99.9),count "
#define STREAM "--out=json=/out/stream.ndjson "
#define VARIABLES                                                                                            \
    "-e BENCHCTL_URL=http://10.0.0.2:8080/items -e BASE_URL=http://10.0.0.2:8080 -e BENCHCTL_DURATION=1m30s"

/* The script keeps its scenarios unless the matrix replaces them. */
static void the_call(void **state)
{
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *bare = called(NULL, NULL, false, &err);
    CLEANUP_FREE char *warm = called("1.4.2", NULL, true, &err);
    CLEANUP_FREE char *full = called("1.5.0",
                                     "{vus: 5, thresholds: false, tags: {a: b c}, script_env: {USERS: '3'}, "
                                     "flags: [--dns, ttl=0]}",
                                     false, &err);

    (void)state;
    assert_string_equal(bare, COMMON STREAM VARIABLES);
    assert_string_equal(warm, COMMON STREAM VARIABLES " -e BENCHCTL_WARMUP=true");
    assert_string_equal(full, COMMON "--new-machine-readable-summary=false " STREAM
                                     "--no-thresholds --vus 5 --tag a=b c "
                                     "--duration 1m30s " VARIABLES " -e USERS=3 --dns ttl=0");
}

static void flags_by_version(void **state)
{
    static const char *const old[] = {"0.47.0", "1.0.0", "1.4.9", NULL}, *const new[] = {"1.5.0", "1.10",
                                                                                         "2.2.0"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(old); i++) {
        has(old[i], NULL, "machine-readable", false); /* an unknown flag would be the end */
        has(old[i], NULL, "--address=", true);
    }
    for (size_t i = 0; i < ARRAY_LEN(new); i++)
        has(new[i], NULL, "--new-machine-readable-summary=false", true);
    has("2.0.0", NULL, "--address", false);
    has("2.0.0", NULL, "--no-summary", false);
}

static void scenarios(void **state)
{
    (void)state;
    has(NULL, "{iterations: 100}", "--iterations 100 --duration 1m30s -e", true);
    has(NULL, "{iterations: 100, vus: 2}", "--vus 2 --iterations 100 --duration 1m30s -e", true);
    has(NULL, "{stages: ['10s:5', '20s:0']}", "--stage 10s:5 --stage 20s:0 -e", true);
    has(NULL, "{stages: ['10s:5'], vus: 1}", "--duration", false);
    has(NULL, "{model: open}", "open", false);
    has(NULL, "{series: false}", "--out", false);
    has(NULL, "{series: true}", STREAM, true);
}

static void refused_call(const char *options, const char *message)
{
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *line = called(NULL, options, false, &err);

    assert_null(line);
    assert_string_equal(err.message, message);
}

static void contradictions(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_call call = plain;
    struct load_command c;
    struct error err = ERROR_INIT;

    (void)state;
    refused_call("{stages: ['1s:1'], iterations: 3}",
                 "m.yaml:1:10: stages and iterations exclude each other");
    refused_call("{vus: 3, model: open}",
                 "m.yaml:1:17: vus and iterations replace the script's scenarios, and make k6 a closed loop");
    call.script = NULL;
    assert_int_equal(load_adapter_command(a, &call, arena, &c, &err), -1);
    assert_has(err.message, "k6 needs a script");
    assert_int_equal(load_adapter_check_options(a, NULL, &err), 0); /* options alone do not tell */
}

static void version_of(const char *said, const char *wanted, bool good)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;

    assert_string_equal(load_adapter_read_version(a, said, arena), wanted);
    assert_int_equal(load_adapter_check_version(a, said, &err) == 0, good);
}

static void versions(void **state)
{
    (void)state;
    version_of("k6 v1.2.3 (go1.24.4, linux/amd64)\n", "1.2.3", true);
    version_of("k6 v0.47.0 (2023-10-09T14:00:26+0000/v0.47.0-0-gd8a3bd3, go1.21.2, linux/amd64)\n", "0.47.0",
               true);
    version_of("k6.exe v2.0.0-rc1 (x)\nExtensions:\n  y v0.1.0\n", "2.0.0-rc1", true);
    version_of("k6 v0.30.0 (x)\n", "0.30.0", false);
    version_of("k6 v0.9.3 (x)\n", "0.9.3", false);
    version_of("k6 v0.31.0 (x)\n", "0.31.0", true);
}

/* A summary of a run: 0 with a result, else -1. */
static int collected(const char *dir, const char *options, int status, struct arena *arena,
                     struct load_result *r, struct load_problems *p, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    struct load_call call = plain;

    if (options)
        assert_int_equal(tree_parse(options, strlen(options), "m.yaml", arena, &call.options, err), 0);
    const struct load_outcome o = {
        .ran = true, .wait_status = status << 8, .window_ms = 91000, .call = &call};
    return load_adapter_collect(a, dir, &o, arena, r, p, err);
}

static const char good[] =
    "{\"metrics\":{\"http_reqs\":{\"count\":1200,\"rate\":120},\"http_req_duration\":{\"avg\":9,\"min\":2,"
    "\"med\":8,\"max\":60,\"p(75)\":11,\"p(90)\":15,\"p(95)\":19,\"p(99)\":33,\"p(99.9)\":41},"
    "\"http_req_failed\":{\"passes\":0,\"fails\":1200,\"value\":0},\"iterations\":{\"count\":600,\"rate\":60}"
    ","
    "\"data_received\":{\"count\":5000,\"rate\":1},\"checks\":{\"passes\":3,\"fails\":1,\"value\":0.75}}}";

static void whole(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "summary.json", good);
    put(*state, "stdout.txt", "");
    assert_int_equal(collected(*state, NULL, 0, arena, &r, &p, &err), 0);
    check_number("requests", r.requests, 1200);
    check_number("ok", r.ok, 1200);
    check_number("duration", r.duration_ms, 10000); /* requests by their rate */
    check_number("goodput", r.goodput_rps, 120);
    check_number("received", r.received_bytes, 5000);
    check_number("dropped", r.dropped, 0);
    check_number("p75", r.latency_ms.p75, 11);
    check_number("p99.9", r.latency_ms.p999, 41);
    assert_null(r.model); /* the summary does not say */
    assert_string_equal(r.corrected, "no");
    assert_int_equal(p.invalid_len, 0);
    assert_int_equal(p.len, 2);
    assert_string_equal(p.items[0], "the script's own checks: a share of 0.75 held");
    assert_string_equal(p.items[1], "the load lasted 10 s instead of 90 s");
    assert_int_equal(collected(*state, "{model: open}", 0, arena, &r, &p, &err), 0);
    assert_string_equal(r.model, "open");
    assert_int_equal(collected(*state, "{stages: ['9s:1']}", 0, arena, &r, &p, &err), 0);
    assert_string_equal(r.model, "closed");
}

/* Thresholds that were crossed keep the numbers; any other status fails, whatever the summary says. */
static void statuses(void **state)
{
    static const struct {
        int status;
        const char *says;
    } bad[] = {
        {105, "'k6' ended with exit status 105: stopped from outside"},
        {107, "'k6' ended with exit status 107: the script failed; it said: oh no"},
        {108, "'k6' ended with exit status 108: the script aborted the test"},
        {137, "'k6' ended with exit status 137: killed, perhaps for want of memory"},
        {3, "'k6' ended with exit status 3"},
    };
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "summary.json", good);
    put(*state, "stderr.txt", "oh no\n");
    assert_int_equal(collected(*state, NULL, 99, arena, &r, &p, &err), 0);
    check_number("requests", r.requests, 1200);
    assert_int_equal(r.exit_status, 99);
    assert_string_equal(r.exit_text, "thresholds were crossed");
    assert_string_equal(p.items[p.len - 1], "'k6' ended with exit status 99: thresholds were crossed");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(collected(*state, NULL, bad[i].status, arena, &r, &p, &err), -1);
        assert_has(err.message, bad[i].says);
    }
}

/* What k6 prints is no substitute for the summary of a run. */
static void no_summary(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "stdout.txt",
        "    http_reqs......: 1597   531.652693/s\n    iterations.....: 1597   531.652693/s\n");
    assert_int_equal(collected(*state, NULL, 0, arena, &r, &p, &err), -1);
    assert_string_equal(err.message, "no result of 'k6': as summary: no file 'summary.json'");
    put(*state, "summary.json", "");
    assert_int_equal(collected(*state, NULL, 99, arena, &r, &p, &err), -1);
    assert_has(err.message, "summary.json:1:0: not JSON");
}

/* One form says true of what was crossed, the other of what was kept. */
static void thresholds(void **state)
{
    static const char *const summaries[] = {
        "{\"metrics\":{\"http_reqs\":{\"count\":10,\"rate\":10},\"a\":{\"thresholds\":{\"x<1\":true,\"x<2\":"
        "false}},"
        "\"b{t:1}\":{\"thresholds\":{\"y\":true}}}}",
        "{\"metrics\":{\"http_reqs\":{\"values\":{\"count\":10,\"rate\":10}},\"a\":{\"thresholds\":{\"x<1\":{"
        "\"ok\":"
        "false},\"x<2\":{\"ok\":true}}},\"b{t:1}\":{\"thresholds\":{\"y\":{\"ok\":false}}}}}"};
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    for (size_t i = 0; i < ARRAY_LEN(summaries); i++) {
        put(*state, "summary.json", summaries[i]);
        if (collected(*state, NULL, 99, arena, &r, &p, &err) < 0)
            fail_msg("%s", err.message);
        assert_string_equal(p.items[0], "crossed thresholds: 2 of 3");
    }
}

static void dropped(void **state)
{
    static const char summary[] =
        "{\"metrics\":{\"http_reqs\":{\"count\":6200,\"rate\":620},\"iterations\":{"
        "\"count\":3100,\"rate\":310},\"dropped_iterations\":{\"count\":%d,\"rate\":1}}}";
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;
    char text[300];

    (void)snprintf(text, sizeof(text), summary, 1900);
    put(*state, "summary.json", text);
    assert_int_equal(collected(*state, NULL, 0, arena, &r, &p, &err), 0);
    assert_int_equal(p.invalid_len, 1);
    assert_string_equal(p.invalid[0].id, "load-delivered");
    assert_string_equal(
        p.invalid[0].sentence,
        "load not delivered: 310 iterations per second of 500; 1900 of 5000 (38 %) were dropped, "
        "for no virtual user was free");
    assert_int_equal(collected(*state, "{max_dropped: 0.4}", 0, arena, &r, &p, &err), 0);
    assert_int_equal(p.invalid_len, 0);
    (void)snprintf(text, sizeof(text), summary, 30);
    put(*state, "summary.json", text);
    assert_int_equal(collected(*state, NULL, 0, arena, &r, &p, &err), 0);
    assert_int_equal(p.invalid_len, 0);
    check_number("dropped", r.dropped, 30);
}

/* A script that threw in every iteration; one whose requests nobody answered. */
static void nothing(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "summary.json", "{\"metrics\":{\"iterations\":{\"count\":25,\"rate\":12.5}}}");
    assert_int_equal(collected(*state, NULL, 0, arena, &r, &p, &err), -1);
    assert_has(err.message,
               "nothing measured: no request was finished; errors: iterations_without_request 25");
    put(*state, "summary.json",
        "{\"metrics\":{\"http_reqs\":{\"count\":3,\"rate\":1},\"http_req_failed\":{\"value\":1,\"passes\":3,"
        "\"fails\":0},\"http_req_duration\":{\"med\":0,\"max\":0}}}");
    assert_int_equal(collected(*state, NULL, 0, arena, &r, &p, &err), -1);
    assert_has(err.message, "nothing measured: none of 3 requests was answered; errors: request 3");
}

/* The machine-readable form as it is published: no rates of counters, `matches` of `total`. */
static void machine_readable(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "summary.json",
        "{\"version\":\"1.0.0\",\"metadata\":{},\"config\":{\"execution\":\"local\",\"duration\":10},"
        "\"results\":{"
        "\"metrics\":[{\"name\":\"http_reqs\",\"values\":{\"count\":1000}},{\"name\":\"http_req_failed\","
        "\"values\":{\"matches\":20,\"total\":1000,\"rate\":0.02}},{\"name\":\"http_req_duration\","
        "\"values\":{"
        "\"med\":12.5,\"p(99)\":58,\"max\":90}}]}}");
    assert_int_equal(collected(*state, NULL, 0, arena, &r, &p, &err), 0);
    check_number("requests", r.requests, 1000);
    check_number("failed", r.failed, 20);
    check_number("rps", r.rps, 100);
    check_number("duration", r.duration_ms, 10000);
    check_number("p99", r.latency_ms.p99, 58);
}

static void text_before_1_0(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "old.txt");
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "old.txt",
        "     checks.........................: 50.00% ✓ 40      ✗ 40  \n"
        "     data_received..................: 1.5 MB 148 kB/s\n"
        "     http_req_duration..............: avg=1.2s min=950µs med=1s max=1m2.5s p(90)=2s p(95)=3.25s\n"
        "       { expected_response:true }...: avg=5ms min=5ms med=5ms max=5ms p(90)=5ms p(95)=5ms\n"
        "     http_req_failed................: 25.00% ✓ 10      ✗ 30  \n"
        "     http_reqs......................: 40     4.000000/s\n"
        "     iterations.....................: 40     4.000000/s\n");
    if (parse_file(a, path, arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("requests", r.requests, 40);
    check_number("failed", r.failed, 10);
    check_number("received", r.received_bytes, 1500000);
    check_number("min", r.latency_ms.min, 0.95);
    check_number("mean", r.latency_ms.mean, 1200);
    check_number("max", r.latency_ms.max, 62500);
    check_number("p95", r.latency_ms.p95, 3250);
    check_number("p99", r.latency_ms.p99, NAN);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_call),  cmocka_unit_test(flags_by_version),
        cmocka_unit_test(scenarios), cmocka_unit_test(contradictions),
        cmocka_unit_test(versions),  IN_SCRATCH(whole),
        IN_SCRATCH(statuses),        IN_SCRATCH(no_summary),
        IN_SCRATCH(dropped),         IN_SCRATCH(thresholds),
        IN_SCRATCH(nothing),         IN_SCRATCH(machine_readable),
        IN_SCRATCH(text_before_1_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

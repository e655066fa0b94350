/* SPDX-License-Identifier: MIT */
/* Options and the calls that come of them. */
#include "load_test.h"

#include "benchctl/base/units.h"

static const struct node *options_of(const char *yaml, struct arena *a)
{
    struct error err = ERROR_INIT;
    const struct node *n = NULL;

    if (yaml && tree_parse(yaml, strlen(yaml), "matrix.yaml", a, &n, &err) < 0)
        fail_msg("%s", err.message);
    return n;
}

static void check_argv(const char *adapter, const struct load_call *base, const char *yaml,
                       const char *wanted)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    struct load_call call = *base;
    struct error err = ERROR_INIT;
    struct load_command command;

    call.options = options_of(yaml, arena);
    if (load_adapter_command(a, &call, arena, &command, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < command.argv.len; i++)
        strbuf_addf(&line, "%s[%s]", i ? " " : "", command.argv.items[i]);
    assert_null(command.argv.items[command.argv.len]);
    assert_string_equal(strbuf_text(&line), wanted);
}

static const struct load_call plain = {.target = "http://10.0.0.2:8080",
                                       .path = "/items",
                                       .duration_ns = 10 * INT64_C(1000000000),
                                       .output_dir = "/out"};

static void argv(void **state)
{
    struct load_call scripted = plain;

    (void)state;
    check_argv("wrk", &plain, NULL,
               "[wrk] [-t2] [-c16] [--timeout] [2s] [-d10s] [--latency] [-s] [/out/benchctl-report.lua] "
               "[http://10.0.0.2:8080/items]");
    check_argv("wrk", &plain,
               "{threads: 4, connections: 64, response_timeout: 1m, headers: {A: b c, X-Y: 'it''s'}, "
               "script_args: [one, two words]}",
               "[wrk] [-t4] [-c64] [--timeout] [60s] [-H] [A: b c] [-H] [X-Y: it's] [-d10s] [--latency] [-s] "
               "[/out/benchctl-report.lua] "
               "[http://10.0.0.2:8080/items] [--] [one] [two words]");
    scripted.script = "/matrix/load.lua";
    scripted.target = "http://10.0.0.2:8080/";
    scripted.path = "x?a=1&b=$HOME";
    check_argv("wrk", &scripted, NULL,
               "[wrk] [-t2] [-c16] [--timeout] [2s] [-d10s] [--latency] [-s] [/out/benchctl-report.lua] "
               "[http://10.0.0.2:8080/x?a=1&b=$HOME]");
    check_argv("idle", &plain, NULL, "");
}

static void files_and_environment(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *wrk = adapter_of("wrk");
    CLEANUP(load_adapter_free) struct load_adapter *vegeta = adapter_of("vegeta");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_call call = plain;
    struct error err = ERROR_INIT;
    struct load_command command;

    (void)state;
    call.script = "/m/it's \"mine\".lua";
    assert_int_equal(load_adapter_command(wrk, &call, arena, &command, &err), 0);
    assert_string_equal(text_map_get(&command.env, "BENCHCTL_WRK_SCRIPT"), "/m/it's \"mine\".lua");
    assert_string_equal(text_map_get(&command.env, "BENCHCTL_WRK_REPORT"), "/out/report.json");
    assert_has(text_map_get(&command.files, "benchctl-report.lua"), "function done(");
    assert_int_equal(command.finish_argv.len, 0);
    assert_null(command.finish_stdout_name);
    assert_int_equal(load_adapter_command(vegeta, &call, arena, &command, &err), 0);
    assert_string_equal(text_map_get(&command.files, "targets.txt"), "GET http://10.0.0.2:8080/items\n");
    assert_string_equal(command.finish_argv.items[1], "report");
    assert_string_equal(command.finish_argv.items[3], "/out/results.bin");
    assert_string_equal(command.finish_stdout_name, "report.json");
}

/* A value stays what it is in a file whose content means something. */
static void values_in_files(void **state)
{
    static const char *const bad[] = {
        "/x\"}}], \"config\": {\"processor\": \"/etc/x\"}, \"a\": [{\"b\": {\"c\": \"",
        "/x\nGET http://127.0.0.1/", "/x\x1b"};
    CLEANUP(load_adapter_free) struct load_adapter *vegeta = adapter_of("vegeta");
    CLEANUP(load_adapter_free) struct load_adapter *artillery = adapter_of("artillery");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP(json_free) struct json *j = NULL;
    struct load_call call = plain;
    struct load_command command;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct error err = ERROR_INIT;
        call.path = bad[i];
        call.options = NULL;
        assert_int_equal(load_adapter_command(vegeta, &call, arena, &command, &err), -1);
        assert_has(err.message, i ? "a control character" : "a quotation mark");
    }
    struct error err = ERROR_INIT;
    call.path = "/\\x";
    call.target = "http://a\", \"processor\": \"/x";
    call.options = options_of("{arrival_rate: 5}", arena);
    if (load_adapter_command(artillery, &call, arena, &command, &err) < 0)
        fail_msg("%s", err.message);
    const char *script = text_map_get(&command.files, "benchctl-script.json");
    if (json_parse(script, strlen(script), "script", &j, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(json_text(json_pointer(j, "/config/target")), call.target);
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/flow/0/get/url")), "/\\x");
    assert_null(json_pointer(j, "/config/processor"));
    call = plain;
    call.target = "http://10.0.0.2\nGET http://127.0.0.1";
    assert_int_equal(load_adapter_command(vegeta, &call, arena, &command, &err), -1);
    assert_has(err.message, "holds a control character");
}

static void check_options(const char *adapter, const char *yaml, const char *message, const char *hint)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    int rc = load_adapter_check_options(a, options_of(yaml, arena), &err);

    if (!message && rc < 0)
        fail_msg("%s", err.message);
    assert_int_equal(rc, message ? -1 : 0);
    if (message)
        assert_has(err.message, message);
    if (hint)
        assert_has(err.hint, hint);
}

static void options(void **state)
{
    (void)state;
    check_options("wrk", NULL, NULL, NULL);
    check_options("wrk", "{threads: 2, headers: {A: b}}", NULL, NULL);
    check_options("wrk", "{thread: 2}", "matrix.yaml:1:2: unknown option 'thread' of load adapter 'wrk'",
                  "did you mean 'threads'?");
    check_options("wrk", "{zzzzzzzz: 2}", "unknown option 'zzzzzzzz'", "benchctl adapter show wrk");
    check_options("wrk", "{threads: two}", "matrix.yaml:1:11: option 'threads'", NULL);
    check_options("wrk", "{threads: 0}", "matrix.yaml:1:11: option 'threads' is at least 1, not 0", NULL);
    check_options("wrk", "{threads: 2000}", "is at most 1024", NULL);
    check_options("wrk", "{threads: [1, 2]}", "option 'threads' is one value of type int", NULL);
    check_options("wrk", "{response_timeout: 2}", "option 'response_timeout'", "2s");
    check_options("wrk", "{headers: [a]}", "is a map", NULL);
    check_options("wrk", "{headers: {a: [b]}}", "holds plain values", NULL);
    check_options("wrk", "{headers: {A: \"b\\r\\nX: y\"}}",
                  "matrix.yaml:1:15: option 'headers' holds a line break", "another request");
    check_options("ab", "{headers: {\"A: b\\nX\": y}}", "option 'headers' holds a line break", NULL);
    check_options("vegeta", "{method: \"GET http://other/\\nGET\"}", "option 'method' holds a line break",
                  NULL);
    check_options("vegeta", "{body: \"a\\nb\"}", NULL, NULL);
    check_options("wrk", "{threads: \"${env_threads}\"}", NULL, NULL); /* known later */
    check_options("idle", "{threads: 2}", "unknown option 'threads'", NULL);
    check_options("ghz", NULL, "load adapter 'ghz' needs option 'call'", NULL);
    check_options("ghz", "{call: x}", NULL, NULL);
    check_options("oha", "{latency_correction: yes}", "is true or false, not 'yes'", NULL);
}

/* wrk takes whole seconds: a shorter time must not become another one in silence. */
static void whole_seconds(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_call call = plain;
    struct error err = ERROR_INIT;
    struct load_command command;

    (void)state;
    call.duration_ns = 1500 * INT64_C(1000000);
    assert_int_equal(load_adapter_command(a, &call, arena, &command, &err), -1);
    assert_has(err.message, "'1s500ms' is not a whole number of seconds");
    call.duration_ns = plain.duration_ns;
    call.options = options_of("{response_timeout: 500ms}", arena);
    assert_int_equal(load_adapter_command(a, &call, arena, &command, &err), -1);
    assert_has(err.message, "option 'response_timeout'");
}

/* Before anything is started: what would be refused in the first trial. */
static void tried_in_advance(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP(load_adapter_free) struct load_adapter *idle = adapter_of("idle");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const int64_t s = INT64_C(1000000000);
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(load_adapter_try(a, NULL, NULL, 2 * s, &err), 0);
    assert_int_equal(load_adapter_try(a, options_of("{connections: 8}", arena), "/x.lua", s, &err), 0);
    assert_int_equal(load_adapter_try(idle, NULL, NULL, s / 2, &err), 0);
    assert_int_equal(load_adapter_try(a, NULL, NULL, s / 2, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, "'500ms' is not a whole number of seconds");
    assert_int_equal(load_adapter_try(a, options_of("{conections: 8}", arena), NULL, s, &err), -1);
    assert_has(err.message, "conections");
}

/* The duration is named where it is written, when it alone is what cannot be. */
static void where_a_duration_is_written(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_trying t = {.duration_ns = INT64_C(8500000000), .duration_at = {"m.yaml", 7, 13}};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(load_adapter_try_at(a, &t, &err), -1);
    assert_has(err.message, "m.yaml:7:13: load adapter 'wrk': '8s500ms' is not a whole number of seconds");
    assert_has(err.hint, "whole seconds only");
    t.duration_at.line = 0;
    assert_int_equal(load_adapter_try_at(a, &t, &err), -1);
    assert_null(strstr(err.message, "m.yaml"));
    t.duration_at.line = 7;
    t.duration_ns = INT64_C(8000000000);
    assert_int_equal(load_adapter_try_at(a, &t, &err), 0);
    t.options = options_of("{conections: 8}", arena); /* that is somewhere else */
    assert_int_equal(load_adapter_try_at(a, &t, &err), -1);
    assert_null(strstr(err.message, "m.yaml:7:13"));
}

static void version(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct text_list command;

    (void)state;
    assert_int_equal(load_adapter_version_command(a, arena, &command, &err), 0);
    assert_int_equal(command.len, 2);
    assert_string_equal(command.items[1], "-v");
    const char *said =
        "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk <options> <url>\n";
    assert_string_equal(load_adapter_read_version(a, said, arena), "debian/4.1.0-3+b2");
    assert_null(load_adapter_read_version(a, "something else\n", arena));
    assert_int_equal(load_adapter_check_version(a, said, &err), 0);
    assert_int_equal(load_adapter_check_version(a, "wrk 4.0.0\n    -R, --rate  <T>  work rate\n", &err), -1);
    assert_has(err.message, "it is wrk2");
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argv),
        cmocka_unit_test(files_and_environment),
        cmocka_unit_test(values_in_files),
        cmocka_unit_test(options),
        cmocka_unit_test(whole_seconds),
        cmocka_unit_test(tried_in_advance),
        cmocka_unit_test(version),
        cmocka_unit_test(where_a_duration_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

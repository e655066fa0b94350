/* SPDX-License-Identifier: MIT */
/* What must not be asked for, found before anything runs, and results that are not to be trusted. */
#include "load_test.h"

#include "benchctl/base/clock.h"

#define HEAD                                                                                                 \
    "benchctl-adapter: 1\nprogram: x\noutputs: {o: {file: stdout.txt}, j: {file: out.json, format: json}}\n"
#define REPORT                                                                                               \
    "reports: [{name: r, output: o, accept: [requests], values: {requests: {text: '^requests "               \
    "([0-9]+)'}}}]\n"
#define OPTIONS                                                                                              \
    "options: {n: {type: int}, workers: {type: int, default: 4}, rate: {type: number}, fix: {type: bool}, "  \
    "wait: {type: duration}}\n"

static struct load_adapter *made(const char *text)
{
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (adapter_from(text, &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

static const struct node *options_of(const char *yaml, struct arena *a)
{
    struct error err = ERROR_INIT;
    const struct node *n = NULL;

    if (yaml && tree_parse(yaml, strlen(yaml), "matrix.yaml", a, &n, &err) < 0)
        fail_msg("%s", err.message);
    return n;
}

static void holds(const struct load_adapter *a, const char *yaml)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;

    if (load_adapter_check_options(a, options_of(yaml, arena), &err) < 0)
        fail_msg("%s: %s", yaml ? yaml : "", err.message);
}

static void broken(const struct load_adapter *a, const char *yaml, const char *message, const char *hint)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;

    if (load_adapter_check_options(a, options_of(yaml, arena), &err) == 0)
        fail_msg("'%s' was not found out", yaml);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_string_equal(err.message, message);
    if (hint)
        assert_string_equal(err.hint, hint);
}

static void contradictions(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a =
        made(HEAD OPTIONS REPORT
             "rules:\n"
             "  - {that: floor(option.n / option.workers) * option.workers == option.n, say: '${option.n} by "
             "${option.workers}', hint: make it whole}\n"
             "  - {when: fix, that: known(option.rate), say: no rate}\n"
             "  - {when: rate, unless: fix, say: '${option.rate} with ${option.wait}'}\n");

    (void)state;
    holds(a, NULL);
    holds(a, "{n: 100}");
    holds(a, "{n: 99, workers: 3}");
    broken(a, "{n: 99}", "matrix.yaml:1:5: 99 by 4", "make it whole");
    broken(a, "{workers: 3, n: 100}", "matrix.yaml:1:17: 100 by 3", NULL);
    broken(a, "{fix: true}", "matrix.yaml:1:7: no rate", NULL);
    holds(a, "{fix: true, rate: 5}");
    holds(a, "{fix: false}");
    broken(a, "{rate: 1.5, wait: 1m}", "matrix.yaml:1:8: 1.5 with 1m", NULL);
    broken(a, "{rate: 1}", "matrix.yaml:1:8: 1 with ?", NULL);
    holds(a, "{fix: true, rate: \"${rate}\"}"); /* known at run time */
    holds(a, "{n: \"${n}\"}");
    holds(a, "{rate: 1, fix: \"${fix}\"}");
}

/* Rules about the duration wait until it is known. */
static void durations(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a =
        made(HEAD OPTIONS REPORT
             "rules: [{unless: warmup, that: asked.duration >= 2000, say: '${asked.duration} is "
             "short'}]\n");
    struct error err = ERROR_INIT;

    (void)state;
    holds(a, NULL);
    assert_int_equal(load_adapter_try(a, NULL, NULL, 2 * NS_PER_S, &err), 0);
    assert_int_equal(load_adapter_try(a, NULL, NULL, 1500 * NS_PER_MS, &err), -1);
    assert_string_equal(err.message, "1s500ms is short");
}

static void bad(const char *rules, const char *part)
{
    CLEANUP_FREE char *text = xasprintf(HEAD OPTIONS REPORT "rules: [%s]\n", rules);
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (adapter_from(text, &a, &err) == 0)
        fail_msg("was read: %s", rules);
    assert_has(err.message, part);
}

static void rules_that_are_none(void **state)
{
    (void)state;
    bad("{say: x}", "a rule needs 'that', 'when' or 'unless'");
    bad("{that: option.n > 1}", "'say' is missing");
    bad("{that: option.m > 1, say: x}", "test.yaml:6:9: unknown name 'option.m' in a rule");
    bad("{that: requests > 1, say: x}", "unknown name 'requests' in a rule");
    bad("{that: option.n >, say: x}", "it ends too early");
    bad("{when: m, say: x}", "condition 'm' names no option");
    bad("{unless: m, say: x}", "condition 'm' names no option");
    bad("{that: option.n > 1, say: '${option.m}'}", "unknown name 'option.m' in a rule");
}

#define CHECKED                                                                                              \
    HEAD OPTIONS "reports: [{name: r, output: o, accept: [requests], values: {requests: {text: '^requests "  \
                 "([0-9]+)'}}, checks: [{that: requests >= 0.99 * option.n, level: invalid, id: "            \
                 "load-delivered, say: '${requests} of ${option.n}'}, {that: requests > 5, level: invalid, " \
                 "say: few}, {that: requests < 1000, level: note, say: many}]}]\n"

/* The result stands beside what speaks against it. */
static void doubts(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = made(CHECKED);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "out.txt");
    const char *const file = path;
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "out.txt", "requests 4\n");
    assert_int_equal(
        load_adapter_parse_files(a, &file, 1, options_of("{n: 100}", arena), arena, &r, &p, &err), 0);
    check_number("requests", r.requests, 4);
    assert_int_equal(p.invalid_len, 2);
    assert_string_equal(p.invalid[0].id, "load-delivered");
    assert_string_equal(p.invalid[0].sentence, "4 of 100");
    assert_null(p.invalid[1].id);
    assert_string_equal(p.invalid[1].sentence, "few");
    assert_int_equal(p.len, 0);
    put(*state, "out.txt", "requests 2000\n");
    assert_int_equal(load_adapter_parse_files(a, &file, 1, NULL, arena, &r, &p, &err), 0);
    assert_int_equal(p.invalid_len, 0);
    assert_int_equal(p.len, 1);
    assert_int_equal(load_adapter_parse_files(a, &file, 1, NULL, arena, &r, NULL, &err), 0);
}

/* A form that says too little is read from recorded files, not after a run. */
static void only_for_recorded_files(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a = made(
        HEAD "reports: [{name: whole, output: j, accept: [/x], values: {requests: {json: /x}}}, {name: part, "
             "output: o, accept: [requests], parse_only: true, values: {requests: {text: '^requests "
             "([0-9]+)'}}}]\n");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "stdout.txt");
    const struct load_outcome o = {.ran = true, .window_ms = 1000};
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "stdout.txt", "requests 4\n");
    assert_int_equal(parse_file(a, path, arena, &r, NULL, &err), 0);
    assert_int_equal(load_adapter_collect(a, *state, &o, arena, &r, NULL, &err), -1);
    assert_has(err.message, "no result of 'test'");
}

/* Several numbers in one line, texts in an array, records without a header, numbers that are none with a
 * unit. */
static void what_sources_can_read(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a = made(
        HEAD "reports: [{name: r, output: o, accept: [codes], latency: {max: {text: '^max (.*)$', unit: "
             "duration}}, values: {requests: {text: '[0-9]:([0-9]+)', keys: '^codes', all: true, take: sum}, "
             "ok: {text: '[0-9]:([0-9]+)', keys: '^codes'}}}]\n");
    CLEANUP(load_adapter_free)
    struct load_adapter *texts = made(
        HEAD
        "reports: [{name: r, output: j, accept: [/e], errors: {late: {json: /e, keys: late, take: "
        "count}, other: {json: /e, except: 'late|odd', take: count}}, values: {requests: {json: /n}}}]\n");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "out");
    struct error err = ERROR_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "out", "codes 0:5 200:70 404:6\nmax NaN secs\nnot 1:1000\n");
    assert_int_equal(parse_file(a, path, arena, &r, &p, &err), 0);
    check_number("requests", r.requests, 81);
    check_number("ok", r.ok, 5);
    check_number("max", r.latency_ms.max, NAN);
    put(*state, "out", "codes 200:70\nmax inf ms\n");
    assert_int_equal(parse_file(a, path, arena, &r, &p, &err), 0);
    check_number("max", r.latency_ms.max, NAN);
    put(*state, "out", "codes 200:70\nmax nan monkeys\n");
    assert_int_equal(parse_file(a, path, arena, &r, &p, &err), -1);
    put(*state, "out", "{\"n\": 9, \"e\": [\"too late\", \"reset\", \"late again\", \"odd\", \"cut\"]}");
    assert_int_equal(parse_file(texts, path, arena, &r, &p, &err), 0);
    check_number("late", r.errors[0].count, 2);
    check_number("other", r.errors[1].count, 2);
}

static void records_without_a_header(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a = made("benchctl-adapter: 1\nprogram: x\noutputs: {o: {file: o.csv, format: csv, "
                                  "header: false, columns: [at, "
                                  "code]}}\nreports: [{name: r, output: o, accept: ['^[0-9]+,[0-9]+'], "
                                  "values: {requests: {column: code, "
                                  "take: count}}}]\n");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "out");
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "out", "1,200,x\n2,500,y\n");
    assert_int_equal(parse_file(a, path, arena, &r, NULL, &err), 0);
    check_number("requests", r.requests, 2);
    put(*state, "out", "something else\n1,200\n");
    assert_int_equal(parse_file(a, path, arena, &r, NULL, &err), -1);
    assert_has(err.message, "has no line like '^[0-9]+,[0-9]+'; it begins 'something else'");
}

/* A file that is written only under a condition; latency that is corrected unless an option spoils it. */
static void conditions(void **state)
{
    CLEANUP(load_adapter_free)
    struct load_adapter *a =
        made(HEAD OPTIONS REPORT
             "corrected: yes\nuncorrected_when: fix\n"
             "files: {one: {file: one, content: '${n}', when: n}, two: {file: two, content: x}}\n");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "out");
    const char *const file = path;
    struct load_call call = {.target = "http://h", .path = "/", .output_dir = "/o", .duration_ns = NS_PER_S};
    struct error err = ERROR_INIT;
    struct load_command c;
    struct load_result r;

    assert_int_equal(load_adapter_command(a, &call, arena, &c, &err), 0);
    assert_int_equal(c.files.len, 1);
    assert_string_equal(c.files.items[0].key, "two");
    call.options = options_of("{n: 7}", arena);
    assert_int_equal(load_adapter_command(a, &call, arena, &c, &err), 0);
    assert_int_equal(c.files.len, 2);
    assert_string_equal(c.files.items[0].value, "7");
    put(*state, "out", "requests 4\n");
    const struct node *with = options_of("{fix: true}", arena), *without = options_of("{n: 1}", arena);
    assert_int_equal(load_adapter_parse_files(a, &file, 1, with, arena, &r, NULL, &err), 0);
    assert_string_equal(r.corrected, "no");
    assert_int_equal(load_adapter_parse_files(a, &file, 1, without, arena, &r, NULL, &err), 0);
    assert_string_equal(r.corrected, "yes");
    assert_int_equal(load_adapter_parse_files(a, &file, 1, NULL, arena, &r, NULL, &err), 0);
    assert_null(r.corrected);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions),      cmocka_unit_test(durations),
        cmocka_unit_test(rules_that_are_none), IN_SCRATCH(doubts),
        IN_SCRATCH(only_for_recorded_files),   IN_SCRATCH(what_sources_can_read),
        IN_SCRATCH(records_without_a_header),  IN_SCRATCH(conditions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Recorded outputs of real tools give exactly the values that stand beside them. */
#include "load_test.h"

#include <dirent.h>

static double expected_of(const struct json *e, const char *key)
{
    return json_number(json_get(e, key));
}

/* Every request failed, and none has a latency above 0: nobody answered. */
static bool unanswered(const struct json *e)
{
    double requests = expected_of(e, "requests");

    return requests > 0 && requests == expected_of(e, "errors") && !(expected_of(e, "max") > 0);
}

static void compare(const char *path, const struct json *e, const struct load_result *r)
{
    const struct {
        const char *key;
        double is, factor;
    } figures[] = {
        {"requests", r->requests, 1},    {"rate", r->rps, 1},
        {"errors", r->failed, 1},        {"p50", r->latency_ms.p50, 1},
        {"p90", r->latency_ms.p90, 1},   {"p95", r->latency_ms.p95, 1},
        {"p99", r->latency_ms.p99, 1},   {"max", r->latency_ms.max, 1},
        {"mean", r->latency_ms.mean, 1}, {"duration_s", r->duration_ms / 1000, 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
        CLEANUP_FREE char *what = xasprintf("%s: %s", path, figures[i].key);
        const struct json *wanted = json_get(e, figures[i].key);
        bool derived = figures[i].is > 0 && json_type_of(wanted) == JSON_TYPE_NULL &&
                       strcmp(figures[i].key, "duration_s") == 0; /* by the tool's requests and rate */
        if (wanted && !derived)
            check_number(what, figures[i].is, json_number(wanted));
    }
    const struct json *sockets = json_get(e, "socket_errors");
    for (size_t i = 0; sockets && i < r->error_count; i++)
        if (json_get(sockets, r->errors[i].kind))
            check_number(r->errors[i].kind, r->errors[i].count, expected_of(sockets, r->errors[i].kind));
}

/* As many thresholds were crossed as stand there, in whatever form. */
static void check_thresholds(const char *path, const struct json *e, const struct load_problems *p)
{
    const struct json *all = json_get(e, "thresholds");
    size_t crossed = 0;
    bool said = false;

    for (size_t i = 0; i < json_len(all); i++)
        crossed += !json_get_bool(json_at(all, i), "ok");
    CLEANUP_FREE char *wanted = xasprintf("crossed thresholds: %zu of %zu", crossed, json_len(all));
    for (size_t i = 0; i < p->len; i++)
        said = said || strcmp(p->items[i], wanted) == 0;
    if (said != (crossed > 0))
        fail_msg("%s: %s '%s'", path, said ? "says" : "does not say", wanted);
}

/* `none` files hold no result: the tool failed before it measured. */
static void check_one(const struct load_adapter *a, const char *dir, const char *name)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP(json_free) struct json *e = NULL;
    CLEANUP_FREE char *path = path_join(dir, name);
    CLEANUP_FREE char *beside = xasprintf("%s.expected.json", path);
    struct error err = ERROR_INIT;
    struct load_problems problems;
    struct load_result r;

    if (json_read_file(beside, 1 << 20, &e, &err) < 0)
        fail_msg("%s", err.message);
    bool none = json_get(e, "note") && text_starts(json_get_text(e, "note"), "no result");
    int rc = parse_file(a, path, arena, &r, &problems, &err);
    if (none) {
        if (rc == 0)
            fail_msg("%s: a result where there is none", path);
        return;
    }
    if (rc < 0)
        fail_msg("%s", err.message);
    compare(path, e, &r);
    check_thresholds(path, e, &problems);
    bool percentiles = isnan(expected_of(e, "requests")) && expected_of(e, "p50") >= 0; /* and nothing else */
    bool measured = percentiles || (expected_of(e, "requests") > 0 && !unanswered(e));
    if (measured != !problems.nothing_measured)
        fail_msg("%s: %s", path, measured ? problems.nothing_measured : "measured");
}

/* Every file of a directory whose name ends so. Returns how many. */
static size_t check_directory(const char *adapter, const char *dir, const char *end)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(adapter);
    CLEANUP(closedir) DIR *d = opendir(dir);
    size_t count = 0;

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (e->d_name[0] == '.' || !text_ends(e->d_name, end) || text_ends(e->d_name, ".expected.json") ||
            text_ends(e->d_name, ".md"))
            continue;
        check_one(a, dir, e->d_name);
        count++;
    }
    return count;
}

static void wrk(void **state)
{
    (void)state;
    assert_true(check_directory("wrk", TESTS_DIR "/data/wrk", ".txt") >= 10);
}

/* Runs of other tools made for these tests. */
static void of_the_project(void **state)
{
    static const struct {
        const char *tool, *end;
    } sets[] = {{"wrk2", ".txt"},   {"hey", ".txt"}, {"hey", ".csv"},    {"oha", ".json"},
                {"oha", ".txt"},    {"oha", ".csv"}, {"vegeta", ".txt"}, {"vegeta", ".json"},
                {"vegeta", ".csv"}, {"ab", ".txt"},  {"ab", ".csv"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        CLEANUP_FREE char *dir = xasprintf("%s/data/%s", TESTS_DIR, sets[i].tool);
        assert_true(check_directory(sets[i].tool, dir, sets[i].end) > 0);
    }
}

/* The recordings of other tools. */
static void others(void **state)
{
    static const struct {
        const char *adapter, *dir, *end;
    } sets[] = {
        {"wrk", "wrk", ".txt"},        {"wrk2", "wrk2", ".txt"},      {"hey", "hey", ".txt"},
        {"hey", "hey", ".csv"},        {"oha", "oha", ".json"},       {"oha", "oha", ".txt"},
        {"vegeta", "vegeta", ".json"}, {"vegeta", "vegeta", ".txt"},  {"ab", "ab", ".csv"},
        {"ab", "ab", ".tsv"},          {"siege", "siege", ".json"},   {"siege", "siege", ".txt"},
        {"ghz", "ghz", ".json"},       {"ghz", "ghz", ".txt"},        {"h2load", "h2load", ".txt"},
        {"ab", "ab", ".txt"},          {"k6", "k6-summary", ".json"}, {"k6", "k6-text", ".txt"},
        {"h2load", "h2load", ".tsv"},
    };
    char data[4096]; /* skip() leaves without cleaning up */

    (void)state;
    (void)snprintf(data, sizeof(data), "%s/data", shared_dir());
    if (!fs_is_dir(data)) {
        print_message("skipped: no recorded outputs in %s\n", data);
        skip();
    }
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        CLEANUP_FREE char *dir = path_join(data, sets[i].dir);
        assert_true(check_directory(sets[i].adapter, dir, sets[i].end) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrk), cmocka_unit_test(of_the_project),
                                       cmocka_unit_test(others)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "../unit/check.h"

#include <math.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "config.h"

static int read_text(const char *text, struct arena *a, struct config *ret, struct error *err)
{
    return config_read(text, strlen(text), "mock.yaml", NULL, a, ret, err);
}

static const struct endpoint *find(const struct config *c, const char *path)
{
    return config_find(c, path, strlen(path));
}

static void everything_is_read(void **state)
{
    static const char text[] =
        "upstream: 1\nseed: 9\nport: 0\nstall: {every: 10s, for: 2s}\nclose: true\nhttp: \"1.0\"\n"
        "defaults: {latency: {uniform: [100ms, 600ms]}, failures: {500: 1%}, timeout_after: 5s}\n"
        "endpoints:\n"
        "  /a: {}\n"
        "  /b: {latency: 0, failures: {timeout: 0.5%, reset: 99%}, timeout_after: never, status: 404}\n"
        "  /c: {latency: {lognormal: {median: 20ms, p99: 400ms}}, body_bytes: 1k}\n"
        "  /d: {latency: {normal: {mean: 50ms, sd: 10ms}}, body: 'x{{id}}', failures: {}}\n";
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct config c;
    struct error err = ERROR_INIT;

    (void)state;
    if (read_text(text, a, &c, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(c.seed, 9);
    assert_true(c.close && c.http == 1 && c.stall->every_ns == 10 * NS_PER_S &&
                c.stall->for_ns == 2 * NS_PER_S);
    const struct endpoint *e = find(&c, "/a");
    assert_int_equal(e->latency.kind, LATENCY_UNIFORM);
    assert_true(e->latency.a == 100e6 && e->latency.b == 600e6);
    assert_true(e->failures.len == 1 && e->failures.items[0].status == 500 &&
                e->failures.items[0].share == 0.01);
    assert_true(e->timeout_after_ns == 5 * NS_PER_S && e->status == 200);
    assert_string_equal(e->body_text, "{}");
    e = find(&c, "/b");
    assert_true(e->latency.kind == LATENCY_CONSTANT && e->latency.a == 0 && e->status == 404);
    assert_true(e->timeout_after_ns == UPSTREAM_NEVER);
    assert_int_equal(e->failures.items[0].kind, FAILURE_TIMEOUT);
    assert_int_equal(e->failures.items[1].kind, FAILURE_RESET);
    e = find(&c, "/c");
    assert_true(e->latency.kind == LATENCY_LOGNORMAL && fabs(e->latency.a - log(20e6)) < 1e-12);
    assert_true(fabs(e->latency.b - log(20) / 2.3263478740408408) < 1e-12);
    assert_true(e->body_len == 1024 && e->body_text[0] == '{' && e->body_text[1023] == '}');
    e = find(&c, "/d");
    assert_true(e->latency.kind == LATENCY_NORMAL && e->latency.a == 50e6 && e->latency.b == 10e6);
    assert_true(e->is_template && e->failures.len == 0);
}

static void exact_paths_go_before_prefixes_and_long_before_short(void **state)
{
    static const char text[] =
        "upstream: 1\nendpoints: {/*: {status: 201}, /a/*: {status: 202}, /a/b/*: {status: 203}, "
        "/a/b: {status: 204}, /a/b/c: {status: 205}}\n";
    static const struct {
        const char *path;
        int64_t status;
    } wanted[] = {{"/", 201},    {"/x", 201},    {"/a", 201},     {"/a/", 202},     {"/a/x", 202},
                  {"/a/b", 204}, {"/a/b/", 203}, {"/a/b/c", 205}, {"/a/b/cd", 203}, {"/a/bc", 202}};
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct config c;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(read_text(text, a, &c, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_int_equal(find(&c, wanted[i].path)->status, wanted[i].status);
    assert_null(find(&c, ""));
    assert_null(find(&c, "*"));
}

static void mistakes_have_a_position(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"endpoints: {}\n", "'upstream' is missing"},
        {"upstream: 2\nendpoints: {}\n", "mock.yaml:1:11: 'upstream' must be from 1 to 1"},
        {"upstream: 1\n", "'endpoints' is missing"},
        {"upstream: 1\nendpoints: {a: {}}\n", "is no path"},
        {"upstream: 1\nendpoints: {/a?b: {}}\n", "is no path"},
        {"upstream: 1\nendpoints: {/a*: {}}\n", "a star stands only at the end"},
        {"upstream: 1\nendpoints: {/a/*/b: {}}\n", "a star stands only at the end"},
        {"upstream: 1\nendpoints: {/__stats: {}}\n", "the server's own"},
        {"upstream: 1\nendpoints: {/a: {}, /a: {}}\n", "mock.yaml:2:"},
        {"upstream: 1\nendpoints: {/a: {latncy: 1s}}\n", "unknown key 'latncy'"},
        {"upstream: 1\nendpoints: {/a: {latency: 5}}\n", "'latency'"},
        {"upstream: 1\nendpoints: {/a: {latency: {}}}\n", "one of 'constant', 'uniform'"},
        {"upstream: 1\nendpoints: {/a: {latency: {uniform: [1s, 2s], constant: 1s}}}\n", "one of"},
        {"upstream: 1\nendpoints: {/a: {latency: {uniform: [2s, 1s]}}}\n", "ends before it begins"},
        {"upstream: 1\nendpoints: {/a: {latency: {uniform: 1s}}}\n", "two durations"},
        {"upstream: 1\nendpoints: {/a: {latency: {normal: {mean: 1s}}}}\n", "'sd' is missing"},
        {"upstream: 1\nendpoints: {/a: {latency: {lognormal: {median: 1s}}}}\n", "'p99' or 'sigma'"},
        {"upstream: 1\nendpoints: {/a: {latency: {lognormal: {median: 1s, p99: 2s, sigma: 1}}}}\n",
         "not both"},
        {"upstream: 1\nendpoints: {/a: {latency: {lognormal: {median: 1s, p99: 1ms}}}}\n",
         "below the median"},
        {"upstream: 1\nendpoints: {/a: {latency: 30h}}\n", "at most"},
        {"upstream: 1\nendpoints: {/a: {failures: {500: 1}}}\n", "a number with '%'"},
        {"upstream: 1\nendpoints: {/a: {failures: {500: 101%}}}\n", "from 0% to 100%"},
        {"upstream: 1\nendpoints: {/a: {failures: {500: -1%}}}\n", "from 0% to 100%"},
        {"upstream: 1\nendpoints: {/a: {failures: {500: 60%, reset: 41%}}}\n", "more than 100%"},
        {"upstream: 1\nendpoints: {/a: {failures: {boom: 1%}}}\n", "unknown failure 'boom'"},
        {"upstream: 1\nendpoints: {/a: {failures: {100: 1%}}}\n", "unknown failure '100'"},
        {"upstream: 1\nendpoints: {/a: {failures: [500]}}\n", "must be a map"},
        {"upstream: 1\nendpoints: {/a: {timeout_after: soon}}\n", "'timeout_after'"},
        {"upstream: 1\nendpoints: {/a: {body: x, body_bytes: 1k}}\n", "only one of"},
        {"upstream: 1\nendpoints: {/a: {body_bytes: 65m}}\n", "'body_bytes'"},
        {"upstream: 1\nendpoints: {/a: {body_file: x}}\n", "needs a configuration that is a file"},
        {"upstream: 1\nendpoints: {/a: {content_type: \"a\\r\\nb\"}}\n", "one line"},
        {"upstream: 1\nstall: {every: 2s, for: 2s}\nendpoints: {}\n", "shorter than"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new();
        struct config c;
        struct error err = ERROR_INIT;
        if (read_text(bad[i].text, a, &c, &err) == 0)
            fail_msg("taken: %s", bad[i].text);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_has(err.message, bad[i].message);
        assert_has(err.message, "mock.yaml:");
    }
}

static void stalls_on_the_command_line(void **state)
{
    static const char *const bad[] = {"", "10s", "/", "10s/", "2s/2s", "10s/0", "x/y", "1s/2s/3s"};
    struct stall s;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(stall_parse("10s/500ms", &s, &err), 0);
    assert_true(s.every_ns == 10 * NS_PER_S && s.for_ns == 500 * NS_PER_MS);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(stall_parse(bad[i], &s, &err), -1);
}

/* What the articles say of their mocks. */
static void the_shipped_configurations(void **state)
{
    static const char *const files[] = {"part16.yaml", "part17.yaml"};
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct config c[2];
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        char path[512];
        snprintf(path, sizeof(path), "%s/examples/upstream/%s", SOURCE_DIR, files[i]);
        assert_int_equal(fs_read(path, UPSTREAM_MAX_CONFIG_BYTES, &text, &err), 0);
        if (config_read(strbuf_text(&text), text.len, files[i], NULL, a, &c[i], &err) < 0)
            fail_msg("%s", err.message);
    }
    const struct endpoint *iss = find(&c[0], "/iss-now.json"), *neo = find(&c[0], "/neo/rest/v1/feed");
    double sum = 0;
    for (size_t i = 0; i < iss->failures.len; i++)
        sum += iss->failures.items[i].share;
    assert_true(fabs(sum - 0.03) < 1e-12 && iss->latency.a == 10e6 && iss->latency.b == 50e6);
    assert_true(neo->latency.a == 30e6 && neo->latency.b == 150e6);
    assert_int_equal(c[1].endpoints.len, 28);
    const struct endpoint *all = c[1].endpoints.items;
    for (size_t i = 0; i < 28; i++) {
        sum = 0;
        for (size_t k = 0; k < all[i].failures.len; k++)
            sum += all[i].failures.items[k].share;
        assert_true(all[i].latency.a == 100e6 && all[i].latency.b == 600e6 && sum >= 0.01 && sum <= 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(exact_paths_go_before_prefixes_and_long_before_short),
        cmocka_unit_test(mistakes_have_a_position),
        cmocka_unit_test(stalls_on_the_command_line),
        cmocka_unit_test(the_shipped_configurations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

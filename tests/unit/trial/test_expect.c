/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "benchctl/trial.h"

static void test_parsing(void **state)
{
    static const struct {
        const char *text, *name, *op;
        double bound;
    } GOOD[] = {
        {"load.error_rate <= 0.01", "load.error_rate", "<=", 0.01},
        {"load.rps>=1e3", "load.rps", ">=", 1000},
        {" app.restarts  ==  0 ", "app.restarts", "==", 0},
        {"app.oom_kills != 3", "app.oom_kills", "!=", 3},
        {"load.latency_ms.p99 < 250ms", "load.latency_ms.p99", "<", 250},
        {"load.latency_ms.p99 < 1.5s", "load.latency_ms.p99", "<", 1500},
        {"app.memory_bytes.used_peak > 64m", "app.memory_bytes.used_peak", ">", 67108864},
        {"app.memory_bytes.limit < unlimited", "app.memory_bytes.limit", "<", INFINITY},
        {"== 0", "", "==", 0},
        {"> -5", "", ">", -5},
    };
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct error err = ERROR_INIT;
        struct expectation e;

        if (expectation_parse(GOOD[i].text, a, &e, &err) < 0)
            fail_msg("%s: %s", GOOD[i].text, err.message);
        assert_string_equal(e.name, GOOD[i].name);
        assert_string_equal(e.op, GOOD[i].op);
        assert_true(e.bound == GOOD[i].bound);
    }
}

static void test_refusing(void **state)
{
    static const char *const BAD[] = {
        "",        "load.rps",     "load.rps = 3",    "load.rps <",     "load.rps < much",
        "a b < 3", "load.rps ! 3", "load.rps <= 1 2", "load.rps <== 3", "load.rps < nan",
        "x < inf", "x > 0x10 y",   "x <> 3",          "x < 3 && y < 4"};
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        struct error err = ERROR_INIT;
        struct expectation e = {.name = "untouched"};

        if (expectation_parse(BAD[i], a, &e, &err) == 0)
            fail_msg("'%s' was taken", BAD[i]);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_string_equal(e.name, "untouched");
    }
}

static void test_checking(void **state)
{
    static const char *const GOOD[] = {"load.ok > 0", "app.memory_bytes.used_peak < 64m",
                                       "mock.restarts == 0", "metrics.heap_used_bytes.max < 1g",
                                       "services.x.oom_kills == 0"};
    static const char *const BAD[] = {"load.nonsense > 3", "lod.ok > 3", "== 0", "load.ok", "load.ok > x"};
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        if (expectation_check(GOOD[i], &err) < 0)
            fail_msg("%s", err.message);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        assert_int_equal(expectation_check(BAD[i], &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
    }
}

static void test_holding(void **state)
{
    static const struct {
        const char *op;
        double value;
        bool holds;
    } CASES[] = {{"<", 1, true},    {"<", 2, false},    {"<=", 2, true},       {"<=", 3, false},
                 {">", 3, true},    {">", 2, false},    {">=", 2, true},       {">=", 1, false},
                 {"==", 2, true},   {"==", 1, false},   {"!=", 1, true},       {"!=", 2, false},
                 {"<", NAN, false}, {"!=", NAN, false}, {">", INFINITY, true}, {"<=", INFINITY, false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct expectation e = {.name = "", .op = CASES[i].op, .bound = 2};
        assert_int_equal(expectation_holds(&e, CASES[i].value), CASES[i].holds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parsing),
        cmocka_unit_test(test_refusing),
        cmocka_unit_test(test_checking),
        cmocka_unit_test(test_holding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

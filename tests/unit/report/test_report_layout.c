/* SPDX-License-Identifier: MIT */
/* The shapes of tables that articles have: what is in the rows, in the columns, and in tables of its own. */
#include "fixed_sweep.h"

static const char *const axes[] = {"framework", "stack", "memory", NULL};
static const char info[] = "{\"axes\":[{\"name\":\"framework\",\"values\":[\"micronaut\",\"quarkus\"]},"
                           "{\"name\":\"stack\",\"values\":[\"reactive\",\"imperative\"]},"
                           "{\"name\":\"memory\",\"values\":[\"128m\",\"256m\"]}]}";

/* Goodput is the number of the scenario, all of 100, 200, ... 800 but micronaut/imperative/256m. */
static void make(struct maker *m)
{
    static const char *const scenarios[] = {
        "quarkus/imperative/128m",   "micronaut/reactive/128m", "micronaut/reactive/256m",
        "micronaut/imperative/128m", "quarkus/reactive/256m",   "quarkus/reactive/128m",
        "quarkus/imperative/256m",
    };
    maker_begin(m, axes, info, NULL);
    for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
        add(m, scenarios[i], OUTCOME_OK, 100 * (double)(i + 1))->load.latency_ms.p50 = (double)i + 1;
}

/* The tables alone, from the first heading on. */
static const char *tables_of(char *text)
{
    char *at = strstr(text, "\n\n");

    assert_non_null(at);
    return at + 2;
}

static void check(const struct report_options *o, const char *expected)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    make(&m);
    CLEANUP_FREE char *text = rendered(&m, o, REPORT_TABLE);
    assert_string_equal(tables_of(text), expected);
}

static void test_default(void **state)
{
    static const char *const figures[] = {"goodput_rps", "p50"};

    (void)state;
    check(&(struct report_options){.figures = figures, .figure_count = 2},
          "Results\n"
          "framework  stack       memory  n  outcome  ok/s   p50\n"
          "                                                   ms\n"
          "micronaut  reactive    128m    1  ok        200  2.00\n"
          "micronaut  reactive    256m    1  ok        300  3.00\n"
          "micronaut  imperative  128m    1  ok        400  4.00\n"
          "quarkus    reactive    128m    1  ok        600  6.00\n"
          "quarkus    reactive    256m    1  ok        500  5.00\n"
          "quarkus    imperative  128m    1  ok        100  1.00\n"
          "quarkus    imperative  256m    1  ok        700  7.00\n");
}

/* All axes named: another order, one table. */
static void test_order_of_rows(void **state)
{
    static const char *const rows[] = {"memory", "stack", "framework"}, *const figures[] = {"goodput_rps"};

    (void)state;
    check(&(struct report_options){.rows = rows, .row_count = 3, .figures = figures, .figure_count = 1},
          "Results\n"
          "memory  stack       framework  n  outcome  ok/s\n"
          "128m    reactive    micronaut  1  ok        200\n"
          "128m    reactive    quarkus    1  ok        600\n"
          "128m    imperative  micronaut  1  ok        400\n"
          "128m    imperative  quarkus    1  ok        100\n"
          "256m    reactive    micronaut  1  ok        300\n"
          "256m    reactive    quarkus    1  ok        500\n"
          "256m    imperative  quarkus    1  ok        700\n");
}

/* "Reactive: ... Imperative: ...", a table for each. */
static void test_a_table_per_stack(void **state)
{
    static const char *const rows[] = {"framework", "memory"}, *const figures[] = {"goodput_rps"};

    (void)state;
    check(&(struct report_options){.rows = rows, .row_count = 2, .figures = figures, .figure_count = 1},
          "stack reactive\n"
          "framework  memory  n  outcome  ok/s\n"
          "micronaut  128m    1  ok        200\n"
          "micronaut  256m    1  ok        300\n"
          "quarkus    128m    1  ok        600\n"
          "quarkus    256m    1  ok        500\n"
          "\n"
          "stack imperative\n"
          "framework  memory  n  outcome  ok/s\n"
          "micronaut  128m    1  ok        400\n"
          "quarkus    128m    1  ok        100\n"
          "quarkus    256m    1  ok        700\n");
}

/* One figure by an axis: a table for each figure. */
static void test_columns(void **state)
{
    (void)state;
    check(&(struct report_options){.cols = "memory"}, "Successful requests per second by memory\n"
                                                      "framework  stack       128m          256m\n"
                                                      "micronaut  reactive     200           300\n"
                                                      "micronaut  imperative   400  not measured\n"
                                                      "quarkus    reactive     600           500\n"
                                                      "quarkus    imperative   100           700\n"
                                                      "\n"
                                                      "Median latency in ms by memory\n"
                                                      "framework  stack       128m          256m\n"
                                                      "micronaut  reactive    2.00          3.00\n"
                                                      "micronaut  imperative  4.00  not measured\n"
                                                      "quarkus    reactive    6.00          5.00\n"
                                                      "quarkus    imperative  1.00          7.00\n"
                                                      "\n"
                                                      "Restarts by memory\n"
                                                      "framework  stack       128m          256m\n"
                                                      "micronaut  reactive       0             0\n"
                                                      "micronaut  imperative     0  not measured\n"
                                                      "quarkus    reactive       0             0\n"
                                                      "quarkus    imperative     0             0\n"
                                                      "\n"
                                                      "OOM kills by memory\n"
                                                      "framework  stack       128m          256m\n"
                                                      "micronaut  reactive       0             0\n"
                                                      "micronaut  imperative     0  not measured\n"
                                                      "quarkus    reactive       0             0\n"
                                                      "quarkus    imperative     0             0\n"
                                                      "n = 1 trial unless a figure says otherwise.\n"
                                                      "Not measured: not part of the sweep.\n");
}

static void test_columns_and_rows(void **state)
{
    static const char *const rows[] = {"stack"}, *const figures[] = {"goodput_rps"};

    (void)state;
    check(
        &(struct report_options){
            .rows = rows, .row_count = 1, .cols = "framework", .figures = figures, .figure_count = 1},
        "Successful requests per second by framework: memory 128m\n"
        "stack       micronaut  quarkus\n"
        "reactive          200      600\n"
        "imperative        400      100\n"
        "\n"
        "Successful requests per second by framework: memory 256m\n"
        "stack          micronaut  quarkus\n"
        "reactive             300      500\n"
        "imperative  not measured      700\n"
        "n = 1 trial unless a figure says otherwise.\n"
        "Not measured: not part of the sweep.\n");
}

/* Figures down, frameworks across, a table for each setting: a missing combination is a column of its own
 * words. */
static void test_figures_down(void **state)
{
    static const char *const rows[] = {REPORT_FIGURE}, *const figures[] = {"goodput_rps", "p50", "p99"};

    (void)state;
    check(
        &(struct report_options){
            .rows = rows, .row_count = 1, .cols = "framework", .figures = figures, .figure_count = 3},
        "stack reactive, memory 128m\n"
        "figure   micronaut  quarkus\n"
        "n                1        1\n"
        "outcome         ok       ok\n"
        "ok/s           200      600\n"
        "p50 ms        2.00     6.00\n"
        "p99 ms           –        –\n"
        "\n"
        "stack reactive, memory 256m\n"
        "figure   micronaut  quarkus\n"
        "n                1        1\n"
        "outcome         ok       ok\n"
        "ok/s           300      500\n"
        "p50 ms        3.00     5.00\n"
        "p99 ms           –        –\n"
        "\n"
        "stack imperative, memory 128m\n"
        "figure   micronaut  quarkus\n"
        "n                1        1\n"
        "outcome         ok       ok\n"
        "ok/s           400      100\n"
        "p50 ms        4.00     1.00\n"
        "p99 ms           –        –\n"
        "\n"
        "stack imperative, memory 256m\n"
        "figure      micronaut  quarkus\n"
        "n        not measured        1\n"
        "outcome  not measured       ok\n"
        "ok/s     not measured      700\n"
        "p50 ms   not measured     7.00\n"
        "p99 ms   not measured        –\n"
        "–: no trial measured it; not measured: not part of the sweep.\n");
}

/* An axis that has one value in the results says nothing, though the matrix has more. */
static void test_one_value_of_many(void **state)
{
    static const char *const rows[] = {"memory"}, *const figures[] = {"goodput_rps"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, info, NULL);
    add(&m, "quarkus/reactive/256m", OUTCOME_OK, 200);
    add(&m, "quarkus/imperative/256m", OUTCOME_OK, 200);
    CLEANUP_FREE char *text = rendered(
        &m, &(struct report_options){.rows = rows, .row_count = 1, .figures = figures, .figure_count = 1},
        REPORT_TABLE);
    assert_has(text, "\nstack reactive\nmemory  n  outcome  ok/s\n256m    1  ok        200\n");
}

/* The figure may stand anywhere among the rows. */
static void test_figures_outermost(void **state)
{
    static const char *const rows[] = {REPORT_FIGURE, "stack", "memory"}, *const figures[] = {"goodput_rps"};

    (void)state;
    check(
        &(struct report_options){
            .rows = rows, .row_count = 3, .cols = "framework", .figures = figures, .figure_count = 1},
        "Results\n"
        "figure   stack       memory     micronaut  quarkus\n"
        "n        reactive    128m               1        1\n"
        "n        reactive    256m               1        1\n"
        "n        imperative  128m               1        1\n"
        "n        imperative  256m    not measured        1\n"
        "outcome  reactive    128m              ok       ok\n"
        "outcome  reactive    256m              ok       ok\n"
        "outcome  imperative  128m              ok       ok\n"
        "outcome  imperative  256m    not measured       ok\n"
        "ok/s     reactive    128m             200      600\n"
        "ok/s     reactive    256m             300      500\n"
        "ok/s     imperative  128m             400      100\n"
        "ok/s     imperative  256m    not measured      700\n"
        "Not measured: not part of the sweep.\n");
}

/* A figure that stands alone says what became of its scenario. */
static void test_what_became_of_it(void **state)
{
    static const char *const figures[] = {"goodput_rps", "restarts"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *text = rendered(
        &m, &(struct report_options){.cols = "memory", .figures = figures, .figure_count = 2}, REPORT_TABLE);
    const char *restarts = strstr(text, "Restarts by memory");
    assert_non_null(restarts);
    assert_has(text, "flask      blocking                   1500 ±2%           500 ±2% (degraded)\n");
    assert_has(text, "flask      async     3030 ±1% (1 of 3 crashed)                    not-ready\n");
    assert_has(text, "express    blocking                    not run                 not measured\n");
    assert_has(restarts, "flask      blocking        0         12–14\n"); /* says it all */
    assert_has(restarts, "flask      async         0–5             0\n");
}

static void test_fewer_trials_than_elsewhere(void **state)
{
    static const char *const figures[] = {"goodput_rps"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    make(&m);
    add(&m, "micronaut/reactive/128m", OUTCOME_OK, 200);
    CLEANUP_FREE char *text = rendered(
        &m, &(struct report_options){.cols = "memory", .figures = figures, .figure_count = 1}, REPORT_TABLE);
    assert_has(text, "micronaut  reactive      200 ±0%     300 (n 1)\n");
    assert_has(text, "n = 2 trials unless a figure says otherwise.");
}

static void test_refusals(void **state)
{
    static const char *const unknown[] = {"memory", "framwork"}, *const twice[] = {"memory", "memory"},
                             *const figure[] = {REPORT_FIGURE}, *const memory[] = {"memory"};
    CLEANUP_VALUE(maker_release) struct maker m;
    struct report *r = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    make(&m);
    assert_refused(&m, &(struct report_options){.rows = unknown, .row_count = 2},
                   "the sweep has no axis 'framwork'");
    assert_refused(&m, &(struct report_options){.cols = "nope"}, "the sweep has no axis 'nope'");
    assert_refused(&m, &(struct report_options){.cols = ""}, "the sweep has no axis ''");
    assert_refused(&m, &(struct report_options){.rows = twice, .row_count = 2},
                   "axis 'memory' is named twice");
    assert_refused(&m, &(struct report_options){.rows = figure, .row_count = 1},
                   "the rows are figures, but nothing is in the columns");
    assert_refused(&m, &(struct report_options){.rows = figure, .row_count = 1, .cols = REPORT_FIGURE},
                   "in the rows and in the columns");
    assert_refused(&m, &(struct report_options){.rows = memory, .row_count = 1, .cols = "memory"},
                   "'memory' cannot be in the rows and in the columns");
    assert_int_equal(report_build(made(&m), &(struct report_options){.cols = "nope"}, &r, &err), -1);
    assert_string_equal(err.hint, "its axes are: framework, stack, memory, figure (the figures themselves)");
}

/* An axis that is called like the figures wins: it is the sweep's own. */
static void test_an_axis_called_figure(void **state)
{
    static const char *const named[] = {REPORT_FIGURE, NULL}, *const rows[] = {REPORT_FIGURE};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, named, NULL, NULL);
    add(&m, "round", OUTCOME_OK, 100);
    CLEANUP_FREE char *text =
        rendered(&m, &(struct report_options){.rows = rows, .row_count = 1}, REPORT_TABLE);
    assert_has(text, "figure  n  outcome  ok/s");
    assert_has(text, "round   1  ok        100");
}

static void test_too_many_tables(void **state)
{
    static const char *const rows[] = {"stack"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (int i = 0; i < 201; i++)
        add(&m, arena_printf(m.sweep.arena, "f/s/%dm", i), OUTCOME_OK, 1);
    assert_refused(&m, &(struct report_options){.rows = rows, .row_count = 1},
                   "that would be 201 tables, 200 at most");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),           cmocka_unit_test(test_order_of_rows),
        cmocka_unit_test(test_a_table_per_stack), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_columns_and_rows),  cmocka_unit_test(test_figures_down),
        cmocka_unit_test(test_one_value_of_many), cmocka_unit_test(test_figures_outermost),
        cmocka_unit_test(test_what_became_of_it), cmocka_unit_test(test_fewer_trials_than_elsewhere),
        cmocka_unit_test(test_refusals),          cmocka_unit_test(test_an_axis_called_figure),
        cmocka_unit_test(test_too_many_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

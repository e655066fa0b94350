/* SPDX-License-Identifier: MIT */
/* What a sweep does not have, and what its trials do not: said in tables by an axis, never blank. */
#include "make_sweep.h"

static const char *const axes[] = {"framework", "stack", "memory", NULL};
static const char sizes_info[] = "{\"axes\":[{\"name\":\"framework\",\"values\":[\"micronaut\",\"quarkus\"]},"
                                 "{\"name\":\"stack\"},{\"name\":\"memory\",\"values\":"
                                 "[\"64m\",\"128m\",\"256m\",\"1g\"]}]}";

/* The tables alone, from the first heading on. */
static const char *tables_of(char *text)
{
    char *at = strstr(text, "\n\n");

    assert_non_null(at);
    return at + 2;
}

static void holes(struct maker *m, const char *known, const char *plan)
{
    maker_begin(m, axes, known, plan);
    add(m, "micronaut/reactive/256m", OUTCOME_OK, 300);
    add(m, "quarkus/reactive/128m", OUTCOME_OK, 200);
    add(m, "quarkus/imperative/256m", OUTCOME_OK, 700);
}

static const struct report_options *by_framework(void)
{
    static const char *const rows[] = {"memory"}, *const figures[] = {"goodput_rps"};
    static const struct report_options o = {
        .rows = rows, .row_count = 1, .cols = "framework", .figures = figures, .figure_count = 1};

    return &o;
}

/* A row for each value that the sweep knows, before, between and behind those that the table has. */
static void test_values_without_a_scenario(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    holes(&m, sizes_info, NULL);
    CLEANUP_FREE char *text = squeezed(rendered(&m, by_framework(), REPORT_TABLE));
    assert_string_equal(tables_of(text), "Successful requests per second by framework: stack imperative\n"
                                         "memory micronaut quarkus\n"
                                         "64m not measured not measured\n"
                                         "128m not measured not measured\n"
                                         "256m not measured 700\n"
                                         "1g not measured not measured\n"
                                         "\n"
                                         "Successful requests per second by framework: stack reactive\n"
                                         "memory micronaut quarkus\n"
                                         "64m not measured not measured\n"
                                         "128m not measured 200\n"
                                         "256m 300 not measured\n"
                                         "1g not measured not measured\n"
                                         "n = 1 trial unless a figure says otherwise.\n"
                                         "Not measured: not part of the sweep.\n");
}

/* In tables whose columns are figures a hole is a row that is not there, as before. */
static void test_figures_in_columns_have_no_holes(void **state)
{
    static const char *const rows[] = {"memory"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    holes(&m, sizes_info, NULL);
    CLEANUP_FREE char *text =
        rendered(&m, &(struct report_options){.rows = rows, .row_count = 1}, REPORT_TABLE);
    assert_null(strstr(text, "not measured"));
    assert_null(strstr(text, "64m"));
}

/* Only the rows' own combinations where they are of several axes. */
static void test_rows_of_two_axes_have_no_holes(void **state)
{
    static const char *const rows[] = {"stack", "memory"}, *const figures[] = {"goodput_rps"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    holes(&m, sizes_info, NULL);
    CLEANUP_FREE char *text = squeezed(rendered(
        &m,
        &(struct report_options){
            .rows = rows, .row_count = 2, .cols = "framework", .figures = figures, .figure_count = 1},
        REPORT_TABLE));
    assert_has(text, "stack memory micronaut quarkus\nimperative 256m not measured 700\n"
                     "reactive 128m not measured 200\nreactive 256m 300 not measured\n");
    assert_null(strstr(text, "64m"));
}

static void test_sizes_of_a_search_are_not_missing(void **state)
{
    static const char plan[] = "{\"axes\":[\"framework\",\"stack\",\"memory\"],\"search\":{\"axis\":"
                               "\"memory\",\"from_bytes\":67108864,"
                               "\"to_bytes\":268435456,\"step_bytes\":67108864},\"scenarios\":[{\"id\":"
                               "\"quarkus/reactive/64m\",\"axes\":"
                               "{\"framework\":\"quarkus\",\"stack\":\"reactive\",\"memory\":\"64m\"}}]}";
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    holes(&m, sizes_info, plan);
    CLEANUP_FREE char *text = squeezed(rendered(&m, by_framework(), REPORT_TABLE));
    assert_has(text, "memory micronaut quarkus\n256m not measured 700\n1g not measured not measured\n");
    assert_has(text, "memory micronaut quarkus\n128m not measured 200\n256m 300 not measured\n");
    assert_null(strstr(text, "64m"));
}

/* A bundle may claim any number of values. */
static void test_too_many_values_without_a_scenario(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_VALUE(strbuf_release) struct strbuf known = STRBUF_INIT;

    (void)state;
    strbuf_adds(&known, "{\"axes\":[{\"name\":\"memory\",\"values\":[");
    for (int i = 0; i <= 200; i++)
        strbuf_addf(&known, "%s\"v%d\"", i ? "," : "", i);
    strbuf_adds(&known, "]}]}");
    holes(&m, strbuf_text(&known), NULL);
    CLEANUP_FREE char *text = rendered(&m, by_framework(), REPORT_TABLE);
    assert_null(strstr(text, "v0"));
    assert_has(text, "not measured");
}

/* A trial that ended badly and has figures, though not this one: what became of it is not why. */
static void test_not_measured_and_degraded(void **state)
{
    static const char *const figures[] = {"p50"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    holes(&m, sizes_info, NULL);
    m.trials.items[0].outcome = OUTCOME_DEGRADED;
    m.trials.items[1].outcome = OUTCOME_NOT_READY;
    CLEANUP_FREE char *text = squeezed(rendered(
        &m, &(struct report_options){.cols = "memory", .figures = figures, .figure_count = 1}, REPORT_TABLE));
    assert_has(text, "micronaut reactive not measured – (degraded)\n");
    assert_has(text, "quarkus reactive not-ready not measured\n");
    assert_has(text, "–: no trial measured it; ");
    assert_null(strstr(text, "Two numbers with a dash"));
}

/* Known from a figure that its trials lack, and faint. */
static void test_a_hole_and_a_figure_without_a_value(void **state)
{
    static const char *const figures[] = {"p50"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    holes(&m, sizes_info, NULL);
    CLEANUP_FREE char *text = rendered(
        &m, &(struct report_options){.cols = "memory", .figures = figures, .figure_count = 1, .color = true},
        REPORT_TABLE);
    assert_has(text, "\033[2mnot measured\033[0m");
    assert_has(text, "\033[2m–\033[0m");
    assert_has(text, "–: no trial measured it; not measured: not part of the sweep.\n");
    CLEANUP_FREE char *page =
        rendered(&m, &(struct report_options){.cols = "memory", .figures = figures, .figure_count = 1},
                 REPORT_MARKDOWN);
    assert_has(page, "| micronaut | reactive | not measured | – |\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_without_a_scenario),
        cmocka_unit_test(test_figures_in_columns_have_no_holes),
        cmocka_unit_test(test_rows_of_two_axes_have_no_holes),
        cmocka_unit_test(test_sizes_of_a_search_are_not_missing),
        cmocka_unit_test(test_too_many_values_without_a_scenario),
        cmocka_unit_test(test_not_measured_and_degraded),
        cmocka_unit_test(test_a_hole_and_a_figure_without_a_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

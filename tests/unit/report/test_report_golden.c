/* SPDX-License-Identifier: MIT */
/*
 * One sweep in every format, word for word. BENCHCTL_GOLDEN=update writes what the renderers give now, to be
 * looked at before it is committed.
 */
#include "fixed_sweep.h"

#include "benchctl/base/fs.h"

static void hold(const char *name, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf expected = STRBUF_INIT;
    CLEANUP_FREE char *path = xasprintf("%s/golden/%s", TESTS_DIR, name);
    struct error err = ERROR_INIT;

    if (text_equal(getenv("BENCHCTL_GOLDEN"), "update") && fs_write(path, text, strlen(text), &err) < 0)
        fail_msg("%s", err.message);
    if (fs_read(path, (size_t)8 << 20, &expected, &err) < 0)
        fail_msg("%s", err.message);
    if (strcmp(text, strbuf_text(&expected)) != 0)
        fail_msg("%s is not what is rendered now:\n%s", name, text);
}

static void check(const char *name, const struct report_options *o, enum report_format f)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    fixed_sweep(&m);
    CLEANUP_FREE char *text = rendered(&m, o, f);
    hold(name, text);
}

static void test_table(void **state)
{
    (void)state;
    check("report.table", &(struct report_options){.width = 120}, REPORT_TABLE);
}

static void test_narrow_table(void **state)
{
    (void)state;
    check("report.narrow", &(struct report_options){.width = 60}, REPORT_TABLE);
}

static void test_layouts(void **state)
{
    static const char *const rows[] = {"stack", REPORT_FIGURE};
    static const char *const figures[] = {"goodput_rps", "p90", "p95", "used_avg", "app.restarts"};

    (void)state;
    check("report.cols", &(struct report_options){.cols = "memory"}, REPORT_TABLE);
    check("report.figures",
          &(struct report_options){.rows = rows,
                                   .row_count = 2,
                                   .cols = "framework",
                                   .figures = figures,
                                   .figure_count = ARRAY_LEN(figures),
                                   .width = 100},
          REPORT_TABLE);
}

static void test_markdown(void **state)
{
    (void)state;
    check("report.md", &(struct report_options){0}, REPORT_MARKDOWN);
}

static void test_html(void **state)
{
    (void)state;
    check("report.html", &(struct report_options){0}, REPORT_HTML);
}

static void test_csv(void **state)
{
    (void)state;
    check("report.csv", &(struct report_options){0}, REPORT_CSV);
}

/* Everything but the trials' own records, which are another module's. */
static struct json *without_trials(const struct json *scenario)
{
    struct json *copy = json_new_object();

    for (void *it = json_iter(scenario); it; it = json_iter_next(scenario, it))
        if (strcmp(json_iter_key(it), "trials") != 0)
            json_set(copy, json_iter_key(it), json_clone(json_iter_value(it)));
    return copy;
}

static void test_json(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_JSON);
    CLEANUP(json_free) struct json *j = parsed(text);
    CLEANUP(json_free) struct json *scenarios = json_new_array();
    for (size_t i = 0; i < json_len(json_get(j, "scenarios")); i++)
        json_append(scenarios, without_trials(json_at(json_get(j, "scenarios"), i)));
    json_write(scenarios, JSON_STYLE_INDENTED, &out);
    strbuf_addc(&out, '\n');
    hold("report.json", strbuf_text(&out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),    cmocka_unit_test(test_narrow_table), cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_markdown), cmocka_unit_test(test_html),         cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

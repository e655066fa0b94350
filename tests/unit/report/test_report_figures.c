/* SPDX-License-Identifier: MIT */
/* How numbers are written, and which figures a sweep has. */
#include "make_sweep.h"
#include "report_internal.h"
#include "text.h"

static const char *const axes[] = {"framework", NULL};

static void test_formats(void **state)
{
    static const struct {
        enum unit unit;
        double value;
        const char *text;
    } cases[] = {
        {UNIT_NUMBER, 0, "0"},
        {UNIT_NUMBER, 0.00001, "<0.001"},
        {UNIT_NUMBER, -0.00001, ">-0.001"},
        {UNIT_NUMBER, 0.0005, "0.001"},
        {UNIT_NUMBER, 0.6721, "0.672"},
        {UNIT_NUMBER, 0.9996, "1.00"},
        {UNIT_NUMBER, 8.309, "8.31"},
        {UNIT_NUMBER, 9.996, "10.0"},
        {UNIT_NUMBER, 40.21, "40.2"},
        {UNIT_NUMBER, 99.96, "100"},
        {UNIT_NUMBER, 2492.4, "2492"},
        {UNIT_NUMBER, 228008, "228008"},
        {UNIT_NUMBER, -12.34, "-12.3"},
        {UNIT_NUMBER, 1e300, "1e+300"},
        {UNIT_NUMBER, INFINITY, "unlimited"},
        {UNIT_NUMBER, NAN, "–"},
        {UNIT_COUNT, 0, "0"},
        {UNIT_COUNT, 14, "14"},
        {UNIT_COUNT, 14.5, "14.5"},
        {UNIT_COUNT, 1e30, "1e+30"},
        {UNIT_RATE, 0, "0%"},
        {UNIT_RATE, 1, "100%"},
        {UNIT_RATE, 0.00001, "<0.01%"},
        {UNIT_RATE, 0.0042, "0.42%"},
        {UNIT_RATE, 0.2249, "22.5%"},
        {UNIT_RATE, 0.99999, ">99.9%"},
        {UNIT_PERCENT, 76.33, "76.3%"},
        {UNIT_PERCENT, 100, "100%"},
        {UNIT_MIB, 268435456, "256"},
        {UNIT_MIB, 46e6, "43.9"},
        {UNIT_MIB, 0, "0"},
        {UNIT_MIB, INFINITY, "unlimited"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct figure f = {.unit = cases[i].unit};
        char text[32];
        figure_format(&f, cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Values of three trials, and what a table says of them. */
static void test_spread(void **state)
{
    static const struct {
        enum unit unit;
        double values[3];
        const char *text, *range;
    } cases[] = {
        {UNIT_NUMBER, {2492, 2495, 2508}, "2495 ±0.3%", "2492–2508"},
        {UNIT_NUMBER, {100, 100, 100}, "100 ±0%", NULL},
        {UNIT_NUMBER, {100, 110, 120}, "110 ±9%", "100–120"},
        {UNIT_NUMBER, {0.1, 0.1, 0.1}, "0.100 ±0%", NULL},
        {UNIT_NUMBER, {100, NAN, 120}, "110 ±13% (n 2)", "100–120"},
        {UNIT_NUMBER, {100, NAN, NAN}, "100 (n 1)", NULL},
        {UNIT_NUMBER, {NAN, NAN, NAN}, "–", NULL},
        {UNIT_NUMBER, {10, 10, 40}, "10.0 (10.0–40.0)", NULL},
        {UNIT_NUMBER, {0, 0, 3}, "0 (0–3.00)", NULL},
        {UNIT_NUMBER, {-2, 1, 4}, "1.00 (-2.00–4.00)", NULL},
        {UNIT_RATE, {0, 0, 0}, "0%", NULL},
        {UNIT_RATE, {0, 0.22, 0.55}, "22.0% (0%–55.0%)", NULL},
        {UNIT_COUNT, {60, 62, 64}, "62 ±3%", "60–64"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new();
        struct report r = {.arena = a};
        struct summary s;
        struct cell c = {.counted = 3, .trial_count = 3, .figures = &s};
        struct figure f = {.unit = cases[i].unit};
        vec_push(&r.figures, f);
        stats_summary(cases[i].values, 3, &s);
        assert_string_equal(figure_text(&r, &c, 0), cases[i].text);
        if (cases[i].range)
            assert_string_equal(figure_range(&r, &c, 0), cases[i].range);
        else
            assert_null(figure_range(&r, &c, 0));
        vec_release(&r.figures);
    }
}

static void test_units_of_names(void **state)
{
    static const struct {
        const char *key;
        enum unit unit;
        const char *measure;
    } cases[] = {
        {"load.latency_ms.p999", UNIT_NUMBER, "ms"},
        {"metrics.gc_pause_avg_ms.avg", UNIT_NUMBER, "ms"},
        {"metrics.heap_used_bytes.max", UNIT_MIB, "MiB"},
        {"app.cpu_cores.peak", UNIT_NUMBER, "cores"},
        {"metrics.process_cpu_seconds.increase", UNIT_NUMBER, "s"},
        {"load.error_rate", UNIT_RATE, ""},
        {"services.mock.uptime_pct", UNIT_PERCENT, ""},
        {"metrics.kafka_msgs.max", UNIT_NUMBER, ""},
        {"database.commits", UNIT_NUMBER, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *measure = NULL;
        assert_int_equal(unit_of_name(cases[i].key, &measure), cases[i].unit);
        assert_string_equal(measure, cases[i].measure);
    }
}

static void add_metric(struct maker *m, struct trial *t, struct metric_value v)
{
    t->metrics = arena_array(m->sweep.arena, struct metric_value, 1);
    t->metrics[0] = v;
    t->metric_count = 1;
}

/* Counters by their increase, levels by their highest, means by their mean: by what any trial has. */
static void test_metrics(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add_metric(&m, add(&m, "a", OUTCOME_OK, 1), (struct metric_value){"gc_pauses", NAN, NAN, 3, NAN, 0});
    add_metric(&m, add(&m, "b", OUTCOME_OK, 1), (struct metric_value){"gc_pauses", NAN, NAN, 9, 6085, 0});
    add_metric(&m, add(&m, "c", OUTCOME_OK, 1), (struct metric_value){"gc_pause_avg_ms", 7.2, 9, 8, NAN, 0});
    add_metric(&m, add(&m, "d", OUTCOME_OK, 1), (struct metric_value){"pool_pending", 20, 1894, 0, NAN, 0});
    add_metric(&m, add(&m, "e", OUTCOME_OK, 1),
               (struct metric_value){"non_heap_used_bytes", 70e6, 82 * 1048576.0, 1, NAN, 0});
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    const char *table = strstr(text, "\nMetrics of the application\n");
    assert_non_null(table);
    table += strlen("\nMetrics of the application\n");
    assert_string_equal(line_of(table, "framework"),
                        "framework  gc_pauses  gc_pause_avg  pool_pending  non_heap_used");
    assert_null(strstr(table, "\na ")); /* no increase was seen, which is not 0: nothing to show */
    assert_has(line_of(table, "b"), "6085");
    assert_has(line_of(table, "c"), "7.20");
    assert_has(line_of(table, "d"), "1894");
    assert_has(line_of(table, "e"), "82.0");
}

static void test_services(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add(&m, "a", OUTCOME_OK, 1);
    t->services = arena_array(m.sweep.arena, struct container_result, 2);
    container_result_init(&t->services[0], "mock");
    container_result_init(&t->services[1], "database");
    t->services[0].cpu_cores.avg = 0.125;
    t->services[0].restarts = 2;
    t->services[1].memory_bytes.used_peak = 1048576 * 84.0;
    t->services[1].restarts = 0;
    t->service_count = 2;
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "mock CPU  mock restarts  database memory\n");
    assert_has(text, "a             0.125              2             84.0\n");
    assert_null(strstr(text, "database restarts")); /* a column of zeros */
}

/* Measured with one trial of the scenario; a step that failed has no time. */
static void test_build(void **state)
{
    struct maker m;
    struct build_count count = {"tests", 12};
    struct build_step good[] =
        {{.name = "compile", .duration_ms = 4200, .exit_code = 0},
         {.name = "test", .duration_ms = 9000, .exit_code = 0, .counts = &count, .count_count = 1}},
                      bad[] = {{.name = "compile", .duration_ms = 77000, .exit_code = 1}};

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add(&m, "quarkus", OUTCOME_OK, 100);
    t->has_build = true;
    t->build = (struct build_result){.image = "maven", .steps = good, .step_count = 2};
    (void)add(&m, "quarkus", OUTCOME_OK, 100);
    t = add(&m, "spring", OUTCOME_CRASHED, NAN);
    t->has_build = true;
    t->build = (struct build_result){.image = "maven", .steps = bad, .step_count = 1};
    t = add(&m, "micronaut", OUTCOME_SKIPPED, NAN);
    t->has_load = false;
    CLEANUP_FREE char *table = rendered(&m, &(struct report_options){.width = 200}, REPORT_TABLE);
    assert_has(table, "\nBuild\n");
    assert_has(table, "4.20 (n 1)");
    assert_has(table, "12 (n 1)");
    assert_null(strstr(table, "77.0"));
    CLEANUP_FREE char *csv = rendered(&m, &(struct report_options){0}, REPORT_CSV);
    assert_has(csv, "build.compile.duration_ms");
    assert_has(csv, ",4200,1,4200,4200,");
    assert_has(csv, "micronaut,micronaut,1,0,skipped,");
    assert_null(strstr(csv, "77000"));
    CLEANUP_FREE char *json = rendered(&m, &(struct report_options){0}, REPORT_JSON);
    assert_has(json, "\"build.test.counts.tests\"");
    CLEANUP_FREE char *page = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(page, ">Build</");
    maker_release(&m);
}

static void test_asking(void **state)
{
    static const char *const names[] = {
        "p90", "load.latency_ms.p95", "mock.restarts", "database.rollbacks", "metrics.threads_live.last",
        "p90", "app.cpu_total_ms"};
    CLEANUP_VALUE(maker_release) struct maker m;
    const struct report_options o = {.figures = names, .figure_count = ARRAY_LEN(names)};

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add(&m, "a", OUTCOME_OK, 1);
    t->load.latency_ms.p90 = 4.7;
    t->app.cpu_cores.total_ms = 4040;
    add_metric(&m, t, (struct metric_value){"threads_live", 30, 155, 31, NAN, 0});
    CLEANUP_FREE char *text = rendered(&m, &o, REPORT_TABLE);
    assert_has(text, "framework  n  outcome   p90  p95  mock.restarts  rollbacks  metrics.threads_live.last  "
                     "app.cpu_total_ms\n");
    assert_has(line_of(text, "a "),
               "a          1  ok       4.70    –              –          –                       "
               "31.0              4040");
    assert_null(strstr(text, "Metrics of the application")); /* only what was asked for */
}

static void test_asking_wrongly(void **state)
{
    static const struct {
        const char *name, *message, *hint;
    } cases[] = {
        {"goodput_rp", "there is no figure 'goodput_rp'", "goodput_rps"},
        {"load.latency_ms.p98", "there is no figure", "load.latency_ms.p9"},
        {"app.restart", "there is no figure", "app.restarts"},
        {"_rps", "there is no figure", ""},
        {"load", "there is no figure", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_VALUE(maker_release) struct maker m;
        struct report *r = NULL;
        struct error err = ERROR_INIT;
        const struct report_options o = {.figures = &cases[i].name, .figure_count = 1};
        maker_begin(&m, axes, NULL, NULL);
        add(&m, "a", OUTCOME_OK, 1);
        assert_int_equal(report_build(made(&m), &o, &r, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_has(err.message, cases[i].message);
        assert_has(err.hint, cases[i].hint);
    }
}

/* A made-up bundle with a name for every trial does not get a column for each. */
static void test_too_many_names(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (int i = 0; i < 500; i++) {
        const char *name = arena_printf(m.sweep.arena, "m%d", i);
        struct trial *t = add(&m, name, OUTCOME_OK, 1);
        add_metric(&m, t, (struct metric_value){name, 1, 1, 1, NAN, 0});
        t->services = arena_array(m.sweep.arena, struct container_result, 1);
        container_result_init(&t->services[0], name);
        t->services[0].cpu_cores.avg = 1;
        t->service_count = 1;
    }
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "920 more metrics, services or checks have no column");
}

/* --- text --- */

static void test_letters(void **state)
{
    static const struct {
        const char *text, *shown;
        size_t columns;
    } cases[] = {
        {"", "", 0},
        {"plain", "plain", 5},
        {"\x1b[31mred\x1b[0m", "?[31mred?[0m", 12},
        {"a\nb\tc\rd", "a b c d", 7},
        {"\x7f\x01", "??", 2},
        {"\xc2\x9b"
         "31m",
         "?31m", 4},                       /* the control sequence introducer of C1 */
        {"caf\xc3\xa9", "caf\xc3\xa9", 4}, /* é */
        {"e\xcc\x81", "e\xcc\x81", 1},     /* e and a combining accent */
        {"\xe6\xbc\xa2\xe5\xad\x97", "\xe6\xbc\xa2\xe5\xad\x97", 4}, /* 漢字 */
        {"\xf0\x9f\x9a\x80", "\xf0\x9f\x9a\x80", 2},                 /* a rocket */
        {"\xe2\x80\xaetxt.exe", "?txt.exe", 8},                      /* right-to-left override */
        {"a\xe2\x80\x8b"
         "b",
         "a?b", 3}, /* zero-width space */
        {"\xef\xbb\xbf"
         "bom",
         "?bom", 4},
        {"\xff\xfe", "??", 2},
        {"\xc3", "?", 1}, /* cut short */
        {"\xc3(", "?(", 2},
        {"\xe2\x82", "??", 2},
        {"\xc0\xaf", "??", 2},        /* an overlong slash */
        {"\xed\xa0\x80", "?", 1},     /* half a surrogate pair */
        {"\xf4\x90\x80\x80", "?", 1}, /* beyond Unicode */
        {"\xf5\x80\x80\x80", "????", 4},
        {"–±", "–±", 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
        const char *at = cases[i].text;
        for (struct letter l = text_next(&at); l.len; l = text_next(&at))
            strbuf_add(&out, l.bytes, l.len);
        assert_string_equal(strbuf_text(&out), cases[i].shown);
        assert_int_equal(text_columns(cases[i].text), cases[i].columns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_units_of_names), cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_services),       cmocka_unit_test(test_build),
        cmocka_unit_test(test_asking),         cmocka_unit_test(test_asking_wrongly),
        cmocka_unit_test(test_too_many_names), cmocka_unit_test(test_letters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
